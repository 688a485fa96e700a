"""Seconds of judgments whose prompt was read anew, and of those that the server had kept."""

from __future__ import annotations

import random
from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.frames import judgments_frame
from lifesearch_kit.judge.timing import seconds_by_cache
from lifesearch_kit.records import Judgment


def frame(*rows: tuple[str, float | None, int | None, int | None]) -> pd.DataFrame:
    """Judgments with judge, seconds, input_tokens and cached_tokens."""
    return judgments_frame(
        Judgment(
            system="A", task_id="T", rubric_id=f"R{number}", judge=judge, satisfied=True, seconds=seconds,
            input_tokens=given, cached_tokens=cached,
        )
        for number, (judge, seconds, given, cached) in enumerate(rows)
    )  # fmt: skip


def test_medians_by_hand() -> None:
    table = seconds_by_cache(
        frame(
            # Anew: 9 and 11 seconds with 0 and 499 of 1,000. From the cache: 1, 2 and 6 with 500, 900 and 960 of 1,000.
            *(("a", 9.0, 1000, 0), ("a", 1.0, 1000, 500), ("a", 11.0, 1000, 499), ("a", 2.0, 1000, 900)),
            ("a", 6.0, 1000, 960),
            # Without a reply, and without counts: left out.
            *(("a", None, None, None), ("a", 99.0, 1000, None), ("a", 99.0, None, 0)),
        )
    )
    assert table is not None
    assert table.to_dict("records") == [
        {
            "judge": "a",
            "read_anew": 2,
            "seconds_read_anew": 10.0,
            "from_cache": 3,
            "seconds_from_cache": 2.0,
            "input_tokens": 1000.0,
            "cached_tokens": 900.0,
        }
    ]


def test_judges_apart_and_a_median_of_nothing_is_missing() -> None:
    table = seconds_by_cache(frame(("b", 4.0, 100, 0), ("offline", 0.1, 100, None), ("a", 1.0, 100, 90)))
    assert table is not None
    assert table["judge"].tolist() == ["b", "a"]
    assert table["read_anew"].tolist() == [1, 0]
    assert table["seconds_from_cache"].tolist() == [pytest.approx(float("nan"), nan_ok=True), 1.0]
    assert table["seconds_read_anew"].isna().tolist() == [False, True]


@pytest.mark.parametrize("cached", [None, 0])
def test_without_anything_from_a_cache_there_is_no_table(cached: int | None) -> None:
    assert seconds_by_cache(frame(("a", 1.0, 100, cached), ("a", None, None, None))) is None
    assert seconds_by_cache(frame()) is None


ROWS = st.tuples(
    st.sampled_from("ab"), st.none() | st.integers(0, 90).map(float), st.none() | st.just(100), st.integers(0, 100)
)


@given(st.lists(ROWS, max_size=12), st.randoms(use_true_random=False))
def test_every_judgment_that_tells_all_three_counts_once_in_whatever_order(rows: list, chance: random.Random) -> None:
    table = seconds_by_cache(frame(*rows))
    known = [row for row in rows if None not in row]
    if not any(cached for *_, cached in known):
        assert table is None
        return
    assert table is not None
    counts = {row.judge: row.read_anew + row.from_cache for row in table.itertuples()}
    assert counts == Counter(judge for judge, *_ in known)
    turned = seconds_by_cache(frame(*chance.sample(rows, len(rows))))
    assert turned is not None
    pd.testing.assert_frame_equal(
        table.sort_values("judge", ignore_index=True), turned.sort_values("judge", ignore_index=True)
    )
