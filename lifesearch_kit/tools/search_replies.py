"""Serper's replies, to one query and to several at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import httpx

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools.layout import Hit, SearchResults, collect_hits
from lifesearch_kit.tools.service import plain, said_by, shape


def read_parts(payload: Any, queries: Sequence[str]) -> list[Any]:
    """What a reply of Serper to several queries holds for each: its own reply, or a ToolError where there is none.

    A reply belongs to the query that it names, and else to the one in its place where none is missing.

    Raises
    ------
    ToolError
        With `service_failed`, when the reply is no list.
    """
    if not isinstance(payload, list):
        said = f": {said_by(payload)}" if isinstance(payload, dict) and _is_error(payload) else ""
        told = f"the search engine answered several queries with {shape(payload)} instead of a list{said}"
        raise ToolError(told, service_failed=True)
    named = {_query_of(part): part for part in payload}
    parts = [named.get(query) for query in queries]
    if len(payload) == len(queries):
        strange = [None if _query_of(part) in queries else part for part in payload]
        parts = [other if part is None else part for part, other in zip(parts, strange, strict=True)]
    lost = "the search engine left this query out of its answer; try it alone"
    return [part if isinstance(part, dict) else ToolError(lost, service_failed=True) for part in parts]


def _query_of(part: Any) -> str | None:
    """The query that a reply names, by Serper's own field."""
    asked = part.get("searchParameters") if isinstance(part, dict) else None
    query = asked.get("q") if isinstance(asked, dict) else None
    return query if isinstance(query, str) else None


def read_results(payload: Any) -> SearchResults:
    """Read a reply of Serper. No `organic` list, or an empty one, means that nothing was found.

    Raises
    ------
    ToolError
        When the reply is an error of the vendor or has another shape.
    """
    if not isinstance(payload, dict):
        raise ToolError(f"the search engine answered with {shape(payload)} instead of an object")
    organic = payload.get("organic")
    if organic is None and _is_error(payload):
        failed = payload.get("statusCode") != httpx.codes.UNPROCESSABLE_ENTITY
        raise ToolError(f"the search engine refused: {said_by(payload)}", service_failed=failed)
    if organic is not None and not isinstance(organic, list):
        raise ToolError(f"the search engine's 'organic' is {shape(organic)} instead of a list")
    return collect_hits([_hit(entry) for entry in organic or []], _answer(payload))


def _hit(entry: Any) -> Hit | None:
    link = plain(entry.get("link")) if isinstance(entry, dict) else ""
    if not link.lower().startswith(("http://", "https://")):
        return None
    date_shown = plain(entry.get("date")) or None
    return Hit(plain(entry.get("title")) or link, link, plain(entry.get("snippet")), date_shown)


def _answer(payload: dict[str, Any]) -> str:
    box = payload.get("answerBox")
    if not isinstance(box, dict):
        return plain(box)
    said = plain(box.get("answer")) or plain(box.get("snippet"))
    return " - ".join(part for part in (plain(box.get("title")), said, plain(box.get("link"))) if part)


def _is_error(payload: dict[str, Any]) -> bool:
    status = payload.get("statusCode")
    refused = isinstance(status, int) and status >= 400
    return refused or bool(payload.get("error")) or ("message" in payload and "searchParameters" not in payload)
