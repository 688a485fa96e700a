"""A graded report and a transcript as HTML, for notebooks. Everything that a model wrote is escaped."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from IPython.display import HTML
from markdown_it import MarkdownIt
from markupsafe import Markup

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.frames import judgments_frame, reports_frame, rubrics_frame
from lifesearch_kit.html_templates import fill
from lifesearch_kit.records import REPORT_KEY, Judgment, Report, Rubric, Task
from lifesearch_kit.report_scoring import report_scores
from lifesearch_kit.text import strip_invisible
from lifesearch_kit.transcripts import Step, Transcript


@dataclass(frozen=True)
class RubricRow:
    """A rubric and what became of it: the weight that was lost, and how it looks (passed, failed, open)."""

    rubric: Rubric
    verdict: str
    reasons: tuple[str, ...]
    lost: float
    look: str


def report_view(task: Task, report: Report, judgments: Iterable[Judgment], *, open_report: bool = True) -> HTML:
    """Show a report beside the verdicts on it: what cost most comes first.

    Parameters
    ----------
    task, report
        The report must be one on the task.
    judgments
        Judgments of this report; those of other reports are left out. Several passes of a rubric are shown together.
    open_report
        Whether the report's text is unfolded.

    Returns
    -------
    IPython.display.HTML
        Markdown rendered without raw HTML, images left as links; one score line a judge and repeat, as
        "14/18, 60.38%" (rubrics of weight 0 omitted, equation 1); unjudged rubrics are said to be so, and give bounds.

    Raises
    ------
    InputError
        When the report belongs to another task.
    """
    if report.task_id != task.task_id:
        raise InputError(f"the report is on task {report.task_id!r}, not on {task.task_id!r}; pass the task it answers")
    own = [one for one in judgments if all(getattr(one, name) == getattr(report, name) for name in REPORT_KEY)]
    rows = [
        rubric_row(report, rubric, [one for one in own if one.rubric_id == rubric.rubric_id]) for rubric in task.rubrics
    ]
    text = fill(
        "report_view.html.j2",
        css=_css(),
        task=task,
        report=report,
        facts=report_facts(report),
        scores=score_lines(task, report, own),
        rows=sorted(rows, key=lambda row: (-row.lost, row.look != "open", -row.rubric.weight)),
        open=open_report,
        lang=Markup(' lang="zh-Hans"' if task.language == "zh" else ' lang="en"'),
        body=Markup(_markdown().render(strip_invisible(report.text))),
    )
    return HTML(text)


def transcript_view(transcript: Transcript) -> HTML:
    """Show a run step by step: what the model wrote, which tools it called, what came back."""
    text = fill(
        "transcript_view.html.j2", css=_css(), transcript=transcript, steps=[_step(step) for step in transcript.steps]
    )
    return HTML(text)


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


def _step(step: Step) -> dict[str, object]:
    calls = [result.tool for result in step.results]
    text = step.message.get("content")
    reasoning = step.message.get("reasoning_content") or step.message.get("reasoning")
    facts = [f"{step.seconds:.1f} s"] if step.seconds else []
    if step.output_tokens is not None:
        facts.append(f"{'about ' if step.estimated else ''}{step.output_tokens:,} tokens")
    return {
        "number": step.number,
        "heading": ", ".join(
            f"{name} × {calls.count(name)}" if calls.count(name) > 1 else name for name in dict.fromkeys(calls)
        )
        or f"message ({step.finish_reason or 'no finish reason'})",
        "facts": ", ".join(facts),
        "text": text if isinstance(text, str) else "" if text is None else str(text),
        "reasoning": reasoning if isinstance(reasoning, str) else "",
        "results": step.results,
        "notes": step.notes,
    }


@cache
def _markdown() -> MarkdownIt:
    # Images would be fetched from addresses that a model chose: shown as their text instead.
    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


@cache
def _css() -> Markup:
    return Markup(fill("view.css"))
