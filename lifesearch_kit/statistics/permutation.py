"""Sign-flip permutation test of paired differences, and Holm's correction for many of them."""

from __future__ import annotations

import numpy as np

from lifesearch_kit.statistics.resampling import blocks

# Sums that differ by less are equal: sums of tenths differ by rounding.
_ROUNDING = 1e-9


def sign_flips(tasks: int, rng: np.random.Generator, resamples: int) -> tuple[np.ndarray, bool]:
    """Rows of signs, one for each task, and whether they are all there are: resamples x tasks, each 1 or -1."""
    if tasks < 63 and 2**tasks <= resamples:
        bits = np.arange(2**tasks)[:, None] >> np.arange(tasks) & 1
        return (1 - 2 * bits).astype(np.int8), True
    return 1 - 2 * rng.integers(0, 2, size=(resamples, tasks), dtype=np.int8), False


def sign_flip_p_values(differences: np.ndarray, flips: tuple[np.ndarray, bool]) -> np.ndarray:
    """Two-sided p-value of each column's sum (tasks x columns); an absent task is a difference of 0."""
    signs, exact = flips
    observed = np.abs(differences.sum(axis=0)) - _ROUNDING
    reached = np.zeros(differences.shape[1])
    start = 0
    for block in blocks(len(signs), len(differences)):
        sums = signs[start : start + block].astype(float) @ differences
        reached += (np.abs(sums) >= observed).sum(axis=0)
        start += block
    return reached / len(signs) if exact else (reached + 1) / (len(signs) + 1)


def holm(p_values: np.ndarray) -> np.ndarray:
    """Holm's (1979) step-down adjusted p-values; missing ones stay missing and count nowhere.

    The values are those of statsmodels' multipletests, which collects garbage at each call, a third of a second in a
    notebook.
    """
    adjusted = np.full(len(p_values), np.nan)
    known = np.flatnonzero(np.isfinite(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    adjusted[order] = np.minimum(1, np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)))
    return adjusted
