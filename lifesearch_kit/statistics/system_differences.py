"""Which systems differ: every pair compared on the tasks that both have.

A task's difference is that of the two systems' means over their runs and repeats. Tasks are taken as a sample, so what
is hard for both cancels, and the spread of runs and repeats is in the differences (see
`lifesearch_kit.statistics.hierarchical`).
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from lifesearch_kit.statistics.permutation import holm, sign_flip_p_values, sign_flips
from lifesearch_kit.statistics.resampling import check_resampling, deviations, few_units, resampled, t_percentiles
from lifesearch_kit.statistics.score_levels import Unjudged, end_means, reports_present

# Scores that differ by less are equal: sums of tenths differ by rounding.
ROUNDING = 1e-9
_PAIR_COLUMNS = [
    *("judge", "system_a", "system_b", "tasks", "tasks_a", "tasks_b", "difference_pct", "low_pct", "high_pct"),
    *("p_value", "holm_p_value", "effect_size", "won_pct", "lost_pct", "note"),
]


def pairwise_differences(
    scores: pd.DataFrame,
    rng: np.random.Generator,
    resamples: int = 10_000,
    level: float = 0.95,
    unjudged: Unjudged = "refuse",
) -> pd.DataFrame:
    """Compare all pairs of systems, task by task.

    Intervals are bootstrap intervals over tasks (see `resampling`; not corrected for the number of pairs).
    The p-value is that of the sign-flip permutation test: how often the mean difference would be at least as large, of
    either sign, if each task's difference had its sign by chance. It assumes that without a difference the two systems
    could be exchanged on every task, and is exact where `resamples` allow for all 2^tasks flips, else (b + 1) / (B + 1)
    (Phipson and Smyth 2010). Holm's (1979) correction is over all pairs of a judge.

    Parameters
    ----------
    scores
        What `report_scores` gave.
    rng
        The only source of randomness. All pairs see the same resamples and flips.
    resamples
        How many times tasks are drawn and signs flipped.
    level
        Probability that an interval covers.
    unjudged
        ``refuse`` raises where rubrics are unjudged. ``bounds`` takes each end of an interval with open rubrics decided
        against the difference, and the larger p-value of both decisions (1 where they differ in sign); the difference,
        effect size and shares are then missing for the pairs that it touches.

    Returns
    -------
    DataFrame
        A row a judge and pair, in the order of `scores`; none for a single system: judge, system_a, system_b, tasks
        (shared: the comparison rests on these alone), tasks_a, tasks_b (of each), difference_pct (a minus b, percentage
        points), low_pct, high_pct (missing for fewer than 6 shared tasks at 95%), p_value, holm_p_value (missing for
        fewer than two shared tasks; such pairs are not counted in the correction), effect_size (standardised paired
        difference, Cohen's d_z: mean over standard deviation of the tasks' differences; missing where they do not
        vary), won_pct and lost_pct (percent of shared tasks with the higher score for a, for b; the rest are ties),
        note (tasks that are left out since one of the two lacks them, why something is missing, and whether no outcome
        of so few tasks or resamples could pass Holm's correction).

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged and `unjudged` is ``refuse``.
    InputError
        For a level outside 0 to 1, fewer than one resample, no report at all.
    """
    check_resampling(resamples, level)
    present = reports_present(scores, unjudged)
    seed = int(rng.integers(2**32))
    tables = [
        pair_table(own, unjudged, seed, resamples, level).assign(judge=judge)
        for judge, own in present.groupby("judge", sort=False, observed=True)
    ]
    return pd.concat(tables, ignore_index=True)[_PAIR_COLUMNS]


def pair_table(own: pd.DataFrame, unjudged: Unjudged, seed: int, resamples: int, level: float) -> pd.DataFrame:
    """Compare all pairs of one judge's systems: the columns of `pairwise_differences` without judge."""
    low_means, high_means = end_means(own, unjudged)
    pairs = list(combinations(low_means.columns, 2))
    first, second = (low_means.columns.get_indexer([pair[at] for pair in pairs]) for at in (0, 1))
    least, most = low_means.to_numpy(), high_means.to_numpy()
    worst, best = least[:, first] - most[:, second], most[:, first] - least[:, second]
    shared, of_each = np.isfinite(worst).sum(axis=0), np.isfinite(least).sum(axis=0)
    low, p_low = _tested(worst, seed, resamples, level)
    high, p_high = (low, p_low) if high_means is low_means else _tested(best, seed, resamples, level)
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = [np.where(shared, np.nansum(one, axis=0) / shared, np.nan) for one in (worst, best)]
        spread = np.sqrt(np.nansum((worst - ends[0]) ** 2, axis=0) / (shared - 1))
        effect = np.where(spread > ROUNDING, ends[0] / spread, np.nan)
        won, lost = ((sign * worst > ROUNDING).sum(axis=0) / shared for sign in (1, -1))
    p_value = np.where(np.sign(ends[0]) == np.sign(ends[1]), np.maximum(p_low, p_high), 1.0)
    p_value = np.where(shared > 1, p_value, np.nan)
    closed = np.abs(ends[0] - ends[1]) <= ROUNDING
    table = pd.DataFrame(pairs, columns=["system_a", "system_b"]).assign(
        tasks=shared,
        tasks_a=of_each[first],
        tasks_b=of_each[second],
        low_pct=100 * low[0],
        high_pct=100 * high[1],
        p_value=p_value,
        holm_p_value=holm(p_value),
    )
    known = {"difference_pct": 100 * ends[0], "effect_size": effect, "won_pct": 100 * won, "lost_pct": 100 * lost}
    table = table.assign(**{name: np.where(closed, value, np.nan) for name, value in known.items()})
    return table.assign(note=_notes(table, resamples, level))


def _notes(table: pd.DataFrame, resamples: int, level: float) -> list[str]:
    tested = int(table["p_value"].notna().sum())
    # The least p-values that the flips of each pair's tasks can have; Holm's correction begins with the least of all.
    least = np.maximum(2.0 ** (1 - table.loc[table["tasks"] > 1, "tasks"]), 1 / (resamples + 1))
    over = f"{tested} pair{'' if tested == 1 else 's'}"
    hopeless = ""
    if tested * least.min() > 1 - level:
        hopeless = f"no result of so few tasks or resamples is beyond chance after Holm's correction over {over}"
    notes = []
    for tasks, of_a, of_b in table[["tasks", "tasks_a", "tasks_b"]].itertuples(index=False):
        told = []
        if tasks < max(of_a, of_b):
            told.append(f"on shared tasks alone, {tasks} of {of_a} and {of_b}")
        if tasks < 2:
            told.append("fewer than two shared tasks: not compared")
        elif few_units(tasks - 1, level):
            told.append("few shared tasks: no interval")
        if hopeless and tasks > 1:
            told.append(hopeless)
        notes.append("; ".join(told))
    return notes


def _tested(
    differences: np.ndarray, seed: int, resamples: int, level: float
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Interval ends and sign-flip p-values of the mean of each column (tasks x pairs)."""
    stratum = np.zeros(len(differences), int)
    spread = deviations(differences, stratum, np.ones((1, differences.shape[1])))
    drawn = resampled(spread.coefficients, stratum, np.random.default_rng(seed), resamples)
    shared = np.isfinite(differences).sum(axis=0)
    sums = np.nansum(differences, axis=0)
    means = np.divide(sums, shared, out=np.full(len(sums), np.nan), where=shared > 0)
    low, high = t_percentiles(means + drawn, spread.df, level)
    flips = sign_flips(len(differences), np.random.default_rng([seed, 1]), resamples)
    tested = sign_flip_p_values(np.nan_to_num(differences), flips)
    return (low, high), tested
