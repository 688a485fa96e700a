"""What became of each rubric of a report, and the report's score and effort in words."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.frames import judgments_frame, reports_frame, rubrics_frame
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.scoring.report_scores import report_scores


@dataclass(frozen=True)
class RubricRow:
    """A rubric and what became of it: the weight that was lost, and how it looks (passed, failed, open)."""

    rubric: Rubric
    verdict: str
    reasons: tuple[str, ...]
    lost: float
    look: str


def report_facts(report: Report) -> list[str]:
    """Status and effort of a report in words, as far as they are known."""
    facts = [f"status: {report.status.replace('_', ' ')}"]
    counts = {"iterations": report.iterations, "output tokens": report.output_tokens}
    facts += [f"{name}: {count:,}" for name, count in counts.items() if count is not None]
    if report.tool_calls:
        facts.append("tool calls: " + ", ".join(f"{count} {tool}" for tool, count in report.tool_calls.items()))
    return facts


def rubric_row(report: Report, rubric: Rubric, judgments: Sequence[Judgment]) -> RubricRow:
    """Sum up the judgments of one rubric of a report, several passes together."""
    if not report.is_gradable:
        return RubricRow(rubric, "no report", (), rubric.weight, "failed")
    words = {True: "passed", False: "failed", None: "unjudged"}
    verdicts = [words[one.satisfied] + (f" ({one.status})" if one.satisfied is None else "") for one in judgments] or [
        "unjudged"
    ]
    failed = sum(one.satisfied is False for one in judgments)
    look = "failed" if failed else "passed" if all(word == "passed" for word in verdicts) else "open"
    return RubricRow(
        rubric,
        ", ".join(verdicts if len(set(verdicts)) > 1 else verdicts[:1]),
        tuple(dict.fromkeys(one.reason for one in judgments if one.reason)),
        rubric.weight * failed / max(1, len(judgments)),
        look,
    )


def score_lines(task: Task, report: Report, judgments: Sequence[Judgment]) -> list[str]:
    """One line a judge and repeat, as "14/18, 60.38% by j"; none where nothing was judged."""
    if not report.is_gradable:
        return [no_report_line(task, report)]
    known = {one.rubric_id for one in task.rubrics}
    own = [one for one in judgments if one.rubric_id in known]
    if not own:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # bounds are what is shown
        scores = report_scores(rubrics_frame([task]), judgments_frame(own), reports_frame([report]), unjudged="bounds")
    return [score_line(row) for row in scores.itertuples()]


def no_report_line(task: Task, report: Report) -> str:
    """Say the score of a report without a text to grade."""
    return f"no report ({report.status.replace('_', ' ')}): 0/{sum(one.weight > 0 for one in task.rubrics)}, 0.00%"


def score_line(row: Any) -> str:
    """Say a row of `report_scores` in words; open rubrics leave bounds."""
    bounds = f"between {row.lower:.2%} and {row.upper:.2%}, {row.unjudged} unjudged"
    told = f"{row.passed}/{row.rubrics}, {bounds if row.unjudged else f'{row.score:.2%}'} by {row.judge}"
    return told + (f", pass {row.repeat}" if row.repeat > 1 else "")
