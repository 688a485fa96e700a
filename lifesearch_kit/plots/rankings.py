"""How people rank the systems and how the score does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from scipy import optimize

from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, Look, finish, new_axes

_PLACE_HEIGHT = 0.45  # inches from a rank to the next
_LINE_HEIGHT = 0.17  # inches of a label's line
_TIED_APART = 0.16  # of a place
_SIDES = (("human_rank", 0, -1, "right"), ("score_rank", 1, 1, "left"))


def rank_slopes(rankings: pd.DataFrame, looks: Mapping[str, Look], *, note: str, ax: Axes | None = None) -> Axes:
    """How people rank the systems and how the score ranks them, joined by a line a system; rank 1 is on top.

    On the right each name is followed by the places by which the score has it higher (+) or lower (−) than people,
    where it does; the lines of those that keep their place are thin. Tied systems' names stand under each other, with a
    line to their mark.

    Parameters
    ----------
    rankings
        Columns system, human_rank and score_rank; a system without a score_rank stands on the left alone.
    """
    ax = ax or new_axes(7.5, 1.6 + _PLACE_HEIGHT * len(rankings))
    both = rankings.dropna(subset=["human_rank", "score_rank"])
    change = (both["human_rank"].rank() - both["score_rank"].rank()).reindex(rankings.index)
    marks = rankings[["human_rank", "score_rank"]].apply(_apart)
    for index, system in rankings["system"].items():
        look, moved = looks[system], bool(change.fillna(0)[index])
        ax.plot(
            [0, 1],
            marks.loc[index],
            color=look.color,
            marker=look.marker,
            markersize=9,
            linewidth=3 if moved else 1.2,
            markeredgecolor=EDGE,
        )
    tops = []
    for column, x, direction, ha in _SIDES:
        named = rankings.dropna(subset=column).sort_values(column, kind="stable")
        texts = [
            _label(system, f"{rank:g}", change[index] if x else 0.0, x)
            for index, system, rank in zip(named.index, named["system"], named[column], strict=True)
        ]
        ends = marks.loc[named.index, column].to_numpy(float)
        places = _spread(named[column].to_numpy(float), texts)
        tops += [*places, *ends]
        leader = {"arrowstyle": "-", "color": "0.6", "linewidth": 0.6, "shrinkB": 6, "relpos": (1 - x, 0.5)}
        for text, end, place in zip(texts, ends, places, strict=True):
            ax.annotate(
                text,
                (x, end),
                xytext=(x + 0.12 * direction, place),
                ha=ha,
                va="center",
                arrowprops=leader if abs(place - end) > 0.05 else None,
            )
    ax.set(xlim=(-1.1, 2.2), ylim=(max(tops, default=1) + 0.6, min(tops, default=1) - 0.6))
    ax.set_xticks([0, 1], labels=["rank by people", "rank by score"])
    ax.yaxis.set_visible(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    return finish(ax, "Do people rank the reports as the score does?", note, grid=None)


def _apart(ranks: pd.Series) -> pd.Series:
    """Ranks with tied ones a little apart, so that no system's line hides another's."""
    tied = ranks.groupby(ranks)
    return ranks + _TIED_APART * (tied.cumcount() - (tied.transform("size") - 1) / 2)


def _label(system: str, rank: str, change: float, right: int) -> str:
    moved = f" ({change:+g})".replace("-", "−") if np.isfinite(change) and change else ""
    name = wrap(system, 30, 2)
    return f"{rank}  {name}{moved}" if right else f"{name}  {rank}"


def _spread(ranks: np.ndarray, labels: Sequence[str]) -> np.ndarray:
    """Heights of labels, in places: as near to their ranks as labels of so many lines can stand."""
    if len(ranks) == 0:
        return ranks
    half = np.array([_LINE_HEIGHT * (label.count("\n") + 1) / 2 / _PLACE_HEIGHT for label in labels])
    offsets = np.append(0, np.cumsum(half[:-1] + half[1:]))
    return np.asarray(optimize.isotonic_regression(ranks - offsets).x + offsets)
