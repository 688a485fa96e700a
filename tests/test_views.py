"""Views: what cost most comes first, and nothing that a model wrote becomes markup."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError
from lifesearch_kit.frames import judgments_frame, reports_frame, rubrics_frame
from lifesearch_kit.records import Judgment, Label, Report, Rubric, Task
from lifesearch_kit.scoring.report_scores import report_scores
from lifesearch_kit.transcripts import Step, ToolResult, Transcript
from lifesearch_kit.views.notebook_views import report_view, transcript_view

ATTACK = '<script>alert("x")</script><img src=x onerror=alert(1)>'


def make_task(*weights: float, **fields: Any) -> Task:
    rubrics = tuple(
        Rubric(rubric_id=f"R{number}", criterion=f"The response should hold {number}.", weight=weight)
        for number, weight in enumerate(weights, start=1)
    )
    return Task(**({"task_id": "t", "language": "en", "domain": "d", "query": "Why?", "rubrics": rubrics} | fields))


def judge(number: int, satisfied: bool | None, **fields: Any) -> Judgment:
    status = "ok" if satisfied is not None else "truncated"
    keys = {
        "system": "s",
        "task_id": "t",
        "rubric_id": f"R{number}",
        "judge": "j",
        "satisfied": satisfied,
        "status": status,
    }
    return Judgment(**(keys | fields))


def order_of(html: str) -> list[str]:
    return re.findall(r"<bdi>(R\d+)</bdi>", html)


def test_the_score_line_counts_and_weighs() -> None:
    # Weights 0.5, 0.3, 0.2 and an omitted 0: passed are 0.5 and 0.2, so 2 of 3 rubrics and 70% of the weight.
    task = make_task(0.5, 0.3, 0.2, 0.0)
    html = report_view(
        task, Report(system="s", task_id="t", text="A"), [judge(1, True), judge(2, False), judge(3, True)]
    ).data
    assert "2/3, 70.00% by j" in html


def test_the_score_line_is_that_of_the_scoring() -> None:
    # 0.9 + 0.6 + 0.6 of 3.2 is 65.625%, half way between two roundings; added up as floats it comes out above.
    weights = [0.9, 0.6, 0.6, 0.7, 0.4]
    task, report = make_task(*weights), Report(system="s", task_id="t", text="A")
    verdicts = [judge(at, at <= 3) for at in range(1, len(weights) + 1)]
    score = report_scores(rubrics_frame([task]), judgments_frame(verdicts), reports_frame([report]))["score"].iloc[0]
    assert score == 0.65625
    assert "3/5, 65.62% by j" in report_view(task, report, verdicts).data


def test_open_rubrics_leave_bounds() -> None:
    task = make_task(0.5, 0.3, 0.2)
    html = report_view(task, Report(system="s", task_id="t", text="A"), [judge(1, True), judge(2, None)]).data
    assert "1/3, between 50.00% and 100.00%, 2 unjudged by j" in html
    assert "unjudged (truncated)" in html


def test_the_heaviest_loss_comes_first_then_what_is_open() -> None:
    task = make_task(0.2, 0.9, 0.5, 0.7, 0.4)
    verdicts = [judge(1, False), judge(2, True), judge(3, False), judge(4, None), judge(5, True)]
    html = report_view(task, Report(system="s", task_id="t", text="A"), verdicts).data
    assert order_of(html) == ["R3", "R1", "R4", "R2", "R5"]


def test_passes_of_a_judge_are_shown_together() -> None:
    task = make_task(0.5, 0.5)
    verdicts = [judge(1, True), judge(2, True), judge(1, False, repeat=2, reason="not there"), judge(2, True, repeat=2)]
    html = report_view(task, Report(system="s", task_id="t", text="A"), verdicts).data
    assert "2/2, 100.00% by j<" in html
    assert "1/2, 50.00% by j, pass 2" in html
    assert "passed, failed" in html


def test_a_missing_report_scores_nothing_and_says_why() -> None:
    html = report_view(
        make_task(0.5, 0.5), Report(system="s", task_id="t", text="Which?", status="asked_back"), []
    ).data
    assert "no report (asked back): 0/2, 0.00%" in html


def test_findings_are_marked_and_labels_stand_beside_the_verdict() -> None:
    task, report = make_task(0.5), Report(system="s", task_id="t", text="As of May it was 7. The rest is fine.")
    label = Label(system="s", task_id="t", rubric_id="R1", annotator="ann", satisfied=True)
    html = report_view(task, report, [judge(1, False)], [label], [(0, 19, "temporal scope")]).data
    assert '<mark><sup id="finding-1">1</sup>As of May it was 7.</mark>' in html
    assert "Pass by ann" in html
    assert "differs from the judge" in html


def test_verdicts_on_other_reports_are_left_out() -> None:
    others = [judge(1, True, run=2), judge(1, True, system="other")]
    html = report_view(make_task(0.5), Report(system="s", task_id="t", text="A"), others).data
    assert "unjudged" in html
    assert "100.00%" not in html


def test_a_report_on_another_task_is_refused() -> None:
    with pytest.raises(InputError, match="on task 'u'"):
        report_view(make_task(0.5), Report(system="s", task_id="u", text="A"), [])


def test_markdown_is_rendered_and_nothing_else() -> None:
    text = (
        "# Title\n\n| a | b |\n|-|-|\n| 1 | 2 |\n\n[link](https://a.example/x) [bad](javascript:alert(1)) ![shot](https://a.example/t.png)\n\n"
        + ATTACK
    )
    html = report_view(make_task(0.5), Report(system="s", task_id="t", text=text), []).data
    assert "<h5>Title</h5>" in html  # below the view's own headings
    assert "<td>2</td>" in html
    assert '<a href="https://a.example/x" title="https://a.example/x" rel="noopener noreferrer nofollow"' in html
    assert 'href="javascript' not in html
    assert "<img" not in html
    assert "<script" not in html


def test_everything_else_is_escaped_too() -> None:
    task = make_task(0.5, query=ATTACK, cutoff=date(2026, 3, 31))
    report = Report(system=ATTACK, task_id="t", text="A", tool_calls={ATTACK: 1})
    html = report_view(task, report, [judge(1, False, system=ATTACK, judge=ATTACK, reason=ATTACK)]).data
    assert "<script" not in html
    assert "<img" not in html
    assert "cutoff 2026-03-31" in html


def test_chinese_is_marked_as_such() -> None:
    html = report_view(make_task(0.5, language="zh"), Report(system="s", task_id="t", text="正文"), []).data
    assert '<div class="report" lang="zh-Hans">' in html


def test_a_transcript_shows_each_step_escaped() -> None:
    call = ToolResult(call_id="1", tool="fetch", arguments=ATTACK, content=ATTACK, ok=False)
    steps = (
        Step(
            number=1, message={"content": None, "reasoning_content": ATTACK}, results=(call, call), output_tokens=1200
        ),
        Step(number=2, message={"content": ATTACK}, finish_reason="stop", notes=(ATTACK,)),
    )
    transcript = Transcript(system=ATTACK, task_id="t", run=1, system_prompt=ATTACK, question=ATTACK, steps=steps)
    html = transcript_view(transcript).data
    assert "Transcript: 2 steps" in html
    assert "Step 1: <bdi>fetch × 2</bdi>" in html
    assert "1,200 tokens written" in html
    assert '<bdi>fetch</bdi> <strong class="bad">failed</strong>' in html
    assert "Step 2: <bdi>message (stop)</bdi>" in html
    assert "<script" not in html
    assert "<img" not in html


@settings(max_examples=60, deadline=None)
@given(st.text(max_size=200))
def test_no_text_opens_a_tag_of_its_own(text: str) -> None:
    hostile = f"{text}<svg onload=x>{text}"
    task = make_task(0.5, query=f"q{hostile}")
    html = report_view(task, Report(system="s", task_id="t", text=f"r{hostile}"), [judge(1, True, reason=hostile)]).data
    assert "<svg" not in html
