"""What a criterion asks for and a report does not hold: entities, values, dates, sources, comparisons, edge cases."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from lifesearch_kit.dates import Moment, date_mentions
from lifesearch_kit.failures.asked_kinds import unserved_kinds
from lifesearch_kit.terms import normalise_width

KINDS = ("entity", "value", "date", "source", "comparison", "edge_case")


class Missing(NamedTuple):
    """One detail that is not there: its kind, one of KINDS, and the criterion's words for it."""

    kind: str
    words: str


_SCALES = {
    **{"千": 3, "万": 4, "百万": 6, "千万": 7, "亿": 8, "万亿": 12},
    **{"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "bn": 9, "mn": 6, "k": 3},
}
_NUMBER = re.compile(
    r"(?<![\w.])(\d+(?:[.,]\d+)*)(?!\w*[-–]\d)(?:\s*("
    + "|".join(sorted(_SCALES, key=len, reverse=True))
    + r")(?![A-Za-z]))?",
    re.ASCII | re.IGNORECASE,
)
_WORD = r"[A-Z][A-Za-z0-9À-ÿ&'’]*(?:-[A-Z0-9][A-Za-z0-9À-ÿ]*)*"
_NAME = re.compile(
    r"[“\"「『《]([^”\"」』》]{2,60})[”\"」』》]"
    rf"|(?<![.!?:。]\s)(?<!^)(?<![A-Za-z0-9'’-])((?=\w{{2}}){_WORD}(?![\w-])(?: {_WORD}(?![\w-]))*"
    rf"|(?=\w{{2}}){_WORD}(?=[^\x00-\u024f]))"
)
# Numbers and names of a criterion that a report need not hold: the length that it allows, the tolerance of a value,
# what it is told to leave out, examples, and the number in a name.
_NO_DETAIL = re.compile(
    r"(?<![\d,.])\d[\d,]*(?:\s*(?:[-–至到]|to|and)\s*\d[\d,]*)?\s*-?\s*"
    r"(?:(?:words?|characters?|sentences?|paragraphs?|bullet points?)\b|个?字(?!节|段)|[句段])"
    r"|[(（][^()（）]{0,80}(?:accepted|\bwithin\b|\ballowed\b|[均亦]可|误差|合格|容差|允许|上下)[^()（）]{0,80}[)）]"
    r"|(?:\bnot\b|\bleav\w+ out\b|\brather than\b|\binstead of\b|\bexclud\w+"
    r"|不采用|不引用|不把|不应|不得|不使用|而不是|而非)(?:(?!\bbut\b|而是)[^,，。；;()（）])*"
    r"|\bkeep\b[^,;]{0,80}?\bout of\b"
    r"|\b(?:line|phase|section|article|table|figure|chapter|step|version|option|stage|part|unit|class|type|item) \d+\b",
    re.IGNORECASE,
)
_EXAMPLE = re.compile(r"[(（](?:e\.g\.|such as|for example|例如|比如|如)[^()（）]*[)）]", re.IGNORECASE)
_HEADING = re.compile(r"\A(?:[A-Z]\d+:\s*)?[^:：。\n]{3,150}[:：](?=\s*\S)")


def missing_details(text: str, criterion: str, question: str = "") -> list[Missing]:
    """List what a criterion asks for and a text does not hold, each thing once, under one kind.

    Dates, values and names are looked for as such; 1.2 billion is 12亿 and 1,200,000,000. Where the criterion asks for
    a source and the text cites none, for a comparison or an edge case and no passage on its subject gives one, the
    names of the criterion that are absent belong to that. Not asked for are the length that a criterion allows, the
    tolerance of a value, what it tells to leave out, and examples.

    Parameters
    ----------
    text
        The report.
    criterion
        Of a rubric that the report fails.
    question
        What the user had asked: words that a criterion quotes from it name nothing, titles (《》) aside.
    """
    stated = _without_examples(criterion)
    found = [one for one in _stated_details(text, stated) if not _repeats(one, criterion, question)]
    for kind, names in unserved_kinds(text, stated, [one.words for one in found if one.kind == "entity"]):
        found = [one for one in found if one.kind != "entity" or one.words not in names]
        found += [Missing(kind, name) for name in names or [""]]
    return list(dict.fromkeys(found))


def absent_details(text: str, criterion: str) -> list[str]:
    """List dates, numbers and names that a criterion asks for and a text lacks, as the criterion writes them."""
    return list(dict.fromkeys(one.words for one in _stated_details(text, _without_examples(criterion))))


def _without_examples(criterion: str) -> str:
    """A criterion without examples and its heading, whose colon stays: a sentence begins behind it."""
    stated = _blank(criterion, [match.span() for match in _EXAMPLE.finditer(criterion)])
    heading = _HEADING.match(stated)
    return _blank(stated, [(0, heading.end() - 1)]) if heading and _in_capitals(heading.group()) else stated


def _repeats(one: Missing, criterion: str, question: str) -> bool:
    """Whether it is a phrase that the criterion quotes from the question."""
    at = criterion.find(one.words)
    return one.kind == "entity" and one.words in question and criterion[max(0, at - 1) : at] in ("“", '"', "「")


def _stated_details(text: str, criterion: str) -> Iterator[Missing]:
    plain, moments, numbers = _stated(text)
    criterion = _blank(criterion, [match.span() for match in _NO_DETAIL.finditer(criterion)])
    dates = date_mentions(criterion)
    for one in dates:
        if not any(one.moment.allows(moment) for moment in moments):
            yield Missing("date", criterion[one.start : one.end].strip())
    rest = normalise_width(_blank(criterion, [(one.start, one.end) for one in dates]))
    for match in _NUMBER.finditer(rest):
        if numbers.isdisjoint(_readings(match)):
            yield Missing("value", match[1])
    for quoted, capital in _NAME.findall(rest):
        if (quoted or capital).casefold() not in plain:
            yield Missing("entity", quoted or capital)


def _in_capitals(heading: str) -> bool:
    """Whether most longer words begin with a capital, as in headings that some criteria carry; those name nobody."""
    longer = re.findall(r"[A-Za-z][\w'’-]{3,}", heading)
    return len(longer) > 1 and sum(word[0].isupper() for word in longer) > 0.6 * len(longer)


@lru_cache(maxsize=64)
def _stated(text: str) -> tuple[str, frozenset[Moment], frozenset[Decimal]]:
    """A report's casefolded text, dates and numbers; read once for all of its rubrics."""
    plain = normalise_width(text)
    numbers = frozenset(reading for match in _NUMBER.finditer(plain) for reading in _readings(match))
    return plain.casefold(), frozenset(one.moment for one in date_mentions(text)), numbers


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _readings(match: re.Match[str]) -> set[Decimal]:
    """A number as it stands, and with the scale behind it."""
    whole, _, decimals = match[1].replace(",", "").partition(".")
    number = Decimal(f"{whole}.{decimals.replace('.', '') or 0}")
    return {number, number.scaleb(_SCALES[match[2].casefold()])} if match[2] else {number}
