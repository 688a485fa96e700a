"""Raw rows of JSON Lines, JSON and CSV with the place of each, and what is said of a row that is wrong."""

from __future__ import annotations

import csv
import difflib
import io
import json
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.records import Record, Rubric
from lifesearch_kit.text import fold, repair

PathLike = str | os.PathLike[str]
VERDICT_WORDS = {"pass": True, "true": True, "fail": False, "false": False}
# A key is easily put where its variable's name belongs, or into an address.
_NEVER_SHOWN = ("api_key_env", "base_url")
_HALF_CHARACTER = re.compile(r"\\u[dD][89a-fA-F]")
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_REMEDIES = {
    "missing": "is missing; add it",
    "float_type": "is no number; write it as a number without quotes, such as 0.8",
    "int_type": "is no whole number; write it without quotes, such as 1",
    "string_type": "is no text; put it in quotes",
    "tuple_type": "is no list; write it as [one, two]",
    "bool_type": "is neither true nor false",
}


@dataclass(frozen=True)
class Row:
    """One raw record and where it stands, as ``file:line``."""

    place: str
    data: dict[str, Any]


def read_rows(path: PathLike) -> tuple[list[Row], list[str]]:
    """Read raw rows and the faults of those that cannot be read; the rest of a bad file is read all the same.

    Raises
    ------
    InputError
        When the file is absent, is no UTF-8, or has an ending that is none of .jsonl, .json, .csv.
    """
    source = Path(path)
    readers: dict[str, Callable[[str, str], Iterator[Row | str]]] = {
        ".jsonl": json_lines,
        ".json": _json_items,
        ".csv": _csv_rows,
    }
    if source.suffix not in readers and not source.is_file():
        what = "is a folder; name a file" if source.is_dir() else "there is no such file; check the path"
        raise InputError(f"{path}: {what}")
    if source.suffix not in readers:
        raise InputError(f"{path}: the ending {source.suffix!r} is not known; use .jsonl, .json or .csv")
    found = list(readers[source.suffix](read_text(path), str(path)))
    return [row for row in found if isinstance(row, Row)], [fault for fault in found if isinstance(fault, str)]


def read_text(path: PathLike) -> str:
    """Read a file as UTF-8, with or without the mark that some programs put first.

    Raises
    ------
    InputError
        When the file is absent, cannot be read, or is no UTF-8.
    """
    try:
        return Path(path).read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a file that can") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        byte = error.object[error.start]
        raise InputError(f"{path}:{line}: byte {byte:#04x} is no UTF-8; save the file as UTF-8") from None


def json_lines(text: str, path: str) -> Iterator[Row | str]:
    """Each line of JSON Lines that is not blank: its row, or what is wrong with it."""
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip(" \t\r"):
            yield _json_row(line, f"{path}:{number}")


def _json_row(line: str, place: str) -> Row | str:
    try:
        data = _loads(line, place)
    except json.JSONDecodeError as error:
        return f"{place}: is no JSON at character {error.pos + 1} ({error.msg}); each line holds one whole object"
    except ValueError as error:
        return f"{place}: {error}"
    return Row(place, data) if isinstance(data, dict) else f"{place}: is no object; write {{...}} with named fields"


def _loads(text: str, place: str) -> Any:
    try:
        data = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise ValueError("is nested too deeply; write plain records") from None
    if not _HALF_CHARACTER.search(text):
        return data
    data, halves = repair(data)
    if halves:
        warnings.warn(f"{place}: {halves} half characters were replaced", InputWarning, stacklevel=2)
    return data


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"field '{twice}' stands twice in one object; keep one")
    return dict(pairs)


def _json_items(text: str, path: str) -> Iterator[Row | str]:
    try:
        data = _loads(text, path)
    except json.JSONDecodeError as error:
        yield f"{path}:{error.lineno}: is no JSON at column {error.colno} ({error.msg})"
        return
    except ValueError as error:
        yield f"{path}: {error}"
        return
    for number, item in enumerate(data if isinstance(data, list) else [data], start=1):
        place = f"{path}: item {number}"
        yield Row(place, item) if isinstance(item, dict) else f"{place}: is no object; write {{...}} with named fields"


def _csv_rows(text: str, path: str) -> Iterator[Row | str]:
    csv.field_size_limit(sys.maxsize)
    reader = csv.DictReader(io.StringIO(text, newline=""))
    names = [name.strip() for name in reader.fieldnames or ()]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        yield f"{path}:1: column {', '.join(twice)} stands twice in the header; keep one"
        return
    for raw in reader:
        place = f"{path}:{reader.line_num}"
        if None in raw or None in raw.values():
            yield f"{place}: has another number of columns than the header; quote cells that hold commas"
            continue
        yield Row(place, {name.strip(): _cell(name.strip(), cell) for name, cell in raw.items() if cell.strip()})


def _cell(name: str, cell: str) -> Any:
    if name == "satisfied":
        return VERDICT_WORDS.get(fold(cell), cell)
    if name in ("weight", "run", "repeat") and _NUMBER.fullmatch(cell.strip()):
        number = float(cell)
        return int(number) if name != "weight" and number.is_integer() else number
    return cell.strip() if name.endswith("_id") or name in ("system", "judge") else cell


def fault(row: Row, model: type[Record], error: Any) -> str:
    """Say what pydantic found wrong in a row: place, task, rubric, field, value as written, remedy."""
    where = [f"task {row.data['task_id']!r}"] if isinstance(row.data.get("task_id"), (str, int)) else []
    location = list(error["loc"])
    if len(location) > 1 and location[0] == "rubrics" and isinstance(location[1], int):
        where.append(f"rubric {location[1] + 1}")
        location, model = location[2:], Rubric
    field = ".".join(str(part) for part in location)
    if field:
        where.append(f"field '{field}'")
    return ": ".join([row.place, *([", ".join(where)] if where else []), _complaint(error, field, model)])


def _complaint(error: Any, field: str, model: type[Record]) -> str:
    kind, value = error["type"], error["input"]
    if kind == "missing":
        return _REMEDIES[kind]
    if kind == "extra_forbidden":
        near = difflib.get_close_matches(field, model.model_fields, n=1)
        return "is no known field; " + (f"did you mean '{near[0]}'?" if near else "remove it")
    hidden = isinstance(value, (dict, list, tuple)) or not field or field in _NEVER_SHOWN
    shown = "" if hidden else f"{json.dumps(value, ensure_ascii=False, default=str)} "
    if kind == "literal_error":
        return f"{shown}is not allowed; choose {error['ctx']['expected']}"
    return shown + _REMEDIES.get(kind, str(error["msg"]).removeprefix("Value error, "))
