"""What an edit of the tasks makes of judgments that are stored already."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from lifesearch_kit.collect.recorded_files import JUDGMENTS, REPORTS, read_judgments_with_judges
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_reports, read_tasks
from lifesearch_kit.judge.checks import check_of
from lifesearch_kit.records import JUDGMENT_KEY, Rubric, Task
from lifesearch_kit.rows import PathLike

KEPT, AGAIN, UNUSED = "kept", "judged again", "no longer used"
_SEEN = ("criterion", "type", "necessity", "priority")


def stale_judgments(folder: PathLike, tasks: Sequence[Task]) -> pd.DataFrame:
    """Say of each stored judgment whether the next run would take it, judge again, or not ask any more.

    It is taken as long as its fingerprint is that of the question, report, criterion with its attributes, prompt and
    judge settings of now; a weight changes scores and no judgment.

    Parameters
    ----------
    folder
        What a run leaves behind: tasks.jsonl, reports.jsonl, judges.jsonl, judgments.jsonl.
    tasks
        The tasks as they are now.

    Returns
    -------
    DataFrame
        A row a judgment: its key, effect (``kept``, ``judged again``, ``no longer used``), why (what has changed; empty
        where it is kept).

    Raises
    ------
    InputError
        For faults of the files, or judgments of a judge or report that the folder does not hold.
    """
    root = Path(folder)
    settings, judgments = read_judgments_with_judges(root, taken=())
    judges = {one.name: one for one in settings}
    reports = {(one.system, one.task_id, one.run): one for one in read_reports(root / REPORTS)}
    before = _rubrics(read_tasks(root / "tasks.jsonl", weight_step=None))
    now = _rubrics(tasks)
    rows: list[list[Any]] = []
    faults: dict[str, None] = {}
    for one in judgments:
        report = reports.get((one.system, one.task_id, one.run))
        if report is None:
            place = f"{root / JUDGMENTS}: system {one.system!r}, task {one.task_id!r}, run {one.run}"
            faults[f"{place}: there is no such report in {REPORTS}; add it, or take its judgments out"] = None
            continue
        key = (one.task_id, one.rubric_id)
        current = now.get(key)
        if current is None or current[1].weight == 0:
            why = "the rubric is removed" if current is None else "its weight is 0"
            rows.append([*(getattr(one, name) for name in JUDGMENT_KEY), UNUSED, why])
            continue
        same = check_of(current[0], report, current[1], judges[one.judge]).fingerprint == one.fingerprint
        why = "" if same else _changed(before.get(key), current)
        rows.append([*(getattr(one, name) for name in JUDGMENT_KEY), KEPT if same else AGAIN, why])
    if faults:
        raise InputError(list(faults))
    return pd.DataFrame(rows, columns=[*JUDGMENT_KEY, "effect", "why"])


def _rubrics(tasks: Sequence[Task]) -> dict[tuple[str, str], tuple[Task, Rubric]]:
    return {(task.task_id, one.rubric_id): (task, one) for task in tasks for one in task.rubrics}


def _changed(before: tuple[Task, Rubric] | None, now: tuple[Task, Rubric]) -> str:
    """What a judge sees otherwise than when the folder's tasks were judged."""
    if before is None:
        return "the rubric is new"
    names = [name for name in _SEEN if getattr(before[1], name) != getattr(now[1], name)]
    names += ["question"] if before[0].query != now[0].query else []
    return ", ".join(names) or "report, prompt or judge settings"
