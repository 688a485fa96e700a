"""Intervals of shares whose decisions come in clusters: rubrics of a report, reports of a task."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from statsmodels.stats.proportion import proportion_confint


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
