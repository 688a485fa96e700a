"""What a collection did and may cost, counted as it goes."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.settings import ModelSettings


@dataclass
class Summary:
    """What a collection did. `failed` counts units lost to infrastructure by cause: they stay to be run.

    `unjudged` counts judgments without a verdict by status and system. `cost` is None where no prices are given.
    `stopped` says why not all was tried, `set_aside` counts interrupted runs that are none of those planned: their
    steps are kept, as nobody here can tell whether their settings come back.
    """

    what: str
    planned: int = 0
    skipped: int = 0
    done: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    unjudged: dict[str, Counter[str]] = field(default_factory=dict)
    input_tokens: int = 0
    output_tokens: int = 0
    unknown_usage: int = 0
    cost: float | None = None
    without_cost: int = 0
    seconds: float = 0.0
    stopped: str = ""
    set_aside: int = 0

    def add(self, record: Report | Judgment) -> None:
        """Count one stored result."""
        self.count(record.input_tokens, record.output_tokens, record.cost)
        if isinstance(record, Judgment) and record.satisfied is None:
            self.unjudged.setdefault(record.status, Counter())[record.system] += 1

    def count(self, input_tokens: int | None, output_tokens: int | None, cost: float | None) -> None:
        """Count one unit as done, with what it took as far as that is known."""
        self.done += 1
        self.unknown_usage += output_tokens is None
        self.input_tokens += input_tokens or 0
        self.output_tokens += output_tokens or 0
        self.without_cost += cost is None
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost

    def add_failed(self, cause: str, cost: float) -> None:
        """Count a unit that was lost, and what was paid for it."""
        self.failed[cause] += 1
        if cost:
            self.cost = (self.cost or 0.0) + cost

    def __str__(self) -> str:
        parts = [f"{self.what}: {self.planned} planned, {self.skipped} there already, {self.done} done"]
        parts += [unjudged_words(status, systems) for status, systems in sorted(self.unjudged.items())]
        parts += [f"{count} failed ({cause}), to be run again" for cause, count in sorted(self.failed.items())]
        if self.stopped:
            parts.append(f"{self.stopped}, {self.planned - self.skipped - self.done - self.failed.total()} left")
        if self.set_aside:
            runs = "run" if self.set_aside == 1 else "runs"
            kept = "kept in unfinished/ (delete what is not to go on)"
            parts.append(f"{self.set_aside} interrupted {runs} of other settings, tasks or dates {kept}")
        tokens = f"{self.input_tokens:,} input and {self.output_tokens:,} output tokens"
        parts.append(tokens + (f" (unknown for {self.unknown_usage})" if self.unknown_usage else ""))
        parts.append("no prices given" if self.cost is None else f"cost {_money(self.cost)}{self._unpriced()}")
        parts.append(f"{self.seconds:,.1f} s")
        return "; ".join(parts)

    def _unpriced(self) -> str:
        return f" (unknown for {self.without_cost})" if self.without_cost else ""


def _money(amount: float) -> str:
    """Two decimals, or for less than 1 two digits."""
    return f"{amount:,.2f}" if amount >= 1 or amount == 0 else f"{amount:.2g}"


def unjudged_words(status: str, systems: Mapping[str, int]) -> str:
    """Say how many judgments are without a verdict for one cause, and of which systems' reports."""
    named = ", ".join(f"{system} {count:,}" for system, count in sorted(systems.items(), key=lambda one: -one[1]))
    return f"{sum(systems.values()):,} unjudged ({status}: {named})"


class Budget:
    """The most that calls may cost, in the currency of the settings' prices; one budget can span several collections.

    A unit of work goes out only while what was spent, and for each unit under way as much as the dearest one took,
    leave room for another such; until the first has ended, alone. So the limit is passed only by what a unit costs
    beyond the dearest before it. Where the first unit's cost cannot be told, none follows.

    Parameters
    ----------
    limit
        None sets no limit.

    Raises
    ------
    InputError
        When the limit is below 0.
    """

    def __init__(self, limit: float | None = None) -> None:
        if limit is not None and not limit >= 0:
            raise InputError(f"budget {limit} is no limit; give 0 or more")
        self.limit = limit
        self.spent = 0.0
        self._dearest: float | None = None
        self._unknown = False
        self._under_way = 0
        self._changed = asyncio.Event()

    def __str__(self) -> str:
        if self.limit is None:
            return "no budget"
        unknown = ", and what a call costs is unknown, as its endpoint reports no usable usage" if self._unknown else ""
        return f"budget {_money(self.limit)}, spent {_money(self.spent)}{unknown}"

    def require_prices(self, settings: Iterable[ModelSettings]) -> None:
        """Raise InputError naming each configuration whose cost could not be told from its prices."""
        if self.limit is None:
            return
        faults = [
            f"configuration {one.name!r} has no prices, so the budget of {self.limit:,.2f} cannot be kept; "
            "set input_price and output_price"
            for one in settings
            if not one.runs_here and (one.input_price is None or one.output_price is None)
        ]
        if faults:
            raise InputError(faults)

    async def admit(self) -> bool:
        """Wait until another unit may go out; False when none may any more."""
        while not self._has_room():
            if not self._under_way:
                return False
            self._changed.clear()
            await self._changed.wait()
        self._under_way += 1
        return True

    def settle(self, cost: float | None, *, failed: bool = False) -> None:
        """Say what a unit that was let out took; None where that is unknown, which counts as the dearest so far.

        What one that `failed` took says little of what another may take.
        """
        self._under_way -= 1
        if failed and cost is not None:
            self.spent += cost
            self._dearest = max(cost, self._dearest or 0.0) if cost else self._dearest
            self._changed.set()
            return
        self.spent += (self._dearest or 0.0) if cost is None else cost
        if cost is not None:
            self._dearest = max(cost, self._dearest or 0.0)
        self._unknown = self._unknown or (cost is None and self._dearest is None)
        self._changed.set()

    def _has_room(self) -> bool:
        if self.limit is None:
            return True
        if self._dearest is None:
            return not self._under_way and self.limit > 0 and not self._unknown
        return self.spent + (self._under_way + 1) * self._dearest <= self.limit
