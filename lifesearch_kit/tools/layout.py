"""How search results and pages look to the model; the same for every search and fetch tool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lifesearch_kit.errors import ToolError


@dataclass(frozen=True)
class Hit:
    """One search result."""

    title: str
    url: str
    snippet: str = ""
    date: str | None = None


@dataclass(frozen=True)
class SearchResults:
    """What a search engine's reply holds: usable hits, what was left out, and a direct answer where there is one.

    Parameters
    ----------
    hits
        In the engine's order, each address once.
    dropped
        How many results had no address.
    answer
        What the engine answers by itself.
    repeated
        How many results had the address of an earlier one.
    """

    hits: tuple[Hit, ...]
    dropped: int = 0
    answer: str = ""
    repeated: int = 0


@dataclass(frozen=True)
class FetchedPage:
    """A page as text.

    `warnings` are notes on how the page came that its reader should know; `source` names the way that it came, `url`
    the address at which it was found.
    """

    title: str
    text: str
    published: str | None = None
    warnings: tuple[str, ...] = ()
    source: str = ""
    url: str = ""


def collect_hits(found: Sequence[Hit | None], answer: str = "") -> SearchResults:
    """Leave out results without an address (None) and repeated ones, and count them."""
    usable = [hit for hit in found if hit is not None]
    first: dict[str, Hit] = {}
    for hit in usable:
        first.setdefault(hit.url, hit)
    hits = tuple(first.values())
    return SearchResults(hits, len(found) - len(usable), answer, len(usable) - len(hits))


def show_results(query: str, results: SearchResults) -> str:
    """The text that the model reads."""
    parts = [f"Answer box: {results.answer}"] if results.answer else []
    parts.append(show_hits(query, results.hits))
    if results.dropped:
        parts.append(f"({results.dropped} result(s) without an address were left out.)")
    if results.repeated:
        parts.append(f"({results.repeated} repeated result(s) were left out.)")
    return "\n\n".join(parts)


def show_hits(query: str, hits: Sequence[Hit]) -> str:
    """A numbered list: title, address, date where known, snippet; without a hit, a sentence that says so."""
    if not hits:
        return f"No results for {query!r}; try other words."
    blocks = []
    for number, hit in enumerate(hits, start=1):
        lines = [f"[{number}] {hit.title}", f"URL: {hit.url}"]
        lines += [f"Date: {hit.date}"] if hit.date else []
        lines += [hit.snippet] if hit.snippet else []
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def show_page(
    text: str,
    number: int,
    size: int,
    *,
    title: str,
    url: str,
    published: str | None = None,
    warnings: Sequence[str] = (),
    source: str = "",
) -> str:
    """One numbered part of a long text under its header lines.

    Raises
    ------
    ToolError
        When the text has no part of that number.
    """
    parts = divide(text, size)
    if not 1 <= number <= len(parts):
        raise ToolError(f"{url} has {len(parts)} page(s), so page {number} does not exist; ask for 1 to {len(parts)}")
    head = [f"Title: {title}", f"URL: {url}"]
    head += [f"Published: {published}"] if published else []
    head += [f"Warning: {warning}" for warning in warnings]
    head += [f"Read through: {source}"] if source else []
    return "\n".join([*head, f"Page: {number} of {len(parts)}", "", parts[number - 1]])


def divide(text: str, size: int) -> list[str]:
    """Cut a text into parts of at most `size` characters, at line ends where there are any; nothing is lost."""
    parts: list[str] = []
    start = 0
    while len(text) - start > size:
        line_end = text.rfind("\n", start, start + size)
        end = line_end + 1 if line_end > start else start + size
        parts.append(text[start:end])
        start = end
    return [*parts, text[start:]]
