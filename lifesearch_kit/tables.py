"""The CSV tables of a results folder: columns checked, numbers read as numbers, nothing undefined written as one."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import replacing
from lifesearch_kit.rows import PathLike, Row, read_rows

UNDEFINED = "undefined"


@dataclass(frozen=True)
class TableShape:
    """Which columns a table has.

    `key` names a row and no two rows share it; `required` and `optional` hold numbers, `text` holds words.
    A required or key column must be filled in every row.
    """

    key: tuple[str, ...]
    required: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    text: tuple[str, ...] = ()


TABLES = {
    "systems": TableShape(
        ("system",), ("score_pct",), ("runs", "score_sd_pct", "iterations", "output_tokens_k", "report_characters")
    ),
    "domains": TableShape(("system", "domain"), ("score_pct",), ("tasks",)),
    "judges": TableShape(
        ("judge", "reasoning", "temperature"),
        ("mean_accuracy_pct", "majority_vote_pct"),
        ("rubrics", "repeats", "self_consistency_pct"),
    ),
    "rankings": TableShape(("system",), ("human_rank",), ("score_rank",)),
    "dataset": TableShape(("group", "name"), ("value",), text=("unit",)),
    "cases": TableShape(
        ("case",),
        ("passed", "rubrics", "score_pct"),
        text=("system", "language", "domain", "task_summary", "mode", "explanation", "shown_pass", "shown_fail"),
    ),
}


def read_table(path: PathLike, shape: TableShape) -> pd.DataFrame:
    """Read one CSV table.

    Returns
    -------
    DataFrame
        The declared columns first, a declared one that the file lacks filled with missing values; further columns of
        the file follow as text. Numbers are int64 where all are whole, float64 otherwise.

    Raises
    ------
    InputError
        Listing every fault: missing columns, cells that are no finite number, rows that share a key.
    """
    rows, faults = read_rows(path)
    present = {name for row in rows for name in row.data}
    absent = [name for name in (*shape.key, *shape.required) if name not in present]
    if absent:
        raise InputError([*faults, f"{path}: column{'s'[: len(absent) > 1]} {', '.join(absent)} missing; add and fill"])
    numbers = (*shape.required, *shape.optional)
    cells = [
        {name: _number(row, name, faults) if name in numbers else value for name, value in row.data.items()}
        for row in rows
    ]
    for row in rows:
        faults += [
            f"{row.place}: field '{name}' is empty; fill it"
            for name in (*shape.key, *shape.required)
            if name not in row.data
        ]
    faults += _repeated_keys(rows, shape.key)
    if faults:
        raise InputError(faults)
    declared = (*shape.key, *numbers, *shape.text)
    frame = pd.DataFrame(cells, columns=[*declared, *sorted(present.difference(declared))])
    return frame.assign(**{name: pd.to_numeric(frame[name]) for name in numbers})


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> Path:
    """Write a table as ``.csv`` or ``.json`` (a list of rows), replaced in one step.

    A missing value is ``undefined`` in CSV and null in JSON; an infinite one is refused, so that strict readers can
    read what was written.

    Raises
    ------
    InputError
        For an infinite value or another ending.
    """
    target = Path(path)
    numbers = frame.select_dtypes("number").to_numpy(dtype=float, na_value=np.nan)
    if np.isinf(numbers).any():
        raise InputError(f"{target}: the table holds an infinite value; leave undefined values missing")
    if target.suffix == ".csv":
        content = frame.to_csv(index=False, na_rep=UNDEFINED, lineterminator="\n")
    elif target.suffix == ".json":
        content = str(frame.to_json(orient="records", force_ascii=False, date_format="iso", double_precision=12))
        json.loads(content, parse_constant=_refuse_constant)
    else:
        raise InputError(f"{target}: the ending {target.suffix!r} is not known; use .csv or .json")
    with replacing(target) as temporary:
        temporary.write_bytes(content.encode())
    return target


def _refuse_constant(token: str) -> float:
    raise InputError(f"the table would hold {token}, which is no JSON; leave undefined values missing")


def _number(row: Row, name: str, faults: list[str]) -> float | None:
    cell = str(row.data[name]).strip()
    if cell == UNDEFINED:
        return None
    if cell.lstrip("-").isdecimal():
        return int(cell)
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        faults.append(f"{row.place}: field '{name}': {cell!r} is no finite number; write it as 62.9, or leave it empty")
    return value


def _repeated_keys(rows: list[Row], key: tuple[str, ...]) -> list[str]:
    first: dict[tuple[str, ...], str] = {}
    faults = []
    for row in rows:
        values = tuple(str(row.data.get(name, "")).strip() for name in key)
        if values in first:
            named = ", ".join(f"{name} {value!r}" for name, value in zip(key, values, strict=True))
            faults.append(f"{row.place}: {named} stands already at {first[values]}; keep one")
        first.setdefault(values, row.place)
    return faults
