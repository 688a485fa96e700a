"""What is in a benchmark."""

from __future__ import annotations

from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, finish

_ATTRIBUTES = ("priority", "necessity", "type", "dimension")
_COLORS = {"domain": "#0173b2", "language": "#de8f05", "attribute": "#029e73", "rubrics": "#949494"}


def describe_dataset(tasks: pd.DataFrame, rubrics: pd.DataFrame) -> pd.DataFrame:
    """Count a benchmark.

    Parameters
    ----------
    tasks
        Columns domain, language, rubrics (count).
    rubrics
        Columns priority, necessity, type, dimension.

    Returns
    -------
    DataFrame
        The shape of a results folder's dataset.csv: group, name, value, unit. Attribute shares are percent of all
        rubrics, a group each; ``rubrics_in_task`` counts the tasks that have so many rubrics.
    """
    rows: list[tuple[str, str, float, str]] = []
    for group in ("domain", "language"):
        rows += [(group, str(name), count, "tasks") for name, count in tasks[group].value_counts().items()]
    for group in _ATTRIBUTES:
        shares = rubrics[group].value_counts(normalize=True) * 100
        rows += [(group, str(name), share, "percent of rubrics") for name, share in shares.items()]
    per_task = tasks["rubrics"]
    rows += [
        ("rubrics_per_task", name, float(value), "rubrics")
        for name, value in {
            "mean": per_task.mean(),
            "median": per_task.median(),
            "min": per_task.min(),
            "max": per_task.max(),
        }.items()
    ]
    rows += [("rubrics_in_task", str(size), n, "tasks") for size, n in per_task.value_counts().sort_index().items()]
    rows += [("total", "tasks", len(tasks), "tasks"), ("total", "rubrics", len(rubrics), "rubrics")]
    return pd.DataFrame(rows, columns=["group", "name", "value", "unit"])


def dataset_overview(dataset: pd.DataFrame) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Domains, languages, attribute shares and rubrics per task (figure 3 of the paper).

    Parameters
    ----------
    dataset
        As `describe_dataset` gives it, or a results folder's dataset.csv.

    Returns
    -------
    ndarray of Axes
        Shape (2, 2).
    """
    groups = {str(name): rows.set_index("name")["value"] for name, rows in dataset.groupby("group", sort=False)}
    total = groups["total"]
    upper = max(3.6, 1.2 + 0.24 * len(groups["domain"]))
    size, ratios = (10.5, upper + 2.6), (upper - 0.4, 2.2)
    _, axes = plt.subplots(2, 2, figsize=size, layout="constrained", height_ratios=ratios)
    tasks, rubrics = f"n = {total['tasks']:,.0f} tasks", f"n = {total['rubrics']:,.0f} rubrics"
    _bars(axes[0, 0], groups["domain"], _COLORS["domain"], "tasks")
    finish(axes[0, 0], "Domains", tasks)
    telling = [name for name in _ATTRIBUTES if len(groups.get(name, ())) > 1]
    shares = pd.concat([groups[name] for name in telling[:3] or _ATTRIBUTES[:3] if name in groups])
    _bars(axes[0, 1], shares, _COLORS["attribute"], "% of rubrics")
    finish(axes[0, 1], "Attributes of rubrics", rubrics)
    words = {"zh": "Chinese", "en": "English"}
    _bars(axes[1, 0], groups["language"].rename(index=words), _COLORS["language"], "tasks")
    finish(axes[1, 0], "Languages", tasks)
    _sizes(axes[1, 1], groups)
    return cast("np.ndarray[Any, np.dtype[np.object_]]", axes)


def _bars(ax: Axes, values: pd.Series[float], color: str, label: str) -> None:
    places = np.arange(len(values))
    bars = ax.barh(places, values, color=color, edgecolor=EDGE, linewidth=0.5, height=0.7 if len(values) > 3 else 0.45)
    ax.bar_label(bars, fmt="{:,.1f}" if label.startswith("%") else "{:,.0f}", padding=3, fontsize=9)
    ax.set_yticks(places, labels=[wrap(str(name), 24, 2) for name in values.index])
    ax.invert_yaxis()
    ax.set(xlabel=label, xlim=(0, float(values.max()) * 1.14))
    ax.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True))


def _sizes(ax: Axes, groups: dict[str, pd.Series[float]]) -> None:
    summary = groups["rubrics_per_task"]
    note = f"mean {summary['mean']:.2f}, median {summary['median']:g}, from {summary['min']:g} to {summary['max']:g}"
    ax.set_xlabel("rubrics in a task")
    if "rubrics_in_task" in groups:
        sizes = groups["rubrics_in_task"]
        ax.bar(sizes.index.astype(int), sizes, color=_COLORS["rubrics"], edgecolor=EDGE, linewidth=0.5)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylabel("tasks")
        finish(ax, "Rubrics per task", note, grid="y")
        return
    ax.plot([summary["min"], summary["max"]], [0, 0], color="0.4", lw=3, marker="|", ms=16, mew=3)
    ax.plot(summary["median"], 0, "D", color="#de8f05", markeredgecolor=EDGE, markersize=10)
    for name in ("min", "median", "max"):
        ax.annotate(
            f"{name} {summary[name]:g}", (summary[name], 0), xytext=(0, 14), textcoords="offset points", ha="center"
        )
    ax.set(xlim=(0, float(summary["max"]) * 1.12), ylim=(-1, 1))
    ax.yaxis.set_visible(False)
    ax.spines["left"].set_visible(False)
    finish(ax, "Rubrics per task", note)
