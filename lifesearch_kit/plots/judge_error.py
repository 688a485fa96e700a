"""What a judge's errors do to scores, and what a score is on another judge's scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from lifesearch_kit.judge_error.corrected_scores import COMBINED, HELD, PREDICTION_POWERED, RAW, ROGAN_GLADEN
from lifesearch_kit.judge_error.linking import JudgeLink
from lifesearch_kit.judge_error.sums import ALL_SYSTEMS
from lifesearch_kit.plots.labels import label_points, wrap
from lifesearch_kit.plots.style import EDGE, Look, finish, new_axes
from lifesearch_kit.statistics.resampling import expanded_percentiles

# Colours that colour-blind readers can tell apart, and a marker each.
_METHODS = {
    RAW: ("as judged", "#56595c", "o", -0.24),
    PREDICTION_POWERED: ("corrected,\nprediction-powered", "#0173b2", "s", 0.0),
    ROGAN_GLADEN: ("corrected, sensitivity\nand specificity", "#d55e00", "D", 0.24),
}


def corrected_intervals(table: pd.DataFrame, systems: Sequence[str], *, note: str, ax: Axes | None = None) -> Axes:
    """Each system's score as judged and as corrected, each with its interval.

    The combined score is a tick on the prediction-powered interval, which is its own too. A hollow marker is a
    correction by the labels of all systems. Where there is no number, that is said in its place; and beside it where a
    number would leave 0 to 100 and is held to it.

    Parameters
    ----------
    table
        What `corrected_scores` gave.
    systems
        In their order from the top down; those without a row are left out. The mean over systems is the last row.
    note
        Says n and what the intervals are.
    """
    shown = [one for one in [*systems, ALL_SYSTEMS] if one in set(table["system"])]
    ax = ax or new_axes(8.5, 2.2 + 0.55 * len(shown))
    for method, (words, color, marker, shift) in _METHODS.items():
        rows = table[table["method"] == method].set_index("system").reindex(shown)
        middle, low, high = (rows[name].to_numpy(float) for name in ("score_pct", "low_pct", "high_pct"))
        places = np.arange(len(shown)) + shift
        has_ends = np.isfinite(low) & np.isfinite(high)
        centre, half = ((low + high) / 2)[has_ends], ((high - low) / 2)[has_ends]
        ax.errorbar(centre, places[has_ends], xerr=half, fmt="none", ecolor=color, elinewidth=1.5, capsize=2.5)
        borrowed = ((rows["labels_from"] == ALL_SYSTEMS) & (rows.index != ALL_SYSTEMS)).to_numpy(bool)
        for chosen, face in ((~borrowed, color), (borrowed, "white")):
            drawn = ax.scatter(middle[chosen], places[chosen], s=40, marker=marker, facecolor=face, edgecolor=color)
            drawn.set(zorder=3, clip_on=False, linewidth=1.4)
        ax.plot([], [], marker, color=color, label=words)
        if method == PREDICTION_POWERED:
            _ticks(ax, table[table["method"] == COMBINED].set_index("system")["score_pct"].reindex(shown))
        held = rows["note"].str.contains(HELD, regex=False, na=False).to_numpy(bool)
        for chosen, said, at in ((~np.isfinite(middle), "no number", np.zeros(len(shown))), (held, HELD, high)):
            for x, place in zip(np.nan_to_num(at[chosen]), places[chosen], strict=True):
                beside: dict[str, Any] = {
                    "xytext": (6, 0),
                    "textcoords": "offset points",
                    "va": "center",
                    "fontsize": 8,
                }
                ax.annotate(said, (x, place), color=color, **beside)
    if ALL_SYSTEMS in shown and len(shown) > 1:
        ax.axhline(len(shown) - 1.5, color="0.6", linewidth=0.8)
    ax.set_yticks(np.arange(len(shown)), labels=[wrap(one, 26, 2) for one in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    most = float(np.nanmax(table[["score_pct", "high_pct"]].to_numpy(float), initial=1.0))
    ax.set(xlabel="score, % of rubric weight passed (mean over tasks)", xlim=(0, min(most * 1.05, 100)))
    if (table["labels_from"] == ALL_SYSTEMS).any():
        ax.plot(
            [], [], "s", markerfacecolor="white", markeredgecolor=EDGE, label="hollow: by the labels\nof all systems"
        )
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax, "Scores as judged, and corrected for the judge's errors", note)


def _ticks(ax: Axes, combined: pd.Series) -> None:
    tick: dict[str, Any] = {"color": "black", "marker": "|", "markersize": 11, "markeredgewidth": 2.2}
    drawn = ax.plot(combined, range(len(combined)), linestyle="none", label="that, combined\nwith as judged", **tick)
    drawn[0].set(zorder=4, clip_on=False)


def judge_link(
    link: JudgeLink, shared: pd.DataFrame, looks: Mapping[str, Look], *, note: str, ax: Axes | None = None
) -> Axes:
    """Score by the new judge against score by the old one: reports, systems, and the line that links them.

    Parameters
    ----------
    link
        What `link_judges` gave; without a line, only the points are drawn.
    shared
        What `shared_scores` gave of the same judges. A faint dot a report, a named marker a system's mean.
    looks
        As `system_looks` gives them.
    note
        Says n and what the band is.
    """
    ax = ax or new_axes(7, 6)
    ax.plot([0, 100], [0, 100], color="0.6", linewidth=1, linestyle=(0, (4, 3)), label="the same by both")
    if link.slope is not None and link.intercept_pct is not None:
        grid = np.linspace(0, 100, 101)
        draws = grid * link.draws[:, :1] + 100 * link.draws[:, 1:]
        low, high = np.array([expanded_percentiles(one, 0.95, link.tasks) for one in draws.T]).T
        ax.fill_between(grid, low, high, color="#0173b2", alpha=0.18, linewidth=0, label="95% band of the line")
        line = link.intercept_pct + link.slope * grid
        ax.plot(grid, line, color="#0173b2", linewidth=1.8, label="mean and variance linking")
    ax.scatter(shared["old_pct"], shared["new_pct"], s=12, color="0.55", alpha=0.6, linewidth=0, label="one report")
    means = shared.groupby("system")[["old_pct", "new_pct"]].mean()
    for system, old, new in means.itertuples():
        look = looks[system]
        ax.scatter(old, new, s=70, color=look.color, marker=look.marker, edgecolor=EDGE, linewidth=0.8, zorder=3)
    ends = (-2, min(102.0, 1.1 * float(shared[["old_pct", "new_pct"]].to_numpy().max(initial=10.0)) + 2))
    ax.set(
        xlim=ends,
        ylim=ends,
        xlabel=f"score by {wrap(link.old, 50, 1)}, %",
        ylabel=f"score by {wrap(link.new, 50, 1)}, %",
    )
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    finish(ax, "One judge's scores on the other's scale", note, grid="both")
    label_points(
        ax, means["old_pct"].tolist(), means["new_pct"].tolist(), [wrap(str(one), 24, 2) for one in means.index]
    )
    return ax
