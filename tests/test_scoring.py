"""Equation 1 and its means, by hand arithmetic and by what must hold for any weights and verdicts."""

from __future__ import annotations

import math
import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError, InputWarning, UnjudgedError
from lifesearch_kit.scoring.report_scores import report_scores
from lifesearch_kit.scoring.scores import group_scores, run_scores, system_scores, unsettled_pairs

COUNTS = ["passed", "rubrics", "unjudged"]


def rubrics_of(**tasks: list[float]) -> pd.DataFrame:
    """Rubrics R1, R2, ... of each task with the given weights; a task's domain is its first letter."""
    return pd.DataFrame(
        [
            {"task_id": task, "rubric_id": f"R{number}", "language": "en", "domain": task[0], "weight": weight}
            for task, weights in tasks.items()
            for number, weight in enumerate(weights, start=1)
        ]
    )


def judged(system: str, task: str, verdicts: str, run: int = 1, judge: str = "J", repeat: int = 1) -> pd.DataFrame:
    """Judgments of R1, R2, ...: + passed, - failed, ? unparseable, . no row at all."""
    meaning = {"+": (True, "ok"), "-": (False, "ok"), "?": (None, "unparseable")}
    rows = [
        (system, task, run, f"R{number}", judge, repeat, *meaning[sign])
        for number, sign in enumerate(verdicts, start=1)
        if sign != "."
    ]
    columns = ["system", "task_id", "run", "rubric_id", "judge", "repeat", "satisfied", "status"]
    return pd.DataFrame(rows, columns=columns).astype({"satisfied": "boolean"})


def reports_of(*keys: tuple[str, str, int], without_text: tuple[tuple[str, str, int], ...] = ()) -> pd.DataFrame:
    rows = [(*key, key not in without_text) for key in keys]
    return pd.DataFrame(rows, columns=["system", "task_id", "run", "gradable"])


def only(scores: pd.DataFrame) -> pd.Series:
    assert len(scores) == 1
    return scores.iloc[0]


def test_score_is_passed_weight_over_total_weight() -> None:
    row = only(report_scores(rubrics_of(T=[0.8, 0.4, 0.3]), judged("A", "T", "+-+")))
    assert row["score"] == pytest.approx((0.8 + 0.3) / 1.5)
    assert list(row[COUNTS]) == [2, 3, 0]
    assert row["lower"] == row["upper"] == row["graded_only"] == row["score"]
    assert (row["language"], row["domain"]) == ("en", "T")


def test_zero_weight_rubrics_count_nowhere() -> None:
    # 0.6 of 0.6 + 0.4; the passed rubric of weight 0 adds to no count either.
    row = only(report_scores(rubrics_of(T=[0.0, 0.6, 0.4]), judged("A", "T", "++-")))
    assert row["score"] == 0.6
    assert list(row[COUNTS]) == [1, 2, 0]


def test_an_unjudged_zero_weight_rubric_leaves_the_score_whole() -> None:
    assert only(report_scores(rubrics_of(T=[0.0, 0.5]), judged("A", "T", "?+")))["score"] == 1.0


@pytest.mark.parametrize("weights", [[0.1] * 10, [0.7, 0.1, 0.2], [0.3, 0.3, 0.3], [0.1, 0.2, 0.3, 0.4], [0.9] * 34])
def test_ends_of_the_scale_are_exact(weights: list[float]) -> None:
    rubrics = rubrics_of(T=weights)
    assert only(report_scores(rubrics, judged("A", "T", "+" * len(weights))))["score"] == 1.0
    assert only(report_scores(rubrics, judged("A", "T", "-" * len(weights))))["score"] == 0.0


def test_tasks_without_weight_are_refused_by_name() -> None:
    with pytest.raises(InputError, match=r"(?s)'empty-zh'.*'empty-en'") as raised:
        report_scores(
            rubrics_of(**{"empty-zh": [0.0, 0.0], "fine": [0.5], "empty-en": [0.0]}),
            judged("A", "fine", "+"),
        )
    assert len(raised.value.faults) == 2


@pytest.mark.parametrize("weight", [-0.1, math.nan, math.inf])
def test_unsound_weights_are_refused(weight: float) -> None:
    with pytest.raises(InputError, match="'R2'"):
        report_scores(rubrics_of(T=[0.5, weight]), judged("A", "T", "++"))


def test_unjudged_rubrics_are_refused_with_counts_and_causes() -> None:
    judgments = pd.concat([judged("A", "T", "+?."), judged("B", "T", "+-+")])
    with pytest.raises(UnjudgedError, match=r"system 'A', judge 'J': 2 of 3 rubrics unjudged \(1 unparseable, 1 not"):
        report_scores(rubrics_of(T=[0.5, 0.3, 0.2]), judgments)


def test_bounds_hold_an_unjudged_score() -> None:
    # Weights 1.0 passed, 0.6 open, 0.4 failed of 2.0: 1.0/2.0, 1.6/2.0, and 1.0/1.4 of what was judged.
    with pytest.warns(InputWarning, match="1 of 3 rubrics unjudged"):
        row = only(report_scores(rubrics_of(T=[1.0, 0.6, 0.4]), judged("A", "T", "+?-"), unjudged="bounds"))
    assert math.isnan(row["score"])
    assert (row["lower"], row["upper"]) == (0.5, 0.8)
    assert row["graded_only"] == pytest.approx(1.0 / 1.4)


@pytest.mark.parametrize("other", ["+--", "---", "+++"])
def test_a_ranking_is_settled_when_no_open_verdict_can_turn_it(other: str) -> None:
    # A lies between 50% and 80%. B scores 50% (can be reached, never falls behind), 0% or 100%.
    judgments = pd.concat([judged("A", "T", "+?-"), judged("B", "T", other)])
    with pytest.warns(InputWarning, match="system 'A'"):
        systems = system_scores(report_scores(rubrics_of(T=[1.0, 0.6, 0.4]), judgments, unjudged="bounds"))
    assert systems.set_index("system").loc["A", "score_pct"] is pd.NA
    assert unsettled_pairs(systems).empty


def test_a_system_inside_the_bounds_of_another_is_unsettled() -> None:
    judgments = pd.concat([judged("A", "T", "+?-"), judged("B", "T", "-++"), judged("C", "T", "++-")])
    with pytest.warns(InputWarning, match="system 'A'"):
        systems = system_scores(report_scores(rubrics_of(T=[1.0, 0.7, 0.6]), judgments, unjudged="bounds"))
    # Of 2.3: A 1.0 to 1.7, B 1.3, C 1.7.
    assert unsettled_pairs(systems)[["system_a", "system_b"]].to_numpy().tolist() == [["B", "A"]]


def test_a_report_without_text_scores_zero_and_is_counted_apart() -> None:
    reports = reports_of(("A", "T", 1), ("A", "U", 1), without_text=(("A", "U", 1),))
    scores = report_scores(rubrics_of(T=[0.5], U=[0.5]), judged("A", "T", "+"), reports)
    silent = only(scores[scores["task_id"] == "U"])
    assert (silent["score"], silent["no_report"], silent["unjudged"]) == (0.0, True, 0)
    assert system_scores(scores)[["score_pct", "no_report", "missing"]].to_numpy().tolist() == [[50.0, 1, 0]]


def test_a_missing_report_is_counted_and_not_scored() -> None:
    reports = reports_of(("A", "T", 1), ("A", "T", 2), ("A", "U", 1), ("B", "T", 1), ("B", "U", 1))
    first = [judged("A", "T", "+"), judged("A", "U", "-"), judged("B", "T", "-"), judged("B", "U", "-")]
    judgments = pd.concat([*first, judged("A", "T", "+", run=2)])
    scores = report_scores(rubrics_of(T=[0.5], U=[0.5]), judgments, reports)
    lost = [["A", "U", 2], ["B", "T", 2], ["B", "U", 2]]
    assert scores[scores["missing"]][["system", "task_id", "run"]].to_numpy().tolist() == lost
    systems = system_scores(scores).set_index("system")
    # Run 1: (1 + 0) / 2; run 2: 1 over the one task there is.
    assert systems.loc["A", "score_pct"] == 75.0
    assert list(systems.loc["A", ["runs", "tasks", "missing"]]) == [2, 2, 1]
    # The missing report at 0 or 1: run 2 is (1 + 0) / 2 or (1 + 1) / 2.
    assert list(systems.loc["A", ["lower_pct", "upper_pct"]]) == [50.0, 75.0]


def test_a_run_that_was_lost_whole_shows_where_another_system_made_it() -> None:
    reports = reports_of(("A", "T", 1), ("A", "T", 2), ("B", "T", 2))
    judgments = pd.concat([judged("A", "T", "+"), judged("A", "T", "-", run=2), judged("B", "T", "+", run=2)])
    scores = report_scores(rubrics_of(T=[0.5]), judgments, reports)
    systems = system_scores(scores).set_index("system")
    assert list(systems.loc["B", ["runs", "tasks", "missing", "score_pct"]]) == [1, 1, 1, 100.0]
    # Run 1 could have been 0 or 1, run 2 is 1.
    assert list(systems.loc["B", ["lower_pct", "upper_pct"]]) == [50.0, 100.0]
    runs = run_scores(scores).set_index(["system", "run"])
    assert math.isnan(runs.loc[("B", 1), "score"])
    assert list(runs.loc[("B", 1), ["tasks", "missing"]]) == [0, 1]


def test_a_system_with_the_easy_tasks_only_is_not_ahead_for_certain() -> None:
    # Of four tasks, C passes three; P has but one report, which passes: 25% to 100% against 75%.
    rubrics = rubrics_of(T=[0.5], U=[0.5], V=[0.5], W=[0.5])
    parts = [judged("P", "T", "+"), *(judged("C", task, sign) for task, sign in zip("TUVW", "+++-", strict=True))]
    systems = system_scores(report_scores(rubrics, pd.concat(parts)))
    assert systems["system"].tolist() == ["C", "P"]
    rows = systems.set_index("system")[["score_pct", "lower_pct", "upper_pct", "missing"]]
    assert rows.loc["P"].tolist() == [100.0, 25.0, 100.0, 3]
    assert unsettled_pairs(systems)[["system_a", "system_b"]].to_numpy().tolist() == [["C", "P"]]


def test_bounds_that_touch_but_for_rounding_leave_nothing_open() -> None:
    upper = 100 * (0.1 + 0.2)
    systems = pd.DataFrame(
        {"judge": "J", "system": ["A", "B"], "lower_pct": [0.0, 100 * 0.3], "upper_pct": [upper, 100 * 0.3]}
    )
    assert upper > 100 * 0.3
    assert unsettled_pairs(systems).empty


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from("+-m"), min_size=1, max_size=8).filter(lambda signs: set(signs) != {"m"}))
def test_bounds_hold_whatever_missing_reports_would_have_scored(signs: list[str]) -> None:
    tasks = [f"T{number}" for number in range(len(signs))]
    rubrics = rubrics_of(**{task: [0.5] for task in tasks})

    def row(filled: list[str]) -> pd.Series:
        there = [judged("A", task, sign) for task, sign in zip(tasks, filled, strict=True) if sign != "m"]
        return only(system_scores(report_scores(rubrics, pd.concat(there))))

    at_worst, at_best = (row([sign.replace("m", other) for sign in signs])["score_pct"] for other in "-+")
    still_missing = row(signs)
    assert still_missing["lower_pct"] == pytest.approx(at_worst)
    assert still_missing["upper_pct"] == pytest.approx(at_best)
    assert still_missing["lower_pct"] <= still_missing["score_pct"] + 1e-9
    assert still_missing["score_pct"] <= still_missing["upper_pct"] + 1e-9


def test_a_report_that_no_judge_saw_is_unjudged() -> None:
    reports = reports_of(("A", "T", 1), ("A", "U", 1))
    with pytest.raises(UnjudgedError, match="1 not judged yet"):
        report_scores(rubrics_of(T=[0.5], U=[0.5]), judged("A", "T", "+"), reports)


def test_nothing_judged_and_nothing_to_judge_is_zero() -> None:
    reports = reports_of(("A", "T", 1), without_text=(("A", "T", 1),))
    assert only(report_scores(rubrics_of(T=[0.5]), judged("A", "T", ""), reports))["score"] == 0.0


@pytest.mark.parametrize(
    ("judgments", "reports", "named"),
    [
        (judged("A", "T", "++"), None, "'R2'"),
        (judged("A", "X", "+"), None, "'X'"),
        (pd.concat([judged("A", "T", "+"), judged("A", "T", "-")]), None, "more than once"),
        (judged("A", "T", "+"), reports_of(("B", "T", 1)), "there is no such report"),
        (judged("A", "T", "+"), reports_of(("A", "T", 1), ("A", "T", 1)), "more than once"),
        (judged("A", "T", "+"), reports_of(("A", "T", 1), ("A", "V", 1)), "there is no such task"),
    ],
)
def test_rows_that_fit_nowhere_are_refused(judgments: pd.DataFrame, reports: pd.DataFrame | None, named: str) -> None:
    with pytest.raises(InputError, match=named):
        report_scores(rubrics_of(T=[0.5]), judgments, reports)


def test_an_unknown_treatment_is_refused() -> None:
    with pytest.raises(InputError, match="'zero'"):
        report_scores(rubrics_of(T=[0.5]), judged("A", "T", "+"), unjudged="zero")  # type: ignore[arg-type]


def test_system_score_is_the_mean_of_runs_with_their_sample_deviation() -> None:
    rubrics = rubrics_of(T=[0.5, 0.5], U=[0.9])
    first = [judged("A", "T", signs, run) for run, signs in enumerate(("+-", "--", "++"), start=1)]
    judgments = pd.concat([*first, *(judged("A", "U", "+", run) for run in (1, 2, 3))])
    scores = report_scores(rubrics, judgments)
    # Runs: (0.5 + 1) / 2, (0 + 1) / 2, (1 + 1) / 2. Deviations -25, 0, 25 points: sqrt(1250 / 2) = 25.
    assert run_scores(scores)["score"].tolist() == [0.75, 0.5, 1.0]
    row = only(system_scores(scores))
    assert (row["runs"], row["tasks"], row["score_pct"], row["score_sd_pct"]) == (3, 2, 75.0, 25.0)
    domains = group_scores(scores, "domain").set_index("domain")
    assert domains["score_pct"].to_dict() == {"T": 50.0, "U": 100.0}
    assert domains["score_sd_pct"].to_dict() == {"T": 50.0, "U": 0.0}


def test_deviation_of_one_run_is_missing_and_not_zero() -> None:
    assert only(system_scores(report_scores(rubrics_of(T=[0.5]), judged("A", "T", "+"))))["score_sd_pct"] is pd.NA


def test_repeats_of_a_judge_are_averaged_within_a_report_first() -> None:
    # T was judged twice (1 and 0), U once (1): (0.5 + 1) / 2, not (1 + 0 + 1) / 3.
    judgments = pd.concat([judged("A", "T", "+"), judged("A", "T", "-", repeat=2), judged("A", "U", "+")])
    assert only(system_scores(report_scores(rubrics_of(T=[0.5], U=[0.5]), judgments)))["score_pct"] == 75.0


def test_judges_are_scored_apart() -> None:
    judgments = pd.concat([judged("A", "T", "+", judge="J"), judged("A", "T", "-", judge="K")])
    systems = system_scores(report_scores(rubrics_of(T=[0.5]), judgments))
    assert systems.set_index("judge")["score_pct"].to_dict() == {"J": 100.0, "K": 0.0}


@pytest.mark.parametrize("kind", ["category", "object"])
def test_the_columns_types_do_not_matter(kind: str) -> None:
    judgments = pd.concat([judged("A", "T", "+-"), judged("B", "T", "-+")], ignore_index=True)
    rubrics = rubrics_of(T=[0.7, 0.2])
    changed = judgments.astype(dict.fromkeys(["system", "task_id", "rubric_id", "judge"], kind))
    assert report_scores(rubrics, changed)["score"].tolist() == report_scores(rubrics, judgments)["score"].tolist()


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 10), st.booleans()), min_size=1, max_size=12), st.data())
def test_passing_one_more_rubric_adds_its_share(rows: list[tuple[int, bool]], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(rows) - 1))
    signs = ["+" if passed else "-" for _, passed in rows]
    weights = [tenths / 10 for tenths, _ in rows]
    signs[at] = "-"
    before = only(report_scores(rubrics_of(T=weights), judged("A", "T", "".join(signs))))["score"]
    signs[at] = "+"
    after = only(report_scores(rubrics_of(T=weights), judged("A", "T", "".join(signs))))["score"]
    assert after - before == pytest.approx(rows[at][0] / sum(tenths for tenths, _ in rows))


tenths = st.integers(0, 10).map(lambda tenth: tenth / 10)
graded = st.lists(st.tuples(tenths, st.sampled_from("+-?")), min_size=1, max_size=12).filter(
    lambda rows: sum(weight for weight, _ in rows) > 0
)


def score(rows: list[tuple[float, str]], factor: float = 1.0, shuffle: int | None = None) -> pd.Series:
    weights, signs = [factor * weight for weight, _ in rows], "".join(sign for _, sign in rows)
    rubrics, judgments = rubrics_of(T=weights), judged("A", "T", signs)
    if shuffle is not None:
        order = random.Random(shuffle)
        rubrics = rubrics.iloc[order.sample(range(len(rubrics)), len(rubrics))]
        judgments = judgments.iloc[order.sample(range(len(judgments)), len(judgments))]
    return only(report_scores(rubrics, judgments, unjudged="bounds"))


@pytest.mark.filterwarnings("ignore::lifesearch_kit.errors.InputWarning")
@settings(max_examples=30, deadline=None)
@given(graded, st.integers(0, 99))
def test_bounds_and_order(rows: list[tuple[float, str]], seed: int) -> None:
    row = score(rows)
    assert 0.0 <= row["lower"] <= row["upper"] <= 1.0
    if not math.isnan(row["graded_only"]):
        assert row["lower"] <= row["graded_only"] <= row["upper"]
    assert math.isnan(row["score"]) == any(sign == "?" and weight > 0 for weight, sign in rows)
    moved = score(rows, shuffle=seed)
    assert (moved["lower"], moved["upper"]) == (row["lower"], row["upper"])
    scaled = score(rows, factor=0.37)
    assert (scaled["lower"], scaled["upper"]) == (pytest.approx(row["lower"]), pytest.approx(row["upper"]))


@pytest.mark.filterwarnings("ignore::lifesearch_kit.errors.InputWarning")
@settings(max_examples=30, deadline=None)
@given(graded)
def test_bounds_are_the_worst_and_the_best_way_to_judge_what_is_open(rows: list[tuple[float, str]]) -> None:
    failed = score([(weight, sign.replace("?", "-")) for weight, sign in rows])["score"]
    passed = score([(weight, sign.replace("?", "+")) for weight, sign in rows])["score"]
    assert failed <= passed
    still_open = score(rows)
    assert (still_open["lower"], still_open["upper"]) == (failed, passed)
