"""What is dated after a task's cutoff is dropped or marked; off unless asked for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any, Literal, NamedTuple

from lifesearch_kit.dates import Moment, date_mentions
from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.terms import normalise_width
from lifesearch_kit.tools.shown import ShownHit, ShownResults, counted, note, page_head, read_results, with_head_line
from lifesearch_kit.tools.snapshots import CapturedTool
from lifesearch_kit.tools.tool import Tool

GuardMode = Literal["drop", "mark"]
Place = Literal["late", "in time", "undated"]
_MODES = ("drop", "mark")
_DATE_LINE = re.compile(r"^(?:Published|Published Time|Date):[ \t]*(\S.*)$", re.M)
_HOURS = {
    "second": 0, "sec": 0, "minute": 0, "min": 0, "hour": 1, "hr": 1, "day": 24,
    "week": 168, "month": 720, "year": 8760,
    "秒": 0, "秒钟": 0, "分": 0, "分钟": 0, "小时": 1, "天": 24, "日": 24,
    "周": 168, "星期": 168, "月": 720, "年": 8760,
}  # fmt: skip
_NUMBERS = (
    {"a": 1, "an": 1, "one": 1} | {sign: at for at, sign in enumerate("一二三四五六七八九十", start=1)} | {"两": 2}
)
_WORDS = {"today": 0, "just now": 0, "今天": 0, "刚刚": 0, "yesterday": 1, "昨天": 1, "前天": 2}
_ENGLISH = re.compile(r"\b(\d{1,4}|an?|one)\s+(second|sec|minute|min|hour|hr|day|week|month|year)s?\.?\s+ago\b", re.I)
_CHINESE = re.compile(
    r"(\d{1,4}|[一二两三四五六七八九十])\s*(秒钟?|分钟?|个?小时|天|日|个?星期|周|个?月|年)\s*(?:以?前|之前)"
)


class Span(NamedTuple):
    """The first and the last day that a date may mean."""

    first: date
    last: date


def read_span(text: str, told_on: date) -> Span | None:
    """The days that a shown date may mean, None where it is no date.

    Parameters
    ----------
    text
        Such as "2026-03-05", "Mar 5, 2026", "2026年3月5日", "March 2026", "3 days ago", "3天前", "Mar 5".
    told_on
        The day on which it was shown. Relative dates count back from it, and a date without a year is the last one
        before it.
    """
    mentions = [one.moment for one in date_mentions(text)]
    moment = max(mentions, key=lambda one: (bool(one.year), bool(one.day), bool(one.month)), default=None)
    if moment is None or not moment.year:
        ago = _ago(normalise_width(text), told_on)
        if ago or moment is None:
            return ago
        span = _span(replace(moment, year=told_on.year))
        return span if span and span.first <= told_on else _span(replace(moment, year=told_on.year - 1))
    return _span(moment)


def _span(moment: Moment) -> Span | None:
    month = moment.month or (moment.quarter * 3 - 2 if moment.quarter else 1)
    try:
        first = date(moment.year, month, moment.day or 1)
    except ValueError:
        return None
    last = moment.last_day()
    return Span(first, last) if last else None


def _ago(text: str, told_on: date) -> Span | None:
    word = _WORDS.get(text.strip().casefold())
    if word is not None:
        return Span(told_on - timedelta(word), told_on - timedelta(word))
    match = _ENGLISH.search(text) or _CHINESE.search(text)
    if not match:
        return None
    count, hours = _NUMBERS.get(match[1].casefold()) or int(match[1]), _HOURS[match[2].casefold().removeprefix("个")]
    if hours > 24:
        # Two weeks ago is anything from two weeks to three.
        return _back(told_on, (count + 1) * hours // 24, count * hours // 24)
    # Hours may reach into the day before.
    return _back(told_on, -(-count * hours // 24), count * hours // 24)


def _back(told_on: date, most: int, least: int) -> Span | None:
    try:
        return Span(told_on - timedelta(most), told_on - timedelta(least))
    except OverflowError:
        return None


def as_of_guard(
    tool: Tool, cutoff: date | None, mode: GuardMode = "drop", *, counts: Counter[str] | None = None
) -> Tool:
    """A search or fetch tool for one task's run that shows nothing from after the cutoff, or says so of it.

    Late is what is dated after the cutoff for certain. What shows no date, or one so vague that it may be on either
    side, counts as undated and is kept. Relative dates count from the day of capture where snapshots stand behind the
    tool, and from today elsewhere. The cutoff and the mode are part of the backend.

    Parameters
    ----------
    tool
        With its snapshots and its blocklist, so that both serve every cutoff.
    cutoff
        The task's; None changes nothing.
    mode
        "drop" leaves late results out and refuses late pages; "mark" keeps them with a remark.
    counts
        Receives how many results and pages were "late", "in time" and "undated".

    Raises
    ------
    InputError
        For another mode.
    """
    if mode not in _MODES:
        raise InputError(f"as-of mode {mode!r} is not known; choose from {', '.join(_MODES)}")
    if cutoff is None:
        return tool
    last_day: date = cutoff
    tally: Counter[str] = Counter() if counts is None else counts

    async def call(**arguments: Any) -> str:
        text = await tool.call(**arguments)
        told_on = _told_on(tool, arguments)

        def place(shown: str | None) -> Place:
            found = _place(shown, told_on, last_day)
            tally[found] += 1
            return found

        results = read_results(text)
        if results is not None:
            return _guarded_results(text, results, last_day, mode, place)
        return _guarded_page(text, last_day, mode, place) if page_head(text) else text

    return replace(tool, call=call, backend=f"{tool.backend}, as of {cutoff.isoformat()} ({mode})")


def _told_on(tool: Tool, arguments: dict[str, Any]) -> date:
    captured = tool.captured(**arguments) if isinstance(tool, CapturedTool) else None
    return (captured or datetime.now(UTC)).date()


def _place(shown: str | None, told_on: date, cutoff: date) -> Place:
    span = read_span(shown, told_on) if shown else None
    if span is None or span.first <= cutoff < span.last:
        return "undated"
    return "late" if span.first > cutoff else "in time"


def _guarded_results(
    text: str, results: ShownResults, cutoff: date, mode: GuardMode, place: Callable[[str | None], Place]
) -> str:
    places = [place(hit.date) for hit in results.hits]
    boxes = [place(None) for part in results.above if part.startswith("Answer box:")]
    late, undated = places.count("late"), places.count("undated") + len(boxes)
    if not late and not undated:
        return text
    pairs = zip(results.hits, places, strict=True)
    if mode == "drop":
        hits = [hit for hit, at in pairs if at != "late"]
    else:
        hits = [_marked(hit, cutoff) if at == "late" else hit for hit, at in pairs]
    done = "left out" if mode == "drop" else "marked"
    told = [f"{counted(late, 'result', 'results')} dated after {cutoff} {done}"] if late else []
    told += [f"{counted(undated, 'result', 'results')} with no date that tells"] if undated else []
    return replace(results, hits=tuple(hits)).show(note(told))


def _marked(hit: ShownHit, cutoff: date) -> ShownHit:
    return ShownHit(re.sub(r"^Date: .*", rf"\g<0> (after {cutoff})", hit.text, count=1, flags=re.M))


def _guarded_page(text: str, cutoff: date, mode: GuardMode, place: Callable[[str | None], Place]) -> str:
    shown = _DATE_LINE.search(page_head(text))
    found = place(shown[1] if shown else None)
    if found == "in time":
        return text
    if found == "undated":
        return with_head_line(text, f"Note: no date shows whether this page is from after {cutoff}")
    told = f"is dated {shown[1] if shown else ''}, after {cutoff}"
    if mode == "drop":
        raise ToolError(f"the page {told}, the last day that this task allows; use another source")
    return with_head_line(text, f"Note: this page {told}, the last day that the task allows")
