"""Blinded ranking: places with ties, the order and its seed kept, systems named again in what notebook 08 reads."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_studies import SYSTEMS, made_reports, made_tasks

from lifesearch_kit.agreement import human_ranks
from lifesearch_kit.agreement.task_ranks import TASK_RANKINGS, agreement_over_tasks
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import write_jsonl
from lifesearch_kit.labeling.labels import LabelSession
from lifesearch_kit.labeling.pages import Press
from lifesearch_kit.labeling.ranking import RankingSession
from lifesearch_kit.labeling.ranking_sets import CRITERIA, RankingSet, ranking_file, ranking_sets
from lifesearch_kit.labeling.unblinding import (
    read_rankings,
    system_rankings,
    task_rankings,
    unblind,
    write_rankings,
)
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.results import load_results
from lifesearch_kit.scoring import ranking
from lifesearch_kit.scoring.summaries import graded_reports
from lifesearch_kit.tables import read_table

TASKS = made_tasks(4, rubrics=4)
REPORTS = made_reports(TASKS)
SETS = ranking_sets(TASKS, REPORTS, 4, np.random.default_rng(1))


def begun(folder: Path, annotator: str = "ann", sets: list[RankingSet] = SETS) -> RankingSession:
    return RankingSession(sets, annotator, folder, seed=7)


def rank_task(session: RankingSession, places: dict[str, int]) -> None:
    """Give each system's report the same place by every criterion, in the order in which they are shown."""
    for _ in CRITERIA:
        for report in session.sets[session.position].reports:
            session.press(Press(str(places[report.system])))
    session.press(Press("Enter"))


def test_digits_place_the_reports_one_after_the_other(tmp_path: Path) -> None:
    session = begun(tmp_path)
    for key in ("2", "1", "1", "4"):
        session.press(Press(key))
    assert session.places["factual accuracy"] == (2, 1, 1, 4)
    assert (session.column, session.chosen) == (1, 0)
    for key in ("c", "3"):
        session.press(Press(key))
    assert session.places["completeness"] == (None, None, 3, None)
    assert session.chosen == 3
    for key in (" ", "b", "0", "Enter"):
        session.press(Press(key))
    assert session.said == "Every report needs a place by each criterion before Enter"
    session.press(Press("9"))
    assert session.said == "There are 4 reports: places go from 1 to 4"
    assert session.answered == 0


def test_every_place_is_kept_with_the_order_and_the_seed(tmp_path: Path) -> None:
    session = begun(tmp_path)
    session.press(Press("2"))
    path = tmp_path / "rankings" / "ann.jsonl"
    line = json.loads(path.read_text(encoding="utf-8"))
    assert line["seed"] == 7
    assert line["order"] == list(session.sets[0].codes)
    assert line["places"]["factual accuracy"] == [2, None, None, None]
    assert not line["confirmed"]
    session.close()
    again = begun(tmp_path)
    assert again.places["factual accuracy"] == (2, None, None, None)
    assert again.sets[0].codes == session.sets[0].codes
    assert read_rankings(tmp_path) == []


def test_another_seed_keeps_the_order_in_which_a_task_was_begun(tmp_path: Path) -> None:
    first = begun(tmp_path)
    first.press(Press("2"))
    begun_with = first.sets[0]
    first.close()
    again = RankingSession(SETS, "ann", tmp_path, seed=8)
    again._go([one.task for one in again.sets].index(begun_with.task))
    assert again.sets[again.position].codes == begun_with.codes
    assert again.places["factual accuracy"] == (2, None, None, None)


def test_orders_differ_from_person_to_person_and_keep_for_a_seed(tmp_path: Path) -> None:
    orders = {name: [one.codes for one in begun(tmp_path / name, name).sets] for name in ("ann", "bo")}
    assert orders["ann"] != orders["bo"]
    assert orders["ann"] == [one.codes for one in begun(tmp_path / "again", "ann").sets]


def test_ranks_of_systems_with_ties_shared(tmp_path: Path) -> None:
    session = begun(tmp_path)
    rank_task(session, dict(zip(SYSTEMS, (1, 2, 2, 4), strict=True)))
    ranks = unblind(read_rankings(tmp_path), TASKS, REPORTS)
    assert len(ranks) == 12
    by_system = ranks[ranks["criterion"] == "completeness"].set_index("system")["rank"]
    assert [by_system[one] for one in SYSTEMS] == [1.0, 2.5, 2.5, 4.0]


def test_rankings_over_another_set_of_systems_count_in_no_mean(tmp_path: Path) -> None:
    first = begun(tmp_path)
    for _ in range(2):
        rank_task(first, dict(zip(SYSTEMS, (1, 2, 3, 4), strict=True)))
    first.close()
    fewer = [one for one in REPORTS if one.system in SYSTEMS[2:]]
    sets = ranking_sets(TASKS, fewer, 4, np.random.default_rng(1))
    again = begun(tmp_path, sets=sets)
    assert again.answered == 0, "what was ranked among four is not ranked among two"
    rank_task(again, {SYSTEMS[2]: 2, SYSTEMS[3]: 1})
    again.close()
    with pytest.warns(InputWarning, match=r"1 ranking over other sets of systems left aside: the 2 over "):
        ranks = unblind(read_rankings(tmp_path), TASKS, REPORTS)
    # Two tasks by three criteria of four systems; the later ranking of two of them replaces none of these.
    assert len(ranks) == 2 * 3 * 4
    assert dict(system_rankings(task_rankings(ranks)).set_index("system")["human_rank"]) == dict(
        zip(SYSTEMS, (1.0, 2.0, 3.0, 4.0), strict=True)
    )
    assert begun(tmp_path).answered == 2, "and the session with all four still has them"


def test_overall_ranks_are_those_of_mean_ranks() -> None:
    rows = [
        # By the three criteria a is 1, 2, 3 (mean 2), b 2, 1, 1 (4/3), c 3, 3, 2 (8/3).
        *[("t1", "x", criterion, "a", rank) for criterion, rank in zip(CRITERIA, (1, 2, 3), strict=True)],
        *[("t1", "x", criterion, "b", rank) for criterion, rank in zip(CRITERIA, (2, 1, 1), strict=True)],
        *[("t1", "x", criterion, "c", rank) for criterion, rank in zip(CRITERIA, (3, 3, 2), strict=True)],
        # In the second task all are tied for x, and y has a before b before c.
        *[("t2", "x", criterion, system, 2.0) for criterion in CRITERIA for system in "abc"],
        *[("t2", "y", criterion, system, rank) for criterion in CRITERIA for rank, system in enumerate("abc", 1)],
    ]
    by_task = task_rankings(pd.DataFrame(rows, columns=["task_id", "annotator", "criterion", "system", "rank"]))
    first = by_task.query("task_id == 't1'").set_index("system")["human_rank"]
    assert dict(first) == {"a": 2.0, "b": 1.0, "c": 3.0}
    overall = system_rankings(by_task).set_index("system")
    # Means over tasks, those of t2 being 1.5, 2 and 2.5: a (2 + 1.5) / 2, b (1 + 2) / 2, c (3 + 2.5) / 2.
    assert dict(overall["mean_rank"]) == {"b": 1.5, "a": 1.75, "c": 2.75}
    assert dict(overall["human_rank"]) == {"b": 1.0, "a": 2.0, "c": 3.0}


def test_notebook_08_reads_what_comes_of_it(tmp_path: Path) -> None:
    # The score's order is that of SYSTEMS; people have the last two the other way round in every task.
    judgments = [
        Judgment(system=system, task_id=task.task_id, rubric_id=f"R{at}", judge="j", satisfied=at >= place)
        for place, system in enumerate(SYSTEMS)
        for task in TASKS
        for at in range(4)
    ]
    for name, records in {"tasks": TASKS, "reports": REPORTS, "judgments": judgments}.items():
        write_jsonl(tmp_path / f"{name}.jsonl", records)
    session = begun(tmp_path / "labels")
    for _ in SETS:
        rank_task(session, dict(zip(SYSTEMS, (1, 2, 4, 3), strict=True)))
    by_task = task_rankings(unblind(read_rankings(tmp_path / "labels"), TASKS, REPORTS))
    for _ in range(2):
        assert [path.name for path in write_rankings(by_task, tmp_path)] == ["rankings.csv", "task_rankings.csv"]
    data = load_results(tmp_path)
    scores = graded_reports(data)
    rankings = ranking.human_ranking(data, scores)
    assert rankings is not None
    changes = human_ranks.rank_changes(rankings).set_index("system")["change"]
    assert dict(changes) == dict(zip(SYSTEMS, (0.0, 0.0, 1.0, -1.0), strict=True))
    task_ranks = read_table(tmp_path / "task_rankings.csv", TASK_RANKINGS)
    assert scores is not None
    table = agreement_over_tasks(task_ranks, scores, np.random.default_rng(1), 100).set_index(["of", "measure"])
    # One pair of six is the other way round: tau (5 - 1) / 6; rho 1 - 6 x 2 / (4 x 15) = 0.8.
    assert [round(float(value), 3) for value in table.loc["systems", "value"]] == [0.8, 0.667]
    assert set(table["tasks"]) == {4}


def test_rankings_from_elsewhere_are_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "rankings.csv").write_text("system,human_rank\na,1\n", encoding="utf-8")
    table = pd.DataFrame({"task_id": ["t"], "annotator": ["x"], "system": ["a"], "human_rank": [1.0]})
    with pytest.raises(InputError, match=r"rankings\.csv: comes from elsewhere"):
        write_rankings(table, tmp_path)
    assert not (tmp_path / "task_rankings.csv").exists()


def test_a_report_edited_since_is_told(tmp_path: Path) -> None:
    session = begun(tmp_path)
    rank_task(session, dict.fromkeys(SYSTEMS, 1))
    given = read_rankings(tmp_path)
    edited = [one.model_copy(update={"text": "Another."}) for one in REPORTS]
    with pytest.raises(InputError, match="the question or a report has changed since"):
        unblind(given, TASKS, edited)
    with pytest.raises(InputError, match="is not among those given"):
        unblind(given, TASKS, REPORTS[:1])


def test_places_edited_by_hand_are_checked(tmp_path: Path) -> None:
    session = begun(tmp_path)
    rank_task(session, dict.fromkeys(SYSTEMS, 1))
    session.close()
    path = tmp_path / "rankings" / "ann.jsonl"
    last = path.read_text(encoding="utf-8").splitlines()[-1]
    path.write_text(last.replace("[1, 1, 1, 1]", "[1, 1, 1, 11]", 1) + "\n", encoding="utf-8")
    with pytest.raises(
        InputError, match=r"factual accuracy: field 'places': \[1, 1, 1, 11\] is not 4 places from 1 to 4"
    ):
        unblind(read_rankings(tmp_path), TASKS, REPORTS)
    path.write_text(last.replace("[1, 1, 1, 1]", '[1, 1, 1, "2nd"]', 1) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"ann\.jsonl:1: task 't\d', field 'places"):
        ranking_file(tmp_path, "ann").read()


def test_tasks_are_even_and_hold_a_report_of_every_system() -> None:
    lacking = [one for one in REPORTS if (one.system, one.task_id) != (SYSTEMS[0], "t3")]
    with pytest.raises(InputError, match="n=4: 3 tasks have a report of each of the 4 systems"):
        ranking_sets(TASKS, lacking, 4, np.random.default_rng(1))
    chosen = ranking_sets(TASKS, REPORTS, 2, np.random.default_rng(1))
    assert {one.task.language for one in chosen} == {"zh", "en"}
    assert all(sorted(report.system for report in one.reports) == sorted(SYSTEMS) for one in chosen)


@pytest.mark.parametrize("systems", [["one"], [f"s{at}" for at in range(10)]])
def test_one_system_and_more_than_nine_are_refused(systems: list[str]) -> None:
    with pytest.raises(InputError, match="2 to 9 can be ranked"):
        ranking_sets(TASKS, made_reports(TASKS, systems), 2, np.random.default_rng(1))


def test_one_run_of_each_system_is_drawn() -> None:
    several = made_reports(TASKS, runs=3)
    drawn = {
        one.run
        for seed in range(5)
        for chosen in ranking_sets(TASKS, several, 4, np.random.default_rng(seed))
        for one in chosen.reports
    }
    assert drawn == {1, 2, 3}


def test_nobody_named_ranks_nothing(tmp_path: Path) -> None:
    session = begun(tmp_path, "")
    for key in ("1", "b", " ", "Enter", "ArrowRight"):
        session.press(Press(key))
    assert session.position == 0
    assert not list(tmp_path.iterdir())
    LabelSession([], "", tmp_path, 1)


def test_a_report_that_asks_back_is_not_ranked() -> None:
    asking = [Report(system="z9", task_id=task.task_id, text="Which?", status="asked_back") for task in TASKS]
    sets = ranking_sets(TASKS, [*REPORTS, *asking], 1, np.random.default_rng(1))
    assert {one.system for one in sets[0].reports} == set(SYSTEMS)
