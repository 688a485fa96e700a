"""Three sentences about judges, from invented tables and from records."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.agreement.judge_differences import judge_differences
from lifesearch_kit.agreement.judge_summaries import judge_summary
from lifesearch_kit.agreement.judge_words import judge_findings
from lifesearch_kit.errors import InputError
from lifesearch_kit.frames import judgments_frame, labels_frame, rubrics_frame
from lifesearch_kit.provenance import baseline_judges
from lifesearch_kit.records import Judgment, Label, Language, Rubric, Task
from lifesearch_kit.results import Results

KINDS = {"q1": False, "q2": False, "b1": True, "b2": True}


def summary_of(**accuracies: float | None) -> pd.DataFrame:
    """Judges, the best first; one without an accuracy reached no verdict."""
    rows = [
        {
            "judge": judge, "judged": 0 if value is None else 1014, "unjudged": 1014 if value is None else 0,
            "accuracy_pct": value, "low_pct": None if value is None else value - 5,
            "high_pct": None if value is None else value + 4, "kappa": None if value is None else 0.412,
            "constant_pct": 65.68,
        }
        for judge, value in accuracies.items()
    ]  # fmt: skip
    return pd.DataFrame(rows).astype(dict.fromkeys(("accuracy_pct", "low_pct", "high_pct", "kappa"), "float64"))


def languages_of(summary: pd.DataFrame) -> pd.DataFrame:
    """Chinese 3 points above the summary, English 3 points below."""
    parts = [
        summary.assign(language=code, accuracy_pct=summary["accuracy_pct"] + by) for code, by in (("zh", 3), ("en", -3))
    ]
    return pd.concat(parts, ignore_index=True)


def pair(
    a: str, b: str, gap: float, low: float, high: float, tasks: int = 14, reports: int = 20, rubrics: int = 338
) -> dict[str, object]:
    beyond = pd.NA if pd.isna(low) else low > 0 or high < 0
    return {
        "judge_a": a, "judge_b": b, "tasks": tasks, "reports": reports, "rubrics": rubrics, "difference_pct": gap,
        "low_pct": low, "high_pct": high, "beyond_chance": beyond,
    }  # fmt: skip


def findings(summary: pd.DataFrame, *pairs: dict[str, object]) -> list[str]:
    return judge_findings(summary, languages_of(summary), pd.DataFrame(pairs), KINDS)


def test_a_baseline_ahead_of_two_configurations() -> None:
    summary = summary_of(b1=84.0, q1=71.0, q2=67.0, b2=57.7)
    summary.loc[1, ["judged", "unjudged"]] = [983, 31]
    # The pairs stand in the other order than the judges' rank: signs and ends turn.
    assert findings(
        summary, pair("q2", "q1", -4.04, -7.31, -0.96, 14, 20, 330), pair("q1", "b1", -13.0, -20.0, -6.1)
    ) == [
        'Among 2 language-model configurations, "q1" is right most often, on 71.0% of the labelled rubrics (95%'
        " interval 66.0 to 75.0; of those it judged, as 31 of 1,014 judgments reached no verdict), where the more"
        " frequent label given to all of them would be right on 65.7%; kappa is 0.41; the accuracy is 74.0% in Chinese"
        " and 68.0% in English.",
        '"q1" is 4.0 points ahead of the next configuration, "q2" (95% interval 1.0 to 7.3, over 330 rubrics of 20'
        " reports on 14 tasks that both judged), and the difference is beyond chance.",
        'The rule-based baseline "b1" is 13.0 points ahead of "q1" (95% interval 6.1 to 20.0, over 338 rubrics of 20'
        " reports on 14 tasks that both judged), and the difference is beyond chance.",
    ]


def test_a_configuration_ahead_of_its_next_by_chance_and_level_with_a_baseline() -> None:
    summary = summary_of(q1=71.0, b1=71.0, q2=70.0)
    _, second, third = findings(summary, pair("q1", "q2", 1.0, -2.0, 4.0), pair("q1", "b1", -0.02, -6.04, 6.0))
    assert second.endswith("and the difference is not beyond chance.")
    assert third.startswith('"q1" is level with the rule-based baseline "b1" (95% interval -6.0 to 6.0, over 338')


def test_one_configuration_is_compared_with_all_judges() -> None:
    first, second, third = findings(summary_of(q1=90.0, b1=84.0), pair("q1", "b1", 6.0, 1.0, 11.0))
    assert first.startswith('The only language-model configuration, "q1", is right on 90.0% of the labelled')
    assert second.startswith('"q1" is 6.0 points ahead of the next judge, the rule-based baseline "b1" (')
    assert third == (
        "These two are the only language-model configuration and the best rule-based baseline, so that is also how the"
        " two kinds compare."
    )
    first, second, third = findings(
        summary_of(b1=84.0, b2=83.7, q1=71.0), pair("b1", "b2", 0.3, -4.0, 4.5), pair("b1", "q1", 13.0, 6.0, 20.0)
    )
    assert '"q1"' in first
    assert second.startswith('The rule-based baseline "b1" is 0.3 points ahead of the next judge, the rule-based')
    assert third.startswith('The rule-based baseline "b1" is 13.0 points ahead of "q1"')


def test_one_kind_alone() -> None:
    first, second, third = findings(summary_of(b1=84.0, b2=80.0), pair("b1", "b2", 4.0, 1.0, 7.0))
    assert first.startswith('Among 2 baseline judges, the rule-based baseline "b1" is right most often, on 84.0%')
    assert second.startswith('The rule-based baseline "b1" is 4.0 points ahead of the next judge, the rule-based')
    assert third == (
        "No language-model configuration was tried, so there is none to compare with the rule-based baselines."
    )
    _, _, third = findings(summary_of(q1=84.0, q2=80.0), pair("q1", "q2", 4.0, 1.0, 7.0))
    assert third == 'No rule-based baseline was tried, so there is none to compare "q1" with.'


def test_a_single_judge() -> None:
    first, second, third = findings(summary_of(q1=71.0))
    assert first.startswith('The only language-model configuration, "q1", is right on')
    assert second == 'There is no other judge to compare "q1" with.'
    assert third == 'No rule-based baseline was tried, so there is none to compare "q1" with.'
    first, second, _ = findings(summary_of(b1=71.0))
    assert first.startswith('The rule-based baseline "b1" is right on 71.0% of the labelled')
    assert second == 'There is no other judge to compare the rule-based baseline "b1" with.'


def test_judges_without_any_verdict_are_named_and_left_out() -> None:
    first, second, third = findings(summary_of(q1=71.0, q2=None, b1=None))
    assert first.startswith('The only language-model configuration that reached a verdict, "q1", is right on 71.0%')
    assert second == (
        'There is no other judge to compare "q1" with; left out, for want of any verdict: "q2", the rule-based baseline'
        ' "b1".'
    )
    assert third == 'No rule-based baseline reached a verdict, so there is none to compare "q1" with.'
    assert findings(summary_of(b1=71.0, q1=None))[2].startswith("No language-model configuration reached a verdict")
    assert findings(summary_of(q1=None)) == []


def test_an_order_that_lacking_verdicts_decide_is_explained() -> None:
    first, second, _ = findings(summary_of(q1=71.0, q2=80.0), pair("q1", "q2", -2.0, -5.0, 1.0, 6, 7, 8))
    assert "is right most often where a judgment without a verdict counts as wrong, on 71.0% of the" in first
    assert second == (
        '"q1" ranks higher where a judgment without a verdict counts as wrong, but is 2.0 points behind the next'
        ' configuration, "q2" (95% interval -5.0 to 1.0, over 8 rubrics of 7 reports on 6 tasks that both judged), and'
        " the difference is not beyond chance."
    )


def test_differences_without_an_interval_or_without_shared_rubrics() -> None:
    nan = float("nan")
    summary = summary_of(q1=71.0, q2=70.0, b1=60.0)
    few, none = pair("q1", "q2", 1.0, nan, nan, 5, 6, 17), pair("q1", "b1", nan, nan, nan, 0, 0, 0)
    _, second, third = findings(summary, few, none)
    assert second == (
        '"q1" is 1.0 points ahead of the next configuration, "q2" (over 17 rubrics of 6 reports on 5 tasks that both'
        " judged), which 5 tasks cannot tell from chance."
    )
    assert third == (
        '"q1" and the rule-based baseline "b1" reached no verdict on the same rubric, so they cannot be compared.'
    )
    _, second, _ = findings(summary, pair("q1", "q2", 1.0, nan, nan, 1, 1, 1), none)
    assert second.endswith(
        "(over 1 rubric of 1 report on 1 task that both judged), which 1 task cannot tell from chance."
    )


def test_two_kinds_that_share_no_rubric_stay_uncompared() -> None:
    nan = float("nan")
    _, second, third = findings(summary_of(q1=71.0, b1=60.0), pair("q1", "b1", nan, nan, nan, 0, 0, 0))
    assert second.endswith("reached no verdict on the same rubric, so they cannot be compared.")
    assert third == (
        "These two are the only language-model configuration and the best rule-based baseline, so how the two kinds"
        " compare stays open."
    )


def test_one_language_and_a_language_without_verdicts() -> None:
    summary = summary_of(q1=71.0)
    languages = languages_of(summary)
    one = judge_findings(summary, languages[:1], pd.DataFrame(), KINDS)[0]
    assert one.endswith("kappa is 0.41; all labelled reports are in Chinese.")
    languages.loc[0, "accuracy_pct"] = float("nan")
    summary["kappa"] = float("nan")
    assert judge_findings(summary, languages, pd.DataFrame(), KINDS)[0].endswith(
        "kappa is undefined; the accuracy is 68.0% in English, without a verdict in Chinese."
    )


def test_what_is_lacking_gives_no_sentence_and_what_contradicts_is_refused() -> None:
    summary = summary_of(q1=71.0, q2=70.0)
    languages = languages_of(summary)
    assert judge_findings(summary, None, None, {}) == []
    assert judge_findings(None, None, None, {}) == []
    with pytest.raises(InputError, match="nothing of judge 'q1', 'q2'"):
        judge_findings(summary, languages, pd.DataFrame(), {})
    with pytest.raises(InputError, match="lack the pair 'q1' and 'q2'"):
        findings(summary, pair("q1", "b1", 1.0, 0.5, 2.0))


def recorded() -> Results:
    """Two reports of two rubrics in each language and three judges, of which "none" got no reply.

    All but the first rubric, of the first Chinese report, are labelled Pass.
    """
    models = {"rules": "baseline-judge-strict", "model": "some-model", "none": None}
    languages: tuple[Language, ...] = ("zh", "en")
    rubrics = tuple(Rubric(rubric_id=name, criterion="One.", weight=0.5) for name in ("R1", "R2"))
    tasks = [
        Task(task_id=code, language=code, domain="Technical tools", query="q", rubrics=rubrics) for code in languages
    ]
    keys = [
        {"system": "s", "task_id": task.task_id, "run": run, "rubric_id": rubric.rubric_id}
        for task in tasks
        for run in (1, 2)
        for rubric in rubrics
    ]
    passed = {"rules": range(1, 8), "model": (1, 2, 4, 5, 6), "none": ()}
    judgments = [
        Judgment(
            **key, judge=judge, model=model, satisfied=None if model is None else at in passed[judge],
            status="ok" if model else "error",
        )
        for judge, model in models.items()
        for at, key in enumerate(keys)
    ]  # fmt: skip
    labels = [Label(**key, annotator="people", satisfied=at != 0) for at, key in enumerate(keys)]
    return Results(
        Path(), rubrics=rubrics_frame(tasks), judgments=judgments_frame(judgments), labels=labels_frame(labels)
    )


def test_from_records_to_sentences() -> None:
    data = recorded()
    assert data.judgments is not None
    assert data.labels is not None
    kinds = baseline_judges(data)
    assert kinds == {"rules": True, "model": False, "none": False}
    assert baseline_judges(Results(Path())) == {}
    differences = judge_differences(data.judgments, data.labels, np.random.default_rng(0), 500)
    summary, languages = judge_summary(data), judge_summary(data, by="language")
    assert summary is not None
    assert languages is not None
    # 7 of 8 labels are Pass: 3 of 4 Chinese ones, 4 of 4 English ones.
    assert summary["constant_pct"].tolist() == [87.5] * 3
    shares = languages.groupby("language")["constant_pct"].unique().map(list).to_dict()
    assert shares == {"zh": [75.0], "en": [100.0]}
    first, second, third = judge_findings(summary, languages, differences, kinds)
    # The model is wrong on the last rubric of each task: 6 of 8, and 3 of 4 in each language.
    assert "is right on 75.0% of the labelled rubrics (" in first
    assert "where the more frequent label given to all of them would be right on 87.5%; kappa is" in first
    assert first.endswith("75.0% in Chinese and 75.0% in English.")
    # Over 2 tasks with 25 points between them on each.
    assert second == (
        'The rule-based baseline "rules" is 25.0 points ahead of the next judge, "model" (over 8 rubrics of 4 reports'
        " on 2 tasks that both judged), which 2 tasks cannot tell from chance; left out, for want of any verdict:"
        ' "none".'
    )
    assert third.startswith("These two are the only language-model configuration that reached a verdict and the best")


def test_fails_are_the_more_frequent_label_as_well() -> None:
    data = recorded()
    assert data.labels is not None
    # 2 of 8 labels are Pass, both on the English task, and its other 2 are Fail.
    passed = pd.array([False] * 6 + [True] * 2, dtype="boolean")
    changed = Results(**{**vars(data), "labels": data.labels.assign(satisfied=passed)})
    summary, languages = judge_summary(changed), judge_summary(changed, by="language")
    assert summary is not None
    assert languages is not None
    assert set(summary["constant_pct"]) == {75.0}
    assert languages.groupby("language")["constant_pct"].max().to_dict() == {"zh": 100.0, "en": 50.0}


ACCURACIES = st.fixed_dictionaries(dict.fromkeys(KINDS, st.none() | st.integers(0, 1000).map(lambda tenth: tenth / 10)))


@given(ACCURACIES, st.data())
def test_there_are_three_sentences_or_none_and_no_missing_number_is_written(
    accuracies: dict[str, float | None], data: st.DataObject
) -> None:
    order = sorted(accuracies, key=lambda judge: -1 if accuracies[judge] is None else accuracies[judge], reverse=True)
    summary = summary_of(**{judge: accuracies[judge] for judge in order})
    pairs = []
    for a, b in itertools.combinations(order, 2):
        tasks = data.draw(st.sampled_from([0, 1, 5, 6, 14]))
        one, other, nan = accuracies[a], accuracies[b], float("nan")
        shared = tasks if one is not None and other is not None else 0
        gap = one - other if shared and one is not None and other is not None else nan
        ends = (gap - 3, gap + 4) if shared >= 6 else (nan, nan)
        pairs.append(pair(a, b, gap, *ends, shared, shared, 3 * shared))
    told = findings(summary, *pairs)
    assert len(told) == (3 if any(value is not None for value in accuracies.values()) else 0)
    for sentence in told:
        assert sentence[0] == sentence[0].upper()
        assert re.findall(r"\.(?!\d)", sentence) == ["."]
        assert sentence.endswith(".")
        assert not re.search(r"\bnan\b|None|<NA>", sentence)
    assert ("that is also how" in "".join(told)) <= ("cannot be compared" not in "".join(told))
