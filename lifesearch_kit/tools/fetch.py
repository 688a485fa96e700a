"""The `fetch` tool over Jina Reader (r.jina.ai), which returns a page as Markdown under a few header lines."""

from __future__ import annotations

import json
import os
import re
from dataclasses import dataclass

import httpx

from lifesearch_kit.errors import ToolError
from lifesearch_kit.redaction import redact
from lifesearch_kit.text import replace_lone_surrogates
from lifesearch_kit.tools.addresses import check_address
from lifesearch_kit.tools.blocked import fault_of_page
from lifesearch_kit.tools.layout import show_page
from lifesearch_kit.tools.tool import Tool, function_schema

ENDPOINT = "https://r.jina.ai/"
PAGE_CHARACTERS = 12_000
TIMEOUT_SECONDS = 60.0

_HEADER = re.compile(
    r"\A\s*(?:(?:Title|URL Source|Published Time|Number of Pages|Warning):[^\n]*\n\s*)*Markdown Content:[ \t]*\n?"
)
_FIELD = re.compile(r"^(Title|URL Source|Published Time|Warning):[ \t]*(.*)$", re.M)


@dataclass(frozen=True)
class FetchedPage:
    """A page as Jina Reader returned it."""

    title: str
    text: str
    published: str | None = None
    warnings: tuple[str, ...] = ()


def fetch_tool(
    *, api_key_env: str = "JINA_API_KEY", endpoint: str = ENDPOINT, http_client: httpx.AsyncClient | None = None
) -> Tool:
    """Page reader. A key is optional: without the variable `api_key_env` the vendor's lower rate limit holds."""
    key = os.environ.get(api_key_env, "").strip()

    async def fetch(url: str, page: int = 1) -> str:
        url = check_address(url)
        found = read_page(await _ask(url, key, endpoint, http_client))
        fault = fault_of_page(found.title, found.text, found.warnings)
        if fault:
            raise ToolError(f"{url} was not read: {fault}; use another source")
        return show_page(
            found.text,
            page,
            PAGE_CHARACTERS,
            title=found.title,
            url=url,
            published=found.published,
            warnings=found.warnings,
        )

    return Tool("fetch", function_schema("fetch"), fetch, backend="Jina Reader")


# Key, payment, rate: the reader's own. Other statuses speak of the page.
_OWN_FAILURES = (401, 402, 429)


async def _ask(url: str, key: str, endpoint: str, http_client: httpx.AsyncClient | None) -> str:
    client = http_client or httpx.AsyncClient()
    headers = {"Accept": "text/plain"} | ({"Authorization": f"Bearer {key}"} if key else {})
    try:
        response = await client.post(endpoint, headers=headers, json={"url": url}, timeout=TIMEOUT_SECONDS)
    except httpx.HTTPError as error:
        name = type(error).__name__
        told = f"{url} was not read: the page reader did not answer ({name}); try again"
        raise ToolError(told, service_failed=True) from None
    finally:
        if http_client is None:
            await client.aclose()
    text = redact(response.text, key)
    if response.is_error:
        said = replace_lone_surrogates(_said(text))[0]
        told = f"{url} was not read: the page reader answered HTTP {response.status_code}: {said}"
        raise ToolError(told, service_failed=response.status_code in _OWN_FAILURES)
    return replace_lone_surrogates(text)[0]


def read_page(reply: str) -> FetchedPage:
    """Split Jina Reader's text into its header lines and the page. Text without the header is all page."""
    reply = reply.replace("\r\n", "\n")
    header = _HEADER.match(reply)
    if not header:
        return FetchedPage("", reply.strip())
    fields = [(name, value.strip()) for name, value in _FIELD.findall(header[0])]
    first = dict(reversed(fields))
    warnings = tuple(value for name, value in fields if name == "Warning" and value)
    text = reply[header.end() :].strip()
    return FetchedPage(first.get("Title", ""), text, first.get("Published Time") or None, warnings)


def _said(text: str) -> str:
    try:
        payload = json.loads(text)
    except (ValueError, RecursionError):
        return " ".join(re.sub(r"<[^<>]*>", " ", text).split())[:300]
    if isinstance(payload, dict):
        payload = payload.get("readableMessage") or payload.get("message") or payload
    return str(payload)[:300]
