"""Single checks of a criterion against a report. Each returns a Finding: how it went, in the reader's language."""

from __future__ import annotations

import re
from collections.abc import Sequence

from lifesearch_kit.dates import Moment, date_mentions
from lifesearch_kit.offline.criteria import Criterion, negates
from lifesearch_kit.offline.features import Features, Segment
from lifesearch_kit.offline.findings import Finding
from lifesearch_kit.offline.passages import context_share, quantity_places
from lifesearch_kit.terms import is_chinese, key_terms

_CITES = re.compile(
    r"\b(?:links?|urls?|cit(?:e|es|ed|ing|ations?)|references?|sourced?|attribut\w+"
    r"|publisher)\b|来源|出处|网址|链接|引用|标明|注明|信源",
    re.I,
)
_ADDRESS = re.compile(r"\b(?:links?|urls?|web address)\b|网址|链接|URL", re.I)
_NAME_SUFFICES = re.compile(r"\bor name|name or|\bor url|名称或|或其|或名称|或网址|或链接", re.I)
_CLOSING = re.compile(
    r"\b(?:ends? with|finish\w*|at the end|closing|conclud\w*|conclusion|recommend\w*"
    r"|advise\w*|pick)\b|结尾|最后|结论|推荐|建议|优先|首选",
    re.I,
)
_ADVISES = re.compile(
    r"\brecommend|\bbetter\b|\bprefer|\bchoose|\bchoice\b|\bpick\b|\badvis|\bshould\b|建议"
    r"|优先|选择|推荐|倾向|首选|更适合|应当",
    re.I,
)
_CUTOFF = re.compile(
    r"cut-?off|published by|up to|as of|available (?:by|on)|截至|为准|以前|只用|只按|只采用|范围", re.I
)
_LEAST_CONTENT = 3
HEDGES = re.compile(
    r"\b(?:not|outdated|old(?:er)?|earlier|previous(?:ly)?|first reported|originally|before"
    r"|restated|revised|corrected|superseded|wrong|incorrect|"
    r"disagree|differ|contradict|conflict|claims?|blog|forum|unreliable|excluded|left out|after "
    r"the cut-?off|newer|instead|overstat\w*)\b"
    r"|旧|原(?:先|来|披露|值)|更正[前为]|由.{1,15}(?:更正|重述|修订|修正|调整)|重述为|修订为"
    r"|修正为|修订前|修正前|重述前|曾|误|错|不一致|不采用|不采信|未采用|并非|不是|而非|博客|论坛|有出入"
    r"|矛盾|分歧|冲突|存疑|截止(?:日)?后|此后|高估|虚高",
    re.I,
)


def asks_source(criterion: Criterion) -> bool:
    """Whether the criterion is about naming or linking a source."""
    return bool(_CITES.search(criterion.positive))


def citation_check(criterion: Criterion, report: Features, places: Sequence[int]) -> Finding | None:
    """A source: the address that is named, else a link near the passage that speaks of the matter."""
    if criterion.urls:
        missing = [url for url in criterion.urls if url.rstrip("/") not in report.text]
        return Finding(not missing, missing[0] if missing else criterion.urls[0])
    if not _CITES.search(criterion.positive):
        return None
    if not report.urls and not any(_CITES.search(report.segments[at].text) for at in places):
        return Finding(False, "来源" if is_chinese(criterion.text) else "source")
    if _NAME_SUFFICES.search(criterion.positive) or not _ADDRESS.search(criterion.positive):
        return None
    near = any(_near_url(report.segments, at) for at in places)
    return Finding(near, "link")


def _near_url(segments: Sequence[Segment], at: int) -> bool:
    return any(segments[one].has_url for one in range(max(0, at - 1), min(len(segments), at + 3)))


def closing_check(criterion: Criterion, report: Features) -> Finding | None:
    """A recommendation at the end, where one is asked for: its words and its names in the last third."""
    if not _CLOSING.search(criterion.positive) or not _ADVISES.search(criterion.positive):
        return None
    closing = report.text[-max(600, len(report.text) // 3) :]
    if not _ADVISES.search(closing):
        return Finding(False, "建议" if is_chinese(criterion.text) else "recommendation")
    if criterion.alternatives or len(criterion.names) > 2:
        return Finding(any(name in closing for name in criterion.names) or not criterion.names, "recommendation")
    missing = [name for name in criterion.names if name not in closing]
    return Finding(len(missing) < max(1, len(criterion.names)), missing[0] if missing else "recommendation")


def date_check(criterion: Criterion, report: Features, question: str) -> Finding | None:
    """Dates with a month that the question does not give; an end of year is often put in other words and is let be."""
    given = [one.moment for one in date_mentions(question)]
    for mention in criterion.dates:
        wanted = mention.moment
        if (
            not wanted.month
            or (wanted.month == 12 and wanted.day in (0, 31))
            or any(wanted.allows(one) for one in given)
        ):
            continue
        yearless = Moment(0, wanted.month, wanted.day)
        found = any(
            wanted.allows(one.moment) or (not one.moment.year and yearless.allows(one.moment))
            for segment in report.segments
            for one in segment.dates
        )
        if not found:
            return Finding(False, criterion.positive[mention.start : mention.end].strip() or "date")
    return None


def forbidden_check(criterion: Criterion, report: Features, weights: dict[str, float]) -> Finding | None:
    """Numbers that must not be presented: one that stands in a fitting passage without a word that sets it apart."""
    for quantity in criterion.forbidden_quantities:
        if any(wanted.matches(quantity) for wanted in criterion.quantities):
            continue
        for at in quantity_places(report, quantity):
            near = " ".join(one.text + one.context for one in report.segments[max(0, at - 1) : at + 2])
            if not HEDGES.search(near) and context_share(report, [at], weights) >= 0.35:
                return Finding(False, quantity.written)
    return Finding(True, "") if criterion.forbidden_quantities else None


def cutoff_check(criterion: Criterion, report: Features, question: str) -> Finding | None:
    """A criterion that only bars what came after a cutoff: a report with content of its own that leaves it out."""
    barred = bool(criterion.forbidden_quantities or criterion.forbidden_dates or criterion.forbidden_terms)
    only = _CUTOFF.search(criterion.positive) or len(criterion.terms) < 4
    if not barred or not only or criterion.quantities:
        return None
    if sum(bool(one.quantities) for one in report.segments) < _LEAST_CONTENT:
        return Finding(False, "资料" if is_chinese(criterion.text) else "content")
    given = set(key_terms(question))
    weights = {term: 0.4 if term in given else 1.0 for term in criterion.forbidden_terms}
    later = [one.moment for one in criterion.forbidden_dates if one.moment.month]
    for at, segment in enumerate(report.segments):
        number = any(wanted.matches(one) for wanted in criterion.forbidden_quantities for one in segment.quantities)
        dated = any(wanted.allows(one.moment) for wanted in later for one in segment.dates)
        share = context_share(report, [at], weights)
        if (number or dated or share >= 0.85) and share >= 0.35 and not HEDGES.search(segment.text):
            return Finding(False, segment.text[:20])
    return Finding(True, "截止日" if is_chinese(criterion.text) else "cutoff kept")


def negation_check(criterion: Criterion, report: Features, places: Sequence[int]) -> bool:
    """Whether a denial in the criterion is met by a denial in one of the places."""
    if not criterion.negated:
        return True
    return any(negates(one.text) for at in places for one in report.segments[at : at + 2])
