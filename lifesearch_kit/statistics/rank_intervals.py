"""Between which ranks each system lies, and how often it leads."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.statistics.resampling import check_resampling, deviations, few_units, resampled
from lifesearch_kit.statistics.score_levels import Unjudged, end_means, reports_present
from lifesearch_kit.statistics.system_differences import ROUNDING, pair_table

_FEW = "few tasks in common: resamples of them say nothing of ranks"


def rank_intervals(
    scores: pd.DataFrame,
    rng: np.random.Generator,
    resamples: int = 10_000,
    level: float = 0.95,
    unjudged: Unjudged = "refuse",
) -> pd.DataFrame:
    """Between which ranks each system lies, and how often it leads, over the tasks that all systems have.

    Two kinds of interval. From best_rank to worst_rank: a system is below those alone that are better than it after
    Holm's correction over all pairs, and above those that are worse; all these intervals together hold the true ranks
    with the probability `level` (Mogstad, Romano, Shaikh and Wilhelm 2024, with Holm's step-down). From rank_low to
    rank_high: percentiles of the rank in resamples of the tasks, each system for itself. Where systems are close, the
    second kind is too narrow (Xie, Singh and Zhang 2009), and it is no ground to call a rank sure.

    Parameters
    ----------
    scores, rng, resamples, level
        As for `pairwise_differences`.
    unjudged
        ``bounds`` gives each system its best rank with its own open rubrics passed and all others' failed, its worst
        the other way round; rank and first_pct are those with everything decided against it.

    Returns
    -------
    DataFrame
        A row a judge and system, the best first: judge, system, tasks (that all have), tasks_of_system, score_pct (on
        the common tasks; with open rubrics what it has for certain), rank (1 the best, ties share the better),
        best_rank, worst_rank, rank_low, rank_high, first_pct (in how many percent of the resamples it leads; a tie
        counts by parts), note. With fewer than six tasks in common (at 95%) resamples say nothing: rank_low, rank_high
        and first_pct are missing. With fewer than two no rank is known: each lies between the first and the last, the
        rest is missing, and the note names the systems with the fewest tasks. first_pct is a bootstrap's
        answer to "is it really the first?", not a probability given anything known of the systems before.

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged and `unjudged` is ``refuse``.
    InputError
        As for `pairwise_differences`.
    """
    check_resampling(resamples, level)
    present = reports_present(scores, unjudged)
    seed = int(rng.integers(2**32))
    tables = []
    for judge, own in present.groupby("judge", sort=False, observed=True):
        of_system = own.groupby("system", observed=True)["task_id"].nunique()
        common = own.groupby("task_id", observed=True)["system"].nunique() == len(of_system)
        if common.sum() < 2:
            table = _unknown(of_system, int(common.sum()))
        else:
            shared = own[own["task_id"].isin(common.index[common])]
            table = _ranks(shared, unjudged, seed, resamples, level).assign(note="")
            if few_units(int(common.sum()) - 1, level):
                table = table.assign(**dict.fromkeys(["rank_low", "rank_high", "first_pct"], float("nan")), note=_FEW)
        table = table.assign(judge=judge)
        table["tasks_of_system"] = table["system"].map(of_system).astype(int)
        tables.append(table)
    columns = ["judge", "system", "tasks", "tasks_of_system", "score_pct", "rank", "best_rank", "worst_rank"]
    return pd.concat(tables, ignore_index=True)[[*columns, "rank_low", "rank_high", "first_pct", "note"]]


def _ranks(shared: pd.DataFrame, unjudged: Unjudged, seed: int, resamples: int, level: float) -> pd.DataFrame:
    low_means, high_means = end_means(shared, unjudged)
    least = _drawn(low_means, seed, resamples)
    most = least if high_means is low_means else _drawn(high_means, seed, resamples)
    pairs = pair_table(shared, unjudged, seed, resamples, level)
    beyond = pairs[pairs["holm_p_value"] <= 1 - level]
    systems = low_means.columns
    sure, possible = low_means.mean().to_numpy(), high_means.mean().to_numpy()
    ahead = np.where(
        sure[systems.get_indexer(beyond["system_a"])] > sure[systems.get_indexer(beyond["system_b"])],
        beyond["system_a"],
        beyond["system_b"],
    )
    behind = np.where(ahead == beyond["system_a"], beyond["system_b"], beyond["system_a"])
    rows = []
    for at, system in enumerate(systems):
        above = np.delete(most, at, axis=1) > least[:, [at]] + ROUNDING
        never_below = np.delete(least, at, axis=1) > most[:, [at]] + ROUNDING
        level_with = (np.abs(np.delete(most, at, axis=1) - least[:, [at]]) <= ROUNDING).sum(axis=1)
        first = np.where(above.any(axis=1), 0.0, 1 / (1 + level_with)).mean()
        low, high = _rank_percentiles(1 + never_below.sum(axis=1), 1 + above.sum(axis=1), level)
        rank = 1 + int((np.delete(possible, at) > sure[at] + ROUNDING).sum())
        best, worst = 1 + int((behind == system).sum()), len(systems) - int((ahead == system).sum())
        rows.append((system, len(low_means), 100 * sure[at], rank, best, worst, low, high, 100 * first))
    names = ["system", "tasks", "score_pct", "rank", "best_rank", "worst_rank", "rank_low", "rank_high", "first_pct"]
    return pd.DataFrame(rows, columns=names).sort_values("score_pct", ascending=False, kind="stable")


def _unknown(of_system: pd.Series, common: int) -> pd.DataFrame:
    """The rows of systems that have no two tasks in common."""
    fewest = ", ".join(f"{name} ({count})" for name, count in of_system.nsmallest(3).items())
    numbers = dict.fromkeys(["score_pct", "rank", "rank_low", "rank_high", "first_pct"], float("nan"))
    return pd.DataFrame(
        {"system": of_system.index, "tasks": common, "best_rank": 1, "worst_rank": len(of_system)}
    ).assign(**numbers, note=f"tasks that all systems have: {common}; leave out those with the fewest: {fewest}")


def _drawn(means: pd.DataFrame, seed: int, resamples: int) -> np.ndarray:
    """Resampled scores: resamples x systems."""
    stratum = np.zeros(len(means), int)
    spread = deviations(means.to_numpy(), stratum, np.ones((1, means.shape[1])))
    drawn = resampled(spread.coefficients, stratum, np.random.default_rng(seed), resamples)
    return means.mean().to_numpy() + drawn


def _rank_percentiles(best: np.ndarray, worst: np.ndarray, level: float) -> tuple[int, int]:
    low = np.quantile(best, (1 - level) / 2, method="inverted_cdf")
    high = np.quantile(worst, (1 + level) / 2, method="inverted_cdf")
    return int(low), int(high)
