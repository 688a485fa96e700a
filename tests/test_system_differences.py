"""Which systems differ, and which ranks are sure: by hand, against scipy, by simulation."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_scores import nested_scores, scores_of, task_scores
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from lifesearch_kit.errors import InputError, UnjudgedError
from lifesearch_kit.statistics.permutation import holm, sign_flip_p_values, sign_flips
from lifesearch_kit.statistics.rank_intervals import rank_intervals
from lifesearch_kit.statistics.system_differences import pairwise_differences

STEADY = np.linspace(0.2, 0.6, 12)


def compared(scores: pd.DataFrame, **arguments: object) -> pd.DataFrame:
    return pairwise_differences(scores, np.random.default_rng(1), **arguments)  # type: ignore[arg-type]


def ranked(scores: pd.DataFrame, **arguments: object) -> pd.DataFrame:
    table = rank_intervals(scores, np.random.default_rng(1), **arguments)  # type: ignore[arg-type]
    return table.set_index("system")


def test_a_pair_by_hand() -> None:
    row = compared(task_scores([0.5, 0.6, 0.9, 0.7], [0.2, 0.5, 0.9, 0.3])).iloc[0]
    # Differences 0.3 0.1 0 0.4: mean 0.2, squared deviations 0.01 + 0.01 + 0.04 + 0.04 over 3, root 0.18257.
    assert row[["judge", "system_a", "system_b", "tasks", "tasks_a", "tasks_b"]].tolist() == ["J", "S0", "S1", 4, 4, 4]
    assert row["difference_pct"] == pytest.approx(20)
    assert row["effect_size"] == pytest.approx(0.2 / np.sqrt(0.1 / 3))
    assert row[["won_pct", "lost_pct"]].tolist() == [75, 0]
    # Of the 8 signs of 0.3 0.1 0.4 two reach 0.8 on either side.
    assert row[["p_value", "holm_p_value"]].tolist() == [0.25, 0.25]
    assert row[["low_pct", "high_pct"]].isna().all()  # four tasks are too few


def test_intervals_of_paired_differences_do_not_see_what_is_hard_for_both() -> None:
    row = compared(task_scores(list(STEADY + 0.1), list(STEADY))).iloc[0]
    assert row["difference_pct"] == pytest.approx(10)
    assert np.isnan(row["effect_size"])  # every task differs alike
    assert row["p_value"] == pytest.approx(2 / 2**12)
    wide = np.tile([0.05, 0.15], 6)
    row = compared(task_scores(list(STEADY + wide), list(STEADY))).iloc[0]
    # Standard error sqrt(12 * 0.0025 / 11 / 12) = 0.01508; t of 11 degrees of freedom 2.201.
    assert [row["low_pct"], row["high_pct"]] == pytest.approx([10 - 3.318, 10 + 3.318], abs=0.35)


def test_p_values_are_those_of_scipy() -> None:
    differences = np.random.default_rng(2).normal(0.1, 0.3, (9, 4))
    ours = sign_flip_p_values(differences, sign_flips(9, np.random.default_rng(0), 1000))
    theirs = [
        permutation_test((column,), np.mean, permutation_type="samples", n_resamples=np.inf).pvalue
        for column in differences.T
    ]
    assert ours == pytest.approx(theirs)
    many = sign_flip_p_values(differences, sign_flips(9, np.random.default_rng(0), 511))  # fewer than all 512
    assert many == pytest.approx(theirs, abs=0.06)
    assert (many > 0).all()


def test_flips_are_all_there_are_or_drawn() -> None:
    signs, exact = sign_flips(3, np.random.default_rng(0), 8)
    assert exact
    assert len({tuple(row) for row in signs}) == 8
    drawn, exact = sign_flips(3, np.random.default_rng(0), 7)
    assert not exact
    assert drawn.shape == (7, 3)
    assert set(np.unique(drawn)) == {-1, 1}


def test_holm_by_hand() -> None:
    # Sorted 0.01 0.03 0.04: times 3, 2, 1 = 0.03 0.06 0.04, never falling: 0.03 0.06 0.06. The missing one counts not.
    assert holm(np.array([0.04, 0.01, np.nan, 0.03])) == pytest.approx([0.06, 0.03, np.nan, 0.06], nan_ok=True)
    assert np.isnan(holm(np.array([np.nan]))).all()


@settings(max_examples=20)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=70))
def test_holm_is_that_of_statsmodels(p_values: list[float]) -> None:
    values = np.array(p_values)
    assert holm(values) == pytest.approx(multipletests(values, method="holm")[1])


@settings(max_examples=30)
@given(st.lists(st.lists(st.integers(0, 10), min_size=6, max_size=6), min_size=2, max_size=3), st.integers(0, 5))
def test_exchanging_two_systems_turns_the_sign_and_nothing_else(rows: list[list[int]], seed: int) -> None:
    values = np.array(rows) / 10
    forth, back = (
        pairwise_differences(task_scores(*one.tolist()), np.random.default_rng(seed), 100)
        for one in (values, values[::-1])
    )
    back = back.iloc[::-1].reset_index(drop=True)
    assert forth["difference_pct"].to_numpy() == pytest.approx(-back["difference_pct"].to_numpy())
    assert forth["p_value"].to_numpy() == pytest.approx(back["p_value"].to_numpy())
    assert forth["won_pct"].to_numpy() == pytest.approx(back["lost_pct"].to_numpy())
    assert forth["effect_size"].to_numpy() == pytest.approx(-back["effect_size"].to_numpy(), nan_ok=True)
    assert (forth["holm_p_value"] >= forth["p_value"]).all()


def test_systems_are_compared_on_the_tasks_that_they_share_and_it_is_told() -> None:
    nan = float("nan")
    scores = task_scores([0.5, 0.6, 1.0, nan], [0.2, 0.5, nan, 0.9], [nan, nan, nan, 0.4])
    table = compared(scores).set_index(["system_a", "system_b"])
    assert table[["tasks", "tasks_a", "tasks_b"]].to_numpy().tolist() == [[2, 3, 3], [0, 3, 1], [1, 3, 1]]
    assert table.loc[("S0", "S1"), "difference_pct"] == pytest.approx(20)
    assert table.loc[("S0", "S2"), ["difference_pct", "p_value", "won_pct"]].isna().all()
    assert table.loc[("S1", "S2"), "difference_pct"] == pytest.approx(50)
    assert np.isnan(table.loc[("S1", "S2"), "p_value"])
    # One pair is tested: 0.3 and 0.1 reach 0.4 with 2 of 4 signs, and nothing is corrected.
    assert table.loc[("S0", "S1"), ["p_value", "holm_p_value"]].tolist() == [0.5, 0.5]
    ranks = ranked(scores)
    assert ranks[["tasks", "best_rank", "worst_rank"]].to_numpy().tolist() == [[0, 1, 3]] * 3
    assert ranks[["score_pct", "rank", "rank_low", "rank_high", "first_pct"]].isna().all(axis=None)
    assert ranks["note"].iloc[0].startswith("tasks that all systems have: 0; leave out those with the fewest: S2 (1)")


def test_open_rubrics_are_refused_or_decided_against_the_difference() -> None:
    scores = task_scores(list(STEADY + 0.3), list(STEADY), list(STEADY - 0.2))
    closed = compared(scores, unjudged="bounds")
    pd.testing.assert_frame_equal(closed, compared(scores))
    first = (scores["system"] == "S1") & (scores["task_id"] == "T0")
    scores.loc[first, ["score", "lower", "upper", "unjudged"]] = [np.nan, 0.0, 1.0, 5]
    for call in (compared, ranked):
        with pytest.raises(UnjudgedError, match="5 rubrics"):
            call(scores)
    table = compared(scores, unjudged="bounds").set_index(["system_a", "system_b"])
    assert table.loc[("S0", "S2"), "difference_pct"] == pytest.approx(50)
    near = table.loc[("S0", "S1")]
    assert np.isnan(near["difference_pct"])
    assert near["low_pct"] < 30 < near["high_pct"]
    # With the open task at 1 its difference is 0.5 - 1 against it: one sign of twelve is turned.
    assert near["p_value"] > closed["p_value"].iloc[0]
    all_open = scores["system"].isin(["S0", "S1"])
    scores.loc[all_open, ["score", "lower", "upper", "unjudged"]] = [np.nan, 0.0, 1.0, 5]
    assert compared(scores, unjudged="bounds").iloc[0]["p_value"] == 1
    ranks = ranked(scores, unjudged="bounds")
    assert ranks.loc["S0", ["rank_low", "rank_high", "first_pct"]].tolist() == [1, 3, 0]


def test_pairs_say_what_they_leave_out_and_what_they_cannot_show() -> None:
    none = float("nan")
    scores = task_scores([0.1, 0.4, 0.3, 0.2, 0.6, 0.9, none, none], [0.3, 0.2, 0.1, none, none, none, 0.5, 0.1])
    note = pairwise_differences(scores, np.random.default_rng(0), 500).loc[0, "note"]
    assert "on shared tasks alone, 3 of 6 and 5" in note
    assert "few shared tasks: no interval" in note
    # The least p-value of 3 tasks is 2 / 8; of 6 tasks 2 / 64, which Holm's correction over 3 pairs makes 0.094.
    assert "beyond chance after Holm's correction over 1 pair" in note
    three = task_scores(*np.random.default_rng(1).random((3, 6)).tolist())
    assert pairwise_differences(three, np.random.default_rng(0), 500)["note"].str.contains("over 3 pairs").all()
    # 2 / 2^8 = 0.008 could pass, and with 50 resamples 3 / 51 = 0.059 could not.
    three = task_scores(*np.random.default_rng(1).random((3, 8)).tolist())
    assert (pairwise_differences(three, np.random.default_rng(0), 500)["note"] == "").all()
    assert pairwise_differences(three, np.random.default_rng(0), 50)["note"].str.contains("or resamples").all()


def test_pairs_that_differ_alike_on_every_task_have_an_interval_of_width_0() -> None:
    row = pairwise_differences(task_scores([0.5] * 6, [0.3] * 6), np.random.default_rng(0), 500).iloc[0]
    assert row[["difference_pct", "low_pct", "high_pct"]].tolist() == pytest.approx([20, 20, 20])
    row = pairwise_differences(task_scores([0.5] * 5, [0.3] * 5), np.random.default_rng(0), 500).iloc[0]
    assert row[["low_pct", "high_pct"]].isna().all(), "five equal tasks may be chance"


def test_few_common_tasks_have_ranks_and_no_resampled_ones() -> None:
    # One of two systems leads in each resample of two tasks: that is no certainty.
    ranks = rank_intervals(task_scores([0.9, 0.8], [0.1, 0.2]), np.random.default_rng(0), 500)
    assert ranks[["rank", "best_rank", "worst_rank"]].to_numpy().tolist() == [[1, 1, 2], [2, 1, 2]]
    assert ranks[["rank_low", "rank_high", "first_pct"]].isna().all(axis=None)
    assert ranks["note"].str.contains("few tasks in common").all()


def test_ranks_of_systems_that_always_differ_are_sure() -> None:
    table = ranked(task_scores(list(STEADY), list(STEADY + 0.2), list(STEADY + 0.1)))
    assert table.index.tolist() == ["S1", "S2", "S0"]
    names = ["rank", "best_rank", "worst_rank", "rank_low", "rank_high"]
    assert table[names].to_numpy().tolist() == [[1] * 5, [2] * 5, [3] * 5]
    assert table["first_pct"].tolist() == [100, 0, 0]
    assert table[["tasks", "tasks_of_system"]].to_numpy().tolist() == [[12, 12]] * 3


def test_equal_systems_share_the_first_rank() -> None:
    table = ranked(task_scores(list(STEADY), list(STEADY), list(STEADY - 0.1)))
    assert table["rank"].tolist() == [1, 1, 3]
    assert table["first_pct"].tolist() == [50, 50, 0]
    assert table[["best_rank", "worst_rank"]].to_numpy().tolist() == [[1, 2], [1, 2], [3, 3]]


def test_ranks_are_over_common_tasks_and_leading_adds_up() -> None:
    values = nested_scores(np.random.default_rng(3), (4, 20, 1, 1), (0.1, 0.0, 0.0))
    values[2, 5:9] = np.nan
    table = ranked(scores_of(values), resamples=500)
    assert set(table["tasks"]) == {16}
    assert table["tasks_of_system"].to_dict() == {"S0": 20, "S1": 20, "S2": 16, "S3": 20}
    assert table.loc["S0", "score_pct"] == pytest.approx(100 * np.delete(values[0], range(5, 9)).mean())
    assert table["first_pct"].sum() == pytest.approx(100)
    assert (table["best_rank"] <= table["rank"]).all()
    assert (table["rank"] <= table["worst_rank"]).all()


def test_judges_are_kept_apart_and_one_system_has_no_pair() -> None:
    two = pd.concat([task_scores([0.1, 0.2], [0.3, 0.1]), task_scores([0.1, 0.2], [0.3, 0.1]).assign(judge="K")])
    assert compared(two)["judge"].tolist() == ["J", "K"]
    assert compared(task_scores([0.1, 0.2])).empty
    assert ranked(task_scores([0.1, 0.2] * 3))["first_pct"].tolist() == [100]
    with pytest.raises(InputError, match="95"):
        compared(two, level=95)


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [14, 50])
def test_identical_systems_differ_in_5_of_100_pairs_and_intervals_cover(tasks: int) -> None:
    # Disjoint pairs of systems that differ by chance alone, on tasks that are hard for all: 25 tables of 20 pairs.
    rng, pairs = np.random.default_rng(tasks), []
    for _ in range(25):
        scores = scores_of(nested_scores(rng, (40, tasks, 2, 1), (0.1, 0.1, 0.0), shared=0.2))
        table = pairwise_differences(scores, rng, 1000)
        place = table[["system_a", "system_b"]].map(lambda name: int(name[1:])).to_numpy()
        pairs.append(table[(place[:, 0] % 2 == 0) & (place[:, 1] == place[:, 0] + 1)])
    found = pd.concat(pairs)
    assert len(found) == 500
    assert 0.03 <= (found["p_value"] <= 0.05).mean() <= 0.07  # two standard errors of 1 point
    assert 0.93 <= ((found["low_pct"] <= 0) & (found["high_pct"] >= 0)).mean() <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [14, 50, 203])
def test_the_sign_flip_test_errs_in_5_of_100(tasks: int) -> None:
    differences = np.random.default_rng(tasks).standard_t(5, (tasks, 5000))
    p_values = sign_flip_p_values(differences, sign_flips(tasks, np.random.default_rng(0), 1000))
    assert 0.041 <= (p_values <= 0.05).mean() <= 0.059  # three standard errors of 0.3 points


@pytest.mark.slow
def test_families_of_pairs_and_ranks_err_in_no_more_than_5_of_100() -> None:
    rng = np.random.default_rng(7)
    alike = pd.concat(
        scores_of(nested_scores(rng, (5, 20, 1, 1), (0.2, 0.0, 0.0)), judge=f"J{number}") for number in range(300)
    )
    any_found = pairwise_differences(alike, rng, 1000).groupby("judge")["holm_p_value"].min() <= 0.05
    assert any_found.mean() <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 300)
    gaps = np.array([0.0, 0.02, 0.08, 0.2, 0.22])[:, None, None, None]
    apart = pd.concat(
        scores_of(gaps + nested_scores(rng, (5, 20, 1, 1), (0.1, 0.0, 0.0)), judge=f"J{number}")
        for number in range(200)
    )
    ranks = rank_intervals(apart, rng, 1000)
    truth = 5 - ranks["system"].str[1:].astype(int)
    inside = (ranks["best_rank"] <= truth) & (truth <= ranks["worst_rank"])
    assert inside.groupby(ranks["judge"]).all().mean() >= 0.95 - 2 * np.sqrt(0.05 * 0.95 / 200)
    assert (ranks["worst_rank"] - ranks["best_rank"]).mean() < 3  # and yet they say something
