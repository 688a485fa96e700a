"""What of one format has no equal in another, as records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

import pandas as pd

from lifesearch_kit.records import WEIGHT_STEP, Record, Rubric, Task

ORIGIN = "converted_from"
NO_TENTHS = "no tenths: kept as they are; read_tasks(path, weight_step=None) takes them, or round them to tenths"
ATTRIBUTES = ("type", "necessity", "priority")


class Misfit(Record):
    """One thing that a conversion could not carry over as it was.

    `kind` is ``assumed`` (the kit needs it and the file has none), ``changed`` (another form, by a stated rule),
    ``kept`` (no field for it: unused, and kept in the task's metadata) or ``lost``. `rubric_id` is None where it
    concerns the whole task.
    """

    kind: Literal["assumed", "changed", "kept", "lost"]
    task_id: str
    rubric_id: str | None = None
    field: str
    value: str = ""
    treatment: str


class Conversion(NamedTuple):
    """Tasks of another format, and what did not fit."""

    tasks: list[Task]
    misfits: list[Misfit]


def origin_of(task: Task, form: str | None = None) -> dict[str, Any]:
    """What a task keeps of the file that it was converted from, if that had this format (None: any), else nothing."""
    origin = task.metadata.get(ORIGIN)
    if not isinstance(origin, dict) or (form is not None and origin.get("format") != form):
        return {}
    return origin


def misfits_frame(misfits: Iterable[Misfit]) -> pd.DataFrame:
    """One row a misfit: kind, task_id, rubric_id, field, value, treatment."""
    return pd.DataFrame([one.model_dump() for one in misfits], columns=list(Misfit.model_fields))


def summarise_misfits(misfits: Iterable[Misfit]) -> pd.DataFrame:
    """One row for all misfits of a kind: kind, field, treatment, tasks (how many), misfits (how many)."""
    frame = misfits_frame(misfits)
    groups = frame.groupby(["kind", "field", "treatment"], sort=False, as_index=False)
    return groups.agg(tasks=("task_id", "nunique"), misfits=("task_id", "size"))


def assumed(task_id: str, names: Iterable[str]) -> list[Misfit]:
    """Misfits of rubric attributes that are not in the file: each rubric has the record's default."""
    return [
        Misfit(
            kind="assumed",
            task_id=task_id,
            field=name,
            value=str(Rubric.model_fields[name].default),
            treatment="not in the file: the default stands for it, and metadata['converted_from'] says so",
        )
        for name in names
    ]


def odd_weights(task: Task) -> list[Misfit]:
    """Misfits of weights that are no tenths, as the kit's own files have them."""
    odd = [one.weight for one in task.rubrics if abs(one.weight / WEIGHT_STEP - round(one.weight / WEIGHT_STEP)) > 1e-9]
    if not odd:
        return []
    shown = ", ".join(f"{weight:.6g}" for weight in odd[:3]) + (", ..." if len(odd) > 3 else "")
    return [Misfit(kind="changed", task_id=task.task_id, field="weight", value=shown, treatment=NO_TENTHS)]


def lost_fields(task: Task, task_fields: Sequence[str], rubric_fields: Sequence[str], form: str) -> list[Misfit]:
    """Misfits of a task's fields that another format has no place for.

    Defaults that were only assumed when the task was read are no loss. Of rubrics, each field's values are counted.
    """
    origin = origin_of(task)
    silent = origin.get("assumed", ())
    values = {name: getattr(task, name) for name in task_fields if name not in silent}
    is_return = origin.get("format") == form
    values["metadata"] = ", ".join(name for name in task.metadata if name != ORIGIN or not is_return)
    for name in rubric_fields:
        if name not in silent:
            said = Counter(getattr(one, name) for one in task.rubrics if getattr(one, name) is not None)
            values[name] = ", ".join(f"{value} ({count})" for value, count in said.items())
    ids = [one.rubric_id for one in task.rubrics]
    if ids != [f"R{number}" for number, _ in enumerate(ids, start=1)] and not is_return:
        values["rubric_id"] = ", ".join(ids)
    return [
        Misfit(kind="lost", task_id=task.task_id, field=name, value=str(value), treatment=f"{form} has no field for it")
        for name, value in values.items()
        if value not in (None, "")
    ]
