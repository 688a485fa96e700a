"""Intervals over tasks, runs and repeats: small tables by hand, coverage by simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import nested_scores, scores_of, task_scores

from lifesearch_kit.errors import InputError, UnjudgedError
from lifesearch_kit.scoring.scores import system_scores
from lifesearch_kit.statistics.hierarchical import hierarchical_intervals, interval_words
from lifesearch_kit.statistics.resampling import deviations, resampled, t_percentiles

# Three tasks with two runs each: task means 0.3, 0.7 and 0.6.
SMALL = np.array([[0.2, 0.4], [0.6, 0.8], [0.5, 0.7]])[None, :, :, None]


def intervals(scores: pd.DataFrame, **arguments: object) -> pd.DataFrame:
    return hierarchical_intervals(scores, np.random.default_rng(1), **arguments)  # type: ignore[arg-type]


def test_the_interval_over_tasks_by_hand() -> None:
    row = intervals(scores_of(SMALL)).iloc[0]
    assert row[["judge", "system", "over", "tasks", "runs", "repeats"]].tolist() == ["J", "S0", "tasks", 3, 6, 6]
    # Mean 1.6 / 3; squared deviations of task means 0.05444 + 0.02778 + 0.00444, over 2 is 0.04333; / 3 is 0.01444.
    assert row["score_pct"] == pytest.approx(160 / 3)
    assert row["standard_error_pct"] == pytest.approx(100 * np.sqrt(0.0144444), rel=1e-5)
    assert row["df"] == pytest.approx(2)
    # t of 2 degrees of freedom at 97.5%: 4.30265.
    assert row["t_high_pct"] - row["score_pct"] == pytest.approx(4.30265 * row["standard_error_pct"], rel=1e-5)
    assert row["t_low_pct"] + row["t_high_pct"] == pytest.approx(2 * row["score_pct"])
    assert np.isnan(row["low_pct"])
    assert row["note"] == "few tasks: no bootstrap interval, read the t interval"


def test_the_interval_over_runs_by_hand() -> None:
    row = intervals(scores_of(SMALL), over="runs").iloc[0]
    # Each task's two runs lie 0.2 apart: s^2 = 0.02, of their mean 0.01; of the mean of three tasks 0.01 / 3 = 0.00333.
    assert row["standard_error_pct"] == pytest.approx(100 * np.sqrt(0.01 / 3))
    assert row["df"] == pytest.approx(3)  # one for each task
    assert row["score_pct"] == pytest.approx(160 / 3)


def test_the_interval_over_repeats_by_hand() -> None:
    # Two tasks, one run, repeats 0.4 and 0.6, 0.1 and 0.1: s^2 = 0.02 and 0; of the mean 0.01 and 0; / 4 is 0.0025.
    scores = scores_of(np.array([[[[0.4, 0.6]], [[0.1, 0.1]]]]))
    row = intervals(scores, over="repeats").iloc[0]
    assert row["standard_error_pct"] == pytest.approx(5)
    assert row["score_pct"] == pytest.approx(30)
    # A report without a text is 0 whoever judges it: a third task takes 1/3 of the weight and brings no variance.
    empty = task_scores([0.0]).assign(task_id="T9", no_report=True)
    row = intervals(pd.concat([scores, empty]), over="repeats").iloc[0]
    assert row["standard_error_pct"] == pytest.approx(100 * np.sqrt(0.01 / 9))
    # One that was judged once is taken to vary as the others on average: s^2 = 0.01 beside 0.02 / 2 and 0.
    row = intervals(pd.concat([scores, empty.assign(no_report=False)]), over="repeats").iloc[0]
    assert row["standard_error_pct"] == pytest.approx(100 * np.sqrt((0.01 + 0 + 0.01) / 9))


def test_the_analytic_interval_is_the_cluster_robust_one_of_a_regression() -> None:
    values = nested_scores(np.random.default_rng(2), (1, 9, 3, 2), (0.2, 0.1, 0.05))
    scores = scores_of(values)
    groups = {"groups": pd.factorize(scores["task_id"])[0], "use_correction": True}
    fit = sm.OLS(scores["score"], np.ones(len(scores))).fit(cov_type="cluster", cov_kwds=groups, use_t=True)
    row = intervals(scores).iloc[0]
    assert row["standard_error_pct"] == pytest.approx(100 * fit.bse.iloc[0])
    assert [row["t_low_pct"], row["t_high_pct"]] == pytest.approx(list(100 * fit.conf_int().iloc[0]))


def test_strata_of_different_size_by_hand() -> None:
    # even: 0.1 0.3 0.5 (s^2 = 0.04, of the mean 0.04 / 3), odd: 0.6 0.8 (s^2 = 0.02, of the mean 0.01).
    scores = task_scores([0.1, 0.6, 0.3, 0.8, 0.5])
    by_domain = intervals(scores, by="domain").set_index("domain")
    assert by_domain["score_pct"].to_dict() == pytest.approx({"even": 30, "odd": 70})
    assert by_domain["standard_error_pct"].to_dict() == pytest.approx({"even": 100 * np.sqrt(0.04 / 3), "odd": 10})
    assert by_domain["tasks"].to_dict() == {"even": 3, "odd": 2}
    whole = intervals(scores, strata="domain").iloc[0]
    first, second = 0.36 * 0.04 / 3, 0.16 * 0.01
    assert whole["score_pct"] == pytest.approx(46)
    assert whole["standard_error_pct"] == pytest.approx(100 * np.sqrt(first + second))
    welch = (first + second) ** 2 / (first**2 / 4 + second**2 / 3) - 2  # 4.4, but 2 + 1 are all there are
    assert welch > 3
    assert whole["df"] == pytest.approx(3)


def test_resamples_have_the_unbiased_variance_also_where_units_are_missing() -> None:
    values = np.array([[0.0, 0.1], [0.4, 0.9], [0.8, np.nan], [0.3, 0.4], [0.5, np.nan], [0.9, 0.6]])
    strata, weights = np.array([0, 1, 0, 1, 0, 0]), np.array([[0.7, 0.25], [0.3, 0.75]])
    spread = deviations(values, strata, weights)
    # First column: stratum 0 holds 0 0.8 0.5 0.9 (s^2 = 0.49 / 3), stratum 1 0.4 0.3 (s^2 = 0.005); second: 0.1 0.6
    # (0.125) and 0.9 0.4 (0.125), two each.
    assert spread.variance == pytest.approx(
        [0.49 * 0.49 / 3 / 4 + 0.09 * 0.0025, 0.0625 * 0.0625 + 0.5625 * 0.0625], rel=1e-9
    )
    drawn = resampled(spread.coefficients, strata, np.random.default_rng(0), 40_000)
    assert drawn.mean(axis=0) == pytest.approx([0, 0], abs=0.005)
    assert drawn.var(axis=0) == pytest.approx(spread.variance, rel=0.03)


def test_a_resample_of_a_whole_stratum_is_a_mean_of_its_units() -> None:
    values = np.array([[0.0], [0.5], [1.0]])
    spread = deviations(values, np.zeros(3, int), np.ones((1, 1)))
    drawn = 0.5 + resampled(spread.coefficients, np.zeros(3, int), np.random.default_rng(0), 500)
    # Two draws of three: 0, 0.25, 0.5, 0.75, 1.
    assert set(np.unique(drawn.round(9))) == {0.0, 0.25, 0.5, 0.75, 1.0}


def test_runs_are_not_counted_twice() -> None:
    # Tasks alike, runs far apart. Drawing runs with replacement within drawn tasks adds (runs - 1) / runs of the run
    # variance to what the draws of tasks hold already.
    values = nested_scores(np.random.default_rng(3), (1, 40, 3, 1), (0.05, 0.2, 0.0))
    runs, rng = values[0, :, :, 0], np.random.default_rng(4)
    task = rng.integers(0, 40, (4000, 40))
    naive = runs[task[..., None], rng.integers(0, 3, (4000, 40, 3))].mean(axis=(1, 2)).std()
    right = runs.mean(axis=1).std(ddof=1) / np.sqrt(40)
    row = intervals(scores_of(values), resamples=4000).iloc[0]
    assert row["standard_error_pct"] == pytest.approx(100 * right)
    # t of 39 degrees of freedom: 2.0227 to either side.
    assert row["high_pct"] - row["low_pct"] == pytest.approx(2 * 2.0227 * 100 * right, rel=0.05)
    extra = runs.var(axis=1, ddof=1).mean() * (2 / 3) / 3 / 40
    assert naive == pytest.approx(np.sqrt(right**2 * 39 / 40 + extra), rel=0.05)
    assert naive > 1.2 * right


def test_what_cannot_be_told_is_said_and_not_shown() -> None:
    once = scores_of(SMALL[:, :, :1])
    for over, what in (("runs", "one run of each task"), ("repeats", "one repeat of each judgment")):
        row = intervals(once, over=over).iloc[0]
        ends = ["low_pct", "high_pct", "standard_error_pct", "df", "t_low_pct", "t_high_pct"]
        assert row[ends].isna().all()
        assert row["note"].startswith(what)
        assert row["score_pct"] == pytest.approx(160 / 3 - 10)
    assert intervals(scores_of(SMALL[:, :1])).iloc[0]["note"] == "one task: how far others would differ cannot be told"
    still = intervals(task_scores([0.4] * 9)).iloc[0]
    assert still[["low_pct", "high_pct", "t_low_pct"]].tolist() == pytest.approx([40, 40, 40])
    assert still["note"] == "no spread over tasks was seen"


def test_units_that_are_alike_have_an_interval_of_width_0_and_few_of_them_none() -> None:
    six, three = (
        hierarchical_intervals(task_scores([0.4] * count), np.random.default_rng(0), resamples=200).iloc[0]
        for count in (6, 3)
    )
    assert six[["low_pct", "high_pct", "t_low_pct", "t_high_pct"]].tolist() == pytest.approx([40.0] * 4)
    assert three[["low_pct", "high_pct", "t_low_pct", "t_high_pct"]].isna().all()
    assert "few tasks: no interval" in three["note"]


def test_resamples_of_few_units_in_several_strata_are_not_read() -> None:
    # Seven tasks of two runs: 7 degrees of freedom; of three runs 14.
    rng = np.random.default_rng(0)
    two, three = (
        hierarchical_intervals(scores_of(rng.random((1, 7, runs, 1))), rng, "runs", resamples=200).iloc[0]
        for runs in (2, 3)
    )
    assert two[["low_pct", "high_pct"]].isna().all()
    assert two[["t_low_pct", "t_high_pct"]].notna().all()
    assert two["note"] == "few runs: no bootstrap interval, read the t interval"
    assert three[["low_pct", "high_pct"]].notna().all()


def test_missing_reports_count_in_no_mean() -> None:
    values = nested_scores(np.random.default_rng(5), (2, 8, 2, 1), (0.1, 0.1, 0.0))
    values[0, 0, 1], values[0, 1] = np.nan, np.nan
    table = intervals(scores_of(values)).set_index("system")
    assert table[["tasks", "runs"]].to_numpy().tolist() == [[7, 13], [8, 16]]
    means = [values[0, 0, 0, 0], *values[0, 2:].mean(axis=(1, 2))]
    assert table.loc["S0", "score_pct"] == pytest.approx(100 * np.mean(means))
    assert table.loc["S0", "standard_error_pct"] == pytest.approx(100 * np.std(means, ddof=1) / np.sqrt(7))
    assert table.loc["S1", "score_pct"] == pytest.approx(
        float(system_scores(scores_of(values)).set_index("system").loc["S1", "score_pct"])
    )


def test_unjudged_rubrics_are_refused_or_widen_the_interval() -> None:
    scores = task_scores([0.1, 0.3, 0.5, 0.2, 0.4, 0.6, 0.3, 0.5])
    closed = intervals(scores).iloc[0]
    scores.loc[0, ["score", "lower", "upper", "unjudged"]] = [np.nan, 0.0, 0.4, 2]
    with pytest.raises(UnjudgedError, match="2 rubrics"):
        intervals(scores)
    open_ = intervals(scores, unjudged="bounds").iloc[0]
    assert np.isnan(open_["score_pct"])
    assert open_["low_pct"] < closed["low_pct"]
    assert open_["t_high_pct"] > closed["t_high_pct"]
    nothing_open = intervals(task_scores([0.1, 0.3, 0.5, 0.2, 0.4, 0.6, 0.3, 0.5]), unjudged="bounds").iloc[0]
    pd.testing.assert_series_equal(nothing_open, closed)


def test_odd_arguments_are_refused() -> None:
    scores = scores_of(SMALL)
    wrong = [
        ({"over": "judges"}, "judges"),
        ({"by": "region"}, "region"),
        ({"over": "runs", "strata": "domain"}, "stay as they are"),
        ({"level": 95}, "95"),
        ({"resamples": 0}, "resamples"),
        ({"unjudged": "drop"}, "drop"),
    ]
    for arguments, told in wrong:
        with pytest.raises(InputError, match=told):
            intervals(scores, **arguments)
    with pytest.raises(InputError, match="no report"):
        intervals(scores.assign(missing=True))
    assert "same tasks" in interval_words("runs")


def test_categories_and_the_order_of_rows_change_nothing() -> None:
    scores = scores_of(nested_scores(np.random.default_rng(6), (3, 10, 2, 2), (0.1, 0.1, 0.1)))
    plain = intervals(scores, over="runs")
    categories = scores.astype(dict.fromkeys(["system", "task_id", "judge", "domain"], "category"))
    names = {"judge": plain["judge"].dtype, "system": plain["system"].dtype}
    pd.testing.assert_frame_equal(intervals(categories, over="runs").astype(names), plain)
    back = intervals(scores.iloc[::-1], over="runs").set_index("system").loc[plain["system"]].reset_index()
    pd.testing.assert_frame_equal(back[plain.columns], plain)


@settings(max_examples=25)
@given(st.lists(st.floats(0, 1), min_size=6, max_size=12), st.floats(-0.5, 0.5), st.integers(1, 3))
def test_a_shift_of_all_scores_shifts_both_intervals(values: list[float], shift: float, copies: int) -> None:
    table = np.repeat(np.array(values)[None, :, None, None], copies, axis=2)
    names = ["score_pct", "low_pct", "high_pct", "t_low_pct", "t_high_pct"]
    one, other = (intervals(scores_of(each), resamples=200).iloc[0][names] for each in (table, table + shift))
    assert other.astype(float).to_numpy() == pytest.approx(one.astype(float).to_numpy() + 100 * shift, abs=1e-6)


def test_percentiles_reach_as_far_as_students_t() -> None:
    drawn = np.random.default_rng(0).normal(0, 1, (200_000, 1))
    low, high = t_percentiles(drawn, np.array([9.0]), 0.95)
    assert [low[0], high[0]] == pytest.approx([-2.262, 2.262], abs=0.04)  # t of 9 degrees of freedom


def covered(table: pd.DataFrame, truth: np.ndarray, low: str, high: str) -> float:
    return float(((table[low] <= 100 * truth) & (100 * truth <= table[high])).mean())


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "tasks"), [(1500, 14), (1500, 50), (1000, 203)])
def test_95_percent_intervals_over_tasks_cover_93_to_97(systems: int, tasks: int) -> None:
    # Standard deviations of tasks 20, runs 10 and repeats 5 points; the standard error of the share is 0.6 points.
    shape = (systems, tasks, 3, 2)
    scores = scores_of(nested_scores(np.random.default_rng(tasks), shape, (0.2, 0.1, 0.05)))
    table = intervals(scores, resamples=1000)
    for low, high in (("low_pct", "high_pct"), ("t_low_pct", "t_high_pct")):
        assert 0.93 <= covered(table, np.full(systems, 0.5), low, high) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("over", ["runs", "repeats"])
def test_95_percent_intervals_over_runs_and_repeats_cover_93_to_97(over: str) -> None:
    rng, systems, tasks = np.random.default_rng(8), 1500, 14
    task = 0.5 + rng.normal(0, 0.2, (systems, tasks, 1, 1))
    report = task + rng.normal(0, 0.1, (systems, tasks, 3, 1))
    scores = scores_of(report + rng.normal(0, 0.05, (systems, tasks, 3, 2)))
    truth = (task if over == "runs" else report).mean(axis=(1, 2, 3))
    table = intervals(scores, over=over, resamples=1000)
    for low, high in (("low_pct", "high_pct"), ("t_low_pct", "t_high_pct")):
        assert 0.93 <= covered(table, truth, low, high) <= 0.97


@pytest.mark.slow
def test_95_percent_intervals_of_domains_and_strata_cover_93_to_97() -> None:
    # 14 tasks of each of two domains whose means lie 30 points apart; all reports of one in ten tasks are missing.
    rng, systems = np.random.default_rng(9), 1500
    values = nested_scores(rng, (systems, 28, 2, 1), (0.15, 0.1, 0.0))
    values[:, 1::2] += 0.3
    values[rng.random((systems, 28)) < 0.1] = np.nan
    scores = scores_of(values)
    for domain, rows in intervals(scores, by="domain", resamples=1000).groupby("domain"):
        truth = np.full(systems, 0.5 if domain == "even" else 0.8)
        assert 0.93 <= covered(rows, truth, "low_pct", "high_pct") <= 0.97
    there = ~np.isnan(values[:, :, 0, 0])
    truth = 0.5 + 0.3 * there[:, 1::2].sum(axis=1) / there.sum(axis=1)
    assert 0.93 <= covered(intervals(scores, strata="domain", resamples=1000), truth, "low_pct", "high_pct") <= 0.97
