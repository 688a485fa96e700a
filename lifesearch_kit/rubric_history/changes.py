"""One change of one rubric, and which change may follow which."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, Literal, NamedTuple, get_args

from pydantic import BeforeValidator, Field, ValidationError

from lifesearch_kit.fields import Id, Text
from lifesearch_kit.records import Record, Rubric
from lifesearch_kit.rows import Row, fault
from lifesearch_kit.text import fold

State = Literal["annotated", "inspected", "revised", "accepted", "rejected"]
STATES: tuple[str, ...] = get_args(State)
FIELDS = tuple(name for name in Rubric.model_fields if name != "rubric_id")
_DEFAULTS = {name: Rubric.model_fields[name].default for name in FIELDS if not Rubric.model_fields[name].is_required()}
# Writing comes before inspection, and inspection before a decision; results may reopen what was decided.
_MAY_FOLLOW: dict[str | None, tuple[str, ...]] = {
    None: ("annotated",),
    "annotated": ("inspected", "revised", "rejected"),
    "inspected": ("inspected", "revised", "accepted", "rejected"),
    "revised": ("inspected", "revised", "rejected"),
    "accepted": ("inspected", "revised", "rejected"),
    "rejected": ("revised",),
}
_WRITES = ("annotated", "revised")


def _as_time(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        return datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("is no time; write it as 2026-03-31T14:05:00+00:00") from None


class Change(Record):
    """One step in the life of a rubric.

    `version` counts its wordings from 1; only ``annotated`` and ``revised`` write one. `before` and `after` hold the
    fields that the change touches, of `records.Rubric`; of a new rubric all of them, with nothing before. `edited_in`
    says where the change was made first: in the ``tasks``, which it was read from, or in the ``history`` alone.
    """

    task_id: Id
    rubric_id: Id
    version: int = Field(ge=1)
    state: State
    author: Id
    reason: Text
    time: Annotated[datetime, BeforeValidator(_as_time)]
    before: dict[str, Any] = Field(default_factory=dict)
    after: dict[str, Any] = Field(default_factory=dict)
    edited_in: Literal["tasks", "history"] = "history"


class Standing(NamedTuple):
    """Where a rubric stands after a change: its fields, and who wrote which value of which field, in any version."""

    fields: dict[str, Any]
    version: int
    state: str
    written: tuple[tuple[str, Any, str], ...]

    def writers(self) -> dict[str, list[str]]:
        """Who wrote a value that stands, in any version, each with the fields; another spelling is no other person."""
        spelt: dict[str, str] = {}
        wrote: dict[str, set[str]] = {}
        for name, value, author in self.written:
            if self.fields[name] == value:
                wrote.setdefault(spelt.setdefault(fold(author), author), set()).add(name)
        return {author: [name for name in FIELDS if name in names] for author, names in wrote.items()}


def next_standing(standing: Standing | None, change: Change) -> Standing:
    """Where a rubric stands once a sound change is made."""
    fields = (standing.fields if standing else _DEFAULTS) | change.after
    new = change.after if standing else fields
    written = tuple((name, value, change.author) for name, value in new.items())
    return Standing(fields, change.version, change.state, (standing.written if standing else ()) + written)


def change_fault(standing: Standing | None, change: Change, known: Iterable[str]) -> str | None:
    """Say what is wrong with a change of a rubric that stands so, the field first; None where nothing is.

    Nobody who wrote a value that stands in any field has the rubric inspected or accepted: whoever mends a weight while
    inspecting is one of its writers from then on. Two people keep the cycle by leaving the mending to the writer.

    Parameters
    ----------
    known
        Names of the rubrics that have a history, as ``task/rubric``.
    """
    if standing is None and change.state != "annotated":
        near = difflib.get_close_matches(f"{change.task_id}/{change.rubric_id}", list(known), n=1)
        hint = f"did you mean {near[0]}?" if near else "record it as 'annotated' first"
        return f"field 'rubric_id': {change.rubric_id!r} has no history; {hint}"
    allowed = _MAY_FOLLOW[standing.state if standing else None]
    if change.state not in allowed:
        been = standing.state if standing else ""
        return f"field 'state': '{change.state}' cannot follow '{been}'; choose {', '.join(allowed)}"
    own = [] if standing is None else _own_fields(standing, change.author)
    if own and change.state in ("inspected", "accepted"):
        return (
            f"field 'author': {change.author!r} wrote what stands in {', '.join(own)} and cannot have it "
            f"'{change.state}'; let another person read it"
        )
    version = standing.version + (change.state in _WRITES) if standing else 1
    if change.version != version:
        return f"field 'version': {change.version} is not the next one; write {version}"
    return _fields_fault(standing, change)


def _own_fields(standing: Standing, author: str) -> list[str]:
    return next((own for writer, own in standing.writers().items() if fold(writer) == fold(author)), [])


def _fields_fault(standing: Standing | None, change: Change) -> str | None:
    for part, fields in (("after", change.after), ("before", change.before)):
        for name in fields:
            if name not in FIELDS:
                near = difflib.get_close_matches(name, FIELDS, n=1)
                return f"field '{part}.{name}': is no field of a rubric; " + (
                    f"did you mean '{near[0]}'?" if near else f"use {', '.join(FIELDS)}"
                )
    if change.state not in _WRITES:
        held = "after" if change.after else "before"
        return (
            f"field '{held}': '{change.state}' changes nothing; record 'revised'"
            if change.before | change.after
            else None
        )
    if standing is None:
        return "field 'before': a new rubric has none; leave it out" if change.before else _rubric_fault(change, {})
    if change.before.keys() != change.after.keys():
        odd = ", ".join(sorted(change.before.keys() ^ change.after.keys()))
        return f"field 'after': {odd} stands only in before or only in after; give both"
    for name, value in change.before.items():
        if standing.fields.get(name) != value:
            return (
                f"field 'before.{name}': {value!r} is not what stood there, {standing.fields.get(name)!r}; write that"
            )
    if change.before == change.after and standing.state != "rejected":
        return "field 'after': changes nothing; write what is new, or record 'inspected'"
    return _rubric_fault(change, standing.fields)


def _rubric_fault(change: Change, fields: dict[str, Any]) -> str | None:
    try:
        Rubric.model_validate({"rubric_id": change.rubric_id} | fields | change.after)
    except ValidationError as error:
        told = fault(Row("", fields | change.after), Rubric, error.errors(include_url=False)[0])
        return told.removeprefix(": ").replace("field '", "field 'after.", 1)
    return None
