"""Printed scores of worked cases against weights in steps of 0.1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.worked_cases import check_cases, consistent_weights
from lifesearch_kit.paths import ROOT
from lifesearch_kit.results import load_results


def test_a_score_that_one_pair_of_sums_gives() -> None:
    # 14 of 18 and 60.38%: 32 / 53 = 0.60377; a total of 10.6 would need 4.2 on four failed rubrics, more than 4 x 1.0.
    ways = consistent_weights(14, 18, 60.38)
    assert ways[["earned", "total"]].to_numpy().tolist() == [[3.2, 5.3]]
    # 3.2 / 14 and 2.1 / 4
    assert ways.loc[0, "passed_mean"] == pytest.approx(3.2 / 14)
    assert ways.loc[0, "failed_mean"] == pytest.approx(0.525)


def test_a_score_that_no_weights_give_is_told() -> None:
    # One of two passed: the score lies between 0.1 / 1.1 = 9.09% and 1.0 / 1.1 = 90.91%.
    assert consistent_weights(1, 2, 95.0).empty
    assert not consistent_weights(1, 2, 90.91).empty
    assert consistent_weights(2, 2, 100.0)["failed_mean"].isna().all()
    assert consistent_weights(0, 2, 0.0)["passed_mean"].isna().all()


def test_the_papers_cases_agree_with_weights_in_tenths() -> None:
    table = check_cases(load_results(ROOT / "data" / "paper").require("cases")).set_index("case")
    # 32/53, 42/73, 59/142, and 18/29 with its doubles 36/58 and 54/87.
    assert table["ways"].tolist() == [1, 1, 1, 3]
    assert "3.2 of 5.3" in table["meaning"].iloc[0]
    assert "possible totals: 2.9, 5.8, 8.7" in table["meaning"].iloc[3]
    assert table["meaning"].str.contains("the failed rubrics weigh").all(), "each score lies below passed / rubrics"


def test_counts_that_cannot_be_are_refused() -> None:
    with pytest.raises(InputError, match="5 passed of 4"):
        consistent_weights(5, 4, 50.0)


@given(st.lists(st.tuples(st.integers(1, 10), st.booleans()), min_size=1, max_size=12))
def test_weights_that_were_used_are_always_among_the_ways(rubrics: list[tuple[int, bool]]) -> None:
    earned, total = sum(weight for weight, met in rubrics if met), sum(weight for weight, _ in rubrics)
    passed = sum(met for _, met in rubrics)
    ways = consistent_weights(passed, len(rubrics), round(100 * earned / total, 2))
    assert [earned / 10, total / 10] in ways[["earned", "total"]].round(6).to_numpy().tolist()
