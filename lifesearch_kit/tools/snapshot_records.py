"""Snapshots of tools' answers as records, and when two calls are the same request."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, field_validator

from lifesearch_kit.records import Record
from lifesearch_kit.text import repair
from lifesearch_kit.tools.tool import Tool

_PAGE = re.compile(r"^Page: \d+ of (\d+)$", re.M)


class Request(NamedTuple):
    """What was asked of which tool; `arguments` are canonical JSON."""

    tool: str
    backend: str
    arguments: str


class Snapshot(Record):
    """An answer as it was given first; `failed`: it is the message of a failure that speaks of the page."""

    snapshot_set: str
    tool: str
    backend: str
    arguments: str
    content: str
    failed: bool = False
    captured: Annotated[datetime, BeforeValidator(_as_moment)]

    @field_validator("arguments")
    @classmethod
    def _canonical(cls, text: str) -> str:
        try:
            arguments = json.loads(text)
        except (ValueError, RecursionError):
            arguments = None
        if not isinstance(arguments, dict):
            raise ValueError("is no JSON object in quotes; copy it from an export")
        return to_json(arguments)

    @property
    def request(self) -> Request:
        """What it answers."""
        return Request(self.tool, self.backend, self.arguments)


class LongDocument(NamedTuple):
    """A document of which several pages were captured, each by a request of its own.

    `first` and `last` are times of capture. `changed` is true where the pages disagree on how many there are: the
    document was another one by then. Pages that agree may still be of two states.
    """

    arguments: str
    pages: int
    first: datetime
    last: datetime
    changed: bool


def canonical_arguments(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """A call's arguments without what makes no difference: outer blanks, the schema's defaults, order, 2.0 for 2."""
    properties = (tool.schema["function"].get("parameters") or {}).get("properties", {})
    values = {name: _plain(value) for name, value in sorted(repair(dict(arguments))[0].items())}
    return {name: value for name, value in values.items() if not _is_default(value, properties.get(name, {}))}


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _is_default(value: Any, rule: Mapping[str, Any]) -> bool:
    # As JSON, because True == 1 in Python.
    return "default" in rule and to_json(value) == to_json(_plain(rule["default"]))


def to_json(arguments: Any) -> str:
    """Arguments as the text that they are stored under: keys in order."""
    return json.dumps(arguments, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def long_documents(snapshots: Iterable[Snapshot]) -> list[LongDocument]:
    """Documents captured in several pages (requests that differ in nothing but `page`), widest apart first."""
    parts: dict[Request, list[Snapshot]] = {}
    for one in snapshots:
        rest = {name: value for name, value in json.loads(one.arguments).items() if name != "page"}
        if not one.failed and _PAGE.search(one.content):
            parts.setdefault(one.request._replace(arguments=to_json(rest)), []).append(one)
    documents = [
        LongDocument(
            request.arguments,
            len(pages),
            pages[0].captured,
            pages[-1].captured,
            len({_PAGE.findall(one.content)[0] for one in pages}) > 1,
        )
        for request, pages in parts.items()
        if len(pages) > 1
    ]
    return sorted(documents, key=lambda one: one.first - one.last)


def _as_moment(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise ValueError("is no time; write it as 2026-03-31T09:30:00Z") from None
    if moment.tzinfo is None:
        raise ValueError("has no time zone; write it as 2026-03-31T09:30:00Z")
    return moment.astimezone(UTC)
