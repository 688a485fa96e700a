"""Resampling of units within strata, with the unbiased variance of the mean, and percentiles widened for few units.

In a stratum of N units, N - 1 are drawn with replacement. The mean of N draws would vary too little, by (N - 1) / N,
which is a third at three runs; the mean of N - 1 draws has the variance s^2 / N of the unbiased estimate
(McCarthy and Snowden 1985; Rao and Wu 1988). How often each unit is drawn is a row of counts, shared by all columns,
so that all resamples of all columns are one matrix product. Where a column lacks units of a stratum, its deviations
are scaled so that the variance is s^2 / n of the n units that it has. Ratios of sums, correlations and other estimates
that are no means are resampled by their own modules, and read with `expanded_percentiles`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy import sparse, special

from lifesearch_kit.errors import InputError

# Degrees of freedom from which 95% intervals of several strata covered 92 to 95% in simulation.
FEWEST_IN_STRATA = 14
_BLOCK = 1_000_000  # counts held at once, with what they are made of some 40 MB


@dataclass(frozen=True)
class Deviations:
    """What resampling needs, and the analytic variance of the same means.

    Attributes
    ----------
    coefficients
        units x columns: what one draw of a unit adds to the column's mean. A column's coefficients add up to 0.
    variance
        Of each column's mean: the sum over strata of weight^2 * s^2 / n (ddof = 1). Missing where no stratum holds two
        units.
    df
        Degrees of freedom of that variance after Welch (1947): (sum v)^2 / sum(v^2 / (n + 1)) - 2, at most the sum
        of n - 1, and n - 1 for a single stratum; the sum of n - 1 where nothing varies, missing where the variance is.
    free, strata
        The sum of n - 1 over the strata that count in a column's mean, and how many strata these are.
    """

    coefficients: np.ndarray
    variance: np.ndarray
    df: np.ndarray
    free: np.ndarray
    strata: np.ndarray


def deviations(values: np.ndarray, strata: np.ndarray, weights: np.ndarray) -> Deviations:
    """Deviations of units from the mean of their stratum, scaled for `resampled`.

    Parameters
    ----------
    values
        units x columns; missing where a column has no such unit.
    strata
        The number of each unit's stratum, from 0.
    weights
        strata x columns: a column's mean is the sum of weight times stratum mean. A stratum with one unit of a column
        is taken to vary as much as that column's other strata do on average.
    """
    member = sparse.csr_array((np.ones(len(strata)), (strata, np.arange(len(strata)))))
    present = np.isfinite(values)
    slots, counts = member.sum(axis=1)[:, None], member @ present
    with np.errstate(divide="ignore", invalid="ignore"):
        centred = np.where(present, values - ((member @ np.where(present, values, 0.0)) / counts)[strata], 0.0)
        # Deviations that are 0 but for the order of a sum are no variance.
        centred[np.abs(centred) < 1e-12] = 0.0
        variances = np.where(counts > 1, (member @ centred**2) / (counts - 1), np.nan)
        parts = weights**2 * variances / counts
        measured = np.nansum(parts, axis=0)
        single = np.where(counts == 1, weights**2, 0.0).sum(axis=0) * _column_means(variances)
        known = (counts > 1).any(axis=0)
        variance = np.where(known, measured + np.where(single > 0, single, 0.0), np.nan)
        scale = weights * np.sqrt(slots / ((slots - 1) * counts * (counts - 1)))
        widened = np.sqrt(np.where(measured > 0, variance / measured, 1.0))
        welch = measured**2 / np.nansum(parts**2 / (counts + 1), axis=0) - 2
        telling = (counts > 1) & (weights > 0)
        free = np.where(telling, counts - 1, 0).sum(axis=0)
        df = np.where(known, np.where(measured > 0, np.minimum(welch, free), free), np.nan)
    scale = np.where(counts > 1, scale, 0.0)
    return Deviations(centred * scale[strata] * widened, variance, df, free, telling.sum(axis=0))


def _column_means(values: np.ndarray) -> np.ndarray:
    """Mean of each column's defined values, missing where it has none."""
    return np.nansum(values, axis=0) / np.isfinite(values).sum(axis=0)


def resampled(coefficients: np.ndarray, strata: np.ndarray, rng: np.random.Generator, resamples: int) -> np.ndarray:
    """How far each resample's means lie from the observed ones: resamples x columns.

    Parameters
    ----------
    coefficients
        As `deviations` gives them.
    strata
        The number of each unit's stratum.
    rng
        The only source of randomness.
    resamples
        How many times units are drawn.
    """
    order = np.argsort(strata, kind="stable")
    wanted = coefficients[order]
    drawn = [counts @ wanted for counts in _counts(np.bincount(strata), rng, resamples)]
    return np.concatenate(drawn)


def _counts(sizes: np.ndarray, rng: np.random.Generator, resamples: int) -> Iterator[np.ndarray]:
    """How often each unit is drawn, stratum after stratum, a block of resamples after the other.

    Single draws are counted: drawing the counts themselves (multinomial) takes several times as long.
    """
    units = int(sizes.sum())
    starts = np.cumsum(sizes) - sizes
    for block in blocks(resamples, units):
        rows = units * np.arange(block)[:, None, None]
        counts = np.zeros(block * units, dtype=np.int64)
        for size in np.unique(sizes[sizes > 1]):
            first = starts[sizes == size]
            picked = rng.integers(0, size, size=(block, len(first), size - 1), dtype=np.int32)
            counts += np.bincount((picked + first[:, None] + rows).ravel(), minlength=block * units)
        yield counts.reshape(block, units).astype(float)


def blocks(resamples: int, units: int) -> Iterator[int]:
    """Cut resamples into numbers that fit into memory at once."""
    most = max(1, _BLOCK // max(1, units))
    for start in range(0, resamples, most):
        yield min(most, resamples - start)


def t_percentiles(drawn: np.ndarray, df: np.ndarray, level: float) -> tuple[np.ndarray, np.ndarray]:
    """Ends of each column's interval: percentiles at the normal tails beyond the t quantile of `df`.

    Plain percentiles of few units are too narrow by what Student's t corrects elsewhere (Hesterberg 2015, expanded
    percentiles); the variance of the draws is unbiased already. A resample cannot leave the range of what was observed:
    where all of df + 1 units lie on one side of a value, by chance with probability 2 * 0.5^(df + 1), so does each
    interval. Below the df at which that is no more than what the level leaves over (5 at 95%), ends are missing.
    """
    low, high = np.full((2, drawn.shape[1]), np.nan)
    tails = special.ndtr(-special.stdtrit(df, (1 + level) / 2))
    for column in np.flatnonzero(np.isfinite(df)):
        if few_units(float(df[column]), level):
            continue
        low[column], high[column] = np.quantile(drawn[:, column], [tails[column], 1 - tails[column]])
    return low, high


def few_units(df: float, level: float) -> bool:
    """Whether so few units lie behind a mean that percentiles of resamples say nothing at this level."""
    return bool(2 * 0.5 ** (df + 1) > 1 - level + 1e-12)


def too_few(spread: Deviations, level: float) -> np.ndarray:
    """Whether percentiles of resamples say nothing of each column at this level.

    They do not for few units (`few_units`), nor for several strata with fewer than `FEWEST_IN_STRATA` degrees of
    freedom in all: resamples of strata of two or three reach as far as the sum of their deviations and no farther. In
    simulation 95% intervals of 5 to 7 strata of 2, or 5 of 3, covered 76 to 93% where the strata vary differently.
    """
    few = np.array([few_units(df, level) for df in spread.df], dtype=bool)
    return few | ((spread.strata > 1) & (spread.free < FEWEST_IN_STRATA))


def expanded_percentiles(drawn: np.ndarray, level: float, units: int) -> tuple[float, float]:
    """Ends of the interval of any estimate, in its unit, from what it was in resamples of all n units.

    n draws vary too little by (n - 1) / n, so percentiles are read at the normal tails beyond sqrt(n / (n - 1)) times
    the t quantile of n - 1 degrees of freedom.

    Parameters
    ----------
    drawn
        What each resample gave. Missing ones, of resamples that drew nothing to average, are left out.
    level
        Probability that the interval covers.
    units
        How many tasks, or other units drawn as a whole, the resamples were drawn from. For too few of them
        (`few_units`: fewer than 6 at 95%) both ends are missing.
    """
    drawn = drawn[np.isfinite(drawn)]
    if few_units(units - 1, level) or len(drawn) == 0:
        return float("nan"), float("nan")
    reach = np.sqrt(units / (units - 1)) * special.stdtrit(units - 1, (1 + level) / 2)
    tail = special.ndtr(-reach)
    low, high = np.quantile(drawn, [tail, 1 - tail])
    return float(low), float(high)


def check_resampling(resamples: int, level: float) -> None:
    """Raise InputError for a level outside 0 to 1 or fewer than one resample."""
    if not 0 < level < 1:
        raise InputError(f"level={level!r} lies outside 0 to 1; write 0.95 for 95%")
    if resamples < 1:
        raise InputError(f"resamples={resamples!r}: at least one is needed")
