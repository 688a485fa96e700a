"""A results folder as tidy tables: the paper's, the demo's and a user's alike."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from lifesearch_kit.columnar_copy import read_judgments_frame
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_labels, read_reports, read_tasks
from lifesearch_kit.frames import labels_frame, reports_frame, rubrics_frame, tasks_frame, unknown_keys
from lifesearch_kit.tables import TABLES, read_table

_ORIGINS = {
    "tasks": "tasks.jsonl, the benchmark",
    "rubrics": "tasks.jsonl, the benchmark",
    "reports": "reports.jsonl, which a run of the agents leaves behind",
    "judgments": "judgments.jsonl, which grading the reports leaves behind",
    "labels": "labels.csv, people's Pass or Fail for graded reports",
    **{name: f"{name}.csv" for name in TABLES},
}


@dataclass(frozen=True)
class Results:
    """The tables of one results folder; an absent one is None.

    Attributes
    ----------
    tasks
        A row a task: task_id, language, domain, query, cutoff (datetime64), rubrics (count), invented (so marked).
    rubrics
        A row a rubric: task_id, rubric_id, language, domain, query, cutoff, criterion, type, necessity, priority,
        weight, dimension.
    reports
        A row a report: system, task_id, run, text, status, gradable, characters, iterations, tokens, tool calls in
        all and by tool (``calls_search`` ...), seconds, cost.
    judgments
        A row a judgment: its key, satisfied (nullable boolean), status, reason, what it took. Texts of a large file
        stay on the disk: choose columns before rows, as rows are copied with all of theirs.
    labels
        A row a label: its key, satisfied, note, stale (true where the labelled text has changed since).
    systems, domains, judges, rankings, dataset, cases
        Summary tables with the columns of `lifesearch_kit.tables.TABLES`.
    """

    folder: Path
    tasks: pd.DataFrame | None = None
    rubrics: pd.DataFrame | None = None
    reports: pd.DataFrame | None = None
    judgments: pd.DataFrame | None = None
    labels: pd.DataFrame | None = None
    systems: pd.DataFrame | None = None
    domains: pd.DataFrame | None = None
    judges: pd.DataFrame | None = None
    rankings: pd.DataFrame | None = None
    dataset: pd.DataFrame | None = None
    cases: pd.DataFrame | None = None

    def require(self, name: str) -> pd.DataFrame:
        """Return a table.

        Raises
        ------
        InputError
            When the folder does not hold it, saying which file would.
        """
        table: pd.DataFrame | None = getattr(self, name)
        if table is None:
            raise InputError(f"{self.folder}: there is no table '{name}'; it is read from {_ORIGINS[name]}")
        return table


def load_results(folder: str | os.PathLike[str]) -> Results:
    """Read every table that a results folder holds.

    A large judgments.jsonl is read in full once, and from a copy that is left beside it from then on
    (`lifesearch_kit.columnar_copy`).

    Parameters
    ----------
    folder
        Holds any of tasks.jsonl, reports.jsonl, judgments.jsonl, labels.csv and the tables of
        `lifesearch_kit.tables.TABLES` as CSV.

    Raises
    ------
    InputError
        Listing the faults of all files together, then those between them: repeated keys, reports of unknown tasks,
        judgments and labels of unknown rubrics or reports. Also when there is no such folder or nothing in it.
    """
    root = Path(folder)
    faults: list[str] = []

    def read(name: str, reader: Any, *arguments: Any) -> Any:
        path = root / name
        if not path.exists():
            return None
        try:
            return reader(path, *arguments)
        except InputError as error:
            faults.extend(error.faults)
            return None

    # The benchmark's author chose the weights' step; results of other benchmarks have finer ones.
    tasks = read("tasks.jsonl", read_tasks, None, None)
    reports = read("reports.jsonl", read_reports)
    judgments = read("judgments.jsonl", read_judgments_frame)
    labels = read("labels.csv", read_labels)
    tables = {name: read(f"{name}.csv", read_table, shape) for name, shape in TABLES.items()}
    if faults:
        raise InputError(faults)
    if all(part is None for part in (tasks, reports, judgments, labels, *tables.values())):
        raise InputError(f"{root}: holds no results; expected any of {', '.join(sorted(set(_ORIGINS.values())))}")
    faults = unknown_keys(tasks, reports, judgments, labels)
    if faults:
        raise InputError([f"{root}: {fault}" for fault in faults])
    return Results(
        folder=root,
        tasks=None if tasks is None else tasks_frame(tasks),
        rubrics=None if tasks is None else rubrics_frame(tasks),
        reports=None if reports is None else reports_frame(reports),
        judgments=judgments,
        labels=None if labels is None else labels_frame(labels, tasks or (), reports or ()),
        **tables,
    )
