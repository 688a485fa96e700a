"""How the baseline judge decides one criterion from question, report and criterion alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from lifesearch_kit.offline import checks, form_checks
from lifesearch_kit.offline.criteria import Criterion, read_criterion
from lifesearch_kit.offline.features import Features, features
from lifesearch_kit.offline.findings import Finding
from lifesearch_kit.offline.general import ZH_SHARE, general_score, topics
from lifesearch_kit.offline.passages import best_windows, context_share, quantity_places
from lifesearch_kit.offline.quantities import Quantity, quantities
from lifesearch_kit.terms import is_chinese, key_terms

_OR = re.compile(r"\bor\b|或|/", re.IGNORECASE)
_NEXT_TO = 30
_ZH_EASE = 0.85


@dataclass(frozen=True)
class Configuration:
    """How strict a baseline judge is; every share is of weighted terms, 0 to 1.

    `topic_share`: terms that one passage must hold where the criterion names no number. `context_share`: the same near
    a number that was found. `general_share`: terms that the whole report must hold for a criterion without a definite
    statement. `checks_facts` False leaves only term overlap.
    """

    topic_share: float
    context_share: float
    name_share: float
    general_share: float
    checks_facts: bool = True


@dataclass(frozen=True)
class Decision:
    """The verdict with what decided it."""

    satisfied: bool
    found: tuple[str, ...]
    missing: tuple[str, ...]


def decide(question: str, report: str, criterion: str, configuration: Configuration) -> Decision:
    """Decide one criterion from the texts alone."""
    if not report.strip():
        return Decision(False, (), ("report",))
    wanted, seen = read_criterion(criterion), features(report)
    weights = _weights(wanted, question)
    if not configuration.checks_facts:
        return _by_terms(wanted, seen, configuration.topic_share)
    if wanted.is_general and not wanted.quantities:
        return _general(wanted, seen, weights, configuration)
    return _specific(wanted, seen, weights, configuration, question)


@lru_cache(maxsize=512)
def _question_terms(question: str) -> frozenset[str]:
    return frozenset(key_terms(question))


def _weights(criterion: Criterion, question: str) -> dict[str, float]:
    """Weigh the criterion's terms: one that the question already names says little, any report on the subject has it.

    Numbers are checked by themselves, and a Chinese pair between two terms of the question joins two words by chance.
    """
    common, terms = _question_terms(question), criterion.terms
    weights: dict[str, float] = {}
    for at, term in enumerate(terms):
        joins = 0 < at < len(terms) - 1 and term not in common and terms[at - 1] in common and terms[at + 1] in common
        if term[0].isdigit() or term in _WORDING or (joins and not term.isascii()):
            continue
        weights[term] = 0.4 if term in common else 1.0
    return weights


_WORDING = frozenset(
    key_terms(
        "state states give gives mention name names list explain describe report compare identify "
        "note point out provide present "
        "include cover say make clear specify response answer least accepted whether using used about approximately "
        "link links cite cites source sources url "
        "作出 写明 提到 提及 解释 介绍 比较 对比 描述 分析 得出 采信 包含 覆盖 写作 注明 标明 结合 约为 大约"
    )
)


def _by_terms(criterion: Criterion, report: Features, share: float) -> Decision:
    """Only whether the criterion's terms occur anywhere in the report."""
    held = tuple(term for term in criterion.terms if term in report.where)
    missing = tuple(term for term in criterion.terms if term not in report.where)
    reached = len(held) / max(1, len(criterion.terms)) / (ZH_SHARE if is_chinese(criterion.text) else 1.0)
    return Decision(reached >= share, held[-4:], missing[:4])


def _terms_said(
    report: Features, weights: dict[str, float], windows: list[tuple[float, int]]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    near = report.near[windows[0][1]] if windows else frozenset()
    ordered = sorted(weights, key=lambda term: -weights[term])
    return tuple(term for term in ordered if term in near)[:4], tuple(term for term in ordered if term not in near)[:4]


def _general(
    criterion: Criterion, report: Features, weights: dict[str, float], configuration: Configuration
) -> Decision:
    weights = topics(criterion, weights)
    windows = best_windows(report, weights)
    score = general_score(criterion, report, weights, windows[0][0] if windows else 0.0)
    return Decision(score >= configuration.general_share, *_terms_said(report, weights, windows))


def _share(criterion: Criterion, configuration: Configuration, is_definite: bool) -> float:
    """The share of terms that one passage must hold.

    It is less where other facts decide, where any of several things will do, and in Chinese, whose bigrams across word
    borders change with the wording.
    """
    easier = 1.0
    if checks.asks_source(criterion):
        easier = 0.75
    elif criterion.alternatives:
        easier = 0.85
    easier = min(easier, 0.6) if is_definite else easier
    return configuration.topic_share * easier * (_ZH_EASE if is_chinese(criterion.positive) else 1.0)


def _specific(
    criterion: Criterion, report: Features, weights: dict[str, float], configuration: Configuration, question: str
) -> Decision:
    cutoff = checks.cutoff_check(criterion, report, question)
    if cutoff:
        return Decision(cutoff.holds, _held([cutoff]), _missed([cutoff]))
    size = form_checks.length_check(criterion, report)
    shapes = (size, form_checks.table_check(criterion, report), form_checks.form_check(criterion, report))
    form = [one for one in shapes if one]
    windows = best_windows(report, weights, _question_terms(question))
    places = [at for _, at in windows]
    findings = list(form)
    if size is None:
        findings += _number_findings(criterion, report, weights, configuration, question)
        extra = (
            checks.citation_check(criterion, report, places),
            checks.forbidden_check(criterion, report, weights),
            checks.date_check(criterion, report, question),
            checks.closing_check(criterion, report),
        )
        share = _share(criterion, configuration, any(one.holds for one in findings))
        findings += [one for one in extra if one] + _name_findings(criterion, report, configuration)
        reached = windows[0][0] if windows else float(not weights)
        if reached < share or not checks.negation_check(criterion, report, places):
            return Decision(False, _held(findings), (*_missed(findings), *_terms_said(report, weights, windows)[1])[:4])
    held, missed = _held(findings), _missed(findings)
    return Decision(not missed, held or _terms_said(report, weights, windows)[0], missed)


def _held(findings: list[Finding]) -> tuple[str, ...]:
    return tuple(one.said for one in findings if one.holds and one.said)


def _missed(findings: list[Finding]) -> tuple[str, ...]:
    return tuple(one.said for one in findings if not one.holds)


def _number_findings(
    criterion: Criterion, report: Features, weights: dict[str, float], configuration: Configuration, question: str
) -> list[Finding]:
    findings: list[Finding] = []
    given = quantities(question)
    last_end = None
    near = configuration.context_share * (_ZH_EASE if is_chinese(criterion.positive) else 1.0)
    for quantity in criterion.quantities:
        if any(quantity.matches(one) and one.matches(quantity) for one in given):
            continue
        at = quantity_places(report, quantity)
        local = _local_weights(criterion, quantity, weights)
        held = bool(at) and max(context_share(report, at, local), context_share(report, at, weights)) >= near
        between = criterion.positive[last_end : quantity.start] if last_end is not None else ""
        if findings and len(between) < _NEXT_TO and _OR.search(between):
            held = held or findings.pop().holds
        findings.append(Finding(held, quantity.written))
        last_end = quantity.end
    if criterion.needed and len(findings) > criterion.needed:
        count = sum(one.holds for one in findings)
        return [Finding(count >= criterion.needed, f"{count}/{criterion.needed}")]
    return findings


def _local_weights(criterion: Criterion, quantity: Quantity, weights: dict[str, float]) -> dict[str, float]:
    """The terms of the clause in which the number stands; all terms where the clause has none."""
    text = criterion.positive
    at = text.find(quantity.written.strip(" ("))
    if at < 0:
        return weights
    start = max((text.rfind(mark, 0, at) for mark in "，；;：:（("), default=-1) + 1
    ends = [end for end in (text.find(mark, at) for mark in "，；;。") if end >= 0]
    own = {term: weights[term] for term in key_terms(text[start : min(ends, default=len(text))]) if term in weights}
    return own if len(own) >= 3 else weights


def _in_host(name: str, hosts: str) -> bool:
    """Whether the addresses of a report name a publisher by most of its words (transport.selwick.example)."""
    terms = key_terms(name)
    return len(terms) > 1 and sum(term in hosts for term in terms) > len(terms) / 2


def _name_findings(criterion: Criterion, report: Features, configuration: Configuration) -> list[Finding]:
    if not criterion.names:
        return []
    folded = report.text.casefold()
    hosts = " ".join(report.urls).casefold() if checks.asks_source(criterion) else ""
    missing = [name for name in criterion.names if name.casefold() not in folded and not _in_host(name, hosts)]
    share = 1 - len(missing) / len(criterion.names)
    if criterion.needed:
        return [Finding(len(criterion.names) - len(missing) >= min(criterion.needed, len(criterion.names)), "names")]
    return [Finding(share >= configuration.name_share, missing[0] if missing else criterion.names[0])]
