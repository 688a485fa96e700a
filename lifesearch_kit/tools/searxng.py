"""The `search` tool over a SearXNG instance, a metasearch engine that anybody can run, through its JSON answers."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

import httpx

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools.layout import Hit, SearchResults, collect_hits, show_results
from lifesearch_kit.tools.search import BY_QUERY, RESULTS, is_chinese
from lifesearch_kit.tools.service import Service, plain, said_by, shape
from lifesearch_kit.tools.tool import Tool, function_schema

SECONDS = 30.0


def searxng_search_tool(
    endpoint: str,
    *,
    results: int = RESULTS,
    language: str | None = BY_QUERY,
    http_client: httpx.AsyncClient | None = None,
) -> Tool:
    """Web search over an instance whose settings allow the format ``json``. It needs no key.

    Parameters
    ----------
    endpoint
        The instance's search address, such as ``http://127.0.0.1:8888/search``.
    results
        How many of the results on the instance's first page are shown at most.
    language
        The instance's `language`. ``by query``: zh-CN for a query in Chinese, en-US for any other. None sends nothing.

    Raises
    ------
    InputError
        When a setting cannot be used.
    """
    parts = urlsplit(endpoint)
    faults = []
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        faults.append(
            "endpoint is no address of an instance; write one such as http://127.0.0.1:8888/search, without a user"
        )
    if results < 1:
        faults.append(f"results is {results}; give a number from 1 up")
    if not (language is None or language == BY_QUERY or re.fullmatch(r"[A-Za-z]{2,4}(-[A-Za-z]{2,4}){0,2}", language)):
        faults.append(f"language is {language!r}; give a code such as 'en-US', {BY_QUERY!r} or None")
    if faults:
        raise InputError(faults)
    service = Service("the search engine", SECONDS, http_client=http_client)

    async def search(query: str) -> str:
        if not query.strip():
            raise ToolError("the query is blank; say what to search for")
        asked = {"q": query, "format": "json"}
        if language is not None:
            usual = "zh-CN" if is_chinese(query) else "en-US"
            asked["language"] = usual if language == BY_QUERY else language
        status, payload = await service.ask_json("GET", endpoint, params=asked)
        if status >= httpx.codes.BAD_REQUEST:
            raise ToolError(f"the search engine answered HTTP {status}: {said_by(payload)}", service_failed=True)
        return show_results(query, read_results(payload, results))

    backend = f"SearXNG at {endpoint}, {results} results, language {language}"
    return Tool("search", function_schema("search"), search, backend=backend)


def read_results(payload: Any, most: int = RESULTS) -> SearchResults:
    """Read a reply of SearXNG, up to `most` results of it.

    Raises
    ------
    ToolError
        When the reply has another shape; with `service_failed`, when nothing came because engines behind the instance
        did not answer.
    """
    if not isinstance(payload, dict):
        raise ToolError(f"the search engine answered with {shape(payload)} instead of an object")
    found = payload.get("results")
    if not isinstance(found, list):
        said = f": {said_by(payload)}" if "error" in payload else ""
        told = f"the search engine's 'results' is {shape(found)} instead of a list{said}"
        raise ToolError(told, service_failed="error" in payload)
    results = collect_hits([_hit(entry) for entry in found], _answer(payload.get("answers")))
    away = payload.get("unresponsive_engines")
    if not results.hits and not results.answer and isinstance(away, list) and away:
        told = "; ".join(" ".join(map(plain, one)) if isinstance(one, list) else plain(one) for one in away)
        raise ToolError(f"the engines behind the search did not answer: {told[:300]}", service_failed=True)
    return SearchResults(results.hits[:most], results.dropped, results.answer, results.repeated)


def _hit(entry: Any) -> Hit | None:
    link = plain(entry.get("url")) if isinstance(entry, dict) else ""
    if not link.lower().startswith(("http://", "https://")):
        return None
    day = plain(entry.get("publishedDate")).partition("T")[0] or None
    return Hit(plain(entry.get("title")) or link, link, plain(entry.get("content")), day)


def _answer(answers: Any) -> str:
    """The first answer; older instances send texts, newer ones objects."""
    first = answers[0] if isinstance(answers, list) and answers else None
    return plain(first.get("answer")) if isinstance(first, dict) else plain(first)
