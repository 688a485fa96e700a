"""Temporal scope: sentences that report what is dated after a cutoff, or that admit to later data."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable
from datetime import date

from lifesearch_kit.dates import Moment, date_mentions
from lifesearch_kit.failures.date_clauses import reports_of
from lifesearch_kit.failures.date_context import dates_in_context
from lifesearch_kit.failures.evidence import passages
from lifesearch_kit.terms import URL
from lifesearch_kit.text import Span

_ABOUT_CUTOFF = re.compile(r"cut-?off|(?:later|newer) than|截止|晚于|之后(?:发布|公布)", re.IGNORECASE)
_WARNS = re.compile(r"\bnot\b|\bnever\b|rather than|instead of|不|而非|避免", re.IGNORECASE)
_LIMIT = r"(?:cut-?off|deadline|as-of date|(?:stated|given|reference|snapshot|specified|requested) date|date you \w+)"
_LIMIT_ZH = r"(?:截止(?:日期?|时间|点)|截至日期?|(?:给定|规定|指定|要求|设定)的?(?:日期|时点|时间点?)|所[问给]的?日期)"
_BEYOND = re.compile(
    r"\b(?:after|later than|newer than|more recent than|beyond|past|post-?dat\w+"
    rf"|exceed\w*)\s+(?:\w+\s+){{0,2}}{_LIMIT}\b"
    rf"|{_LIMIT_ZH}(?:之后|以后|后)|(?:晚于|迟于|超出|超过|早已过)[^，。；\n]{{0,10}}{_LIMIT_ZH}",
    re.IGNORECASE,
)
_NOW_INSTEAD = re.compile(
    rf"\b(?:today|current|live|latest|present|now|real-?time|most recent)\w*\b[^.!?\n]{{0,80}}\b(?:not|rather than"
    rf"|instead of"
    rf"|unlike)\b[^.!?\n]{{0,40}}\b{_LIMIT}\b"
    rf"|(?:今[天日]|当前|目前|实时|最新|现在)[^。！？\n]{{0,30}}(?:而不是|而非|不是"
    rf"|并非)[^。！？\n]{{0,10}}{_LIMIT_ZH}",
    re.IGNORECASE,
)
_USED = re.compile(
    r"\b(?:rel(?:y|ies|ied)|us(?:e|es|ed|ing)|includ\w+|incorporat\w+|dr(?:aws?|awn|ew)|based|reflects?|captured"
    r"|consulted|retrieved"
    r"|read|observed|taken|comes?|came|contains?|cites?|cited|released|published)\b"
    r"|\b(?:figures?|numbers?|data|facts?|values?|prices?|sources?|entries)\b[^.!?\n]{0,20}\bpost-?dat\w+"
    r"|部分(?:数据|数字|信息|来源)|采用|使用|引用|来自|出自|发布|公布|纳入|依据|基于|包含|取自|参考|读取|获取|查阅",
    re.IGNORECASE,
)
_LEFT_OUT = re.compile(
    r"\b(?:not|none|nothing|never|no (?:data|figure|fact|source|number)s?|without|exclud\w+|ignor\w+|disregard\w+"
    r"|left out|leav\w+ out|omit\w*|avoid\w*"
    r"|discard\w*|set aside|drop(?:ped|s)?|remov\w+|cannot)\b|n['’]t\b"
    r"|[未不没](?:有|予|再|曾)?(?:采用|使用|引用|纳入|包含|参考|含|计入)|排除|剔除|忽略|避免|略去|不应|不得|不能|不作"
    r"|没有(?!更早|更旧|较早|其他|别的)|并未|均无",
    re.IGNORECASE,
)


def is_later(moment: Moment, cutoff: date) -> bool:
    """Whether all days that a date may mean lie after the cutoff."""
    day = moment.first_day()
    return day is not None and day > cutoff


def later_dates(text: str, cutoff: date, asked: Collection[Moment] = ()) -> list[Span]:
    """Find sentences that report something dated after a cutoff.

    Dates in Chinese, English and ISO forms, full-width digits included; a month or quarter alone is of the year that
    its line speaks of, and a year alone counts beside past tense. Forecasts, days from which something holds, dates of
    access and statements that leave later data out do not count. A date inside an address counts only where there is
    no other.

    Parameters
    ----------
    text
        The report.
    cutoff
        The last day whose facts it may use.
    asked
        Later dates that the task itself is about, such as the day of a journey.

    Returns
    -------
    list of Span
        One a sentence, in the text's order.
    """
    addresses = [match.span() for match in URL.finditer(text)]
    in_words: dict[Span, None] = {}
    in_addresses: dict[Span, None] = {}
    spans = [one.span for one in passages(text)]
    starts, opened = [one.start for one in spans], [start for start, _ in addresses]
    holding = {one: spans[bisect_right(starts, one.start) - 1] for one in dates_in_context(text) if one.moment.year}
    last_in_row = {span: mention for mention, span in holding.items() if span.quote.startswith("|")}
    speaks_of_cutoff = {span for span in set(holding.values()) if _BEYOND.search(span.quote)}
    for mention, span in holding.items():
        moment = mention.moment
        if not is_later(moment, cutoff) or any(one.allows(moment) or moment.allows(one) for one in asked):
            continue
        # A table row's last date is its source's: what an older source says of later days is no newer data.
        # A sentence that speaks of the cutoff says itself whether it used what came after: see `admitted_later`.
        if last_in_row.get(span, mention) != mention or span in speaks_of_cutoff:
            continue
        address = bisect_right(opened, mention.start) - 1
        if address >= 0 and mention.start < addresses[address][1]:
            if moment.month:
                in_addresses[span] = None
        elif reports_of(text, span, mention):
            in_words[span] = None
    return list(in_words or in_addresses)


def admitted_later(text: str) -> list[Span]:
    """Find sentences in which a report says itself that it used what came after the cutoff."""
    return [one.span for one in passages(text) if _admits(one.span.quote)]


def _admits(sentence: str) -> bool:
    if _NOW_INSTEAD.search(sentence):
        return True
    clauses = re.split("[;；]", sentence)
    return any(_BEYOND.search(one) and _USED.search(one) and not _LEFT_OUT.search(one) for one in clauses)


def is_about_cutoff(criterion: str, cutoff: date | None) -> bool:
    """Whether a criterion asks to keep to the cutoff: it speaks of one, or warns of a date after it."""
    if cutoff is None:
        return False
    warns = bool(_WARNS.search(criterion)) and any(is_later(one.moment, cutoff) for one in date_mentions(criterion))
    return warns or bool(_ABOUT_CUTOFF.search(criterion))


def asked_dates(criteria: Iterable[str], cutoff: date) -> frozenset[Moment]:
    """Dates after the cutoff that criteria ask for, those about the cutoff aside."""
    wanted = [one for one in criteria if not is_about_cutoff(one, cutoff)]
    moments = (mention.moment for criterion in wanted for mention in date_mentions(criterion))
    return frozenset(moment for moment in moments if is_later(moment, cutoff))
