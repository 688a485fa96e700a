"""The rules of a rewrite, and the diffs that show it."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.building.alignment import align, diff_html, diff_text, tokens_of
from lifesearch_kit.building.known import known_answers
from lifesearch_kit.building.protected import Protected, lost_parts, protected_parts
from lifesearch_kit.building.queries import read_queries
from lifesearch_kit.building.rewriting import check_rewrite
from lifesearch_kit.paths import ROOT

SOUND = [
    (
        "Use the web_search tool to find the latest 5 papers on X, then save it to out.json.",
        "Find the latest 5 papers on X.",
    ),
    ("对比A和B的最新价格，并把结果保存为 report.md。", "对比A和B的最新价格。"),
    ("对比A和B的最新价格，输出JSON", "对比A和B的最新价格。"),
    ("Find laptops of 2026, 并把结果保存到本地文件里", "Find laptops of 2026"),
    ("Save it to a.md", ""),
    ("List 3 funds.\n\n## Output\nfields.json", "List 3 funds."),
    ("Unchanged, as it is.", "Unchanged, as it is."),
]
BROKEN = [
    ("对比A和B的最新价格，并保存为 report.md", "对比A和B的价格", ["protected_lost"]),
    ("列出不含糖的饮料", "列出含糖的饮料", ["negation_lost"]),
    ("Which teas do not contain caffeine?", "Which teas do contain caffeine?", ["negation_lost"]),
    ("Compare A and B, save to x.md", "Compare A with B", ["added"]),
    ("Compare A and B, save to x.md", "Compare B and A", ["added"]),
    ("Figures for 20266", "Figures for 2026", ["added"]),
    ("Compare A and B", "比较 A 和 B", ["language_changed", "added", "added"]),
    ("a b c d", "a, b c d", ["mark_added"]),
    ("List A, save it to x.md", "List A!?", ["mark_added"]),
    ("Name the top 10 makers within 300 words per maker", "Name the makers", ["protected_lost", "protected_lost"]),
    ("Sum it up: 1,200 words, from https://stats.example/a and “丝路指数”", "Sum it up", ["protected_lost"] * 3),
]


@pytest.mark.parametrize(("before", "after"), SOUND)
def test_sound_rewrites(before, after):
    assert check_rewrite(before, after) == []


@pytest.mark.parametrize(("before", "after", "rules"), BROKEN)
def test_broken_rewrites(before, after, rules):
    assert [breach.rule for breach in check_rewrite(before, after)] == rules


def test_a_breach_says_what_it_is_about():
    (breach,) = check_rewrite("Compare A and B, then save it to x.md", "Compare A and B carefully")
    assert str(breach).startswith("added: 'carefully' (no word")


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("the latest news of this week", [("recency", "latest"), ("recency", "this week")]),
        ("as of 31 March 2026, top 5", [("recency", "31 March 2026"), ("count", "top 5")]),
        ("近三年的8篇论文，1500字以内", [("recency", "近三年"), ("count", "8篇"), ("length", "1500字以内")]),
        ("from https://stats.example/a and 《年鉴》", [("source", "https://stats.example/a"), ("source", "《年鉴》")]),
        ("save report_2026-03.md to ./top 5/ via http://localhost:80/x", []),
        ("写两个脚本，检出当前分支", []),
        ("commit the latest commit to the current branch", []),
        ("命名为“内窥镜调研”", []),
        ("一家公司", []),
        ("citing WHO reports only, but not blogs", [("source", "citing WHO"), ("exclusion", "but not blogs")]),
        ("只引用统计局的数据，不包括港澳", [("source", "引用统计局的数据"), ("exclusion", "不包括港澳")]),
        ("Suggest six quiet trips in early spring", [("count", "six quiet"), ("recency", "in early spring")]),
        ("2025年第三季度的十来种药", [("recency", "2025年第三季度"), ("count", "十来种")]),
        ("Do not commit it, and don't forget the logs. Split it into three files.", []),
        ("不要提交到 Git，别忘了写入日志，拆成三个文件。", []),
    ],
)
def test_protected_parts(query, parts):
    assert protected_parts(query) == [Protected(*part) for part in parts]


REWRITES = [json.loads(line) for line in (ROOT / "tests/data/protected_rewrites.jsonl").open(encoding="utf-8")]


@pytest.mark.parametrize(
    ("part", "language", "each", "found", "alarms"),
    [("fitted", "en", 22, 22, 0), ("fitted", "zh", 22, 22, 0), ("fresh", "en", 10, 4, 0), ("fresh", "zh", 10, 6, 1)],
)
def test_how_many_lost_parts_are_found_and_how_many_harmless_rewrites_are_stopped(part, language, each, found, alarms):
    """Half of the rewrites lose an unquoted source, a count, a time or an exclusion, half what is machinery.

    The patterns were widened with the ``fitted`` ones in sight. The ``fresh`` ones, in wording as far off as their
    author could think of, came after: at first 3 and 4 lost parts were found, and 2 and 6 harmless rewrites stopped.
    """
    rows = [one for one in REWRITES if (one["part"], one["language"]) == (part, language)]
    told = {one["rewrite_id"]: bool(check_rewrite(one["query"], one["rewrite"])) for one in rows}
    losing = {one["rewrite_id"] for one in rows if one["loses"]}
    assert (len(losing), len(rows) - len(losing)) == (each, each)
    assert sum(told[name] for name in losing) >= found
    assert sum(told[name] for name in told.keys() - losing) <= alarms


def test_the_known_rewrites_of_the_demo_pass():
    queries = read_queries(ROOT / "data/demo/queries.jsonl")
    known = known_answers(queries)
    pairs = [(one.text, known[one.query_id].rewritten) for one in queries if one.query_id in known]
    shortened = [pair for pair in pairs if pair[1] is not None and pair[1].strip() != pair[0].strip()]
    assert len(shortened) > 40
    assert [pair for pair in shortened if check_rewrite(*pair)] == []


def test_blanks_and_case_do_not_lose_a_part():
    assert lost_parts("The Latest  figures, 10 papers", "the latest figures, 10  papers") == []


WORDS = st.lists(st.sampled_from(["tea", "price", "市", "场", "of", "Kyoto", "价", "格"]), min_size=1, max_size=14)


@given(WORDS, st.data())
def test_what_only_takes_away_adds_nothing(words, data):
    kept = data.draw(st.lists(st.booleans(), min_size=len(words), max_size=len(words)))
    after = " ".join(word for word, stays in zip(words, kept, strict=True) if stays)
    rules = {breach.rule for breach in check_rewrite(" ".join(words), after)}
    assert not rules & {"added", "mark_added"}


@given(WORDS, st.integers(0, 14))
def test_a_word_of_its_own_is_always_found(words, place):
    after = [*words[:place], "foreign", *words[place:]]
    assert "added" in {breach.rule for breach in check_rewrite(" ".join(words), " ".join(after))}


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_pieces_are_the_two_texts(before, after):
    pieces = align(before, after)
    assert "".join(piece.token for piece in pieces if piece.change != "removed") == after
    was = "".join(piece.token for piece in pieces if piece.change != "added")
    assert "".join(was.casefold().split()) == "".join(before.casefold().split())


@given(st.text(max_size=200))
def test_the_tokens_are_the_text(text):
    assert "".join(tokens_of(text)) == text


def test_diffs_go_by_words_in_english_and_by_characters_in_chinese():
    assert diff_text("Find the price, save to x.md", "Find the price") == "Find the price[-, save to x.md-]"
    assert diff_text("对比价格，并存档", "对比价格。") == "对比价格[-，并存档-]{+。+}"
    assert diff_text("price 2026", "price 20") in ("price {+20+}[-2026-]", "price [-2026-]{+20+}")


def test_nothing_of_a_query_becomes_html():
    shown = diff_html("<script>bad()</script> and\u202e x", "<b>")
    assert "<script>" not in shown
    assert "<b>" not in shown
    assert "&lt;" in shown
    assert "U+202E" in shown


def test_long_texts_are_compared_in_time():
    before = "市场价格与需求。" * 2500
    assert check_rewrite(before, before[: len(before) // 2]) == []
