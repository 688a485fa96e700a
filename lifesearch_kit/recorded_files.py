"""The files of a folder of recorded results: settings beside what was made with them, in two pairs."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_records
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.settings import ModelSettings

AnySettings = TypeVar("AnySettings", bound=ModelSettings)
AnyRecord = TypeVar("AnyRecord", Report, Judgment)
SYSTEMS, REPORTS, JUDGES, JUDGMENTS = "systems.jsonl", "reports.jsonl", "judges.jsonl", "judgments.jsonl"


def holds_results(folder: Path) -> bool:
    """Whether a folder holds any of the four files."""
    return any((folder / name).is_file() for name in (SYSTEMS, REPORTS, JUDGES, JUDGMENTS))


def require_results(folder: Path) -> None:
    """Raise InputError, with a folder beside it that may be meant, where a folder holds none of the four files."""
    if holds_results(folder):
        return
    what = "there is no such folder"
    if folder.exists():
        pairs = f"{SYSTEMS} with {REPORTS}, {JUDGES} with {JUDGMENTS}, or both"
        what = f"holds no recorded results, which are {pairs}" if folder.is_dir() else "is no folder"
    others = [one.name for one in folder.parent.glob("*") if one != folder and holds_results(one)]
    near = difflib.get_close_matches(folder.name, others, 1)
    remedy = f"did you mean {folder.parent / near[0]}?" if near else "correct `recorded`, or leave it empty"
    raise InputError(f"{folder}: {what}; {remedy}")


def read_pair(
    places: tuple[Path, Path], model: type[AnySettings], read: Callable[[Path], list[AnyRecord]], alone: str
) -> tuple[list[AnySettings], list[AnyRecord]]:
    """Read a file of settings and the file of what was made with them; both are empty where neither file is there.

    Parameters
    ----------
    alone
        What to say where one is there without the other, after the name of the missing one.

    Raises
    ------
    InputError
        When one of the two is missing, and for faults of either.
    """
    absent = [place for place in places if not place.is_file()]
    if len(absent) == 2:
        return [], []
    if absent:
        raise InputError(f"{absent[0]}: is not there, {alone}")
    return read_records(places[0], model, key=("name",)), read(places[1])
