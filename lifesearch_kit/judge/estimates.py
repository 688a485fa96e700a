"""What judging will take, told before it starts: calls, tokens and cost of a plan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import pandas as pd

from lifesearch_kit.chat.token_counts import estimate_tokens
from lifesearch_kit.errors import InputError
from lifesearch_kit.judge.checks import Check, judge_messages
from lifesearch_kit.settings import JudgeSettings

_COUNTS = ("calls", "not_asked", "input_tokens", "cached_at_best", "output_tokens")
_COSTS = ("cost_without_cache", "cost_at_best")
_MESSAGE_TOKENS = 5  # a chat's marks around a message, such as its role
_BLANK = "\0"


def judging_estimate(
    plan: Iterable[Check],
    output_tokens: int,
    *,
    cache_minimum: int = 1024,
    cache_step: int = 128,
) -> pd.DataFrame:
    """Estimate what a plan's judgments will take, see `lifesearch_kit.chat.token_counts.estimate_tokens` for how well.

    The whole plan is counted: leave out beforehand what is stored already. A call that has to be repeated is not
    foreseen.

    Parameters
    ----------
    plan
        What `lifesearch_kit.collect.plan.plan_checks` gave.
    output_tokens
        Assumed for each judgment, reasoning included: a judge that reasons can write a hundred times its verdict.
    cache_minimum, cache_step
        Tokens: the shortest beginning that a cache keeps, and the steps in which it keeps more. Vendors differ.

    Returns
    -------
    DataFrame
        A row a judge, in the plan's order:

        - judge
        - calls
        - not_asked: judgments without a call, since the report is beyond the judge's `max_report_characters`
        - input_tokens
        - cached_at_best: of them, what a cache can serve where nothing is dropped from it and no call overtakes the
          first one of its report and judge, which pays in full. Later ones find what the report's rubrics share, all
          before the criterion; what the repeats of one rubric share beyond that is not counted.
        - output_tokens
        - cost_without_cache, cost_at_best: in the currency of the settings' prices (cached input at
          `cached_input_price`, or like other input where that is not set); missing where a judge lacks the input or the
          output price. Some vendors ask extra for filling a cache, which is not counted.

    Raises
    ------
    InputError
        Listing each argument outside its range.
    """
    _refuse_wrong(output_tokens, cache_minimum, cache_step)
    counter = _PromptCounter()
    totals: dict[str, _Total] = {}
    for check in plan:
        judge = check.judge
        total = totals.get(judge.name) or totals.setdefault(judge.name, _Total(judge))
        if judge.max_report_characters is not None and len(check.report.text) > judge.max_report_characters:
            total.not_asked += 1
            continue
        shared, own = counter.tokens(check)
        total.calls += 1
        total.input_tokens += shared + own
        report = (check.report.system, check.report.task_id, check.report.run)
        if report not in total.reports:
            total.reports.add(report)
        elif shared >= cache_minimum:
            total.cached_at_best += shared - (shared - cache_minimum) % cache_step
    rows = [total.row(output_tokens) for total in totals.values()]
    types = dict.fromkeys(_COUNTS, "int64") | dict.fromkeys(_COSTS, "float64")
    return pd.DataFrame(rows, columns=["judge", *_COUNTS, *_COSTS]).astype(types)


def in_words(table: pd.DataFrame) -> str:
    """Say in one line what `judging_estimate` gave, with rounded numbers.

    Without a full stop: "3,042 judgments by 3 judges: about 4.9 million input tokens (4.1 million of them from a cache
    at best), 41,000 output tokens; no prices given".
    """
    if table.empty:
        return "nothing to judge"
    calls, not_asked, given, cached, output = (int(table[name].sum()) for name in _COUNTS)
    words = f"{_number(calls, 'judgment')} by {_number(len(table), 'judge')}: about {_rounded(given)} input tokens"
    words += f" ({_rounded(cached)} of them from a cache at best)" if cached else " (none from a cache)"
    words += f", {_rounded(output)} output tokens; {_cost_words(table)}"
    if not_asked:
        words += f"; {not_asked:,} more not asked, the report being too long for the judge"
    return words


@dataclass
class _Total:
    """What one judge's part of a plan adds up to."""

    judge: JudgeSettings
    reports: set[tuple[str, str, int]] = field(default_factory=set)
    calls: int = 0
    not_asked: int = 0
    input_tokens: int = 0
    cached_at_best: int = 0

    def row(self, output_each: int) -> dict[str, object]:
        counts = {name: getattr(self, name) for name in _COUNTS if name != "output_tokens"}
        output = self.calls * output_each
        input_price, output_price = self.judge.input_price, self.judge.output_price
        costs: dict[str, float | None] = dict.fromkeys(_COSTS)
        if input_price is not None and output_price is not None:
            cached_price = self.judge.cached_input_price
            saved = 0.0 if cached_price is None else self.cached_at_best * (input_price - cached_price)
            full = self.input_tokens * input_price + output * output_price
            costs = {name: paid / 1_000_000 for name, paid in zip(_COSTS, (full, full - saved), strict=True)}
        return {"judge": self.judge.name, **counts, "output_tokens": output, **costs}


class _Frame(NamedTuple):
    """Tokens of a prompt without its report and criterion: before the criterion, and after it."""

    before: int
    after: int


class _PromptCounter:
    """Counts each report, each criterion and each frame around them once; a plan names them thousands of times."""

    def __init__(self) -> None:
        self._count = cache(estimate_tokens)
        self._frames: dict[tuple[str, ...], _Frame] = {}

    def tokens(self, check: Check) -> tuple[int, int]:
        """Tokens that a call shares with the others of its report and judge, and those of its own."""
        rubric, judge = check.rubric, check.judge
        attributes = (rubric.type, rubric.necessity, rubric.priority)
        key = (check.task.task_id, judge.prompt_en, judge.prompt_zh, *attributes)
        frame = self._frames.get(key)
        if frame is None:
            frame = self._frames[key] = _frame(check)
        return frame.before + self._count(check.report.text), self._count(rubric.criterion) + frame.after


def _frame(check: Check) -> _Frame:
    # The code in the tags follows from the report; that of another text is as long, and nearly as many tokens.
    report = check.report.model_copy(update={"text": _BLANK})
    rubric = check.rubric.model_copy(update={"criterion": _BLANK})
    rules, asked = (message["content"] for message in judge_messages(check.task, report, rubric, check.judge))
    # The last two are the report and the criterion, even where a question holds the mark.
    question, between, after = asked.rsplit(_BLANK, 2)
    before = sum(map(estimate_tokens, (rules, question, between))) + 2 * _MESSAGE_TOKENS
    return _Frame(before, estimate_tokens(after))


def _refuse_wrong(output_tokens: int, minimum: int, step: int) -> None:
    ranges = {
        f"output_tokens {output_tokens}: give 0 or more": output_tokens >= 0,
        f"cache_minimum {minimum}: give 0 or more": minimum >= 0,
        f"cache_step {step}: give 1 or more": step >= 1,
    }
    faults = [fault for fault, holds in ranges.items() if not holds]
    if faults:
        raise InputError(faults)


def _cost_words(table: pd.DataFrame) -> str:
    priced = table.dropna(subset=list(_COSTS))
    if priced.empty:
        return "no prices given"
    full, best = (_money(priced[name].sum()) for name in _COSTS)
    words = f"cost {full}" + (f", or {best} with a cache at best" if best != full else "")
    return words + (
        f" (no prices for {_number(len(table) - len(priced), 'judge')})" if len(priced) < len(table) else ""
    )


def _number(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _rounded(tokens: int) -> str:
    """Two leading digits: 950, 41,000, 4.9 million."""
    rounded = round(tokens, 2 - len(str(tokens)))
    if rounded < 1_000_000:
        return f"{rounded:,}"
    return f"{rounded / 1_000_000:,.{1 if rounded < 10_000_000 else 0}f} million"


def _money(cost: float) -> str:
    return "less than 0.01" if 0 < cost < 0.005 else f"{cost:,.2f}"
