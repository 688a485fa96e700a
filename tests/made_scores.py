"""Tables of scores as `report_scores` gives them, from arrays: systems x tasks x runs x repeats."""

from __future__ import annotations

import numpy as np
import pandas as pd


def scores_of(values: np.ndarray, judge: str = "J") -> pd.DataFrame:
    """A row a score; systems S0, S1 ..., tasks T0, T1 ... in two domains by turns; a missing value is no row's score.

    A missing value in the first repeat is a missing report; in a later one that repeat was not made.
    """
    system, task, run, repeat = np.indices(values.shape).reshape(4, -1)
    score = values.ravel()
    frame = pd.DataFrame(
        {
            "system": np.array([f"S{number}" for number in range(values.shape[0])], dtype=object)[system],
            "task_id": np.array([f"T{number}" for number in range(values.shape[1])], dtype=object)[task],
            "run": run + 1,
            "judge": judge,
            "repeat": repeat + 1,
            "domain": np.array(["even", "odd"], dtype=object)[task % 2],
            "score": score,
            "lower": np.nan_to_num(score, nan=0.0),
            "upper": np.nan_to_num(score, nan=1.0),
            "graded_only": score,
            "unjudged": 0,
            "no_report": False,
            "missing": np.isnan(score),
        }
    )
    return frame[(frame["repeat"] == 1) | ~frame["missing"]].reset_index(drop=True)


def task_scores(*systems: list[float]) -> pd.DataFrame:
    """One run and one repeat: a list of tasks' scores a system."""
    return scores_of(np.array(systems, dtype=float)[:, :, None, None])


def nested_scores(
    rng: np.random.Generator,
    shape: tuple[int, int, int, int],
    deviations: tuple[float, float, float],
    shared: float = 0,
) -> np.ndarray:
    """Systems x tasks x runs x repeats around 0.5 with known standard deviations of tasks, runs and repeats.

    `shared` is the standard deviation of what is hard for all systems. Scores are not cut at 0 and 1.
    """
    systems, tasks, runs, _ = shape
    value = 0.5 + rng.normal(0, deviations[0], (systems, tasks, 1, 1)) + rng.normal(0, deviations[2], shape)
    value = value + rng.normal(0, deviations[1], (systems, tasks, runs, 1))
    return value + (rng.normal(0, shared, (1, tasks, 1, 1)) if shared else 0)
