"""Leaks in transcripts: blocked addresses in calls, results and reports, and criteria that a tool's result quotes."""

from __future__ import annotations

import html
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.agent.leaks import leaked_criteria, leaks
from lifesearch_kit.agent.trajectories import read_trajectories
from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Task
from lifesearch_kit.tools.blocklist import Blocklist
from lifesearch_kit.transcripts import Step, ToolResult, Transcript

REAL = Path(os.environ.get("LIFESEARCH_REAL_DATA", ROOT.parent / "shared" / "real"))
TRAJECTORIES = REAL / "webdancer_trajectories" / "sample_traj.jsonl"


def result(content: str, arguments: Any = None, tool: str = "fetch") -> ToolResult:
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolResult(call_id="c", tool=tool, arguments=written, content=content, ok=True)


def transcript(*steps: Any, task_id: str = "t", system: str = "s") -> Transcript:
    """Each step is a list of tool results, or what a message holds."""
    made = []
    for number, one in enumerate(steps, start=1):
        results = tuple(one) if isinstance(one, list) and isinstance(one[0], ToolResult) else ()
        said = "thinking of blocked.example" if results else one
        made.append(Step(number=number, message={"content": said}, results=results))
    return Transcript(system=system, task_id=task_id, run=1, system_prompt="p", question="q", steps=tuple(made))


def task(*criteria: str, task_id: str = "t") -> Task:
    rubrics = tuple({"criterion": one, "weight": 0.5} for one in criteria)
    return Task(task_id=task_id, language="en", domain="d", query="q", rubrics=rubrics)  # type: ignore[arg-type]


LIST = Blocklist(["blocked.example", "papers.example/abs/2610*"])


def test_a_row_is_a_mention_with_its_place() -> None:
    found = leaks(
        [
            transcript(
                [result("Nothing.", {"url": "https://free.example"}, "search")],
                [
                    result("URL: https://Blocked.Example/a and https://blocked.example/b", {"url": "http://x.example"}),
                    result("Gone.", '{"url": "https:\\/\\/r.jina.ai\\/https:\\/\\/bl\\u006fcked.example"}'),
                    result("See https://papers.example/abs/2610.1", "no JSON: blocked.example"),
                ],
                "As https://blocked-example.translate.goog/ says.",
            ),
            transcript([result("见blocked.example。后续")], task_id="u"),
        ],
        LIST,
    )
    columns = ["system", "task_id", "run", "step", "tool", "where", "pattern"]
    assert found[columns].astype(object).where(found[columns].notna(), None).values.tolist() == [
        ["s", "t", 1, 2, "fetch", "result", "blocked.example"],
        ["s", "t", 1, 2, "fetch", "result", "blocked.example"],
        ["s", "t", 1, 2, "fetch", "call", "blocked.example"],
        ["s", "t", 1, 2, "fetch", "call", "blocked.example"],
        ["s", "t", 1, 2, "fetch", "result", "papers.example/abs/2610*"],
        ["s", "t", 1, 3, None, "report", "blocked.example"],
        ["s", "u", 1, 1, "fetch", "result", "blocked.example"],
    ]
    assert found["excerpt"][0] == "url: https://blocked.example/a and https://blocked.example/b"


def test_a_message_in_parts_is_a_report_and_one_with_calls_is_none() -> None:
    parts: Any = [{"type": "text", "text": "From blocked.example."}, {"type": "other"}]
    assert leaks([transcript(parts)], LIST)["where"].tolist() == ["report"]
    assert leaks([transcript([result("x")])], LIST).empty
    assert leaks([transcript(None)], LIST).empty
    assert list(leaks([], LIST)) == ["system", "task_id", "run", "step", "tool", "where", "pattern", "excerpt"]


LONG = "The response should state that Lake Orrin is 41 metres deep."
CHINESE = "回答应当指出白沙大桥二零二五年日均车流量为六点二万辆。"


def test_a_criterion_quoted_in_a_result_is_found_whatever_its_blanks() -> None:
    quoted = "rubrics: The response should\n  state that   LAKE Orrin is 41 metres deep; weight 0.5"
    found = leaked_criteria(
        [
            transcript(
                [result("free"), result(quoted)], [result("回答应当指出 白沙大桥\n二零二五年日均车流量为六点二万辆")]
            ),
            transcript([result(quoted)], task_id="other"),
            transcript([result("Lake Orrin is 41 metres deep.")], LONG),
        ],
        [task(LONG, CHINESE), task("The response should name the ferry that leaves first.", task_id="other")],
    )
    assert found[["system", "task_id", "run", "step", "tool", "rubric_id"]].values.tolist() == [
        ["s", "t", 1, 1, "fetch", "R1"],
        ["s", "t", 1, 2, "fetch", "R2"],
    ]
    assert found["excerpt"][0].startswith("rubrics:theresponseshouldstatethatlakeorrin")


def test_short_criteria_are_not_looked_for() -> None:
    # "Nameseveryferry" has 15 characters without blanks; 指出每一条渡轮航线 has 9 that count as two.
    for criterion, width in (("Names every ferry.", 15), ("指出每一条渡轮航线。", 18)):
        found = [
            len(leaked_criteria([transcript([result(criterion)])], [task(criterion)], at_least=at_least))
            for at_least in (width, width + 1)
        ]
        assert found == [1, 0]
    with pytest.raises(InputError, match="at_least 0"):
        leaked_criteria([], [], at_least=0)


@given(st.text(" \n\tab.", max_size=30), st.lists(st.sampled_from([" ", "\n", "\u3000", "  \t"]), min_size=10))
def test_no_line_break_hides_a_criterion(around: str, blanks: list[str]) -> None:
    words = LONG.split()
    quoted = "".join(word + blanks[at % len(blanks)] for at, word in enumerate(words))
    assert len(leaked_criteria([transcript([result(f"{around} {quoted}{around}")])], [task(LONG)])) == 1


@pytest.mark.skipif(
    not TRAJECTORIES.is_file(), reason="set LIFESEARCH_REAL_DATA to a folder that holds webdancer_trajectories/"
)
def test_every_mention_in_a_real_agents_transcripts_is_found() -> None:
    transcripts = read_trajectories(TRAJECTORIES, "webdancer")[:40]
    results = [one for each in transcripts for step in each.steps for one in step.results]
    assert len(results) >= 40
    found = leaks(transcripts, Blocklist(["en.wikipedia.org", "reddit.com/r/*"]))
    counts = found[found["where"] == "result"].groupby("pattern").size()
    texts = [one.content for one in results]
    wikipedia = sum(len(re.findall(r"https?://en\.wikipedia\.org/", text)) for text in texts)
    reddit = sum(len(re.findall(r"https?://(?:www\.|old\.)?reddit\.com/r/", text)) for text in texts)
    assert min(wikipedia, reddit) > 5
    assert counts.to_dict() == {"en.wikipedia.org": wikipedia, "reddit.com/r/*": reddit}
    # A sentence of one real result as a criterion is found in that transcript, and the others' are clean.
    sentence = next(line for line in results[7].content.splitlines() if len(line) > 90)
    (owner,) = {each.task_id for each in transcripts for step in each.steps if results[7] in step.results}
    tasks = [task(sentence, task_id=each.task_id) for each in transcripts]
    assert set(leaked_criteria(transcripts, tasks)["task_id"]) == {owner}


@pytest.mark.parametrize(
    "spelled",
    [
        lambda text: json.dumps({"criterion": text}),
        html.escape,
        lambda text: "".join(f"&#{ord(one)};" for one in text),
        lambda text: text.replace("ferry", "**ferry**").replace("渡轮", "[渡轮](https://a.example/x)"),
        lambda text: "\n> ".join(text[at : at + 9] for at in range(0, len(text), 9)),
        lambda text: f"| R1 | {text} |",
        lambda text: text[: len(text) // 2 + 3],
        lambda text: text[len(text) // 2 - 3 :],
    ],
)
@pytest.mark.parametrize(
    "criterion",
    [
        "The response should say that the ferry of Selwick carried 4.2 million people in the year before the strike, "
        "give the source of this figure with its date, and compare it with the 3.9 million of the year before that.",
        "回复应当说明塞尔维克渡轮在罢工前一年共运送了四百二十万名乘客，并给出该数字的来源和统计口径以及与前一年的比较，"
        "同时应当指出该渡轮公司在罢工后是否恢复了原有班次，以及恢复的具体日期和受影响航线的名称。",
    ],
)
def test_a_criterion_is_found_in_whatever_spelling_a_page_has_it(criterion: str, spelled: Callable[[str], str]) -> None:
    page = f"Before it. {spelled(criterion)} Behind it."
    assert len(leaked_criteria([transcript([result(page)])], [task(criterion)])) == 1
