"""Scores at the level of tasks, agent runs or judge's repeats: what intervals and comparisons start from."""

from __future__ import annotations

from typing import Literal

import pandas as pd

from lifesearch_kit.errors import InputError, UnjudgedError

Over = Literal["tasks", "runs", "repeats"]
Unjudged = Literal["refuse", "bounds"]
# What names one unit of a level.
UNITS: dict[str, list[str]] = {
    "tasks": ["task_id"],
    "runs": ["task_id", "run"],
    "repeats": ["task_id", "run", "repeat"],
}


def reports_present(scores: pd.DataFrame, unjudged: Unjudged = "refuse") -> pd.DataFrame:
    """Scores of the reports that are there.

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged and `unjudged` is ``refuse``.
    InputError
        For an unknown `unjudged`, or where no report is there.
    """
    if unjudged not in ("refuse", "bounds"):
        raise InputError(f"unjudged={unjudged!r} is not known; choose 'refuse' or 'bounds'")
    count = int(scores["unjudged"].sum())
    if count and unjudged == "refuse":
        raise UnjudgedError(f"{count} rubrics are unjudged, so there is no score; judge them, or ask for bounds")
    present = scores[~scores["missing"].astype(bool)]
    if present.empty:
        raise InputError("there is no report, so there is no score; run the agents first")
    return present


def level_means(present: pd.DataFrame, over: Over, value: str = "score") -> pd.DataFrame:
    """Means of the units of a level, each lower level equal within the next: sorted units x systems as they appear."""
    means = present.groupby(["system", *UNITS["repeats"]], observed=True)[value].mean()
    for name in ("runs", "tasks")[: ("repeats", "runs", "tasks").index(over)]:
        means = means.groupby(["system", *UNITS[name]], observed=True).mean()
    return means.astype(float).unstack("system").reindex(columns=present["system"].unique())


def end_means(own: pd.DataFrame, unjudged: Unjudged) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Task means with open rubrics failed and passed; the same table twice where none is open."""
    if unjudged == "refuse" or not own["unjudged"].any():
        means = level_means(own, "tasks")
        return means, means
    return level_means(own, "tasks", "lower"), level_means(own, "tasks", "upper")
