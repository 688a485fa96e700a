"""People's rankings against the score's: chance, intervals, one system fewer, table 5 of the paper, task by task."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from lifesearch_kit.agreement import human_ranks
from lifesearch_kit.agreement.rank_inference import (
    KENDALL,
    SPEARMAN,
    correlation_words,
    leave_one_out,
    rank_test_words,
    rank_tests,
    survival_words,
)
from lifesearch_kit.agreement.task_ranks import TASK_RANKINGS, agreement_over_tasks, task_rank_agreement
from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import ROOT
from lifesearch_kit.results import Results, load_results
from lifesearch_kit.tables import read_table, write_table


def ranks_of(*ranks: float) -> pd.Series:
    return pd.Series(ranks, index=list("ABCDEFGHIJKL")[: len(ranks)], dtype=float)


def compared(x: pd.Series, y: pd.Series, **options) -> pd.DataFrame:
    return rank_tests(x, y, np.random.default_rng(1), **options).set_index("measure")


@pytest.fixture(scope="module")
def paper() -> Results:
    return load_results(ROOT / "data" / "paper")


def test_four_systems_in_the_same_order_are_two_of_24_orders() -> None:
    found = compared(ranks_of(1, 2, 3, 4), ranks_of(1, 2, 3, 4))
    # One order agrees wholly, one disagrees wholly: twice 1 in 24, exactly.
    assert found["p_value"].tolist() == pytest.approx([2 / 24] * 2)
    assert (found["orders"] == 24).all()
    assert found["exact"].all()
    assert found[["low", "high"]].isna().all(axis=None)
    assert found["reason"].str.contains("4 systems are too few").all()
    assert "no interval, as 4 systems are too few" in rank_test_words(found.reset_index())
    assert correlation_words(found.reset_index()) == "Spearman's rho 1.000, Kendall's tau-b 1.000 over 4 systems"
    assert "Spearman's rho stays 1.00; Kendall's tau-b stays 1.00" in survival_words(found.reset_index())


def test_the_papers_seven_systems_are_tested_exactly(paper: Results) -> None:
    ranks = paper.require("rankings").set_index("system")
    found = compared(ranks["human_rank"], ranks["score_rank"])
    # 2 of 21 pairs turned. Orders of seven with at most 2 turned: 1 + 6 + 20 = 27 of 5,040, in either tail.
    assert found.loc[KENDALL, "p_value"] == pytest.approx(2 * 27 / 5040)
    squares = [sum((a - b) ** 2 for a, b in enumerate(order)) for order in itertools.permutations(range(7))]
    assert found.loc[SPEARMAN, "p_value"] == pytest.approx(2 * sum(one <= 6 for one in squares) / 5040)
    assert found["value"].tolist() == pytest.approx([1 - 36 / 336, 1 - 4 / 21])
    # Fisher's z of rho: atanh(25/28) = 1.4356, variance (1 + rho^2 / 2) / 4; of tau: atanh(17/21), 0.437 / 3.
    for measure, variance in ((SPEARMAN, (1 + (25 / 28) ** 2 / 2) / 4), (KENDALL, 0.437 / 3)):
        ends = np.tanh(np.arctanh(found.loc[measure, "value"]) + np.array([-1.96, 1.96]) * variance**0.5)
        assert found.loc[measure, ["low", "high"]].tolist() == pytest.approx(ends.tolist(), abs=1e-4)


def test_without_one_system_the_papers_agreement_stays(paper: Results) -> None:
    ranks = paper.require("rankings").set_index("system")
    without = leave_one_out(ranks["human_rank"], ranks["score_rank"]).set_index("left_out")
    # Without Hy3 the orders are the same. Without GPT-5.6 Sol the squares still add up to 6: 1 - 36 / (6 * 35), and 2
    # of 15 pairs are turned.
    assert without.loc["Hy3", ["spearman", "kendall"]].tolist() == pytest.approx([1, 1])
    assert without.loc["GPT-5.6 Sol", ["spearman", "kendall"]].tolist() == pytest.approx([1 - 36 / 210, 1 - 4 / 15])
    found = compared(ranks["human_rank"], ranks["score_rank"])
    assert found[["without_one_low", "without_one_high"]].to_numpy(float).ravel().tolist() == pytest.approx(
        [1 - 36 / 210, 1, 1 - 4 / 15, 1]
    )
    assert found["least_without"].tolist() == ["GPT-5.6 Sol or Claude Opus 5 or Doubao-Seed-2.1-Pro or Kimi-K3"] * 2
    assert "Spearman's rho lies within 0.83 and 1.00" in survival_words(found.reset_index())
    assert rank_test_words(found.reset_index()).splitlines() == [
        "Spearman's rho: 0.893, interval 0.27 to 0.99; p = 0.012 over all 5,040 orders",
        "Kendall's tau-b: 0.810, interval 0.36 to 0.95; p = 0.011 over all 5,040 orders",
    ]
    assert correlation_words(found.reset_index()) == (
        "Spearman's rho 0.893 (95%: 0.27 to 0.99), Kendall's tau-b 0.810 (0.36 to 0.95) over 7 systems"
    )


def test_ties_and_more_systems_than_orders_can_be_gone_through() -> None:
    tied = compared(ranks_of(1, 2, 2, 4, 5), ranks_of(1.5, 1.5, 3, 4, 5))
    statistic = [
        stats.kendalltau([1, 2, 2, 4, 5], order).statistic for order in itertools.permutations([1.5, 1.5, 3, 4, 5])
    ]
    value = stats.kendalltau([1, 2, 2, 4, 5], [1.5, 1.5, 3, 4, 5]).statistic
    upper = np.mean([one >= value - 1e-9 for one in statistic])
    assert tied.loc[KENDALL, "value"] == pytest.approx(value)
    assert tied.loc[KENDALL, "p_value"] == pytest.approx(2 * upper)
    many = compared(ranks_of(*range(1, 13)), ranks_of(*range(12, 0, -1)), resamples=999)
    assert not many["exact"].any()
    assert (many["orders"] == 999).all()
    # No random order is as turned: (0 + 1) / (999 + 1) in either tail.
    assert many["p_value"].tolist() == pytest.approx([0.002] * 2)
    assert compared(ranks_of(*range(1, 13)), ranks_of(*range(12, 0, -1)), resamples=999).equals(many)


@pytest.mark.parametrize(
    ("x", "y", "reason"),
    [((2, 2, 2), (1, 2, 3), "ties all"), ((1,), (1,), "needs two"), ((), (), "needs two")],
)
def test_rankings_without_an_order_have_reasons_throughout(x, y, reason, tmp_path) -> None:
    found = compared(ranks_of(*x), ranks_of(*y))
    assert found[["value", "low", "high", "p_value", "without_one_low"]].isna().all(axis=None)
    assert found["reason"].str.contains(reason).all()
    assert reason in survival_words(found.reset_index())
    assert f"undefined ({found['reason'].iloc[0]})" in rank_test_words(found.reset_index())
    assert "nan" not in write_table(found.reset_index(), tmp_path / "t.csv").read_text("utf-8").casefold()


def test_two_systems_leave_nothing_without_one() -> None:
    found = compared(ranks_of(1, 2), ranks_of(1, 2))
    assert found["value"].tolist() == pytest.approx([1, 1])
    assert leave_one_out(ranks_of(1, 2), ranks_of(1, 2))["reason"].str.contains("needs two").all()
    assert "No agreement is left" in survival_words(found.reset_index())


@settings(max_examples=25, deadline=None)
@given(st.permutations(range(6)), st.permutations(range(6)))
def test_p_values_depend_on_neither_side_nor_names_nor_direction(order, names) -> None:
    x, y = ranks_of(*range(1, 7)), ranks_of(*(one + 1 for one in order))
    found = compared(x, y)[["value", "p_value"]].astype(float)
    swapped = compared(y, x)[["value", "p_value"]].astype(float)
    renamed = compared(x.iloc[list(names)], y)[["value", "p_value"]].astype(float)
    turned = compared(x, -y)[["value", "p_value"]].astype(float)
    pd.testing.assert_frame_equal(found, swapped)
    pd.testing.assert_frame_equal(found, renamed)
    assert turned["value"].tolist() == pytest.approx((-found["value"]).tolist())
    assert turned["p_value"].tolist() == pytest.approx(found["p_value"].tolist())


def test_the_interval_of_rho_is_that_of_a_published_example() -> None:
    # The example of ci.spear in the R package statpsych by one of the method's authors: 0.8699639, 0.5840951 to
    # 0.9638297 at n = 15. Its two lists hold ties.
    y = (21, 4, 9, 12, 35, 18, 10, 22, 24, 1, 6, 8, 13, 16, 19)
    x = (67, 28, 30, 28, 52, 40, 25, 37, 44, 10, 14, 20, 28, 40, 51)
    found = compared(pd.Series(x), pd.Series(y), resamples=99).loc[SPEARMAN]
    assert found[["value", "low", "high"]].tolist() == pytest.approx([0.8699639, 0.5840951, 0.9638297], abs=1e-6)


def test_the_interval_over_systems_covers_for_a_dozen_of_them() -> None:
    # Normal pairs with correlation 0.7: tau is 2 / pi * asin(0.7), rho 6 / pi * asin(0.35).
    rng = np.random.default_rng(2)
    aims = np.array([6 / np.pi * np.arcsin(0.35), 2 / np.pi * np.arcsin(0.7)])
    hits = []
    for _ in range(120):
        x, y = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], size=12).T
        found = rank_tests(ranks_of(*x), ranks_of(*y), rng, resamples=1)
        hits.append((found["low"].to_numpy(float) <= aims) & (aims <= found["high"].to_numpy(float)))
    assert (np.mean(hits, axis=0) >= 0.9).all()


def test_table_5_is_recomputed_with_its_changes(paper: Results) -> None:
    changes = human_ranks.rank_changes(paper.require("rankings")).set_index("system")
    assert changes["change"].to_dict() == {
        "GPT-5.6 Sol": 0,
        "Claude Opus 5": 0,
        "Doubao-Seed-2.1-Pro": 0,
        "Kimi-K3": 0,
        "Claude Opus 4.8": -1,
        "GLM-5.2": -1,
        "Hy3": 2,
    }
    words = human_ranks.change_words(changes.reset_index())
    assert words.startswith("The score keeps 4 of 7 systems in people's place; it has Hy3 2 places higher, ")


def test_overall_scores_give_another_value_and_the_words_say_why(paper: Results) -> None:
    ranks = human_ranks.whole_benchmark_ranks(paper.require("rankings"), paper.require("systems"))
    overall = ranks.set_index("system")["overall_rank"]
    # Table 4: Kimi-K3 45.79 before Doubao 43.09, Opus 4.8 41.94, Hy3 38.90, GLM-5.2 37.11.
    assert overall[["Kimi-K3", "Doubao-Seed-2.1-Pro", "Claude Opus 4.8", "Hy3", "GLM-5.2"]].tolist() == [3, 4, 5, 6, 7]
    words = human_ranks.whole_benchmark_words(ranks)
    # Rank differences 1, 1, 1 and 1: 1 - 6 * 4 / 336; the pairs Kimi-Doubao and Hy3-GLM are turned: 1 - 4 / 21.
    assert "Spearman 0.929 and Kendall 0.810, not Spearman 0.893 and Kendall 0.810" in words
    assert "Doubao-Seed-2.1-Pro (3, overall 4)" in words
    assert "tasks whose reports people ranked" in words
    same = human_ranks.whole_benchmark_words(ranks.assign(score_rank=ranks["overall_rank"]))
    assert same == "The score ranks are those of the overall scores."
    assert "no overall scores" in human_ranks.whole_benchmark_words(ranks.assign(overall_rank=np.nan))


def test_a_system_without_a_rank_moves_no_other() -> None:
    rankings = pd.DataFrame({"system": list("abcd"), "human_rank": [1, 2, 3, 4], "score_rank": [np.nan, 1, 2.5, 2.5]})
    changes = human_ranks.rank_changes(rankings)
    # Among b, c and d people have 1, 2, 3 and the score 1, 2.5, 2.5.
    assert changes["change"].tolist()[1:] == [0, -0.5, 0.5]
    assert changes["left_out"].tolist() == [True, False, False, False]
    words = human_ranks.change_words(changes)
    assert "1 of 3 systems" in words
    assert words.endswith("Left out, for want of one of the two ranks: a.")


def test_repeated_systems_and_ranks_below_one_are_refused_together() -> None:
    rankings = pd.DataFrame({"system": ["a", "a", "b"], "human_rank": [1, 2, 0], "score_rank": [1, 2, 3]})
    with pytest.raises(InputError) as error:
        human_ranks.rank_changes(rankings)
    assert len(error.value.faults) == 2
    assert "'a' occurs 2 times" in error.value.faults[0]
    assert "'b': field 'human_rank' is 0" in error.value.faults[1]


def scores_of(**tasks: tuple[float, ...]) -> pd.DataFrame:
    rows = [
        (system, task, run, score)
        for task, own in tasks.items()
        for system, score in zip("ABCD", own, strict=False)
        for run in (1, 2)
    ]
    return pd.DataFrame(rows, columns=["system", "task_id", "run", "score"]).assign(
        judge="j", missing=False, unjudged=0
    )


def people_of(**tasks: tuple[float, ...]) -> pd.DataFrame:
    rows = [(task, system, rank) for task, own in tasks.items() for system, rank in zip("ABCD", own, strict=False)]
    return pd.DataFrame(rows, columns=["task_id", "system", "human_rank"])


def test_agreement_within_tasks_by_hand() -> None:
    scores = scores_of(t=(0.9, 0.5, 0.3, 0.1), u=(0.2, 0.2, 0.2, 0.2), v=(0.1, 0.2, 0.3, 0.4))
    found = task_rank_agreement(people_of(t=(1, 2, 4, 3), u=(1, 2, 3, 4), v=(1, 2, 3)), scores).set_index("task_id")
    # t: squares 2, so 1 - 12 / 60; one of six pairs turned. v: D has no rank, the others are turned round.
    assert found.loc["t", ["spearman", "kendall"]].tolist() == pytest.approx([0.8, 1 - 2 / 6])
    assert found.loc["u", ["spearman", "kendall"]].isna().all()
    assert "ties all" in found.loc["u", "reason"]
    assert found.loc["v", ["systems", "left_out", "spearman"]].tolist() == [3, "D", -1]


def test_agreement_over_tasks_by_hand() -> None:
    people = people_of(t=(1, 2, 4, 3), u=(1, 2, 3, 4), v=(2, 1, 3, 4), w=(1, 2, 3))
    scores = scores_of(t=(0.9, 0.5, 0.3, 0.1), u=(0.9, 0.5, 0.3, 0.1), v=(0.9, 0.5, 0.3, 0.1), w=(0.9, 0.5, 0.3, 0.1))
    found = agreement_over_tasks(people, scores, np.random.default_rng(1), 500).set_index(["of", "measure"])
    # Over t, u and v mean ranks are 4, 5, 10 and 11 thirds: the score's order. w lacks D.
    assert found.loc[("systems", SPEARMAN), ["systems", "tasks", "tasks_left_out", "value"]].tolist() == [4, 3, 1, 1]
    # Of the tasks' own: 0.8, 1, 0.8 and, over three systems, 1.
    assert found.loc[("mean of tasks", SPEARMAN), ["tasks", "value"]].tolist() == pytest.approx([4, 0.9])
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
    assert (found["high"] <= 1).all()


def test_resampled_values_are_those_of_the_measures() -> None:
    rng = np.random.default_rng(4)
    tasks = {f"t{at}": tuple(rng.integers(0, 4, 4) / 4) for at in range(6)}
    people = people_of(**{task: tuple(rng.permutation(4) + 1) for task in tasks})
    # One task drawn over and over gives its own value at both ends.
    alone = agreement_over_tasks(people[people["task_id"] == "t0"], scores_of(**tasks), rng, 50)
    assert alone["low"].isna().all()
    assert (alone["reason"] == "1 task: too few for an interval").all()
    copies = {f"copy{at}": tasks["t0"] for at in range(6)}
    same = pd.concat([people[people["task_id"] == "t0"].assign(task_id=name) for name in copies])
    found = agreement_over_tasks(same, scores_of(**copies), rng, 50)
    assert found["low"].tolist() == pytest.approx(found["value"].tolist())
    assert found["high"].tolist() == pytest.approx(found["value"].tolist())
    assert found["value"].tolist()[:2] == pytest.approx(alone["value"].tolist()[:2])


def test_a_score_with_an_unjudged_rubric_is_no_score_and_its_system_is_named() -> None:
    # Run 1 of C is open: run 2 alone is not C's score of the task.
    people, scores = people_of(t=(1, 2, 3)), scores_of(t=(0.9, 0.5, 0.3))
    open_run = (scores["system"] == "C") & (scores["run"] == 1)
    scores = scores.assign(score=scores["score"].mask(open_run), unjudged=open_run.astype(int))
    found = task_rank_agreement(people, scores).iloc[0]
    assert (found["systems"], found["left_out"]) == (2, "C")


def test_annotators_of_a_task_are_averaged() -> None:
    rows = [
        ("t", who, system, rank)
        for who, own in {"x": (1, 2, 3), "y": (1, 3, 2)}.items()
        for system, rank in zip("ABC", own, strict=True)
    ]
    people = pd.DataFrame(rows, columns=["task_id", "annotator", "system", "human_rank"])
    found = task_rank_agreement(people, scores_of(t=(0.9, 0.5, 0.3))).iloc[0]
    # Mean ranks 1, 2.5, 2.5 against 1, 2, 3: tau-b is 2 over sqrt(2 * 3).
    assert (found["annotators"], found["kendall"]) == (2, pytest.approx(2 / 6**0.5))


def test_rankings_by_task_that_cannot_be_used_are_refused() -> None:
    people, scores = people_of(t=(1, 2, 3)), scores_of(t=(0.9, 0.5, 0.3))
    with pytest.raises(InputError, match="'t': system 'C' stands in it more than once"):
        task_rank_agreement(pd.concat([people, people.tail(1)]), scores)
    with pytest.raises(InputError, match="human_rank is nan"):
        task_rank_agreement(people.assign(human_rank=[1, 2, np.nan]), scores)
    with pytest.raises(InputError, match="none of the ranked tasks"):
        task_rank_agreement(people.assign(task_id="T"), scores)
    with pytest.raises(InputError, match="scores of 2 judges"):
        task_rank_agreement(people, pd.concat([scores, scores.assign(judge="k")]))


def test_a_file_of_rankings_by_task_is_read_and_a_repeated_system_refused(tmp_path) -> None:
    path = tmp_path / "task_rankings.csv"
    path.write_text("task_id,annotator,system,human_rank\nt,x,甲,1\nt,x,B,2\n", encoding="utf-8")
    assert read_table(path, TASK_RANKINGS)["human_rank"].tolist() == [1, 2]
    path.write_text("task_id,annotator,system,human_rank\nt,x,B,1\nt,x,B,2\n", encoding="utf-8")
    with pytest.raises(InputError, match="keep one"):
        read_table(path, TASK_RANKINGS)
