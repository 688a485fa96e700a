"""Intervals: where they end, and a value with its interval for each language, a row a system or judge."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import LANGUAGE_LOOKS


def interval_ends(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Ends of each row's error bar: low_pct and high_pct, else one score_sd_pct to either side, else nothing."""
    if {"low_pct", "high_pct"} <= set(rows.columns):
        return rows["low_pct"].to_numpy(float), rows["high_pct"].to_numpy(float)
    if "score_sd_pct" in rows:
        sd = rows["score_sd_pct"].to_numpy(float)
        return rows["score_pct"].to_numpy(float) - sd, rows["score_pct"].to_numpy(float) + sd
    nothing = np.full(len(rows), np.nan)
    return nothing, nothing


def language_rows(ax: Axes, groups: pd.DataFrame, names: Sequence[str], value: str, *, label_width: int) -> None:
    """Draw a marker with its interval for each language that occurs, the names from the top down.

    Parameters
    ----------
    groups
        Indexed by name; columns language (zh, en), `value`, and what `interval_ends` reads.
    label_width
        Characters a line of a name.
    """
    looks = {one: look for one, look in LANGUAGE_LOOKS.items() if one in set(groups["language"])}
    for shift, (language, (word, color, marker)) in zip((-0.13, 0.13), looks.items(), strict=False):
        rows = groups[groups["language"] == language].reindex(names)
        middle = rows[value].to_numpy(float)
        low, high = interval_ends(rows)
        ax.errorbar(
            middle,
            np.arange(len(names)) + shift,
            xerr=np.vstack([middle - low, high - middle]),
            fmt=marker,
            color=color,
            markersize=7,
            elinewidth=1.4,
            capsize=2.5,
            label=f"{word} tasks",
        )
    ax.set_yticks(np.arange(len(names)), labels=[wrap(one, label_width, 2) for one in names])
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
