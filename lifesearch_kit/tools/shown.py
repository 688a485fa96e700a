"""What search and fetch tools showed, read back from their text: results with address and date, a page's header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

_HIT = re.compile(r"^\[\d+\] (?=[^\n]*\nURL: \S)", re.M)
_ADDRESS_LINE = re.compile(r"^URL: (\S+)", re.M)
_DATE_LINE = re.compile(r"^Date: (.+)", re.M)
# The kit's own header has no blank lines; Jina Reader's, which a tool may hand on as it is, has one after each line.
_HEAD = re.compile(
    r"(?:Title|URL|URL Source): [^\n]*"
    r"(?:\n[A-Z][\w -]{0,30}:[^\n]*|\n\n(?:URL Source|Published Time|Number of Pages|Warning|Markdown Content):[^\n]*)*"
)


@dataclass(frozen=True)
class ShownHit:
    """One search result as it was shown, without its number."""

    text: str

    @property
    def url(self) -> str:
        """Its address."""
        found = _ADDRESS_LINE.search(self.text)
        return found[1] if found else ""

    @property
    def date(self) -> str | None:
        """Its date as the search engine wrote it."""
        found = _DATE_LINE.search(self.text)
        return found[1].strip() if found else None


@dataclass(frozen=True)
class ShownResults:
    """A list of search results and the paragraphs around it: an answer box above, notes below."""

    above: tuple[str, ...]
    hits: tuple[ShownHit, ...]
    below: tuple[str, ...]

    def show(self, told: str) -> str:
        """The list numbered anew, with one more note below."""
        hits = [f"[{number}] {hit.text}" for number, hit in enumerate(self.hits, start=1)]
        if not hits and not any(part.startswith("No results") for part in self.above):
            hits = ["No results are left."]
        return "\n\n".join([*self.above, *hits, *self.below, told])


def read_results(text: str) -> ShownResults | None:
    """Read a list of search results; None where the text is a page, or a list with neither a result nor an answer."""
    if page_head(text):
        return None
    starts = [match.start() for match in _HIT.finditer(text)]
    if not starts:
        return ShownResults(_paragraphs(text), (), ()) if text.startswith("Answer box:") else None
    blocks = [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
    last, _, rest = blocks[-1].partition("\n\n")
    hits = tuple(ShownHit(_HIT.sub("", block, count=1).strip("\n")) for block in [*blocks[:-1], last])
    return ShownResults(_paragraphs(text[: starts[0]]), hits, _paragraphs(rest))


def page_head(text: str) -> str:
    """The header lines of a page, from its title to the first blank line; empty where the text has none."""
    head = _HEAD.match(text)
    return head[0] if head else ""


def with_head_line(text: str, line: str) -> str:
    """A page's text with one more line at the end of its header."""
    head = page_head(text)
    return f"{head}\n{line}{text[len(head) :]}"


def _paragraphs(text: str) -> tuple[str, ...]:
    return tuple(part.strip("\n") for part in text.split("\n\n") if part.strip())


def counted(count: int, one: str, many: str) -> str:
    """A number with its noun."""
    return f"{count} {one if count == 1 else many}"


def note(parts: Sequence[str]) -> str:
    """A remark of the kit in a tool's text, in brackets."""
    return f"({'; '.join(parts)}.)"
