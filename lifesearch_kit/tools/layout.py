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
