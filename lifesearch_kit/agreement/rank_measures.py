"""Agreement of two rankings of systems. What is undefined is None with the reason in words, never 0, 1 or NaN."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from scipy import stats

from lifesearch_kit.agreement.measures import Agreement
from lifesearch_kit.errors import InputError

End = Literal["highest", "lowest"]
FEW_SYSTEMS = 5
# Values closer than this share of the largest one are tied: means of the same numbers in another order differ by less.
_TIE = 1e-9


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


def rank_agreement(
    x: Mapping[str, float] | pd.Series,
    y: Mapping[str, float] | pd.Series,
    *,
    x_best: End = "highest",
    y_best: End = "highest",
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
    systems, left_out, a, b = paired_places(x, y, x_best=x_best, y_best=y_best)
    n = len(systems)
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
    return RankAgreement(measures[0], measures[1], systems, left_out, few if n < FEW_SYSTEMS else "")


def paired_places(
    x: Mapping[str, float] | pd.Series, y: Mapping[str, float] | pd.Series, *, x_best: End, y_best: End
) -> tuple[tuple[Hashable, ...], tuple[Hashable, ...], np.ndarray, np.ndarray]:
    """The systems that both lists hold, those that only one holds, and their places in each, better ones higher.

    Parameters and errors as for `rank_agreement`.
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
    return tuple(both.index), tuple(table.index.difference(both.index, sort=False)), a, b


def _places(values: np.ndarray) -> np.ndarray:
    """Place of each value from the lowest up, 0, 1, 2 …; ties share one."""
    order = np.argsort(values, kind="stable")
    largest = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    with np.errstate(invalid="ignore"):
        steps = np.diff(values[order]) > _TIE * largest
    places = np.empty(len(values), dtype=int)
    places[order] = np.append(0, np.cumsum(steps))[: len(values)]
    return places
