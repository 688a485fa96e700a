"""Scores corrected for a judge's errors: by hand, what must hold for any input, and what intervals cover."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from verdict_signs import judgments_of_signs

from lifesearch_kit.errors import InputError
from lifesearch_kit.judge_error.corrected_scores import (
    COMBINED,
    FEWEST_LABELLED_TASKS,
    PREDICTION_POWERED,
    RAW,
    ROGAN_GLADEN,
    corrected_scores,
)
from lifesearch_kit.judge_error.estimators import (
    Estimate,
    TaskSums,
    combined,
    prediction_powered,
    raw_score,
    rogan_gladen,
)
from lifesearch_kit.judge_error.sums import ALL_SYSTEMS

KEY = ["system", "task_id", "run", "rubric_id"]
CORRECTIONS = [PREDICTION_POWERED, ROGAN_GLADEN]


def rubrics_of(tasks: int, weights: tuple[float, ...] = (1.0, 0.5)) -> pd.DataFrame:
    rows = [(f"T{task}", f"R{at}", weight) for task in range(tasks) for at, weight in enumerate(weights)]
    return pd.DataFrame(rows, columns=["task_id", "rubric_id", "weight"])


def judged(signs: str, system: str = "A") -> pd.DataFrame:
    return judgments_of_signs(system, "J", signs).assign(status="judged")


def labels_of(signs: str, system: str = "A") -> pd.DataFrame:
    rows = judgments_of_signs(system, "J", signs)[[*KEY, "satisfied"]]
    return rows.assign(annotator="reference").astype({"satisfied": "bool"})


def row_of(table: pd.DataFrame, method: str, system: str = "A") -> pd.Series:
    return table[(table["method"] == method) & (table["system"] == system)].iloc[0]


def sums_of(score: list[float], **labelled: list[float]) -> TaskSums:
    tasks = len(score)
    weight = np.full(tasks, 1 / tasks)
    names = ("labelled", "label", "judge", "both", "neither")
    parts = {name: np.array(labelled.get(name, [0.0] * tasks)) for name in names}
    return TaskSums(weight=weight, score=weight * np.array(score), graded=weight, **parts)


def test_the_prediction_powered_mean_by_hand() -> None:
    # Two of four tasks are labelled: labels 0.4 and 0.4 against 0.2 and 0.4, so 0.1 too little on average.
    score = [0.2, 0.4, 0.6, 0.8]
    sums = sums_of(score, labelled=[1, 1, 0, 0], label=[0.4, 0.4, 0, 0], judge=[0.2, 0.4, 0, 0])
    found = prediction_powered(sums, 0.95)
    assert found.value == pytest.approx(0.5 + 0.1)
    # Influence: (score - 0.5) / 4 of four tasks, and (0.2 - 0.1) / 2 and (0 - 0.1) / 2 of the two labelled ones.
    of_score = np.sqrt(4 / 3) * np.array([-0.075, -0.025, 0.025, 0.075])
    of_labels = np.sqrt(2) * np.array([0.05, -0.05, 0, 0])
    square = (of_score + of_labels) ** 2
    assert found.variance == pytest.approx(square.sum())
    assert found.label_variance == pytest.approx(2 * 0.05**2 * 2)
    # Satterthwaite: one degree of freedom for the two labelled tasks, one for the two others.
    freedom = square.sum() ** 2 / (square[:2].sum() ** 2 + square[2:].sum() ** 2)
    assert found.high - found.value == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(square.sum()))


def test_the_combined_score_by_hand() -> None:
    # As above: 0.5 as judged, 0.6 corrected. The change of 0.1 has a variance of 0.01; with the corrected score, whose
    # influence is that of the score and the labels, it shares 0.01 + sqrt(2) * 0.05 * sqrt(4 / 3) * (-0.075 + 0.025).
    sums = sums_of([0.2, 0.4, 0.6, 0.8], labelled=[1, 1, 0, 0], label=[0.4, 0.4, 0, 0], judge=[0.2, 0.4, 0, 0])
    powered, found = prediction_powered(sums, 0.95), combined(sums, 0.95)
    shared = 0.01 - np.sqrt(2) * 0.05 * np.sqrt(4 / 3) * 0.05
    assert found.value == pytest.approx(0.6 - 0.1 * shared / (0.1**2 + 0.01))
    assert found[1:] == powered[1:]


@settings(max_examples=50)
@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.3]), st.sampled_from([0.02, 0.3]))
def test_the_combined_score_is_within_half_a_standard_error_of_the_unbiased_one(
    seed: int, false_pass: float, false_fail: float
) -> None:
    sums, _ = made(np.random.default_rng(seed), 20, 12, false_pass=false_pass, false_fail=false_fail, times=20)
    raw, powered, found = (estimator(sums, 0.95) for estimator in (raw_score, prediction_powered, combined))
    assert (np.abs(found.value - powered.value) <= np.sqrt(powered.variance) / 2 + 1e-12).all()
    between = (found.value - raw.value) * (powered.value - found.value)
    assert (between >= -1e-12).all(), "it lies between the two"


def test_labels_that_leave_nothing_uncertain_are_not_drawn_back() -> None:
    # Every task is labelled 0.5, whatever the judge gave: the labels' own score, and no variance.
    sums = sums_of([0.2, 0.4, 0.9] * 3, labelled=[1] * 9, label=[0.5] * 9, judge=[0.2, 0.4, 0.9] * 3)
    assert combined(sums, 0.95).value == pytest.approx(0.5)


def test_the_combined_row_of_the_table_has_the_prediction_powered_interval() -> None:
    table = corrected_scores(rubrics_of(8), judged("+- " * 8), labels_of("++ " * 4 + "+- " * 4))
    row, powered, raw = (row_of(table, method) for method in (COMBINED, PREDICTION_POWERED, RAW))
    ends = ["low_pct", "high_pct", "all_labelled_pct", "labelled_rubrics"]
    assert row[ends].tolist() == powered[ends].tolist()
    assert raw["score_pct"] < row["score_pct"] < powered["score_pct"]
    assert row["change_pct"] == pytest.approx(row["score_pct"] - raw["score_pct"])
    assert row[["change_low_pct", "change_high_pct"]].isna().all()


def test_sensitivity_and_specificity_by_hand() -> None:
    # Labelled Pass 4 units, of which the judge passes 3.2; labelled Fail 4, of which it fails 3.6: 0.8 and 0.9.
    # The score is 0.45, so (0.45 + 0.9 - 1) / (0.8 + 0.9 - 1) = 0.5.
    sums = sums_of(
        [0.4, 0.5] * 4,
        labelled=[1.0] * 8,
        label=[0.5] * 8,
        judge=[0.45] * 8,
        both=[0.5, 0.3] * 4,
        neither=[0.4, 0.5] * 4,
    )
    found = rogan_gladen(sums, 0.95)
    assert found.value == pytest.approx(0.5)
    # Fieller: the ends are the values v at which (above - v * below)^2 = t^2 * variance of (above - v * below).
    place = np.array([-1, 1] * 4)
    of_score, of_pass, of_fail = 0.05 * place / 8, -0.1 * place / 4, 0.05 * place / 4
    for end in (float(found.low), float(found.high)):
        away = np.sqrt(8 / 7) * (of_score + of_fail - end * (of_pass + of_fail))
        assert (0.35 - end * 0.7) ** 2 == pytest.approx(stats.t.ppf(0.975, 7) ** 2 * (away**2).sum())


def test_a_judge_that_cannot_tell_has_no_bounded_interval() -> None:
    # Sensitivity 0.5 and specificity 0.5 on average, from 0.2 to 0.8: the divisor's interval holds 0.
    sums = sums_of(
        [0.5] * 8, labelled=[1.0] * 8, label=[0.5] * 8, judge=[0.5] * 8, both=[0.1, 0.4] * 4, neither=[0.2, 0.35] * 4
    )
    assert np.isnan(rogan_gladen(sums, 0.95).low)


def test_a_table_by_hand() -> None:
    # Weights 1 and 0.5. The judge passes the first rubric alone, 2/3; the labels pass both on half of the tasks, so a
    # third too little there: 2/3 + 1/6. Sensitivity (8 * 2/3) / (8 * 2/3 + 4 * 1/3) = 0.8, specificity 1: 2/3 / 0.8.
    table = corrected_scores(rubrics_of(8), judged("+- " * 8), labels_of("++ " * 4 + "+- " * 4))
    assert row_of(table, RAW)["score_pct"] == pytest.approx(100 * 2 / 3)
    for method in CORRECTIONS:
        row = row_of(table, method)
        assert row["score_pct"] == pytest.approx(100 * 5 / 6)
        assert row["change_pct"] == pytest.approx(100 / 6)
        assert list(row[["tasks", "labelled_tasks", "labelled_reports", "labelled_rubrics"]]) == [8, 8, 8, 16]
        assert row["labels_from"] == "own"
        # All is labelled: nothing is left to label.
        assert pd.isna(row["more_labels"])
        assert "as tasks are a sample too" in row["note"]
    # Labels score 1 on four tasks and 2/3 on four: a standard deviation of 1/6 * sqrt(8/7), over sqrt(8) tasks.
    half = stats.t.ppf(0.975, 7) * (1 / 6) / np.sqrt(7)
    found = row_of(table, PREDICTION_POWERED)[["low_pct", "high_pct"]].to_numpy(float)
    assert found == pytest.approx([100 * (5 / 6 - half), 100 * (5 / 6 + half)])


def test_a_system_without_enough_labels_borrows_those_of_all_and_says_so() -> None:
    # B scores 1/3 by the judge; A's labels move it by 1/6, or by 1 / 0.8.
    judgments = pd.concat([judged("+- " * 8), judged("-+ " * 8, "B")])
    labels = labels_of("++ " * 4 + "+- " * 4)
    table = corrected_scores(rubrics_of(8), judgments, labels)
    assert row_of(table, PREDICTION_POWERED, "B")["score_pct"] == pytest.approx(100 * (1 / 3 + 1 / 6))
    assert row_of(table, ROGAN_GLADEN, "B")["score_pct"] == pytest.approx(100 / 3 / 0.8)
    for method, assumption in zip(
        CORRECTIONS, ("as many points on every", "as sensitive and as specific"), strict=True
    ):
        row = row_of(table, method, "B")
        assert row["labels_from"] == ALL_SYSTEMS
        assert "on 0 tasks" in row["note"]
        assert assumption in row["note"]
    assert row_of(table, RAW, ALL_SYSTEMS)["score_pct"] == pytest.approx(50)
    assert "no label is of 'B'" in row_of(table, PREDICTION_POWERED, ALL_SYSTEMS)["note"]


def test_how_many_labels_halve_an_interval_that_is_due_to_labels() -> None:
    # All 40 tasks are judged alike, so that all doubt is the labels': four times 16 labels halve it, 48 more.
    labels = labels_of("++ +- " * 4)
    row = row_of(corrected_scores(rubrics_of(40), judged("+- " * 40), labels), PREDICTION_POWERED)
    assert row["more_labels"] == 48
    # All 80 labels leave 16 / 80 of the variance.
    half = (row["high_pct"] - row["low_pct"]) / 2
    assert row["all_labelled_pct"] == pytest.approx(half * np.sqrt(16 / 80))


def test_labelled_reports_may_be_others_than_those_scored() -> None:
    labelled = judged("+- " * 8).assign(run=7)
    labels = labels_of("++ " * 4 + "+- " * 4).assign(run=7)
    table = corrected_scores(rubrics_of(8), judged("-- +- " * 4), labels, labelled_judgments=labelled)
    assert row_of(table, PREDICTION_POWERED)["score_pct"] == pytest.approx(100 * (1 / 3 + 1 / 6))


def test_a_report_without_a_text_is_not_corrected() -> None:
    # Nine tasks, one asked back: 8/9 of 2/3, moved by 8/9 of 1/6.
    reports = pd.DataFrame({"system": "A", "task_id": [f"T{at}" for at in range(9)], "run": 1, "gradable": True})
    reports.loc[8, "gradable"] = False
    labels = labels_of("++ " * 4 + "+- " * 4)
    table = corrected_scores(rubrics_of(9), judged("+- " * 8), labels, reports)
    assert row_of(table, RAW)["score_pct"] == pytest.approx(100 * 8 / 9 * 2 / 3)
    for method in CORRECTIONS:
        assert row_of(table, method)["score_pct"] == pytest.approx(100 * 8 / 9 * 5 / 6)


def test_repeats_are_averaged() -> None:
    # Repeats +- and ++: a verdict of 1/2 on the second rubric, score 2/3 + 1/6, the labels' own score.
    judgments = judgments_of_signs("A", "J", "+- " * 8, "++ " * 8).assign(status="judged")
    table = corrected_scores(rubrics_of(8), judgments, labels_of("++ " * 4 + "+- " * 4))
    assert row_of(table, RAW)["score_pct"] == pytest.approx(100 * 5 / 6)
    assert row_of(table, PREDICTION_POWERED)["change_pct"] == pytest.approx(0)


@settings(max_examples=30)
@given(st.data())
def test_a_judge_that_errs_nowhere_leaves_each_score_and_interval_as_it_is(data: st.DataObject) -> None:
    tasks = data.draw(st.integers(FEWEST_LABELLED_TASKS, 12))
    texts = data.draw(st.lists(st.sampled_from(["++", "+-", "-+", "--"]), min_size=tasks - 2, max_size=tasks - 2))
    # Both verdicts occur among the labels, without which there is no specificity or no sensitivity.
    signs = " ".join(["++", "--", *texts])
    labelled = " ".join(signs.split()[: data.draw(st.integers(FEWEST_LABELLED_TASKS, tasks))])
    table = corrected_scores(rubrics_of(tasks), judged(signs), labels_of(labelled))
    raw = row_of(table, RAW)[["score_pct", "low_pct", "high_pct"]].to_numpy(float)
    for method in CORRECTIONS:
        row = row_of(table, method)
        assert row["score_pct"] == pytest.approx(raw[0])
        assert row["change_pct"] == pytest.approx(0)
        assert "erred on no label" in row["note"]
        # Of a part, the degrees of freedom differ: labelled and other tasks are two groups.
        if labelled == signs:
            assert row[["low_pct", "high_pct"]].to_numpy(float) == pytest.approx(raw[1:])


@settings(max_examples=30)
@given(st.data())
def test_labels_on_everything_give_the_labels_own_score(data: st.DataObject) -> None:
    pairs = st.sampled_from(["++", "+-", "-+", "--"])
    verdicts, truth = (data.draw(st.lists(pairs, min_size=8, max_size=8)) for _ in range(2))
    table = corrected_scores(rubrics_of(8), judged(" ".join(verdicts)), labels_of(" ".join(truth)))
    own = np.mean([{"++": 1.0, "+-": 2 / 3, "-+": 1 / 3, "--": 0.0}[one] for one in truth])
    assert row_of(table, PREDICTION_POWERED)["score_pct"] == pytest.approx(100 * own)
    corrected = row_of(table, ROGAN_GLADEN)
    assert (
        "no number" in corrected["note"]
        if pd.isna(corrected["score_pct"])
        else corrected["score_pct"] == pytest.approx(100 * own)
    )


@settings(max_examples=30)
@given(st.data())
def test_no_number_is_missing_without_a_reason(data: st.DataObject) -> None:
    pairs = st.sampled_from(["++", "+-", "-+", "--", "?+"])
    tasks = data.draw(st.integers(1, 10))
    verdicts = data.draw(st.lists(pairs, min_size=tasks, max_size=tasks))
    truth = data.draw(st.lists(st.sampled_from(["++", "+.", ".-", "--"]), min_size=1, max_size=tasks))
    table = corrected_scores(rubrics_of(tasks), judged(" ".join(verdicts)), labels_of(" ".join(truth)))
    assert len(table) == 4
    assert (table["note"] != "").all()
    shown = table.dropna(subset=["low_pct"])
    assert (shown["low_pct"] <= shown["score_pct"]).all()
    assert (shown["score_pct"] <= shown["high_pct"]).all()
    lacking = table[table["score_pct"].isna()]
    assert lacking["note"].str.contains("no number").all()
    assert lacking[["low_pct", "high_pct", "change_pct"]].isna().all(axis=None)


def test_too_few_labelled_tasks_give_no_number() -> None:
    table = corrected_scores(rubrics_of(9), judged("+- " * 9), labels_of("++ " * 7))
    for method in CORRECTIONS:
        row = row_of(table, method)
        assert pd.isna(row["score_pct"])
        assert "own labels: on 7 tasks, 8 are needed" in row["note"]
    assert row_of(table, RAW)["score_pct"] == pytest.approx(100 * 2 / 3)


def test_one_task_has_scores_without_intervals() -> None:
    judgments = pd.concat([judged("+- " * 8), judged("-+", "B")])
    table = corrected_scores(rubrics_of(8), judgments, labels_of("++ " * 4 + "+- " * 4))
    for method in (RAW, PREDICTION_POWERED, ROGAN_GLADEN):
        row = row_of(table, method, "B")
        assert row["score_pct"] > 0
        assert pd.isna(row["low_pct"])
        assert "one task, so no interval" in row["note"]


def test_unjudged_rubrics_withhold_a_systems_numbers_and_those_of_all() -> None:
    judgments = pd.concat([judged("+- " * 8), judged("?- " + "+- " * 7, "B")])
    table = corrected_scores(rubrics_of(8), judgments, labels_of("++ " * 4 + "+- " * 4))
    held = table["score_pct"].isna()
    assert set(table.loc[held, "system"]) == {"B", ALL_SYSTEMS}
    assert held.sum() == 8
    assert table.loc[held, "note"].str.contains("1 rubric unjudged").all()


def test_a_correction_that_leaves_the_scale_is_held_to_it_or_refused() -> None:
    # The judge passes what the labels fail on five tasks of eight in turn: 5/8 of 1/3 too much. B scores 0.
    labels = labels_of("+- " * 8)
    judgments = pd.concat([judged("++ " * 5 + "+- " * 3), judged("-- " * 8, "B")])
    row = row_of(corrected_scores(rubrics_of(8), judgments, labels), PREDICTION_POWERED, "B")
    assert pd.isna(row["score_pct"])
    assert "off the scale" in row["note"]
    # One task of eight: -1/24 with an interval from below 0 to above it.
    judgments = pd.concat([judged("++ " + "+- " * 7), judged("-- " * 8, "B")])
    row = row_of(corrected_scores(rubrics_of(8), judgments, labels), PREDICTION_POWERED, "B")
    assert (row["score_pct"], row["low_pct"]) == (0, 0)
    assert row["high_pct"] > 0
    assert "-4.2 before it was held to the scale" in row["note"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda labels: labels.assign(run=2), "'J' has no judgment of it"),
        (lambda labels: labels.assign(rubric_id="R9"), "there is no such rubric"),
        (lambda labels: pd.concat([labels, labels.head(1)]), "more than once; keep one label"),
        (lambda labels: pd.concat([labels, labels.assign(annotator="b")]), "several labels"),
        (lambda labels: labels.assign(stale=True), "has changed since"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(change: Callable[[pd.DataFrame], pd.DataFrame], told: str) -> None:
    labels = change(labels_of("++ " * 8).drop_duplicates(["task_id"]))
    with pytest.raises(InputError, match=told):
        corrected_scores(rubrics_of(8), judged("+- " * 8), labels)


def test_judgments_of_two_judges_are_refused() -> None:
    both = pd.concat([judged("+-"), judged("+-").assign(judge="K")])
    with pytest.raises(InputError, match="2 judges \\('J', 'K'\\); give those of one"):
        corrected_scores(rubrics_of(1), both, labels_of("++"))


def made(
    rng: np.random.Generator,
    tasks: int,
    labelled: int,
    *,
    truth: float = 0.5,
    false_pass: float = 0.1,
    false_fail: float = 0.25,
    some_rubrics: bool = False,
    rubrics: int = 17,
    times: int = 3000,
) -> tuple[TaskSums, np.ndarray]:
    """Tasks that differ in how much of them is passed and in the judge's two error rates; the labels' task scores."""

    def rates(mean: float, concentration: float) -> np.ndarray:
        return rng.beta(mean * concentration, (1 - mean) * concentration, (times, tasks, 1))

    label = rng.random((times, tasks, rubrics)) < rates(truth, 4)
    wrong = rng.random(label.shape) < np.where(label, rates(false_fail, 12), rates(false_pass, 12))
    verdict = label ^ wrong
    weight = rng.integers(3, 11, label.shape) / 10
    weight /= weight.sum(axis=-1, keepdims=True)
    seen = np.broadcast_to((np.arange(tasks) < labelled)[:, None], label.shape)
    if some_rubrics:
        seen = seen & (rng.random(label.shape) < 0.5)
    share = np.full((times, tasks), 1 / tasks)
    sums = TaskSums(
        weight=share,
        score=(weight * verdict).sum(axis=-1) / tasks,
        graded=share,
        labelled=(weight * seen).sum(axis=-1),
        label=(weight * seen * label).sum(axis=-1),
        judge=(weight * seen * verdict).sum(axis=-1),
        both=(weight * seen * (label & verdict)).sum(axis=-1),
        neither=(weight * seen * ~(label | verdict)).sum(axis=-1),
    )
    return sums, (weight * label).sum(axis=-1)


def covered(found: Estimate, truth: float) -> float:
    bounded = np.isfinite(found.low)
    return float(np.mean(((found.low <= truth) & (truth <= found.high))[bounded]))


def error(values: np.ndarray, truth: float) -> float:
    return float(np.sqrt(np.nanmean((values - truth) ** 2)))


SITUATIONS: dict[str, dict[str, Any]] = {
    "harsh": {"tasks": 60, "labelled": 20},
    "harsh, fewest labels": {"tasks": 60, "labelled": FEWEST_LABELLED_TASKS},
    "harsh, few tasks, all labelled": {"tasks": 14, "labelled": 14},
    "harsh, few tasks": {"tasks": 14, "labelled": FEWEST_LABELLED_TASKS},
    "harsh, many tasks": {"tasks": 200, "labelled": 30},
    "harsh, half of the rubrics labelled": {"tasks": 60, "labelled": 20, "some_rubrics": True},
    "harsh, low scores": {"tasks": 60, "labelled": 20, "truth": 0.2, "false_pass": 0.05, "false_fail": 0.3},
    "harsh, very low scores": {"tasks": 60, "labelled": 20, "truth": 0.08, "false_pass": 0.03, "false_fail": 0.3},
    "lenient": {"tasks": 60, "labelled": 20, "false_pass": 0.3, "false_fail": 0.05},
    "even": {"tasks": 60, "labelled": 20, "false_pass": 0.15, "false_fail": 0.15},
    "poor": {"tasks": 60, "labelled": 20, "false_pass": 0.4, "false_fail": 0.4},
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATIONS)
def test_both_corrections_cover(name: str) -> None:
    # Of 3,000 intervals 95% hold the truth, give or take 0.8 points (two standard errors).
    sums, _ = made(np.random.default_rng(1), **SITUATIONS[name])
    truth = SITUATIONS[name].get("truth", 0.5)
    for estimator in (prediction_powered, rogan_gladen):
        assert 0.93 <= covered(estimator(sums, 0.95), truth) <= 0.97


@pytest.mark.slow
@pytest.mark.parametrize("name", ["harsh", "lenient", "harsh, many tasks", "harsh, few tasks, all labelled"])
def test_corrections_are_nearer_to_the_truth_than_the_score_of_a_biased_judge(name: str) -> None:
    sums, _ = made(np.random.default_rng(2), **SITUATIONS[name])
    raw = raw_score(sums, 0.95)
    assert covered(raw, 0.5) < 0.8
    for estimator in (prediction_powered, rogan_gladen):
        assert error(estimator(sums, 0.95).value, 0.5) < 0.8 * error(raw.value, 0.5)


@pytest.mark.slow
def test_a_correction_costs_what_it_says_where_the_judge_is_not_biased() -> None:
    # No unbiased estimator is as near as a judge whose errors cancel: its score shrinks towards 50% at no cost. What
    # the correction adds is told by its variance and vanishes as errors do, and it is nearer than the labels alone.
    rng = np.random.default_rng(3)
    for rate, at_most in ((0.15, 1.6), (0.02, 1.08), (0.0001, 1.001)):
        sums, label = made(rng, 60, 20, false_pass=rate, false_fail=rate)
        raw, found = raw_score(sums, 0.95), prediction_powered(sums, 0.95)
        assert error(found.value, 0.5) == pytest.approx(np.sqrt(found.variance.mean()), rel=0.04)
        assert error(found.value, 0.5) < at_most * error(raw.value, 0.5)
        assert error(found.value, 0.5) < error(label[:, :20].mean(axis=-1), 0.5)


@pytest.mark.slow
@pytest.mark.parametrize(("tasks", "labelled"), [(14, 8), (50, 15), (200, 30)])
def test_the_combined_score_is_nearer_for_an_unbiased_judge_and_hardly_farther_for_a_biased_one(
    tasks: int, labelled: int
) -> None:
    rng = np.random.default_rng(9)
    for false_pass, false_fail, at_most in ((0.15, 0.15, 0.94), (0.1, 0.25, 1.12), (0.3, 0.05, 1.12)):
        sums, _ = made(rng, tasks, labelled, false_pass=false_pass, false_fail=false_fail, times=2000)
        powered, found = prediction_powered(sums, 0.95), combined(sums, 0.95)
        assert error(found.value, 0.5) < at_most * error(powered.value, 0.5)
        assert 0.93 <= covered(found, 0.5) <= 0.97


@pytest.mark.slow
def test_fewer_labelled_tasks_than_are_asked_for_do_not_cover() -> None:
    sums, _ = made(np.random.default_rng(4), 60, 3)
    assert covered(rogan_gladen(sums, 0.95), 0.5) < 0.92


@pytest.mark.slow
def test_the_labels_that_were_told_halve_the_interval() -> None:
    # With 10 of 400 tasks labelled, k times as many tasks leave (variance - label part) + label part / k.
    few, _ = made(np.random.default_rng(5), 400, 10, times=1500)
    found = prediction_powered(few, 0.95)
    variance, by_labels = found.variance.mean(), found.label_variance.mean()
    factor = by_labels / (variance / 4 - (variance - by_labels))
    many, _ = made(np.random.default_rng(6), 400, round(10 * factor), times=1500)
    assert prediction_powered(many, 0.95).variance.mean() == pytest.approx(variance / 4, rel=0.1)


@pytest.mark.slow
def test_labels_of_all_systems_cover_where_the_judge_errs_alike_on_them() -> None:
    # Two systems of one quality on the same tasks; the first is scored with labels of both.
    first, _ = made(np.random.default_rng(7), 40, 15)
    second, _ = made(np.random.default_rng(8), 40, 15)
    names = ("labelled", "label", "judge", "both", "neither")
    shared = {name: getattr(first, name) + getattr(second, name) for name in names}
    sums = TaskSums(weight=first.weight, score=first.score, graded=first.graded, **shared)
    for estimator in (prediction_powered, rogan_gladen):
        assert 0.93 <= covered(estimator(sums, 0.95), 0.5) <= 0.97
