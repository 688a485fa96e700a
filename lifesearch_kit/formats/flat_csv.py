"""Plain CSV, for spreadsheets: a row a rubric, its task's fields beside it."""

from __future__ import annotations

import csv
import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import validated
from lifesearch_kit.formats.foreign import chosen_domain, chosen_language, metadata_text
from lifesearch_kit.formats.misfits import ATTRIBUTES, ORIGIN, Conversion, Misfit, assumed, odd_weights
from lifesearch_kit.paths import replacing
from lifesearch_kit.records import Language, Rubric, Task
from lifesearch_kit.rows import PathLike, Row, read_rows
from lifesearch_kit.text import replace_lone_surrogates

FORMAT = "csv"
_TASK = ("task_id", "language", "domain", "query", "cutoff", "metadata")
_RUBRIC = ("rubric_id", "criterion", "type", "necessity", "priority", "weight", "dimension")
COLUMNS = (*(name for name in _TASK if name != "metadata"), *_RUBRIC, "metadata")


def read_flat_csv(path: PathLike, *, language: Language | None = None, domain: str | None = None) -> Conversion:
    """Read tasks from a CSV of one row a rubric.

    Parameters
    ----------
    path
        Columns task_id, query, criterion and weight (0 to 1), and any of the other fields of a task and a rubric. A
        task's fields may stand in one of its rows or in all. `metadata` holds a JSON object.
    language
        Of tasks that do not say; None guesses each from its script.
    domain
        Of tasks that do not say.

    Returns
    -------
    Conversion
        Tasks in the order of their first rows. Attributes without a value have the record's defaults.

    Raises
    ------
    InputError
        Listing every fault of the file: unknown columns, rows of one task that say different things, wrong fields.
    """
    rows, faults = read_rows(path)
    faults += _unknown_columns(path, rows)
    if faults:
        raise InputError(faults)
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if "task_id" not in row.data:
            faults.append(f"{row.place}: field 'task_id' is missing; add it")
        groups.setdefault(str(row.data.get("task_id")), []).append(row)
    tasks, misfits = [], []
    for name, group in groups.items():
        fields = _task_fields(group, faults)
        origin, found = _assumptions(name, fields, group, language, domain)
        if origin:
            fields["metadata"] = {**fields.get("metadata", {}), ORIGIN: origin}
        rubrics = [one for _, one in validated(_rubric_rows(group), Rubric, {"weight_step": None}, faults)]
        if len(rubrics) < len(group):
            continue
        for _, task in validated([Row(group[0].place, {**fields, "rubrics": tuple(rubrics)})], Task, None, faults):
            tasks.append(task)
            misfits += [*found, *odd_weights(task)]
    if faults or not tasks:
        raise InputError(faults or f"{path}: holds no tasks; give the file that does")
    return Conversion(tasks, misfits)


def write_flat_csv(tasks: Iterable[Task], path: PathLike) -> list[Misfit]:
    """Write tasks as a CSV of one row a rubric, UTF-8 with the mark that spreadsheets look for.

    An empty cell is a field that is not there, so an empty or blank dimension is lost. What a task keeps of the file it
    was converted from goes along in `metadata`.

    Raises
    ------
    InputError
        When a task's metadata hold objects that are none of JSON's.
    """
    misfits = []
    with replacing(path) as temporary, temporary.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        for task in tasks:
            said = task.model_dump(mode="json", exclude={"rubrics", "metadata"})
            said["metadata"] = metadata_text(task) if task.metadata else None
            writer.writerows(_cells({**said, **one.model_dump()}) for one in task.rubrics)
            misfits += _blank_dimensions(task)
    return misfits


def _unknown_columns(path: PathLike, rows: Sequence[Row]) -> list[str]:
    faults = []
    for name in dict.fromkeys(name for row in rows for name in row.data if name not in COLUMNS):
        near = difflib.get_close_matches(name, COLUMNS, n=1)
        hint = f"did you mean '{near[0]}'?" if near else f"remove it or use one of {', '.join(COLUMNS)}"
        faults.append(f"{path}:1: column '{name}' is no known field; {hint}")
    return faults


def _task_fields(group: Sequence[Row], faults: list[str]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    places: dict[str, str] = {}
    for row in group:
        for name in _TASK:
            value = row.data.get(name)
            if value is None:
                continue
            if name in fields and fields[name] != value:
                faults.append(f"{row.place}: field '{name}': {places[name]} says another one of this task; keep one")
            places.setdefault(name, row.place)
            fields.setdefault(name, value)
    if "metadata" in fields:
        fields["metadata"] = _metadata(fields["metadata"], places["metadata"], faults)
    return fields


def _metadata(cell: str, place: str, faults: list[str]) -> dict[str, Any]:
    try:
        value = json.loads(cell)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        faults.append(f"{place}: field 'metadata': is no JSON object; write {{...}} or leave it empty")
        return {}
    return value


def _assumptions(
    name: str, fields: dict[str, Any], group: Sequence[Row], language: Language | None, domain: str | None
) -> tuple[dict[str, Any], list[Misfit]]:
    """Fill in what a task does not say; returns what its metadata tell of it."""
    silent = [one for one in ATTRIBUTES if any(one not in row.data for row in group)]
    found = assumed(name, silent)
    if "language" not in fields and "query" in fields:
        fields["language"], guessed = chosen_language(name, fields["query"], language)
        found += guessed
    if "domain" not in fields:
        fields["domain"], unstated = chosen_domain(name, (), domain)
        found += unstated
    names = [one.field for one in found]
    return ({"format": FORMAT, "assumed": names} if names else {}), found


def _rubric_rows(group: Sequence[Row]) -> list[Row]:
    return [
        Row(row.place, {"rubric_id": f"R{number}", **{name: row.data[name] for name in _RUBRIC if name in row.data}})
        for number, row in enumerate(group, start=1)
    ]


def _cells(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: replace_lone_surrogates(value)[0] if isinstance(value, str) else value for name, value in fields.items()
    }


def _blank_dimensions(task: Task) -> list[Misfit]:
    return [
        Misfit(
            kind="lost",
            task_id=task.task_id,
            rubric_id=one.rubric_id,
            field="dimension",
            value=one.dimension,
            treatment="blank: an empty cell is no dimension",
        )
        for one in task.rubrics
        if one.dimension is not None and not one.dimension.strip()
    ]
