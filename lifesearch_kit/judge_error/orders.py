"""What becomes of the systems' order when one judge takes another's place."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.agreement.rank_measures import RankAgreement, rank_agreement
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import REPORT_KEY
from lifesearch_kit.statistics.resampling import check_resampling
from lifesearch_kit.statistics.system_differences import pairwise_differences


def shared_scores(scores: pd.DataFrame, old: str, new: str) -> pd.DataFrame:
    """Scores of the reports that two judges graded whole.

    Parameters
    ----------
    scores
        What `report_scores` gave of both judges, with bounds where rubrics are unjudged. Repeats are averaged.
    old, new
        The judges.

    Returns
    -------
    DataFrame
        A row a report: system, task_id, run, old_pct, new_pct.

    Raises
    ------
    InputError
        For an unknown judge, or the same one twice.
    """
    judges = list(scores["judge"].unique())
    if old == new or old not in judges or new not in judges:
        raise InputError(f"judges {old!r} and {new!r}: name two of those that graded, {', '.join(map(repr, judges))}")
    by_report = scores.groupby([*REPORT_KEY, "judge"], sort=False, observed=True)["score"]
    means = by_report.agg(lambda column: column.mean(skipna=False)).unstack("judge")[[old, new]].dropna()
    return (100 * means).set_axis(["old_pct", "new_pct"], axis=1).reset_index()


def order_changes(
    scores: pd.DataFrame, old: str, new: str, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> pd.DataFrame:
    """Pairs of systems that the two judges put in opposite order, on the reports that both graded.

    Parameters
    ----------
    scores, old, new
        As for `shared_scores`.
    rng
        The only source of randomness.
    resamples, level
        As for `pairwise_differences`.

    Returns
    -------
    DataFrame
        A row a pair: system_a (ahead by the old judge), system_b, tasks (on which both judges graded both systems),
        old_difference_pct, old_low_pct, old_high_pct, new_difference_pct, new_low_pct, new_high_pct (see
        `pairwise_differences`, the same resamples for both judges; ends are missing for fewer than 6 tasks),
        beyond_chance (whether both intervals leave 0 outside, not corrected for several pairs; missing without
        intervals), note (why the ends are missing).
        Pairs that a judge ties, and pairs without a shared task, are left out.

    Raises
    ------
    InputError
        As `shared_scores`, and for a level outside 0 to 1 or less than one resample.
    """
    check_resampling(resamples, level)
    shared = shared_scores(scores, old, new).assign(judge="", repeat=1, missing=False, unjudged=0)
    seed = int(rng.integers(2**32))
    tables = []
    for name in ("old", "new"):
        rows = shared.assign(score=shared[f"{name}_pct"] / 100)
        found = pairwise_differences(rows, np.random.default_rng(seed), resamples, level)
        found = found[found["tasks"] > 0][["system_a", "system_b", "tasks", "difference_pct", "low_pct", "high_pct"]]
        tables.append(found.rename(columns={one: f"{name}_{one}" for one in ("difference_pct", "low_pct", "high_pct")}))
    pairs = tables[0].merge(tables[1], on=["system_a", "system_b", "tasks"])
    turned = pairs.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    for name in ("old", "new"):
        turned[f"{name}_difference_pct"] = -pairs[f"{name}_difference_pct"]
        turned[f"{name}_low_pct"], turned[f"{name}_high_pct"] = -pairs[f"{name}_high_pct"], -pairs[f"{name}_low_pct"]
    ahead = pairs["old_difference_pct"] > 0
    table = pairs.where(ahead, turned[pairs.columns])
    # Rounded: means of the same numbers in another order differ by less.
    changed = (table["old_difference_pct"].round(9) > 0) & (table["new_difference_pct"].round(9) < 0)
    few = table["old_low_pct"].isna()
    beyond = ((table["old_low_pct"] > 0) & (table["new_high_pct"] < 0)).astype("boolean").mask(few)
    note = np.where(few, "few shared tasks, so no intervals", "")
    return table.assign(beyond_chance=beyond, note=note)[changed].reset_index(drop=True)


def judge_rankings(scores: pd.DataFrame, old: str, new: str) -> RankAgreement:
    """Compare the two judges' orders of the systems, by mean over tasks of the reports that both graded.

    Parameters
    ----------
    scores, old, new
        As for `shared_scores`.

    Raises
    ------
    InputError
        As `shared_scores`.
    """
    by_task = shared_scores(scores, old, new).groupby(["system", "task_id"])[["old_pct", "new_pct"]].mean()
    means = by_task.groupby(level="system").mean()
    return rank_agreement(means["old_pct"], means["new_pct"])
