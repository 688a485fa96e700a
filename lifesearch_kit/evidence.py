"""Evidence in a report's text: passages, dates after a cutoff, and what of a criterion the text does not hold."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from lifesearch_kit.clarification import Span
from lifesearch_kit.dates import DateMention, Moment, date_mentions
from lifesearch_kit.terms import URL, key_terms, normalise_width

_PASSAGE = re.compile(r"^[ \t]*\|[^\n]*|(?:[^\n.。！？!?；]|\.(?!\s))+[.。！？!?；]*", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?!\w*[-–]\d)", re.ASCII)
_NAME = re.compile(r"[“\"「『《]([^”\"」』》]{2,60})[”\"」』》]|(?<![.!?。]\s)(?<!^)\b([A-Z][\w&-]+(?: [A-Z][\w&-]+)*)")
# A later date is evidence of newer data where the clause reports something of that day: it says as of when, when a
# source came out, or what was so. It is none where the clause looks ahead, says when a page was opened, or leaves the
# later data out.
_CLAUSE_END = re.compile(r"[;；|\n]")
_REPORTING = re.compile(
    r"\b(?:as (?:of|at)|by|up to|through|during|was|were|had|rose|fell|grew|stood|brought|saw|(?!need)[a-z]{3,}ed)\b"
    r"|截至|截止|发布|公布|更新|修订|报道|公告|数据|为|达|增至|降至|升至|增长|下降|完成|超过|已经?",
    re.IGNORECASE,
)
_ALONE = re.compile(r"^\W*(?:[A-Za-z]{3,9}\W+)?$")
_BRACKETED = re.compile(r"[(（][^()（）]{0,40}$")
_SET_ASIDE = re.compile(
    r"\b(?:will|shall|would|expect\w*|forecast\w*|project(?:s|ed|ion\w*)|plan(?:s|ned)?|schedul\w+|target\w*|due"
    r"|deadline|accessed|retrieved|exclud\w+|not (?:used|included|considered)|(?:after|beyond) the cut-?off|until"
    r"|effective|in force|(?:starting|beginning|postponed|delayed) (?:on|from|to|in))\b"
    r"|预计|预期|预测|计划|拟于|目标|将于|将在|将自|有望|访问日期|检索|访问于|不纳入|未纳入|未采用|不采用|排除|截止日之后|到期|期限"
    r"|推迟|延期|延至|起(?:实施|执行|施行|计算|生效|[，,。；]|$)|[自从]20\d\d年[^，。；]{0,8}起",
    re.IGNORECASE,
)
# A date that a scheduled event's word or label announces: "Support ends: …", "报名截止日期：…".
_SCHEDULED = re.compile(
    r"\b(?:(?:ends|expires|closes|opens|starts|begins|launches|resumes|departs|arrives|runs"
    r"|(?<!the )(?:end|expire|close|open|start|begin|resume|run)(?= (?:on|at|from)\b)|valid|next \w+"
    r"|(?:end|expiry|expiration|closing|opening|start|renewal) date|end of (?:support|life|sales?))"
    r"[\s:*_|(]*(?:(?:is|on|at|in|from|by|to|through)\b[\s:*_]*)?"
    r"|(?:open|valid)[\w ]{0,20} (?:from|to|through) )$"
    r"|(?:结束|终止|停止|开始|开放|关闭|启用|开通|举行|举办|活动|有效|截止)(?:日期|时间|日|期)?[\s*_]*[:：][\s*_]*$"
    r"|(?:结束|终止|停止|开始|开放|关闭|启用|开通|举行|举办|活动|有效|截止)(?:日期|时间|日|期)[\s*_]*[为是至到]?\s*$"
    r"|(?:报名|申请|申报|投标|征集|受理|提交|预售)[^，。；]{0,4}截[止至]于?\s*$",
    re.IGNORECASE,
)
_ENDS_THERE = re.compile(r"\s*(?:截止|止(?!损|跌))")
# Numbers and names of a criterion that a report need not hold: the length that it allows, the tolerance of a value, and
# what it is told to leave out.
_NO_DETAIL = re.compile(
    r"(?<![\d,.])\d[\d,]*(?:\s*(?:[-–至到]|to|and)\s*\d[\d,]*)?\s*-?\s*"
    r"(?:(?:words?|characters?|sentences?|paragraphs?|bullet points?)\b|个?字(?!节|段)|[句段])"
    r"|[(（][^()（）]{0,80}(?:accepted|\bwithin\b|\ballowed\b|[均亦]可|误差|合格|容差|允许|上下)[^()（）]{0,80}[)）]"
    r"|(?:\bnot\b|\bleav\w+ out\b|\brather than\b|\binstead of\b|\bexclud\w+"
    r"|不采用|不引用|不把|不应|不得|不使用|而不是|而非)(?:(?!\bbut\b|而是)[^,，。；;()（）])*"
    r"|\bkeep\b[^,;]{0,80}?\bout of\b",
    re.IGNORECASE,
)
_ABOUT_CUTOFF = re.compile(r"cut-?off|(?:later|newer) than|截止|晚于|之后(?:发布|公布)", re.IGNORECASE)
_WARNS = re.compile(r"\bnot\b|\bnever\b|rather than|instead of|不|而非|避免", re.IGNORECASE)

_dates = lru_cache(maxsize=64)(date_mentions)


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


def first_day(moment: Moment) -> date | None:
    """First day that a date may mean; None without a year and a month or quarter, which is too vague to compare."""
    month = moment.month or (3 * moment.quarter - 2 if moment.quarter else 0)
    return date(moment.year, month, moment.day or 1) if moment.year and month else None


def is_later(moment: Moment, cutoff: date) -> bool:
    """Whether all days that a date may mean lie after the cutoff."""
    day = first_day(moment)
    return day is not None and day > cutoff


def later_dates(text: str, cutoff: date, asked: Collection[Moment] = ()) -> list[Span]:
    """Find sentences that report something dated after a cutoff.

    Dates in Chinese, English and ISO forms, full-width digits included, with a month or quarter at least. Forecasts,
    days from which something holds, dates of access and statements that leave later data out do not count. A date
    inside an address counts only where there is no other.

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
    holding = {mention: next(one for one in spans if one.start <= mention.start < one.end) for mention in _dates(text)}
    last_in_row = {span: mention for mention, span in holding.items() if span.quote.startswith("|")}
    for mention, span in holding.items():
        moment = mention.moment
        if not is_later(moment, cutoff) or any(one.allows(moment) or moment.allows(one) for one in asked):
            continue
        # A table row's last date is its source's: what an older source says of later days is no newer data.
        if last_in_row.get(span, mention) != mention:
            continue
        if any(start <= mention.start < end for start, end in addresses):
            in_addresses[span] = None
        elif _reports(text, span, mention):
            in_words[span] = None
    return list(in_words or in_addresses)


def _reports(text: str, span: Span, mention: DateMention) -> bool:
    """Whether the clause of a date reports something of that day."""
    before = _CLAUSE_END.split(text[span.start : mention.start])[-1]
    after = _CLAUSE_END.split(text[mention.end : span.end])[0]
    clause = before + text[mention.start : mention.end] + after
    if _SET_ASIDE.search(clause) or _SCHEDULED.search(before[-60:]) or _ENDS_THERE.match(after):
        return False
    alone = bool(_ALONE.match(before)) and not after.strip(" .。)）*_")
    bracketed = bool(_BRACKETED.search(before)) and after.lstrip().startswith((")", "）"))
    return alone or bracketed or span.quote.startswith("#") or bool(_REPORTING.search(before + " " + after))


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


def absent_details(text: str, criterion: str) -> list[str]:
    """List dates, numbers and names that a criterion asks for and a text does not hold, as the criterion writes them.

    Not asked for are the length that a criterion allows, the tolerance of a value and what it tells to leave out.
    """
    plain, moments, numbers = _stated(text)
    criterion = _blank(criterion, [match.span() for match in _NO_DETAIL.finditer(criterion)])
    dates = date_mentions(criterion)
    absent = [
        criterion[one.start : one.end].strip()
        for one in dates
        if not any(one.moment.allows(moment) for moment in moments)
    ]
    rest = normalise_width(_blank(criterion, [(one.start, one.end) for one in dates]))
    absent += [one for one in _NUMBER.findall(rest) if _plain_number(one) not in numbers]
    names = [quoted or capital for quoted, capital in _NAME.findall(rest)]
    absent += [one for one in names if one.casefold() not in plain]
    return list(dict.fromkeys(absent))


@lru_cache(maxsize=64)
def _stated(text: str) -> tuple[str, frozenset[Moment], frozenset[str]]:
    """A report's casefolded text, dates and numbers; read once for all of its rubrics."""
    plain = normalise_width(text)
    numbers = frozenset(_plain_number(one) for one in _NUMBER.findall(plain))
    return plain.casefold(), frozenset(one.moment for one in _dates(text)), numbers


def _blank(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _plain_number(number: str) -> str:
    whole, _, decimals = number.replace(",", "").partition(".")
    return f"{whole}.{decimals.rstrip('0')}".rstrip(".")
