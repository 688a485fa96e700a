"""What was edited in the tasks since a history was written, and where the tasks are behind it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.rubric_history.changes import FIELDS, Change, Standing

Key = tuple[str, str]


def edits_of(
    tasks: Sequence[Task], history: Sequence[Change], there: Mapping[Key, Standing]
) -> tuple[list[dict[str, Any]], list[str]]:
    """Hold tasks against the history of their rubrics.

    Parameters
    ----------
    history, there
        A sound history, and where it leaves the rubrics.

    Returns
    -------
    list of dict
        A change's fields for each rubric that is new, edited, gone or back; without author, reason and time.
    list of str
        Where the tasks have what stood before a change that was made in the history alone, a sentence each: it cannot
        be told from them whether somebody went back. Sound edits are in the first list all the same.
    """
    now = {(task.task_id, one.rubric_id): _fields(one) for task in tasks for one in task.rubrics}
    known, superseded, last = {task.task_id for task in tasks}, _superseded(history), _last_presence(history)
    edits: list[dict[str, Any]] = []
    behind: list[str] = []
    for key, fields in now.items():
        standing = there.get(key)
        edits += _edit(key, fields, standing)
        if standing is not None:
            behind += _behind(key, fields, standing, superseded.get(key, {}), last[key])
    for key, standing in there.items():
        if key in now or key[0] not in known or standing.state == "rejected":
            continue
        edits.append(_of(key, version=standing.version, state="rejected"))
        if last[key].edited_in == "history":
            behind.append(
                f"{_place(key)}: the history has it ({_told(last[key])}), the tasks do not; add it to the tasks "
                "(`current_tasks` does), or record it as 'rejected'"
            )
    return edits, behind


def _edit(key: Key, fields: dict[str, Any], standing: Standing | None) -> Iterator[dict[str, Any]]:
    if standing is None:
        yield _of(key, version=1, state="annotated", after=fields)
        return
    before = {name: standing.fields.get(name) for name in fields if standing.fields.get(name) != fields[name]}
    if before or standing.state == "rejected":
        after = {name: fields[name] for name in before}
        yield _of(key, version=standing.version + 1, state="revised", before=before, after=after)


def _behind(
    key: Key, fields: dict[str, Any], standing: Standing, superseded: Mapping[str, list[Change]], last: Change
) -> Iterator[str]:
    if standing.state == "rejected" and last.edited_in == "history":
        yield (
            f"{_place(key)}: the history rejects it ({_told(last)}), the tasks still have it; take it out of the tasks "
            "(`current_tasks` does), or record it as 'revised'"
        )
    for name, changes in superseded.items():
        stale = fields[name] != standing.fields.get(name)
        if stale and any(fields[name] == change.before[name] for change in changes):
            yield (
                f"{_place(key)}, field '{name}': the history has {standing.fields.get(name)!r} ({_told(changes[-1])}), "
                f"the tasks still {fields[name]!r}; write the history's into the tasks (`current_tasks` does), or go "
                "back by `record_change`"
            )


def _superseded(history: Sequence[Change]) -> dict[Key, dict[str, list[Change]]]:
    """By rubric and field the changes made in the history alone since the tasks last had the field's value."""
    found: dict[Key, dict[str, list[Change]]] = {}
    for change in history:
        own = found.setdefault((change.task_id, change.rubric_id), {})
        for name in change.after:
            if change.edited_in == "tasks":
                own.pop(name, None)
            elif name in change.before:
                own.setdefault(name, []).append(change)
    return found


def _last_presence(history: Sequence[Change]) -> dict[Key, Change]:
    """By rubric the change that last put it there or took it away."""
    found: dict[Key, Change] = {}
    gone: set[Key] = set()
    for change in history:
        key = (change.task_id, change.rubric_id)
        if key not in found or change.state == "rejected" or key in gone:
            found[key] = change
        gone = gone | {key} if change.state == "rejected" else gone - {key}
    return found


def _of(key: Key, **fields: Any) -> dict[str, Any]:
    return {"task_id": key[0], "rubric_id": key[1], **fields}


def _fields(rubric: Rubric) -> dict[str, Any]:
    return {name: getattr(rubric, name) for name in FIELDS}


def _place(key: Key) -> str:
    return f"task {key[0]!r}, rubric {key[1]!r}"


def _told(change: Change) -> str:
    return f"version {change.version}, {change.author}: {change.reason:.80}"
