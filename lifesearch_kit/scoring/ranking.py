"""Who is ahead of whom: each system against the next, what could still change their order, and people's order."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.collect.accounting import unjudged_words
from lifesearch_kit.results import Results
from lifesearch_kit.scoring.scores import system_scores, unsettled_pairs
from lifesearch_kit.scoring.summaries import choose_judge, settled
from lifesearch_kit.statistics.system_differences import ROUNDING, pairwise_differences

_PAIRS_SHOWN = 10


def steps_down(scores: pd.DataFrame, rng: np.random.Generator, resamples: int = 2000) -> pd.DataFrame:
    """Compare each system with the next in the order of `system_scores`, task by task.

    Parameters
    ----------
    scores
        What `report_scores` gave, of one judge.

    Returns
    -------
    DataFrame
        A row a pair: system, next, difference_pct (points of score, first minus second; missing where one of them has
        unjudged rubrics), low_pct, high_pct (95% interval of `pairwise_differences`, its lower end with all that is
        open decided against the first system and for the second, its upper end the other way round; missing for fewer
        than 6 tasks), excludes_0 (missing without an interval). The intervals are not corrected for comparing several
        pairs.
    """
    table = system_scores(scores).set_index("system")["score_pct"].astype(float)
    seed = int(rng.integers(2**32))
    rows = []
    for first, second in zip(table.index[:-1], table.index[1:], strict=True):
        ends = [
            pairwise_differences(_decided(scores, first, second, end), np.random.default_rng(seed), resamples).iloc[0]
            for end in ("lower", "upper")
        ]
        rows.append((first, second, table[first] - table[second], ends[0]["low_pct"], ends[1]["high_pct"]))
    steps = pd.DataFrame(rows, columns=["system", "next", "difference_pct", "low_pct", "high_pct"])
    beyond = ((steps["low_pct"] > ROUNDING) | (steps["high_pct"] < -ROUNDING)).astype("boolean")
    return steps.assign(excludes_0=beyond.mask(steps["low_pct"].isna()))


def efficient_frontier(systems: pd.DataFrame, column: str) -> pd.DataFrame:
    """The systems that no other one reaches with as little: none has as much score for less, or more for as little.

    Parameters
    ----------
    systems
        Columns system, score_pct and `column` (what a run took); rows without either are left out. Scores are taken as
        they are: two systems whose difference could be chance are not alike here.

    Returns
    -------
    DataFrame
        The rows of these systems, the one that took least first.
    """
    rows = systems.dropna(subset=["score_pct", column])
    score, cost = (rows[name].to_numpy(float) for name in ("score_pct", column))
    more, less = score[None, :] > score[:, None] + ROUNDING, cost[None, :] < cost[:, None]
    as_much, as_little = score[None, :] >= score[:, None] - ROUNDING, cost[None, :] <= cost[:, None]
    beaten = ((more & as_little) | (as_much & less)).any(axis=1)
    return rows[~beaten].sort_values([column, "system"], ignore_index=True)


def unsettled_words(scores: pd.DataFrame) -> str:
    """Say which systems could change places if unjudged rubrics were judged and missing reports were there."""
    table = system_scores(scores)
    if len(table) < 2:
        return "There is one system alone, so there is no order that could change."
    pairs = unsettled_pairs(table)
    if pairs.empty:
        return "No unjudged rubric and no missing report could change the order of these systems."
    named = [f"{row.system_a} and {row.system_b}" for row in pairs.head(_PAIRS_SHOWN).itertuples()]
    more = f"; and {len(pairs) - _PAIRS_SHOWN:,} more pairs" if len(pairs) > _PAIRS_SHOWN else ""
    return f"Unjudged rubrics and missing reports could change the order of {'; '.join(named)}{more}."


def unjudged_causes(results: Results, scores: pd.DataFrame | None, judge: str = "") -> str:
    """Say whose verdicts count, how many rubrics that judge left unjudged, why, and in which systems' reports.

    Parameters
    ----------
    scores
        What `graded_reports` gave for the same judge.
    """
    if results.judgments is None or scores is None:
        return "There are no judgments, so nothing is known of unjudged rubrics."
    chosen = choose_judge(results.judgments, judge)
    others = sorted(set(results.judgments["judge"]) - {chosen})
    also = f" (here too: {', '.join(others)}; name one as `judge`)" if others else ""
    return f"The verdicts are those of {chosen}{also}. {_unjudged(results.judgments, chosen, scores)}"


def _unjudged(judgments: pd.DataFrame, judge: str, scores: pd.DataFrame) -> str:
    own = judgments.loc[judgments["judge"] == judge, ["system", "satisfied", "status"]]
    counts = own[own["satisfied"].isna()].groupby(["status", "system"], observed=True).size()
    left = int(scores["unjudged"].sum()) - int(counts.sum())
    asked = f" {left:,} more rubrics of these reports were not asked yet." if left > 0 else ""
    if counts.empty:
        return f"Every one of {len(own):,} judgments holds a verdict.{asked}"
    by_cause = counts.groupby("status")
    causes = [unjudged_words(str(status), part.droplevel("status").to_dict()) for status, part in by_cause]
    return f"Of {len(own):,} judgments, {'; '.join(causes)}.{asked}"


def human_ranking(results: Results, scores: pd.DataFrame | None) -> pd.DataFrame | None:
    """People's ranks beside the score's.

    Returns
    -------
    DataFrame or None
        The rankings of the folder: system, human_rank, score_rank. Where they hold no score_rank at all, it is the rank
        of the score among these systems, 1 the best, equal scores sharing their mean rank; missing for a system without
        a score.
    """
    rankings = results.rankings
    if rankings is None or rankings["score_rank"].notna().any():
        return rankings
    overall = results.systems if scores is None else system_scores(scores)
    if overall is None:
        return rankings
    found = rankings["system"].map(overall.set_index("system")["score_pct"].astype(float))
    return rankings.assign(score_rank=found.round(9).rank(ascending=False))


def _decided(scores: pd.DataFrame, first: str, second: str, end: str) -> pd.DataFrame:
    """Two systems' scores, the first one's at this end and the second one's at the other, in this order."""
    other = {"lower": "upper", "upper": "lower"}[end]
    return pd.concat(
        [settled(scores[scores["system"] == one], side) for one, side in ((first, end), (second, other))],
        ignore_index=True,
    )
