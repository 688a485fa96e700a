"""What follows from two figures: sources that disagree, and changes between two years."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from lifesearch_kit.dates import date_mentions
from lifesearch_kit.offline.evidence import CORRECTS, Evidence
from lifesearch_kit.offline.names import names_in
from lifesearch_kit.offline.quantities import Quantity, quantities
from lifesearch_kit.offline.sources import Source

_ALIKE = 0.45
_OWN_SHARE = 0.4
_BRACKETS = re.compile(r"[（(][^（）()]*[)）]")
_YEAR = re.compile(r"(?:19|20)\d{2}")
_FAVOURABLE = re.compile(
    r"\bopen\b|available|on time|spare|free\b|cheaper|faster|shorter|stable|supported|exceed|improv"
    r"|won\b|upgrad|recommend|"
    r"可用|准时|充足|尚未被预订|未被预订|提高|更短|更低|免费|稳定|支持|领先|改善|推荐|折价",
    re.IGNORECASE,
)
_UNFAVOURABLE = re.compile(
    r"\blate\b|delay|recall|shortage|too short|penalt|fine[ds]\b|incident|vulnerab|advisory|outage"
    r"|\bloss|declin|fell\b|only\b|booked|"
    r"overdue|fault|expire|deprecat|延期|推迟|召回|不足|少于|下降|亏损|处罚|投诉|故障|漏洞"
    r"|尚未投产|仅|排满|到期|风险|停止|溢价",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Disagreement:
    """Two pieces of evidence that give different values for what looks like the same quantity."""

    first: Evidence
    second: Evidence
    relied_on: Evidence


@dataclass(frozen=True)
class Change:
    """A relative change in percent between two figures of one table row."""

    label: str
    earlier: str
    later: str
    old: float
    new: float
    source: Source
    percent: float | None = None

    def sentence(self, chinese: bool) -> str:
        """The change in words; without a computed percentage only the two figures."""
        if self.percent is None:
            return (
                (f"{self.label}：{self.earlier}，{self.later}。")
                if chinese
                else f"{self.label}: {self.earlier}, {self.later}."
            )
        size = f"{abs(self.percent):.1f}%"
        if chinese:
            change = f"{'增长' if self.percent > 0 else '下降'}{size}" if self.percent else "没有变化"
            return f"{self.label}：{self.earlier}，{self.later}，{change}。"
        change = f"{'an increase' if self.percent > 0 else 'a decrease'} of {size}" if self.percent else "unchanged"
        return f"{self.label}: {self.earlier}, {self.later}, {change}."


def _years(text: str) -> frozenset[int]:
    return frozenset(one.moment.year for one in date_mentions(text) if one.moment.year)


def _by_year(one: Evidence) -> dict[tuple[int, bool], float]:
    """Figures by year and kind (percent or not): of the columns of a row, or of a sentence that names one year."""
    found: dict[tuple[int, bool], float] = {}
    for name, cell in zip(one.header[1:], one.cells[1:], strict=False):
        year, number = _YEAR.search(name), _first_number(cell)
        if year and number:
            found[int(year.group()), number.percent] = number.value
    years = _years(one.text)
    if not one.cells and len(years) == 1:
        for number in one.quantities:
            found.setdefault((next(iter(years)), number.percent), number.value)
    return found


def _differing(one: Evidence, other: Evidence) -> bool:
    first, second = _by_year(one), _by_year(other)
    pairs = [(first[key], second[key]) for key in first.keys() & second.keys()]
    return any(old != new and new and 0.4 < old / new < 2.5 for old, new in pairs)


def _other_subject(one: Evidence, other: Evidence, names: Sequence[str]) -> bool:
    """Whether each of the two names something that the other, its page's title included, does not."""
    full, others = (f"{side.source.title} {side.text}" for side in (one, other))
    first, second = ({*names_in(side.text), *(name for name in names if name in side.text)} for side in (one, other))
    return any(name not in others for name in first) and any(name not in full for name in second)


def disagreements(evidence: Sequence[Evidence], names: Sequence[str], limit: int) -> list[Disagreement]:
    """Pairs from different pages that share most terms and give other figures for the same year; the surest first.

    The figure of the more trusted page is relied on, among equals that of a page that corrects, then the newer one.
    """
    scored: list[tuple[float, Disagreement]] = []
    plain = [frozenset(term for term in one.terms if not term[0].isdigit()) for one in evidence]
    for at, one in enumerate(evidence):
        for later in range(at + 1, len(evidence)):
            other = evidence[later]
            smaller = min(len(plain[at]), len(plain[later])) or 1
            shared = len(plain[at] & plain[later]) / smaller
            if one.source.url == other.source.url or shared < _ALIKE or _other_subject(one, other, names):
                continue
            if not _differing(one, other):
                continue
            marked = bool(CORRECTS.search(one.text) or CORRECTS.search(other.text))
            surety = shared + 0.3 * marked + 0.6 * (one.source.trust != other.source.trust)
            scored.append((surety, Disagreement(one, other, max(one, other, key=_reliability))))
    scored.sort(key=lambda pair: (-round(pair[0], 9), pair[1].first.text, pair[1].second.text))
    chosen: list[Disagreement] = []
    for _, pair in scored:
        told = {text for old in chosen for text in (old.first.text, old.second.text)}
        if len(chosen) < limit and not {pair.first.text, pair.second.text} & told:
            chosen.append(pair)
    return chosen


def _reliability(one: Evidence) -> tuple[float, bool, str, str]:
    day = one.source.published
    return one.source.trust, bool(CORRECTS.search(one.text)), day.isoformat() if day else "", one.text


def choose_between(evidence: Sequence[Evidence], names: Sequence[str], wanted: frozenset[str]) -> str | None:
    """Choose the name that the evidence speaks for most, by favourable and unfavourable words about it alone.

    Returns
    -------
    str or None
        None where fewer than two of the names stand in a page's title and have evidence of their own.
    """
    full = [f"{one.source.title}\n{one.text}" for one in evidence]
    titles = {one.source.title for one in evidence}
    totals: dict[str, float] = {}
    for name in names:
        others = [other for other in names if other != name and name not in other and other not in name]
        about = [at for at, text in enumerate(full) if name in text]
        own = [at for at in about if not any(other in full[at] for other in others)]
        if len(own) >= 2 and len(own) >= _OWN_SHARE * len(about) and any(name in title for title in titles):
            weights = [1 + len(evidence[at].terms & wanted) for at in own]
            totals[name] = sum(
                _balance(evidence[at].text) * weight for at, weight in zip(own, weights, strict=True)
            ) / sum(weights)
    return max(totals, key=lambda name: (round(totals[name], 9), name)) if len(totals) >= 2 else None


def _balance(text: str) -> int:
    return len(_FAVOURABLE.findall(text)) - len(_UNFAVOURABLE.findall(text))


def changes(evidence: Sequence[Evidence], limit: int) -> list[Change]:
    """Pairs of figures of one table row whose columns name two years, the earlier year first."""
    found: list[Change] = []
    for one in evidence:
        measures: dict[str, list[tuple[int, str, Quantity]]] = {}
        for name, cell in zip(one.header[1:], one.cells[1:], strict=False):
            year, number = _YEAR.search(name), _first_number(cell)
            if year and number and not number.percent and number.value:
                measure = _BRACKETS.sub("", _YEAR.sub("", name)).strip(" 年度末底,")
                measures.setdefault(measure, []).append((int(year.group()), f"{name} {cell}", number))
        for measure, dated in measures.items():
            dated.sort(key=lambda item: item[0])
            if len(dated) >= 2 and dated[-2][0] < dated[-1][0]:
                (_, earlier, old), (_, later, new) = dated[-2:]
                label = f"{one.cells[0]} {measure}".strip()
                found.append(Change(label, earlier, later, old.value, new.value, one.source))
    return found[:limit]


def _first_number(cell: str) -> Quantity | None:
    return next(iter(quantities(cell)), None)
