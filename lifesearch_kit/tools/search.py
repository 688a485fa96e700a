"""The `search` tool over Serper (google.serper.dev)."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

import httpx

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.redaction import redact
from lifesearch_kit.text import repair
from lifesearch_kit.tools.layout import Hit, show_hits
from lifesearch_kit.tools.tool import Tool, function_schema

ENDPOINT = "https://google.serper.dev/search"
RESULTS = 10
TIMEOUT_SECONDS = 30.0


@dataclass(frozen=True)
class SearchResults:
    """What a reply of Serper holds: usable hits, how many had no address, and a direct answer where there is one."""

    hits: tuple[Hit, ...]
    dropped: int = 0
    answer: str = ""


def search_tool(
    *, api_key_env: str = "SERPER_API_KEY", endpoint: str = ENDPOINT, http_client: httpx.AsyncClient | None = None
) -> Tool:
    """Web search; `api_key_env` names the environment variable that holds the key.

    Raises
    ------
    InputError
        When that variable is not set.
    """
    key = os.environ.get(api_key_env, "").strip()
    if not key:
        raise InputError(f"web search needs a Serper key: set the environment variable {api_key_env}")

    async def search(query: str) -> str:
        if not query.strip():
            raise ToolError("the query is blank; say what to search for")
        payload = await _ask(query, key, endpoint, http_client)
        return show_results(query, read_results(payload))

    return Tool("search", function_schema("search"), search, backend="Serper")


async def _ask(query: str, key: str, endpoint: str, http_client: httpx.AsyncClient | None) -> Any:
    client = http_client or httpx.AsyncClient()
    try:
        response = await client.post(
            endpoint, headers={"X-API-KEY": key}, json={"q": query, "num": RESULTS}, timeout=TIMEOUT_SECONDS
        )
    except httpx.HTTPError as error:
        told = f"the search engine did not answer ({type(error).__name__}); try again"
        raise ToolError(told, service_failed=True) from None
    finally:
        if http_client is None:
            await client.aclose()
    try:
        payload = repair(json.loads(redact(response.text, key)))[0]
    except (ValueError, RecursionError):
        told = f"the search engine answered HTTP {response.status_code} without JSON"
        raise ToolError(told, service_failed=True) from None
    if response.is_error:
        told = f"the search engine answered HTTP {response.status_code}: {_said(payload)}"
        raise ToolError(told, service_failed=response.status_code != httpx.codes.UNPROCESSABLE_ENTITY)
    return payload


def read_results(payload: Any) -> SearchResults:
    """Read a reply of Serper. No `organic` list, or an empty one, means that nothing was found.

    Raises
    ------
    ToolError
        When the reply is an error of the vendor or has another shape.
    """
    if not isinstance(payload, dict):
        raise ToolError(f"the search engine answered with {_shape(payload)} instead of an object")
    organic = payload.get("organic")
    if organic is None and _is_error(payload):
        raise ToolError(f"the search engine refused: {_said(payload)}", service_failed=True)
    if organic is not None and not isinstance(organic, list):
        raise ToolError(f"the search engine's 'organic' is {_shape(organic)} instead of a list")
    found = [_hit(entry) for entry in organic or []]
    hits = tuple(hit for hit in found if hit is not None)
    return SearchResults(hits, len(found) - len(hits), _answer(payload))


def show_results(query: str, results: SearchResults) -> str:
    """The text that the model reads."""
    parts = [f"Answer box: {results.answer}"] if results.answer else []
    parts.append(show_hits(query, results.hits))
    if results.dropped:
        parts.append(f"({results.dropped} result(s) without an address were left out.)")
    return "\n\n".join(parts)


def _hit(entry: Any) -> Hit | None:
    link = _text(entry.get("link")) if isinstance(entry, dict) else ""
    if not link.lower().startswith(("http://", "https://")):
        return None
    date = _text(entry.get("date")) or None
    return Hit(_text(entry.get("title")) or link, link, _text(entry.get("snippet")), date)


def _answer(payload: dict[str, Any]) -> str:
    box = payload.get("answerBox")
    if not isinstance(box, dict):
        return _text(box)
    said = _text(box.get("answer")) or _text(box.get("snippet"))
    return " - ".join(part for part in (_text(box.get("title")), said, _text(box.get("link"))) if part)


def _is_error(payload: dict[str, Any]) -> bool:
    status = payload.get("statusCode")
    refused = isinstance(status, int) and status >= 400
    return refused or bool(payload.get("error")) or ("message" in payload and "searchParameters" not in payload)


def _said(payload: Any) -> str:
    if isinstance(payload, dict):
        said = _text(payload.get("message")) or _text(payload.get("error"))
        if said:
            return said[:300]
    return str(payload)[:300]


def _text(value: Any) -> str:
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def _shape(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
