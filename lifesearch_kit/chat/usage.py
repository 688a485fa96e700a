"""What a call took, as far as the endpoint says: an unknown count is None, never 0."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from lifesearch_kit.settings import ModelSettings

Number = TypeVar("Number", int, float)
# Vendors' spellings of the same counts; a dot leads into a nested object.
_SPELLINGS = {
    "input": ("prompt_tokens", "input_tokens"),
    "output": ("completion_tokens", "output_tokens"),
    "cached": (
        "prompt_tokens_details.cached_tokens",
        "input_tokens_details.cached_tokens",
        "prompt_cache_hit_tokens",
        "cache_read_input_tokens",
        "cached_tokens",
    ),
    "reasoning": (
        "completion_tokens_details.reasoning_tokens",
        "output_tokens_details.reasoning_tokens",
        "reasoning_tokens",
    ),
    "total": ("total_tokens",),
}


@dataclass(frozen=True)
class Usage:
    """Token counts of one call; None where the endpoint does not say. `notes` name what looks wrong.

    `estimated`: the endpoint reported none, and they were counted here. `least_output`: where the output is unknown,
    what the total leaves for it.
    """

    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    notes: tuple[str, ...] = ()
    estimated: bool = False
    least_output: int | None = None


def read_usage(raw: Any) -> Usage:
    """Read the usage object of a reply, in any of the common spellings.

    Output tokens are everything generated, reasoning included. Where the total shows that reasoning was left out, the
    output is its sum with the reasoning if that is known, and otherwise unknown.
    """
    if not isinstance(raw, dict):
        return Usage(notes=("the endpoint reports no usage",))
    notes: list[str] = []
    found = [count for value in raw.values() if (count := _whole_number(value)) is not None]
    if found and not any(found):
        return Usage(notes=("the endpoint reports no usage but zeros",))
    counts = {what: _count(raw, names, notes) for what, names in _SPELLINGS.items()}
    given, output, reasoning, total = (counts[what] for what in ("input", "output", "reasoning", "total"))
    if given is not None and "prompt_tokens" not in raw and "cache_read_input_tokens" in raw:
        # In this spelling what a cache served, or was filled with, is not among the input tokens.
        given += (counts["cached"] or 0) + (_count(raw, ("cache_creation_input_tokens",), notes) or 0)
    elif given is not None and (counts["cached"] or 0) > given:
        notes.append(
            f"suspicious usage: {counts['cached']} cached tokens in {given} input tokens; both are taken as input"
        )
        given += counts["cached"] or 0
    if output is None:
        notes.append("the endpoint reports no output tokens")
    else:
        output = _whole_output(given, output, reasoning, total, notes)
    least = None if output is not None or total is None or given is None else max(total - given, 0)
    return Usage(given, counts["cached"], output, reasoning, tuple(notes), least_output=least)


def _whole_output(
    given: int | None, output: int, reasoning: int | None, total: int | None, notes: list[str]
) -> int | None:
    hidden = total - given - output if total is not None and given is not None else 0
    if hidden > 0 and hidden == reasoning:
        notes.append(f"{hidden} reasoning tokens, counted apart by the endpoint, were added to the output tokens")
        return output + hidden
    if hidden > 0:
        notes.append(
            f"suspicious usage: total_tokens {total} exceeds input {given} + output {output}, so {hidden} tokens, "
            "probably of reasoning, are hidden; output tokens are taken as unknown"
        )
        return None
    if reasoning is not None and reasoning > output:
        notes.append(f"suspicious usage: {reasoning} reasoning tokens in {output} output tokens; taken as unknown")
        return None
    if hidden < 0:
        notes.append(f"suspicious usage: total_tokens {total} is less than input {given} + output {output}")
    return output


def _count(raw: dict[str, Any], names: tuple[str, ...], notes: list[str]) -> int | None:
    for name in names:
        value: Any = raw
        for key in name.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        if value is None:
            continue
        count = _whole_number(value)
        if count is not None:
            return count
        notes.append(f"usage field {name} holds {value!r:.40}, which is no count")
    return None


def _whole_number(value: Any) -> int | None:
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,15}\s*", value):
        return int(value)
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def total(counts: Sequence[Number | None]) -> Number | None:
    """The sum over several calls, or None where one is unknown."""
    known = [count for count in counts if count is not None]
    return sum(known[1:], start=known[0]) if known and len(known) == len(counts) else None


def cost(usage: Usage, settings: ModelSettings) -> float | None:
    """Price of one call in the profile's currency; None where a price or a count is unknown.

    Without a price for cached input, or where the endpoint does not say how much was cached, all input is charged
    alike: an upper bound where a vendor gives a discount.
    """
    if settings.input_price is None or settings.output_price is None:
        return None
    if usage.input_tokens is None or usage.output_tokens is None:
        return None
    cached = min(usage.cached_tokens or 0, usage.input_tokens)
    cached_price = settings.input_price if settings.cached_input_price is None else settings.cached_input_price
    given = (usage.input_tokens - cached) * settings.input_price + cached * cached_price
    return (given + usage.output_tokens * settings.output_price) / 1_000_000
