"""Rubrics as items: which are passed how often, and which go against their task; tasks from the worst to the best."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from lifesearch_kit.plots.labels import label_points, wrap
from lifesearch_kit.plots.style import EDGE, finish, new_axes

_FINDING_COLORS = {"suspiciously hard": "#d55e00", "too easy": "#029e73", "": "#949494"}


def rubric_map(items: pd.DataFrame, *, note: str, named: int = 8, ax: Axes | None = None) -> Axes:
    """Discrimination of each rubric against its pass rate, those below zero in another colour and the lowest named.

    Parameters
    ----------
    items
        As `rubric_items.rubric_items` gives them: task_id, rubric_id, weight (the size of a point), pass_pct and
        discrimination. Rubrics without a discrimination are left out and counted under the axis.
    named
        How many of those below zero are named at most.
    """
    shown = items.dropna(subset="discrimination")
    against = shown["discrimination"] < 0
    ax = ax or new_axes(8, 5.2)
    for rows, color, marker, label in (
        (shown[~against], "#0173b2", "o", "goes with the rest of its task"),
        (shown[against], "#d55e00", "D", "goes against it"),
    ):
        ax.scatter(
            rows["pass_pct"],
            rows["discrimination"],
            s=14 + 50 * rows["weight"].to_numpy(float),
            color=color,
            marker=marker,
            alpha=0.6,
            edgecolor=EDGE,
            linewidth=0.4,
            label=f"{label} ({len(rows)})",
        )
    ax.axhline(0, color="0.3", linewidth=0.9, zorder=0.9)
    least = min(float(shown["discrimination"].min()) if len(shown) else 0.0, 0.0)
    ax.set(xlim=(-3, 103), ylim=(least - 0.22, 1.08), ylabel="discrimination (correlation with the rest of the task)")
    undefined = items[items["discrimination"].isna()]
    none, every = (int(undefined[name].sum()) for name in ("never_passed", "always_passed"))
    other = len(undefined) - none - every
    counts = f"{none} never passed, {every} always passed" + (f", {other} others" if other else "")
    ax.set_xlabel(f"reports that pass the rubric, %\nnot drawn, without a discrimination: {counts}")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.4)
    finish(ax, "Rubrics: how often passed, and do they tell reports apart?", note, grid="both")
    _number_lowest(ax, shown[against].round({"discrimination": 9}).nsmallest(named, "discrimination"))
    return ax


def _number_lowest(ax: Axes, lowest: pd.DataFrame) -> None:
    """Numbers beside points, those of one place together, and what they stand for in the margin."""
    if lowest.empty:
        return
    lowest = lowest.assign(number=[str(number) for number in range(1, len(lowest) + 1)])
    places = lowest.groupby(["discrimination", "pass_pct"], sort=False)["number"].agg(", ".join).reset_index()
    label_points(ax, places["pass_pct"].tolist(), places["discrimination"].tolist(), places["number"].tolist())
    named = [f"{row['number']}  {row['task_id']} {row['rubric_id']}" for row in lowest.to_dict("records")]
    ax.annotate(
        "\n".join(wrap(one, 32, 2) for one in named),
        (1.0, 0.82),
        xytext=(10, 0),
        xycoords="axes fraction",
        textcoords="offset points",
        va="top",
        fontsize=8.5,
        annotation_clip=False,
    )


def task_ranges(screening: pd.DataFrame, *, note: str, rows: int = 30, ax: Axes | None = None) -> Axes:
    """Score of each task from its worst to its best system, with the mean of all; those to look at again in colour.

    Parameters
    ----------
    screening
        As `task_screening.screen_tasks` gives it; its first rows are drawn, the lowest mean on top.
    rows
        How many are drawn at most.
    """
    shown = screening.head(rows).sort_values("mean_pct", kind="stable")
    ax = ax or new_axes(8, 1.7 + 0.3 * len(shown))
    places = np.arange(len(shown))
    for finding, color in _FINDING_COLORS.items():
        own = (shown["finding"] == finding).to_numpy()
        if not own.any():
            continue
        part = shown[own]
        ax.hlines(places[own], part["worst_pct"], part["best_pct"], color=color, linewidth=3, alpha=0.55)
        ax.scatter(
            part["mean_pct"],
            places[own],
            s=52,
            color=color,
            edgecolor=EDGE,
            linewidth=0.6,
            zorder=3,
            label=finding or "nothing to note",
        )
    ax.set_yticks(places, labels=[wrap(str(one), 30, 1) for one in shown["task_id"]])
    ax.set(xlim=(-2, 102), xlabel="score, % of rubric weight passed: worst system, mean of systems, best system")
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.4)
    left = f"; {len(screening) - len(shown)} more tasks are not drawn" if len(screening) > len(shown) else ""
    return finish(ax, "Tasks that are hard for all, or easy for all", note + left)
