"""Who is ahead of whom, and what could still change it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from lifesearch_kit.results import Results
from lifesearch_kit.scoring import ranking
from lifesearch_kit.scoring.report_scores import report_scores

TASKS = [f"t{number}" for number in range(10)]
RUBRICS = pd.DataFrame({"task_id": TASKS, "rubric_id": "R1", "weight": 1.0, "language": "en", "domain": "D"})


def scored(passed: dict[str, str]) -> pd.DataFrame:
    """Scores of systems by a mark a task: 1 passed, 0 failed, ? unjudged, - no report."""
    marks = [(system, task, mark) for system, row in passed.items() for task, mark in zip(TASKS, row, strict=True)]
    there = pd.DataFrame([one for one in marks if one[2] != "-"], columns=["system", "task_id", "mark"]).assign(run=1)
    verdict = there["mark"].map({"1": True, "0": False}).astype("boolean")
    judgments = there.assign(rubric_id="R1", judge="j", repeat=1, satisfied=verdict, status="ok")
    return report_scores(RUBRICS, judgments.drop(columns="mark"), there.assign(gradable=True), unjudged="bounds")


def steps(passed: dict[str, str]) -> pd.DataFrame:
    return ranking.steps_down(scored(passed), np.random.default_rng(1), 500)


def test_each_system_is_compared_with_the_next() -> None:
    table = steps({"low": "1000000000", "top": "1111111110", "middle": "1111111100"})
    assert table[["system", "next"]].to_numpy().tolist() == [["top", "middle"], ["middle", "low"]]
    # 9 of 10 against 8 of 10, and 8 against 1.
    assert table["difference_pct"].tolist() == pytest.approx([10, 70])
    assert table["excludes_0"].tolist() == [False, True]
    assert (table["low_pct"] <= table["difference_pct"]).all()
    assert (table["difference_pct"] <= table["high_pct"]).all()


def test_the_frontier_holds_those_that_no_other_reaches_with_as_little() -> None:
    rows = [("cheap", 10.0, 1.0), ("twin", 10.0, 1.0), ("beaten", 20.0, 5.0), ("good", 30.0, 4.0), ("best", 40.0, 9.0)]
    rows += [("dear", 40.0, 12.0), ("as cheap", 9.0, 1.0), ("unscored", float("nan"), 0.5)]
    table = pd.DataFrame(rows, columns=["system", "score_pct", "tokens"]).sample(frac=1, random_state=1)
    found = ranking.efficient_frontier(table, "tokens")
    assert found["system"].tolist() == ["cheap", "twin", "good", "best"]


def test_a_single_system_has_no_next() -> None:
    assert steps({"only": "1111100000"}).empty


@pytest.mark.filterwarnings("ignore::lifesearch_kit.errors.InputWarning")
def test_what_is_open_can_take_a_difference_back() -> None:
    settled = steps({"top": "1111111111", "next": "0000000000"}).iloc[0]
    assert settled["excludes_0"]
    for row in ("0000000???", "0000000---"):
        kept = steps({"top": "1111111111", "next": row}).iloc[0]
        assert kept["excludes_0"], "three open tasks of ten cannot close the gap"
        assert kept["low_pct"] < settled["low_pct"]
        assert not steps({"top": "1111111111", "next": "0" + 9 * row[-1]}).iloc[0]["excludes_0"]


@pytest.mark.filterwarnings("ignore::lifesearch_kit.errors.InputWarning")
def test_open_verdicts_and_missing_reports_that_could_change_the_order_are_told() -> None:
    assert ranking.unsettled_words(scored({"a": "1111110000", "b": "1111100000"})).startswith("No unjudged rubric")
    # b has 5 of 10 for certain and 7 at most, a has 6.
    for row in ("11111??000", "11111--000"):
        words = ranking.unsettled_words(scored({"a": "1111110000", "b": row}))
        assert words == "Unjudged rubrics and missing reports could change the order of a and b."
    assert ranking.unsettled_words(scored({f"s{number}": "?" * 10 for number in range(7)})).endswith(
        "and 11 more pairs."
    )


def test_unjudged_rubrics_are_told_by_cause_and_system() -> None:
    rows = [("a", "truncated"), ("a", "truncated"), ("b", "truncated"), ("b", "refused"), ("a", "ok")]
    judgments = pd.DataFrame(rows, columns=["system", "status"]).assign(judge="j")
    judgments["satisfied"] = (judgments["status"] == "ok").where(judgments["status"] == "ok").astype("boolean")
    scores = pd.DataFrame({"unjudged": [4, 0]})
    told = ranking.unjudged_causes(Results(Path(), judgments=judgments), scores, "j")
    assert told == (
        "The verdicts are those of j. Of 5 judgments, 1 unjudged (refused: b 1); 3 unjudged (truncated: a 2, b 1)."
    )
    two = pd.concat([judgments[judgments["status"] == "ok"], judgments.assign(judge="k")[:1]])
    assert ranking.unjudged_causes(Results(Path(), judgments=two), scores.assign(unjudged=18)) == (
        "The verdicts are those of j (here too: k; name one as `judge`). Every one of 1 judgments holds a verdict. "
        "36 more rubrics of these reports were not asked yet."
    )
    assert "no judgments" in ranking.unjudged_causes(Results(Path()), None)


def test_one_system_has_no_order() -> None:
    assert "one system alone" in ranking.unsettled_words(scored({"a": "111111????"}))


def test_a_ranking_without_the_scores_ranks_is_ranked_by_the_scores() -> None:
    people = pd.DataFrame({"system": ["b", "a", "c", "x"], "human_rank": [1, 2, 3, 4], "score_rank": np.nan})
    scores = scored({"a": "1111110000", "b": "1111100000", "c": "1010101010", "unranked": "1111111111"})
    # Of those that people ranked, a leads with 6; b and c share places 2 and 3 with 5 each; x has no score.
    computed = ranking.human_ranking(Results(Path(), rankings=people), scores)
    assert computed["score_rank"].tolist()[:3] == [2.5, 1.0, 2.5]
    assert np.isnan(computed["score_rank"][3])
    systems = pd.DataFrame({"system": ["a", "b"], "score_pct": [10.0, 20.0]})
    stored = ranking.human_ranking(Results(Path(), rankings=people, systems=systems), None)
    assert stored["score_rank"].tolist()[:2] == [1.0, 2.0]
    given = people.assign(score_rank=[4, np.nan, 1, 2])
    assert ranking.human_ranking(Results(Path(), rankings=given), scores) is given
    assert ranking.human_ranking(Results(Path()), scores) is None
    assert ranking.human_ranking(Results(Path(), rankings=people), None) is people
