"""A simple measure of how much a query asks for. It does not know how hard a fact is to find."""

from __future__ import annotations

import re
from typing import Literal, get_args

from lifesearch_kit.building.protected import protected_parts
from lifesearch_kit.terms import key_terms

Difficulty = Literal["easy", "medium", "hard"]
DIFFICULTIES: tuple[Difficulty, ...] = get_args(Difficulty)
_PARTS = re.compile(r"[，,、；;:：。？?！!\n]|(?<!\d)\.(?=\s|\Z)|\band\b|以及|并且|和")
_MEDIUM, _HARD = 5, 9
MEASURE = (
    "Difficulty counts what a query asks for: its parts between commas, 'and' and the like that carry a subject, and "
    f"its words of time, named sources, item counts, lengths and exclusions. Below {_MEDIUM} is easy, from {_HARD} on "
    "hard."
)


def demands(query: str) -> int:
    """How many things a query asks for or prescribes, see MEASURE."""
    return sum(bool(key_terms(part)) for part in _PARTS.split(query)) + len(protected_parts(query))


def difficulty_of(query: str) -> Difficulty:
    """The level of a query, see MEASURE."""
    count = demands(query)
    return "easy" if count < _MEDIUM else "medium" if count < _HARD else "hard"
