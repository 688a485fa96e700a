"""Tables and figures of failures, and where in a transcript they show."""

from __future__ import annotations

import matplotlib.pyplot as plt
import pandas as pd
import pytest

from lifesearch_kit import plots
from lifesearch_kit.failures.modes import failure_rates
from lifesearch_kit.failures.steps import transcript_evidence
from lifesearch_kit.failures.tables import failure_effort, matching, missing_kinds, rates_by, report_endings
from lifesearch_kit.transcripts import Step, ToolResult, Transcript

FINDINGS = pd.DataFrame(
    [
        ("A", "T1", 1, "missing_details", 0.4, "value, date"),
        ("A", "T1", 1, "missing_details", 0.1, "value"),
        ("A", "T2", 1, "unmet_requirement", 0.2, ""),
        ("B", "T1", 1, "no_report", 1.0, ""),
    ],
    columns=["system", "task_id", "run", "mode", "weight_lost", "missing"],
)
REPORTS = pd.DataFrame(
    [
        ("A", "T1", 1, "text", "answered", 4, 100),
        ("A", "T2", 1, "text", "step_limit", 8, 300),
        ("B", "T1", 1, "", "cost_limit", 2, 50),
        ("B", "T2", 1, " ", "answered", None, None),
    ],
    columns=["system", "task_id", "run", "text", "status", "iterations", "output_tokens"],
)


def test_missing_details_are_grouped_by_kind() -> None:
    table = missing_kinds(FINDINGS, REPORTS).set_index(["system", "kind"])
    assert len(table) == 2 * 6
    # Value: half of 0.4 and all of 0.1 over two reports; date: the other half of 0.4.
    assert list(table.loc[("A", "value")]) == pytest.approx([2, 1, 15.0])
    assert list(table.loc[("A", "date")]) == pytest.approx([1, 1, 10.0])
    assert list(table.loc[("B", "value")]) == [0, 0, 0.0]


def test_rates_are_written_by_what_only_the_tasks_know() -> None:
    tasks = pd.DataFrame({"task_id": ["T1", "T2"], "language": ["zh", "en"]})
    table = rates_by(FINDINGS, REPORTS, tasks, "language")
    # T1 is the Chinese task: of its two reports one lacks details and one is none; the means lie inside the intervals.
    assert table.loc["zh", "missing_details"].startswith("50.0% [")
    assert table.loc["zh", "no_report"].startswith("50.0% [")
    assert table.loc["en", "no_report"].startswith("0.0% [0.0, ")
    assert table["reports"].to_dict() == {"zh": 2, "en": 2}


def test_findings_are_picked_by_any_of_their_marks() -> None:
    findings = FINDINGS.assign(domain="d", language="en", rubric_id=None, detail="", evidence="")
    assert matching(findings)["weight_lost"].tolist() == [1.0, 0.4, 0.2, 0.1]
    assert matching(findings, system="A", mode="missing_details")["weight_lost"].tolist() == [0.4, 0.1]
    assert matching(findings, language="zh").empty


def test_endings_are_told_apart_and_lost_runs_counted() -> None:
    endings = report_endings(REPORTS, lost=[("A", "T3", 1), ("A", "T4", 1)])
    assert [tuple(row) for row in endings.astype({"ending": str}).itertuples(index=False)] == [
        ("A", "report", 1),
        ("A", "report cut off", 1),
        ("A", "lost to infrastructure", 2),
        ("B", "empty", 1),
        ("B", "cut off at the cost limit", 1),
    ]


def test_effort_is_set_against_what_a_mode_costs() -> None:
    table = failure_effort(FINDINGS, REPORTS).set_index(["mode", "measure"])
    row = table.loc[("missing_details", "iterations")]
    # Three reports know their iterations (4, 8, 2); the one that lost 0.5 has 4, the others a median of 5.
    assert list(row[["reports", "affected", "median_with", "median_without"]]) == [3, 1, 4.0, 5.0]
    # Ranks of the loss (3, 1.5, 1.5) and of iterations (2, 3, 1): the middle rank goes with the highest, so rho is 0.
    assert row["spearman"] == pytest.approx(0.0)
    assert pd.isna(table.loc[("temporal_scope", "iterations"), "spearman"])


def test_the_figure_draws_every_system_and_mode() -> None:
    rates = failure_rates(FINDINGS, REPORTS)
    ax = plots.failure_shares(rates, ["B", "A"], note="n = 2 reports a system")
    assert [label.get_text() for label in ax.get_yticklabels()] == ["B", "A"]
    assert len(ax.containers) == rates["mode"].nunique()
    plt.close(plots.figure_of(ax))


def transcript(*steps: Step) -> Transcript:
    return Transcript(system="A", task_id="T1", run=1, system_prompt="", question="q", steps=steps)


def test_a_finding_is_placed_in_its_transcript() -> None:
    read = ToolResult(call_id="c", tool="fetch", arguments="{}", content="Berths on 2 May 2026: 15.", ok=True)
    said = "It had 15 berths on 2 May 2026."
    run = transcript(
        Step(number=1, message={"content": None}, results=(read,)),
        Step(number=2, message={"content": f"Well. {said}"}),
        Step(number=3, message={"content": " "}, finish_reason="length"),
    )
    finding = {"mode": "temporal_scope", "evidence": said}
    assert transcript_evidence(finding, run) == [(1, "fetch", 10, 20, "Berths on 2 May 2026: 15.")]
    asked = {"mode": "premature_clarification", "evidence": said}
    assert transcript_evidence(asked, run) == [(2, "message", 6, 6 + len(said), said)]
    silent = {"mode": "no_report", "evidence": ""}
    assert [one.quote for one in transcript_evidence(silent, run)] == ["finish reason: length"]
    assert transcript_evidence({"mode": "missing_details", "evidence": said}, run) == []
