"""What is labelled: even over systems, domains and languages, in the benchmark's mix of kinds, the same for a seed."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_studies import SYSTEMS, made_items, made_reports, made_tasks

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_reports, read_tasks
from lifesearch_kit.labeling.items import label_items, named_passages, personal_order
from lifesearch_kit.labeling.sampling import label_candidates, sample_balance, sample_rubrics
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Report

TASKS = made_tasks()
REPORTS = made_reports(TASKS, runs=2)
CANDIDATES = label_candidates(TASKS, REPORTS)


def drawn(n: int, seed: int = 1, rubrics_per_report: int = 2) -> pd.DataFrame:
    return sample_rubrics(CANDIDATES, n, np.random.default_rng(seed), rubrics_per_report)


def test_candidates_are_the_rubrics_of_reports_that_can_be_graded() -> None:
    # 4 systems x 4 tasks x 2 runs x 4 rubrics; the one that asks back has nothing to grade.
    assert len(CANDIDATES) == 128
    asking = Report(system="x", task_id="t0", text="Which year?", status="asked_back")
    assert len(label_candidates(TASKS, [*REPORTS, asking])) == 128


def test_systems_domains_languages_and_kinds_come_evenly() -> None:
    balance = sample_balance(drawn(16), CANDIDATES).set_index(["factor", "level"])
    # 16 over 4 systems, 2 domains, 2 languages; half of all rubrics are Implicit.
    assert list(balance.loc["system", "sampled"]) == [4, 4, 4, 4]
    assert list(balance.loc["domain", "sampled"]) == [8, 8]
    assert list(balance.loc["language", "sampled"]) == [8, 8]
    assert list(balance.loc["necessity", "sampled"]) == [8, 8]
    assert list(balance.loc["necessity", "target"]) == [8.0, 8.0]
    assert balance.loc[("type", "Objective"), "sampled"] == 16


def test_kinds_are_mixed_within_each_report() -> None:
    by_report = drawn(16).groupby(["system", "task_id", "run"])["necessity"].nunique()
    assert list(by_report) == [2] * 8


def test_a_seed_gives_one_sample_and_another_seed_another() -> None:
    assert drawn(16, seed=3).equals(drawn(16, seed=3))
    assert not drawn(16, seed=3).equals(drawn(16, seed=4))


@given(st.integers(1, 128), st.integers(0, 50), st.integers(1, 5))
def test_any_sample_has_its_size_and_nothing_twice(n: int, seed: int, rubrics_per_report: int) -> None:
    sample = drawn(n, seed, rubrics_per_report)
    key = ["system", "task_id", "run", "rubric_id"]
    assert len(sample) == n
    assert not sample.duplicated(key).any()
    assert len(sample.merge(CANDIDATES, on=list(CANDIDATES.columns))) == n
    # A report's rubrics stand together.
    reports = sample[["system", "task_id", "run"]].apply(tuple, axis=1)
    assert (reports != reports.shift()).sum() == reports.nunique()
    spread = sample["system"].value_counts().reindex(list(SYSTEMS), fill_value=0)
    if rubrics_per_report <= 4 and n <= 128 // 4:
        assert spread.max() - spread.min() <= rubrics_per_report


def test_the_demos_sample_is_even() -> None:
    tasks = read_tasks(ROOT / "data/demo/tasks.jsonl")
    reports = read_reports(ROOT / "data/demo/labelled/reports.jsonl")
    candidates = label_candidates(tasks, reports)
    balance = sample_balance(sample_rubrics(candidates, 70, np.random.default_rng(1)), candidates).set_index("factor")
    # 70 rubrics of 14 reports, 5 of each: 7 systems, of which one has a single report, 7 domains, 2 languages.
    systems = balance.loc["system"].set_index("level")["sampled"]
    assert systems["baseline-closed-book"] == 5
    assert sorted(systems)[1:] == [10, 10, 10, 10, 10, 15]
    assert (balance.loc["domain", "sampled"] - 10).abs().max() <= 5
    assert set(balance.loc["language", "sampled"]) == {35}
    kinds = balance.loc[["type", "necessity", "priority"]]
    assert (kinds["sampled"] - kinds["target"]).abs().max() <= 2


@pytest.mark.parametrize(("n", "said"), [(0, "n=0: ask for at least one"), (129, "n=129: there are 128 rubrics")])
def test_impossible_numbers_are_refused(n: int, said: str) -> None:
    with pytest.raises(InputError, match=said):
        drawn(n)


def test_items_of_a_sample_that_is_not_there_any_more_are_told() -> None:
    sample = drawn(4)
    items = label_items(sample, TASKS, REPORTS)
    assert [(one.report.system, one.rubric.rubric_id) for one in items] == list(
        zip(sample["system"], sample["rubric_id"], strict=True)
    )
    with pytest.raises(InputError, match="there is no report of"):
        label_items(sample, TASKS, [])


def test_everybody_has_an_order_of_their_own_and_keeps_it() -> None:
    items = made_items(TASKS, REPORTS)
    orders = {name: [one.key for one in personal_order(items, name, 1)] for name in ("ann", "bo")}
    assert orders["ann"] != orders["bo"]
    assert sorted(orders["ann"]) == sorted(orders["bo"]) == sorted(one.key for one in items)
    assert orders["ann"] == [one.key for one in personal_order(items[::-1], "ann", 1)]
    reports = [key[2] for key in orders["ann"]]
    assert sum(a != b for a, b in pairwise(reports)) == len(REPORTS) - 1


def test_passages_that_share_the_criterions_words_are_marked_closest_first() -> None:
    text = "# Ferry fares of Merrowick\n\nBuses run. The Merrowick ferry fare is 38.00. The ferry leaves at nine."
    found = named_passages(text, "The response should state that the Merrowick ferry fare is 38.00.")
    assert [text[one.start : one.end] for one in found] == ["The Merrowick ferry fare is 38.00."]
    assert found[0].number == 1
    both = named_passages("早班渡轮票价另计。渡轮票价为38元。", "回复应指出渡轮票价为38元。")
    assert [(one.start, one.number) for one in both] == [(9, 1), (0, 2)]
    assert named_passages(text, "Other words entirely.") == []
