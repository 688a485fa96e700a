"""Records as tidy DataFrames: one row a task, rubric, report, judgment or label."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.records import (
    JUDGMENT_KEY,
    LABEL_KEY,
    REPORT_KEY,
    Judgment,
    Label,
    Report,
    Task,
    subject_fingerprint,
)
from lifesearch_kit.text import fold, strip_invisible

RUBRIC_KEY = ("task_id", "rubric_id")
_COUNTS = ("iterations", "input_tokens", "output_tokens", "reasoning_tokens")
_AMOUNTS = ("seconds", "model_seconds", "tool_seconds", "cost")


def tasks_frame(tasks: Iterable[Task]) -> pd.DataFrame:
    """One row a task: task_id, language, domain, query, cutoff (datetime64), rubrics (their number), invented.

    `invented` is true where the task's metadata say so: it is made up for trying things, and measures nothing.
    """
    columns = ["task_id", "language", "domain", "query", "cutoff"]
    rows = [
        [*(getattr(one, name) for name in columns), len(one.rubrics), bool(one.metadata.get("invented"))]
        for one in tasks
    ]
    frame = pd.DataFrame(rows, columns=[*columns, "rubrics", "invented"])
    return _unique(frame.assign(cutoff=pd.to_datetime(frame["cutoff"])), ("task_id",), "task")


def rubrics_frame(tasks: Iterable[Task]) -> pd.DataFrame:
    """One row a rubric, in the order of the tasks, with its task's language, domain, query and cutoff (datetime64)."""
    columns = ["type", "necessity", "priority", "weight", "dimension"]
    rows = [
        [
            *(task.task_id, one.rubric_id, task.language, task.domain, task.query, task.cutoff, one.criterion),
            *(getattr(one, name) for name in columns),
        ]
        for task in tasks
        for one in task.rubrics
    ]
    frame = pd.DataFrame(rows, columns=[*RUBRIC_KEY, "language", "domain", "query", "cutoff", "criterion", *columns])
    return _unique(frame.assign(cutoff=pd.to_datetime(frame["cutoff"])), RUBRIC_KEY, "rubric")


def reports_frame(reports: Iterable[Report]) -> pd.DataFrame:
    """One row a report.

    Returns
    -------
    DataFrame
        Its key, text, status, gradable, characters (of the text), iterations and tokens (nullable whole numbers;
        missing where the endpoint did not say), estimated_steps (model decisions whose tokens were counted here),
        tool_calls_total, failed_tool_calls_total, ``calls_<tool>`` for each tool that any report used, seconds,
        model_seconds, tool_seconds, cost, model, transcript.
    """
    records = list(reports)
    tools = sorted({tool for one in records for tool in one.tool_calls})
    rows = [
        {name: getattr(one, name) for name in (*REPORT_KEY, "text", "status")}
        | {"gradable": one.is_gradable, "characters": len(one.text)}
        | {name: getattr(one, name) for name in (*_COUNTS, "estimated_steps")}
        | {
            "tool_calls_total": sum(one.tool_calls.values()),
            "failed_tool_calls_total": sum(one.failed_tool_calls.values()),
        }
        | {f"calls_{tool}": one.tool_calls.get(tool, 0) for tool in tools}
        | {name: getattr(one, name) for name in (*_AMOUNTS, "model", "transcript")}
        for one in records
    ]
    columns = [*REPORT_KEY, "text", "status", "gradable", "characters", *_COUNTS, "estimated_steps"]
    columns += ["tool_calls_total", "failed_tool_calls_total", *(f"calls_{tool}" for tool in tools)]
    columns += [*_AMOUNTS, "model", "transcript"]
    frame = pd.DataFrame(rows, columns=columns)
    types = dict.fromkeys(_COUNTS, "Int64") | dict.fromkeys(_AMOUNTS, "float64") | {"gradable": "bool"}
    return _unique(frame.astype(types), REPORT_KEY, "report")


def judgments_frame(judgments: Iterable[Judgment]) -> pd.DataFrame:
    """One row a judgment: all fields of the record, `satisfied` as nullable boolean (missing = unjudged)."""
    columns = list(Judgment.model_fields)
    rows = [tuple(getattr(one, name) for name in columns) for one in judgments]
    frame = pd.DataFrame(rows, columns=columns).astype({"satisfied": "boolean"})
    return _unique(frame, JUDGMENT_KEY, "judgment")


def labels_frame(labels: Iterable[Label], tasks: Iterable[Task] = (), reports: Iterable[Report] = ()) -> pd.DataFrame:
    """One row a label, annotators' names cleaned.

    Spellings of an annotator that differ only in width, case, spacing or invisible marks are one annotator: the first
    one's visible text. Each such reading is warned of.

    Parameters
    ----------
    labels
        As read.
    tasks, reports
        What was labelled, as it is now. A label whose fingerprint differs from that of its question, report and
        criterion is `stale`.

    Returns
    -------
    DataFrame
        The label's key, satisfied (bool), note, stale (nullable boolean; missing where it could not be compared).

    Raises
    ------
    InputError
        When one annotator labelled the same rubric of the same report twice, naming the labels.
    """
    records = list(labels)
    names = _annotators([one.annotator for one in records])
    now = _subjects(tasks, reports, {(one.system, one.task_id, one.run, one.rubric_id) for one in records})
    rows = [
        [
            *(getattr(one, name) for name in LABEL_KEY[:-1]),
            *(names[one.annotator], one.satisfied, one.note, _stale(one, now)),
        ]
        for one in records
    ]
    frame = pd.DataFrame(rows, columns=[*LABEL_KEY, "satisfied", "note", "stale"])
    return _unique(frame.astype({"satisfied": "bool", "stale": "boolean"}), LABEL_KEY, "label", "satisfied")


def stale_labels(labels: Iterable[Label], tasks: Iterable[Task], reports: Iterable[Report]) -> list[str]:
    """Faults of labels whose question, report or criterion is another one now, one sentence each."""
    records = list(labels)
    now = _subjects(tasks, reports, {(one.system, one.task_id, one.run, one.rubric_id) for one in records})
    return [
        f"label of {one.annotator!r} for system {one.system!r}, task {one.task_id!r}, run {one.run}, rubric "
        f"{one.rubric_id!r}: the question, report or criterion has changed since; label it again or remove it"
        for one in records
        if _stale(one, now)
    ]


def unknown_keys(
    tasks: Sequence[Task] | None,
    reports: Sequence[Report] | None,
    judgments: pd.DataFrame | None,
    labels: Sequence[Label] | None,
) -> list[str]:
    """Faults between tables, one sentence each: rows whose task, rubric or report is in no other table."""
    rubrics = {(task.task_id, one.rubric_id) for task in tasks or () for one in task.rubrics}
    task_ids = {task.task_id for task in tasks or ()}
    report_keys = {(one.system, one.task_id, one.run) for one in reports or ()}
    faults = []
    if tasks is not None:
        faults += [
            f"report of system {one.system!r}, run {one.run}: task {one.task_id!r} is unknown; add or drop it"
            for one in reports or ()
            if one.task_id not in task_ids
        ]
    labelled = pd.DataFrame([[getattr(one, name) for name in LABEL_KEY] for one in labels or ()], columns=LABEL_KEY)
    for what, rows in (("judgment", judgments), ("label", labelled)):
        if tasks is not None and rows is not None:
            faults += [
                f"{what}s of task {task!r}: rubric {rubric!r} is not in the tasks; add it or drop them"
                for task, rubric in _distinct(rows, RUBRIC_KEY)
                if (task, rubric) not in rubrics
            ]
        if reports is not None and rows is not None:
            faults += [
                f"{what}s of system {system!r}, task {task!r}, run {run}: there is no such report; add it or drop them"
                for system, task, run in _distinct(rows, REPORT_KEY)
                if (system, task, run) not in report_keys
            ]
    return faults


def _distinct(rows: pd.DataFrame, key: Sequence[str]) -> Iterable[tuple[Any, ...]]:
    """The values of a key in the order of their first rows."""
    return rows[list(key)].drop_duplicates().itertuples(index=False, name=None)


def _unique(frame: pd.DataFrame, key: Sequence[str], what: str, shown: str | None = None) -> pd.DataFrame:
    repeated = frame[frame.duplicated(list(key), keep=False)]
    if repeated.empty:
        return frame
    faults = []
    for values, rows in repeated.groupby(list(key), sort=False):
        named = ", ".join(f"{name} {value!r}" for name, value in zip(key, values, strict=True))
        told = f" with {shown} {', '.join(str(value) for value in rows[shown])}" if shown else ""
        faults.append(f"{what} {named} occurs {len(rows)} times{told}; keep one")
    raise InputError(faults)


def _annotators(names: Sequence[str]) -> dict[str, str]:
    clean: dict[str, str] = {}
    meant: dict[str, str] = {}
    for name in dict.fromkeys(names):
        meant[name] = clean.setdefault(fold(name), " ".join(strip_invisible(name).split()))
        if meant[name] != name:
            warnings.warn(f"annotator {name!r} was read as {meant[name]!r}", InputWarning, stacklevel=3)
    return meant


def _subjects(
    tasks: Iterable[Task], reports: Iterable[Report], wanted: set[tuple[str, str, int, str]]
) -> Mapping[tuple[Any, ...], str]:
    rubrics = {(task.task_id, one.rubric_id): (task, one) for task in tasks for one in task.rubrics}
    texts = {(one.system, one.task_id, one.run): one for one in reports}
    return {
        key: subject_fingerprint(*rubrics[key[1], key[3]], texts[key[:3]])
        for key in wanted
        if (key[1], key[3]) in rubrics and key[:3] in texts
    }


def _stale(label: Label, now: Mapping[tuple[Any, ...], str]) -> bool | None:
    current = now.get((label.system, label.task_id, label.run, label.rubric_id))
    return current != label.fingerprint if current and label.fingerprint else None
