"""Where the spread of scores comes from: tasks, agent runs, repeats of the judge.

A system's score of a task, run and repeat is taken as mean + task + run within the task + repeat within the run, each
with a variance of its own. The variances are estimated by the analysis of variance of a nested design with unequal
numbers (method of moments, Henderson's method 1; Searle, Casella and McCulloch 1992, chapter 5): without assuming a
distribution, unbiased, and negative at times, where the truth is near 0. What the data cannot tell apart stays
together: with one run of each task, tasks and runs; with one repeat, runs and repeats.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lifesearch_kit.statistics.score_levels import reports_present


@dataclass(frozen=True)
class Components:
    """Variances by the levels that each one covers, in squared units of the score (0 to 1).

    `error` says what a variance is multiplied by in the squared standard error of the score as it was measured.
    """

    variance: dict[tuple[str, ...], float]
    error: dict[tuple[str, ...], float]

    def of_task_mean(self, runs: int, repeats: int, within: bool = False) -> float:
        """Variance of a task's mean over so many runs and repeats, missing where it cannot be told.

        `within` leaves out the part of the task itself. Negative estimates count as 0.
        """
        divisor = {"tasks": 1, "runs": runs, "repeats": runs * repeats}
        total = 0.0
        for levels, value in self.variance.items():
            # Levels that were measured together can be told only where they would be divided alike again.
            divisors = {divisor[one] for one in levels}
            if len(divisors) > 1:
                return float("nan")
            if not (within and "tasks" in levels):
                total += float(np.maximum(0.0, value)) / divisors.pop()
        return total


def variance_components(scores: pd.DataFrame) -> pd.DataFrame:
    """How much of each system's spread comes from tasks, runs and the judge's repeats.

    Parameters
    ----------
    scores
        What `report_scores` gave, without unjudged rubrics. A missing report counts nowhere; reports scored 0 without
        a text hold one repeat.

    Returns
    -------
    DataFrame
        A row a judge, system and component: judge, system, tasks, runs (reports), repeats (passes of the judge),
        component (``tasks``, ``runs``, ``repeats``, or those that cannot be told apart, as ``runs and repeats``),
        sd_pct (square root of the variance, percentage points), share_pct (percent of the variance of a single score),
        error_share_pct (percent of the squared standard error of the system's score, as it was measured), note. A
        negative estimate is shown as 0, and its note gives it. Shares are missing where nothing varies, everything
        where a system has one task.

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged.
    InputError
        When there is no report.
    """
    tables = []
    for (judge, system), own in reports_present(scores).groupby(["judge", "system"], sort=False, observed=True):
        parts = components(own)
        values = np.maximum(0.0, list(parts.variance.values()))
        errors = values * np.array(list(parts.error.values()))
        shares = [100 * one / one.sum() if one.sum() > 0 else np.full(len(one), np.nan) for one in (values, errors)]
        table = pd.DataFrame(
            {
                "judge": judge,
                "system": system,
                "tasks": own["task_id"].nunique(),
                "runs": len(own[["task_id", "run"]].drop_duplicates()),
                "repeats": len(own),
                "component": [" and ".join(levels) for levels in parts.variance],
                "sd_pct": 100 * np.sqrt(values),
                "share_pct": shares[0],
                "error_share_pct": shares[1],
                "note": [_note(levels, value) for levels, value in parts.variance.items()],
            }
        )
        tables.append(table)
    return pd.concat(tables, ignore_index=True)


def components(own: pd.DataFrame) -> Components:
    """Estimate one system's variances, missing for a single task; a row of `own` is a repeat."""
    reports = own.groupby(["task_id", "run"], sort=False, observed=True)["score"].agg(["size", "mean"])
    repeats, means = reports["size"].to_numpy(float), reports["mean"].to_numpy(float)
    task = reports.groupby("task_id", sort=False, observed=True).ngroup().to_numpy()
    runs = np.bincount(task).astype(float)
    if len(runs) < 2:
        return Components({("tasks", "runs", "repeats"): float("nan")}, {("tasks", "runs", "repeats"): float("nan")})
    total, passes = repeats.sum(), np.bincount(task, repeats)
    task_means = np.bincount(task, repeats * means) / passes
    report_of_row = own.groupby(["task_id", "run"], sort=False, observed=True).ngroup().to_numpy()
    squares = {
        "repeats": float(((own["score"].to_numpy(float) - means[report_of_row]) ** 2).sum()),
        "runs": float((repeats * (means - task_means[task]) ** 2).sum()),
        "tasks": float((passes * (task_means - (passes * task_means).sum() / total) ** 2).sum()),
    }
    within = float((np.bincount(task, repeats**2) / passes).sum())
    free = {"repeats": total - len(reports), "runs": len(reports) - len(runs), "tasks": len(runs) - 1.0}
    repeat = squares["repeats"] / free["repeats"] if free["repeats"] else 0.0
    run = (squares["runs"] - free["runs"] * repeat) / (total - within) if free["runs"] else 0.0
    above = squares["tasks"] - free["tasks"] * repeat - (within - (repeats**2).sum() / total) * run
    values = {"tasks": above / (total - (passes**2).sum() / total), "runs": run, "repeats": repeat}
    # What is not 0 but for the order of sums is 0.
    values = {name: value if abs(value) > 1e-15 else 0.0 for name, value in values.items()}
    n = len(runs)
    factors = {
        "tasks": 1 / n,
        "runs": float((1 / runs).sum()) / n**2,
        "repeats": float((np.bincount(task, 1 / repeats) / runs**2).sum()) / n**2,
    }
    # A level without degrees of freedom shows in the next one above it.
    groups: list[tuple[str, ...]] = [("tasks",)]
    for name in ("runs", "repeats"):
        groups = [*groups, (name,)] if free[name] else [*groups[:-1], (*groups[-1], name)]
    return Components(
        {levels: values[levels[0]] for levels in groups}, {levels: factors[levels[0]] for levels in groups}
    )


def _note(levels: tuple[str, ...], value: float) -> str:
    if np.isnan(value):
        return "one task: nothing can be told of the spread"
    notes = []
    if value < 0:
        notes.append(f"estimated variance {1e4 * value:.3g} squared points, negative: shown as 0")
    if len(levels) > 1:
        short = {"runs": "one run of each task", "repeats": "one repeat of each judgment"}
        notes.append(f"{' and '.join(short[one] for one in levels[1:])}: cannot be told apart")
    return "; ".join(notes)
