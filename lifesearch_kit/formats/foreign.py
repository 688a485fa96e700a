"""Rows of other people's files: read with their places, written whole; what they leave out is guessed, and said."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from pydantic import ConfigDict

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_records, validated
from lifesearch_kit.formats.misfits import Misfit
from lifesearch_kit.records import Language, Record, Task
from lifesearch_kit.rows import PathLike, Row, read_rows

NOT_STATED = "not stated"
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA = re.compile("[\u3041-\u30ff]")
_WORD = re.compile("[^\\W\\d_\u3400-\u9fff\uf900-\ufaff]+")


class Foreign(Record):
    """A row of somebody else's file, which may hold more than is read."""

    model_config = ConfigDict(extra="ignore")


AnyForeign = TypeVar("AnyForeign", bound=Foreign)


def read_foreign(path: PathLike, model: type[AnyForeign], key: str) -> list[tuple[Row, AnyForeign]]:
    """Read a file's rows, each raw, with its place, and as a record.

    Raises
    ------
    InputError
        Listing every fault of the file; also when it holds nothing.
    """
    records = read_records(path, model, key=(key,))
    if not records:
        raise InputError(f"{path}: holds no tasks; give the file that does")
    return list(zip(read_rows(path)[0], records, strict=True))


def task_of(place: str, faults: list[str], **fields: Any) -> Task | None:
    """A task of a foreign row; None where it cannot be one, which is added to the faults."""
    found = list(validated([Row(place, fields)], Task, {"weight_step": None}, faults))
    return found[0][1] if found else None


def written_id(task: Task, row: Mapping[str, Any], field: str) -> Any:
    """A task's id as its origin writes it, such as a number, unless it has another one now."""
    return row[field] if field in row and str(row[field]) == task.task_id else task.task_id


def metadata_text(task: Task) -> str:
    """A task's metadata as JSON; numbers that it does not have, such as NaN, are null there, as in JSON Lines.

    Raises
    ------
    InputError
        When they hold objects that are none of JSON's.
    """
    try:
        metadata = task.model_dump(mode="json", include={"metadata"})["metadata"]
    except ValueError as error:
        told = f"cannot be written as JSON ({error}); write text, numbers, lists and mappings"
        raise InputError(f"task {task.task_id!r}: field 'metadata': {told}") from None
    return json.dumps(metadata, ensure_ascii=False, allow_nan=False)


def language_by_script(text: str) -> Language:
    """``zh`` where Chinese characters outnumber words of other scripts, else ``en``."""
    if _KANA.search(text):
        return "en"
    return "zh" if len(_HAN.findall(text)) > len(_WORD.findall(text)) else "en"


def chosen_language(task_id: str, query: str, language: Language | None) -> tuple[Language, list[Misfit]]:
    """A task's language where its file does not say: the caller's, or by script, which is a misfit."""
    if language is not None:
        return language, []
    guess = language_by_script(query)
    treatment = "not in the file: guessed from the script; it chooses the language of the judge's prompt"
    return guess, [Misfit(kind="assumed", task_id=task_id, field="language", value=guess, treatment=treatment)]


def chosen_domain(task_id: str, domains: Sequence[str], domain: str | None) -> tuple[str, list[Misfit]]:
    """A task's domain: the caller's, else the file's first, else `NOT_STATED`, which is a misfit."""
    if domain is not None or domains:
        return domain or domains[0], []
    missing = Misfit(
        kind="assumed",
        task_id=task_id,
        field="domain",
        value=NOT_STATED,
        treatment="not in the file; name one for all tasks",
    )
    return NOT_STATED, [missing]
