"""Tasks as Parquet, a row a task, as pandas, Arrow and data hubs load them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import date
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from lifesearch_kit import __version__
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import repeats, validated
from lifesearch_kit.formats.foreign import metadata_text
from lifesearch_kit.formats.misfits import Misfit
from lifesearch_kit.paths import replacing
from lifesearch_kit.records import Task
from lifesearch_kit.rows import PathLike, Row
from lifesearch_kit.text import repair, replace_lone_surrogates

SCHEMA_VERSION = 1
_VERSION_KEY = b"lifesearch_kit.schema_version"


def _required(name: str, kind: pa.DataType) -> pa.Field:
    return pa.field(name, kind, nullable=False)


_RUBRIC = pa.struct(
    [
        _required("rubric_id", pa.string()),
        _required("criterion", pa.string()),
        _required("type", pa.string()),
        _required("necessity", pa.string()),
        _required("priority", pa.string()),
        _required("weight", pa.float64()),
        pa.field("dimension", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        _required("task_id", pa.string()),
        _required("language", pa.string()),
        _required("domain", pa.string()),
        _required("query", pa.string()),
        pa.field("cutoff", pa.date32()),
        _required("rubrics", pa.list_(_required("element", _RUBRIC))),
        _required("metadata", pa.string()),  # JSON, because its fields are anybody's
    ],
    metadata={b"lifesearch_kit.version": __version__.encode(), _VERSION_KEY: str(SCHEMA_VERSION).encode()},
)


def write_parquet(tasks: Iterable[Task], path: PathLike) -> list[Misfit]:
    """Write tasks as Parquet, replaced in one step.

    The columns are a task's fields; `rubrics` is a list of structs, `cutoff` a date, `metadata` a JSON text. The file's
    metadata name the kit's and the schema's version. Returns the tasks in which lone halves of characters were
    replaced, which no UTF-8 can hold.

    Raises
    ------
    InputError
        When a task's metadata hold objects that are none of JSON's.
    """
    rows = [_row(task) for task in tasks]
    with replacing(path) as temporary:
        pq.write_table(pa.Table.from_pylist([row for row, _ in rows], schema=SCHEMA), temporary)
    told = "half characters, which no file can hold, were replaced"
    return [
        Misfit(kind="changed", task_id=row["task_id"], field="text", value=str(halves), treatment=told)
        for row, halves in rows
        if halves
    ]


def read_parquet(path: PathLike) -> list[Task]:
    """Read tasks that `write_parquet` wrote, or a table of the same columns that other programs wrote.

    Raises
    ------
    InputError
        Listing every fault of the file: no Parquet, a newer schema, missing or unknown columns, wrong fields.
    """
    table = _table(path)
    faults: list[str] = []
    rows = [_unpacked(Row(f"{path}: row {n}", row), faults) for n, row in enumerate(table.to_pylist(), start=1)]
    found = list(validated(rows, Task, {"weight_step": None}, faults))
    faults += repeats([(row.place, task) for row, task in found], ("task_id",))
    if faults:
        raise InputError(faults)
    return [task for _, task in found]


def _row(task: Task) -> tuple[dict[str, Any], int]:
    said, halves = repair(task.model_dump(mode="json", exclude={"metadata"}))
    metadata, more = replace_lone_surrogates(metadata_text(task))
    return {**said, "cutoff": task.cutoff, "metadata": metadata}, halves + more


def _table(path: PathLike) -> pa.Table:
    try:
        table = pq.read_table(path)
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except (OSError, pa.ArrowException) as error:
        told = str(error).splitlines()[0]
        raise InputError(f"{path}: is no readable Parquet file ({told}); write it again") from None
    version = (table.schema.metadata or {}).get(_VERSION_KEY, b"1").decode()
    if not version.isdigit() or int(version) > SCHEMA_VERSION:
        raise InputError(f"{path}: has schema version {version}, and this kit reads {SCHEMA_VERSION}; update the kit")
    missing = [name for name in SCHEMA.names if name not in (*table.column_names, "cutoff", "metadata")]
    if missing:
        raise InputError(f"{path}: column {', '.join(missing)} is missing; it holds no tasks, or lost a column")
    return table


def _unpacked(row: Row, faults: list[str]) -> Row:
    """A row as a task's fields: what pandas made of a date or left empty is put right."""
    data = {name: value for name, value in row.data.items() if value is not None}
    cutoff = data.get("cutoff")
    if isinstance(cutoff, date) and type(cutoff) is not date:
        data["cutoff"] = cutoff.isoformat()[:10]
    if "metadata" in data:
        try:
            data["metadata"] = json.loads(data["metadata"])
        except (TypeError, ValueError):
            faults.append(f"{row.place}: field 'metadata': is no JSON; write {{}} where there are none")
            data["metadata"] = {}
    return Row(row.place, data)
