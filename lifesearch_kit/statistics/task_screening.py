"""Tasks to look at again: those that no system comes near to, and those that every system passes.

The LifeSearch paper screens its tasks for outliers: low-scoring ones are checked for flaws, too easy ones tightened. A
low score alone is no flaw (its best system stays under half of the weight on 41 of 203 tasks), so what else speaks for
one stands beside it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError

HARD, EASY = "suspiciously hard", "too easy"
_FEWEST_FOR_FENCES = 8
_COUNTS = ["rubrics", "never_passed", "always_passed", "against_rest", "unstable"]


def screen_tasks(
    scores: pd.DataFrame, items: pd.DataFrame, *, hard_pct: float = 50.0, easy_pct: float = 90.0
) -> pd.DataFrame:
    """Rank the tasks by how far they lie from the others, with what speaks for a flaw or for tightening.

    A task is suspiciously hard where its best system stays under `hard_pct`, or its mean lies under the lower fence of
    all tasks' means (first quartile minus 1.5 interquartile ranges, Tukey 1977); too easy where even its worst system
    reaches `easy_pct`, or its mean lies over the upper fence. Fences need 8 tasks.

    Parameters
    ----------
    scores
        What `report_scores` gave, of one judge. Missing reports count nowhere; one that a system failed to write counts
        as 0 and is told. Where rubrics are unjudged, what was judged counts.
    items
        What `rubric_items` gave of the same judgments.
    hard_pct, easy_pct
        Percent of the weight.

    Returns
    -------
    DataFrame
        A row a task with a report, those to look at first, the farthest from the median of the tasks' means on top:
        task_id, finding (``suspiciously hard``, ``too easy`` or empty), mean_pct (mean over systems), best_system,
        best_pct, worst_system, worst_pct (a system's mean over runs and repeats), systems, no_report (runs without a
        text to grade), rubrics (judged), never_passed, always_passed, against_rest (discrimination below 0), unstable
        (judged both ways), reasons (a sentence each; empty without a finding).

    Raises
    ------
    InputError
        For scores of several judges, none at all, or thresholds outside 0 to 100 or the wrong way round.
    """
    judges = scores["judge"].unique()
    if len(judges) > 1:
        raise InputError(f"scores of {len(judges)} judges ({', '.join(map(repr, judges))}); choose one")
    if not 0 <= hard_pct < easy_pct <= 100:
        raise InputError(f"hard_pct={hard_pct!r}, easy_pct={easy_pct!r}: give 0 to 100, the hard one lower")
    there = scores[~scores["missing"].astype(bool)]
    if there.empty:
        raise InputError("there is no scored report, so no task can be screened")
    table = _tasks(there).merge(_rubrics(items), on="task_id", how="left", validate="1:1")
    table[_COUNTS] = table[_COUNTS].fillna(0).astype("int64")  # no rubric is judged where no run left a report
    fences = _fences(table["mean_pct"].to_numpy(float))
    found = [_finding(row, fences, hard_pct, easy_pct) for row in table.to_dict("records")]
    table = table.assign(finding=[one for one, _ in found], reasons=[" ".join(sentences) for _, sentences in found])
    distance = (table["mean_pct"] - table["mean_pct"].median()).abs().round(9)
    order = pd.DataFrame({"plain": table["finding"] == "", "near": -distance}).sort_values(
        ["plain", "near"], kind="stable"
    )
    columns = ["task_id", "finding", *(name for name in table if name not in ("task_id", "finding"))]
    return table.loc[order.index, columns].reset_index(drop=True)


def _tasks(scores: pd.DataFrame) -> pd.DataFrame:
    """A row a task: mean over systems, best and worst system."""
    systems = scores.groupby(["task_id", "system"], sort=False, observed=True)["graded_only"].mean() * 100
    rows = []
    for task, own in systems.groupby("task_id", sort=False):
        one = own.droplevel("task_id").dropna()
        if one.empty:
            continue
        rows.append((task, one.mean(), one.idxmax(), one.max(), one.idxmin(), one.min(), len(one)))
    names = ["task_id", "mean_pct", "best_system", "best_pct", "worst_system", "worst_pct", "systems"]
    failed = scores[scores["no_report"].astype(bool)].drop_duplicates(["system", "task_id", "run"])
    table = pd.DataFrame(rows, columns=names)
    return table.assign(no_report=table["task_id"].map(failed.groupby("task_id").size()).fillna(0).astype(int))


def _rubrics(items: pd.DataFrame) -> pd.DataFrame:
    judged = items[items["reports"] > 0].assign(
        against_rest=items["discrimination"] < 0, is_unstable=items["unstable"] > 0
    )
    return (
        judged.groupby("task_id", sort=False)
        .agg(
            rubrics=("rubric_id", "size"),
            never_passed=("never_passed", "sum"),
            always_passed=("always_passed", "sum"),
            against_rest=("against_rest", "sum"),
            unstable=("is_unstable", "sum"),
        )
        .reset_index()
    )


def _fences(means: np.ndarray) -> tuple[float, float]:
    if len(means) < _FEWEST_FOR_FENCES:
        return -np.inf, np.inf
    first, third = np.quantile(means, [0.25, 0.75])
    return float(first - 1.5 * (third - first)), float(third + 1.5 * (third - first))


def _finding(row: dict[Any, Any], fences: tuple[float, float], hard: float, easy: float) -> tuple[str, list[str]]:
    """What is found of a task, and the sentences that say why."""
    low, high = fences
    mean, best, worst = row["mean_pct"], row["best_pct"], row["worst_pct"]
    reasons = []
    if best < hard:
        reasons.append(f"The best system, {row['best_system']}, reaches {best:.1f}% of the weight.")
    if worst >= easy:
        reasons.append(f"Even the worst system, {row['worst_system']}, reaches {worst:.1f}% of the weight.")
    if mean < low or mean > high:
        side, fence = ("under", low) if mean < low else ("over", high)
        reasons.append(f"The mean of {mean:.1f}% lies {side} the fence of {fence:.1f}% for outliers.")
    if not reasons:
        return "", []
    is_hard = best < hard or (mean < low and worst < easy)
    rubrics = f"of its {row['rubrics']:.0f} rubrics"
    if is_hard and row["never_passed"] > 0:
        reasons.append(f"No report passes {row['never_passed']:.0f} {rubrics}: read them for a flaw.")
    if is_hard and row["against_rest"] > 0:
        reasons.append(f"Reports that are better otherwise fail {row['against_rest']:.0f} {rubrics}: read them again.")
    if not is_hard and row["always_passed"] > 0:
        reasons.append(f"Every report passes {row['always_passed']:.0f} {rubrics}, which tell no systems apart.")
    if row["unstable"] > 0:
        reasons.append(f"The judge decides {row['unstable']:.0f} {rubrics} both ways in repeats.")
    if is_hard and row["no_report"]:
        reasons.append(f"Runs without a report: {row['no_report']}; that says more of the systems than of the task.")
    return (HARD if is_hard else EASY), reasons
