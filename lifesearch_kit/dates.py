"""Dates in Chinese, English and ISO forms, with what is left open kept open."""

from __future__ import annotations

import calendar
import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from lifesearch_kit.terms import normalise_width

_MONTHS = {
    name.casefold(): number
    for names in (calendar.month_name, calendar.month_abbr)
    for number, name in enumerate(names)
    if name
} | {"sept": 9}
_MONTH = "(?P<month>" + "|".join(sorted(_MONTHS, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?P<year>(?:19|20)\d{2})"
_DAY = r"(?P<day>3[01]|[12]\d|0?[1-9])"
_ZH_YEAR = "(?P<year_zh>[一二][〇○零一二三四五六七八九]{3})"
_ZH_MONTH = "(?P<month_zh>十[一二]?|[一二三四五六七八九])"
_ZH_DAY = "(?P<day_zh>[二三]?十[一二三四五六七八九]?|[一二三四五六七八九])"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE | re.ASCII)
    for form in (
        rf"(?<!\d){_YEAR}(?P<mark>[-/.])(?P<month_number>1[0-2]|0?[1-9])(?P=mark){_DAY}(?!\d)",
        rf"(?<![\d.]){_DAY}\.(?P<month_number>1[0-2]|0?[1-9])\.{_YEAR}(?!\.?\d)",
        rf"(?<![\d/])(?P<first>\d\d?)/(?P<second>\d\d?)/{_YEAR}(?![\d/])",
        rf"(?<![\dA-Za-z])(?P<short>[12]\d)年(?P<month_number>1[0-2]|0?[1-9])月(?:\s*{_DAY}\s*[日号])?",
        r"(?<![\dA-Za-z])(?P<quarter>[1-4])Q(?P<short>[12]\d)(?![\dA-Za-z])",
        rf"(?<!\d){_YEAR}\s*年\s*(?P<month_number>1[0-2]|0?[1-9])\s*月(?:\s*{_DAY}\s*[日号])?",
        rf"{_ZH_YEAR}年(?:{_ZH_MONTH}月(?:{_ZH_DAY}[日号])?)?",
        rf"(?<!\d){_YEAR}\s*年?\s*(?P<half>[上下])半年",
        rf"\bH(?P<half>[12])\s*(?:of\s+)?{_YEAR}(?!\d)|(?<!\d)(?P<year_before>(?:19"
        rf"|20)\d{{2}})\s*H(?P<half_after>[12])\b",
        rf"\b(?P<half>first|second)[\s-]half\s+(?:of\s+)?{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}\s*年?\s*第?(?P<quarter>[一二三四1-4])\s*季度",
        rf"\bQ(?P<quarter>[1-4])\s*(?:of\s+)?{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}\s*年?\s*[-/]?Q(?P<quarter>[1-4])\b",
        rf"\b(?P<quarter>first|second|third|fourth)[\s-]quarter\s+(?:of\s+)?{_YEAR}(?!\d)",
        rf"(?<!\d){_DAY}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH},?\s+{_YEAR}(?!\d)",
        rf"\b{_MONTH}\s+{_DAY}(?:st|nd|rd|th)?,?\s+{_YEAR}(?!\d)",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}-(?P<month_number>1[0-2]|0[1-9])(?![\d-])",
        rf"(?<![\d.]){_DAY}(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}(?!\w)",
        rf"\b{_MONTH}\s+{_DAY}(?:st|nd|rd|th)?(?![\d%,]*\d)",
        rf"(?<!\d)(?P<month_number>1[0-2]|0?[1-9])\s*月(?:份|\s*{_DAY}\s*[日号])?",
        rf"(?<!\d)(?<!\d[.,]){_YEAR}(?![\d%]|[.,]\d)(?:\s*年度?)?",
    )
)
_DIGIT = re.compile(r"\d|[〇○零一二三四五六七八九]年")
_HALVES = {"上": 1, "first": 1, "1": 1, "下": 2, "second": 2, "2": 2}
_NUMERALS = {"〇": 0, "○": 0, "零": 0} | {one: at for at, one in enumerate("一二三四五六七八九", start=1)}
_QUARTERS = {"一": 1, "二": 2, "三": 3, "四": 4, "first": 1, "second": 2, "third": 3, "fourth": 4}
CUTOFF_MARK = re.compile(
    r"截至|截止|之前|以前|为止|为准|as of|as at|up to|until|no later than|on or before|\bbefore\b|\bby\b|through|"
    r"cut-?off|available (?:on|by)|dated|published",
    re.IGNORECASE,
)


@dataclass(frozen=True, order=True)
class Moment:
    """A date as a text gives it; 0 stands for what it leaves open. `quarter` and `half` exclude month and day."""

    year: int = 0
    month: int = 0
    day: int = 0
    quarter: int = 0
    half: int = 0

    def allows(self, other: Moment) -> bool:
        """Whether `other` says at least what this one says (31 March 2026 also says March 2026)."""
        quarter = other.quarter or (other.month + 2) // 3
        half = other.half or (quarter + 1) // 2
        mine = (self.year, self.month, self.day, self.quarter, self.half)
        theirs = (other.year, other.month, other.day, quarter, half)
        return all(not one or one == two for one, two in zip(mine, theirs, strict=True))

    def first_day(self) -> date | None:
        """The first day that it may mean, None without a year."""
        if not self.year:
            return None
        begins = 3 * self.quarter - 2 if self.quarter else 6 * self.half - 5 if self.half else 1
        return date(self.year, self.month or begins, self.day or 1)

    def last_day(self) -> date | None:
        """The last day that it may mean, None without a year."""
        if not self.year:
            return None
        month = self.month or self.quarter * 3 or self.half * 6 or 12
        return date(self.year, month, self.day or calendar.monthrange(self.year, month)[1])


@dataclass(frozen=True)
class DateMention:
    """A date and where it stands in the text."""

    moment: Moment
    start: int
    end: int


def _moment(match: re.Match[str]) -> Moment | None:
    given = {name: value for name, value in match.groupdict().items() if value}
    if "first" in given:
        given |= _month_and_day(given["first"], given["second"])
    quarter = given.get("quarter", "0").casefold()
    moment = Moment(
        int(given.get("year") or given.get("year_before") or 0)
        or (2000 + int(given["short"]) if "short" in given else _numeral(given.get("year_zh", ""))),
        int(given.get("month_number", 0))
        or _MONTHS.get(given.get("month", "").casefold(), 0)
        or _numeral(given.get("month_zh", "")),
        int(given.get("day", 0)) or _numeral(given.get("day_zh", "")),
        _QUARTERS.get(quarter) or int(quarter),
        _HALVES.get((given.get("half") or given.get("half_after", "")).casefold(), 0),
    )
    longest = calendar.monthrange(moment.year or 2024, moment.month)[1] if moment.month else 31
    return moment if moment.day <= longest else None


def _month_and_day(first: str, second: str) -> dict[str, str]:
    """Which of two numbers is the month: neither is given where both may be, as in 03/04/2025."""
    if first == second or int(second) > 12 >= int(first):
        return {"month_number": first, "day": second}
    return {"month_number": second, "day": first} if int(first) > 12 >= int(second) else {}


def _numeral(written: str) -> int:
    """A Chinese number: up to 99 with its tens (二十一), or digit by digit (二〇二五); 0 for nothing."""
    tens, ten, ones = written.rpartition("十")
    if ten:
        return 10 * _NUMERALS.get(tens, 1) + _NUMERALS.get(ones, 0)
    return int("".join(str(_NUMERALS[one]) for one in written) or 0)


def date_mentions(text: str) -> list[DateMention]:
    """All dates of a text in its order; overlapping readings are settled for the fullest form."""
    return list(_mentions(normalise_width(text)))


@lru_cache(maxsize=4096)
def _mentions(text: str) -> tuple[DateMention, ...]:
    if not _DIGIT.search(text):
        return ()
    taken: list[DateMention] = []
    claimed = bytearray(len(text))
    for form in _FORMS:
        for match in form.finditer(text):
            start, end = match.span()
            moment = _moment(match) if claimed.find(1, start, end) < 0 else None
            if moment is not None:
                taken.append(DateMention(moment, start, end))
                claimed[start:end] = b"\1" * (end - start)
    return tuple(sorted(taken, key=lambda one: one.start))


def parse_day(text: str) -> date | None:
    """The first full date of a text such as a page's ``Published:`` line, else the last day of what it says."""
    mentions = date_mentions(text)
    best = max(mentions, key=lambda one: (bool(one.moment.day), bool(one.moment.month), -one.start), default=None)
    return best.moment.last_day() if best else None


def cutoff_date(question: str) -> date | None:
    """The last day whose facts a question allows: the date that a phrase such as "as of" or 截至 stands next to."""
    marked: list[tuple[int, date]] = []
    for mention in date_mentions(question):
        around = question[max(0, mention.start - 24) : mention.start] + " " + question[mention.end : mention.end + 6]
        last = mention.moment.last_day()
        if last is not None and CUTOFF_MARK.search(around):
            marked.append((bool(mention.moment.day) * 2 + bool(mention.moment.month), last))
    return max(marked, default=(0, None), key=lambda one: one[0])[1] if marked else None
