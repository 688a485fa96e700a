"""The `search` tool over Serper (google.serper.dev)."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import httpx

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools.layout import show_results
from lifesearch_kit.tools.search_replies import read_parts, read_results
from lifesearch_kit.tools.service import Service, key_of, said_by
from lifesearch_kit.tools.together import Together
from lifesearch_kit.tools.tool import Tool, function_schema

ENDPOINT = "https://google.serper.dev/search"
RESULTS = 10
MOST_RESULTS = 100
MOST_QUERIES = 100
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
    queries: int = 1,
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
    queries
        How many queries that come in the same moment are sent as one request at most. Each keeps a language and region
        of its own, and its results are those that it would have alone.
    api_key_env
        Environment variable that holds the key.

    Raises
    ------
    InputError
        When that variable is not set, or a setting cannot be used.
    """
    key = key_of(api_key_env)
    faults = _faults({"language": language, "region": region}, results, queries)
    faults += [] if key else [f"web search needs a Serper key: set the environment variable {api_key_env}"]
    if faults:
        raise InputError(faults)
    serper = _Serper(Service("the search engine", SECONDS, key, http_client), endpoint)
    together = Together(serper.ask, queries)

    async def search(query: str) -> str:
        if not query.strip():
            raise ToolError("the query is blank; say what to search for")
        body = {"q": query, "num": results, **_locale(query, language, region), **_until(as_of)}
        reply = await together.answer(body)
        if isinstance(reply, BaseException):
            raise reply
        return show_results(query, read_results(reply))

    backend = f"Serper, {results} results, language {language}, region {region}"
    backend += f", until {as_of.isoformat()}" if as_of else ""
    return Tool("search", function_schema("search"), search, backend=backend)


def _faults(codes: dict[str, str | None], results: int, queries: int) -> list[str]:
    faults = [
        f"{name} is {value!r}; give a code such as 'en', {BY_QUERY!r} or None"
        for name, value in codes.items()
        if not (value is None or value == BY_QUERY or re.fullmatch(r"[A-Za-z]{2,3}(-[A-Za-z]{2,4})?", value))
    ]
    numbers = (("results", results, MOST_RESULTS), ("queries", queries, MOST_QUERIES))
    return faults + [
        f"{name} is {value}; give a number from 1 to {most}" for name, value, most in numbers if not 1 <= value <= most
    ]


class _RefusedError(ToolError):
    """An HTTP error of the search engine; `may_be_one_query`: of several queries, one alone may be to blame."""

    def __init__(self, status: int, payload: Any) -> None:
        told = f"the search engine answered HTTP {status}: {said_by(payload)}"
        super().__init__(told, service_failed=status != httpx.codes.UNPROCESSABLE_ENTITY)
        self.may_be_one_query = status in (httpx.codes.BAD_REQUEST, httpx.codes.UNPROCESSABLE_ENTITY)


@dataclass(frozen=True)
class _Serper:
    """The service and its address."""

    service: Service
    endpoint: str

    async def ask(self, bodies: Sequence[dict[str, Any]]) -> Sequence[Any]:
        """A reply or an error for each query, from one request; from one each where that request is refused."""
        if len(bodies) > 1:
            try:
                return read_parts(await self._send(list(bodies)), [body["q"] for body in bodies])
            except _RefusedError as refused:
                if not refused.may_be_one_query:
                    raise
        return await asyncio.gather(*map(self._send, bodies), return_exceptions=True)

    async def _send(self, body: Any) -> Any:
        headers = {"X-API-KEY": self.service.key}
        status, payload = await self.service.ask_json("POST", self.endpoint, headers=headers, json=body)
        if status >= httpx.codes.BAD_REQUEST:
            raise _RefusedError(status, payload)
        return payload


def is_chinese(query: str) -> bool:
    """Whether a query is in Chinese: Han characters, and neither kana nor hangul."""
    return bool(_HAN.search(query)) and not _KANA_OR_HANGUL.search(query)


def _locale(query: str, language: str | None, region: str | None) -> dict[str, str]:
    usual = _CHINESE if is_chinese(query) else _OTHER
    chosen = {"hl": language, "gl": region}
    return {name: usual[name] if value == BY_QUERY else value for name, value in chosen.items() if value is not None}


def _until(as_of: date | None) -> dict[str, str]:
    return {"tbs": f"cdr:1,cd_max:{as_of.month}/{as_of.day}/{as_of.year}"} if as_of else {}
