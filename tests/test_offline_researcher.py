"""The baseline researchers, driven over their transport as an agent loop would drive them."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest
from test_offline_web import page, web_of

from lifesearch_kit import offline
from lifesearch_kit.agent.clarification import asks_back
from lifesearch_kit.errors import ToolError
from lifesearch_kit.offline.evidence import Scorer, collect_evidence
from lifesearch_kit.offline.features import length
from lifesearch_kit.offline.names import names_in, shared_names
from lifesearch_kit.offline.questions import read_question
from lifesearch_kit.offline.sources import Source
from lifesearch_kit.offline.transport import estimate_tokens
from lifesearch_kit.offline.variants import VARIANTS
from lifesearch_kit.tools import Tool, function_schema

FAMILY = "baseline-researcher-"
QUESTION = (
    "As of 31 March 2026, compare the Orrin Tramway and the Dellow Tramway on passengers in 2025 and on fleet size. "
    "Say whether any figure was corrected. Put the figures in a table and finish with "
    "a recommendation on which one to copy."
)
TABLE = (
    "| Measure | 2025 | 2024 |\n| --- | --- | --- |\n"
    + "| Passengers | {} million | {} million |\n| Fleet size, trams | {} | {} |"
)
PAGES = [
    page(
        "orrin.example/2025", "Orrin Tramway annual report 2025",
        "The Orrin Tramway carried 12.6 million passengers in 2025. Its fleet size was 48 trams. "
        "The 2024 figure was corrected from 10.9 to 10.5 million passengers.\n\n" + TABLE.format(12.6, 10.5, 48, 44),
    ),
    page(
        "dellow.example/2025", "Dellow Tramway annual report 2025",
        "The Dellow Tramway carried 8.4 million passengers in 2025. Trams are often late. "
        "Its fleet size was 30 trams.\n\n"
        + TABLE.format(8.4, 8.0, 30, 30),
    ),
    page(
        "blog.trams.example/orrin", "Orrin Tramway is booming",
        "By my count the Orrin Tramway carried 15.1 million passengers in 2025.", kind="blog",
    ),
    page(
        "orrin.example/2026", "Orrin Tramway half-year 2026",
        "The Orrin Tramway revised its 2025 passengers to 12.9 million.", published="2026-07-02",
    ),
    page("museum.example/tram", "Tram museum", "The museum shows a tram of 1911 to visitors."),
]  # fmt: skip


async def _drive(
    web: offline.Web, variant: str, question: str, seed: int, broken: bool = False
) -> list[dict[str, Any]]:
    async def python(code: str) -> str:
        printed: list[str] = []
        exec(code, {"print": lambda *values: printed.append(" ".join(map(str, values)))})
        return "\n".join(printed)

    async def fail(**arguments: Any) -> str:
        raise ToolError("out of order")

    tools = {tool.name: tool for tool in (offline.search_tool(web), offline.fetch_tool(web))}
    tools["python"] = Tool("python", function_schema("python"), python)
    messages: list[dict[str, Any]] = [{"role": "system", "content": "s"}, {"role": "user", "content": question}]
    async with offline.http_client() as client:
        for _ in range(40):
            body = {
                "model": FAMILY + variant,
                "messages": messages,
                "tools": [one.schema for one in tools.values()],
                "seed": seed,
            }
            reply = (await client.post("/chat/completions", json=body)).json()
            messages.append(reply["choices"][0]["message"])
            for call in messages[-1].get("tool_calls", []):
                try:
                    run = fail if broken else tools[call["function"]["name"]].call
                    content = await run(**json.loads(call["function"]["arguments"]))
                except ToolError as error:
                    content = f"Error: {error}"
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
            if "tool_calls" not in messages[-1] and messages[-1]["role"] == "assistant":
                return messages
    raise AssertionError("the researcher did not end")


def drive(
    folder: Path, variant: str, question: str = QUESTION, seed: int = 1, broken: bool = False
) -> list[dict[str, Any]]:
    return asyncio.run(_drive(web_of(folder, PAGES), variant, question, seed, broken))


def calls(messages: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    made = [call["function"] for message in messages for call in message.get("tool_calls", [])]
    return [json.loads(one["arguments"]) for one in made if one["name"] == name]


def test_a_question_is_taken_apart() -> None:
    question = read_question(QUESTION)
    assert question.names == ("Orrin Tramway", "Dellow Tramway")
    assert str(question.cutoff) == "2026-03-31"
    assert question.wants_table
    assert question.advice == "finish with a recommendation on which one to copy"
    assert question.requirements[-1] == "Say whether any figure was corrected"


def test_a_chinese_question_is_taken_apart() -> None:
    question = read_question(
        "截至2026年2月28日，请对比青浦渡轮和白沙渡轮2025年的客运量，并说明票价是否调整。全文不超过600字，最后用100字以内判断应优先选择哪一家。"
    )
    assert question.chinese
    assert (question.limit, question.advice_limit) == (600, 100)
    assert question.requirements == ("请对比青浦渡轮和白沙渡轮2025年的客运量", "并说明票价是否调整")
    assert question.advice is not None
    assert question.advice.endswith("判断应优先选择哪一家")


def test_names_are_those_that_the_text_marks() -> None:
    assert names_in("Compare the Port of Orrin with “Blue Dock” in May 2026.") == ("Blue Dock", "Port of Orrin")
    assert shared_names(
        "请比较青浦渡轮与白沙渡轮的票价", ["青浦渡轮2025年年报", "白沙渡轮有限公司公告", "青浦天气"]
    ) == ["青浦渡轮", "白沙渡轮"]


@pytest.mark.parametrize(
    ("question", "vague"),
    [
        ("How many people work at the northern plant?", ("the northern plant",)),
        ("请查一下新校区的学生人数", ("新校区",)),
        ("How many people work at Orrin Port?", ()),
    ],
)
def test_vague_phrases(question: str, vague: tuple[str, ...]) -> None:
    assert read_question(question).vague == vague


def test_thorough_report_cites_dated_evidence_of_both_sides(tmp_path: Path) -> None:
    report = drive(tmp_path, "thorough")[-1]["content"]
    assert "(https://orrin.example/2025), 15 January 2026)" in report
    assert "12.6 million" in report
    assert "8.4 million" in report
    # The python tool's result: (12.6 - 10.5) / 10.5 = 20.0%, (8.4 - 8.0) / 8.0 = 5.0%.
    assert "an increase of 20.0%" in report
    assert "an increase of 5.0%" in report
    assert "| Item | Figures | Source | Date |" in report
    assert "Orrin Tramway is the better choice" in report


def test_thorough_report_says_which_sources_disagree_and_relies_on_the_official_one(tmp_path: Path) -> None:
    report = drive(tmp_path, "thorough")[-1]["content"]
    section = report.partition("## Where the sources disagree")[2].partition("\n## ")[0]
    assert "15.1 million" in section
    assert "Orrin Tramway annual report 2025 (15 January 2026) is relied on" in section


def test_only_the_undated_variant_uses_pages_newer_than_the_cutoff(tmp_path: Path) -> None:
    texts = {variant: drive(tmp_path, variant)[-1]["content"] for variant in ("standard", "thorough", "undated")}
    assert ["12.9" in texts[variant] for variant in texts] == [False, False, True]
    assert "Only sources dated up to 31 March 2026" in texts["standard"]
    assert "Only sources dated" not in texts["undated"]


def test_variants_differ_in_effort(tmp_path: Path) -> None:
    runs = {name: drive(tmp_path, name) for name in ("quick", "standard", "thorough", "terse", "closed-book")}
    searches = {name: len(calls(messages, "search")) for name, messages in runs.items()}
    assert searches["closed-book"] == 0
    assert searches["quick"] == 1
    assert searches["quick"] < searches["standard"] < searches["thorough"] == searches["terse"]
    assert [len(calls(messages, "python")) for messages in runs.values()] == [0, 0, 1, 0, 0]
    sizes = {name: len(messages[-1]["content"]) for name, messages in runs.items()}
    assert sizes["terse"] < sizes["standard"] < sizes["thorough"]


def test_every_report_says_what_wrote_it(tmp_path: Path) -> None:
    for name in VARIANTS:
        report = drive(tmp_path, name.removeprefix(FAMILY))[-1]["content"]
        assert (
            report.splitlines()[-1]
            == "This report was written by an extractive rule-based baseline, not by a language model."
        )


def test_the_cautious_variant_asks_back_where_a_phrase_is_vague(tmp_path: Path) -> None:
    vague = "How many passengers does the northern line of the Orrin Tramway carry?"
    finals = [drive(tmp_path, "cautious", vague, seed)[-1]["content"] for seed in range(1, 9)]
    asked = [text for text in finals if "the northern line" in text and asks_back(text)]
    assert len(asked) >= 4
    assert not asks_back(drive(tmp_path, "cautious")[-1]["content"])
    assert not asks_back(drive(tmp_path, "standard", vague)[-1]["content"])


def test_broken_tools_still_end_in_an_honest_report(tmp_path: Path) -> None:
    report = drive(tmp_path, "thorough", broken=True)[-1]["content"]
    assert "No evidence was found on this point." in report
    assert "example" not in report


def test_length_limit_of_the_question_is_kept(tmp_path: Path) -> None:
    report = drive(tmp_path, "thorough", QUESTION + " Keep the whole answer under 250 words.")[-1]["content"]
    assert length(report) <= 250
    assert "12.6 million" in report


def test_seeds_vary_the_queries_and_a_seed_repeats_itself(tmp_path: Path) -> None:
    asked = [json.dumps(calls(drive(tmp_path, "thorough", seed=seed), "search")) for seed in (1, 1, 2, 3)]
    assert asked[0] == asked[1]
    assert len(set(asked)) == 3


def test_the_same_seed_gives_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    script = (
        "import hashlib, json, sys, pathlib; sys.path.insert(0, 'tests')\n"
        "from test_offline_researcher import drive\n"
        "text = json.dumps(drive(pathlib.Path(sys.argv[1]), 'thorough', seed=7))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    root = Path(__file__).parent.parent
    digests = {
        subprocess.run(
            [sys.executable, "-c", script, str(tmp_path)], cwd=root, capture_output=True, text=True, check=True,
            env=os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)},
        ).stdout
        for hash_seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1


def test_evidence_is_sentences_and_rows_written_out_with_their_header() -> None:
    source = Source("https://orrin.example/a", "Orrin", None, PAGES[0]["text"], 1, 1)
    texts = [one.text for one in collect_evidence([source])]
    assert "The Orrin Tramway carried 12.6 million passengers in 2025." in texts
    assert "Passengers — 2025: 12.6 million; 2024: 10.5 million" in texts


def test_pages_on_other_matters_are_no_evidence() -> None:
    sources = [Source(one["url"], one["title"], None, one["text"], 1, 1) for one in PAGES]
    evidence = collect_evidence(sources)
    question = read_question(QUESTION)
    chosen = Scorer(evidence, question.terms, question.names).choose(evidence, question.requirements[0], 20, set())
    assert chosen
    assert not any("museum" in one.source.url for one in chosen)


def post(body: dict[str, Any] | bytes, path: str = "/chat/completions") -> httpx.Response:
    async def send() -> httpx.Response:
        async with offline.http_client() as client:
            content = body if isinstance(body, bytes) else json.dumps(body).encode()
            return await client.post(path, content=content)

    return asyncio.run(send())


def test_an_unknown_model_is_404_and_lists_the_baselines() -> None:
    reply = post({"model": "someone-elses", "messages": []})
    assert reply.status_code == 404
    error = reply.json()["error"]
    assert error["code"] == "model_not_found"
    assert all(name in error["message"] for name in offline.BASELINES)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"{", 400),
        ({"model": "baseline-judge"}, 400),
        ({"model": "baseline-judge", "messages": [], "stream": True}, 400),
    ],
)
def test_faulty_requests_are_errors(body: Any, status: int) -> None:
    assert post(body).status_code == status
    assert post({"model": "baseline-judge", "messages": []}, "/models").status_code == 404


def test_usage_is_the_documented_estimate() -> None:
    # Nine ASCII characters are 9/4, two Chinese ones 6/4: 15/4, rounded up to 4.
    assert estimate_tokens("nine char") == 3
    assert estimate_tokens("nine char白沙") == 4
    reply = post(
        {"model": FAMILY + "closed-book", "messages": [{"role": "user", "content": "How deep is Lake Orrin?"}]}
    ).json()
    content = reply["choices"][0]["message"]["content"]
    # The question has 23 characters: 6 tokens.
    assert reply["usage"] == {
        "prompt_tokens": 6,
        "completion_tokens": estimate_tokens(content),
        "total_tokens": 6 + estimate_tokens(content),
    }
    assert reply["model"] == FAMILY + "closed-book"
    assert reply["choices"][0]["finish_reason"] == "stop"


def test_an_output_limit_cuts_the_text() -> None:
    body = {
        "model": FAMILY + "closed-book",
        "max_completion_tokens": 10,
        "messages": [{"role": "user", "content": "How deep is Lake Orrin?"}],
    }
    reply = post(body).json()
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens"] == 10


def test_without_tools_it_reports_at_once() -> None:
    tools = [function_schema("search")]
    body = {"model": FAMILY + "standard", "messages": [{"role": "user", "content": QUESTION}], "tools": tools}
    assert post(body).json()["choices"][0]["finish_reason"] == "tool_calls"
    last = post(body | {"tool_choice": "none"}).json()["choices"][0]
    assert last["finish_reason"] == "stop"
    assert "tool_calls" not in last["message"]
