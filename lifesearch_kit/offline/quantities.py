"""Numbers with magnitudes and units in Chinese and English, brought to one scale."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from lifesearch_kit.dates import date_mentions
from lifesearch_kit.terms import normalise_width

ABOUT_SHARE = 0.03
_POWERS = {
    "thousand": 3, "k": 3, "million": 6, "mn": 6, "m": 6, "billion": 9, "bn": 9, "b": 9, "trillion": 12, "tn": 12,
    "千": 3, "万": 4, "十万": 5, "百万": 6, "千万": 7, "亿": 8, "十亿": 9, "百亿": 10, "千亿": 11, "万亿": 12,
}  # fmt: skip
LABEL_POWERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12, "万": 4, "亿": 8, "百万": 6, "万亿": 12}
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?!\.?\d)"
_MAGNITUDE = (
    r"[ \u00a0-]?(?:thousand|million|billion|trillion)s?\b|\s?(?:mn|bn|tn)\b|[kKMB]\b"
    r"|\s*(?:十亿|百亿|千亿|万亿|十万|百万|千万|千(?![米克瓦帕卡赫伏兆])|万|亿)"
)
_PERCENT = r"\s*(?:%|percentage[ -]points?\b|per ?cent\b|pct\b|个?百分点)"
_UNIT = r"[ \u00a0-]?(?!(?:to|and|or|in|of|by|from|for|at|on|as|is|was|per)\b)(?:[A-Za-zµ°²³/]+|[\u4e00-\u9fff]{1,2})"
_START = r"(?<![A-Za-z\d.])(?<![A-Za-z]-)"
_CURRENCY = r"(?:US|A|C|HK)?[$€£¥]\s?"


def _one(suffix: str) -> str:
    return rf"(?P<number{suffix}>{_NUMBER})(?:(?P<percent{suffix}>{_PERCENT})|(?P<magnitude{suffix}>{_MAGNITUDE}))?"


_SINGLE = re.compile(rf"{_START}(?P<currency>{_CURRENCY})?{_one('')}(?!(?:st|nd|rd|th)\b)(?P<unit>{_UNIT})?", re.ASCII)
_RANGE = re.compile(
    rf"{_START}(?P<between>between "
    rf"|介于)?(?P<currency>{_CURRENCY})?{_one('_low')}(?:{_UNIT}(?=\s*(?:to|and|至|到|[-–—~～])))?"
    rf"\s*(?P<mark>[-–—~～至到和]|to|and)\s*(?:{_CURRENCY})?{_one('')}(?P<unit>{_UNIT})?",
    re.ASCII,
)
_CHANGE = re.compile(r"(?:from|从|由|自)\s*(?:about |around |approximately |roughly |约|大约)?$", re.IGNORECASE)
_IDENTIFIER = re.compile(
    r"(?<!\d)\d{1,2}:\d{2}(?!\d)|[A-Za-z][A-Za-z/]*[ -]?\d*(?:[-—/]\d+)+|\d+(?:\.\d+){2,}", re.ASCII
)
# A whole number straight after a capitalised word is part of a name (Class 3, Atlas 2).
_NAMED = re.compile(
    r"(?!(?:The|In|At|By|Of|Or|To|For|With|From|About|Only|Some|Over|Under|Nearly"
    r"|And)\b)[A-Z][A-Za-z]+ $"
)
_ZH_PERCENT = re.compile(rf"百分之(?P<number>{_NUMBER})")
_ABOUT = re.compile(
    r"(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|some|≈|[~～]|约为?"
    r"|大约|大概|近|接近|将近)\s*$",
    re.IGNORECASE,
)
_ABOUT_AFTER = re.compile(r"^\s*[^\s，。,;；]{0,4}(?:左右|上下)|^[^,.;]{0,20}\bor so\b")


@dataclass(frozen=True)
class Quantity:
    """A number of a text on the base scale (1.2亿 and 120 million both have the value 120,000,000).

    `low` and `high` bound what the text means: equal for an exact number, the ends of a range, 3% around an "about".
    `step` is half a unit of the last digit written, so that 4,821,340 rounds to 4.82 million.
    """

    value: float
    low: float
    high: float
    step: float
    percent: bool
    unit: str
    start: int
    end: int
    written: str

    def matches(self, other: Quantity) -> bool:
        """Whether a report's number `other` is what this one asks for: same kind, inside the bounds after rounding."""
        slack = self.step + 1e-9 * max(1.0, self.high)
        return self.percent == other.percent and self.low - slack <= other.value <= self.high + slack

    def times(self, factor: float) -> Quantity:
        """The same number on a larger scale."""
        scaled = (round(one * factor, 6) for one in (self.value, self.low, self.high, self.step))
        value, low, high, step = scaled
        return replace(self, value=value, low=low, high=high, step=step)


def _scale(magnitude: str | None) -> float:
    word = re.sub(r"[\s-]", "", magnitude or "").casefold()
    return 10.0 ** _POWERS.get(word, _POWERS.get(word.removesuffix("s"), 0))


def _step(number: str, scale: float) -> float:
    decimals = len(number.partition(".")[2])
    return 0.5 * scale * 10.0**-decimals if decimals or scale > 1 else 0.0


def _value(number: str, scale: float) -> float:
    return round(float(number.replace(",", "")) * scale, 9)


def _single(match: re.Match[str], percent: bool) -> Quantity:
    found = match.groupdict()
    scale = _scale(found.get("magnitude"))
    value = _value(match["number"], scale)
    unit = "%" if percent else (found.get("unit") or found.get("currency") or "").strip(" -\u00a0").casefold()
    step = _step(match["number"], scale)
    return Quantity(value, value, value, step, percent, unit, match.start(), match.end(), match.group().strip())


def _range(match: re.Match[str], text: str) -> Quantity | None:
    if match["mark"] in ("and", "和") and not match["between"]:
        return None
    if match["mark"] in ("to", "至", "到") and _CHANGE.search(text[: match.start()]):
        return None
    high = _single(match, bool(match["percent"]))
    shared = match["magnitude"] if match["magnitude_low"] is None else match["magnitude_low"]
    low = _value(match["number_low"], _scale(shared))
    if low > high.value:
        low = _value(match["number_low"], _scale(match["magnitude_low"]))
    if low > high.value or (match["percent_low"] and not match["percent"]):
        return None
    return replace(high, value=(low + high.value) / 2, low=low)


def _approximate(quantity: Quantity, text: str) -> Quantity:
    if quantity.low != quantity.high:
        return quantity
    if not _ABOUT.search(text[: quantity.start]) and not _ABOUT_AFTER.search(text[quantity.end :]):
        return quantity
    return replace(quantity, low=quantity.value * (1 - ABOUT_SHARE), high=quantity.value * (1 + ABOUT_SHARE))


def quantities(text: str) -> list[Quantity]:
    """All numbers of a text in its order, dates and ordinals left out, ranges read as one."""
    text = normalise_width(text)
    taken = [(one.start, one.end) for one in date_mentions(text)]
    taken += [match.span() for match in _IDENTIFIER.finditer(text)]
    found: list[Quantity] = []

    def keep(quantity: Quantity | None, *starts: int) -> None:
        if quantity is None or any(start <= at < end for at in starts for start, end in taken):
            return
        found.append(_approximate(quantity, text))
        taken.append((quantity.start, quantity.end))

    for match in _ZH_PERCENT.finditer(text):
        keep(_single(match, True), match.start())
    for match in _RANGE.finditer(text):
        keep(_range(match, text), match.start("number_low"), match.start("number"))
    for match in _SINGLE.finditer(text):
        named = match["number"].isdigit() and not match["magnitude"] and _NAMED.search(text[: match.start()])
        if not named and not (match["unit"] or "").startswith(("月", "日")):
            keep(_single(match, bool(match["percent"])), match.start("number"))
    return sorted(found, key=lambda one: one.start)
