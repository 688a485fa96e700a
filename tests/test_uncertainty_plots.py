"""Figures of differences, ranks and variances: what stands in them, every character drawn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from made_scores import scores_of, task_scores
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lifesearch_kit import plots
from lifesearch_kit.plots import fonts
from lifesearch_kit.statistics.precision import benchmark_precision
from lifesearch_kit.statistics.rank_intervals import rank_intervals
from lifesearch_kit.statistics.system_differences import pairwise_differences
from lifesearch_kit.statistics.variance import variance_components

mpl.use("agg")
NAMES = ["深度检索−甲", "D $5 and $6", "很长很长的系统名称（二〇二六年七月内部评测版本）第三号"]
LOOKS = plots.system_looks(NAMES)
STEADY = np.linspace(0.3, 0.6, 12)
# The first is 30 points ahead on every task; the other two differ by chance alone.
VALUES = np.stack([STEADY + 0.3, STEADY, STEADY + np.tile([0.02, -0.03], 6)])[:, :, None, None]


def named(scores: pd.DataFrame) -> pd.DataFrame:
    return scores.assign(system=scores["system"].map(dict(zip(["S0", "S1", "S2"], NAMES, strict=True))))


SCORES = named(scores_of(np.concatenate([VALUES, VALUES + 0.02], axis=2)))
PAIRS = pairwise_differences(SCORES, np.random.default_rng(0), 500)
RANKS = rank_intervals(SCORES, np.random.default_rng(0), 500)
COMPONENTS = variance_components(SCORES)
PRECISION = benchmark_precision(SCORES, [12, 24], [1, 3], [1, 2])
DRAWINGS = {
    "pairs": lambda: plots.difference_matrix(PAIRS, NAMES, note="n = 12 道题"),
    "ranks": lambda: plots.rank_ranges(RANKS, LOOKS, note="n = 12 道题"),
    "components": lambda: plots.variance_shares(COMPONENTS, NAMES, note="n = 12 道题"),
    "precision": lambda: plots.precision_curves(PRECISION, note="n = 12 道题"),
}


@pytest.fixture(autouse=True)
def fresh_matplotlib() -> Iterator[None]:
    with mpl.rc_context():
        yield
    plt.close("all")


def words(ax: Axes) -> list[str]:
    return [text.get_text() for text in ax.texts]


@pytest.mark.skipif(fonts.chinese_font() is None, reason="no font with Chinese characters on this machine")
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_every_character_is_drawn(tmp_path: Path, drawing: str) -> None:
    plots.style()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        ax = DRAWINGS[drawing]()
        path = plots.save_figure(plots.figure_of(ax), PAIRS, profile="p", slug="s", caption="c", figures=tmp_path)
    assert path.stat().st_size > 5000
    assert "n = 12 道题" in words(ax)


def test_the_matrix_marks_what_is_more_than_chance() -> None:
    ax = plots.difference_matrix(PAIRS, NAMES, note="n")
    assert words(ax)[:3] == ["+30.0*", "+30.5*", "+0.5"]
    colors = [mpl.colors.to_hex(one.get_facecolor()) for one in ax.patches if isinstance(one, Rectangle)]
    assert colors[0] == colors[1] != colors[2] == "#ffffff"
    turned = plots.difference_matrix(PAIRS, NAMES[::-1], note="n")
    assert words(turned)[:3] == ["−0.5", "−30.5*", "−30.0*"]
    other = [mpl.colors.to_hex(one.get_facecolor()) for one in turned.patches if isinstance(one, Rectangle)]
    assert other[1] not in (colors[0], "#ffffff")


def test_the_matrix_tells_few_shared_tasks_pairs_without_any_and_open_ends() -> None:
    nan = float("nan")
    few = named(task_scores([*STEADY], [*STEADY[:10], nan, nan], [nan] * 11 + [0.5]))
    ax = plots.difference_matrix(pairwise_differences(few, np.random.default_rng(0), 500), NAMES, note="n")
    assert words(ax)[:3] == ["+0.0", "–", "–"]
    few = named(task_scores([*STEADY], [*STEADY[:10], nan, nan], [*STEADY]))
    ax = plots.difference_matrix(pairwise_differences(few, np.random.default_rng(0), 500), NAMES, note="n")
    assert words(ax)[:3] == ["+0.0\nn = 10", "+0.0", "+0.0\nn = 10"]
    open_ = PAIRS.assign(difference_pct=nan, low_pct=-4.0, high_pct=6.0)
    assert words(plots.difference_matrix(open_, NAMES[::-1], note="n"))[0] == "−6.0 to\n+4.0"


def test_ranks_are_drawn_where_they_are_and_unknown_ones_have_a_dash() -> None:
    ax = plots.rank_ranges(RANKS, LOOKS, note="n")
    assert words(ax)[0] == "100%"
    ends = sorted(tuple(segment[:, 0]) for segment in ax.collections[0].get_segments())
    assert ends == [(1, 1), (2, 3), (2, 3)]
    nothing = named(task_scores([0.1, np.nan], [np.nan, 0.2]))
    unknown = rank_intervals(nothing, np.random.default_rng(0), 100)
    assert words(plots.rank_ranges(unknown, LOOKS, note="n"))[:2] == ["–", "–"]


def test_components_fill_the_bar_and_names_what_is_together() -> None:
    ax = plots.variance_shares(COMPONENTS, NAMES, note="n")
    widths = np.array([one.get_width() for one in ax.patches]).reshape(2, 3)
    assert widths.sum(axis=0) == pytest.approx([100, 100, 100])
    assert [one.get_text() for one in ax.get_legend().get_texts()] == ["tasks", "runs and repeats"]


def test_precision_has_a_line_for_what_can_be_told() -> None:
    ax = plots.precision_curves(PRECISION, note="n")
    assert [one.get_text() for one in ax.get_legend().get_texts()] == ["1 run, 1 repeat", "3 runs, 1 repeat"]
    drawn = PRECISION.dropna(subset=["smallest_difference_pct"])
    assert [one.get_ydata()[0] for one in ax.lines] == pytest.approx(
        drawn.loc[drawn["tasks"] == 12, "smallest_difference_pct"].tolist()
    )
    nothing = plots.precision_curves(PRECISION.assign(smallest_difference_pct=np.nan), note="n")
    assert nothing.get_legend() is None
