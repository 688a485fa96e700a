"""How runs ended, which requirements fail, and how."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from lifesearch_kit.plots.heat import heat
from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, finish, new_axes

_STATUS_COLORS = {
    "answered": "#0173b2",
    "truncated": "#56b4e9",
    "step_limit": "#ece133",
    "token_limit": "#de8f05",
    "time_limit": "#ca9161",
    "cost_limit": "#029e73",
    "asked_back": "#d55e00",
    "refused": "#cc78bc",
    "empty": "#949494",
}
_MODE_LOOKS = {
    "premature_clarification": ("#d55e00", "o"),
    "no_report": ("#6b6b6b", "s"),
    "temporal_scope": ("#0173b2", "D"),
    "missing_details": ("#029e73", "^"),
    "unmet_requirement": ("#a3569e", "v"),
}
_BADGE = {"boxstyle": "square,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.85}
_ROOM_INSIDE = 40  # percent: a shorter bar has its words beside it


def report_statuses(counts: pd.DataFrame, *, note: str, ax: Axes | None = None) -> Axes:
    """How each system's runs ended.

    Parameters
    ----------
    counts
        Columns system, status and reports (how many).
    """
    table = counts.pivot(index="system", columns="status", values="reports").fillna(0)
    ax = ax or new_axes(8, 1.6 + 0.36 * len(table))
    start = np.zeros(len(table))
    for status in [one for one in _STATUS_COLORS if one in table]:
        bars = ax.barh(
            np.arange(len(table)),
            table[status],
            left=start,
            height=0.7,
            color=_STATUS_COLORS[status],
            edgecolor=EDGE,
            linewidth=0.5,
            label=status.replace("_", " "),
        )
        numbers = [f"{value:.0f}" if value else "" for value in table[status]]
        ax.bar_label(bars, labels=numbers, label_type="center", fontsize=8.5, bbox=_BADGE)
        start += table[status].to_numpy()
    ax.set_yticks(np.arange(len(table)), labels=[wrap(one, 26, 2) for one in table.index])
    ax.set_ylim(len(table) - 0.5, -0.5)
    ax.set_xlabel("reports")
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax, "How the runs ended", note)


def failure_costs(rates: pd.DataFrame, systems: Sequence[str], *, note: str, ax: Axes | None = None) -> Axes:
    """What each failure mode costs each system, and how many reports show it.

    Parameters
    ----------
    rates
        As `failures.modes.failure_rates` gives them by system.
    systems
        Rows from the top down.
    """
    modes = list(dict.fromkeys(rates["mode"]))
    shown = [one for one in systems if one in set(rates["system"])]
    keyed = rates.set_index(["system", "mode"])
    lost = keyed["weight_lost_pct"].unstack().reindex(index=shown, columns=modes)
    counts = keyed["reports_affected"].astype(str) + " of " + keyed["reports"].astype(str)
    texts = [[f"{lost.loc[one, mode]:.1f}\n{counts[one, mode]}" for mode in modes] for one in shown]
    ax = heat(
        lost,
        np.array(texts),
        rows=[wrap(one, 26, 2) for one in shown],
        columns=[wrap(one.replace("_", " "), 16, 3) for one in modes],
        unit="points of score lost",
        size=(3.2 + 1.5 * len(modes), 1.9 + 0.52 * len(shown)),
        ax=ax,
        low=0,
    )
    return finish(ax, "What failures cost", note, grid=None)


def failure_shares(rates: pd.DataFrame, systems: Sequence[str], *, note: str, ax: Axes | None = None) -> Axes:
    """How often each system's reports show each failure mode, with intervals.

    Parameters
    ----------
    rates
        As `failures.modes.failure_rates` gives them by system.
    systems
        Rows from the top down.
    """
    shown = [one for one in systems if one in set(rates["system"])]
    ax = ax or new_axes(8.5, 1.9 + 0.62 * len(shown))
    modes = [one for one in _MODE_LOOKS if one in set(rates["mode"])]
    shifts = np.linspace(-0.3, 0.3, len(modes)) if len(modes) > 1 else [0.0]
    for mode, shift in zip(modes, shifts, strict=True):
        rows = rates[rates["mode"] == mode].set_index("system").reindex(shown)
        middle = rows["rate_pct"].to_numpy(float)
        ends = np.vstack([middle - rows["low_pct"], rows["high_pct"] - middle])
        color, marker = _MODE_LOOKS[mode]
        ax.errorbar(
            middle,
            np.arange(len(shown)) + shift,
            xerr=ends,
            fmt=marker,
            color=color,
            markersize=6,
            elinewidth=1.2,
            capsize=2,
            label=mode.replace("_", " "),
        )
    ax.set_yticks(np.arange(len(shown)), labels=[wrap(one, 26, 2) for one in shown])
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set(xlabel="reports that show the mode, %", xlim=(-2, 102))
    for place in range(1, len(shown)):
        ax.axhline(place - 0.5, color="#d0d0d0", linewidth=0.6)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax, "How often reports fail, and how", note)


def most_missed(missed: pd.DataFrame, *, note: str, rows: int = 12, ax: Axes | None = None) -> Axes:
    """The rubrics that fewest reports pass.

    Parameters
    ----------
    missed
        Columns task_id, rubric_id, criterion, pass_pct, judged (decisions behind it) and weight; the worst first.
        Rubrics that every report passes are left out.
    rows
        How many are drawn at most.
    """
    shown = missed[missed["pass_pct"] < 100].head(rows)
    ax = ax or new_axes(9.5, 1.5 + 0.62 * len(shown))
    places = np.arange(len(shown))
    ax.barh(places, 100 - shown["pass_pct"], color="#d55e00", edgecolor=EDGE, linewidth=0.5, height=0.62)
    for place, row in zip(places, shown.to_dict("records"), strict=True):
        failed = 100 - row["pass_pct"]
        ax.annotate(
            f"{failed:.0f}% of {row['judged']:.0f}; weight {row['weight']:g}",
            (failed, place),
            xytext=(-5, 0) if failed > _ROOM_INSIDE else (5, 0),
            textcoords="offset points",
            ha="right" if failed > _ROOM_INSIDE else "left",
            va="center",
            fontsize=8.5,
            color="white",
            bbox={"boxstyle": "square,pad=0.15", "facecolor": "#7a3500", "edgecolor": "none"},
        )
    labels = shown["task_id"] + " " + shown["rubric_id"] + ": " + shown["criterion"]
    ax.set_yticks(places, labels=[wrap(one, 62, 2) for one in labels], fontsize=8.5)
    ax.set_ylim(len(shown) - 0.5, -0.5)
    ax.set(xlabel="reports that fail the requirement, %", xlim=(0, 100))
    return finish(ax, "Requirements that fail most often", note)
