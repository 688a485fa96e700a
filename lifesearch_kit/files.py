"""Records in and out of JSON Lines, JSON and CSV. All faults of a file are told in one go, each with its place."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ValidationError

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.paths import replacing
from lifesearch_kit.records import (
    JUDGMENT_KEY,
    LABEL_KEY,
    REPORT_KEY,
    WEIGHT_STEP,
    Judgment,
    Label,
    Record,
    Report,
    Rubric,
    Task,
)
from lifesearch_kit.rows import PathLike, Row, fault, read_rows
from lifesearch_kit.text import replace_lone_surrogates

AnyRecord = TypeVar("AnyRecord", bound=Record)


def read_records(
    path: PathLike, model: type[AnyRecord], *, key: Sequence[str] = (), context: dict[str, Any] | None = None
) -> list[AnyRecord]:
    """Read one file of records.

    Parameters
    ----------
    path
        ``.jsonl`` (one object a line), ``.json`` (a list of objects or one object) or ``.csv``.
    model
        The record's class.
    key
        Fields that no two records may share all of.
    context
        Passed to the class's validators (`weight_step`).

    Raises
    ------
    InputError
        Listing every fault of the file: unreadable lines, wrong fields, repeated keys.
    """
    rows, faults = read_rows(path)
    records = list(validated(rows, model, context, faults))
    faults += repeats([(row.place, record) for row, record in records], key)
    if faults:
        raise InputError(faults)
    return [record for _, record in records]


def read_tasks(path: PathLike, rubrics: PathLike | None = None, weight_step: float | None = WEIGHT_STEP) -> list[Task]:
    """Read tasks, with their rubrics inside or in a file of their own.

    Parameters
    ----------
    path
        Tasks as JSON Lines or JSON.
    rubrics
        JSON Lines, JSON or CSV with a `task_id` column, where the tasks carry no rubrics themselves.
    weight_step
        Weights must be multiples of it; None admits any weight from 0 to 1.

    Raises
    ------
    InputError
        Listing every fault of both files.
    """
    context = {"weight_step": weight_step}
    if rubrics is None:
        return read_records(path, Task, key=("task_id",), context=context)
    rows, faults = read_rows(path)
    faults += [
        f"{row.place}: field 'rubrics': they are in {rubrics}; keep one" for row in rows if "rubrics" in row.data
    ]
    if faults:
        raise InputError(faults)
    by_task = _rubrics_by_task(rubrics, {str(row.data.get("task_id")) for row in rows}, path, context)
    joined = [
        Row(row.place, {**row.data, "rubrics": tuple(by_task.get(str(row.data.get("task_id")), ()))}) for row in rows
    ]
    tasks = list(validated(joined, Task, context, faults))
    faults += repeats([(row.place, task) for row, task in tasks], ("task_id",))
    if faults:
        raise InputError(faults)
    return [task for _, task in tasks]


def _rubrics_by_task(
    path: PathLike, tasks: set[str], tasks_path: PathLike, context: dict[str, Any]
) -> dict[str, list[Rubric]]:
    rows, faults = read_rows(path)
    owner: dict[str, str] = {}
    counts: dict[str, int] = {}
    numbered = []
    for row in rows:
        task = owner[row.place] = str(row.data.get("task_id", ""))
        counts[task] = counts.get(task, 0) + 1
        fields = {name: value for name, value in row.data.items() if name != "task_id"}
        numbered.append(Row(row.place, {"rubric_id": f"R{counts[task]}", **fields}))
        if task not in tasks:
            faults.append(
                f"{row.place}: field 'task_id': {task!r} is no task of {tasks_path}; correct the id or add the task"
            )
    by_task: dict[str, list[Rubric]] = {}
    for row, rubric in validated(numbered, Rubric, context, faults):
        by_task.setdefault(owner[row.place], []).append(rubric)
    if faults:
        raise InputError(faults)
    return by_task


def read_reports(path: PathLike) -> list[Report]:
    """Read reports; no two may share system, task and run. Raises InputError."""
    return read_records(path, Report, key=REPORT_KEY)


def read_judgments(path: PathLike) -> list[Judgment]:
    """Read judgments; no two may share their whole key. Raises InputError."""
    return read_records(path, Judgment, key=JUDGMENT_KEY)


def read_labels(path: PathLike) -> list[Label]:
    """Read labels, `satisfied` written as Pass or Fail, true or false. Raises InputError."""
    return read_records(path, Label, key=LABEL_KEY)


def write_jsonl(path: PathLike, records: Iterable[Record]) -> None:
    """Write records as JSON Lines: valid UTF-8, strict JSON, replaced in one step."""
    write_json_rows(path, (record.model_dump(mode="json") for record in records))


def write_json_rows(path: PathLike, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write plain objects as `write_jsonl` writes records.

    Raises
    ------
    InputError
        When an object holds what JSON cannot say, such as NaN; then the file stays as it was.
    """
    with replacing(path) as temporary, temporary.open("wb") as file:
        for number, row in enumerate(rows, start=1):
            try:
                line = json.dumps(row, ensure_ascii=False, allow_nan=False)
            except ValueError as error:
                raise InputError(f"{path}:{number}: cannot be written as JSON ({error}); write null there") from None
            file.write(replace_lone_surrogates(line)[0].encode() + b"\n")


def validated(
    rows: Iterable[Row], model: type[AnyRecord], context: dict[str, Any] | None, faults: list[str]
) -> Iterator[tuple[Row, AnyRecord]]:
    """Make a record of each row that is one; what is wrong with the others is added to `faults`."""
    for row in rows:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", InputWarning)
            try:
                record = model.model_validate(row.data, context=context)
            except ValidationError as error:
                faults += [fault(row, model, one) for one in error.errors(include_url=False)]
                continue
        for one in caught:
            warnings.warn(f"{row.place}: {one.message}", InputWarning, stacklevel=4)
        yield row, record


def repeats(records: Sequence[tuple[str, Record]], key: Sequence[str]) -> list[str]:
    """Faults of records, each with its place, that share all fields of a key."""
    first: dict[tuple[Any, ...], str] = {}
    faults = []
    for place, record in records if key else ():
        values = tuple(getattr(record, name) for name in key)
        if values in first:
            named = ", ".join(f"{name} {value!r}" for name, value in zip(key, values, strict=True))
            faults.append(f"{place}: {named} stands already at {first[values]}; keep one")
        first.setdefault(values, place)
    return faults
