"""Reports that were made elsewhere, each on its own task or refused."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ConfigDict, Field

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text
from lifesearch_kit.files import read_records, read_reports
from lifesearch_kit.records import REPORT_KEY, Record, Report, Task
from lifesearch_kit.rows import PathLike, read_rows

_RUN_FILE = re.compile(r"__run[1-9]\d*$")
_RUN_FOLDER = re.compile(r"run([1-9]\d*)")


class _Article(Record):
    """A row of somebody else's file, which may hold more than is read."""

    model_config = ConfigDict(extra="ignore")

    id: Id
    prompt: Text
    article: str
    run: int = Field(default=1, ge=1)


def read_report_files(paths: Mapping[str, PathLike], tasks: Sequence[Task], taken: Iterable[str] = ()) -> list[Report]:
    """Read any systems' reports on known tasks.

    Parameters
    ----------
    paths
        For each system's name one of: JSON Lines of id, prompt, article (and run); JSON Lines of the kit's own reports,
        of which those of that system are taken; a folder of Markdown files named ``<task_id>.md`` or
        ``<task_id>__run2.md``, or with such files in folders ``run1``, ``run2``. Other files in the folder are passed
        over, unless they are named like a report that is not there.
    tasks
        What the reports answer. An article belongs to a task by its id, and its prompt must be that task's question.
    taken
        Names of systems whose reports come from elsewhere.

    Returns
    -------
    list of Report
        By system as given, then task, then run. A blank text has the status ``empty``. What is not there is named by
        `missing_reports`.

    Raises
    ------
    InputError
        Listing the faults of all files: unknown tasks, prompts of another task, two reports for one task and run. Also
        for a system's name that is taken.
    """
    known = {task.task_id: task for task in tasks}
    found: list[tuple[str, Report]] = []
    faults = [
        f"reports: {system!r} is also the name of a system that makes its reports here; rename one of them"
        for system in sorted(paths.keys() & set(taken))
    ]
    for system, path in paths.items():
        reader = _folder if Path(path).is_dir() else _file
        try:
            found += reader(system, Path(path), known, faults)
        except InputError as error:
            faults += error.faults
    faults += _misplaced(found, known)
    if faults:
        raise InputError(faults)
    order = {task_id: number for number, task_id in enumerate(known)}
    systems = {system: number for number, system in enumerate(paths)}
    return sorted((report for _, report in found), key=lambda one: (systems[one.system], order[one.task_id], one.run))


def missing_reports(
    reports: Iterable[Report], tasks: Iterable[Task], systems: Iterable[str], runs: int = 1
) -> list[tuple[str, str, int]]:
    """Name what is not there: (system, task_id, run) of each report that `runs` runs of every task should have left.

    Where one of these systems has a higher run than `runs`, all of them owe as many.
    """
    names = list(systems)
    there = {(one.system, one.task_id, one.run) for one in reports if one.system in names}
    runs = max([runs, *(run for _, _, run in there)])
    ids = [task.task_id for task in tasks]
    wanted = ((system, task_id, run) for system in names for task_id in ids for run in range(1, runs + 1))
    return [key for key in wanted if key not in there]


def _file(system: str, path: Path, known: Mapping[str, Task], faults: list[str]) -> list[tuple[str, Report]]:
    rows, _ = read_rows(path)
    if not any("article" in row.data for row in rows):
        own = read_reports(path)
        names = dict.fromkeys(report.system for report in own)
        if system not in names:
            faults.append(f"{path}: holds no report of {system!r}; its systems are {', '.join(map(repr, names))}")
        return [(str(path), report) for report in own if report.system == system]
    reports = []
    for one in read_records(path, _Article, key=("id", "run")):
        task = known.get(one.id)
        if task and not _same(task.query, one.prompt):
            other = next((task.task_id for task in known.values() if _same(task.query, one.prompt)), None)
            hint = f"it is the question of task {other!r}" if other else "it is the question of no task"
            faults.append(f"{path}: id {one.id!r}: the prompt is not that task's question; {hint}; correct the id")
        reports.append((str(path), _report(system, one.id, one.run, one.article)))
    return reports


def _folder(system: str, path: Path, known: Mapping[str, Task], faults: list[str]) -> list[tuple[str, Report]]:
    reports = []
    files = sorted(one for one in path.rglob("*") if one.is_file())
    written = {one.with_suffix("") for one in files if one.suffix.lower() == ".md"}
    for file in files:
        if file.suffix.lower() != ".md":
            if _RUN_FILE.sub("", file.stem) in known and file.with_suffix("") not in written:
                faults.append(f"{file}: is named like a report and is no Markdown file; save it as {file.stem}.md")
            continue
        task_id, _, ending = file.stem.rpartition("__run") if _RUN_FILE.search(file.stem) else (file.stem, "", "")
        folder = _RUN_FOLDER.fullmatch(file.parent.name) if file.parent != path else None
        if file.parent not in (path, path / file.parent.name) or (file.parent != path and not folder):
            faults.append(f"{file}: lies in a folder that is no run; name it run1, run2 or move the file up")
            continue
        if folder and ending and int(folder[1]) != int(ending):
            faults.append(f"{file}: the folder and the name say different runs; keep one of them")
            continue
        try:
            text = file.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = error.object[: error.start].count(b"\n") + 1
            faults.append(f"{file}:{line}: is no UTF-8; save it as UTF-8")
            continue
        reports.append((str(file), _report(system, task_id, int(ending or (folder[1] if folder else 1)), text)))
    if not reports and not faults:
        faults.append(f"{path}: holds no Markdown file; name each report <task_id>.md")
    return reports


def _report(system: str, task_id: str, run: int, text: str) -> Report:
    return Report(system=system, task_id=task_id, run=run, text=text, status="answered" if text.strip() else "empty")


def _misplaced(found: Iterable[tuple[str, Report]], known: Mapping[str, Task]) -> list[str]:
    first: dict[tuple[Any, ...], str] = {}
    faults = []
    for place, one in found:
        key = tuple(getattr(one, name) for name in REPORT_KEY)
        if one.task_id not in known:
            near = difflib.get_close_matches(one.task_id, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "use a task's id"
            faults.append(f"{place}: {one.task_id!r} is no task; {hint}")
        elif key in first:
            who = f"system {one.system!r}, task {one.task_id!r}, run {one.run}"
            faults.append(f"{place}: {who} stands already in {first[key]}; keep one")
        first.setdefault(key, place)
    return faults


def _same(question: str, prompt: str) -> bool:
    return question.split() == prompt.split()
