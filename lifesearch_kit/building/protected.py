"""The parts of a query that a rewrite must keep: words of time, named sources, item counts, lengths, exclusions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lifesearch_kit.building.protected_words import MACHINERY, MACHINERY_WORDS, PATTERNS, Kind
from lifesearch_kit.dates import date_mentions


class Protected(NamedTuple):
    """A part that must stay: its kind and its words as they stand in the query."""

    kind: Kind
    words: str


def protected_parts(query: str) -> list[Protected]:
    """The parts of a query that a rewrite must keep, each once, in their order.

    Dates count as words of time. What stands in file names, paths, code or addresses of the writer's own machine is
    left out, and so are sources, counts and exclusions whose words speak of tools, files and the like. What no pattern
    knows is not found: a rewrite that passes has kept these parts, and perhaps not all.
    """
    seen = MACHINERY.sub(lambda match: "\0" * len(match[0]), query)
    placed = [*_worded(seen), *((one.start, one.end, "recency") for one in date_mentions(seen))]
    reached: dict[str, int] = {}
    found: list[Protected] = []
    for start, end, kind in sorted(placed, key=lambda one: (one[0], -one[1])):
        if end > reached.get(kind, 0):  # What lies inside another part of its kind stays with that.
            reached[kind] = end
            found.append(Protected(kind, query[start:end].strip()))
    return list(dict.fromkeys(found))


def _worded(seen: str) -> Iterator[tuple[int, int, Kind]]:
    for kind, form, is_wide in PATTERNS:
        for match in form.finditer(seen):
            if not (is_wide and MACHINERY_WORDS.search(match[0])):
                yield (*match.span("part" if match.groupdict().get("part") else 0), kind)


def lost_parts(before: str, after: str) -> list[Protected]:
    """The protected parts of the first text that the second does not hold; blanks and case do not count."""
    there = _bare(after)
    return [part for part in protected_parts(before) if _bare(part.words) not in there]


def _bare(text: str) -> str:
    return "".join(text.casefold().split())
