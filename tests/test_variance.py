"""Variance components and what more tasks or runs would buy: by hand, by regression, by simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import nested_scores, scores_of, task_scores
from scipy import stats

from lifesearch_kit.errors import InputError, UnjudgedError
from lifesearch_kit.statistics.hierarchical import hierarchical_intervals
from lifesearch_kit.statistics.precision import benchmark_precision
from lifesearch_kit.statistics.variance import variance_components

# Two tasks, two runs each, two repeats each. Report means 0.3 0.5 | 0.6 0.9, task means 0.4 and 0.75.
SMALL = np.array([[[0.2, 0.4], [0.4, 0.6]], [[0.6, 0.6], [0.8, 1.0]]])[None]


def variances(table: pd.DataFrame) -> dict[str, float]:
    return dict(zip(table["component"], (table["sd_pct"] / 100) ** 2, strict=True))


def test_components_of_a_balanced_table_by_hand() -> None:
    table = variance_components(scores_of(SMALL))
    # Repeats: (0.02 + 0.02 + 0 + 0.02) / 4 = 0.015. Runs: 2 * (0.02 + 0.045) / 2 = 0.065, less 0.015, over 2 = 0.025.
    # Tasks: 4 * 2 * 0.175^2 = 0.245, less 0.065, over 4 = 0.045. Together 0.085.
    assert variances(table) == pytest.approx({"tasks": 0.045, "runs": 0.025, "repeats": 0.015})
    assert table["share_pct"].tolist() == pytest.approx([100 * one / 85 for one in (45, 25, 15)])
    # Of the squared standard error 0.0225 + 0.00625 + 0.001875 = 0.030625, which is 0.06125 of task means over 2.
    assert table["error_share_pct"].tolist() == pytest.approx([100 * one / 30.625 for one in (22.5, 6.25, 1.875)])
    error = hierarchical_intervals(scores_of(SMALL), np.random.default_rng(0)).iloc[0]["standard_error_pct"]
    assert error == pytest.approx(100 * np.sqrt(0.030625))
    assert table[["tasks", "runs", "repeats"]].iloc[0].tolist() == [2, 4, 8]
    assert table["note"].tolist() == ["", "", ""]


def test_components_of_unequal_numbers_by_hand() -> None:
    # Runs 0.2 | 0.6 0.8 | 0.4 0.4, one repeat. Within: 0.02 / 2 = 0.01. Mean 0.48; between tasks
    # 0.0784 + 2 * 0.0484 + 2 * 0.0064 = 0.188, less 2 * 0.01, over 5 - (1 + 4 + 4) / 5 = 3.2: 0.0525.
    table = variance_components(scores_of(np.array([[0.2, np.nan], [0.6, 0.8], [0.4, 0.4]])[None, :, :, None]))
    assert variances(table) == pytest.approx({"tasks": 0.0525, "runs and repeats": 0.01})
    assert table["note"].tolist() == ["", "one repeat of each judgment: cannot be told apart"]
    # Squared standard error: 0.0525 / 3 and 0.01 * (1 + 1/2 + 1/2) / 9.
    assert table["error_share_pct"].iloc[1] == pytest.approx(100 * (0.02 / 9) / (0.0525 / 3 + 0.02 / 9))


def test_what_one_run_or_one_repeat_cannot_tell_apart_stays_together() -> None:
    one_run = variance_components(scores_of(SMALL[:, :, :1]))
    # Repeats (0.02 + 0) / 2 = 0.01; reports 0.3 and 0.6: 2 * 2 * 0.0225 = 0.09, less 0.01, over 2.
    assert variances(one_run) == pytest.approx({"tasks and runs": 0.04, "repeats": 0.01})
    assert one_run["note"].iloc[0] == "one run of each task: cannot be told apart"
    alone = variance_components(scores_of(SMALL[:, :, :1, :1]))
    assert variances(alone) == pytest.approx({"tasks and runs and repeats": 0.08})  # 0.2 and 0.6
    assert "one run of each task and one repeat of each judgment" in alone["note"].iloc[0]


def test_a_negative_estimate_is_shown_as_0_and_told() -> None:
    # Task means equal, runs 0.2 apart: runs 0.02, tasks (0 - 0.02) / 2 = -0.01, which is -100 squared points.
    table = variance_components(scores_of(np.array([[0.4, 0.6], [0.4, 0.6]])[None, :, :, None]))
    assert variances(table) == pytest.approx({"tasks": 0, "runs and repeats": 0.02})
    assert table["note"].iloc[0] == "estimated variance -100 squared points, negative: shown as 0"
    still = variance_components(task_scores([0.7, 0.7, 0.7]))
    assert still["sd_pct"].tolist() == [0]
    assert still["share_pct"].isna().all()
    assert "negative" not in still["note"].iloc[0]


def test_estimates_are_unbiased_where_numbers_are_unequal() -> None:
    rng = np.random.default_rng(1)
    values = nested_scores(rng, (400, 12, 3, 2), (0.2, 0.1, 0.05))
    gone = rng.random(values.shape[1:3]) < 0.3
    gone[:, 0] = False
    values[:, gone] = np.nan
    values[:, :, :, 1][:, rng.random(values.shape[1:3]) < 0.4] = np.nan
    table = variance_components(scores_of(values))
    table["variance"] = (table["sd_pct"] / 100) ** 2
    # The tasks' mean over 400 systems has a standard error of 0.04 * sqrt(2 / 11 / 400) = 0.0009 at least.
    assert table.groupby("component")["variance"].mean().to_dict() == pytest.approx(
        {"tasks": 0.04, "runs": 0.01, "repeats": 0.0025}, rel=0.08
    )


@settings(max_examples=40)
@given(st.integers(0, 10_000), st.integers(2, 5), st.integers(1, 3), st.integers(1, 3))
def test_the_parts_add_up_to_the_standard_error(seed: int, tasks: int, runs: int, repeats: int) -> None:
    scores = scores_of(nested_scores(np.random.default_rng(seed), (1, tasks, runs, repeats), (0.3, 0.01, 0.01)))
    table = variance_components(scores)
    divisors = {"tasks": tasks, "runs": tasks * runs, "repeats": tasks * runs * repeats}
    if table["note"].str.contains("negative").any():
        return
    parts = [
        (sd / 100) ** 2 / divisors[name.split(" and ")[0]]
        for name, sd in zip(table["component"], table["sd_pct"], strict=True)
    ]
    error = hierarchical_intervals(scores, np.random.default_rng(0), resamples=1).iloc[0]["standard_error_pct"]
    assert np.sqrt(sum(parts)) == pytest.approx(error / 100)
    assert table["share_pct"].sum() == pytest.approx(100)


def test_precision_at_the_measured_numbers_is_the_measured_one() -> None:
    values = nested_scores(np.random.default_rng(2), (2, 30, 3, 1), (0.1, 0.05, 0.0), shared=0.2)
    row = benchmark_precision(scores_of(values), [30], [3]).iloc[0]
    assert row[["judge", "systems", "pairs", "tasks", "runs", "repeats"]].tolist() == ["J", 2, 1, 30, 3, 1]
    task = values.mean(axis=(2, 3))
    assert row["standard_error_pct"] == pytest.approx(100 * np.sqrt(task.var(axis=1, ddof=1).mean() / 30))
    difference = (task[0] - task[1]).std(ddof=1)
    assert row["difference_error_pct"] == pytest.approx(100 * difference / np.sqrt(30))
    assert row["difference_error_pct"] < row["standard_error_pct"]  # what is hard for both cancels
    assert row["note"] == ""


def test_more_tasks_and_runs_by_hand() -> None:
    # Variances of SMALL: 0.045, 0.025, 0.015. Ten tasks, five runs, three repeats: (0.045 + 0.005 + 0.001) / 10.
    row = benchmark_precision(scores_of(SMALL), [10], [5], [3]).iloc[0]
    assert row["standard_error_pct"] == pytest.approx(100 * np.sqrt(0.0051))
    assert np.isnan(row["smallest_difference_pct"])
    assert row["note"] == "no two systems share two tasks: no difference"


def test_the_smallest_difference_is_that_of_a_power_table() -> None:
    # 34 pairs find half a standard deviation with 80% (Cohen 1988, paired t test, two-sided 5%): a little less here.
    values = nested_scores(np.random.default_rng(3), (2, 34, 1, 1), (0.1, 0.0, 0.0))
    row = benchmark_precision(scores_of(values), [34], [1]).iloc[0]
    difference = 100 * (values[0] - values[1]).std(ddof=1)
    assert row["smallest_difference_pct"] / difference == pytest.approx(0.495, abs=0.005)
    assert row["smallest_difference_pct"] > 2.8 * row["difference_error_pct"]  # 1.96 + 0.84, for many tasks


@pytest.mark.slow
def test_the_smallest_difference_is_found_in_80_of_100_benchmarks() -> None:
    spread = (0.1, 0.06, 0.03)
    known = scores_of(nested_scores(np.random.default_rng(4), (6, 500, 2, 2), spread, shared=0.2))
    least = benchmark_precision(known, [25], [3], [1]).iloc[0]["smallest_difference_pct"] / 100
    drawn = nested_scores(np.random.default_rng(5), (2, 4000 * 25, 3, 1), spread, shared=0.2).mean(axis=(2, 3))
    difference = (drawn[0] - drawn[1]).reshape(4000, 25) + least
    found = (stats.ttest_1samp(difference, 0, axis=1).pvalue <= 0.05).mean()
    assert 0.77 <= found <= 0.83  # its standard error is 0.6 points, that of `least` about 1 of 100


def test_precision_says_what_it_cannot_tell() -> None:
    once = task_scores([0.1, 0.5, 0.9], [0.2, 0.3, 0.9])
    table = benchmark_precision(once, [3, 6], [1, 2]).set_index(["tasks", "runs"])
    assert table.loc[(6, 1), "standard_error_pct"] == pytest.approx(
        table.loc[(3, 1), "standard_error_pct"] / np.sqrt(2)
    )
    assert table.loc[[(3, 2), (6, 2)], ["standard_error_pct", "smallest_difference_pct"]].isna().all(axis=None)
    assert table.loc[(3, 2), "note"].startswith("a system has one run of each task")


def test_a_system_with_one_task_is_told_and_left_out() -> None:
    nan = float("nan")
    scores = task_scores([0.1, 0.5, 0.9], [0.2, nan, nan])
    table = variance_components(scores).set_index("system")
    assert table.loc["S1", "note"] == "one task: nothing can be told of the spread"
    assert table.loc["S1", ["sd_pct", "share_pct", "error_share_pct"]].isna().all()
    assert benchmark_precision(scores, [3], [1]).iloc[0][["systems", "standard_error_pct"]].tolist() == pytest.approx(
        [1, 100 * np.sqrt(0.16 / 3)]  # 0.1 0.5 0.9: s^2 = 0.16
    )
    row = benchmark_precision(scores[scores["system"] == "S1"], [3], [1]).iloc[0]
    assert row["note"] == "no system has two tasks: nothing can be told of the spread"
    assert np.isnan(row["standard_error_pct"])


def test_bad_input_is_refused() -> None:
    with pytest.raises(UnjudgedError, match="2 rubrics"):
        variance_components(task_scores([0.5, 0.2]).assign(unjudged=1))
    scores = task_scores([0.5, 0.2])
    with pytest.raises(InputError, match="tasks=") as error:
        benchmark_precision(scores, [1], [0], power=80)
    assert len(error.value.faults) == 3
