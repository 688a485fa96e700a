"""How far scores and their differences depend on which tasks happen to be in the benchmark.

Tasks are taken as a sample of such tasks and resampled with replacement, all systems on the same resample. Runs are
kept as they are: what is shown is the spread over tasks, not that of rerunning a system, and a judge's errors are in
the scores unchanged. Intervals are expanded percentile intervals: plain percentiles of n tasks are too narrow by what
Student's t and the sample variance (ddof = 1) correct elsewhere, so percentiles further out are read instead. Their
ends are means of resampled scores, so they never leave the scale. They rely on tasks being exchangeable.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import special

from lifesearch_kit.errors import InputError, UnjudgedError

# What low_pct and high_pct of both tables are, for captions.
INTERVAL_WORDS = "95% bootstrap intervals over tasks, widened for few tasks as Student's t is"


def bootstrap_intervals(
    scores: pd.DataFrame, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> pd.DataFrame:
    """Expanded percentile bootstrap intervals over tasks of the scores of `system_scores`.

    Parameters
    ----------
    scores
        What `report_scores` gave, without unjudged rubrics. A missing report counts in no resample.
    rng
        The only source of randomness.
    resamples
        How many times tasks are drawn.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        A row a system and judge: system, judge, tasks, score_pct (mean over runs of the mean over tasks), low_pct,
        high_pct (missing for a single task; of one width 0 where all tasks score alike).

    Raises
    ------
    UnjudgedError
        When a score is missing because rubrics are unjudged.
    InputError
        For a level outside 0 to 1 or fewer than one resample.
    """
    _check(scores, resamples, level)
    rows = []
    for judge, own in _with_report(scores).groupby("judge", sort=False, observed=True):
        table = own.pivot_table(index="task_id", columns=["system", "run"], values="score", aggfunc="mean")
        means = _resampled_means(table.to_numpy(), rng, resamples)
        for system in table.columns.unique("system"):
            runs = table.columns.get_level_values("system") == system
            point = table.loc[:, runs].mean().mean()
            tasks = int(table.loc[:, runs].notna().any(axis=1).sum())
            low, high = expanded_percentiles(_row_means(means[:, runs]), level, tasks)
            rows.append((system, judge, tasks, 100 * point, low, high))
    return pd.DataFrame(rows, columns=["system", "judge", "tasks", "score_pct", "low_pct", "high_pct"])


def paired_differences(
    scores: pd.DataFrame, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> pd.DataFrame:
    """Differences between systems over the tasks that both have, with expanded percentile bootstrap intervals.

    A task's difference is that of the two systems' means over runs and repeats; tasks are resampled, so that what is
    easy or hard for both cancels.

    Parameters
    ----------
    scores, rng, resamples, level
        As for `bootstrap_intervals`.

    Returns
    -------
    DataFrame
        A row a pair and judge: judge, system_a, system_b (in the order of `scores`), tasks (shared), difference_pct
        (a minus b, in percentage points), low_pct, high_pct (missing for a single shared task).

    Raises
    ------
    UnjudgedError, InputError
        As for `bootstrap_intervals`.
    """
    _check(scores, resamples, level)
    rows = []
    for judge, own in _with_report(scores).groupby("judge", sort=False, observed=True):
        runs = own.groupby(["task_id", "system", "run"], observed=True)["score"].mean()
        table = runs.groupby(["task_id", "system"], observed=True).mean().unstack("system")
        pairs = list(combinations(own["system"].unique(), 2))
        differences = np.column_stack([table[a] - table[b] for a, b in pairs]) if pairs else np.empty((len(table), 0))
        means = _resampled_means(differences, rng, resamples)
        for number, (a, b) in enumerate(pairs):
            shared = int(np.isfinite(differences[:, number]).sum())
            if shared:
                low, high = expanded_percentiles(means[:, number], level, shared)
                rows.append((judge, a, b, shared, 100 * np.nanmean(differences[:, number]), low, high))
    columns = ["judge", "system_a", "system_b", "tasks", "difference_pct", "low_pct", "high_pct"]
    return pd.DataFrame(rows, columns=columns)


def _resampled_means(values: np.ndarray, rng: np.random.Generator, resamples: int) -> np.ndarray:
    """Column means over resampled rows, missing values left out: (tasks, columns) to (resamples, columns).

    How often each task is drawn is a row of counts, so that all resamples are one matrix product.
    """
    tasks = len(values)
    counts = rng.multinomial(tasks, np.full(tasks, 1 / tasks), size=resamples).astype(float)
    present = np.isfinite(values)
    drawn = counts @ present
    return np.divide(counts @ np.where(present, values, 0.0), drawn, out=np.full(drawn.shape, np.nan), where=drawn > 0)


def _row_means(values: np.ndarray) -> np.ndarray:
    """Mean of each row's defined values, missing where a row has none."""
    present = np.isfinite(values)
    total, count = np.where(present, values, 0.0).sum(axis=1), present.sum(axis=1)
    return np.divide(total, count, out=np.full(len(values), np.nan), where=count > 0)


def expanded_percentiles(means: np.ndarray, level: float, units: int) -> tuple[float, float]:
    """Ends, in percent, at the normal tails beyond sqrt(n / (n - 1)) times the t quantile of n - 1 degrees of freedom.

    Parameters
    ----------
    means
        What each resample gave (0 to 1). Missing ones, of resamples that drew nothing to average, are left out.
    level
        Probability that the interval covers.
    units
        How many tasks, or other units drawn as a whole, the resamples were drawn from; fewer than 2 have no interval,
        and both ends are missing.
    """
    drawn = means[np.isfinite(means)]
    if units < 2 or len(drawn) == 0:
        return float("nan"), float("nan")
    reach = np.sqrt(units / (units - 1)) * special.stdtrit(units - 1, (1 + level) / 2)
    tail = special.ndtr(-reach)
    low, high = np.quantile(100 * drawn, [tail, 1 - tail])
    return float(low), float(high)


def _with_report(scores: pd.DataFrame) -> pd.DataFrame:
    return scores[~scores["missing"].astype(bool)]


def check_resampling(resamples: int, level: float) -> None:
    """Raise InputError for a level outside 0 to 1 or fewer than one resample."""
    if not 0 < level < 1:
        raise InputError(f"level={level!r} lies outside 0 to 1; write 0.95 for 95%")
    if resamples < 1:
        raise InputError(f"resamples={resamples!r}: at least one is needed")


def _check(scores: pd.DataFrame, resamples: int, level: float) -> None:
    check_resampling(resamples, level)
    unjudged = int(scores["unjudged"].sum())
    if unjudged:
        raise UnjudgedError(f"{unjudged} rubrics are unjudged, so there is no score to resample; judge them first")
