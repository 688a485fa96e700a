"""Rubrics as items: pass rate, discrimination, stability; tasks that are too easy or suspiciously hard."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError
from lifesearch_kit.scoring.report_scores import report_scores
from lifesearch_kit.statistics.rubric_items import item_words, rubric_items
from lifesearch_kit.statistics.task_screening import EASY, HARD, screen_tasks
from lifesearch_kit.tables import write_table


def rubrics_of(*weights: float, task: str = "T") -> pd.DataFrame:
    ids = [f"R{at}" for at in range(1, len(weights) + 1)]
    return pd.DataFrame({"task_id": task, "rubric_id": ids, "criterion": "c", "weight": weights})


def judgments_of(*reports: str, task: str = "T", repeat: int = 1) -> pd.DataFrame:
    """A string a report (each of a system of its own), a sign a rubric: + passed, - failed, ? unjudged, . not asked."""
    rows = [
        (f"S{number}", task, 1, f"R{at}", "j", repeat, {"+": True, "-": False, "?": None}[sign])
        for number, signs in enumerate(reports)
        for at, sign in enumerate(signs, 1)
        if sign != "."
    ]
    columns = ["system", "task_id", "run", "rubric_id", "judge", "repeat", "satisfied"]
    return pd.DataFrame(rows, columns=columns).astype({"satisfied": "boolean"}).assign(status="ok")


def test_pass_rate_and_discrimination_by_hand() -> None:
    items = rubric_items(rubrics_of(1.0, 0.5, 0.5), judgments_of("+++", "++-", "--+", "---")).set_index("rubric_id")
    assert items["pass_pct"].tolist() == [50, 50, 50]
    # R1 is 1 1 0 0; the rest (R2 and R3, half a weight each of 1) 1, 1/2, 1/2, 0: covariance 1/2 over sqrt(1 * 1/2).
    assert items.loc["R1", "discrimination"] == pytest.approx(0.5 / 0.5**0.5)
    # R3 is 1 0 1 0; the rest (R1 and R2) 1 1 0 0: covariance 0.
    assert items.loc["R3", "discrimination"] == pytest.approx(0)
    # R2 is 1 1 0 0; the rest (2 R1 + R3) / 3: 1, 2/3, 1/3, 0. Deviations in sixths 3, 1, -1, -3:
    # (8 / 12) / sqrt(1 * 20 / 36).
    assert items.loc["R2", "discrimination"] == pytest.approx((8 / 12) / (20 / 36) ** 0.5)
    assert (items["discrimination_reason"] == "").all()


def test_a_rubric_that_better_reports_fail_is_below_zero() -> None:
    items = rubric_items(rubrics_of(1, 1, 1, 1), judgments_of("+++-", "++--", "---+", "---+"))
    # R4 is 0 0 1 1, the rest 3 2 0 0.
    assert items["discrimination"].gt(0).tolist() == [True, True, True, False]
    assert "1 of the 4 with a discrimination go against" in item_words(items)


@pytest.mark.parametrize(
    ("weights", "reports", "reason"),
    [
        ((1, 1), ["++", "+-", "+-"], "every report passes it"),
        ((1, 1), ["-+", "--", "--"], "no report passes it"),
        ((1, 1), ["++", "-+", "-+"], "the rest of its task scores every report alike"),
        ((1, 1), ["++", "--"], "2 reports; a correlation needs 3"),
        ((1,), ["+", "-", "+"], "no other rubric"),
        ((1, 0), ["++", "-+", "+-"], "no other rubric"),
        ((1, 1), ["+?", "-?", "+."], "no other rubric"),
    ],
)
def test_a_discrimination_that_is_undefined_says_why(weights, reports, reason, tmp_path) -> None:
    items = rubric_items(rubrics_of(*weights), judgments_of(*reports))
    assert np.isnan(items["discrimination"][0])
    assert reason in items["discrimination_reason"][0]
    assert "nan" not in write_table(items, tmp_path / "items.csv").read_text("utf-8").casefold()


def test_never_always_unstable_unjudged_and_not_asked() -> None:
    first, second = judgments_of("+-+?.", "+--+."), judgments_of("+-++.", "+-?+.", repeat=2)
    items = rubric_items(rubrics_of(*[1] * 5), pd.concat([first, second])).set_index("rubric_id")
    assert items["always_passed"].to_dict() == {"R1": True, "R2": False, "R3": False, "R4": True, "R5": False}
    assert items["never_passed"].to_dict() == {"R1": False, "R2": True, "R3": False, "R4": False, "R5": False}
    assert items["reports"].tolist() == [2, 2, 2, 2, 0]
    # Two verdicts: R1 and R2 on both reports, R3 and R4 on one each, the others unjudged once.
    assert items["repeated"].tolist() == [2, 2, 1, 1, 0]
    assert items["unjudged"].tolist() == [0, 0, 1, 1, 0]
    assert items["unstable"].tolist() == [0] * 5
    assert np.isnan(items.loc["R5", "pass_pct"])
    turned = rubric_items(rubrics_of(1, 1), pd.concat([judgments_of("+-", "++"), judgments_of("--", "++", repeat=2)]))
    assert turned["unstable"].tolist() == [1, 0]
    # The report judged both ways counts half: (1/2 + 1) / 2.
    assert turned["pass_pct"].tolist() == [75, 50]
    assert turned["never_passed"].tolist() == [False, False]
    assert "1 are judged both ways" in item_words(turned)


def test_a_rubric_judged_both_ways_in_every_report_is_neither_never_nor_always_passed() -> None:
    both = pd.concat([judgments_of("++", "+-", "+-"), judgments_of("-+", "--", "--", repeat=2)])
    item = rubric_items(rubrics_of(1, 1), both).iloc[0]
    assert (item["pass_pct"], item["never_passed"], item["always_passed"], item["unstable"]) == (50, False, False, 3)
    assert item["discrimination_reason"] == "all reports pass it in the same share of repeats"


def test_agreement_with_labels_where_there_are_any() -> None:
    judgments = judgments_of("++", "+-")
    labels = judgments[["system", "task_id", "run", "rubric_id"]].assign(annotator="x", satisfied=True)
    items = rubric_items(rubrics_of(1, 1, 1), judgments, labels[labels["system"] == "S1"])
    assert items["labelled"].tolist() == [1, 1, 0]
    assert items["agreement_pct"].tolist()[:2] == [100, 0]
    assert np.isnan(items["agreement_pct"][2])
    strangers = rubric_items(rubrics_of(1, 1), judgments, labels.assign(run=2))
    assert strangers["labelled"].tolist() == [0, 0]
    with pytest.raises(InputError, match="several labels"):
        rubric_items(rubrics_of(1, 1), judgments, pd.concat([labels, labels.assign(annotator="y")]))


def test_judgments_that_cannot_be_counted_are_refused() -> None:
    judgments = judgments_of("+-", "-+")
    with pytest.raises(InputError, match="2 judges"):
        rubric_items(rubrics_of(1, 1), pd.concat([judgments, judgments.assign(judge="k")]))
    with pytest.raises(InputError, match="4 judgments occur more than once"):
        rubric_items(rubrics_of(1, 1), pd.concat([judgments, judgments]))
    with pytest.raises(InputError, match="'T': rubric 'R2' is unknown"):
        rubric_items(rubrics_of(1), judgments)


signs = st.integers(3, 6).flatmap(
    lambda size: st.lists(st.text("+-", min_size=size, max_size=size), min_size=3, max_size=7)
)


@settings(max_examples=25, deadline=None)
@given(reports=signs, rng=st.randoms(use_true_random=False))
def test_rows_in_another_order_and_weights_on_another_scale_change_nothing(reports, rng) -> None:
    rubrics = rubrics_of(*[(at % 3 + 1) / 5 for at in range(len(reports[0]))])
    judgments = judgments_of(*reports)
    items = rubric_items(rubrics, judgments)
    mixed = judgments.iloc[rng.sample(range(len(judgments)), len(judgments))]
    again = rubric_items(rubrics.assign(weight=rubrics["weight"] / 2), mixed)
    pd.testing.assert_frame_equal(items.drop(columns="weight"), again.drop(columns="weight"))
    assert items["discrimination"].dropna().between(-1 - 1e-9, 1 + 1e-9).all()
    turned = rubric_items(rubrics, judgments.assign(satisfied=~judgments["satisfied"]))
    assert turned["discrimination"].tolist() == pytest.approx(items["discrimination"].tolist(), nan_ok=True)
    assert turned["never_passed"].tolist() == items["always_passed"].tolist()


def screened(tasks: dict[str, tuple[str, ...]], **options) -> pd.DataFrame:
    size = len(next(iter(tasks.values()))[0])
    rubrics = pd.concat([rubrics_of(*[1] * size, task=task) for task in tasks], ignore_index=True)
    judgments = pd.concat([judgments_of(*reports, task=task) for task, reports in tasks.items()], ignore_index=True)
    return screen_tasks(report_scores(rubrics, judgments), rubric_items(rubrics, judgments), **options)


def test_tasks_are_listed_from_the_farthest_with_reasons() -> None:
    table = screened(
        {
            "plain": ("++--", "+---", "++++"),
            "hard": ("----", "+---", "----"),
            "easy": ("++++", "++++", "++++"),
            "other": ("+++-", "+---", "+---"),
        }
    ).set_index("task_id")
    # Means 7/12, 1/12, 12/12 and 5/12: the median is 1/2, so hard and easy lie 5/12 and 6/12 from it.
    assert table.index.tolist() == ["easy", "hard", "plain", "other"]
    assert table["finding"].tolist() == [EASY, HARD, "", ""]
    assert table.loc["hard", ["mean_pct", "best_system", "best_pct"]].tolist() == [pytest.approx(100 / 12), "S1", 25]
    assert table.loc["hard", "reasons"] == (
        "The best system, S1, reaches 25.0% of the weight. No report passes 3 of its 4 rubrics: read them for a flaw."
    )
    assert table.loc["easy", "reasons"] == (
        "Even the worst system, S0, reaches 100.0% of the weight."
        " Every report passes 4 of its 4 rubrics, which tell no systems apart."
    )
    assert table.loc[["plain", "other"], "reasons"].tolist() == ["", ""]


def test_an_outlier_of_the_tasks_is_found_by_its_fence() -> None:
    usual = {f"t{at}": ("+++++++---", "++++++----") for at in range(8)}
    table = screened(usual | {"low": ("+++++-----", "----------")}).set_index("task_id")
    # Eight means of 65%, so both quartiles and both fences are 65%; the ninth is 25%, its best system at 50%.
    assert table.loc["low", "finding"] == HARD
    assert table.loc["low", "reasons"].startswith("The mean of 25.0% lies under the fence of 65.0% for outliers.")
    assert (table["finding"].drop("low") == "").all()
    # Fewer than eight tasks have no fence.
    few = dict(list(usual.items())[:6]) | {"low": ("+++++-----", "----------")}
    assert (screened(few)["finding"] == "").all()


def test_thresholds_and_judges_are_checked() -> None:
    tasks = {"t": ("+-", "--")}
    assert screened(tasks, hard_pct=50)["finding"].tolist() == [""], "its best system reaches half"
    assert screened(tasks, hard_pct=51)["finding"].tolist() == [HARD]
    with pytest.raises(InputError, match="the hard one lower"):
        screened(tasks, hard_pct=90, easy_pct=90)
    scores = report_scores(rubrics_of(1, 1), judgments_of("+-"))
    items = rubric_items(rubrics_of(1, 1), judgments_of("+-"))
    with pytest.raises(InputError, match="2 judges"):
        screen_tasks(pd.concat([scores, scores.assign(judge="k")]), items)
    with pytest.raises(InputError, match="no scored report"):
        screen_tasks(scores.assign(missing=True), items)


def test_runs_without_a_report_count_as_0_and_are_told() -> None:
    judgments = judgments_of("+---")
    reports = pd.DataFrame({"system": ["S0", "S1"], "task_id": "T", "run": 1, "gradable": [True, False]})
    table = screen_tasks(
        report_scores(rubrics_of(1, 1, 1, 1), judgments, reports), rubric_items(rubrics_of(1, 1, 1, 1), judgments)
    )
    assert table.loc[0, ["mean_pct", "worst_system", "no_report"]].tolist() == [12.5, "S1", 1]
    assert "Runs without a report: 1" in table.loc[0, "reasons"]


def test_where_no_run_left_a_report_the_task_is_hard_for_want_of_them() -> None:
    reports = pd.DataFrame({"system": ["S0", "S1"], "task_id": "T", "run": 1, "gradable": False})
    items = rubric_items(rubrics_of(1, 1), judgments_of("..")[:0])
    table = screen_tasks(report_scores(rubrics_of(1, 1), judgments_of(".."), reports), items)
    assert table.loc[0, ["finding", "best_pct", "rubrics", "no_report"]].tolist() == [HARD, 0, 0, 2]
    assert "Runs without a report: 2" in table.loc[0, "reasons"]


def test_no_verdict_at_all_is_said() -> None:
    assert item_words(rubric_items(rubrics_of(1), judgments_of("?"))) == "No rubric has a verdict."
