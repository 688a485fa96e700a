"""One report as a case for reading: what it was asked, what it lost, what people said, and where the evidence is."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import pandas as pd
from markupsafe import Markup

from lifesearch_kit.collect.store import read_transcript
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import REPORT_KEY, Judgment, Label, Report, Task, subject_fingerprint
from lifesearch_kit.transcripts import Transcript
from lifesearch_kit.views.html_templates import fill, language_attribute, language_of
from lifesearch_kit.views.report_html import Highlight, ReportHtml, report_html
from lifesearch_kit.views.rubric_rows import RubricRow, report_facts, rubric_row, score_lines
from lifesearch_kit.views.transcript_html import transcript_faults, transcript_steps

TranscriptSource: TypeAlias = Transcript | str | os.PathLike[str] | None
Place: TypeAlias = tuple[int | None, int | None, str]
Findings: TypeAlias = pd.DataFrame | Iterable[Place]


@dataclass(frozen=True)
class Finding:
    """Something found in a report: its number on the page, a label, and its characters where it has a place."""

    number: int
    label: str
    start: int | None = None
    end: int | None = None

    @property
    def placed(self) -> bool:
        """Whether it points to characters of the text."""
        return self.start is not None


@dataclass(frozen=True)
class ShownLabel:
    """A person's label in words, and whether it differs from the judge's verdict."""

    words: str
    disputed: bool


@dataclass(frozen=True)
class Case:
    """What the template of a case shows."""

    task: Task | None
    report: Report
    rows: Sequence[RubricRow] = ()
    scores: Sequence[str] = ()
    labels: Mapping[str, Sequence[ShownLabel]] = field(default_factory=dict)
    findings: Sequence[Finding] = ()

    @property
    def total(self) -> float:
        """The weight that the task's rubrics add up to."""
        return sum(one.weight for one in self.task.rubrics) if self.task else 0.0

    @property
    def facts(self) -> list[str]:
        """Status, effort, time, cost and model."""
        seconds, cost, model = self.report.seconds, self.report.cost, self.report.model
        facts = [*report_facts(self.report)]
        facts += [f"{seconds:,.0f} s"] if seconds is not None else []
        facts += [f"cost: {cost:,.4g}"] if cost is not None else []
        return [*facts, f"model: {model}"] if model else facts

    @property
    def remarks(self) -> list[str]:
        """What is missing for a judgment of this case."""
        if self.task is None:
            return ["There is no such task here, so neither question nor requirements can be shown."]
        return [] if self.scores else ["Nothing of this report was judged yet."]

    def shown(self, top: int) -> ReportHtml:
        """The report's text under a page's or pane's heading of level `top`, with the findings marked."""
        highlights = [
            Highlight(one.start, one.end, one.number) for one in self.findings if one.start is not None and one.end
        ]
        return report_html(self.report.text, highlights, top + 2)

    @property
    def lang(self) -> Markup:
        """The language that question, criteria and report are in, as an attribute."""
        if self.task is None:
            return language_attribute(self.report.text)
        return language_of(self.task.language)


def make_case(
    task: Task | None,
    report: Report,
    judgments: Iterable[Judgment] = (),
    labels: Iterable[Label] = (),
    findings: Findings = (),
    scores: Sequence[str] | None = None,
) -> Case:
    """Gather a case. Judgments, labels and findings of other reports are left out.

    Parameters
    ----------
    task
        None where it is lost: then there are neither question nor requirements.
    findings
        What `failures.modes.failure_modes` gave, or (start, end, label) in characters of the report's text.
    scores
        The score lines, where they are known already.

    Raises
    ------
    InputError
        When the report is on another task, or findings lie outside its text.
    """
    found = _findings(report, findings)
    if task is None:
        return Case(None, report, findings=found)
    if report.task_id != task.task_id:
        raise InputError(f"the report is on task {report.task_id!r}, not on {task.task_id!r}; pass the task it answers")
    own = [one for one in judgments if _is_of(report, one)]
    rows = [
        rubric_row(report, rubric, [one for one in own if one.rubric_id == rubric.rubric_id]) for rubric in task.rubrics
    ]
    return Case(
        task,
        report,
        sorted(rows, key=lambda row: (-row.lost, row.look != "open", -row.rubric.weight)),
        score_lines(task, report, own) if scores is None else scores,
        _labels(task, report, rows, [one for one in labels if _is_of(report, one)]),
        found,
    )


def case_html(case: Case, top: int = 1) -> str:
    """The case as an HTML fragment whose first heading has the level `top`; without the transcript."""
    return fill("case.html.j2", case=case, shown=case.shown(top), top=top, open=True)


def transcript_parts(source: TranscriptSource, report: Report | None = None) -> dict[str, Any]:
    """What the template of a transcript shows; one that is missing, damaged or not the report's is said to be so."""
    record, faults = None, []
    if source is None:
        faults = ["No transcript was kept for this report."]
    elif isinstance(source, Transcript):
        record = source
    else:
        try:
            record = read_transcript(source)
        except InputError as error:
            # Pages are sent around: where the file lies on this machine is nobody else's business.
            faults = [f"The transcript cannot be shown. {error}".replace(str(source), Path(source).name)]
    if record is None:
        return {"record": None, "faults": faults, "steps": []}
    return {"record": record, "faults": transcript_faults(record, report), "steps": transcript_steps(record)}


def _is_of(report: Report, record: Judgment | Label) -> bool:
    return all(getattr(record, name) == getattr(report, name) for name in REPORT_KEY)


def _labels(
    task: Task, report: Report, rows: Sequence[RubricRow], labels: Sequence[Label]
) -> dict[str, list[ShownLabel]]:
    shown: dict[str, list[ShownLabel]] = {}
    looks = {row.rubric.rubric_id: (row.rubric, row.look) for row in rows}
    for label in labels:
        if label.rubric_id not in looks:
            continue
        rubric, look = looks[label.rubric_id]
        stale = label.fingerprint not in ("", subject_fingerprint(task, rubric, report))
        words = f"{'Pass' if label.satisfied else 'Fail'} by {label.annotator}"
        words += (f" ({label.note})" if label.note else "") + (", of an earlier wording" if stale else "")
        disputed = not stale and look == ("failed" if label.satisfied else "passed")
        shown.setdefault(label.rubric_id, []).append(ShownLabel(words, disputed))
    return shown


def finding_places(rows: Iterable[Any]) -> list[Place]:
    """Start, end and label of rows of `failures.modes.failure_modes`, the heaviest loss first."""
    return [_place(row) for row in sorted(rows, key=lambda row: -row.weight_lost)]


def _place(row: Any) -> Place:
    rubric = "" if pd.isna(row.rubric_id) else f" {row.rubric_id}"
    detail = f": {row.detail}" if row.detail else ""
    label = f"{row.mode.replace('_', ' ')}{rubric} ({row.weight_lost:.1%} of the weight){detail}"
    return (None, None, label) if pd.isna(row.start) else (int(row.start), int(row.end), label)


def _findings(report: Report, findings: Findings) -> list[Finding]:
    if isinstance(findings, pd.DataFrame):
        key = [getattr(report, name) for name in REPORT_KEY]
        own = findings[(findings[[*REPORT_KEY]] == key).all(axis=1)]
        given: Sequence[Place] = finding_places(own.itertuples())
    else:
        given = list(findings)
    faults = [
        f"finding {label!r} from character {start} to {end}: the report has 0 to {len(report.text)}; correct it"
        for start, end, label in given
        if start is not None and not 0 <= start <= (-1 if end is None else end) <= len(report.text)
    ]
    if faults:
        raise InputError(faults)
    return [Finding(number, label, start, end) for number, (start, end, label) in enumerate(given, start=1)]
