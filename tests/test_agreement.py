"""Kappa and its undefined cases, judges against labels, rankings against rankings."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint

from lifesearch_kit.agreement.annotators import annotator_agreement
from lifesearch_kit.agreement.judge_agreement import judge_agreement
from lifesearch_kit.agreement.measures import accuracy, cohen_kappa, mean_defined
from lifesearch_kit.agreement.rank_measures import rank_agreement
from lifesearch_kit.errors import InputError
from lifesearch_kit.statistics.clustered_shares import clustered_interval


def test_kappa_by_hand() -> None:
    # Both pass 4, only the first 2, only the second 1, both fail 3: observed 0.7, chance 0.6*0.5 + 0.4*0.5 = 0.5.
    first = [True] * 6 + [False] * 4
    second = [True] * 4 + [False] * 2 + [True] + [False] * 3
    assert cohen_kappa(first, second).value == pytest.approx((0.7 - 0.5) / (1 - 0.5))
    assert accuracy(first, second).value == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("first", "second", "kappa"),
    [
        ([True, False], [True, False], 1.0),
        ([True, False], [False, True], -1.0),
        ([True, True, False], [False, False, False], 0.0),
        ([True], [False], 0.0),
        (["better", "worse", "even", "worse"], ["better", "worse", "even", "worse"], 1.0),
        ([1, 0, 1], [1.0, 0.0, 1.0], 1.0),
        ([True, False], [1, 0], 1.0),
        ([1.0, 0.0], [False, True], -1.0),
        ([np.True_, False], [True, np.int64(0)], 1.0),
        ([True, False, "even"], [1, 0, "even"], 1.0),
        ([True, False], ["Pass", "Fail"], 0.0),
    ],
)
def test_defined_kappas(first: list[object], second: list[object], kappa: float) -> None:
    assert cohen_kappa(first, second).value == pytest.approx(kappa)


@pytest.mark.parametrize(
    ("labels", "reason"),
    [([], "no items"), ([True], "only Pass"), ([False] * 7, "only Fail"), (["even"] * 3, "only 'even'")],
)
def test_undefined_kappa_is_none_with_a_reason(labels: list[object], reason: str) -> None:
    kappa = cohen_kappa(labels, labels)
    assert kappa.value is None
    assert reason in kappa.reason
    assert accuracy(labels, labels).value == (1.0 if labels else None)


def test_undefined_values_are_left_out_of_a_mean_and_counted() -> None:
    mean = mean_defined([cohen_kappa([1, 0], [1, 0]), cohen_kappa([1, 1], [1, 1]), cohen_kappa([1, 0], [0, 0])])
    assert (mean.value, mean.n, mean.reason) == (0.5, 2, "1 of 3 undefined and left out")
    assert mean_defined([]).value is None


@pytest.mark.parametrize("second", [[True], [True, None], [True, float("nan")], [True, pd.NA]])
def test_kappa_refuses_pairs_that_are_none(second: list[object]) -> None:
    with pytest.raises(InputError):
        cohen_kappa([True, False], second)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=20))
def test_kappa_is_symmetric_bounded_and_never_nan(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    kappa, turned = cohen_kappa(first, second).value, cohen_kappa(second, first).value
    assert kappa == turned or kappa == pytest.approx(turned)
    assert kappa is None or -1.0 <= kappa <= 1.0


def labels_of(signs: str, annotator: str = "reference") -> pd.DataFrame:
    rows = [("A", "T", 1, f"R{at}", annotator, sign == "+") for at, sign in enumerate(signs, 1) if sign != "."]
    return pd.DataFrame(rows, columns=["system", "task_id", "run", "rubric_id", "annotator", "satisfied"])


def judgments_of(*repeats: str, judge: str = "J") -> pd.DataFrame:
    meaning = {"+": True, "-": False, "?": None}
    rows = [
        ("A", "T", 1, f"R{at}", judge, repeat, meaning[sign])
        for repeat, signs in enumerate(repeats, 1)
        for at, sign in enumerate(signs, 1)
        if sign != "."
    ]
    columns = ["system", "task_id", "run", "rubric_id", "judge", "repeat", "satisfied"]
    return pd.DataFrame(rows, columns=columns).astype({"satisfied": "boolean"})


def test_judge_measures_by_hand() -> None:
    table = judge_agreement(judgments_of("++--", "+---", "++-+"), labels_of("++-+"))
    row = table.iloc[0]
    # Right: 3, 2 and 4 of 4. Same in all passes: R1 and R3. Majority ++--: 3 of 4.
    assert list(row[["rubrics", "repeats", "judged", "unjudged", "correct"]]) == [4, 3, 12, 0, 9]
    assert row["mean_accuracy_pct"] == pytest.approx(75.0)
    assert (row["self_consistency_pct"], row["majority_vote_pct"], row["undecided"]) == (50.0, 75.0, 0)
    # Labelled Pass: R1 3, R2 2 and R4 1 of 3, so 6 of 9; labelled Fail: R3 3 of 3. Passed: 6 of 12, by labels 9 of 12.
    assert row["pass_recall_pct"] == pytest.approx(100 * 6 / 9)
    assert row["fail_recall_pct"] == 100.0
    assert row["balanced_accuracy_pct"] == pytest.approx((100 * 6 / 9 + 100) / 2)
    assert (row["passed_pct"], row["label_passed_pct"]) == (50.0, 75.0)
    # Labels pass 3 of 4, majority 2 of 4: chance 0.75*0.5 + 0.25*0.5 = 0.5, so (0.75 - 0.5) / 0.5.
    assert row["kappa"] == pytest.approx(0.5)


def test_an_accuracy_has_the_interval_of_as_many_decisions_as_its_reports_bear_out() -> None:
    # Four reports of two rubrics with 2, 1, 1, 1 right: 5 of 8. Variance between them: 4/3 (0.75^2 + 3 * 0.25^2) / 8^2
    # = 1/64, of 15/64 for one decision: 15, so all 8 count, times (1.960 / t_3)^2 = (1.960 / 3.182)^2: 3.035.
    low, high = clustered_interval(5 / 8, [2, 1, 1, 1], [2, 2, 2, 2])
    assert (low, high) == pytest.approx(proportion_confint(5 / 8 * 3.035, 3.035, method="wilson"), abs=1e-3)
    # Reports that are all right or all wrong hold one decision each: 4 of them, (1.960 / 3.182)^2 * 4 * 3/4 = 1.138.
    alike = clustered_interval(0.5, [2, 0, 2, 0], [2, 2, 2, 2])
    assert alike == pytest.approx(proportion_confint(0.5 * 1.138, 1.138, method="wilson"), abs=1e-3)


@pytest.mark.parametrize(
    ("right", "made", "counted"), [([10], [10], 1), ([95], [100], 1), ([3, 4, 5], [3, 4, 5], 3), ([0, 0], [9, 0], 1)]
)
def test_reports_count_once_where_they_show_no_variance(right: list[int], made: list[int], counted: int) -> None:
    share = sum(right) / sum(made)
    wanted = proportion_confint(share * counted, counted, method="wilson")
    assert clustered_interval(share, right, made) == pytest.approx(wanted, abs=1e-9)


def test_the_interval_of_clustered_decisions_covers() -> None:
    # 14 reports of 17 rubrics, each report's chance to be judged right drawn from a beta distribution around 0.85.
    rng = np.random.default_rng(1)
    covered = []
    for _ in range(500):
        right = rng.binomial(17, rng.beta(17, 3, 14))
        low, high = clustered_interval(right.sum() / (14 * 17), right, np.full(14, 17))
        covered.append(low <= 0.85 <= high)
    assert np.mean(covered) >= 0.92


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), max_size=8))
def test_the_interval_holds_its_share(reports: list[tuple[int, int]]) -> None:
    right, made = [one for one, _ in reports], [one for _, one in reports]
    share = sum(right) / sum(made) if sum(made) else 0.5
    low, high = clustered_interval(share, right, made)
    assert np.isnan(low) if not sum(made) else 0 <= low <= share <= high <= 1


def test_a_judge_with_few_verdicts_has_a_wide_interval() -> None:
    rows = [judgments_of(signs).assign(task_id=f"T{at}") for at, signs in enumerate(["++++", "????", "????", "????"])]
    labels = [labels_of("++++").assign(task_id=f"T{at}") for at in range(4)]
    row = judge_agreement(pd.concat(rows), pd.concat(labels)).iloc[0]
    assert list(row[["reports", "rubrics", "judged", "unjudged"]]) == [4, 16, 4, 12]
    # All right, but in one report only: Wilson at 1 of 1 begins at 20.7%.
    assert (row["mean_accuracy_pct"], row["high_pct"]) == (100.0, 100.0)
    assert row["low_pct"] == pytest.approx(20.65, abs=0.01)


def test_unjudged_and_even_votes_stand_beside_and_count_neither_way() -> None:
    row = judge_agreement(judgments_of("+?+.", "+--."), labels_of("++++")).iloc[0]
    # R1 ++, R2 ?-, R3 +- (even), R4 nothing: judged 2 + 3 of 8; right 2 of 2 and 1 of 3.
    assert list(row[["judged", "unjudged", "correct", "undecided"]]) == [5, 3, 3, 1]
    assert row["mean_accuracy_pct"] == pytest.approx((100 + 100 / 3) / 2)
    assert row["self_consistency_pct"] == 50.0
    assert (row["majority_correct"], row["majority_vote_pct"]) == (1, 50.0)


def test_one_pass_has_no_self_consistency_and_one_sided_labels_no_kappa() -> None:
    row = judge_agreement(judgments_of("++"), labels_of("++")).iloc[0]
    assert row["self_consistency_pct"] is pd.NA
    assert row["kappa"] is pd.NA
    assert "only Pass" in row["kappa_reason"]
    assert row["pass_recall_pct"] == 100.0
    assert row[["fail_recall_pct", "balanced_accuracy_pct"]].isna().all()
    assert row["mean_accuracy_pct"] == 100.0


def test_a_judge_without_any_verdict_has_no_figures() -> None:
    row = judge_agreement(judgments_of("??"), labels_of("+-")).iloc[0]
    assert (row["judged"], row["unjudged"]) == (0, 2)
    assert row[["mean_accuracy_pct", "low_pct", "high_pct", "majority_vote_pct", "kappa"]].isna().all()
    assert row[["pass_recall_pct", "fail_recall_pct", "balanced_accuracy_pct", "passed_pct"]].isna().all()


def test_judges_are_compared_one_by_one_and_by_attribute() -> None:
    rubrics = pd.DataFrame(
        {"task_id": "T", "rubric_id": ["R1", "R2", "R3", "R4"], "necessity": ["Explicit"] * 2 + ["Implicit"] * 2}
    )
    judgments = pd.concat([judgments_of("++--"), judgments_of("+-+-", judge="K")])
    table = judge_agreement(judgments, labels_of("++++"), rubrics, by="necessity")
    assert table.set_index(["judge", "necessity"])["mean_accuracy_pct"].to_dict() == {
        ("J", "Explicit"): 100.0,
        ("J", "Implicit"): 0.0,
        ("K", "Explicit"): 50.0,
        ("K", "Implicit"): 50.0,
    }


def test_a_judge_that_favours_a_system_is_seen() -> None:
    labels, judgments = labels_of("+-+-"), judgments_of("+++-")
    judgments = pd.concat([judgments, judgments_of("--+-").assign(system="B")])
    labels = pd.concat([labels, labels.assign(system="B")])
    table = judge_agreement(judgments, labels, by="system").set_index("system")
    # A: R2 passed beside the label. B: R1 failed beside it. Both are right on 3 of 4.
    assert table["mean_accuracy_pct"].to_dict() == {"A": 75.0, "B": 75.0}
    assert (table["passed_pct"] - table["label_passed_pct"]).to_dict() == {"A": 25.0, "B": -25.0}


def test_judge_agreement_refuses_what_is_no_reference() -> None:
    judgments = judgments_of("+-")
    with pytest.raises(InputError, match="'reference', 'other'"):
        judge_agreement(judgments, pd.concat([labels_of("+-"), labels_of("+", "other")]))
    with pytest.raises(InputError, match=r"R2.*changed"):
        judge_agreement(judgments, labels_of("+-").assign(stale=pd.array([False, True], dtype="boolean")))
    with pytest.raises(InputError, match="no judgment is of a labelled rubric"):
        judge_agreement(judgments.assign(run=2), labels_of("+-"))
    with pytest.raises(InputError, match="'mood'"):
        judge_agreement(judgments, labels_of("+-"), pd.DataFrame({"task_id": [], "rubric_id": []}), by="mood")


def test_annotators_are_compared_over_what_both_labelled() -> None:
    labels = pd.concat([labels_of("++--", "x"), labels_of("+-+-", "y"), labels_of("++..", "z")])
    table = annotator_agreement(labels).set_index(["annotator_a", "annotator_b"])
    assert table["rubrics"].to_dict() == {("x", "y"): 4, ("x", "z"): 2, ("y", "z"): 2}
    # x and y agree on 2 of 4 with both halves passed: chance 0.5, kappa 0.
    assert table.loc[("x", "y"), "kappa"] == 0.0
    assert table.loc[("x", "z"), "kappa"] is pd.NA
    assert table.loc[("x", "z"), "accuracy_pct"] == 100.0
    with pytest.raises(InputError, match="more than once"):
        annotator_agreement(pd.concat([labels, labels_of("+", "x")]))


def test_ranks_and_scores_agree_after_turning_one_direction() -> None:
    people = {"A": 1, "B": 2, "C": 3, "D": 4, "E": 5}
    score = {"A": 71.0, "B": 66.5, "C": 66.4, "D": 20.0, "E": 3.0, "F": 99.0}
    agreement = rank_agreement(people, score, x_best="lowest")
    assert (agreement.spearman.value, agreement.kendall.value) == (pytest.approx(1.0), pytest.approx(1.0))
    assert agreement.left_out == ("F",)
    assert agreement.systems == tuple("ABCDE")
    assert agreement.warning == ""
    assert rank_agreement(people, score).spearman.value == pytest.approx(-1.0)


def test_ties_take_mid_ranks() -> None:
    x, y = pd.Series([1.0, 1.0, 2.0, 3.0]), pd.Series([4.0, 5.0, 5.0, 9.0])
    agreement = rank_agreement(x, y)
    # Mid-ranks 1.5 1.5 3 4 and 1 2.5 2.5 4: covariance 3.75 / 4.5; Kendall: 4 concordant of 5 and 5 untied pairs.
    assert agreement.spearman.value == pytest.approx(3.75 / 4.5)
    assert agreement.kendall.value == pytest.approx(4 / 5)
    assert "with 4 of at least 5" in agreement.warning


@pytest.mark.parametrize("computed", [0.1 + 0.2, 0.3 * (1 + 1e-12), 0.3])
def test_values_that_differ_by_rounding_only_are_tied(computed: float) -> None:
    systems = [f"S{at}" for at in range(7)]
    x = pd.Series([computed, 0.3, 0.5, 0.7, 0.8, 0.9, 1.0], index=systems)
    y = pd.Series([1, 1, 2, 3, 4, 5, 6], index=systems)
    agreement = rank_agreement(x, y)
    assert agreement.spearman.value == pytest.approx(1.0)
    assert agreement.kendall.value == pytest.approx(1.0)
    assert rank_agreement(x * 1e9, y).kendall.value == pytest.approx(1.0)


def test_small_differences_are_an_order_and_rounding_alone_is_none() -> None:
    assert rank_agreement({"a": 80.001, "b": 80.0}, {"a": 2, "b": 1}).kendall.value == 1.0
    alike = rank_agreement({"a": 0.1 + 0.2, "b": 0.3}, {"a": 2, "b": 1})
    assert alike.kendall.value is None
    assert "ties all" in alike.kendall.reason
    endless = rank_agreement({"a": float("inf"), "b": 1.0, "c": -float("inf")}, {"a": 3, "b": 2, "c": 1})
    assert endless.spearman.value == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [
        ([2, 2, 2], [1, 2, 3], "ties all"),
        ([1, 2, 3], [4, 4, 4], "ties all"),
        ([5, 5], [5, 5], "ties all"),
        ([1], [2], "needs two"),
        ([], [], "needs two"),
        ([1, None], [None, 2], "needs two"),
    ],
)
def test_undefined_rank_agreement_is_none_with_a_reason(x: list[float], y: list[float], reason: str) -> None:
    agreement = rank_agreement(pd.Series(x, dtype=float), pd.Series(y, dtype=float))
    for measure in (agreement.spearman, agreement.kendall):
        assert measure.value is None
        assert reason in measure.reason


def test_a_system_with_two_values_or_an_unknown_end_is_refused() -> None:
    with pytest.raises(InputError, match="'A' has several"):
        rank_agreement(pd.Series([1, 2], index=["A", "A"]), {"A": 1})
    with pytest.raises(InputError, match="'low'"):
        rank_agreement({"A": 1}, {"A": 1}, x_best="low")  # type: ignore[arg-type]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=2, max_size=7))
def test_spearman_and_kendall_follow_their_definitions(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, dtype=float).T
    agreement = rank_agreement(pd.Series(x), pd.Series(y))
    if len(set(x)) == 1 or len(set(y)) == 1:
        assert agreement.spearman.value is None
        return
    ranks = [pd.Series(values).rank().to_numpy() for values in (x, y)]
    assert agreement.spearman.value == pytest.approx(np.corrcoef(*ranks)[0, 1])
    couples = list(itertools.combinations(pairs, 2))
    signs = [(np.sign(a[0] - b[0]), np.sign(a[1] - b[1])) for a, b in couples]
    untied = [sum(sign[side] != 0 for sign in signs) for side in (0, 1)]
    assert agreement.kendall.value == pytest.approx(sum(a * b for a, b in signs) / np.sqrt(untied[0] * untied[1]))
