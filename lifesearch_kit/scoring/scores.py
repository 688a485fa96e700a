"""The means of equation 1: scores of runs, systems, domains and languages (section 3 and table 4 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

_VALUES = ["score", "lower", "upper", "graded_only"]
_COUNTS = ["unjudged", "no_report", "missing"]


def run_scores(scores: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Mean over tasks, each task equal, for each system, judge and run.

    Parameters
    ----------
    scores
        What `report_scores` gave. Repeats of a judge are averaged within a report first.
    by
        Further columns to group by, such as ``["domain"]``.

    Returns
    -------
    DataFrame
        system, judge, *by*, run; score and graded_only (0 to 1; means over the tasks that have a report, score missing
        where any of them holds an unjudged rubric), lower and upper (means over all tasks: a missing report counts as
        0 and as 1); tasks (with a report), unjudged (rubrics), no_report and missing (tasks). A run that left no report
        at all, where other systems made that run, is a row without a score.
    """
    key = ["system", "judge", *by, "run"]
    tasks = scores.groupby([*key, "task_id"], observed=True, sort=False).agg(
        **{name: (name, "mean") for name in _VALUES},
        unjudged=("unjudged", "sum"),
        no_report=("no_report", "max"),
        missing=("missing", "max"),
    )
    tasks["present"] = ~tasks["missing"]
    runs = tasks.groupby(key, observed=True, sort=False).agg(
        **{name: (name, "mean") for name in _VALUES},
        tasks=("present", "sum"),
        **{name: (name, "sum") for name in _COUNTS},
    )
    runs["score"] = runs["score"].mask(runs["unjudged"] > 0)
    return runs.reset_index()


def system_scores(scores: pd.DataFrame, by: Sequence[str] = ()) -> pd.DataFrame:
    """Benchmark scores: the mean of the run scores and their sample standard deviation.

    Parameters
    ----------
    scores
        What `report_scores` gave.
    by
        Further columns to group by.

    Returns
    -------
    DataFrame
        The highest lower_pct first within a judge (and group): system, judge, *by*, runs and tasks (with a report),
        score_pct (over the reports that there are), score_sd_pct (ddof = 1 over runs; missing for a single run),
        lower_pct, upper_pct, graded_only_pct (percent), unjudged (rubrics, all runs), no_report and missing (task
        runs, those of a run lost whole included). A score with unjudged rubrics is missing. What the score would be
        with every rubric judged and every missing report there lies between lower and upper.
    """
    key = ["system", "judge", *by]
    runs = run_scores(scores, by)
    runs[_VALUES] *= 100
    grouped = runs.groupby(key, observed=True, sort=False)
    summary = grouped.agg(
        runs=("tasks", lambda column: (column > 0).sum()),
        score_pct=("score", "mean"),
        score_sd_pct=("score", lambda column: column.std(ddof=1)),
        **{f"{name}_pct": (name, "mean") for name in _VALUES[1:]},
        **{name: (name, "sum") for name in _COUNTS},
    )
    incomplete = summary["unjudged"] > 0
    for name in ("score_pct", "score_sd_pct"):
        summary[name] = summary[name].mask(incomplete).astype("Float64")
    present = scores[~scores["missing"].astype(bool)].groupby(key, observed=True)["task_id"].nunique()
    summary.insert(1, "tasks", present.reindex(summary.index, fill_value=0))
    order = ["judge", *by, "lower_pct"]
    ascending = [name != "lower_pct" for name in order]
    return summary.reset_index().sort_values(order, ascending=ascending, ignore_index=True)


def group_scores(scores: pd.DataFrame, by: str = "domain") -> pd.DataFrame:
    """Scores of `system_scores` within each value of a task's column: ``domain`` or ``language``."""
    return system_scores(scores, [by])


def unsettled_pairs(systems: pd.DataFrame) -> pd.DataFrame:
    """Pairs of systems whose order could change with the verdicts that are open and the reports that are missing.

    Parameters
    ----------
    systems
        What `system_scores` gave.

    Returns
    -------
    DataFrame
        judge, system_a, system_b: a row for each pair of one judge whose bounds overlap. None means that the ranking
        of these reports' systems is settled, however the open rubrics are judged and the missing reports turn out.
    """
    columns = ["judge", "system", "lower_pct", "upper_pct"]
    # Rounded: bounds that are equal but for the order of a sum do not overlap.
    bounds = systems[columns].round(9)
    pairs = bounds.merge(bounds, on="judge", suffixes=("_a", "_b"))
    place = pd.Index(systems["system"].unique())
    once = place.get_indexer(pd.Index(pairs["system_a"])) < place.get_indexer(pd.Index(pairs["system_b"]))
    overlap = (pairs["lower_pct_a"] < pairs["upper_pct_b"]) & (pairs["lower_pct_b"] < pairs["upper_pct_a"])
    return pairs.loc[once & overlap, ["judge", "system_a", "system_b"]].reset_index(drop=True)
