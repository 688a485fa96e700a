"""Who leads: overall bars, domains, languages, score against effort, ranks by people and by score."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes

from lifesearch_kit.plots.labels import label_points, wrap
from lifesearch_kit.plots.style import EDGE, HEAT, LANGUAGE_LOOKS, Look, finish, new_axes

SCORE = "score, % of rubric weight passed (mean over tasks)"


def overall_bars(
    scores: pd.DataFrame,
    looks: Mapping[str, Look],
    *,
    note: str,
    runs: pd.DataFrame | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Overall score of each system, the best on top.

    Parameters
    ----------
    scores
        Columns system, score_pct, and either low_pct and high_pct (interval ends) or score_sd_pct (drawn as plus and
        minus one standard deviation); missing ends draw no interval.
    looks
        As `system_looks` gives them; its order is the order of the bars, systems without a row are left out.
    note
        Says n and what the error bars are.
    runs
        Columns system, run, score_pct: a dot a run.
    """
    rows = scores.set_index("system").reindex([system for system in looks if system in set(scores["system"])])
    ax = ax or new_axes(8, 1.5 + 0.38 * len(rows))
    low, high = _ends(rows)
    places = np.arange(len(rows))
    ax.barh(
        places, rows["score_pct"], height=0.72, color=[looks[one].color for one in rows.index], edgecolor=EDGE,
        linewidth=0.6, hatch=[looks[one].hatch for one in rows.index],
    )
    values = rows["score_pct"].to_numpy(float)
    _spans(ax, places, low, high)
    reach = np.fmax(values, high)
    if runs is not None:
        reach = np.fmax(reach, _run_dots(ax, runs, rows.index))
        ax.legend(loc="lower right", handletextpad=0.2)
    for place, value, end in zip(places, values, reach, strict=True):
        text = f"{value:.1f}" if np.isfinite(value) else f"{low[place]:.1f} to {high[place]:.1f}"
        ax.annotate(text, (end, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_yticks(places, labels=[wrap(one, 26, 2) for one in rows.index])
    ax.invert_yaxis()
    ax.set(xlabel=SCORE, xlim=(min(0.0, float(np.nanmin(low, initial=0))), max(1.0, float(np.nanmax(reach))) * 1.1))
    return finish(ax, "Overall score", note)


def _run_dots(ax: Axes, runs: pd.DataFrame, systems: pd.Index[str]) -> np.ndarray:
    shift = runs["run"].rank(method="dense") - (runs["run"].nunique() + 1) / 2
    place = runs["system"].map({system: index for index, system in enumerate(systems)})
    dots = {"s": 16, "facecolor": "white", "edgecolor": "black", "linewidth": 0.7}
    ax.scatter(runs["score_pct"], place + 0.16 * shift, zorder=3, label="one run", **dots)
    return runs.groupby("system")["score_pct"].max().reindex(systems).to_numpy(float)


def _spans(ax: Axes, places: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    drawn = np.isfinite(low) & np.isfinite(high)
    middle, half = (low + high)[drawn] / 2, (high - low)[drawn] / 2
    ax.errorbar(middle, places[drawn], xerr=half, fmt="none", ecolor="black", elinewidth=1.2, capsize=3)


def _ends(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    if {"low_pct", "high_pct"} <= set(rows.columns):
        return rows["low_pct"].to_numpy(float), rows["high_pct"].to_numpy(float)
    if "score_sd_pct" in rows:
        sd = rows["score_sd_pct"].to_numpy(float)
        return rows["score_pct"].to_numpy(float) - sd, rows["score_pct"].to_numpy(float) + sd
    nothing = np.full(len(rows), np.nan)
    return nothing, nothing


def domain_heatmap(domains: pd.DataFrame, systems: Sequence[str], *, note: str, ax: Axes | None = None) -> Axes:
    """Score of each system in each domain; the columns keep the order of the table and name their tasks.

    Parameters
    ----------
    domains
        Columns system, domain, score_pct and tasks.
    systems
        Rows from the top down.
    """
    order = list(dict.fromkeys(domains["domain"]))
    tasks = domains.groupby("domain")["tasks"].max()
    table = domains.pivot(index="system", columns="domain", values="score_pct")
    table = table.reindex(index=[one for one in systems if one in table.index], columns=order)
    ax = ax or new_axes(2.6 + 1.05 * len(order), 1.9 + 0.36 * len(table))
    sns.heatmap(
        table, ax=ax, annot=True, fmt=".1f", cmap=HEAT, linewidths=0.8, linecolor="white",
        annot_kws={"fontsize": 9, "color": "black"}, cbar_kws={"label": "score, %", "shrink": 0.8},
    )
    ax.set_xticks(
        np.arange(len(order)) + 0.5,
        labels=[wrap(one, 13, 3) + ("" if pd.isna(tasks[one]) else f"\nn = {tasks[one]:.0f}") for one in order],
        rotation=0, fontsize=8.5,
    )
    ax.set_yticks(np.arange(len(table)) + 0.5, labels=[wrap(one, 26, 2) for one in table.index], rotation=0)
    ax.set(xlabel="", ylabel="")
    ax.tick_params(length=0)
    return finish(ax, "Score by domain", note, grid=None)


def language_split(groups: pd.DataFrame, systems: Sequence[str], *, note: str, ax: Axes | None = None) -> Axes:
    """Chinese and English tasks side by side, a row a system.

    Parameters
    ----------
    groups
        Columns system, language (zh, en), score_pct, and optionally low_pct and high_pct.
    """
    shown = [one for one in systems if one in set(groups["system"])]
    ax = ax or new_axes(8, 1.6 + 0.4 * len(shown))
    for shift, (language, (word, color, marker)) in zip((-0.13, 0.13), LANGUAGE_LOOKS.items(), strict=True):
        rows = groups[groups["language"] == language].set_index("system").reindex(shown)
        middle = rows["score_pct"].to_numpy(float)
        low, high = _ends(rows)
        places = np.arange(len(shown)) + shift
        ax.errorbar(
            middle, places, xerr=np.vstack([middle - low, high - middle]), fmt=marker, color=color, markersize=7,
            elinewidth=1.4, capsize=2.5, label=f"{word} tasks",
        )
    ax.set_yticks(np.arange(len(shown)), labels=[wrap(one, 26, 2) for one in shown])
    ax.invert_yaxis()
    ax.set_xlabel(SCORE)
    ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    return finish(ax, "Chinese and English tasks", note)


def score_against(
    scores: pd.DataFrame, column: str, looks: Mapping[str, Look], *, label: str, note: str, ax: Axes | None = None
) -> Axes:
    """Score against a measure of effort, each point named.

    Parameters
    ----------
    scores
        Columns system, score_pct and `column`; rows without either are left out.
    label
        Name and unit of the measure.
    """
    rows = scores.dropna(subset=["score_pct", column])
    ax = ax or new_axes(7.5, 5.2)
    for row in rows.to_dict("records"):
        look = looks[row["system"]]
        ax.scatter(row[column], row["score_pct"], s=64, color=look.color, marker=look.marker, edgecolor=EDGE, linewidth=0.7)
    for values, setter in ((rows[column], ax.set_xlim), (rows["score_pct"], ax.set_ylim)):
        span = float(values.max() - values.min()) or abs(float(values.max())) or 1.0
        setter(float(values.min()) - 0.12 * span, float(values.max()) + 0.16 * span)
    ax.set(xlabel=label, ylabel="score, %")
    ax.xaxis.set_major_formatter("{x:,g}")
    finish(ax, f"Score against {label.split(',')[0]}", note, grid="both")
    label_points(ax, rows[column].tolist(), rows["score_pct"].tolist(), [wrap(one, 24, 2) for one in rows["system"]])
    return finish(ax, f"Score against {label.split(',')[0]}", note, grid="both")


def rank_slopes(rankings: pd.DataFrame, looks: Mapping[str, Look], *, note: str, ax: Axes | None = None) -> Axes:
    """How people rank the systems and how the score ranks them, joined by a line a system; rank 1 is on top.

    Parameters
    ----------
    rankings
        Columns system, human_rank and score_rank.
    """
    ax = ax or new_axes(6.5, 1.6 + 0.45 * len(rankings))
    for row in rankings.to_dict("records"):
        look = looks[row["system"]]
        ends = [row["human_rank"], row["score_rank"]]
        ax.plot([0, 1], ends, color=look.color, marker=look.marker, markersize=9, linewidth=2, markeredgecolor=EDGE)
    for side, column, ha, dx in ((0, "human_rank", "right", -12), (1, "score_rank", "left", 12)):
        for rank, tied in rankings.groupby(column)["system"]:
            text = wrap(", ".join(tied), 30, 3)
            ax.annotate(
                f"{rank:g}  {text}" if side else f"{text}  {rank:g}", (side, float(str(rank))), xytext=(dx, 0),
                textcoords="offset points", ha=ha, va="center",
            )
    ax.set(xlim=(-0.9, 1.9))
    ax.set_xticks([0, 1], labels=["rank by people", "rank by score"])
    ax.yaxis.set_visible(False)
    ax.spines[["left", "bottom"]].set_visible(False)
    ax.tick_params(length=0)
    ax.invert_yaxis()
    return finish(ax, "Do people rank the reports as the score does?", note, grid=None)
