"""What the baseline judge sees of a report: segments with terms, numbers and dates, and the shape of the whole."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lifesearch_kit.dates import DateMention, date_mentions
from lifesearch_kit.offline.quantities import LABEL_POWERS, Quantity, quantities
from lifesearch_kit.terms import URL, key_terms, normalise_width, sentences

_LINK = re.compile(r"\[([^\]]*)\]\((https?://[^)\s]+)\)")
_HEADING = re.compile(r"^\s{0,3}#{1,6}\s+(.+?)\s*#*$|^\s*\*\*([^*]{2,60})\*\*[:：]?\s*$")
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$")
_LIST = re.compile(r"^\s*(?:[-*+•]|\d{1,2}[.)、]|[（(]\d{1,2}[)）])\s+")
_LABEL = re.compile(r"(?<![\d.] )(?<![\d.])(?:" + "|".join(sorted(LABEL_POWERS, key=len, reverse=True)) + r")(?!\w*\d)")
_CJK = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")
_WORD = re.compile(r"[A-Za-z0-9]+(?:[.,'’-][A-Za-z0-9]+)*")


@dataclass(frozen=True)
class Segment:
    """A sentence, list item or table row, with the number of its section and the heading or header row above it."""

    text: str
    context: str
    section: int
    is_row: bool
    terms: frozenset[str]
    quantities: tuple[Quantity, ...]
    dates: tuple[DateMention, ...]
    has_url: bool


@dataclass(frozen=True)
class Section:
    """A heading and the text under it."""

    heading: str
    text: str


@dataclass(frozen=True)
class Features:
    """A report as the judge reads it.

    `near` holds for each segment the terms of itself, its neighbours under the same heading, and that heading; `where`
    maps a term to the segments that hold it; `numbers` lists value, number and segment, sorted by value.
    """

    text: str
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    near: tuple[frozenset[str], ...]
    where: Mapping[str, tuple[int, ...]]
    numbers: tuple[tuple[float, Quantity, int], ...]
    urls: frozenset[str]
    tables: int
    list_items: int


def length(text: str) -> int:
    """Count Chinese characters and words of other scripts; link addresses and Markdown signs do not count."""
    shown = URL.sub(" ", _LINK.sub(r"\1", text))
    return len(_CJK.findall(shown)) + len(_WORD.findall(shown))


def urls_of(text: str) -> list[str]:
    """The http(s) addresses of a text, in order."""
    return [url.rstrip(".,;:") for url in URL.findall(text)]


def _segment(text: str, context: str, section: int, is_row: bool) -> Segment:
    shown = URL.sub(" ", _LINK.sub(r"\1", text))
    terms = frozenset(key_terms(shown)) | (frozenset(key_terms(context)) if is_row else frozenset())
    return Segment(
        text,
        context,
        section,
        is_row,
        terms,
        _scaled(f"{context} {shown}" if is_row else shown, quantities(shown)),
        tuple(date_mentions(shown)),
        bool(URL.search(text)),
    )


def _pieces(line: str) -> list[str]:
    """The sentences of a line, each with the citation that follows it."""
    found: list[str] = []
    for piece in sentences(line):
        cites = found and re.match(r"[(（\[【]", piece) and URL.search(piece)
        if cites:
            end = max(piece.rfind(mark, 0, 400) for mark in ")）】") + 1
            found[-1] += " " + piece[:end]
            piece = piece[end:]
        if piece.strip("-*#=. "):
            found.append(piece.strip())
    return found


def _scaled(text: str, found: Sequence[Quantity]) -> tuple[Quantity, ...]:
    """Numbers, and once more on the scale that a label names apart from them (Revenue, million crowns: 612.0)."""
    power = next((LABEL_POWERS[match.group()] for match in _LABEL.finditer(text.casefold())), 0)
    return (*found, *(one.times(10.0**power) for one in found if power and not one.percent))


def _near(segments: Sequence[Segment], at: int) -> frozenset[str]:
    own = segments[at]
    around = (one.terms for one in segments[max(0, at - 1) : at + 2] if one.section == own.section)
    return frozenset(key_terms(own.context)).union(*around)


@lru_cache(maxsize=256)
def features(text: str) -> Features:
    """Read a report once; the same text is read from memory afterwards."""
    segments: list[Segment] = []
    sections: list[tuple[str, list[str]]] = [("", [])]
    header, tables, items, lines = "", 0, 0, normalise_width(text).splitlines()
    for number, line in enumerate(lines):
        heading = _HEADING.match(line)
        if heading:
            sections.append(((heading.group(1) or heading.group(2)).strip(), []))
            continue
        sections[-1][1].append(line)
        at, title = len(sections) - 1, sections[-1][0]
        if _RULE.match(line) and "|" in line:
            tables += 1
            continue
        if line.count("|") >= 2:
            if number + 1 < len(lines) and _RULE.match(lines[number + 1]):
                header = line
            segments.append(_segment(line.strip(" |").replace("|", " | "), f"{title} {header}", at, True))
            continue
        items += bool(_LIST.match(line))
        segments += [_segment(piece, title, at, False) for piece in _pieces(line)]
    where: dict[str, list[int]] = defaultdict(list)
    for number, segment in enumerate(segments):
        for term in segment.terms:
            where[term].append(number)
    numbers = [(one.value, one, at) for at, segment in enumerate(segments) for one in segment.quantities]
    return Features(
        text,
        tuple(segments),
        tuple(Section(name, "\n".join(body).strip()) for name, body in sections),
        tuple(_near(segments, at) for at in range(len(segments))),
        {term: tuple(found) for term, found in where.items()},
        tuple(sorted(numbers, key=lambda one: (one[0], one[2]))),
        frozenset(urls_of(text)),
        tables,
        items,
    )
