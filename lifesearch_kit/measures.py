"""Measures of agreement. One that is undefined is None with the reason in words, never 0, 1 or NaN."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from lifesearch_kit.errors import InputError

FEW_SYSTEMS = 5
# Values closer than this share of the largest one are tied: means of the same numbers in another order differ by less.
_TIE = 1e-9


@dataclass(frozen=True)
class Agreement:
    """One measure over `n` items: its value, or None and the reason why it is undefined."""

    value: float | None
    n: int
    reason: str = ""


@dataclass(frozen=True)
class RankAgreement:
    """Agreement of two orders of systems.

    Attributes
    ----------
    spearman
        Pearson's correlation of mid-ranks.
    kendall
        Kendall's tau-b.
    systems
        Those that both lists hold, which the values are about.
    left_out
        Those that only one list holds or ranks.
    warning
        What to keep in mind, or empty.
    """

    spearman: Agreement
    kendall: Agreement
    systems: tuple[Hashable, ...]
    left_out: tuple[Hashable, ...]
    warning: str


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
        reason = f"both raters gave only {_word(labels[0])}, so chance alone agrees always"
        return Agreement(None, len(first), reason)
    table = np.zeros((len(labels), len(labels)))
    np.add.at(table, (numbers[: len(first)], numbers[len(first) :]), 1)
    return Agreement(float(cohens_kappa(table, return_results=False)), len(first))


def clustered_interval(
    share: float, correct: ArrayLike, decisions: ArrayLike, level: float = 0.95
) -> tuple[float, float]:
    """Wilson interval of a share of right decisions that come in clusters, as a report's rubrics do.

    Decisions of one cluster resemble each other, so fewer of them count: share (1 - share) over the variance of the
    share between clusters (of a ratio, ddof = 1), never more than there are, and fewer again by the ratio of the normal
    to the t quantile, squared, where clusters are few (Korn and Graubard's effective sample size). Where clusters
    cannot show a variance (all decisions right, all wrong, one cluster), each cluster counts as one decision.

    Parameters
    ----------
    share
        The share to enclose (0 to 1).
    correct, decisions
        For each cluster, how many decisions were right, and how many were made. Of several passes: means over passes.

    Returns
    -------
    tuple of float
        Both ends (0 to 1); missing without decisions.
    """
    right, made = np.asarray(correct, dtype=float), np.asarray(decisions, dtype=float)
    right, made = right[made > 0], made[made > 0]
    clusters, total = len(made), made.sum()
    if clusters == 0:
        return float("nan"), float("nan")
    size = min(float(clusters), total)
    pooled = right.sum() / total
    if clusters > 1 and 0 < pooled < 1:
        variance = clusters / (clusters - 1) * np.sum((right - pooled * made) ** 2) / total**2
        size = min(pooled * (1 - pooled) / variance, total) if variance > 0 else total
        size *= (stats.norm.ppf((1 + level) / 2) / stats.t.ppf((1 + level) / 2, clusters - 1)) ** 2
    low, high = proportion_confint(share * size, size, alpha=1 - level, method="wilson")
    return min(float(low), share), max(float(high), share)


def mean_defined(measures: Iterable[Agreement]) -> Agreement:
    """Mean of the defined values; `n` counts them and the reason says how many were left out as undefined."""
    every = list(measures)
    values = [one.value for one in every if one.value is not None]
    left_out = len(every) - len(values)
    reason = f"{left_out} of {len(every)} undefined and left out" if left_out else ""
    if not values:
        return Agreement(None, 0, reason or "there is nothing to average")
    return Agreement(float(np.mean(values)), len(values), reason)


def rank_agreement(
    x: Mapping[str, float] | pd.Series,
    y: Mapping[str, float] | pd.Series,
    *,
    x_best: Literal["highest", "lowest"] = "highest",
    y_best: Literal["highest", "lowest"] = "highest",
) -> RankAgreement:
    """Compare two rankings of systems; +1 means the same order from best to worst.

    Parameters
    ----------
    x, y
        A value for each system; values that differ by rounding errors only are tied. Systems that only one list holds,
        or that have a missing value, are left out and named.
    x_best, y_best
        Which end is the best: ``lowest`` for ranks with 1 as the best, ``highest`` for scores.

    Raises
    ------
    InputError
        When a system has several values in one list, or an end is not known.
    """
    for name, best in (("x_best", x_best), ("y_best", y_best)):
        if best not in ("highest", "lowest"):
            raise InputError(f"{name}={best!r} is not known; choose 'highest' or 'lowest'")
    values = {"x": pd.Series(x, dtype=float), "y": pd.Series(y, dtype=float)}
    for name, one in values.items():
        if one.index.has_duplicates:
            twice = ", ".join(map(repr, one.index[one.index.duplicated()].unique()))
            raise InputError(f"{name}: {twice} has several values; give each system one")
    table = pd.DataFrame(values)
    both = table.dropna()
    a = _places(both["x"].to_numpy()) * (-1 if x_best == "lowest" else 1)
    b = _places(both["y"].to_numpy()) * (-1 if y_best == "lowest" else 1)
    n = len(both)
    reason = ""
    if n < 2:
        reason = f"{n} system{'s' if n != 1 else ''} in both lists: an order needs two"
    elif len(set(a)) == 1 or len(set(b)) == 1:
        reason = "one list ties all systems, so it has no order"
    measures = [
        Agreement(None, n, reason) if reason else Agreement(float(function(a, b).statistic), n)
        for function in (stats.spearmanr, stats.kendalltau)
    ]
    few = f"with {n} of at least {FEW_SYSTEMS} systems the value says little, as few orders are possible"
    left_out = tuple(table.index.difference(both.index, sort=False))
    return RankAgreement(measures[0], measures[1], tuple(both.index), left_out, few if n < FEW_SYSTEMS else "")


def _places(values: np.ndarray) -> np.ndarray:
    """Place of each value from the lowest up, 0, 1, 2 …; ties share one."""
    order = np.argsort(values, kind="stable")
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        steps = np.diff(values[order]) > _TIE * largest
    places = np.empty(len(values), dtype=int)
    places[order] = np.append(0, np.cumsum(steps))[: len(values)]
    return places


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.asarray(a, dtype=object), np.asarray(b, dtype=object)
    if len(first) != len(second):
        raise InputError(f"{len(first)} labels against {len(second)}; both raters need one for each item")
    if pd.isna(first).any() or pd.isna(second).any():
        raise InputError("a label is missing; leave unjudged items out and count them")
    return first, second


def _word(label: object) -> str:
    return {True: "Pass", False: "Fail"}[bool(label)] if isinstance(label, (bool, np.bool_)) else repr(label)
