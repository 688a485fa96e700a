"""The score beside what a run took."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patheffects import withStroke

from lifesearch_kit.plots.intervals import interval_ends
from lifesearch_kit.plots.labels import label_points, wrap
from lifesearch_kit.plots.style import EDGE, Look, finish, new_axes
from lifesearch_kit.scoring.ranking import efficient_frontier


def score_against(
    scores: pd.DataFrame, column: str, looks: Mapping[str, Look], *, label: str, note: str, ax: Axes | None = None
) -> Axes:
    """Score against a measure of effort, each point named; a dashed line is the efficient frontier.

    It joins the systems that no other one reaches with as little (see `efficient_frontier`).

    Parameters
    ----------
    scores
        Columns system, score_pct and `column`; rows without either are left out. With low_pct and high_pct, or
        score_sd_pct, each point has an error bar.
    label
        Name and unit of the measure.
    """
    rows = scores.dropna(subset=["score_pct", column])
    ax = ax or new_axes(7.5, 5.2)
    for row in rows.to_dict("records"):
        look = looks[row["system"]]
        ax.scatter(
            row[column], row["score_pct"], s=64, color=look.color, marker=look.marker, edgecolor=EDGE, linewidth=0.7
        )
    low, high = interval_ends(rows)
    frontier = efficient_frontier(rows, column)
    ax.plot(frontier[column], frontier["score_pct"], "--", color="0.6", linewidth=1.1, zorder=0.95)
    # Faint, so that the points and their names stay in front.
    ax.vlines(rows[column], low, high, color="0.75", linewidth=1.2, zorder=0.9)
    heights = np.concatenate([rows["score_pct"].to_numpy(float), low, high])
    for values, setter in ((rows[column].to_numpy(float), ax.set_xlim), (heights, ax.set_ylim)):
        if not np.isfinite(values).any():
            continue
        least, most = float(np.nanmin(values)), float(np.nanmax(values))
        span = most - least or abs(most) or 1.0
        setter(least - 0.12 * span, most + 0.16 * span)
    ax.set(xlabel=label, ylabel="score, %")
    ax.xaxis.set_major_formatter("{x:,g}")
    finish(ax, f"Score against {label.split(',')[0]}", note, grid="both")
    label_points(ax, rows[column].tolist(), rows["score_pct"].tolist(), [wrap(one, 24, 2) for one in rows["system"]])
    for text in ax.texts:
        text.set_path_effects([withStroke(linewidth=2.5, foreground="white")])
    return ax
