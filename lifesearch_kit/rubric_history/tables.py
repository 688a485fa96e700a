"""A history as tables, and the tasks as it leaves them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.rubric_history.changes import Change
from lifesearch_kit.rubric_history.history import standings

_NEXT = {
    "annotated": "inspect",
    "revised": "inspect",
    "inspected": "revise, accept or reject",
    "accepted": "",
    "rejected": "",
}


def changes_table(history: Iterable[Change]) -> pd.DataFrame:
    """Who changed what and why.

    Returns
    -------
    DataFrame
        A row for each field of each change, in the history's order; one row for a change without fields: task_id,
        rubric_id, version, state, author, reason, time, field (empty without one), before, after.
    """
    columns = ["task_id", "rubric_id", "version", "state", "author", "reason", "time"]
    rows = [
        [*(getattr(one, name) for name in columns), field, one.before.get(field), one.after.get(field)]
        for one in history
        for field in (one.after or {"": None})
    ]
    table = pd.DataFrame(rows, columns=[*columns, "field", "before", "after"], dtype=object)
    return table.astype({"version": "int64"})


def rubric_states(history: Sequence[Change]) -> pd.DataFrame:
    """Where each rubric stands.

    Returns
    -------
    DataFrame
        A row a rubric, in the order in which they were annotated: task_id, rubric_id, version, state, writers (of what
        stands, in any field), changes (their number), last_author, last_time, next_step (empty where none is due).
    """
    last = {(one.task_id, one.rubric_id): one for one in history}
    count = pd.Series([(one.task_id, one.rubric_id) for one in history], dtype=object).value_counts()
    rows: list[list[Any]] = [
        [*key, one.version, one.state, ", ".join(one.writers()), count[key], last[key].author, last[key].time]
        for key, one in standings(history).items()
    ]
    columns = ["task_id", "rubric_id", "version", "state", "writers", "changes", "last_author", "last_time"]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(next_step=table["state"].map(_NEXT))


def current_tasks(tasks: Sequence[Task], history: Sequence[Change]) -> list[Task]:
    """Give tasks the rubrics that their history leaves them; a task without a history keeps its own.

    Raises
    ------
    InputError
        Naming each rubric of the history whose task is unknown, and each task that keeps no rubric.
    """
    known = {task.task_id for task in tasks}
    rubrics: dict[str, list[Rubric]] = {}
    faults = []
    for (task_id, rubric_id), one in standings(history).items():
        if task_id not in known:
            faults.append(f"history of task {task_id!r}, rubric {rubric_id!r}: there is no such task; add it")
        own = rubrics.setdefault(task_id, [])
        if one.state != "rejected":
            own.append(Rubric(rubric_id=rubric_id, **one.fields))
    faults += [
        f"task {task!r}: the history rejects all its rubrics; add one" for task, own in rubrics.items() if not own
    ]
    if faults:
        raise InputError(faults)
    return [
        task.model_copy(update={"rubrics": tuple(rubrics[task.task_id])}) if task.task_id in rubrics else task
        for task in tasks
    ]
