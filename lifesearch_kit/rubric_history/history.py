"""The file of a history: read with every fault told, and added to, never rewritten."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lifesearch_kit.durable_lines import alone_at, append_lines, read_lines
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import validated
from lifesearch_kit.records import Task
from lifesearch_kit.rows import PathLike, Row, fault, json_lines
from lifesearch_kit.rubric_history.changes import Change, Standing, State, change_fault, next_standing
from lifesearch_kit.rubric_history.edits import edits_of
from lifesearch_kit.text import replace_lone_surrogates, strip_invisible

Standings = dict[tuple[str, str], Standing]


def read_history(path: PathLike) -> list[Change]:
    """Read a history, in the order of its lines; empty where the file is not there yet.

    A last line that was cut off, by a kill or because it is being written just now, is told in a warning and left out.

    Raises
    ------
    InputError
        Listing every fault with its line: wrong fields, a state that cannot follow, an author who inspects what they
        wrote, a rubric without a beginning, a version or an earlier value that does not fit.
    """
    history, torn = _read(Path(path))
    if torn:
        told = f"{path}: the last line is not whole, so it is left out; the next change that is recorded sets it aside"
        warnings.warn(told, InputWarning, stacklevel=2)
    return history


def _read(path: Path) -> tuple[list[Change], bytes]:
    if not path.exists():
        return [], b""
    text, torn = read_lines(path)
    found = list(json_lines(text, str(path)))
    faults = [one for one in found if isinstance(one, str)]
    changes = list(validated((one for one in found if isinstance(one, Row)), Change, None, faults))
    # What follows a line that cannot be read would be told as faults that it has not.
    if not faults:
        faults = _follow([change for _, change in changes], [row.place for row, _ in changes], {})
    if faults:
        raise InputError(faults)
    return [change for _, change in changes], torn


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
    """Add one change to a history. Other processes may do the same at once: each waits for the one before.

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
    task_id, rubric_id = _name(task_id), _name(rubric_id)
    new = dict(after or {})
    with alone_at(Path(path)):
        history, _ = _read(Path(path))
        standing = standings(history).get((task_id, rubric_id))
        before = {name: standing.fields.get(name) for name in new} if standing else {}
        version = 1 if standing is None else standing.version + (state in ("annotated", "revised"))
        change = {"task_id": task_id, "rubric_id": rubric_id, "version": version, "state": state, "before": before}
        change |= {"after": new, "author": _name(author), "reason": reason, "time": time or datetime.now(UTC)}
        return _add(path, history, [_change(path, change)])[0]


def record_edits(
    path: PathLike, tasks: Sequence[Task], *, author: str, reason: str, time: datetime | None = None
) -> list[Change]:
    """Add what was edited in the tasks since the history's last line; with an empty history, all rubrics as new.

    A rubric that is gone from its task is ``rejected``. What `record_change` made in the history alone is never undone
    because the tasks do not have it yet.

    Raises
    ------
    InputError
        As `record_change`; and listing each value, rubric and rejection that stands in the history alone, while the
        tasks are as they were before: nothing is written then.
    """
    told = {"author": _name(author), "reason": reason, "time": time or datetime.now(UTC), "edited_in": "tasks"}
    with alone_at(Path(path)):
        history, _ = _read(Path(path))
        edits, behind = edits_of(tasks, history, standings(history))
        if behind:
            raise InputError([f"{path}: {one}" for one in behind])
        return _add(path, history, [_change(path, edit | told) for edit in edits])


def _name(name: str) -> str:
    """A name without what cannot be seen, as records read it from a file; what is no text is told with its field."""
    return " ".join(strip_invisible(name).split()) if isinstance(name, str) else name


def _change(path: PathLike, fields: dict[str, Any]) -> Change:
    try:
        return Change.model_validate(fields)
    except ValidationError as error:
        row = Row(str(path), fields)
        raise InputError([fault(row, Change, one) for one in error.errors(include_url=False)]) from None


def _follow(changes: Sequence[Change], places: Sequence[str], there: Standings) -> list[str]:
    """The faults of changes that follow where rubrics stand; a faulty one is passed over."""
    found, faults = dict(there), []
    for place, change in zip(places, changes, strict=True):
        key = (change.task_id, change.rubric_id)
        wrong = change_fault(found.get(key), change, ("/".join(one) for one in found))
        if wrong is None:
            found[key] = next_standing(found.get(key), change)
        else:
            faults.append(f"{place}: task {change.task_id!r}, rubric {change.rubric_id!r}: {wrong}")
    return faults


def _add(path: PathLike, history: Sequence[Change], changes: list[Change]) -> list[Change]:
    faults = _follow(changes, [str(path)] * len(changes), standings(history))
    if faults:
        raise InputError(faults)
    lines = (json.dumps(one.model_dump(mode="json"), ensure_ascii=False) for one in changes)
    try:
        append_lines(Path(path), *(replace_lone_surrogates(line)[0] for line in lines))
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror}), nothing was recorded; mend that") from None
    return changes
