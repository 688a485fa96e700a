"""The `search` tool over Serper (google.serper.dev)."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import httpx

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools.layout import Hit, SearchResults, collect_hits, show_results
from lifesearch_kit.tools.service import Service, key_of, plain, said_by, shape
from lifesearch_kit.tools.tool import Tool, function_schema

ENDPOINT = "https://google.serper.dev/search"
RESULTS = 10
MOST_RESULTS = 100
SECONDS = 30.0
BY_QUERY = "by query"
_CHINESE = {"hl": "zh-cn", "gl": "cn"}
_OTHER = {"hl": "en", "gl": "us"}
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")


def search_tool(
    *,
    results: int = RESULTS,
    language: str | None = BY_QUERY,
    region: str | None = BY_QUERY,
    as_of: date | None = None,
    api_key_env: str = "SERPER_API_KEY",
    endpoint: str = ENDPOINT,
    http_client: httpx.AsyncClient | None = None,
) -> Tool:
    """Web search.

    Parameters
    ----------
    results
        How many results are asked for, 1 to 100.
    language, region
        Google's `hl` and `gl`. ``by query``: zh-cn and cn for a query in Chinese, en and us for any other. None sends
        nothing.
    as_of
        Leave out what Google dates later than this day.
    api_key_env
        Environment variable that holds the key.

    Raises
    ------
    InputError
        When that variable is not set, or a setting cannot be used.
    """
    settings = {"language": language, "region": region}
    faults = [
        f"{name} is {value!r}; give a code such as 'en', {BY_QUERY!r} or None"
        for name, value in settings.items()
        if not (value is None or value == BY_QUERY or re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{2,4})?", value))
    ]
    faults += [] if 1 <= results <= MOST_RESULTS else [f"results is {results}; give a number from 1 to {MOST_RESULTS}"]
    key = key_of(api_key_env)
    faults += [] if key else [f"web search needs a Serper key: set the environment variable {api_key_env}"]
    if faults:
        raise InputError(faults)
    service = Service("the search engine", SECONDS, key, http_client)

    async def search(query: str) -> str:
        if not query.strip():
            raise ToolError("the query is blank; say what to search for")
        body = {"q": query, "num": results, **_locale(query, language, region), **_until(as_of)}
        status, payload = await service.ask_json("POST", endpoint, headers={"X-API-KEY": key}, json=body)
        if status >= httpx.codes.BAD_REQUEST:
            told = f"the search engine answered HTTP {status}: {said_by(payload)}"
            raise ToolError(told, service_failed=status != httpx.codes.UNPROCESSABLE_ENTITY)
        return show_results(query, read_results(payload))

    backend = f"Serper, {results} results, language {language}, region {region}"
    backend += f", until {as_of.isoformat()}" if as_of else ""
    return Tool("search", function_schema("search"), search, backend=backend)


def is_chinese(query: str) -> bool:
    """Whether a query is in Chinese: Han characters, and neither kana nor hangul."""
    return bool(_HAN.search(query)) and not _KANA_OR_HANGUL.search(query)


def _locale(query: str, language: str | None, region: str | None) -> dict[str, str]:
    usual = _CHINESE if is_chinese(query) else _OTHER
    chosen = {"hl": language, "gl": region}
    return {name: usual[name] if value == BY_QUERY else value for name, value in chosen.items() if value is not None}


def _until(as_of: date | None) -> dict[str, str]:
    return {"tbs": f"cdr:1,cd_max:{as_of.month}/{as_of.day}/{as_of.year}"} if as_of else {}


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
        raise ToolError(f"the search engine refused: {said_by(payload)}", service_failed=True)
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
