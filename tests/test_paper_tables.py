"""The transcribed tables of the paper: whole, and giving the figures that the paper gives or implies."""

from __future__ import annotations

import numpy as np
import pytest

from lifesearch_kit.agreement.rank_measures import rank_agreement
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import DOMAINS
from lifesearch_kit.results import Results, load_results


@pytest.fixture(scope="module")
def paper() -> Results:
    return load_results(ROOT / "data" / "paper")


def test_tables_are_whole(paper: Results) -> None:
    sizes = {"systems": 12, "domains": 12 * 7, "judges": 11, "rankings": 7, "cases": 4, "dataset": 21}
    assert {name: len(paper.require(name)) for name in sizes} == sizes
    assert set(paper.require("domains")["domain"]) == set(DOMAINS)
    assert not paper.require("systems").isna().any(axis=None)
    names = set(paper.require("systems")["system"])
    assert names == set(paper.require("domains")["system"])
    assert names.issuperset(paper.require("rankings")["system"])
    assert names.issuperset(paper.require("cases")["system"])


def test_counts_of_the_benchmark_add_up(paper: Results) -> None:
    dataset = paper.require("dataset").set_index(["group", "name"])["value"]
    assert dataset["domain"].sum() == dataset["language"].sum() == dataset["total", "tasks"] == 203
    assert dataset["rubrics_per_task", "mean"] == pytest.approx(dataset["total", "rubrics"] / 203, abs=0.005)
    for group in ("priority", "necessity", "type"):
        assert dataset[group].sum() == pytest.approx(100.0)


def test_overall_scores_are_the_task_weighted_means_of_domains(paper: Results) -> None:
    domains = paper.require("domains")
    points = (domains["score_pct"] * domains["tasks"]).groupby(domains["system"]).sum()
    mean = points / domains.groupby("system")["tasks"].sum()
    overall = paper.require("systems").set_index("system")["score_pct"]
    assert (mean - overall).abs().max() < 0.03


@pytest.mark.parametrize(
    ("column", "spearman"), [("iterations", 0.762), ("report_characters", 0.601), ("output_tokens_k", 0.797)]
)
def test_effort_against_score(paper: Results, column: str, spearman: float) -> None:
    systems = paper.require("systems").set_index("system")
    agreement = rank_agreement(systems[column], systems["score_pct"])
    assert agreement.spearman.value == pytest.approx(spearman, abs=0.0005)
    assert agreement.spearman.n == 12


def test_people_and_scores_rank_alike(paper: Results) -> None:
    ranks = paper.require("rankings").set_index("system")
    agreement = rank_agreement(ranks["human_rank"], ranks["score_rank"], x_best="lowest", y_best="lowest")
    # Rank differences 2, 1 and 1: squares add up to 6, so 1 - 6*6/(7*48); 2 of 21 pairs turned.
    assert agreement.spearman.value == pytest.approx(1 - 36 / 336)
    assert agreement.kendall.value == pytest.approx(1 - 2 * 2 / 21)
    assert (round(1 - 36 / 336, 3), round(1 - 4 / 21, 3)) == (0.893, 0.810)


def test_judge_figures_are_counts_of_rubrics(paper: Results) -> None:
    judges = paper.require("judges")
    assert set(judges["rubrics"]) == {402}
    assert set(judges["repeats"]) == {3}
    for column, total, decimals in (
        ("mean_accuracy_pct", 1206, 2),
        ("self_consistency_pct", 402, 1),
        ("majority_vote_pct", 402, 2),
    ):
        counts = np.rint(judges[column] * total / 100)
        assert np.allclose(np.round(100 * counts / total, decimals), judges[column], atol=1e-9), column


def test_case_scores_follow_from_no_more_rubrics_than_there_are(paper: Results) -> None:
    cases = paper.require("cases")
    assert (cases["passed"] < cases["rubrics"]).all()
    assert cases["score_pct"].between(0, 100).all()
