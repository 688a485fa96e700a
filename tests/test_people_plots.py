"""Figures of rankings and rubrics: names that do not overlap, every system visible, nothing undefined drawn."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.text import Annotation

from lifesearch_kit import plots
from lifesearch_kit.statistics.rubric_items import rubric_items
from lifesearch_kit.statistics.task_screening import screen_tasks

mpl.use("agg")
SYSTEMS = [
    *("深度检索−甲", "System B", "很长很长的系统名称（二〇二六年七月内部评测版本）第三号", "D $5", "E", "乙"),
    *("a fairly long system name with many words in it, v2", "h"),
]
RANKS = pd.DataFrame(
    {
        "system": SYSTEMS,
        "human_rank": [1, 2.5, 2.5, 5, 5, 5, 7, 8],
        "score_rank": [2, 2, 2, 5, 4, np.nan, 6.5, 6.5],
    }
)


@pytest.fixture(autouse=True)
def fresh_matplotlib() -> Iterator[None]:
    with mpl.rc_context():
        plots.style()
        yield
    plt.close("all")


def names(ax: Axes) -> list[Annotation]:
    return [one for one in ax.texts if isinstance(one, Annotation) and one.xycoords == "data"]


def assert_apart(ax: Axes) -> None:
    figure = plots.figure_of(ax)
    figure.draw_without_rendering()
    boxes = [(one.get_text(), mpl.text.Text.get_window_extent(one)) for one in names(ax)]
    for (first, a), (second, b) in combinations(boxes, 2):
        assert not a.overlaps(b), f"{first!r} overlaps {second!r}"


@pytest.mark.parametrize("rows", [range(8), range(1), range(4, 8), [0, 2, 1]])
def test_names_of_tied_and_long_named_systems_do_not_overlap(rows) -> None:
    ranks = RANKS.iloc[list(rows)].reset_index(drop=True)
    ax = plots.rank_slopes(ranks, plots.system_looks(SYSTEMS), note="名次")
    assert len(names(ax)) == ranks["human_rank"].notna().sum() + ranks["score_rank"].notna().sum()
    assert_apart(ax)


def test_all_systems_tied_stand_under_each_other() -> None:
    ax = plots.rank_slopes(RANKS.assign(human_rank=4.5, score_rank=4.5), plots.system_looks(SYSTEMS), note="")
    assert_apart(ax)
    marks = [tuple(line.get_ydata()) for line in ax.lines]
    assert len(set(marks)) == len(SYSTEMS), "no system's line hides another's"


def test_changes_of_place_stand_behind_the_names_on_the_right() -> None:
    ax = plots.rank_slopes(RANKS, plots.system_looks(SYSTEMS), note="")
    right = {one.get_text() for one in names(ax) if one.xy[0] == 1}
    # Without 乙, which has no score: people's places 1, 2.5, 2.5, 4.5, 4.5, 6, 7; the score's 2, 2, 2, 5, 4, 6.5, 6.5.
    assert {"2  深度检索−甲 (−1)", "2  System B (+0.5)", "4  E (+0.5)", "6.5  h (+0.5)"} <= right
    colors = {line.get_color() for line in ax.lines}
    assert colors == {plots.system_looks(SYSTEMS)[one].color for one in SYSTEMS}


def judged(passes: dict[str, list[str]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    rubrics = pd.DataFrame(
        [(task, f"R{at}", "c", 0.5) for task, reports in passes.items() for at in range(len(reports[0]))],
        columns=["task_id", "rubric_id", "criterion", "weight"],
    )
    rows = [
        (f"S{number}", task, 1, f"R{at}", "j", 1, sign == "+")
        for task, reports in passes.items()
        for number, signs in enumerate(reports)
        for at, sign in enumerate(signs)
    ]
    columns = ["system", "task_id", "run", "rubric_id", "judge", "repeat", "satisfied"]
    return rubrics, pd.DataFrame(rows, columns=columns)


def test_the_map_numbers_what_goes_against_and_counts_what_is_not_drawn() -> None:
    rubrics, judgments = judged({"政策-zh": ["++++---+", "++++---+", "----++-+", "----++-+"]})
    items = rubric_items(rubrics, judgments)
    ax = plots.rubric_map(items, note="n = 4")
    # R4 and R5 go against R0 to R3 and lie on one point; R6 is never passed, R7 always.
    assert [one.get_text() for one in names(ax)] == ["1, 2"]
    assert any(one.get_text() == "1 政策-zh R4\n2 政策-zh R5" for one in ax.texts)
    assert ax.get_xlabel().endswith("without a discrimination: 1 never passed, 1 always passed")
    drawn = sum(len(points.get_offsets()) for points in ax.collections)
    assert drawn == 6


def test_a_map_without_any_discrimination_is_empty_but_counts() -> None:
    items = rubric_items(*judged({"t": ["+-", "+-"]}))
    ax = plots.rubric_map(items, note="")
    assert sum(len(points.get_offsets()) for points in ax.collections) == 0
    assert "1 never passed, 1 always passed" in ax.get_xlabel()


def test_tasks_are_drawn_from_worst_to_best_and_the_rest_is_counted() -> None:
    screening = pd.DataFrame(
        {
            "task_id": ["h", "e", "p"],
            "finding": ["suspiciously hard", "too easy", ""],
            "mean_pct": [10.0, 95.0, 50.0],
            "worst_pct": [0.0, 92.0, 20.0],
            "best_pct": [30.0, 99.0, 70.0],
        }
    )
    ax = plots.task_ranges(screening, note="n = 3", rows=2)
    assert [one.get_text() for one in ax.get_yticklabels()] == ["h", "e"]
    assert any("1 more tasks are not drawn" in one.get_text() for one in ax.texts)
    assert [one.get_text() for one in ax.get_legend().get_texts()] == ["suspiciously hard", "too easy"]


def test_screened_tasks_can_be_drawn_and_saved(tmp_path) -> None:
    from lifesearch_kit.scoring.report_scores import report_scores

    rubrics, judgments = judged({"a": ["+-", "--"], "b": ["++", "++"]})
    screening = screen_tasks(report_scores(rubrics, judgments), rubric_items(rubrics, judgments))
    ax = plots.task_ranges(screening, note="n = 2")
    picture = plots.save_figure(plots.figure_of(ax), screening, profile="p", slug="s", caption="c", figures=tmp_path)
    assert picture.stat().st_size > 5_000
