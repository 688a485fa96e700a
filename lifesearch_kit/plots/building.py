"""Raw queries on their way to tasks: known answers against decisions, and the balance of a selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, finish

_LABEL_WIDTH = 14
_COLORS = sns.light_palette("#56b4e9", as_cmap=True)  # black text is readable on all of it
AxesArray = np.ndarray[Any, np.dtype[np.object_]]


def confusion_panels(
    counts: pd.DataFrame,
    judgments: Sequence[str],
    choices: Mapping[str, Sequence[str]],
    known: Mapping[str, Sequence[str]],
) -> AxesArray:
    """One confusion matrix a judgment (columns of panels) and part (rows of panels).

    Parameters
    ----------
    counts
        Columns part, judgment, known, decided, queries; absent pairs are 0.
    judgments
        Which judgments, from left to right.
    choices, known
        By judgment, what may be decided and what may be known, in the order of columns and rows; what no query is known
        to be has no row.

    Returns
    -------
    ndarray of Axes
        Shape (parts, judgments).
    """
    parts = list(dict.fromkeys(counts["part"]))
    there = {name: set(counts.loc[counts["judgment"] == name, "known"]) for name in judgments}
    known = {name: [one for one in known[name] if one in there[name]] for name in judgments}
    sizes = [(len(choices[name]), len(known[name])) for name in judgments]
    _, axes = plt.subplots(
        len(parts),
        len(judgments),
        figsize=(
            1.6 + sum(0.95 + 0.82 * columns for columns, _ in sizes),
            len(parts) * (1.5 + 0.5 * max(rows for _, rows in sizes)),
        ),
        layout="constrained",
        squeeze=False,
        width_ratios=[1.2 + columns for columns, _ in sizes],
    )
    for part, row in zip(parts, axes, strict=True):
        for name, ax in zip(judgments, row, strict=True):
            cells = counts[(counts["part"] == part) & (counts["judgment"] == name)]
            table = cells.pivot(index="known", columns="decided", values="queries").reindex(known[name], axis=0)
            table = table.reindex(choices[name], axis=1).fillna(0).astype(int)
            _counts(ax, table)
            ax.set_xlabel("decided", fontsize=8.5)
            ax.set_ylabel("known", fontsize=8.5)
            finish(ax, name, f"{part}, n = {table.to_numpy().sum()} queries", grid=None)
    return cast(AxesArray, axes)


def _counts(ax: Axes, table: pd.DataFrame) -> None:
    """Cells with their counts, the right ones outlined; seaborn would lay the whole figure out anew for each panel."""
    counts = table.to_numpy()
    ax.pcolormesh(counts, cmap=_COLORS, vmin=0, edgecolors="white", linewidth=0.8)
    for (row, column), count in np.ndenumerate(counts):
        ax.text(column + 0.5, row + 0.5, str(count), ha="center", va="center", fontsize=8.5)
        # Where what is decided has names of its own, the first column is the right one.
        right = table.index[row] if table.index[row] in table.columns else table.columns[0]
        if table.columns[column] == right:
            ax.add_patch(Rectangle((column, row), 1, 1, fill=False, edgecolor=EDGE, linewidth=1.6))
    ax.set_xticks(np.arange(table.shape[1]) + 0.5, labels=[wrap(one, _LABEL_WIDTH - 2) for one in table.columns])
    ax.set_yticks(np.arange(table.shape[0]) + 0.5, labels=[wrap(one, _LABEL_WIDTH) for one in table.index])
    ax.set_ylim(table.shape[0], 0)
    ax.tick_params(length=0, labelsize=8.5)
    ax.spines[["left", "bottom"]].set_visible(False)


def selection_balance(balance: pd.DataFrame, *, note: str) -> AxesArray:
    """How many queries each domain, language and level of difficulty has: candidates, and kept by hand.

    Parameters
    ----------
    balance
        Columns by, group, candidates, kept.

    Returns
    -------
    ndarray of Axes
        One a value of `by`.
    """
    panels = list(dict.fromkeys(balance["by"]))
    groups = [balance[balance["by"] == by] for by in panels]
    _, axes = plt.subplots(
        1,
        len(panels),
        figsize=(10.5, 3.6),
        layout="constrained",
        squeeze=False,
        width_ratios=(1.7, *[1] * (len(panels) - 1)),
    )
    for by, rows, ax in zip(panels, groups, axes[0], strict=True):
        places = np.arange(len(rows))
        ax.barh(places, rows["candidates"], color="#d9d9d9", edgecolor=EDGE, linewidth=0.6, label="candidates")
        ax.barh(places, rows["kept"], height=0.45, color="#0173b2", edgecolor=EDGE, linewidth=0.6, label="kept by hand")
        for place, row in zip(places, rows.itertuples(), strict=True):
            told = f"{row.kept} of {row.candidates}"
            ax.annotate(
                told, (row.candidates, place), xytext=(4, 0), textcoords="offset points", va="center", fontsize=8.5
            )
        ax.set_yticks(places, labels=[wrap(one, 24, 2) for one in rows["group"]])
        ax.set_ylim(len(rows) - 0.5, -0.5)
        ax.set_xlabel("queries")
        ax.margins(x=0.22)
        finish(ax, by, note if ax is axes[0, 0] else "")
    axes[0, -1].legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), fontsize=8.5)
    return cast(AxesArray, axes[0])
