"""How long the uncertainty of scores takes: ``python tests/bench/bench_uncertainty.py``.

The size of the paper's study, 12 systems x 203 tasks x 3 runs, made up by a seeded generator, and 10,000 resamples.
Target: intervals over tasks, runs and repeats, all 66 pairs and the ranks together under 2 s of CPU, and under 500 MB
at the peak, everything imported. Median of five; a busy machine shows in it. Set OPENBLAS_NUM_THREADS=1 for one core.
"""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd

from lifesearch_kit.statistics.hierarchical import hierarchical_intervals
from lifesearch_kit.statistics.precision import benchmark_precision
from lifesearch_kit.statistics.rank_intervals import rank_intervals
from lifesearch_kit.statistics.system_differences import pairwise_differences
from lifesearch_kit.statistics.variance import variance_components

SYSTEMS, TASKS, RUNS, RESAMPLES, TARGET, MEMORY = 12, 203, 3, 10_000, 2.0, 500


def made_up_scores(rng: np.random.Generator, repeats: int) -> pd.DataFrame:
    """Scores with spread over tasks, runs and repeats."""
    shape = (SYSTEMS, TASKS, RUNS, repeats)
    system, task, run, repeat = np.indices(shape).reshape(4, -1)
    values = rng.beta(1.5, 1.5, (*shape[:2], 1, 1)) + rng.normal(0, 0.1, (*shape[:3], 1)) + rng.normal(0, 0.03, shape)
    score = np.clip(values, 0, 1).ravel()
    return pd.DataFrame(
        {
            "system": np.array([f"system {number}" for number in range(SYSTEMS)])[system],
            "task_id": np.array([f"task-{number}" for number in range(TASKS)])[task],
            "domain": np.array([f"domain {number}" for number in range(7)])[task % 7],
            "run": run + 1,
            "judge": "judge",
            "repeat": repeat + 1,
            **dict.fromkeys(["score", "lower", "upper"], score),
            "unjudged": 0,
            "no_report": False,
            "missing": False,
        }
    )


def median_seconds(call: Callable[[], object], times: int = 5) -> float:
    """Median CPU time of a call, after one to warm up."""
    call()
    taken = []
    for _ in range(times):
        start = time.process_time()
        call()
        taken.append(time.process_time() - start)
    return float(np.median(taken))


def main() -> None:
    scores, three = (made_up_scores(np.random.default_rng(0), repeats) for repeats in (1, 3))
    rng = np.random.default_rng(1)
    targeted = {
        "intervals over tasks": lambda: hierarchical_intervals(scores, rng, resamples=RESAMPLES),
        "over runs": lambda: hierarchical_intervals(scores, rng, "runs", resamples=RESAMPLES),
        "over repeats, 3 of them": lambda: hierarchical_intervals(three, rng, "repeats", resamples=RESAMPLES),
        "all 66 pairs": lambda: pairwise_differences(scores, rng, RESAMPLES),
        "ranks": lambda: rank_intervals(scores, rng, RESAMPLES),
    }
    others = {
        "intervals by domain": lambda: hierarchical_intervals(scores, rng, by="domain", resamples=RESAMPLES),
        "variance components": lambda: variance_components(three),
        "precision, 24 combinations": lambda: benchmark_precision(three, range(20, 260, 20), [1, 3]),
    }
    total = 0.0
    for name, call in targeted.items():
        seconds = median_seconds(call)
        total += seconds
        print(f"{name:28} {1000 * seconds:7.0f} ms")
    print(f"{'together':28} {1000 * total:7.0f} ms  target {TARGET} s: {'met' if total < TARGET else 'MISSED'}")
    for name, call in others.items():
        print(f"{name:28} {1000 * median_seconds(call):7.0f} ms")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"{'peak memory':28} {peak:7.0f} MB  target {MEMORY} MB: {'met' if peak < MEMORY else 'MISSED'}")


if __name__ == "__main__":
    main()
