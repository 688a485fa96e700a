"""The tables behind the figures, from judgments and from a folder of summaries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lifesearch_kit.agreement.judge_summaries import judge_interval_words, judge_summary, rank_words
from lifesearch_kit.agreement.rank_measures import rank_agreement
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.frames import judgments_frame, labels_frame, reports_frame, rubrics_frame, tasks_frame
from lifesearch_kit.provenance import (
    BASELINE_JUDGE,
    BASELINES,
    SOME_BASELINE_JUDGES,
    SOME_BASELINES,
    provenance_notice,
)
from lifesearch_kit.records import Judgment, Label, Report, Rubric, Task
from lifesearch_kit.reference_labels import reference_labels
from lifesearch_kit.results import Results
from lifesearch_kit.scoring import summaries
from lifesearch_kit.scoring.ranking import unjudged_causes
from lifesearch_kit.statistics.hierarchical import hierarchical_intervals

EMPTY = Results(Path())
RUBRICS = (Rubric(rubric_id="R1", criterion="One.", weight=0.6), Rubric(rubric_id="R2", criterion="Two.", weight=0.4))
TASKS = [
    Task(task_id="t1", language="zh", domain="Technical tools", query="q", rubrics=RUBRICS),
    Task(task_id="t2", language="en", domain="Everyday facts", query="q", rubrics=RUBRICS),
]
# The verdicts on R1 and R2 of each report: t1 in runs 1 and 2, then t2 in runs 1 and 2.
VERDICTS: dict[str, tuple[tuple[bool | None, bool | None], ...]] = {
    "a": ((True, True), (True, False), (True, False), (True, False)),
    "b": ((False, True), (False, True), (False, False), (False, True)),
}


def results(verdicts: dict[str, tuple[tuple[bool | None, bool | None], ...]] = VERDICTS, model: str = "m") -> Results:
    reports, judgments = [], []
    for system, rows in verdicts.items():
        for (task_id, run), pair in zip([("t1", 1), ("t1", 2), ("t2", 1), ("t2", 2)], rows, strict=True):
            key = {"system": system, "task_id": task_id, "run": run}
            reports.append(Report(**key, text="12345", iterations=4, output_tokens=1500, model=model))
            judgments += [
                Judgment(
                    **key,
                    rubric_id=name,
                    judge="j",
                    satisfied=one,
                    status="ok" if one is not None else "error",
                    model=model,
                )
                for name, one in zip(("R1", "R2"), pair, strict=True)
            ]
    return Results(
        Path(), tasks=tasks_frame(TASKS), rubrics=rubrics_frame(TASKS), reports=reports_frame(reports),
        judgments=judgments_frame(judgments),
    )  # fmt: skip


def thrice(data: Results) -> Results:
    """The same with three tasks for each: intervals need six."""
    tables = {}
    for name in ("tasks", "rubrics", "reports", "judgments"):
        table = getattr(data, name)
        copies = [table.assign(task_id=table["task_id"] + ending) for ending in ("", "-2", "-3")]
        tables[name] = pd.concat(copies, ignore_index=True)
    return Results(**{**vars(data), **tables})


class Untaken(pd.arrays.ArrowStringArray):
    """Texts of which no rows may be copied."""

    def take(self, *_: object, **__: object) -> object:
        pytest.fail("texts were copied")


def test_texts_of_judgments_are_not_copied_for_numbers() -> None:
    first = results(VERDICTS | {"c": ((None, True), (True, True), (True, True), (True, True))})
    judgments = pd.concat([first.require("judgments"), first.require("judgments").head(1).assign(judge="k")])
    data = replace(first, judgments=judgments.reset_index(drop=True))
    wordy = replace(data, judgments=data.require("judgments").assign(raw=Untaken(pa.array(["{}"] * len(judgments)))))
    with pytest.warns(InputWarning, match="1 of 8 rubrics unjudged"):
        scores = summaries.graded_reports(wordy)
    with pytest.warns(InputWarning, match="1 of 8 rubrics unjudged"):
        pd.testing.assert_frame_equal(scores, summaries.graded_reports(data))
    pd.testing.assert_frame_equal(summaries.rubric_summary(wordy), summaries.rubric_summary(data))
    assert unjudged_causes(wordy, scores) == unjudged_causes(data, scores)


def test_the_overall_table_is_computed_from_judgments() -> None:
    data = thrice(results())
    scores = summaries.graded_reports(data)
    table = summaries.system_summary(data, scores, np.random.default_rng(1), 200).set_index("system")
    # a: run 1 is (1.0 + 0.6)/2 = 0.8, run 2 is (0.6 + 0.6)/2 = 0.6: mean 70%, sample SD 14.14 points.
    # b: run 1 is (0.4 + 0.0)/2 = 0.2, run 2 is 0.4: mean 30%.
    assert table.loc["a", "score_pct"] == pytest.approx(70)
    assert table.loc["a", "score_sd_pct"] == pytest.approx(14.142, abs=0.001)
    assert table.loc["b", "score_pct"] == pytest.approx(30)
    assert (table["low_pct"] <= table["score_pct"]).all()
    assert (table["score_pct"] <= table["high_pct"]).all()
    assert table.loc["a", ["iterations", "output_tokens_k", "report_characters"]].tolist() == [4, 1.5, 5]
    words = summaries.interval_words(scores)
    assert words.startswith("error bars: 95% bootstrap intervals over tasks")
    assert words.endswith("; none for fewer than 6 tasks"), "a language has three"
    assert summaries.judge_words(scores) == "graded by j"
    assert summaries.size_words(table) == "2 systems, 2 runs of 6 tasks"
    runs = summaries.run_summary(scores).set_index(["system", "run"])["score_pct"]
    assert runs["a", 1] == pytest.approx(80)


def test_open_rubrics_become_bounds() -> None:
    data = thrice(results({"a": ((True, None), (True, True), (True, True), (True, True))}))
    with pytest.warns(InputWarning, match="unjudged"):
        scores = summaries.graded_reports(data)
    row = summaries.system_summary(data, scores, np.random.default_rng(1)).iloc[0]
    # Run 1 lies between (0.6 + 1)/2 = 0.8 and 1, run 2 is 1: the mean lies between 90% and 100%.
    assert np.isnan(row["score_pct"])
    assert (row["lower_pct"], row["upper_pct"]) == (pytest.approx(90), pytest.approx(100))
    # At worst the tasks score 0.8 and 1: their mean is 90%. At best all score 1.
    assert 80 <= row["low_pct"] < 90
    assert row["high_pct"] == pytest.approx(100)
    assert summaries.interval_words(scores).endswith(": a (3 unjudged)")
    languages = summaries.language_summary(scores, np.random.default_rng(1)).set_index("language")
    assert languages.loc["en", "score_pct"] == pytest.approx(100)
    assert np.isnan(languages.loc["zh", "score_pct"])


def test_an_open_rubric_of_one_system_leaves_the_intervals_of_the_others() -> None:
    whole, (first, *others) = thrice(results()), VERDICTS["a"]
    data = thrice(results({"a": ((None, first[1]), *others), "b": VERDICTS["b"]}))
    with pytest.warns(InputWarning, match="unjudged"):
        scores = summaries.graded_reports(data)
    ends = ["low_pct", "high_pct"]
    table = summaries.system_summary(data, scores, np.random.default_rng(1)).set_index("system")
    settled = summaries.system_summary(whole, summaries.graded_reports(whole), np.random.default_rng(1))
    settled = settled.set_index("system")
    assert table.loc["b", ends].tolist() == settled.loc["b", ends].tolist()
    assert table.loc["b", "score_pct"] == pytest.approx(30)
    # The verdict was a Pass: its failure lowers the worst case, the best case is what it was.
    assert table.loc["a", "low_pct"] < settled.loc["a", "low_pct"]
    assert table.loc["a", "high_pct"] == settled.loc["a", "high_pct"]
    assert summaries.interval_words(scores).endswith(": a (3 unjudged)")


def test_without_anything_open_the_interval_is_the_bootstrap_itself() -> None:
    scores = summaries.graded_reports(thrice(results()))
    table = summaries.open_intervals(scores, np.random.default_rng(3), 300)
    seed = np.random.default_rng(3).integers(2**32)
    plain = hierarchical_intervals(scores, np.random.default_rng(seed), resamples=300)
    pd.testing.assert_frame_equal(table, plain[["system", "low_pct", "high_pct"]])


def test_few_tasks_have_no_interval() -> None:
    # Both of two tasks lie on one side of the truth in every second case: their range is no 95% interval.
    data = results()
    table = summaries.system_summary(data, summaries.graded_reports(data), np.random.default_rng(1))
    assert table["score_pct"].notna().all()
    assert table[["low_pct", "high_pct"]].isna().all(axis=None)


def test_missing_reports_widen_the_interval_and_are_told() -> None:
    data = thrice(results())
    assert data.reports is not None
    assert data.judgments is not None
    parts = [
        part[~((part["system"] == "a") & part["task_id"].str.startswith("t2"))]
        for part in (data.reports, data.judgments)
    ]
    fewer = Results(**{**vars(data), "reports": parts[0], "judgments": parts[1]})
    scores = summaries.graded_reports(fewer)
    table = summaries.system_summary(fewer, scores, np.random.default_rng(1)).set_index("system")
    # a scores 1.0 and 0.6 on the copies of t1 alone: 80%. With t2 it lies between (0.8 + 0)/2 and (0.8 + 1)/2.
    row = table.loc["a", ["tasks", "missing", "score_pct", "lower_pct", "upper_pct"]]
    assert row.tolist() == pytest.approx([3, 6, 80, 40, 90])
    assert table.loc["a", "low_pct"] < 40
    assert table.loc["a", "high_pct"] > 90
    assert summaries.size_words(table) == "2 systems, 2 runs of 3 to 6 tasks"
    assert summaries.interval_words(scores).endswith(": a (6 missing)")


def test_reports_that_all_ask_back_score_0_without_a_judge() -> None:
    data = results()
    assert data.reports is not None
    assert data.judgments is not None
    back = Results(**{**vars(data), "reports": data.reports.assign(gradable=False), "judgments": data.judgments[:0]})
    for judge in ("", "j"):
        scores = summaries.graded_reports(back, judge)
        table = summaries.system_summary(back, scores, np.random.default_rng(1))
        assert table[["score_pct", "no_report"]].to_numpy().tolist() == [[0, 4], [0, 4]]
        assert summaries.judge_words(scores) == "no report could be graded"
    assert summaries.rubric_summary(back).empty


def test_domains_and_languages() -> None:
    data = results()
    scores = summaries.graded_reports(data)
    domains = summaries.domain_summary(data, scores, np.random.default_rng(1)).set_index(["system", "domain"])[
        "score_pct"
    ]
    assert domains["a", "Technical tools"] == pytest.approx(80)  # (1.0 + 0.6)/2
    languages = summaries.language_summary(scores, np.random.default_rng(1), 50).set_index(["system", "language"])
    assert languages.loc[("b", "en"), "score_pct"] == pytest.approx(20)  # (0 + 0.4)/2


def test_the_least_passed_rubrics_come_first() -> None:
    table = summaries.rubric_summary(results()).set_index(["task_id", "rubric_id"])
    # On t2, R1 passes in 2 of 4 reports, R2 in 1 of 4; on t1, R1 in 2 of 4, R2 in 3 of 4.
    assert table["pass_pct"].to_dict() == {("t2", "R2"): 25, ("t1", "R1"): 50, ("t2", "R1"): 50, ("t1", "R2"): 75}
    assert next(iter(table.index)) == ("t2", "R2")
    assert (table["judged"] == 4).all()


def test_summaries_of_a_folder_are_taken_as_they_are() -> None:
    systems = pd.DataFrame({"system": ["a", "b"], "score_pct": [10.0, 20.0], "score_sd_pct": [1.0, 2.0]})
    domains = pd.DataFrame({"system": ["a"], "domain": ["d"], "score_pct": [5.0], "tasks": [2]})
    data = Results(Path(), systems=systems, domains=domains)
    assert summaries.graded_reports(data) is None
    table = summaries.system_summary(data, None, np.random.default_rng(1))
    assert table["system"].tolist() == ["b", "a"]
    assert summaries.domain_summary(data, None, np.random.default_rng(1)) is domains
    assert summaries.interval_words(None) == "error bars: plus and minus one sample standard deviation over runs"


def test_what_is_absent_is_none() -> None:
    assert summaries.graded_reports(EMPTY) is None
    assert summaries.system_summary(EMPTY, None, np.random.default_rng(1)) is None
    assert summaries.domain_summary(EMPTY, None, np.random.default_rng(1)) is None
    assert summaries.language_summary(None, np.random.default_rng(1)) is None
    assert summaries.run_summary(None) is None
    assert summaries.rubric_summary(EMPTY) is None
    assert judge_summary(EMPTY) is None


def test_the_judge_with_most_verdicts_counts_unless_one_is_named() -> None:
    # w has more judgments than x, and fewer that say anything.
    verdicts = pd.array([True, False, True, True, True, True, None, None, None], dtype="boolean")
    judgments = pd.DataFrame({"judge": ["y", "x", "x", "z", "z", "w", "w", "w", "w"], "satisfied": verdicts})
    assert summaries.choose_judge(judgments) == "x"
    assert summaries.choose_judge(judgments, "y") == "y"
    with pytest.raises(InputError, match="choose from w, x, y, z"):
        summaries.choose_judge(judgments, "v")


@pytest.mark.parametrize(("values", "words"), [([42, 42], "42"), ([15, 18, 16], "15 to 18"), ([1000], "1,000")])
def test_a_span_in_words(values: list[int], words: str) -> None:
    assert summaries.span(pd.Series(values)) == words


def labelled() -> Results:
    data = results()
    labels = [
        Label(
            system="a",
            task_id=task_id,
            run=run,
            rubric_id=name,
            annotator=annotator,
            satisfied=annotator == "reference",
        )
        for task_id in ("t1", "t2")
        for run in (1, 2)
        for name in ("R1", "R2")
        for annotator in ("reference", "other")
    ]
    return Results(**{**vars(data), "labels": labels_frame(labels)})


def test_a_judge_against_its_reference() -> None:
    row = judge_summary(labelled(), "reference").iloc[0]
    # The reference passes all 8 rubrics of a's 4 reports; the judge passes 5 of them, 2, 1, 1 and 1. Of so few reports,
    # 8 decisions count as 8 (1.960 / 3.182)^2 = 3.035; Wilson at 62.5% of 3.035: 18.7% to 92.3%.
    assert row["accuracy_pct"] == pytest.approx(62.5)
    assert row["low_pct"] == pytest.approx(18.66, abs=0.01)
    assert row["high_pct"] == pytest.approx(92.3, abs=0.1)
    assert list(row[["reports", "rubrics", "repeats", "judged", "unjudged", "undecided"]]) == [4, 8, 1, 8, 0, 0]
    assert (row["correct"], row["majority_correct"]) == (5, 5)
    assert "one report" in judge_interval_words(labelled())
    assert np.isnan(row["self_consistency_pct"])
    by_language = judge_summary(labelled(), "reference", by="language").set_index("language")["accuracy_pct"]
    assert by_language.to_dict() == {"zh": 75, "en": 50}  # t1: 3 of 4, t2: 2 of 4


def test_a_judge_that_left_most_rubrics_open_does_not_lead() -> None:
    data = labelled()
    assert data.judgments is not None
    # j is right on 5 of 8; k has one verdict, which is right: 100% of 1, but 1 of 8 for certain.
    lazy = data.judgments.assign(judge="k", satisfied=pd.array([True, *[None] * (len(data.judgments) - 1)], "boolean"))
    both = Results(**{**vars(data), "judgments": pd.concat([data.judgments, lazy], ignore_index=True)})
    table = judge_summary(both, "reference")
    assert table["judge"].tolist() == ["j", "k"]
    assert table["accuracy_pct"].tolist() == [62.5, 100.0]
    assert table[["judged", "unjudged"]].to_numpy().tolist() == [[8, 0], [1, 7]]
    assert table["low_pct"][1] == pytest.approx(20.65, abs=0.01)  # Wilson at 1 of 1


def test_the_reference_must_be_one() -> None:
    labels = labelled().labels
    assert labels is not None
    with pytest.raises(InputError, match="one of other, reference"):
        reference_labels(labels)
    assert set(reference_labels(labels, "other")["annotator"]) == {"other"}
    assert len(reference_labels(labels[labels["annotator"] == "other"])) == 8


def test_judges_of_a_folder_are_named_with_their_settings() -> None:
    judges = pd.DataFrame(
        {
            "judge": ["A", "B"], "reasoning": ["low", "high"], "temperature": ["0", "default"], "rubrics": [402, 402],
            "repeats": [3, 3], "mean_accuracy_pct": [80.0, 84.25], "self_consistency_pct": [98.8, 94.5],
            "majority_vote_pct": [80.1, 84.33],
        }
    )  # fmt: skip
    table = judge_summary(Results(Path(), judges=judges))
    assert table["judge"].tolist() == ["B, reasoning high, temp. default", "A, reasoning low, temp. 0"]
    # Wilson at 80% of 402: 75.8% to 83.6%.
    assert table[["reports", "judged", "unjudged", "undecided"]].isna().all(axis=None)
    assert "independent" in judge_interval_words(Results(Path(), judges=judges))
    # 84.25% of 402 x 3 = 1,206 is 1,016 (84.245); 80% is no share of 1,206: 964 give 79.93, 965 give 80.02.
    assert table["correct"].tolist()[0] == 1016
    assert np.isnan(table["correct"][1])
    assert table["consistent"].tolist() == [380, 397]  # 94.53 and 98.76 of 402
    assert table["majority_correct"].tolist() == [339, 322]  # 84.328 and 80.0995
    assert table["low_pct"][1] == pytest.approx(75.81, abs=0.01)
    assert table["high_pct"][1] == pytest.approx(83.61, abs=0.01)


def test_rankings_in_words() -> None:
    few = rank_words(rank_agreement({"a": 1, "b": 2, "c": 3}, {"a": 1, "b": 2, "c": 3}))
    assert few.startswith("Spearman 1.000, Kendall 1.000 over 3 systems; ")
    tied = rank_words(rank_agreement({"a": 1, "b": 1}, {"a": 1, "b": 2}))
    assert tied.startswith("Spearman undefined (one list ties all systems")


def test_systems_that_a_ranking_leaves_out_are_named() -> None:
    words = rank_words(rank_agreement({"a": 1, "b": 2, "c": None, "f": 3}, {"a": 1, "b": 2, "c": 3, "d": 4}))
    assert words.startswith("Spearman 1.000, Kendall 1.000 over 2 systems; left out")
    assert ": c, f, d;" in words or ": c, d, f;" in words
    assert "left out" not in rank_words(rank_agreement({"a": 1, "b": 2}, {"a": 1, "b": 2}))


def test_the_notice_follows_the_data() -> None:
    assert provenance_notice(results()) == ""
    assert provenance_notice(EMPTY) == ""
    assert provenance_notice(results(model="baseline-researcher-quick")) == f"{BASELINES} Graded by j."
    data = results()
    assert data.reports is not None
    assert data.judgments is not None
    mixed = data.reports.assign(model=["baseline-researcher-quick", *["m"] * 7])
    assert provenance_notice(Results(Path(), reports=mixed)) == SOME_BASELINES
    by_baseline = data.judgments.assign(model="baseline-judge")
    unknown = data.reports.assign(model=None)
    assert provenance_notice(Results(Path(), reports=unknown, judgments=by_baseline)) == BASELINE_JUDGE
    assert provenance_notice(Results(Path(), reports=mixed, judgments=by_baseline)) == (
        f"{SOME_BASELINES} {BASELINE_JUDGE}"
    )
    made = data.reports.assign(model="baseline-researcher-quick")
    assert provenance_notice(Results(Path(), reports=made, judgments=by_baseline)) == f"{BASELINES} {BASELINE_JUDGE}"
    assert provenance_notice(Results(Path(), reports=made, judgments=data.judgments[:0])) == BASELINES
    both = pd.concat([data.judgments, by_baseline])
    assert provenance_notice(Results(Path(), reports=unknown, judgments=both)) == SOME_BASELINE_JUDGES


def test_invented_tasks_are_said_to_be_so_whoever_worked_on_them() -> None:
    own = results(model="some-vendor-model")
    tasks = pd.DataFrame({"task_id": ["t"], "invented": [True]})
    assert provenance_notice(replace(own, tasks=tasks)).startswith("Invented demo tasks")
    assert "Invented" not in provenance_notice(replace(own, tasks=tasks.assign(invented=False)))
