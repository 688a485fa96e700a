"""What is sure: differences between systems, ranks, where the spread comes from, what more tasks or runs would buy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, Look, finish, new_axes

# Orange below, blue above, both light enough for black text.
_AHEAD, _BEHIND = "#7db8e8", "#f2a65a"
_COMPONENT_LOOKS = {"tasks": ("#0173b2", ""), "runs": ("#de8f05", "///"), "repeats": ("#cc78bc", "...")}
_TOGETHER = ("0.75", "xx")
_LINES = ("-", "--", ":", "-.")


def difference_matrix(
    pairs: pd.DataFrame, systems: Sequence[str], *, note: str, alpha: float = 0.05, ax: Axes | None = None
) -> Axes:
    """Difference of each pair of systems, row minus column, in percentage points.

    Coloured cells with an asterisk are those whose Holm-adjusted p-value is at most `alpha`: blue where the row is
    ahead, orange where the column is. White ones could be chance. A pair that shares fewer tasks than the others says
    how many; one that cannot be compared has a dash.

    Parameters
    ----------
    pairs
        What `pairwise_differences` gave, of one judge: system_a, system_b, tasks, difference_pct, low_pct, high_pct,
        holm_p_value. Where a difference is missing (open rubrics), its interval's ends stand in the cell.
    systems
        Order of rows and columns, the best first.
    note
        Says n, the test and the correction.
    """
    shown = [one for one in systems if one in {*pairs["system_a"], *pairs["system_b"]}]
    rows, columns = shown[:-1], shown[1:]
    found = {(row["system_a"], row["system_b"]): row for row in pairs.to_dict("records")}
    most = pairs["tasks"].max()
    ax = ax or new_axes(3.2 + 0.82 * len(columns), 2.2 + 0.46 * len(rows))
    for y, first in enumerate(rows):
        for x, second in enumerate(columns):
            if x < y:
                continue
            row, sign = (found[first, second], 1) if (first, second) in found else (found[second, first], -1)
            color, text, sure = _cell(row, sign, alpha, most)
            ax.add_patch(_square(x, y, color))
            ax.text(x, y, text, ha="center", va="center", fontsize=8.5, weight="bold" if sure else "normal")
    ax.set_xticks(range(len(columns)), labels=[wrap(one, 11, 3) for one in columns], fontsize=8.5)
    ax.set_yticks(range(len(rows)), labels=[wrap(one, 26, 2) for one in rows])
    ax.set(xlim=(-0.5, len(columns) - 0.5), ylim=(len(rows) - 0.5, -0.5))
    ax.tick_params(length=0)
    ax.spines[["left", "bottom"]].set_visible(False)
    return finish(ax, "Differences between systems, row minus column, points of score", note, grid=None)


def _cell(row: Mapping[str, float], sign: int, alpha: float, most: int) -> tuple[str, str, bool]:
    """Colour and text of a cell, and whether its difference is more than chance."""
    if not np.isfinite(row["holm_p_value"]):
        return "white", "–", False
    difference, ends = sign * row["difference_pct"], sorted([sign * row["low_pct"], sign * row["high_pct"]])
    sure = row["holm_p_value"] <= alpha
    ahead = (difference if np.isfinite(difference) else sum(ends)) > 0
    value = f"{difference:+.1f}" if np.isfinite(difference) else f"{ends[0]:+.1f} to\n{ends[1]:+.1f}"
    text = value.replace("-", "−") + ("*" if sure else "")
    text += f"\nn = {row['tasks']:.0f}" if row["tasks"] < most else ""
    return ((_AHEAD if ahead else _BEHIND) if sure else "white"), text, sure


def _square(x: int, y: int, color: str) -> Rectangle:
    return Rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=color, edgecolor="0.85", linewidth=0.8)


def rank_ranges(ranks: pd.DataFrame, looks: Mapping[str, Look], *, note: str, ax: Axes | None = None) -> Axes:
    """Between which ranks each system lies; rank 1 is on the left, the best system on top.

    Parameters
    ----------
    ranks
        What `rank_intervals` gave, of one judge: system, rank, best_rank and worst_rank (thin line with caps), rank_low
        and rank_high (thick line), first_pct (written on the right).
    looks
        As `system_looks` gives them.
    note
        Says n and what both lines are.
    """
    places = np.arange(len(ranks))
    ax = ax or new_axes(8, 1.9 + 0.36 * len(ranks))
    middle = (ranks["best_rank"] + ranks["worst_rank"]) / 2
    half = (ranks["worst_rank"] - ranks["best_rank"]) / 2
    ax.errorbar(middle, places, xerr=half, fmt="none", ecolor="0.35", elinewidth=1.1, capsize=4)
    for place, row in zip(places, ranks.to_dict("records"), strict=True):
        look = looks[row["system"]]
        ax.hlines(place, row["rank_low"], row["rank_high"], color=look.color, linewidth=6, alpha=0.75)
        ax.scatter(row["rank"], place, s=58, color=look.color, marker=look.marker, edgecolor=EDGE, zorder=3)
        share = "<1%" if 0 < row["first_pct"] < 0.5 else f"{row['first_pct']:.0f}%"
        ax.annotate(
            share.replace("nan%", "–"), (1.02, place), xycoords=("axes fraction", "data"), va="center", fontsize=9
        )
    ax.annotate("leads in", (1.02, -0.6), xycoords=("axes fraction", "data"), ha="left", va="bottom", fontsize=8.5)
    handles = [
        Line2D([], [], color="0.35", linewidth=1.1, marker="|", label="all ranks at once, by tests of all pairs"),
        Line2D([], [], color="0.55", linewidth=6, label="each rank alone, in resamples"),
    ]
    ax.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, -0.75 / (0.5 + 0.36 * len(ranks))), ncols=2)
    ax.set_yticks(places, labels=[wrap(one, 26, 2) for one in ranks["system"]])
    ax.set(ylim=(len(ranks) - 0.4, -0.6), xlim=(0.5, len(ranks) + 0.5), xlabel="rank (1 is the best)")
    ax.xaxis.set_major_locator(MaxNLocator(15, integer=True))
    return finish(ax, "Which ranks are sure", note)


def variance_shares(
    components: pd.DataFrame, systems: Sequence[str], *, note: str, column: str = "share_pct", ax: Axes | None = None
) -> Axes:
    """Where the spread of each system's scores comes from, a stacked bar a system.

    Parameters
    ----------
    components
        What `variance_components` gave, of one judge: system, component, share_pct, error_share_pct, sd_pct. The
        standard deviation of a component stands in its part, where there is room.
    systems
        In their order, the first on top; those without a row are left out.
    note
        Says n, and what cannot be told apart.
    column
        ``share_pct`` (of the variance of a single score) or ``error_share_pct`` (of the squared standard error).
    """
    shown = [one for one in systems if one in set(components["system"])]
    ax = ax or new_axes(8.5, 1.7 + 0.36 * len(shown))
    left = np.zeros(len(shown))
    for component in sorted(components["component"].unique(), key=lambda one: (_place(one), one)):
        own = components[components["component"] == component].set_index("system").reindex(shown)
        width = own[column].fillna(0).to_numpy(float)
        color, hatch = _COMPONENT_LOOKS.get(component, _TOGETHER)
        ax.barh(
            range(len(shown)),
            width,
            0.72,
            left,
            color=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0,
            label=component,
        )
        for place in np.flatnonzero(width > 9):
            ax.text(
                float(left[place] + width[place] / 2),
                float(place),
                f"{own['sd_pct'].iloc[place]:.1f}",
                ha="center",
                va="center",
                fontsize=8.5,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9},
            )
        left += width
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.set_yticks(range(len(shown)), labels=[wrap(one, 26, 2) for one in shown])
    ax.set(ylim=(len(shown) - 0.4, -0.6), xlim=(0, 100))
    of = {"share_pct": "variance of a single score", "error_share_pct": "squared standard error of the system's score"}
    ax.set_xlabel(f"% of the {of[column]}; numbers are standard deviations in points")
    return finish(ax, "Where the spread of scores comes from", note)


def _place(component: str) -> int:
    return list(_COMPONENT_LOOKS).index(component.split(" and ")[0])


def precision_curves(
    precision: pd.DataFrame, *, note: str, column: str = "smallest_difference_pct", ax: Axes | None = None
) -> Axes:
    """What more tasks, runs or repeats would buy: a line for each number of runs and repeats.

    Parameters
    ----------
    precision
        What `benchmark_precision` gave, of one judge: tasks, runs, repeats and `column`; missing values draw nothing.
    note
        Says from how many systems and tasks the variances come, and power and level.
    column
        ``smallest_difference_pct``, ``standard_error_pct`` or ``difference_error_pct``.
    """
    words = {
        "smallest_difference_pct": "smallest difference that is found, points",
        "standard_error_pct": "standard error of a score, points",
        "difference_error_pct": "standard error of a paired difference, points",
    }
    ax = ax or new_axes(7.5, 4.6)
    drawn = precision.dropna(subset=[column])
    colors = sns.color_palette("colorblind").as_hex()
    for at, (runs, by_runs) in enumerate(drawn.groupby("runs")):
        for style, (repeats, rows) in enumerate(by_runs.groupby("repeats")):
            ordered = rows.sort_values("tasks")
            ax.plot(
                ordered["tasks"],
                ordered[column],
                color=colors[at % len(colors)],
                marker="osD^vPX*<>"[at % 10],
                markeredgecolor=EDGE,
                linestyle=_LINES[style % len(_LINES)],
                label=f"{_counted(runs, 'run')}, {_counted(repeats, 'repeat')}",
            )
    if not drawn.empty:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    ax.set(xlabel="tasks", ylabel=words[column], ylim=(0, None))
    return finish(ax, "What more tasks or runs would buy", note, grid="both")


def _counted(number: int, word: str) -> str:
    return f"{number:.0f} {word}{'s' if number != 1 else ''}"
