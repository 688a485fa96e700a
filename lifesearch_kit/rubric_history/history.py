"""The file of a history: read with every fault told, and added to, never rewritten."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_records
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.rows import PathLike, Row, fault, read_rows
from lifesearch_kit.rubric_history.changes import FIELDS, Change, Standing, State, change_fault, next_standing
from lifesearch_kit.text import replace_lone_surrogates

Standings = dict[tuple[str, str], Standing]


def read_history(path: PathLike) -> list[Change]:
    """Read a history, in the order of its lines; empty where the file is not there yet.

    Raises
    ------
    InputError
        Listing every fault with its line: wrong fields, a state that cannot follow, an author who inspects what they
        wrote, a rubric without a beginning, a version or an earlier value that does not fit.
    """
    if not Path(path).exists():
        return []
    history = read_records(path, Change)
    places = [row.place for row in read_rows(path)[0]]
    _, faults = _follow(history, places, {})
    if faults:
        raise InputError(faults)
    return history


def standings(history: Iterable[Change]) -> Standings:
    """Where each rubric of a sound history stands, by task and rubric."""
    found: Standings = {}
    for one in history:
        found[one.task_id, one.rubric_id] = next_standing(found.get((one.task_id, one.rubric_id)), one)
    return found


def record_change(
    path: PathLike,
    task_id: str,
    rubric_id: str,
    state: State,
    *,
    author: str,
    reason: str,
    after: dict[str, Any] | None = None,
    time: datetime | None = None,
) -> Change:
    """Add one change to a history.

    Parameters
    ----------
    path
        Made when absent.
    after
        The new values of the fields that change; what stood there before is taken from the history.
    time
        Now, where None.

    Raises
    ------
    InputError
        For faults of the file, and for a change that cannot follow; nothing is written then.
    """
    history = read_history(path)
    standing = standings(history).get((task_id, rubric_id))
    new = dict(after or {})
    before = {name: standing.fields.get(name) for name in new} if standing else {}
    version = 1 if standing is None else standing.version + (state in ("annotated", "revised"))
    change = {"task_id": task_id, "rubric_id": rubric_id, "version": version, "state": state, "before": before}
    change |= {"after": new, "author": author, "reason": reason, "time": time or datetime.now(UTC)}
    return _add(path, history, [_change(path, change)])[0]


def record_edits(
    path: PathLike, tasks: Sequence[Task], *, author: str, reason: str, time: datetime | None = None
) -> list[Change]:
    """Add what was edited in the tasks since the history's last line; with an empty history, all rubrics as new.

    A rubric that is gone from its task is ``rejected``. Raises InputError as `record_change`.
    """
    history = read_history(path)
    then = time or datetime.now(UTC)
    there = standings(history)
    now = {(task.task_id, one.rubric_id): _fields(one) for task in tasks for one in task.rubrics}
    edits: list[tuple[tuple[str, str], dict[str, Any]]] = []
    for key, fields in now.items():
        standing = there.get(key)
        new = {name: value for name, value in fields.items() if standing is None or standing.fields.get(name) != value}
        if standing is None:
            edits.append((key, {"version": 1, "state": "annotated", "after": new}))
        elif new or standing.state == "rejected":
            before = {name: standing.fields.get(name) for name in new}
            edits.append((key, {"version": standing.version + 1, "state": "revised", "before": before, "after": new}))
    known = {task.task_id for task in tasks}
    edits += [
        (key, {"version": standing.version, "state": "rejected"})
        for key, standing in there.items()
        if key not in now and key[0] in known and standing.state != "rejected"
    ]
    told = {"author": author, "reason": reason, "time": then}
    changes = [_change(path, {"task_id": task, "rubric_id": rubric} | one | told) for (task, rubric), one in edits]
    return _add(path, history, changes)


def _change(path: PathLike, fields: dict[str, Any]) -> Change:
    try:
        return Change.model_validate(fields)
    except ValidationError as error:
        row = Row(str(path), fields)
        raise InputError([fault(row, Change, one) for one in error.errors(include_url=False)]) from None


def _fields(rubric: Rubric) -> dict[str, Any]:
    return {name: getattr(rubric, name) for name in FIELDS}


def _follow(changes: Sequence[Change], places: Sequence[str], there: Standings) -> tuple[Standings, list[str]]:
    """Follow changes from where rubrics stand; a faulty one is told and passed over."""
    found, faults = dict(there), []
    for place, change in zip(places, changes, strict=True):
        key = (change.task_id, change.rubric_id)
        wrong = change_fault(found.get(key), change, ("/".join(one) for one in found))
        if wrong is None:
            found[key] = next_standing(found.get(key), change)
        else:
            faults.append(f"{place}: task {change.task_id!r}, rubric {change.rubric_id!r}: {wrong}")
    return found, faults


def _add(path: PathLike, history: Sequence[Change], changes: list[Change]) -> list[Change]:
    _, faults = _follow(changes, [str(path)] * len(changes), standings(history))
    if faults:
        raise InputError(faults)
    lines = "".join(f"{json.dumps(one.model_dump(mode='json'), ensure_ascii=False)}\n" for one in changes)
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("a+b") as file:
        if file.tell() and file.seek(-1, os.SEEK_END) is not None and file.read(1) != b"\n":
            lines = "\n" + lines
        file.write(replace_lone_surrogates(lines)[0].encode())
        file.flush()
        os.fsync(file.fileno())
    return changes
