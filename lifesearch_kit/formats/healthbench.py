"""HealthBench: conversations, and criteria with points from -10 to 10 (openai/simple-evals, healthbench_eval.py)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field

from lifesearch_kit.fields import Id, Text
from lifesearch_kit.files import write_json_rows
from lifesearch_kit.formats.foreign import NOT_STATED, Foreign, read_foreign, written_id
from lifesearch_kit.formats.misfits import ATTRIBUTES, Conversion, Misfit, lost_fields, origin_of
from lifesearch_kit.formats.pointed_tasks import (
    PointedFormat,
    PointedTask,
    records_of_points,
    written_items,
)
from lifesearch_kit.formats.points import Negative, PointedItem
from lifesearch_kit.records import Language, Task
from lifesearch_kit.rows import PathLike, Row

_FORMAT = PointedFormat("healthbench", points="points", largest=10)
_THEME, _AXIS = "theme:", "axis:"


class _Message(Foreign):
    role: Text
    content: Text


class _Item(Foreign):
    criterion: Text
    points: Annotated[float, Field(allow_inf_nan=False)]
    tags: list[str] = Field(default_factory=list)


class _Example(Foreign):
    prompt_id: Id
    prompt: list[_Message] = Field(min_length=1)
    rubrics: list[_Item] = Field(min_length=1)
    example_tags: list[str] = Field(default_factory=list)


def read_healthbench(
    path: PathLike, *, negative: Negative = "refuse", language: Language | None = None, domain: str | None = None
) -> Conversion:
    """Read tasks from HealthBench's JSON Lines.

    Parameters
    ----------
    path
        One object a line: prompt_id, prompt (messages with role and content), rubrics (criterion, points, tags),
        example_tags.
    negative
        What becomes of criteria with negative points: ``refuse``; ``invert``, each is a requirement to avoid it, on a
        scale that `formats.points` states; ``drop``.
    language
        Of all tasks; None guesses each from its script.
    domain
        Of all tasks; None takes each one's tag ``theme:``.

    Returns
    -------
    Conversion
        A rubric a criterion, weight points / 10 (over the largest where a task has more), dimension its tag ``axis:``.
        A conversation of several messages is one query, each message after its role.

    Raises
    ------
    InputError
        Listing every fault of the file, and negative points where nothing was chosen.
    """
    rows = read_foreign(path, _Example, "prompt_id")
    read = [_read(row, example) for row, example in rows]
    tasks, misfits = records_of_points(_FORMAT, path, read, negative, language, domain)
    told = "one query, each message after its role; the kit asks and judges single questions"
    misfits += [
        Misfit(
            kind="changed",
            task_id=example.prompt_id,
            field="prompt",
            value=f"{len(example.prompt)} messages",
            treatment=told,
        )
        for _, example in rows
        if len(example.prompt) > 1
    ]
    return Conversion(tasks, misfits)


def write_healthbench(tasks: Iterable[Task], path: PathLike) -> list[Misfit]:
    """Write tasks as HealthBench's JSON Lines; points are weights times 10.

    Tasks that came from HealthBench are written as they were there, with what has been edited since. Returns what has
    no place in the format: type, necessity, priority, cutoff, language and metadata; domain and dimension where tags
    from there say another one.
    """
    rows: list[dict[str, Any]] = []
    misfits: list[Misfit] = []
    for task in tasks:
        row = origin_of(task, _FORMAT.name).get("row", {})
        kept = row.get("rubrics", {})
        rubrics = [
            item if rubric is None or rubric.rubric_id in kept else {**item, "tags": _tags(_AXIS, rubric.dimension)}
            for rubric, item in written_items(_FORMAT, task)
        ]
        start = row or {"example_tags": _tags(_THEME, task.domain if task.domain != NOT_STATED else None)}
        said = {"prompt": _prompt(task, row), "prompt_id": written_id(task, row, "prompt_id"), "rubrics": rubrics}
        rows.append({**start, **said})
        misfits += lost_fields(task, ("language", "cutoff"), ATTRIBUTES, _FORMAT.name) + _other_tags(task, row)
    write_json_rows(path, rows)
    return misfits


def _read(row: Row, example: _Example) -> PointedTask:
    items = [
        PointedItem(
            place=f"{row.place}, rubric {number}",
            criterion=item.criterion,
            points=item.points,
            attributes={"dimension": next(iter(_named(item.tags, _AXIS)), None)},
        )
        for number, item in enumerate(example.rubrics, start=1)
    ]
    return PointedTask(
        row=row,
        task_id=example.prompt_id,
        query=_query(example.prompt),
        domains=[name for name in _named(example.example_tags, _THEME) if name.strip()],
        items=items,
        silent=ATTRIBUTES,
        unused=[name for name in row.data if name not in _Example.model_fields],
    )


def _named(tags: Iterable[str], kind: str) -> list[str]:
    return [tag.removeprefix(kind) for tag in tags if tag.startswith(kind)]


def _tags(kind: str, name: str | None) -> list[str]:
    return [] if name is None else [kind + name]


def _query(messages: Sequence[_Message]) -> str:
    if len(messages) == 1 and messages[0].role == "user":
        return messages[0].content
    return "\n\n".join(f"{one.role}: {one.content}" for one in messages)


def _prompt(task: Task, row: Mapping[str, Any]) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = row.get("prompt", [])
    same = messages and _query([_Message.model_validate(one) for one in messages]) == task.query
    return messages if same else [{"role": "user", "content": task.query}]


def _other_tags(task: Task, row: Mapping[str, Any]) -> list[Misfit]:
    """What the tags of the task's origin say otherwise than the task now does."""
    if not row:
        return []
    now: list[tuple[str | None, str, str | None, list[str]]] = [
        (one.rubric_id, "dimension", one.dimension, _named(row["rubrics"][one.rubric_id].get("tags", ()), _AXIS))
        for one in task.rubrics
        if one.rubric_id in row["rubrics"]
    ]
    if task.domain != NOT_STATED:
        now.append((None, "domain", task.domain, _named(row.get("example_tags", ()), _THEME)))
    told = "the tags from the task's origin are written, and say otherwise"
    return [
        Misfit(kind="lost", task_id=task.task_id, rubric_id=rubric, field=name, value=str(value), treatment=told)
        for rubric, name, value, tags in now
        if value != next(iter(tags), None)
    ]
