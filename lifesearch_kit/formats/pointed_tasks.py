"""Tasks whose criteria have points, between rows of such a format and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lifesearch_kit.errors import InputError
from lifesearch_kit.formats.foreign import chosen_domain, chosen_language, task_of
from lifesearch_kit.formats.misfits import ORIGIN, Conversion, Misfit, assumed, odd_weights, origin_of
from lifesearch_kit.formats.points import (
    Negative,
    PointedItem,
    is_fault,
    point_unit,
    pointed_rubrics,
    points_misfits,
    require_choice,
)
from lifesearch_kit.records import Language, Rubric, Task
from lifesearch_kit.rows import PathLike, Row

_EQUAL = 1e-9


@dataclass(frozen=True)
class PointedFormat:
    """A format: its name, the field of a criterion that holds its points, and the points that its scale ends at."""

    name: str
    points: str
    largest: float


@dataclass(frozen=True)
class PointedTask:
    """One row of such a format, read.

    `silent` names the rubric attributes that the file does not say, `unused` its fields that nothing is made of.
    """

    row: Row
    task_id: str
    query: str
    domains: Sequence[str]
    items: Sequence[PointedItem]
    silent: Sequence[str]
    unused: Sequence[str]


def records_of_points(
    form: PointedFormat,
    path: PathLike,
    read: Sequence[PointedTask],
    negative: Negative,
    language: Language | None,
    domain: str | None,
) -> Conversion:
    """Make tasks of a file's rows.

    Raises
    ------
    InputError
        For negative points where nothing was chosen, and for rows that cannot be tasks, such as one whose criteria were
        all dropped.
    """
    require_choice([one.items for one in read], negative, path)
    tasks: list[Task] = []
    misfits: list[Misfit] = []
    faults: list[str] = []
    for one in read:
        spoken, guessed = chosen_language(one.task_id, one.query, language)
        field, unstated = chosen_domain(one.task_id, one.domains, domain)
        unit = point_unit(one.items, form.largest)
        rubrics = pointed_rubrics(one.items, unit, negative, spoken)
        unsaid = [*one.silent, *(misfit.field for misfit in (*guessed, *unstated))]
        origin = {"format": form.name, "assumed": unsaid, "unit": unit, **_kept(form, one.row.data, rubrics)}
        fields = {"task_id": one.task_id, "language": spoken, "domain": field, "query": one.query, "rubrics": rubrics}
        task = task_of(one.row.place, faults, **fields, metadata={ORIGIN: origin})
        if task:
            tasks.append(task)
            misfits += [*guessed, *unstated, *assumed(task.task_id, one.silent), *_unused(one)]
            misfits += [*points_misfits(task.task_id, one.items, unit, negative), *odd_weights(task)]
    if faults:
        raise InputError(faults)
    return Conversion(tasks, misfits)


def written_items(form: PointedFormat, task: Task) -> list[tuple[Rubric | None, dict[str, Any]]]:
    """A task's criteria with points, in its origin's order; those that were dropped when it was read come back.

    Returns
    -------
    list of tuple of Rubric or None and dict
        The rubric (None for a criterion that was dropped) and its item: criterion, points, and what was kept of it.
    """
    origin = origin_of(task, form.name)
    kept: dict[str, Any] = origin.get("row", {}).get("rubrics", {})
    unit = float(origin.get("unit", form.largest))
    rubrics = {one.rubric_id: one for one in task.rubrics}
    order = [name for name in kept if name in rubrics or name in origin["dropped"]]
    order += [name for name in rubrics if name not in kept]
    return [
        (rubrics[name], _item(form, rubrics[name], kept.get(name, {}), unit, task.language))
        if name in rubrics
        else (None, dict(kept[name]))
        for name in order
    ]


def _kept(form: PointedFormat, row: Mapping[str, Any], rubrics: Iterable[Rubric]) -> dict[str, Any]:
    """The row without what the task itself says: criteria's texts stay only where the rubric has another one."""
    items = {f"R{number}": item for number, item in enumerate(row["rubrics"], start=1)}
    slim = {name: item if item[form.points] < 0 else {**item, "criterion": None} for name, item in items.items()}
    there = {one.rubric_id for one in rubrics}
    return {"dropped": [name for name in items if name not in there], "row": {**row, "rubrics": slim}}


def _unused(one: PointedTask) -> list[Misfit]:
    told = "no field for it: kept in metadata['converted_from'], not used"
    return [Misfit(kind="kept", task_id=one.task_id, field=name, treatment=told) for name in one.unused]


def _item(
    form: PointedFormat, rubric: Rubric, kept: Mapping[str, Any], unit: float, language: Language
) -> dict[str, Any]:
    fault = is_fault(rubric, kept, language)
    points = rubric.weight * unit * (-1 if fault else 1)
    whole = kept.get(form.points, round(points))
    if abs(whole - points) <= _EQUAL * abs(points):
        points = whole
    criterion = kept["criterion"] if fault else rubric.criterion
    return {**kept, "criterion": criterion, form.points: points}
