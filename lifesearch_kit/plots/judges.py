"""Which judge agrees with the reference labels."""

from __future__ import annotations

from typing import Any, cast

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from lifesearch_kit.plots.intervals import language_rows
from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, finish, new_axes


def judge_comparison(judges: pd.DataFrame, *, note: str) -> np.ndarray[Any, np.dtype[np.object_]]:
    """Accuracy of each judge configuration with its interval, and beside it its self-consistency.

    Parameters
    ----------
    judges
        Columns judge, accuracy_pct, low_pct, high_pct, self_consistency_pct; from the top down in this order. A
        missing self-consistency (one pass only) leaves its place empty.

    Returns
    -------
    ndarray of Axes
        Shape (2,), or (1,) where no judge has a self-consistency.
    """
    panels = 2 if judges["self_consistency_pct"].notna().any() else 1
    _, axes = plt.subplots(
        1,
        panels,
        figsize=(9.5 if panels == 2 else 7, 2.0 + 0.36 * len(judges)),
        layout="constrained",
        sharey=True,
        squeeze=False,
        width_ratios=(1.6, 1) if panels == 2 else (1,),
    )
    places = np.arange(len(judges))
    middle, low, high = (judges[name].to_numpy(float) for name in ("accuracy_pct", "low_pct", "high_pct"))
    left = axes[0, 0]
    left.errorbar(
        middle,
        places,
        xerr=np.vstack([middle - low, high - middle]),
        fmt="o",
        color="#0173b2",
        markersize=7,
        markeredgecolor=EDGE,
        elinewidth=1.5,
        capsize=3,
    )
    for place, value, end in zip(places, middle, high, strict=True):
        left.annotate(f"{value:.2f}", (end, place), xytext=(5, 0), textcoords="offset points", va="center", fontsize=9)
    left.set_yticks(places, labels=[wrap(one, 34, 2) for one in judges["judge"]])
    left.set_ylim(len(judges) - 0.5, -0.5)
    left.set(xlabel="decisions that equal the reference label, %")
    left.margins(x=0.12)
    if panels == 2:
        right = axes[0, 1]
        right.plot(judges["self_consistency_pct"], places, "D", color="#de8f05", markeredgecolor=EDGE, markersize=7)
        beside = {"xytext": (7, 0), "textcoords": "offset points", "va": "center", "fontsize": 9}
        for place, value in zip(places, judges["self_consistency_pct"], strict=True):
            right.annotate(f"{value:.1f}", (value, place), **beside)
        right.set(xlabel="rubrics with one decision in all passes, %")
        right.margins(x=0.2)
        right.set_xticks([tick for tick in right.get_xticks() if tick <= 100])
        finish(right, "Self-consistency")
    finish(left, "Agreement with the reference labels", note)
    return cast("np.ndarray[Any, np.dtype[np.object_]]", axes[0])


def judge_by_language(groups: pd.DataFrame, *, note: str, ax: Axes | None = None) -> Axes:
    """Accuracy of each judge on Chinese and on English tasks.

    Parameters
    ----------
    groups
        Columns judge, language (zh, en), accuracy_pct, low_pct, high_pct.
    """
    judges = list(dict.fromkeys(groups["judge"]))
    ax = ax or new_axes(7.5, 1.8 + 0.5 * len(judges))
    language_rows(ax, groups.set_index("judge"), judges, "accuracy_pct", label_width=34)
    ax.set_xlabel("decisions that equal the reference label, %")
    return finish(ax, "Agreement by language", note)
