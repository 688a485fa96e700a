"""The invented demo web: dated pages in one file, found by BM25 and read by address, like the real search and fetch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from pydantic import Field, field_validator
from rank_bm25 import BM25Okapi

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.fields import Day, Text, fingerprint
from lifesearch_kit.files import read_records
from lifesearch_kit.records import Language, Record
from lifesearch_kit.rows import PathLike
from lifesearch_kit.terms import is_stop, key_terms, sentences, tokenize
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.layout import Hit, show_hits, show_page

RESULTS = 10
PAGE_CHARACTERS = 1_200
SNIPPET_CHARACTERS = 240
MARK_EN = "(Invented page of the kit's demo web; nothing in it is real.)"
MARK_ZH = "（本页属于工具包的演示网络，内容纯属虚构。）"
PageKind = Literal["official", "news", "blog", "academic", "forum"]


class Page(Record):
    """One page of the demo web; `text` is Markdown. `kind` is for its authors and is shown to nobody."""

    url: Text
    title: Text
    site: Text
    kind: PageKind
    language: Language
    published: Day | None = None
    text: Text = Field(min_length=1)

    @field_validator("url")
    @classmethod
    def _reserved_host(cls, url: str) -> str:
        scheme, _, rest = url.partition("://")
        host = rest.partition("/")[0]
        if scheme not in ("http", "https") or not host.endswith((".example", ".invalid")):
            raise ValueError("is no http(s) address of a host that ends in .example or .invalid; use one")
        return url


class Web:
    """A searchable set of pages.

    Parameters
    ----------
    pages
        At least one page, each with its own address.
    """

    def __init__(self, pages: Sequence[Page]) -> None:
        if not pages:
            raise InputError("the demo web holds no page; give it at least one")
        self.pages = tuple(pages)
        self.name = f"demo web {fingerprint([page.model_dump() for page in pages])}"
        self._by_url = {_address(page.url): page for page in pages}
        # The title counts three times: it says what the page is about.
        self._index = BM25Okapi([_content(f"{page.title}\n" * 3 + f"{page.site}\n{page.text}") for page in pages])

    @classmethod
    def load(cls, path: PathLike) -> Web:
        """Read a pages file (JSON Lines with the fields of Page).

        Raises
        ------
        InputError
            Listing every fault of the file: unreadable lines, wrong fields, an address that repeats.
        """
        return cls(read_records(path, Page, key=("url",)))

    def search(self, query: str, results: int = RESULTS) -> list[Page]:
        """The pages that share terms with the query, best BM25 score first, ties by address."""
        terms = _content(query)
        scores = np.asarray(self._index.get_scores(terms))
        known = set(terms)
        hits = [at for at in range(len(self.pages)) if not known.isdisjoint(self._index.doc_freqs[at])]
        ranked = sorted(hits, key=lambda at: (-round(float(scores[at]), 9), self.pages[at].url))
        return [self.pages[at] for at in ranked[:results]]

    def page(self, url: str) -> Page | None:
        """The page at an address, None where there is none; a fragment or a last slash does not matter."""
        return self._by_url.get(_address(url))


def _address(url: str) -> str:
    return url.strip().partition("#")[0].rstrip("/")


def _content(text: str) -> list[str]:
    return [term for term in tokenize(text) if not is_stop(term)]


@lru_cache(maxsize=4096)
def _lines(text: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """A page's sentences with their terms, headings and tables left out."""
    lines = [line for line in sentences(text) if not line.startswith(("#", "|"))] or [text]
    return tuple((line, frozenset(key_terms(line))) for line in lines)


def _snippet(page: Page, query: str) -> str:
    wanted, lines = set(key_terms(query)), _lines(page.text)
    best = max(range(len(lines)), key=lambda at: (len(wanted & lines[at][1]), -at))
    text = " ".join(line for line, _ in lines[best : best + 2])
    return text if len(text) <= SNIPPET_CHARACTERS else text[: SNIPPET_CHARACTERS - 1].rstrip() + "…"


def _show_results(pages: Sequence[Page], query: str) -> str:
    return show_hits(query, [Hit(page.title, page.url, _snippet(page, query), _day(page)) for page in pages])


def _day(page: Page) -> str | None:
    return page.published.isoformat() if page.published else None


def _show_page(page: Page, number: int) -> str:
    shown = show_page(page.text, number, PAGE_CHARACTERS, title=page.title, url=page.url, published=_day(page))
    return f"{shown.rstrip()}\n\n{MARK_ZH if page.language == 'zh' else MARK_EN}"


def search_tool(web: Web) -> Tool:
    """The `search` tool over the demo web; raises ToolError for an empty query."""

    async def search(query: str) -> str:
        if not query.strip():
            raise ToolError("the query is empty; write what to search for")
        return _show_results(web.search(query), query)

    return Tool("search", function_schema("search"), search, backend=web.name)


def fetch_tool(web: Web) -> Tool:
    """The `fetch` tool over the demo web; raises ToolError for an unknown address or page number."""

    async def fetch(url: str, page: int = 1) -> str:
        found = web.page(url)
        if found is None:
            raise ToolError(f"{url!r} is no page of the demo web; use an address from a search result")
        return _show_page(found, page)

    return Tool("fetch", function_schema("fetch"), fetch, backend=web.name)
