"""Bootstrap intervals over tasks, on tables small enough to know the answer."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from lifesearch_kit.errors import InputError, UnjudgedError
from lifesearch_kit.scoring import system_scores
from lifesearch_kit.statistics import INTERVAL_WORDS, bootstrap_intervals, paired_differences


def scores_of(table: dict[str, list[float | None]], runs: int = 1) -> pd.DataFrame:
    """Scores as `report_scores` gives them: for each system its tasks' scores, None for a missing report."""
    rows = [
        {"system": system, "task_id": f"T{number}", "run": run, "judge": "J", "repeat": 1, "score": value}
        for system, values in table.items()
        for number, value in enumerate(values)
        for run in range(1, runs + 1)
    ]
    frame = pd.DataFrame(rows)
    bounds = dict.fromkeys(("lower", "upper", "graded_only"), frame["score"])
    return frame.assign(**bounds, unjudged=0, no_report=False, missing=frame["score"].isna())


def test_equal_tasks_leave_no_spread() -> None:
    row = bootstrap_intervals(scores_of({"A": [0.4] * 5}), np.random.default_rng(0), 200).iloc[0]
    assert list(row[["system", "judge", "tasks"]]) == ["A", "J", 5]
    assert list(row[["score_pct", "low_pct", "high_pct"]]) == pytest.approx([40.0, 40.0, 40.0])


def test_interval_of_a_share_is_near_its_normal_approximation() -> None:
    # 120 of 200 tasks at 1: standard error sqrt(0.6 * 0.4 / 200) = 3.46 points, 1.96 of them on either side.
    row = bootstrap_intervals(scores_of({"A": [1.0] * 120 + [0.0] * 80}), np.random.default_rng(1), 4000).iloc[0]
    assert row["score_pct"] == 60.0
    assert row["low_pct"] == pytest.approx(60 - 1.96 * 3.46, abs=0.6)
    assert row["high_pct"] == pytest.approx(60 + 1.96 * 3.46, abs=0.6)


@pytest.mark.parametrize("tasks", [7, 14, 100])
@pytest.mark.parametrize(("a", "b"), [(1.2, 1.8), (5.0, 2.0), (0.5, 0.5)])
def test_intervals_of_95_percent_cover_about_as_often(tasks: int, a: float, b: float) -> None:
    # 800 systems whose tasks' scores follow a beta distribution with mean a / (a + b): the standard error of the share
    # that is covered is 0.8 points. Plain percentiles reach 86% to 89% at 7 tasks.
    drawn = np.random.default_rng(tasks).beta(a, b, (800, tasks))
    scores = scores_of({f"S{number}": list(values) for number, values in enumerate(drawn)})
    ends = bootstrap_intervals(scores, np.random.default_rng(2), 1000)
    covered = ((ends["low_pct"] <= 100 * a / (a + b)) & (100 * a / (a + b) <= ends["high_pct"])).mean()
    assert 0.91 <= covered <= 0.98
    assert ends["low_pct"].min() >= 0
    assert ends["high_pct"].max() <= 100


def test_paired_intervals_of_few_tasks_cover_about_as_often() -> None:
    rng = np.random.default_rng(5)
    table = {"base": [0.5] * 7} | {f"S{number}": list(rng.beta(1.2, 1.8, 7)) for number in range(60)}
    pairs = paired_differences(scores_of(table), np.random.default_rng(2), 1000)
    ends = pairs[pairs["system_a"] == "base"]
    assert ((ends["low_pct"] <= 10) & (ends["high_pct"] >= 10)).mean() >= 0.88  # the mean of these is 0.4


@pytest.mark.filterwarnings("error")
def test_few_tasks_among_many_give_an_interval_and_one_gives_none() -> None:
    few = scores_of({"A": [0.2, 0.4, *[None] * 8], "B": [0.5, *[None] * 9], "C": [0.1 * at for at in range(10)]})
    ends = bootstrap_intervals(few, np.random.default_rng(0), 500).set_index("system")
    assert ends.loc["A", ["low_pct", "high_pct"]].tolist() == pytest.approx([20.0, 40.0])
    assert ends.loc["B", "score_pct"] == 50.0
    assert ends.loc["B", ["low_pct", "high_pct"]].isna().all()
    pairs = paired_differences(few, np.random.default_rng(0), 500).set_index(["system_a", "system_b"])
    assert pairs.loc[("A", "C"), ["low_pct", "high_pct"]].notna().all()
    assert pairs.loc[("B", "C"), ["low_pct", "high_pct"]].isna().all()


def test_the_words_for_captions_name_the_level_and_what_is_resampled() -> None:
    assert "95%" in INTERVAL_WORDS
    assert "over tasks" in INTERVAL_WORDS


def test_a_wider_level_holds_a_narrower_one_and_the_seed_decides() -> None:
    scores = scores_of({"A": [0.1, 0.9, 0.4, 0.7, 0.2, 0.5]})
    wide, again, narrow = (
        bootstrap_intervals(scores, np.random.default_rng(3), 500, level).iloc[0] for level in (0.95, 0.95, 0.5)
    )
    assert wide["low_pct"] < narrow["low_pct"] < narrow["high_pct"] < wide["high_pct"]
    pd.testing.assert_series_equal(wide, again)


def test_score_and_interval_are_of_the_same_estimator_where_reports_are_missing() -> None:
    scores = scores_of({"A": [0.2, 0.4, 0.9], "B": [0.5, 0.5, 0.5]}, runs=2)
    gone = (scores["system"] == "A") & (scores["task_id"] == "T2") & (scores["run"] == 2)
    scores.loc[gone, ["score", "lower", "upper", "graded_only"]] = np.nan
    scores.loc[gone, "missing"] = True
    intervals = bootstrap_intervals(scores, np.random.default_rng(0), 300).set_index("system")
    systems = system_scores(scores).set_index("system")
    # Run 1: 0.5; run 2: (0.2 + 0.4) / 2 = 0.3.
    assert intervals.loc["A", "score_pct"] == pytest.approx(40.0)
    assert systems.loc["A", "score_pct"] == pytest.approx(40.0)


def test_paired_difference_does_not_see_what_is_hard_for_both() -> None:
    hard = np.linspace(0.0, 0.8, 9)
    row = paired_differences(scores_of({"A": list(hard + 0.1), "B": list(hard)}), np.random.default_rng(0), 300).iloc[0]
    assert list(row[["system_a", "system_b", "tasks"]]) == ["A", "B", 9]
    assert list(row[["difference_pct", "low_pct", "high_pct"]]) == pytest.approx([10.0, 10.0, 10.0])


def test_paired_difference_is_over_shared_tasks() -> None:
    # Shared: T0 and T1, differences 0.3 and 0.1.
    scores = scores_of({"A": [0.5, 0.6, 1.0], "B": [0.2, 0.5, None]})
    row = paired_differences(scores, np.random.default_rng(0), 300).iloc[0]
    assert row["tasks"] == 2
    assert row["difference_pct"] == pytest.approx(20.0)


def test_all_pairs_are_compared_and_one_system_has_none() -> None:
    three = scores_of({"A": [0.1, 0.2], "B": [0.3, 0.1], "C": [0.5, 0.5]})
    assert len(paired_differences(three, np.random.default_rng(0), 50)) == 3
    assert paired_differences(scores_of({"A": [0.1, 0.2]}), np.random.default_rng(0), 50).empty


def test_open_verdicts_and_odd_arguments_are_refused() -> None:
    scores = scores_of({"A": [0.1, 0.2]})
    with pytest.raises(UnjudgedError, match="2 rubrics"):
        bootstrap_intervals(scores.assign(unjudged=1), np.random.default_rng(0))
    for arguments in ({"level": 95}, {"resamples": 0}):
        with pytest.raises(InputError, match=r"95|resamples"):
            bootstrap_intervals(scores, np.random.default_rng(0), **arguments)
