"""Raw queries as they come: every format, every oddity, and not one lost."""

from __future__ import annotations

import json

import pytest

from lifesearch_kit.building.outcomes import intake
from lifesearch_kit.building.queries import language_of, read_queries, same_queries
from lifesearch_kit.building.settings import BuilderSettings
from lifesearch_kit.errors import InputError, InputWarning

BUILDER = BuilderSettings(name="b", model="m", base_url="offline")


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_json_lines_csv_and_text_give_the_same_queries(tmp_path):
    texts = ["Compare A, B and C.", "对比甲和乙的价格"]
    lines = "".join(json.dumps({"query": text}, ensure_ascii=False) + "\n" for text in texts)
    files = {
        "q.jsonl": lines,
        "q.csv": 'query\n"Compare A, B and C."\n对比甲和乙的价格\n',
        "q.txt": "Compare A, B and C.\r\n\r\n对比甲和乙的价格",
    }
    found = {name: read_queries(write(tmp_path / name, content)) for name, content in files.items()}
    for queries in found.values():
        assert [query.text for query in queries] == texts
        assert [query.language for query in queries] == ["en", "zh"]
    ids = {tuple(query.query_id for query in queries) for queries in found.values()}
    assert len(ids) == 1, "an id follows from the text, whatever the file"
    assert [query.place for query in found["q.txt"]] == [f"{tmp_path / 'q.txt'}:1", f"{tmp_path / 'q.txt'}:3"]


def test_ids_and_other_fields_are_kept(tmp_path):
    path = write(tmp_path / "q.jsonl", '{"query_id": 7, "query": "What is x?", "user": "u1"}\n')
    (query,) = read_queries(path)
    assert (query.query_id, query.metadata) == ("7", {"user": "u1"})


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("帮我查 OpenAI API 最新价格，并保存到 out.json", "zh"),
        ("Find best laptops 2026, 并把结果保存到本地文件夹里", "mixed"),
        ("what does 内卷 mean and where does the word come from", "en"),
        ("最近 coding agents 的 market 怎么样？which startups are growing", "mixed"),
        ("2026?", "en"),
        ("", "en"),
    ],
)
def test_languages(text, language):
    assert language_of(text) == language


def test_repeated_empty_and_long_queries_each_have_their_word(tmp_path):
    texts = ["What is x?", "  what IS x？ ", " ", "\u200b", "长" * 50_000]
    path = write(tmp_path / "q.jsonl", "".join(json.dumps({"query": text}) + "\n" for text in texts))
    queries = read_queries(path)
    assert len(queries) == len(texts)
    found = intake(queries, BUILDER)
    told = [
        (found[one.query_id].fate, found[one.query_id].reason) if one.query_id in found else None for one in queries
    ]
    assert told[0] is None
    assert told[1] == ("dropped", f"says the same as {queries[0].query_id!r}")
    assert told[2] == told[3] == ("dropped", "the query is empty")
    fate, reason = told[4]
    assert fate == "undecided"
    assert "50,000 characters; the limit is 20,000" in reason
    assert "raise max_query_characters" in reason


def test_equal_queries_without_ids_are_numbered(tmp_path):
    queries = read_queries(write(tmp_path / "q.txt", "same\nsame\nsame"))
    base = queries[0].query_id
    assert [query.query_id for query in queries] == [base, f"{base}-2", f"{base}-3"]
    assert same_queries(queries) == {f"{base}-2": base, f"{base}-3": base}


def test_an_empty_cell_is_an_empty_query(tmp_path):
    queries = read_queries(write(tmp_path / "q.csv", 'query_id,query\na,What is x?\nb,""\n'))
    assert [(query.query_id, query.text) for query in queries] == [("a", "What is x?"), ("b", "")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("q.jsonl", '{"query": "a"}\n{"prompt": "b"}\n', "q.jsonl:2: field 'query': is missing; rename 'prompt'?"),
        ("q.jsonl", '{"query": 5}\n', "q.jsonl:1: field 'query': is no text (int)"),
        ("q.jsonl", '{"query": "a"\n', "q.jsonl:1: is no JSON"),
        (
            "q.jsonl",
            '{"query_id": "a", "query": "x"}\n{"query_id": "a", "query": "y"}\n',
            "q.jsonl:2: query_id 'a' stands already at",
        ),
        ("q.jsonl", '{"query_id": "", "query": "x"}\n', "q.jsonl:1: field 'query_id': \"\" is blank"),
        ("q.csv", "text\nWhat?\n", "q.csv:2: field 'query': is missing; rename 'text'?"),
        ("q.txt", "first\nsecond \xff\n".encode("latin-1"), "q.txt:2: byte 0xff is no UTF-8"),
        ("q.txt", "\n\n", "holds no query"),
        ("q.xlsx", "x", "the ending '.xlsx' is not known"),
    ],
)
def test_bad_input_is_one_clear_sentence(tmp_path, name, content, message):
    with pytest.raises(InputError) as caught:
        read_queries(write(tmp_path / name, content))
    assert message in str(caught.value)


def test_half_a_character_is_replaced_and_told(tmp_path):
    path = write(tmp_path / "q.jsonl", '{"query": "broken \\ud83d here"}\n')
    with pytest.warns(InputWarning, match="half characters were replaced"):
        (query,) = read_queries(path)
    assert query.text == "broken \ufffd here"


def test_a_line_separator_inside_a_query_ends_no_line(tmp_path):
    (query,) = read_queries(write(tmp_path / "q.txt", "one\u2028two"))
    assert query.text == "one\u2028two"
