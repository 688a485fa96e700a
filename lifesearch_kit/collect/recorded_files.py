"""The files of a folder of recorded results: settings beside what was made with them, in two pairs."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal, TypeVar

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_judgments, read_records, read_reports
from lifesearch_kit.own_agents import OwnAgent, read_systems
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.settings import JudgeSettings, SystemSettings

AnySettings = TypeVar("AnySettings", SystemSettings | OwnAgent, JudgeSettings)
AnyRecord = TypeVar("AnyRecord", Report, Judgment)
SYSTEMS, REPORTS, JUDGES, JUDGMENTS = "systems.jsonl", "reports.jsonl", "judges.jsonl", "judgments.jsonl"
_ALONE = "and without it the other file cannot be used; copy both"


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
    places: tuple[Path, Path],
    read_settings: Callable[[Path], list[AnySettings]],
    read: Callable[[Path], list[AnyRecord]],
    alone: str,
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
    return read_settings(places[0]), read(places[1])


def read_judges(path: Path) -> list[JudgeSettings]:
    """Read judges' settings; no two may share a name. Raises InputError."""
    return read_records(path, JudgeSettings, key=("name",))


def read_reports_with_systems(
    folder: Path, taken: Sequence[str]
) -> tuple[list[SystemSettings | OwnAgent], list[Report]]:
    """Read what agents made, and with which settings; nothing where neither file is there.

    Raises
    ------
    InputError
        When one of the two files is missing, for faults of either, and for a system that is `taken` or has no settings.
    """
    places = (folder / SYSTEMS, folder / REPORTS)
    systems, reports = read_pair(places, read_systems, _reports_of_runs, _ALONE)
    _require_makers(places, [one.name for one in systems], [one.system for one in reports], "system", taken)
    return systems, reports


def read_judgments_with_judges(folder: Path, taken: Sequence[str]) -> tuple[list[JudgeSettings], list[Judgment]]:
    """Read what judges decided, and with which settings; nothing where neither file is there.

    Raises
    ------
    InputError
        When one of the two files is missing, for faults of either, and for a judge that is `taken` or has no settings.
    """
    places = (folder / JUDGES, folder / JUDGMENTS)
    judges, judgments = read_pair(places, read_judges, read_judgments, _ALONE)
    _require_makers(places, [one.name for one in judges], [one.judge for one in judgments], "judge", taken)
    return judges, judgments


def _require_makers(
    places: tuple[Path, Path],
    names: Sequence[str],
    makers: Sequence[str],
    what: Literal["system", "judge"],
    taken: Sequence[str],
) -> None:
    faults = [
        f"{places[0]}: the name {name!r} is also that of a {what} of this run; give this run's another name"
        for name in sorted(set(names) & set(taken))
    ]
    faults += [
        f"{places[1]}: field '{what}': {name!r} is not in {places[0]}; add its settings there, or take its lines out"
        for name in sorted(set(makers) - set(names))
    ]
    if faults:
        raise InputError(faults)


def _reports_of_runs(path: Path) -> list[Report]:
    """Reports that agents made, and not those that were brought along: these have no fingerprint and no settings."""
    reports = read_reports(path)
    made = [one for one in reports if one.fingerprint]
    if len(made) < len(reports):
        warnings.warn(
            f"{path}: {len(reports) - len(made)} reports have no fingerprint, as they were made elsewhere, and are left"
            " out; name their files under `reports`",
            InputWarning,
            stacklevel=4,
        )
    return made
