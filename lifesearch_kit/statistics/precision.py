"""What a benchmark of other numbers of tasks, runs and repeats could tell."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np
import pandas as pd
from statsmodels.stats.power import TTestPower

from lifesearch_kit.errors import InputError
from lifesearch_kit.statistics.score_levels import level_means, reports_present
from lifesearch_kit.statistics.variance import Components, components


def benchmark_precision(
    scores: pd.DataFrame,
    tasks: Sequence[int],
    runs: Sequence[int],
    repeats: Sequence[int] = (1,),
    power: float = 0.8,
    level: float = 0.95,
) -> pd.DataFrame:
    """What a benchmark of so many tasks, runs and repeats could tell, by the variances of this one.

    The standard error is that of a typical system's score: variances averaged over the systems with two tasks or more,
    negative ones taken as 0. Two systems are compared task by task. The variance of a task's difference is that between
    the two systems' tasks (what is hard for both cancels) plus the runs and repeats of both, averaged over all pairs
    that share two tasks. The smallest difference is the one that a paired t test finds with this power (statsmodels'
    TTestPower), one pair alone: with Holm's correction over many pairs it is larger. Assumed: the tasks stay of this
    kind, systems of this spread.

    Parameters
    ----------
    scores
        What `report_scores` gave, without unjudged rubrics.
    tasks, runs, repeats
        The numbers to combine: tasks, runs of each task, repeats of the judge on each report.
    power, level
        Chance to find the difference, and 1 minus the chance to find one where there is none.

    Returns
    -------
    DataFrame
        A row a judge and combination: judge, systems, pairs, tasks, runs, repeats, standard_error_pct,
        difference_error_pct (standard error of a paired difference), smallest_difference_pct, note. What cannot be told
        is missing, and the note says why.

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged.
    InputError
        For fewer than 2 tasks or 1 run or repeat, a power or level outside 0 to 1, or where there is no report.
    """
    faults = [
        f"{name}={list(values)}: each must be at least {least}"
        for name, values, least in (("tasks", tasks, 2), ("runs", runs, 1), ("repeats", repeats, 1))
        if not len(values) or min(values) < least
    ]
    faults += [
        f"{name}={value!r} lies outside 0 to 1"
        for name, value in (("power", power), ("level", level))
        if not 0 < value < 1
    ]
    if faults:
        raise InputError(faults)
    reach = {n: _detectable(n, power, level) for n in tasks}
    rows = []
    for judge, own in reports_present(scores).groupby("judge", sort=False, observed=True):
        enough = own[own.groupby("system", observed=True)["task_id"].transform("nunique") > 1]
        parts = {name: components(part) for name, part in enough.groupby("system", sort=False, observed=True)}
        pairs = list(_task_differences(enough, parts))
        between = np.maximum(0.0, _mean(pairs))
        for n, k, m in product(tasks, runs, repeats):
            error = np.sqrt(_mean([one.of_task_mean(k, m) / n for one in parts.values()]))
            within = 2 * _mean([one.of_task_mean(k, m, within=True) for one in parts.values()])
            spread = np.sqrt(between + within)
            least = spread * reach[n]
            numbers = 100 * np.array([error, spread / np.sqrt(n), least])
            rows.append((judge, len(parts), len(pairs), n, k, m, *numbers, _note(error, pairs, parts)))
    columns = ["judge", "systems", "pairs", "tasks", "runs", "repeats", "standard_error_pct", "difference_error_pct"]
    return pd.DataFrame(rows, columns=[*columns, "smallest_difference_pct", "note"])


def _task_differences(own: pd.DataFrame, parts: dict[object, Components]) -> Iterator[float]:
    """Variance of the systems' true difference over tasks (with the runs, where they cannot be told), pair by pair.

    Runs of two systems are independent, so that the covariance of their task means is that of the tasks alone.
    """
    means = level_means(own, "tasks")
    for a, b in combinations(parts, 2):
        both = means[[a, b]].dropna()
        if len(both) > 1:
            alone = [next(iter(parts[one].variance.values())) for one in (a, b)]
            yield float(sum(alone) - 2 * np.cov(both.to_numpy().T)[0, 1])


def _detectable(tasks: int, power: float, level: float) -> float:
    """Smallest standardised paired difference that a two-sided t test finds with this power."""
    found = TTestPower().solve_power(nobs=tasks, alpha=1 - level, power=power, alternative="two-sided")
    return float(np.squeeze(found))


def _mean(values: list[float]) -> float:
    return float(np.mean(values)) if values else float("nan")


def _note(error: float, pairs: list[float], parts: dict[object, Components]) -> str:
    if not parts:
        return "no system has two tasks: nothing can be told of the spread"
    if np.isnan(error):
        return "a system has one run of each task, or one repeat: what more of them would bring cannot be told"
    return "" if pairs else "no two systems share two tasks: no difference"
