"""What a collection did, counted as it goes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from lifesearch_kit.records import Judgment, Report


@dataclass
class Summary:
    """What a collection did. `failed` counts units lost to infrastructure by cause: they stay to be run.

    `unjudged` counts judgments without a verdict by status. `cost` is None where no prices are given.
    """

    what: str
    planned: int = 0
    skipped: int = 0
    done: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    unjudged: Counter[str] = field(default_factory=Counter)
    input_tokens: int = 0
    output_tokens: int = 0
    unknown_usage: int = 0
    cost: float | None = None
    without_cost: int = 0
    seconds: float = 0.0

    def add(self, record: Report | Judgment) -> None:
        """Count one stored result."""
        self.done += 1
        if record.output_tokens is None:
            self.unknown_usage += 1
        self.input_tokens += record.input_tokens or 0
        self.output_tokens += record.output_tokens or 0
        if record.cost is None:
            self.without_cost += 1
        else:
            self.cost = (self.cost or 0.0) + record.cost
        if isinstance(record, Judgment) and record.satisfied is None:
            self.unjudged[record.status] += 1

    def __str__(self) -> str:
        parts = [f"{self.what}: {self.planned} planned, {self.skipped} there already, {self.done} done"]
        parts += [f"{count} unjudged ({status})" for status, count in sorted(self.unjudged.items())]
        parts += [f"{count} failed ({cause}), to be run again" for cause, count in sorted(self.failed.items())]
        tokens = f"{self.input_tokens:,} input and {self.output_tokens:,} output tokens"
        parts.append(tokens + (f" (unknown for {self.unknown_usage})" if self.unknown_usage else ""))
        parts.append("no prices given" if self.cost is None else f"cost {self.cost:,.2f}{self._unpriced()}")
        parts.append(f"{self.seconds:,.1f} s")
        return "; ".join(parts)

    def _unpriced(self) -> str:
        return f" (unknown for {self.without_cost})" if self.without_cost else ""
