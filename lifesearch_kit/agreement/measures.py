"""Measures of agreement. One that is undefined is None with the reason in words, never 0, 1 or NaN."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from statsmodels.stats.inter_rater import cohens_kappa

from lifesearch_kit.errors import InputError


@dataclass(frozen=True)
class Agreement:
    """One measure over `n` items: its value, or None and the reason why it is undefined."""

    value: float | None
    n: int
    reason: str = ""


def accuracy(reference: ArrayLike, other: ArrayLike) -> Agreement:
    """Share of items with the same label (0 to 1); undefined without items. Raises InputError as `cohen_kappa`."""
    a, b = _pair(reference, other)
    return Agreement(float(np.mean(a == b)), len(a)) if len(a) else Agreement(None, 0, "there are no items")


def cohen_kappa(a: ArrayLike, b: ArrayLike) -> Agreement:
    """Cohen's unweighted kappa of two raters' labels on the same items.

    Returns
    -------
    Agreement
        Undefined without items, and where both raters gave one and the same label throughout: chance alone would then
        agree always.

    Raises
    ------
    InputError
        When the lengths differ or a label is missing.
    """
    first, second = _pair(a, b)
    # Numbered together, so that labels which are equal but of different types (True and 1) are one label.
    numbers, labels = pd.factorize(np.append(first, second))
    if len(first) == 0:
        return Agreement(None, 0, "there are no items")
    if len(labels) == 1:
        reason = f"both raters gave only {label_word(labels[0])}, so chance alone agrees always"
        return Agreement(None, len(first), reason)
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, (numbers[: len(first)], numbers[len(first) :]), 1)
    return Agreement(float(cohens_kappa(table, return_results=False)), len(first))


def mean_defined(measures: Iterable[Agreement]) -> Agreement:
    """Mean of the defined values; `n` counts them and the reason says how many were left out as undefined."""
    every = list(measures)
    values = [one.value for one in every if one.value is not None]
    left_out = len(every) - len(values)
    reason = f"{left_out} of {len(every)} undefined and left out" if left_out else ""
    if not values:
        return Agreement(None, 0, reason or "there is nothing to average")
    return Agreement(float(np.mean(values)), len(values), reason)


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
    if len(first) != len(second):
        raise InputError(f"{len(first)} labels against {len(second)}; both raters need one for each item")
    if pd.isna(first).any() or pd.isna(second).any():
        raise InputError("a label is missing; leave unjudged items out and count them")
    return first, second


def label_word(label: object) -> str:
    """Pass or Fail for a verdict, any other label as it is written."""
    return {True: "Pass", False: "Fail"}[bool(label)] if isinstance(label, (bool, np.bool_)) else repr(label)
