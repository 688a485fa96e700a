"""How long scoring takes: ``python tests/bench/bench_scoring.py``.

144,504 judgments, the size of the paper's study (12 systems x 3 runs x 4,014 rubrics), made up by a seeded generator;
the first measurement leaves 13 of them out and asks for bounds. Target: under 0.1 s from a DataFrame of plain strings.
Median of nine; a busy machine shows in it.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.scoring.report_scores import report_scores
from lifesearch_kit.scoring.scores import system_scores
from lifesearch_kit.statistics.hierarchical import hierarchical_intervals
from lifesearch_kit.statistics.system_differences import pairwise_differences

SYSTEMS, RUNS, TASKS, RUBRICS, JUDGMENTS, TARGET = 12, 3, 203, 4014, 144_491, 0.1


def made_up_study(rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rubrics and a judgment for each rubric of each report."""
    sizes = np.full(TASKS, RUBRICS // TASKS) + (np.arange(TASKS) < RUBRICS % TASKS)
    rubrics = pd.DataFrame(
        {
            "task_id": np.repeat([f"task-{number}" for number in range(TASKS)], sizes),
            "rubric_id": [f"R{number}" for size in sizes for number in range(1, size + 1)],
            "language": "en",
            "domain": np.repeat([f"domain {number % 7}" for number in range(TASKS)], sizes),
            "weight": rng.integers(1, 11, RUBRICS) / 10,
        }
    )
    reports = [(f"system {number}", run) for number in range(SYSTEMS) for run in range(1, RUNS + 1)]
    judgments = pd.concat(
        [rubrics[["task_id", "rubric_id"]].assign(system=system, run=run) for system, run in reports], ignore_index=True
    )
    passed = pd.array(rng.random(len(judgments)) < 0.5, dtype="boolean")
    return rubrics, judgments.assign(judge="judge", repeat=1, satisfied=passed, status="ok")


def median_seconds(call: Callable[[], object], times: int = 9) -> float:
    """Median wall time of a call, after one to warm up."""
    call()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        taken.append(time.perf_counter() - start)
    return float(np.median(taken))


def main() -> None:
    rng = np.random.default_rng(0)
    rubrics, judgments = made_up_study(rng)
    some = judgments.head(JUDGMENTS)
    shuffled = judgments.sample(frac=1, random_state=1)
    categories = judgments.astype(dict.fromkeys(["system", "task_id", "rubric_id", "judge"], "category"))
    scores = report_scores(rubrics, judgments)
    warnings.simplefilter("ignore", InputWarning)
    measured = {
        f"{JUDGMENTS:,} judgments, stored order": lambda: report_scores(rubrics, some, unjudged="bounds"),
        f"{len(judgments):,} judgments, all judged": lambda: report_scores(rubrics, judgments),
        "the same, shuffled": lambda: report_scores(rubrics, shuffled),
        "the same, categories": lambda: report_scores(rubrics, categories),
        "system scores of these": lambda: system_scores(scores),
        "2,000 resamples": lambda: hierarchical_intervals(scores, np.random.default_rng(0)),
        "2,000 resamples, all 66 pairs": lambda: pairwise_differences(scores, np.random.default_rng(0), 2000),
    }
    for number, (name, call) in enumerate(measured.items()):
        seconds = median_seconds(call)
        verdict = f"  target {TARGET} s: {'met' if seconds < TARGET else 'MISSED'}" if number < 4 else ""
        print(f"{name:36} {1000 * seconds:7.1f} ms{verdict}")


if __name__ == "__main__":
    main()
