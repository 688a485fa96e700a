"""The `fetch` tool: a page through Jina Reader, and straight from its server where that fails."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import httpx

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools.addresses import check_address
from lifesearch_kit.tools.blocked import fault_of_page
from lifesearch_kit.tools.direct import download
from lifesearch_kit.tools.documents import read_document
from lifesearch_kit.tools.guarded_network import GuardedNetwork
from lifesearch_kit.tools.layout import FetchedPage, show_page
from lifesearch_kit.tools.reader import ENDPOINT, JinaReader
from lifesearch_kit.tools.service import key_of
from lifesearch_kit.tools.tool import Tool, function_schema

PAGE_CHARACTERS = 12_000
# For a page straight from its server: connections, redirects, body and parsing together.
DIRECT_SECONDS = 60.0

ReaderName = Literal["jina", "direct"]


@dataclass(frozen=True)
class DirectReader:
    """Pages straight from their servers."""

    network: GuardedNetwork = field(default_factory=GuardedNetwork)
    name: str = "direct connection"

    async def read(self, url: str) -> FetchedPage:
        """One page or document.

        Raises
        ------
        ToolError
            When it may not be fetched, did not come in time and within the caps, or holds no text.
        """
        try:
            async with asyncio.timeout(DIRECT_SECONDS):
                got = await download(url, self.network)
                page = await read_document(got.data, got.content_type)
        except TimeoutError:
            raise ToolError(f"the page did not come within {DIRECT_SECONDS:g} seconds") from None
        moved = (f"the address redirects to {got.url}",) if got.url != url else ()
        return replace(page, warnings=(*moved, *page.warnings), source=self.name)


def fetch_tool(
    *,
    readers: Sequence[ReaderName] = ("jina", "direct"),
    api_key_env: str = "JINA_API_KEY",
    endpoint: str = ENDPOINT,
    http_client: httpx.AsyncClient | None = None,
    network: GuardedNetwork | None = None,
) -> Tool:
    """Page reader.

    Parameters
    ----------
    readers
        The ways to a page, in the order in which they are tried: ``jina`` is Jina Reader, ``direct`` the page's own
        server. The next one is tried where one fails, or brings a block page, an error page or nothing.
    api_key_env
        Variable with the key for Jina Reader. Without it the vendor's lower rate limit holds.
    endpoint, http_client
        Of Jina Reader.
    network
        How the direct way finds and dials addresses; what it finds is checked whatever is given here.

    Raises
    ------
    InputError
        When `readers` is empty, repeats a name or holds an unknown one, and when the variable holds no key.
    """
    ways: dict[str, JinaReader | DirectReader] = {
        "jina": JinaReader(key_of(api_key_env), endpoint, http_client),
        "direct": DirectReader(network or GuardedNetwork()),
    }
    names = list(readers)
    if not names or len(set(names)) < len(names) or not set(names) <= set(ways):
        raise InputError(f"readers is {readers!r}; name one or both of {', '.join(ways)}, each once")
    chosen = [ways[name] for name in names]

    async def fetch(url: str, page: int = 1) -> str:
        url = check_address(url)
        found = await _first(url, chosen)
        return show_page(
            found.text,
            page,
            PAGE_CHARACTERS,
            title=found.title,
            url=url,
            published=found.published,
            warnings=found.warnings,
            source=found.source,
        )

    return Tool("fetch", function_schema("fetch"), fetch, backend=", then ".join(one.name for one in chosen))


async def _first(url: str, readers: Sequence[JinaReader | DirectReader]) -> FetchedPage:
    """The page by the first way that brings one; where another was tried before it, `source` says why it failed."""
    failures: list[ToolError] = []
    for reader in readers:
        try:
            page = await reader.read(url)
            fault = fault_of_page(page.title, page.text, page.warnings)
            if fault:
                raise ToolError(fault)
        except ToolError as error:
            failures.append(error)
            continue
        before = "; ".join(_causes(readers, failures))
        return replace(page, source=f"{page.source} ({before})" if before else page.source)
    causes = _causes(readers, failures)
    # One service that fails loses nothing while another way shows what is wrong with the page.
    lost = all(error.service_failed for error in failures)
    told = "; ".join(causes) if len(causes) > 1 else str(failures[0])
    raise ToolError(f"{url} was not read: {told}" + ("" if lost else "; use another source"), service_failed=lost)


def _causes(readers: Sequence[JinaReader | DirectReader], failures: Sequence[ToolError]) -> list[str]:
    """On one line each: they stand in a header line of the page that another way brought."""
    return [f"{one.name}: {' '.join(str(error).split())}" for one, error in zip(readers, failures, strict=False)]
