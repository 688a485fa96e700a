"""Evidence in a report's text: its passages, and those nearest to a criterion."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

from lifesearch_kit.terms import key_terms
from lifesearch_kit.text import Span

# The stop behind a short month, as in "Oct. 2025", ends no sentence.
_PASSAGE = re.compile(
    r"^[ \t]*\|[^\n]*|(?:[^\n.。！？!?；]|\.(?!\s)"
    r"|(?<=\b(?:Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec))\.(?=\s\d)|(?<=\bSept)\.(?=\s\d))+[.。！？!?；]*",
    re.MULTILINE,
)


@dataclass(frozen=True)
class Passage:
    """A sentence or line of a report and the terms that carry its subject."""

    span: Span
    terms: frozenset[str]


@lru_cache(maxsize=64)
def passages(text: str) -> tuple[Passage, ...]:
    """Take a text apart into sentences and lines, table rows whole, each with its place."""
    found = []
    for match in _PASSAGE.finditer(text):
        quote = match.group().strip()
        if quote:
            start = match.start() + match.group().index(quote)
            found.append(Passage(Span(start, start + len(quote), quote), frozenset(key_terms(quote))))
    return tuple(found)


def closest_passage(text: str, criterion: str) -> Span | None:
    """Find the passage, headings aside, that shares most subject terms with a criterion; None where none shares two."""
    wanted = frozenset(key_terms(criterion))
    running = [one for one in passages(text) if not one.span.quote.startswith("#")]
    best = max(running, key=lambda one: len(one.terms & wanted), default=None)
    return best.span if best and len(best.terms & wanted) >= 2 else None


def passages_on(text: str, terms: Collection[str], least: int = 2) -> list[str]:
    """Passages that share so many terms with a subject."""
    wanted = frozenset(terms)
    return [one.span.quote for one in passages(text) if len(one.terms & wanted) >= least]
