"""Verdicts before and after a change, few enough to count by hand."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pandas as pd
import pytest
from loopback import Loopback, completion
from verdict_signs import judgments_of_signs

from lifesearch_kit.collect.collect import grade
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.collect.store import Store
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_reports, read_tasks
from lifesearch_kit.frames import judgments_frame
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge.flip_rates import SAME_AGAIN, compared_verdicts, flip_rates
from lifesearch_kit.judge.robustness import transformed_reports, transformed_system
from lifesearch_kit.judge.transformations import TRANSFORMATIONS
from lifesearch_kit.paths import resolve
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

PADDING, PRAISE = "neutral padding", "praise for the grader"
FIGURES = ["flip_pct", "low_pct", "high_pct"]


def judgments_of(*repeats: str, kind: str = "", judge: str = "j") -> pd.DataFrame:
    return judgments_of_signs(transformed_system("A", kind) if kind else "A", judge, *repeats)


def test_flips_by_hand() -> None:
    table = flip_rates(judgments_of("+-/- -+"), judgments_of("--/+ ++", kind=PADDING))
    assert len(table) == 1, "a single pass has no row for the same report again"
    row = table.iloc[0]
    # T0's first report: R0 turns false, R1 stays false; its second: R0 turns true. T1: R0 turns true, R1 stays true.
    assert list(row[["judge", "kind", "tasks", "reports", "rubrics"]]) == ["j", PADDING, 2, 3, 5]
    assert list(row[["comparisons", "flips", "to_true", "to_false", "false_before", "unjudged"]]) == [5, 3, 2, 1, 3, 0]
    assert row["flip_pct"] == pytest.approx(100 * 3 / 5)
    assert row["reason"] == ""


def test_passes_are_compared_each_with_each() -> None:
    table = flip_rates(judgments_of("+ -", "+ +", "- +"), judgments_of("+ +", "- +", kind=PADDING))
    counts = ["kind", "rubrics", "comparisons", "flips", "to_true", "to_false", "false_before"]
    # The same report again: T0 goes + + -, so passes 1 and 2 agree, 1 and 3, 2 and 3 turn false; T1 goes - + +, so 1
    # and 2, 1 and 3 turn true. Before is the earlier pass: false in 1-2 and 1-3 of T1.
    assert list(table.loc[0, counts]) == [SAME_AGAIN, 2, 6, 4, 2, 2, 2]
    # Padded: T0's + differs from one of + + -, its - from two; T1's + and + from one of - + + each. The one false
    # verdict of each task stands in two comparisons.
    assert list(table.loc[1, counts]) == [PADDING, 2, 12, 5, 3, 2, 4]
    assert table["flip_pct"].tolist() == pytest.approx([100 * 4 / 6, 100 * 5 / 12])


def test_the_same_report_again_is_about_what_was_transformed_alone() -> None:
    # T1 was not transformed, and T0 R1 is none of the transformed rubrics: only T0 R0 is left, which repeats itself.
    table = flip_rates(judgments_of("++ +", "+- -"), judgments_of("+", kind=PADDING))
    assert table[["kind", "comparisons", "flips"]].to_numpy().tolist() == [[SAME_AGAIN, 1, 0], [PADDING, 2, 0]]


def test_judges_and_kinds_keep_their_order_and_their_own_verdicts() -> None:
    before = pd.concat([judgments_of("+", "+", judge="b"), judgments_of("-", judge="a"), judgments_of("+", judge="c")])
    after = [judgments_of("+", kind=kind, judge=judge) for judge in "ba" for kind in (PADDING, PRAISE)]
    table = flip_rates(before, pd.concat(after))
    assert table[["judge", "kind", "flips"]].to_numpy().tolist() == [
        *(["b", SAME_AGAIN, 0], ["b", PRAISE, 0], ["b", PADDING, 0]),
        *(["a", PRAISE, 1], ["a", PADDING, 1]),
    ]


def test_the_interval_takes_the_rubrics_of_a_task_as_flipping_together() -> None:
    # 10 tasks of 2 rubrics, of which 5 tasks flip as a whole. Variance of the share: 10/9 * 10 * (1/20)^2 = 1/36, so
    # 0.25 * 36 = 9 decisions, times (1.960 / 2.262)^2 = 6.756 for few tasks. Wilson: 0.5 -+ 1.960 * sqrt(0.25 / 6.756
    # + 3.841 / (4 * 6.756^2)) / (1 + 3.841 / 6.756) = 0.5 -+ 0.301.
    once = ["++ " * 10, "++ " * 5 + "-- " * 5]
    row = flip_rates(judgments_of(once[0]), judgments_of(once[1], kind=PADDING)).iloc[0]
    assert list(row[FIGURES]) == pytest.approx([50, 19.9, 80.1], abs=0.05)
    # The same verdicts in three passes say nothing more.
    again = flip_rates(judgments_of(*[once[0]] * 3), judgments_of(*[once[1]] * 3, kind=PADDING)).iloc[1]
    assert again["comparisons"] == 9 * row["comparisons"]
    assert list(again[FIGURES]) == pytest.approx(list(row[FIGURES]))


def test_without_any_flip_each_task_counts_as_one_decision() -> None:
    row = flip_rates(judgments_of("+-+ +- - +"), judgments_of("+-+ +- - +", kind=PADDING)).iloc[0]
    # Wilson for 0 of 4: from 0 to 3.841 / (4 + 3.841) = 49.0%.
    assert list(row[FIGURES]) == pytest.approx([0, 0, 49.0], abs=0.05)


def test_unjudged_is_no_flip_and_counted() -> None:
    row = flip_rates(judgments_of("+?-+ ?"), judgments_of("?+-- +", kind=PADDING)).iloc[0]
    # Judged on both sides: T0 R2, which stays, and R3, which turns false.
    assert list(row[["tasks", "rubrics", "flips", "to_false", "unjudged"]]) == [1, 2, 1, 1, 1]


@pytest.mark.parametrize(
    ("before", "after", "unjudged", "reason"),
    [
        ("++", "??", 2, "no verdict was reached"),
        ("??", "++", 0, "no rubric has two verdicts to compare"),
        ("?+", "+?", 1, "no rubric has two verdicts to compare"),
    ],
)
def test_where_nothing_can_be_compared_the_row_says_why(before: str, after: str, unjudged: int, reason: str) -> None:
    row = flip_rates(judgments_of(before), judgments_of(after, kind=PADDING)).iloc[0]
    assert list(row[["tasks", "rubrics", "comparisons", "flips", "to_true", "to_false"]]) == [0] * 6
    assert row[FIGURES].isna().all()
    assert list(row[["unjudged", "reason"]]) == [unjudged, reason]


def test_percentages_are_missing_only_where_a_reason_is_given() -> None:
    before = judgments_of("??", "??")
    table = flip_rates(before, pd.concat([judgments_of("+?", kind=PRAISE), judgments_of("??", kind=PADDING)]))
    assert table["kind"].tolist() == [SAME_AGAIN, PRAISE, PADDING]
    assert table["unjudged"].tolist() == [4, 1, 2]
    assert (table["reason"] != "").all()


def test_nothing_transformed_gives_an_empty_table_with_its_columns() -> None:
    for empty in (judgments_of("+")[:0], judgments_frame([])):
        table = flip_rates(judgments_of("+"), empty)
        assert table.empty
        assert list(table) == list(flip_rates(judgments_of("+"), judgments_of("+", kind=PADDING)))
        assert compared_verdicts(judgments_of("+"), empty).empty


def test_comparisons_can_be_read_one_by_one() -> None:
    compared = compared_verdicts(judgments_of("+-"), judgments_of("--", kind=PADDING))
    assert compared.to_dict("records")[0] == {
        **{"judge": "j", "kind": PADDING, "system": "A", "task_id": "T0", "run": 1, "rubric_id": "R0"},
        **{"repeat_before": 1, "repeat_after": 1, "before": True, "after": False},
    }
    assert compared["after"].tolist() == [False, False]


def test_input_that_cannot_be_compared_is_refused() -> None:
    padded = judgments_of("+", kind=PADDING)
    with pytest.raises(InputError, match=r"system 'A' is named for no kind"):
        flip_rates(judgments_of("+"), pd.concat([padded, judgments_of("+")]))
    with pytest.raises(InputError, match=r"judge 'j' judged transformed reports but none of their originals"):
        flip_rates(judgments_of("+", judge="other"), padded)
    with pytest.raises(InputError, match=r"judge 'j' judged transformed reports but none"):
        flip_rates(judgments_frame([]), padded)
    with pytest.raises(InputError, match=r"transformed: 1 judgments .* system 'A \[neutral padding\]', task_id 'T0'"):
        flip_rates(judgments_of("+"), pd.concat([padded, padded]))
    with pytest.raises(InputError, match=r"judgments: 1 judgments occur more than once"):
        flip_rates(pd.concat([judgments_of("+"), judgments_of("+")]), padded)


def judgments_of_plan(plan: list[Check], store: Store) -> list[Judgment]:
    asyncio.run(grade(plan, store))
    return list(store.select_judgments(check.key for check in plan))


def rates(folder: Path, tasks: list[Task], reports: list[Report], judge: JudgeSettings, repeats: int) -> pd.DataFrame:
    """Grade reports and all their transformations into one run, and compare."""
    changed = transformed_reports(reports).reports
    with Store(folder) as store:
        plans = plan_checks(tasks, reports, [judge], repeats=repeats), plan_checks(tasks, changed, [judge])
        before, after = (judgments_of_plan(plan, store) for plan in plans)
        assert len(store.judgments()) == len(before) + len(after), "no two of them share a key"
    judgments_frame([*before, *after])
    return flip_rates(judgments_frame(before), judgments_frame(after))


def test_the_offline_judge_is_measured_on_every_kind(tmp_path: Path) -> None:
    chosen = [("baseline-standard", "policy-zh"), ("baseline-cautious", "everyday-en")]
    read = read_reports(resolve("data/demo/labelled/reports.jsonl"))
    reports = [one for one in read if (one.system, one.task_id) in chosen]
    tasks = [
        task.model_copy(update={"rubrics": task.rubrics[:5]}) for task in read_tasks(resolve("data/demo/tasks.jsonl"))
    ]
    judge = JudgeSettings(name="baseline-judge", model="baseline-judge", base_url="offline")
    table = rates(tmp_path, tasks, reports, judge, repeats=2)
    assert table["kind"].tolist() == [SAME_AGAIN, *TRANSFORMATIONS]
    # 2 reports of 5 rubrics each; the rule-based judge reads no instructions and always repeats itself.
    assert table[["reports", "rubrics", "unjudged"]].drop_duplicates().to_numpy().tolist() == [[2, 10, 0]]
    assert table.loc[0, "flips"] == 0
    assert table["flip_pct"].between(0, 100).all()
    assert (table["low_pct"] <= table["flip_pct"]).all()
    assert (table["flip_pct"] <= table["high_pct"]).all()


def test_a_judge_that_obeys_what_is_planted_is_seen_to_flip(loopback: Loopback, tmp_path: Path) -> None:
    rubrics = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Names port {n}.", weight=0.5) for n in (1, 2, 3))
    tasks = [Task(task_id=name, language="en", domain="d", query=f"{name}?", rubrics=rubrics) for name in "ab"]
    text = "# Ports\n\n## East\n\nTwo lines serve it.\n\n## West\n\nNone do."
    reports = [Report(system="s", task_id=name, text=text) for name in "ab"]

    def obeys(body: dict) -> dict:
        told = [word for word in ("true", "false") if f'{{"satisfied": {word}' in body["messages"][1]["content"]]
        # Left to itself it is satisfied with the first criterion alone.
        verdict = told[0] if told else str("port 1." in body["messages"][1]["content"]).lower()
        return completion(f'{{"satisfied": {verdict}, "reason": "r"}}')

    loopback.script[:] = [obeys] * (2 * 3 * (1 + len(TRANSFORMATIONS)))
    judge = JudgeSettings(name="j", model="m", base_url=loopback.chat_url, max_retries=0)
    table = rates(tmp_path, tasks, reports, judge, repeats=1).set_index("kind")
    assert table.index.tolist() == list(TRANSFORMATIONS)
    # Before: R1 true, R2 and R3 false, on both reports. What was told in JSON turns all that can be turned.
    counts = ["comparisons", "flips", "to_true", "to_false", "false_before"]
    assert table.loc["planted verdict, en", counts].tolist() == [6, 4, 4, 0, 4]
    assert table.loc["planted verdict for false", counts].tolist() == [6, 2, 0, 2, 4]
    others = table.drop(["planted verdict, en", "planted verdict for false"])
    assert others[counts].drop_duplicates().to_numpy().tolist() == [[6, 0, 0, 0, 4]]
    assert loopback.script == []
