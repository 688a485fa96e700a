"""Dates that leave their year to the words before them: "4,100 in May 2025 and 6,200 in August"."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import zip_longest

from lifesearch_kit.dates import DateMention, Moment, date_mentions

_MONTHS = tuple(calendar.month_name)
_QUARTERS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "一": 1, "二": 2, "三": 3, "四": 4}
_MONTH = "|".join(_MONTHS[1:])
_BARE = re.compile(
    rf"\b(?:[Ii]n|[Bb]y|[Dd]uring|[Ss]ince|[Ee]nd of|[Ee]arly|[Ll]ate)\s+(?P<month>{_MONTH})\b(?!,?\s*\d)"
    r"|\b(?P<words>[Ff]irst|[Ss]econd|[Tt]hird|[Ff]ourth)[\s-]quarter\b|第?(?P<zh>[一二三四])季度|\bQ(?P<digit>[1-4])\b"
)
# A month beside such words may lie in the year before.
_SPANS_YEARS = re.compile(
    r"\byear (?:to|ended|ending)\b|\b(?:past|last|previous|prior|preceding|fiscal|financial|rolling) (?:year|season"
    r"|twelve|12)"
    r"|\b(?:twelve|12)[- ]months?\b|\beach year\b|\bevery\b|\bannually\b|\btypically\b|\busually\b"
    r"|一年|[上去今本明每历]年|(?:12|十二)个月|财年|往年|同期",
    re.IGNORECASE,
)
# "Late 2025", "2025年底" lie in the year's second half.
_LATE, _AT_END = re.compile(r"\b(?:late|end of) $", re.IGNORECASE), re.compile(r"年?\s*[底末]")
# "7月底（2025年）", "July (2025)": the year stands behind its month.
_BEHIND = re.compile(r"(?:[底末初中]|[上中下]旬)?\s*[（(]")
_NEXT = re.compile(r"(?:[次翌]年|\bthe (?:following|next) year,?(?: in)?|\bthe following)\s*$", re.IGNORECASE)


@lru_cache(maxsize=64)
def dates_in_context(text: str) -> tuple[DateMention, ...]:
    """All dates of a text, those without a year taken from the date before them in their line.

    A month or quarter takes that year only where it does not come before that date within it, and where the line does
    not speak of a period that reaches over two years; else it stays without.
    """
    given = date_mentions(text)
    claimed = bytearray(len(text))
    for one in given:
        claimed[one.start : one.end] = b"\1" * (one.end - one.start)
    bare = [_bare(match) for match in _BARE.finditer(text) if claimed.find(1, *match.span()) < 0]
    found: list[DateMention] = []
    line_end, last = -1, Moment()
    for mention in _completed(text, sorted([*given, *bare], key=lambda one: one.start)):
        if mention.start > line_end:
            start = text.rfind("\n", 0, mention.start) + 1
            line_end = text.find("\n", mention.start) % (len(text) + 1)
            last, spans_years = Moment(), bool(_SPANS_YEARS.search(text, start, line_end))
        if mention.moment.year:
            last = mention.moment
        elif last.year and not spans_years:
            filled = replace(mention.moment, year=last.year)
            first, before = filled.first_day(), last.first_day()
            if _NEXT.search(text, max(0, mention.start - 20), mention.start):
                filled = replace(filled, year=last.year + 1)
                first = filled.first_day()
            if first and before and first >= before.replace(day=1):
                mention, last = replace(mention, moment=filled), filled
        found.append(mention)
    return tuple(found)


def _completed(text: str, mentions: Sequence[DateMention]) -> Iterator[DateMention]:
    """A year that is said to be late as its second half, a month with the year that stands in brackets behind it."""
    for one, behind in zip_longest(mentions, mentions[1:]):
        year_alone = one.moment == Moment(one.moment.year)
        if year_alone and (_LATE.search(text[max(0, one.start - 8) : one.start]) or _AT_END.match(text, one.end)):
            yield replace(one, moment=Moment(one.moment.year, half=2))
        elif not one.moment.year and behind and _BEHIND.fullmatch(text[one.end : behind.start]):
            yield replace(one, moment=replace(one.moment, year=behind.moment.year))
        else:
            yield one


def _bare(match: re.Match[str]) -> DateMention:
    month = _MONTHS.index(match["month"]) if match["month"] else 0
    quarter = _QUARTERS.get((match["words"] or match["zh"] or "").casefold()) or int(match["digit"] or 0)
    return DateMention(Moment(month=month, quarter=quarter), match.start(), match.end())
