"""The reports of a results folder as cases: tables back into records, with scores, findings and labels beside them."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.failures.modes import failure_modes
from lifesearch_kit.records import REPORT_KEY, Judgment, Label, Report, Rubric, Task
from lifesearch_kit.results import Results
from lifesearch_kit.scoring.report_scores import report_scores
from lifesearch_kit.scoring.summaries import NO_JUDGE, choose_judge
from lifesearch_kit.views.cases import Case, finding_places, make_case
from lifesearch_kit.views.rubric_rows import no_report_line, score_line

_Key = tuple[Any, ...]
_EFFORT = ("iterations", "output_tokens", "seconds", "cost", "model", "transcript")
_ATTRIBUTES = ("rubric_id", "criterion", "type", "necessity", "priority", "weight", "dimension")


@dataclass(frozen=True)
class RunCase:
    """A case of a run, its mean score over the judge's repeats (0 to 1, None where open) and its failure modes."""

    case: Case
    score: float | None
    modes: Sequence[str]


@dataclass(frozen=True)
class Run:
    """The cases of a run in the order of its reports, its tasks, and the judge whose verdicts are shown."""

    cases: Sequence[RunCase]
    tasks: Mapping[str, Task]
    judge: str


def gather_cases(results: Results, judge: str = "", findings: pd.DataFrame | None = None) -> Run:
    """Make a case of each report of a results folder.

    Parameters
    ----------
    results
        With reports.
    judge
        Whose verdicts count; empty takes the judge with most of them.
    findings
        What `failures.modes.failure_modes` gave; computed where None and there are tasks.

    Raises
    ------
    InputError
        Without reports, or for an unknown judge.
    """
    reports = [_report(row) for row in _rows(results.require("reports"))]
    tasks = _tasks(results)
    # What belongs to no task can be shown, but neither scored nor searched for failures.
    known = results.require("reports")
    known = known[known["task_id"].isin(list(tasks))]
    judged = results.judgments if tasks else None
    chosen = NO_JUDGE if judged is None else choose_judge(judged, judge)
    own = None if judged is None else judged[(judged["judge"] == chosen) & judged["task_id"].isin(list(tasks))]
    if findings is None and len(known):
        findings = failure_modes(results.require("rubrics"), known, own)
    judgments = _by_report([] if own is None else [_judgment(row) for row in _rows(own)])
    labels = _by_report([] if results.labels is None else [_label(row) for row in _rows(results.labels)])
    passes = _passes(results, known, own)
    found = defaultdict(list)
    for row in findings.itertuples() if findings is not None else ():
        found[row.system, row.task_id, row.run].append(row)
    cases = []
    for report in reports:
        key, task = _key(report), tasks.get(report.task_id)
        lines = [score_line(row) for row in passes[key]]
        if task and not report.is_gradable:
            lines = [no_report_line(task, report)]
        places = finding_places(found[key])
        case = make_case(task, report, judgments[key], labels[key], places, lines)
        scores = [row.score for row in passes[key]]
        score = sum(scores) / len(scores) if scores and not pd.isna(scores).any() else None
        cases.append(RunCase(case, score, list(dict.fromkeys(row.mode for row in found[key]))))
    return Run(cases, tasks, chosen)


def _passes(results: Results, reports: pd.DataFrame, judgments: pd.DataFrame | None) -> Mapping[_Key, list[Any]]:
    """Rows of `report_scores` by report; those without a single verdict are left out, as they say nothing."""
    passes: defaultdict[_Key, list[Any]] = defaultdict(list)
    if judgments is None or reports.empty:
        return passes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)  # bounds are what is shown
        scores = report_scores(results.require("rubrics"), judgments, reports, unjudged="bounds")
    for row in scores[~scores["missing"] & (scores["unjudged"] < scores["rubrics"])].itertuples():
        passes[row.system, row.task_id, row.run].append(row)
    return passes


def _tasks(results: Results) -> dict[str, Task]:
    if results.tasks is None or results.rubrics is None:
        return {}
    rubrics = defaultdict(list)
    for row in _rows(results.rubrics):
        rubrics[row["task_id"]].append(Rubric(**{name: row[name] for name in _ATTRIBUTES if name in row}))
    return {
        row["task_id"]: Task(
            task_id=row["task_id"],
            language=row["language"],
            domain=row["domain"],
            query=row["query"],
            cutoff=row["cutoff"].date() if "cutoff" in row else None,
            rubrics=tuple(rubrics[row["task_id"]]),
        )
        for row in _rows(results.tasks)
    }


def _report(row: dict[str, Any]) -> Report:
    calls = {name.removeprefix("calls_"): int(count) for name, count in row.items() if name.startswith("calls_")}
    effort = {name: row[name] for name in _EFFORT if name in row}
    return Report(
        **{name: row[name] for name in (*REPORT_KEY, "text", "status")},
        **effort,
        tool_calls={tool: count for tool, count in calls.items() if count},
    )


def _judgment(row: dict[str, Any]) -> Judgment:
    fields = {name: row[name] for name in (*REPORT_KEY, "rubric_id", "judge", "repeat", "status")}
    return Judgment(**fields, satisfied=row.get("satisfied"), reason=row.get("reason", ""))


def _label(row: dict[str, Any]) -> Label:
    fields = {name: row[name] for name in (*REPORT_KEY, "rubric_id", "annotator", "satisfied")}
    # The table has compared the fingerprints already: any that is not the present one says stale again.
    return Label(**fields, note=row.get("note", ""), fingerprint="stale" if row.get("stale") else "")


def _rows(frame: pd.DataFrame) -> Iterable[dict[str, Any]]:
    """Rows as plain values, without those that are missing."""
    for row in frame.to_dict("records"):
        yield {str(name): value for name, value in row.items() if isinstance(value, str | tuple) or not pd.isna(value)}


def _by_report(records: Iterable[Any]) -> Mapping[_Key, list[Any]]:
    by_report = defaultdict(list)
    for record in records:
        by_report[_key(record)].append(record)
    return by_report


def _key(record: Report | Judgment | Label) -> _Key:
    return record.system, record.task_id, record.run
