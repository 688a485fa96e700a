"""Estimators of a score that a judge's errors have moved, from sums by task.

Tasks are independent clusters; what is estimated is linear in their sums, or a ratio of such, so that the variance is
that of each task's influence on it (linearisation). The same task may be scored and labelled: its two influences are
added before they are squared. Squares of n tasks are enlarged by n / (n - 1), and Student's t has the degrees of
freedom that Satterthwaite's formula gives for labelled and other tasks.

All arrays have tasks as their last axis; any axes before it are estimated side by side.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import special


@dataclass(frozen=True)
class TaskSums:
    """What each task adds up to.

    Attributes
    ----------
    weight
        Share of the score that the task's reports decide; adds up to 1.
    score
        This share times the judge's score of these reports (0 to 1).
    graded
        The part of `weight` that a judge decided: reports without a text score 0 whatever a judge does.
    labelled
        Labelled weight: of each labelled report, the weight of its labelled rubrics over that of all its rubrics.
    label, judge
        The part of `labelled` that the label passes, and that the judge passes.
    both, neither
        The part of `labelled` that both pass, and that both fail.
    """

    weight: np.ndarray
    score: np.ndarray
    graded: np.ndarray
    labelled: np.ndarray
    label: np.ndarray
    judge: np.ndarray
    both: np.ndarray
    neither: np.ndarray


class Estimate(NamedTuple):
    """A score (0 to 1), its interval, and variances: in all, by the choice of labels, of its distance to the raw score.

    None of them is held to 0 to 1. Where there is no bounded interval, its ends are missing.
    """

    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    variance: np.ndarray
    label_variance: np.ndarray
    change_variance: np.ndarray


class _Mean(NamedTuple):
    """A mean over tasks and each task's influence on it, the sum over tasks kept as an axis of length 1."""

    value: np.ndarray
    influence: np.ndarray


def raw_score(sums: TaskSums, level: float) -> Estimate:
    """The judge's own score, with a t interval over tasks."""
    score = _scored(sums, sums.score)
    nothing = np.zeros_like(score.influence)
    freedom = np.maximum((sums.weight > 0).sum(axis=-1) - 1, 1)
    variances = _variances(score.influence, nothing, nothing)
    half = special.stdtrit(freedom, (1 + level) / 2) * np.sqrt(variances[0])
    value = score.value[..., 0]
    return Estimate(value, value - half, value + half, *variances)


def prediction_powered(sums: TaskSums, level: float) -> Estimate:
    """Prediction-powered mean: the judge's score plus the mean of label minus verdict over the labelled part.

    Unbiased whatever the judge does, where the labelled part is a random sample of what was judged. Source:
    Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023 (Science 382, 669). Its power-tuned variant (PPI++, arXiv
    2311.01453) is left out: with tasks as clusters its 95% intervals covered 83 to 93% for 6 labelled tasks and 90 to
    95% for 20, and its error was smaller only for a judge that errs on 4 verdicts of 10, by 3 to 4%. It weighs the
    verdicts against the labels; what weighs the correction against none is `combined`.
    """
    score, change, by_labels = _powered(sums)
    influence = score.influence + change.influence
    variances = _variances(influence, by_labels, change.influence)
    half = special.stdtrit(_freedom(sums, influence), (1 + level) / 2) * np.sqrt(variances[0])
    value = (score.value + change.value)[..., 0]
    return Estimate(value, value - half, value + half, *variances)


def combined(sums: TaskSums, level: float) -> Estimate:
    """Mean of the prediction-powered score and the raw one, weighted for the least expected squared error.

    The raw score is biased by the judge's mean error b, the other is not. Of all their weighted means the one with the
    weight cov / (b^2 + v) for the raw score lies nearest to the truth on average, v being the variance of their
    difference and cov its covariance with the unbiased one (Judge and Mittelhammer 2004, Journal of the American
    Statistical Association 99, 479). Here b is the difference itself, so that the weight vanishes as the judge's error
    is seen to be more than chance. The value is at most half a standard error away from the prediction-powered one,
    whose interval it has: that covers, and the value lies in it.

    Its root mean square error is up to 32% smaller than that of the prediction-powered score for a judge whose errors
    cancel, as large where b is 1.5 times its standard error, and at most 12% larger beyond that (for normal errors and
    few labels among many tasks; in the simulations of tests/test_judge_error.py 3 to 29% smaller, and at most 8%
    larger). It is nearer to the truth than the raw score from b = 0.9 standard errors on. Not even this one is as near
    as the raw score of a judge without bias: an estimator that were, and yet corrected a biased judge, does not exist.
    """
    found = prediction_powered(sums, level)
    score, change, _ = _powered(sums)
    moved = change.value[..., 0]
    square = moved**2 + found.change_variance
    shared = (change.influence * (score.influence + change.influence)).sum(axis=-1)
    weight = np.where(square > 0, shared / np.where(square > 0, square, 1), 0).clip(0, 1)
    return found._replace(value=found.value - weight * moved)


def _powered(sums: TaskSums) -> tuple[_Mean, _Mean, np.ndarray]:
    """The raw score, what labels add to it, and the influence of the choice of labels on that."""
    score, graded = _scored(sums, sums.score), _scored(sums, sums.graded)
    error = _ratio(sums, sums.label - sums.judge, sums.labelled)
    by_labels = graded.value * error.influence
    change = _Mean(graded.value * error.value, error.value * graded.influence + by_labels)
    return score, change, by_labels


def rogan_gladen(sums: TaskSums, level: float) -> Estimate:
    """Score corrected by sensitivity and specificity: (score + specificity - 1) / (sensitivity + specificity - 1).

    Both are shares of labelled weight, and taken to be the same wherever the judge judges; the labelled part may hold
    more or fewer Pass than the rest. The interval is Fieller's, as the divisor is estimated too; it is missing where it
    would be unbounded, which is where the divisor's own interval holds 0: the judge is not seen to tell Pass from Fail.

    Sources: Rogan and Gladen 1978 (American Journal of Epidemiology 107, 71); Fieller 1954 (Journal of the Royal
    Statistical Society B 16, 175).
    """
    score, graded = _scored(sums, sums.score), _scored(sums, sums.graded)
    sensitivity = _ratio(sums, sums.both, sums.label)
    specificity = _ratio(sums, sums.neither, sums.labelled - sums.label)
    above = score.value + graded.value * (specificity.value - 1)
    by_labels = graded.value * specificity.influence
    above_influence = score.influence + (specificity.value - 1) * graded.influence + by_labels
    below = sensitivity.value + specificity.value - 1
    below_influence = sensitivity.influence + specificity.influence
    divisor = np.where(below > 0, below, np.nan)
    value = above / divisor
    influence = (above_influence - value * below_influence) / divisor
    reach = special.stdtrit(_freedom(sums, influence), (1 + level) / 2) ** 2
    variances = _variances(influence, (by_labels - value * below_influence) / divisor, influence - score.influence)

    def within_reach(a: np.ndarray, b: np.ndarray, of_a: np.ndarray, of_b: np.ndarray) -> np.ndarray:
        product: np.ndarray = (a * b)[..., 0] - reach * (of_a * of_b).sum(axis=-1)
        return product

    square = within_reach(divisor, divisor, below_influence, below_influence)
    square = np.where(square > 0, square, np.nan)
    middle = within_reach(above, divisor, above_influence, below_influence)
    constant = within_reach(above, above, above_influence, above_influence)
    root = np.sqrt((middle**2 - square * constant).clip(0))
    return Estimate(value[..., 0], (middle - root) / square, (middle + root) / square, *variances)


def _scored(sums: TaskSums, part: np.ndarray) -> _Mean:
    value = part.sum(axis=-1, keepdims=True)
    return _Mean(value, _enlarge(part - value * sums.weight, sums.weight > 0))


def _ratio(sums: TaskSums, part: np.ndarray, whole: np.ndarray) -> _Mean:
    total = whole.sum(axis=-1, keepdims=True)
    total = np.where(total > 0, total, np.nan)
    value = part.sum(axis=-1, keepdims=True) / total
    return _Mean(value, _enlarge((part - value * whole) / total, sums.labelled > 0))


def _enlarge(influence: np.ndarray, counted: np.ndarray) -> np.ndarray:
    tasks = counted.sum(axis=-1, keepdims=True)
    return influence * np.sqrt(tasks / np.maximum(tasks - 1, 1))


def _freedom(sums: TaskSums, influence: np.ndarray) -> np.ndarray:
    """Satterthwaite's degrees of freedom of a sum of two variances: over labelled tasks, and over the others."""
    square = influence**2
    among = sums.labelled > 0
    inside, outside = np.where(among, square, 0).sum(axis=-1), np.where(among, 0, square).sum(axis=-1)
    first = np.maximum(among.sum(axis=-1) - 1, 1)
    second = np.maximum(((sums.weight > 0) & ~among).sum(axis=-1) - 1, 1)
    parts = inside**2 / first + outside**2 / second
    return np.where(parts > 0, (inside + outside) ** 2 / np.where(parts > 0, parts, 1), first)


def _variances(*influences: np.ndarray) -> tuple[np.ndarray, ...]:
    return tuple((one**2).sum(axis=-1) for one in influences)
