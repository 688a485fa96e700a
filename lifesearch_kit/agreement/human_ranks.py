"""People's ranks of the systems beside the score's: who changes places, and against which scores people are held."""

from __future__ import annotations

import pandas as pd

from lifesearch_kit.agreement.rank_measures import RankAgreement, rank_agreement
from lifesearch_kit.errors import InputError

_MOVES_TOLD = 8


def rank_changes(rankings: pd.DataFrame) -> pd.DataFrame:
    """People's rank and the score's, a row a system, and how far they are apart (table 5 of the LifeSearch paper).

    Parameters
    ----------
    rankings
        A row a system: system, human_rank and score_rank, 1 the best, equal ones tied; a missing score_rank is one that
        there is none of.

    Returns
    -------
    DataFrame
        By people's rank: system, human_rank, score_rank, change (places by which the score has the system higher than
        people have it, negative for lower; missing for a system without both ranks), left_out (whether it is so).
        Places are counted among the systems with both ranks, tied ones sharing their mean place, so that a system
        without a rank moves no other.

    Raises
    ------
    InputError
        For a system that occurs more than once, or a rank below 1, naming the systems.
    """
    faults = [
        f"ranking: system {system!r} occurs {count} times; keep one row"
        for system, count in rankings["system"].value_counts(sort=False).items()
        if count > 1
    ]
    faults += [
        f"ranking of system {row['system']!r}: field {name!r} is {row[name]:g}; ranks begin at 1, the best"
        for row in rankings.to_dict("records")
        for name in ("human_rank", "score_rank")
        if row[name] < 1
    ]
    if faults:
        raise InputError(faults)
    table = rankings[["system", "human_rank", "score_rank"]].reset_index(drop=True)
    both = table.dropna()
    table["change"] = both["human_rank"].rank() - both["score_rank"].rank()
    table["left_out"] = ~table.index.isin(both.index)
    return table.sort_values(["human_rank", "score_rank"], kind="stable", ignore_index=True)


def change_words(changes: pd.DataFrame) -> str:
    """Say which systems the score has higher or lower than people, by how many places."""
    moved = changes[changes["change"].fillna(0) != 0]
    moved = moved.reindex(moved["change"].abs().sort_values(ascending=False, kind="stable").index)
    kept = int((changes["change"] == 0).sum())
    parts = [
        f"{row.system} {abs(row.change):g} {'place' if abs(row.change) == 1 else 'places'}"
        f" {'higher' if row.change > 0 else 'lower'}"
        for row in moved.head(_MOVES_TOLD).itertuples()
    ]
    if len(moved) > _MOVES_TOLD:
        parts.append(f"and {len(moved) - _MOVES_TOLD} more")
    compared = int((~changes["left_out"]).sum())
    told = f"The score keeps {kept} of {compared} systems in people's place" if compared else "No system has both ranks"
    lacking = changes.loc[changes["left_out"], "system"]
    without = f" Left out, for want of one of the two ranks: {', '.join(lacking)}." if len(lacking) else ""
    return f"{told}{'; it has ' + ', '.join(parts) if parts else ''}.{without}"


def whole_benchmark_ranks(rankings: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """The same systems ranked by their overall scores, beside the score ranks that came with people's.

    Parameters
    ----------
    rankings
        As for `rank_changes`.
    systems
        A row a system: system, score_pct over the whole benchmark. Further systems count nowhere.

    Returns
    -------
    DataFrame
        system, human_rank, score_rank, overall_rank (by score_pct among these systems, equal ones sharing their mean
        place; missing without a score).
    """
    table = rank_changes(rankings)[["system", "human_rank", "score_rank"]]
    overall = table["system"].map(systems.set_index("system")["score_pct"].astype(float))
    return table.assign(overall_rank=overall.round(9).rank(ascending=False))


def whole_benchmark_words(ranks: pd.DataFrame) -> str:
    """Say what people's ranks give against overall scores, and why that may be another value.

    People rank the reports of some tasks, so their order is to be held against the score's order on these tasks: a
    ranking that brings its own score_rank brings that. Overall scores are means over all tasks; part of what separates
    them from people's order is that the tasks are others.

    Parameters
    ----------
    ranks
        As `whole_benchmark_ranks` gives it.
    """
    own, overall = (
        rank_agreement(
            *(ranks.set_index("system")[name] for name in ("human_rank", column)), x_best="lowest", y_best="lowest"
        )
        for column in ("score_rank", "overall_rank")
    )
    if ranks["overall_rank"].isna().all():
        return "There are no overall scores of these systems, so people's ranks are held against the score ranks alone."
    both = ranks.dropna(subset=["score_rank", "overall_rank"])
    other = both[both["score_rank"].rank() != both["overall_rank"].rank()]
    if both.empty or other.empty:
        return "The score ranks are those of the overall scores."
    moved = ", ".join(f"{row.system} ({row.score_rank:g}, overall {row.overall_rank:g})" for row in other.itertuples())
    return (
        f"Against the overall scores people's ranks give {_values(overall)}, not {_values(own)}: the score ranks beside"
        f" people's are not those of the overall scores for {moved}. Score ranks that stand beside"
        " people's are to rest on the tasks whose reports people ranked, overall scores on every task; only the former"
        " judge what people saw."
    )


def _values(agreement: RankAgreement) -> str:
    parts = [
        f"{name} {measure.value:.3f}" if measure.value is not None else f"{name} undefined"
        for name, measure in (("Spearman", agreement.spearman), ("Kendall", agreement.kendall))
    ]
    return " and ".join(parts)
