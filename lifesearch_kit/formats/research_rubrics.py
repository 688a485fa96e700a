"""ResearchRubrics: prompts, and criteria with weights from -5 to 5 on seven axes (scaleapi/researchrubrics)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, Any

from pydantic import Field

from lifesearch_kit.fields import Id, Text
from lifesearch_kit.files import write_json_rows
from lifesearch_kit.formats.foreign import Foreign, read_foreign, written_id
from lifesearch_kit.formats.misfits import Conversion, Misfit, lost_fields, origin_of
from lifesearch_kit.formats.pointed_tasks import (
    PointedFormat,
    PointedTask,
    records_of_points,
    written_items,
)
from lifesearch_kit.formats.points import Negative, PointedItem
from lifesearch_kit.records import Language, Rubric, Task
from lifesearch_kit.rows import PathLike, Row

_FORMAT = PointedFormat("research-rubrics", points="weight", largest=5)
_NECESSITIES = {"Explicit Criteria": "Explicit", "Implicit Criteria": "Implicit"}
_AXES = (
    *_NECESSITIES,
    "Synthesis of Information",
    "References & Citation Quality",
    "Communication Quality",
    "Instruction Following",
    "Miscellaneous",
)


class _Item(Foreign):
    criterion: Text
    weight: Annotated[float, Field(allow_inf_nan=False)]
    axis: Text | None = None


class _Sample(Foreign):
    sample_id: Id
    prompt: Text
    domain: Id | None = None
    rubrics: list[_Item] = Field(min_length=1)


def read_research_rubrics(
    path: PathLike, *, negative: Negative = "refuse", language: Language | None = None, domain: str | None = None
) -> Conversion:
    """Read tasks from the JSON Lines of ResearchRubrics (processed_data.jsonl).

    Parameters
    ----------
    path
        One object a line: prompt, sample_id, domain, rubrics (criterion, weight, axis), and grades of complexity.
    negative
        What becomes of criteria with negative weights: ``refuse``; ``invert``, each is a requirement to avoid it, on a
        scale that `formats.points` states; ``drop``.
    language
        Of all tasks; None guesses each from its script.
    domain
        Of all tasks; None takes the file's.

    Returns
    -------
    Conversion
        A rubric a criterion, weight over 5 (over the largest where a task has more), dimension its axis. The axes
        Explicit and Implicit Criteria also say the necessity; the file has no type and no priority.

    Raises
    ------
    InputError
        Listing every fault of the file, and negative weights where nothing was chosen.
    """
    read = [_read(row, sample) for row, sample in read_foreign(path, _Sample, "sample_id")]
    return records_of_points(_FORMAT, path, read, negative, language, domain)


def write_research_rubrics(tasks: Iterable[Task], path: PathLike) -> list[Misfit]:
    """Write tasks as JSON Lines of ResearchRubrics; weights are multiplied by 5.

    Tasks that came from there are written as they were, with what has been edited since. A dimension that is none of
    the axes is lost: the axis is then the necessity's. Returns what has no place in the format.
    """
    rows: list[dict[str, Any]] = []
    misfits: list[Misfit] = []
    for task in tasks:
        row = origin_of(task, _FORMAT.name).get("row", {})
        kept = row.get("rubrics", {})
        rubrics = [
            item if rubric is None or rubric.rubric_id in kept else {**item, "axis": _axis(rubric)}
            for rubric, item in written_items(_FORMAT, task)
        ]
        said = {"prompt": task.query, "sample_id": written_id(task, row, "sample_id")}
        said |= {} if row and "domain" in origin_of(task, _FORMAT.name)["assumed"] else {"domain": task.domain}
        rows.append({**row, **said, "rubrics": rubrics})
        misfits += lost_fields(task, ("language", "cutoff"), ("type", "priority"), _FORMAT.name) + _lost_axes(
            task, kept
        )
    write_json_rows(path, rows)
    return misfits


def _read(row: Row, sample: _Sample) -> PointedTask:
    items = [
        PointedItem(
            place=f"{row.place}, rubric {number}",
            criterion=item.criterion,
            points=item.weight,
            attributes={"dimension": item.axis}
            | ({"necessity": _NECESSITIES[item.axis]} if item.axis in _NECESSITIES else {}),
        )
        for number, item in enumerate(sample.rubrics, start=1)
    ]
    unsaid = any(item.axis not in _NECESSITIES for item in sample.rubrics)
    return PointedTask(
        row=row,
        task_id=sample.sample_id,
        query=sample.prompt,
        domains=[sample.domain] if sample.domain else [],
        items=items,
        silent=("type", "priority", "necessity") if unsaid else ("type", "priority"),
        unused=[name for name in row.data if name not in _Sample.model_fields],
    )


def _axis(rubric: Rubric) -> str:
    return rubric.dimension if rubric.dimension in _AXES else f"{rubric.necessity} Criteria"


def _lost_axes(task: Task, kept: Mapping[str, Any]) -> list[Misfit]:
    """Necessities and dimensions that another axis stands for."""
    silent = origin_of(task, _FORMAT.name).get("assumed", ())
    found = []
    for one in task.rubrics:
        axis = kept[one.rubric_id].get("axis") if one.rubric_id in kept else _axis(one)
        said = {"dimension": (one.dimension, axis)}
        if "necessity" not in silent or axis in _NECESSITIES:
            said["necessity"] = (one.necessity, _NECESSITIES.get(axis or ""))
        found += [
            Misfit(
                kind="lost",
                task_id=task.task_id,
                rubric_id=one.rubric_id,
                field=name,
                value=str(now),
                treatment="the axis says something else, or nothing, about it",
            )
            for name, (now, written) in said.items()
            if now is not None and now != written
        ]
    return found
