"""Agreement of several raters, labels missing or not, and its interval over clusters of items.

A table of labels has a row an item and a column a rater; a missing label is None, NaN or NA. Labels are nominal: two of
them are equal or not, and nothing lies between. As in `lifesearch_kit.agreement.measures`, an undefined value has a
reason.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special
from statsmodels.stats import inter_rater

from lifesearch_kit.agreement.measures import Agreement, cohen_kappa, label_word, mean_defined
from lifesearch_kit.errors import InputError

FEW_CLUSTERS = 3


class Interval(NamedTuple):
    """Both ends, or None twice and the reason why there is no interval."""

    low: float | None
    high: float | None
    reason: str = ""


def mean_pairwise_kappa(table: ArrayLike) -> Agreement:
    """Mean of Cohen's kappa over all pairs of raters, each pair over the items that both labelled.

    Each pair counts alike, however many items it shares (Light 1971; section 5 of the LifeSearch paper). Pairs whose
    kappa is undefined are left out and counted in the reason; `n` is the number of items with two labels or more.
    """
    labels, there = _labels(table)
    if labels.shape[1] < 2:
        return _too_few(labels.shape[1])
    kappas = [
        cohen_kappa(*labels[there[:, pair].all(axis=1)][:, pair].T)
        for pair in map(list, combinations(range(labels.shape[1]), 2))
    ]
    mean = mean_defined(kappas)
    reason = mean.reason
    if mean.value is None:
        reason = "no pair of raters has a kappa: " + "; ".join(dict.fromkeys(one.reason for one in kappas))
    return Agreement(mean.value, int((there.sum(axis=1) > 1).sum()), reason)


def fleiss_kappa(table: ArrayLike) -> Agreement:
    """Fleiss' kappa over the items that every rater labelled (Fleiss 1971).

    Chance agreement is that of raters who all draw from the labels' common distribution: raters count as
    interchangeable, unlike in Cohen's kappa. Items that lack a label are left out and counted in the reason;
    `krippendorff_alpha` keeps them.
    """
    labels, there = _labels(table)
    if labels.shape[1] < 2:
        return _too_few(labels.shape[1])
    whole = there.all(axis=1)
    some = there.any(axis=1)
    left_out = int((some & ~whole).sum())
    said = f"left out, as not every rater labelled them: {left_out} of {some.sum()} items" if left_out else ""
    if not whole.any():
        return Agreement(None, 0, said or "there are no items")
    counts, values = _counts(labels[whole], there[whole])
    if len(values) == 1:
        return Agreement(None, len(counts), _one_class(values[0]))
    return Agreement(float(inter_rater.fleiss_kappa(counts, method="fleiss")), len(counts), said)


def krippendorff_alpha(table: ArrayLike) -> Agreement:
    """Krippendorff's alpha for nominal labels, over the items that two raters or more labelled.

    1 minus observed over expected disagreement of the pairs of labels within items, each item weighing as many labels
    as it has; expected is that of two labels drawn from all of these without replacement (Krippendorff 2011, "Computing
    Krippendorff's alpha-reliability"). Labels may be missing, as long as they are so for reasons that have nothing to
    do with what they would be.
    """
    labels, there = _labels(table)
    if labels.shape[1] < 2:
        return _too_few(labels.shape[1])
    paired = there.sum(axis=1) > 1
    if not paired.any():
        return Agreement(None, 0, "no item has two labels")
    counts, values = _counts(labels[paired], there[paired])
    if len(values) == 1:
        return Agreement(None, len(counts), _one_class(values[0]))
    size, total = counts.sum(axis=1), counts.sum()
    observed = ((size**2 - (counts**2).sum(axis=1)) / (size - 1)).sum() / total
    expected = (total**2 - (counts.sum(axis=0) ** 2).sum()) / (total * (total - 1))
    return Agreement(float(1 - observed / expected), len(counts))


def jackknife_interval(
    measure: Callable[[np.ndarray], Agreement], table: ArrayLike, clusters: ArrayLike, level: float = 0.95
) -> Interval:
    """Delete-one-cluster jackknife interval of a measure of agreement.

    The standard error is that of the pseudo-values, the reach that of Student's t with one degree of freedom fewer than
    there are clusters. Hughes 2022 (arXiv 2210.13265) finds the jackknife to cover better than the bootstrap for alpha.
    Clusters are taken as a sample of such clusters, the raters as they are. The ends are held within -1 and 1.

    Parameters
    ----------
    measure
        What to compute of a table of labels.
    table
        A row an item, a column a rater.
    clusters
        Of each item, the cluster that it shares with the items that are labelled alike: a task, a report.
    level
        Probability that the interval covers.

    Returns
    -------
    Interval
        None with a reason where the measure is undefined, there are fewer than 3 clusters, or the clusters show no
        spread: where all agree throughout, nothing tells how far from 1 the truth may lie.

    Raises
    ------
    InputError
        When the number of clusters' names differs from that of items, or the level lies outside 0 to 1.
    """
    labels, there = _labels(table)
    names = pd.factorize(np.asarray(clusters, dtype=object))[0]
    if len(names) != len(labels):
        raise InputError(f"{len(names)} clusters' names for {len(labels)} items; give one each")
    if not 0 < level < 1:
        raise InputError(f"level={level!r} lies outside 0 to 1; write 0.95 for 95%")
    whole = measure(labels)
    if whole.value is None:
        return Interval(None, None, "the value itself is undefined")
    held = np.unique(names[there.sum(axis=1) > 1])
    if len(held) < FEW_CLUSTERS:
        return Interval(None, None, f"{len(held)} clusters; a spread needs {FEW_CLUSTERS}")
    without = [measure(labels[names != one]).value for one in held]
    if None in without:
        return Interval(None, None, "without one of the clusters the value is undefined")
    pseudo = len(held) * whole.value - (len(held) - 1) * np.array(without, dtype=float)
    error = float(np.std(pseudo, ddof=1) / np.sqrt(len(held)))
    if error < 1e-12:
        return Interval(None, None, "every cluster shows the same agreement, so there is no spread to tell from")
    reach = float(special.stdtrit(len(held) - 1, (1 + level) / 2)) * error
    return Interval(max(whole.value - reach, -1.0), min(whole.value + reach, 1.0))


def _labels(table: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """The labels as objects, and where there are any."""
    labels = np.asarray(table, dtype=object)
    if labels.ndim != 2:
        raise InputError(f"a table of labels has a row an item and a column a rater, not {labels.ndim} dimensions")
    return labels, ~pd.isna(labels)


def _counts(labels: np.ndarray, there: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How often each item was given each label, (items, labels), and the labels."""
    numbers, values = pd.factorize(labels[there])
    counts = np.zeros((len(labels), len(values)))
    np.add.at(counts, (np.nonzero(there)[0], numbers), 1)
    return counts, np.asarray(values)


def _too_few(raters: int) -> Agreement:
    return Agreement(None, 0, f"{raters} rater{'s' if raters != 1 else ''}: agreement needs two")


def _one_class(label: object) -> str:
    return f"every label is {label_word(label)}, so chance alone agrees always"
