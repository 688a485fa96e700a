"""Two systems side by side: tasks by how much they differ, requirements by where the verdicts do."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_cases import ATTACK, judge, make_report, make_task
from made_scores import scores_of, task_scores

from lifesearch_kit.errors import InputError, UnjudgedError
from lifesearch_kit.views.comparison import compare_view, task_differences


def test_tasks_come_by_the_size_of_their_mean_difference() -> None:
    # S0 minus S1, mean over two runs: T0 (0.9 + 0.7)/2 - (0.6 + 0.6)/2 = 0.2; T1 0.1 - 0.6 = -0.5; T2 0.5 - 0.4 = 0.1.
    values = np.array([[[0.9, 0.7], [0.1, 0.1], [0.5, 0.5]], [[0.6, 0.6], [0.5, 0.7], [0.4, 0.4]]])[..., None]
    table = task_differences(scores_of(values), "S0", "S1")
    assert table["task_id"].tolist() == ["T1", "T0", "T2"]
    assert table["difference_pct"].tolist() == pytest.approx([-50, 20, 10])
    assert table["score_a_pct"].tolist() == pytest.approx([10, 80, 50])
    assert table[["runs_a", "runs_b"]].to_numpy().tolist() == [[2, 2]] * 3
    assert table["domain"].tolist() == ["odd", "even", "even"]


def test_a_missing_report_leaves_its_runs_mean_to_the_others() -> None:
    # T0: S0 has 0.8 in run 1 alone, S1 has 0.4 and 0.6. T1: S0 has none, so it is no common task.
    values = np.array([[[0.8, np.nan], [np.nan, np.nan]], [[0.4, 0.6], [0.1, 0.1]]])[..., None]
    table = task_differences(scores_of(values), "S0", "S1")
    assert table["task_id"].tolist() == ["T0"]
    assert table["difference_pct"].tolist() == pytest.approx([30])
    assert table[["runs_a", "runs_b"]].to_numpy().tolist() == [[1, 2]]


def test_open_rubrics_leave_bounds_of_the_difference() -> None:
    scores = task_scores([0.5, 0.9], [0.2, 0.8])
    open_row = (scores["system"] == "S0") & (scores["task_id"] == "T0")
    scores.loc[open_row, ["score", "lower", "upper", "unjudged"]] = [np.nan, 0.4, 0.6, 1]
    with pytest.raises(UnjudgedError):
        task_differences(scores, "S0", "S1")
    row = task_differences(scores, "S0", "S1", unjudged="bounds").iloc[0]
    # S0 has 0.4 to 0.6 on T0, S1 0.2: the difference is 20 to 40 points.
    assert row["task_id"] == "T0"
    assert (row["low_pct"], row["high_pct"]) == pytest.approx((20, 40))
    assert pd.isna(row["difference_pct"])
    assert row["score_b_pct"] == pytest.approx(20)


def test_systems_that_cannot_be_compared_are_refused() -> None:
    scores = task_scores([0.5], [0.2])
    with pytest.raises(InputError, match="'S7' has no scores here; choose from S0, S1"):
        task_differences(scores, "S0", "S7")
    with pytest.raises(InputError, match="with itself"):
        task_differences(scores, "S0", "S0")
    with pytest.raises(InputError, match="no common task"):
        task_differences(task_scores([0.5, np.nan], [np.nan, 0.5]), "S0", "S1")


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=8))
def test_the_other_way_round_is_the_negative_in_the_same_order(pairs: list[tuple[float, float]]) -> None:
    scores = task_scores([one for one, _ in pairs], [other for _, other in pairs])
    there, back = task_differences(scores, "S0", "S1"), task_differences(scores, "S1", "S0")
    assert there["task_id"].tolist() == back["task_id"].tolist()
    assert (there["difference_pct"] == -back["difference_pct"]).all()
    sizes = there["difference_pct"].abs().round(6)
    assert sizes.is_monotonic_decreasing


def test_requirements_that_went_differently_come_first() -> None:
    task = make_task(0.5, 0.3, 0.2, criterion=ATTACK)
    both = [make_report("A", system="A"), make_report("B", system="B")]
    verdicts = [judge(number, passed, system="A") for number, passed in [(1, True), (2, True), (3, False)]]
    verdicts += [judge(1, True, system="B"), judge(2, False, system="B", reason=ATTACK), judge(3, True, system="B")]
    html = compare_view(task, *both, [*verdicts, judge(1, False, system="C")]).data
    # R2 costs B 0.3, R3 costs A 0.2, R1 is the same.
    assert re.findall(r"<strong>(R\d)</strong>", html) == ["R2", "R3", "R1"]
    assert "2 of 3 requirements went differently" in html
    assert "2/3, 80.00% by j" in html
    assert "2/3, 70.00% by j" in html
    assert html.count('class="differs"') == 2
    assert "<script" not in html


def test_a_report_that_is_missing_or_unjudged_is_said_to_be_so() -> None:
    task = make_task(1.0)
    html = compare_view(task, make_report("", status="empty"), make_report("B", system="B"), []).data
    assert "no report (empty): 0/1, 0.00%" in html
    assert "not judged" in html
    assert "unjudged" in html
    with pytest.raises(InputError, match="on task 'u', not on 't'"):
        compare_view(task, make_report(), make_report(task_id="u"), [])
