"""Weights, counts and shares of attributes: what a task's or a benchmark's rubrics are together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from lifesearch_kit.records import WEIGHT_STEP
from lifesearch_kit.statistics.clustered_shares import clustered_interval

FEWEST_RUBRICS, MOST_RUBRICS = 11, 34
LARGEST_SHARE = 0.25
# Figure 3 of the LifeSearch paper: percent of its 4,014 rubrics.
BENCHMARK_SHARES = (("priority", "Must Have", 81.3), ("necessity", "Explicit", 62.0), ("type", "Objective", 98.0))
LEAST_DIFFERENCE = 5.0  # percentage points
DIMENSIONS = (
    "instruction following",
    "information coverage",
    "factual accuracy",
    "evidence and citation quality",
    "reasoning and analysis",
    "task success",
    "presentation",
)


class Whole(NamedTuple):
    """What was found in a rubric's weight, in a task, or in all tasks; ids are None where no single one is meant."""

    task_id: str | None
    rubric_id: str | None
    check: str
    message: str
    remedy: str


def weight_findings(rubrics: pd.DataFrame) -> Iterator[Whole]:
    """Weights that are no tenths or 0, and tasks whose weights add up to nothing or hang on one rubric."""
    row: Any
    for row in rubrics.itertuples():
        weight = float(row.weight)
        steps = weight / WEIGHT_STEP
        if abs(steps - round(steps)) > 1e-6:
            low, high = math.floor(steps) / 10, math.ceil(steps) / 10
            yield Whole(
                row.task_id,
                row.rubric_id,
                "weight_step",
                f"the weight {weight:g} is no tenth",
                f"write {low:g} or {high:g}",
            )
        elif weight == 0:
            yield Whole(
                row.task_id,
                row.rubric_id,
                "zero_weight",
                "the weight 0 leaves the rubric out: it is never judged",
                "give it a weight from 0.1 to 1.0, or remove it",
            )
    for task, own in rubrics.groupby("task_id", sort=False):
        total = float(own["weight"].sum())
        heaviest = own.loc[own["weight"].idxmax()]
        if total <= 0:
            yield Whole(
                str(task),
                None,
                "task_weight",
                "the weights add up to 0: no report has a score",
                "give the rubrics weights",
            )
        elif len(own) > 1 / LARGEST_SHARE and heaviest["weight"] > LARGEST_SHARE * total:
            share = 100 * heaviest["weight"] / total
            yield Whole(
                str(task),
                str(heaviest["rubric_id"]),
                "task_weight",
                f"carries {share:.0f}% of its task's weight: the score hangs on one verdict",
                f"split it into several rubrics, or lower the weight {heaviest['weight']:g}",
            )


def task_findings(rubrics: pd.DataFrame) -> Iterator[Whole]:
    """Tasks with fewer or more rubrics than any of the benchmark's, and dimensions that no rubric of a task is of."""
    for task, own in rubrics.groupby("task_id", sort=False):
        if not FEWEST_RUBRICS <= len(own) <= MOST_RUBRICS:
            yield Whole(
                str(task),
                None,
                "rubric_count",
                f"{len(own)} rubrics; the benchmark's tasks have {FEWEST_RUBRICS} to {MOST_RUBRICS}",
                "add rubrics for what the question asks"
                if len(own) < FEWEST_RUBRICS
                else "drop the least telling ones",
            )
        covered = set(own["dimension"].dropna())
        absent = [one for one in DIMENSIONS if one not in covered]
        # Rubrics of another scheme of dimensions have none of these.
        if absent and covered & set(DIMENSIONS):
            yield Whole(
                str(task),
                None,
                "missing_dimension",
                f"no rubric on {', '.join(absent)}",
                "add one, or correct the field 'dimension' of one that is",
            )


def share_findings(rubrics: pd.DataFrame) -> Iterator[Whole]:
    """Attributes whose share differs from the LifeSearch benchmark's by more than chance, tasks taken as clusters."""
    for name, value, expected in BENCHMARK_SHARES:
        tasks = (rubrics[name] == value).groupby(rubrics["task_id"], sort=False).agg(["sum", "size"])
        share = 100 * tasks["sum"].sum() / tasks["size"].sum()
        low, high = (100 * end for end in clustered_interval(share / 100, tasks["sum"], tasks["size"]))
        if abs(share - expected) > LEAST_DIFFERENCE and not low <= expected <= high:
            yield Whole(
                None,
                None,
                "attribute_shares",
                f"{share:.1f}% of the rubrics are {value} (95% interval {low:.1f} to {high:.1f}), "
                f"{expected:g}% in the benchmark",
                f"look at the field '{name}' again; results compare less with the benchmark's",
            )
