"""A table as coloured cells that each hold their number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lifesearch_kit.plots.style import new_axes

_COLORS = sns.light_palette("#56b4e9", as_cmap=True)  # black text is readable on all of it


def heat(
    table: pd.DataFrame,
    texts: np.ndarray[Any, np.dtype[np.str_]],
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    unit: str,
    size: tuple[float, float],
    ax: Axes | None,
    low: float | None = None,
) -> Axes:
    """Draw a table: colour by number, `texts` in the cells, labels of rows and columns; missing cells stay empty.

    `size` is the figure's in inches where `ax` is None; `low` is the number of the lightest colour.
    """
    ax = ax or new_axes(*size)
    # Without labels of its own: seaborn would draw them at once, before they have fonts for every character.
    sns.heatmap(
        table,
        ax=ax,
        annot=texts,
        fmt="",
        vmin=low,
        cmap=_COLORS,
        xticklabels=False,
        yticklabels=False,
        linewidths=0.8,
        linecolor="white",
        annot_kws={"fontsize": 8.5, "color": "black"},
        cbar_kws={"label": unit, "shrink": 0.8},
    )
    ax.set_xticks(np.arange(len(columns)) + 0.5, labels=columns, rotation=0, fontsize=8.5)
    ax.set_yticks(np.arange(len(rows)) + 0.5, labels=rows, rotation=0)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0)
    return ax
