"""How far two judges' agreement with the same labels differs, and whether that is more than chance.

The tasks are taken as a sample of such tasks and resampled with replacement, both judges on the same resample: what is
hard for both cancels, and the rubrics of a task's reports, which share question and criteria and are judged alike, are
drawn together. What is shown is the spread over tasks; the labels are taken as right.

A resample cannot leave the range of what was observed: where every task favours one judge, 0 lies outside each
interval, and so many equal signs come about by chance with probability 2 * 0.5^n. Below the n at which that is no more
than what the level leaves over (6 tasks at 95%), there is no interval and nothing is said of chance.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import permutation_test

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import LABEL_KEY, REPORT_KEY
from lifesearch_kit.reference_labels import labelled_rubrics
from lifesearch_kit.statistics.resampling import check_resampling, expanded_percentiles

_SUBJECT = list(LABEL_KEY[:-1])
_COLUMNS = [
    *("judge_a", "judge_b", "tasks", "reports", "rubrics", "accuracy_a_pct", "accuracy_b_pct"),
    *("difference_pct", "low_pct", "high_pct", "beyond_chance", "p_value"),
]
# Percentage points: an end nearer to 0 than this is 0, as sums of thirds differ from whole numbers by rounding.
_ROUNDING = 1e-9


def judge_differences(
    judgments: pd.DataFrame, labels: pd.DataFrame, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> pd.DataFrame:
    """Differences in accuracy between judges over the labelled rubrics that both judged, with bootstrap intervals.

    A rubric counts with the share of its verdicts that equal the label, over the repeats that reached one; a repeat
    without a verdict is neither right nor wrong. A resample's accuracy is its sum of these shares over its number of
    rubrics. The intervals are expanded percentile intervals (see `lifesearch_kit.statistics.resampling`) over tasks.

    Parameters
    ----------
    judgments
        A row a judgment: its key and satisfied (missing = unjudged). Those of unlabelled rubrics are left out.
    labels
        The reference: one label a rubric of a report.
    rng
        The only source of randomness. All pairs that share the same tasks see the same resamples.
    resamples
        How many times tasks are drawn.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        A row a pair of judges, in order of first appearance; none for a single judge: judge_a, judge_b, tasks, reports
        and rubrics (labelled, and judged at least once by both), accuracy_a_pct and accuracy_b_pct (on those),
        difference_pct (a minus b, in percentage points), low_pct, high_pct (missing for too few tasks, see above),
        beyond_chance (whether the interval leaves 0 outside; missing without one), p_value (two-sided paired
        permutation test: how often the two judges, exchanged at random task by task, would differ at least as much;
        exact where `resamples` allow for all 2^tasks exchanges; not corrected for several pairs). A pair that shares no
        rubric, as where one judge reached no verdict, has 0 of them and no figures.

    Raises
    ------
    InputError
        When a rubric has several labels, a label is stale, no judgment is of a labelled rubric, the level lies outside
        0 to 1, or there is less than one resample.
    """
    check_resampling(resamples, level)
    joined = judgments[[*_SUBJECT, "judge", "repeat", "satisfied"]].merge(
        labelled_rubrics(labels), on=_SUBJECT, validate="m:1"
    )
    if joined.empty:
        raise InputError("no judgment is of a labelled rubric; grade the reports that were labelled")
    ruled = joined[joined["satisfied"].notna()]
    right = (ruled["satisfied"].astype(bool) == ruled["label"].astype(bool)).astype(float)
    shares = right.groupby([ruled[name] for name in [*_SUBJECT, "judge"]], observed=True).mean().unstack("judge")
    pairs = list(combinations(joined["judge"].unique(), 2))
    seed = int(rng.integers(2**32))  # the same resamples for every pair, whatever the order of judges
    rows = [
        (a, b, *_difference(shares.reindex(columns=[a, b]).dropna(), np.random.default_rng(seed), resamples, level))
        for a, b in pairs
    ]
    return pd.DataFrame(rows, columns=_COLUMNS).astype({"beyond_chance": "boolean"})


def _difference(
    both: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> tuple[int, int, int, float, float, float, float, float, bool | None, float]:
    """Columns of a pair from the shares of right verdicts on each rubric (rubrics x the two judges)."""
    missing = float("nan")
    if both.empty:
        return 0, 0, 0, missing, missing, missing, missing, missing, None, missing
    first, second = both.to_numpy().T
    task = both.groupby(level="task_id", observed=True).ngroup().to_numpy()
    gain, rubrics = np.bincount(task, first - second), np.bincount(task)
    tasks = len(rubrics)
    counts = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples).astype(float)
    low, high = expanded_percentiles(100 * (counts @ gain) / (counts @ rubrics), level, tasks)
    beyond = None if np.isnan(low) else bool(low > _ROUNDING or high < -_ROUNDING)
    reports = both.groupby(level=list(REPORT_KEY), observed=True).ngroups
    a, b = 100 * first.mean(), 100 * second.mean()
    difference, p_value = 100 * (first - second).mean(), _exchange_test(gain, rng, resamples)
    return tasks, reports, len(both), a, b, difference, low, high, beyond, p_value


def _exchange_test(gain: np.ndarray, rng: np.random.Generator, resamples: int) -> float:
    """Two-sided p-value of each task's gain having either sign."""
    if len(gain) < 2:
        return float("nan")
    test = permutation_test((gain,), np.sum, permutation_type="samples", n_resamples=resamples, rng=rng)
    return float(test.pvalue)
