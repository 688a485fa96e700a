"""Who leads: overall bars, domains, languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from lifesearch_kit.plots.heat import heat
from lifesearch_kit.plots.intervals import interval_ends, language_rows
from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.plots.style import EDGE, Look, finish, new_axes

_DOMAIN_COLUMNS = 9
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
        minus one standard deviation); missing ends draw no interval. Where score_pct is missing, the bar ends at
        lower_pct, what the system has for certain, and a pale part leads on to upper_pct. With tasks and missing, the
        label of a system with missing reports says how many it has.
    looks
        As `system_looks` gives them; its order is the order of the bars, systems without a row are left out.
    note
        Says n and what the error bars are.
    runs
        Columns system, run, score_pct: a dot a run.
    """
    rows = scores.set_index("system").reindex([system for system in looks if system in set(scores["system"])])
    ax = ax or new_axes(8, 1.5 + 0.38 * len(rows))
    low, high = interval_ends(rows)
    least, most = _sure_and_possible(rows)
    places = np.arange(len(rows))
    label = "unjudged" if (most > least).any() else None
    ax.barh(places, most - least, left=least, height=0.72, color="0.93", edgecolor="0.6", linewidth=0.6, label=label)
    ax.barh(
        places,
        least,
        height=0.72,
        color=[looks[one].color for one in rows.index],
        edgecolor=EDGE,
        linewidth=0.6,
        hatch=[looks[one].hatch for one in rows.index],
    )
    _spans(ax, places, low, high)
    reach = np.fmax(most, high)
    if runs is not None:
        reach = np.fmax(reach, _run_dots(ax, runs, rows.index))
    if runs is not None or label:
        ax.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), handletextpad=0.4)
    for place, value, end in zip(places, rows["score_pct"].to_numpy(float), reach, strict=True):
        text = f"{value:.1f}" if np.isfinite(value) else f"{least[place]:.1f} to {most[place]:.1f}"
        ax.annotate(text, (end, place), xytext=(6, 0), textcoords="offset points", va="center", fontsize=9)
    ax.set_yticks(places, labels=[wrap(one, 26, 2) + gap for one, gap in zip(rows.index, _gaps(rows), strict=True)])
    ax.invert_yaxis()
    ax.set(xlabel=SCORE, xlim=(min(0.0, float(np.nanmin(low, initial=0))), max(1.0, float(np.nanmax(reach))) * 1.1))
    return finish(ax, "Overall score", note)


def _sure_and_possible(rows: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """What each system has for certain and what it could have: both its score, where it has one."""
    ends = [rows.get(name, rows["score_pct"]).to_numpy(float) for name in ("lower_pct", "upper_pct")]
    score = rows["score_pct"].to_numpy(float)
    least, most = (np.where(np.isfinite(score), score, end) for end in ends)
    return least, most


def _gaps(rows: pd.DataFrame) -> list[str]:
    if not {"tasks", "missing"} <= set(rows.columns):
        return [""] * len(rows)
    return [
        f"\n{tasks:.0f} tasks, {missing:.0f} reports missing" if missing else ""
        for tasks, missing in rows[["tasks", "missing"]].to_numpy(float)
    ]


def _run_dots(ax: Axes, runs: pd.DataFrame, systems: pd.Index[str]) -> np.ndarray:
    shift = runs["run"].rank(method="dense") - (runs["run"].nunique() + 1) / 2
    place = runs["system"].map({system: index for index, system in enumerate(systems)})
    ax.scatter(
        runs["score_pct"],
        place + 0.16 * shift,
        s=16,
        facecolor="white",
        edgecolor="black",
        linewidth=0.7,
        zorder=3,
        label="one run",
    )
    return runs.groupby("system")["score_pct"].max().reindex(systems).to_numpy(float)


def _spans(ax: Axes, places: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
    drawn = np.isfinite(low) & np.isfinite(high)
    middle, half = (low + high)[drawn] / 2, (high - low)[drawn] / 2
    ax.errorbar(middle, places[drawn], xerr=half, fmt="none", ecolor="black", elinewidth=1.2, capsize=3)


def domain_heatmap(
    domains: pd.DataFrame, systems: Sequence[str], *, note: str, intervals: bool = False, ax: Axes | None = None
) -> Axes:
    """Score of each system in each domain, in the table's order of domains, each with its number of tasks.

    Domains are columns as in table 4 of the paper; more of them than fit side by side are rows.

    Parameters
    ----------
    domains
        Columns system, domain, score_pct and tasks; for `intervals` also low_pct and high_pct.
    systems
        In their order; those without a row are left out.
    intervals
        Whether each interval stands under its score; a dash is one that is missing.
    """
    order = list(dict.fromkeys(domains["domain"]))
    tasks = domains.groupby("domain")["tasks"].agg(["min", "max"])
    counts = {
        row.Index: ""
        if pd.isna(row.max)
        else f"n = {row.max:.0f}"
        if row.min == row.max
        else f"n = {row.min:.0f} to {row.max:.0f}"
        for row in tasks.itertuples()
    }
    shown = [one for one in systems if one in set(domains["system"])]
    table, texts = (
        values.pivot(index="system", columns="domain", values="value").reindex(index=shown, columns=order)
        for values in (domains.assign(value=domains["score_pct"].astype(float)), _cell_texts(domains, intervals))
    )
    texts = texts.fillna("")
    height = 0.5 if intervals else 0.36
    if len(order) > _DOMAIN_COLUMNS:
        table, texts = table.T, texts.T
        rows = [f"{wrap(one, 30, 1)}, {counts[one]}".removesuffix(", ") for one in order]
        columns = [wrap(one, 18, 3) for one in table.columns]
        size = (max(8.0, 3.5 + 1.3 * len(columns)), 1.9 + (height - 0.06) * len(rows))
    else:
        rows = [wrap(one, 26, 2) for one in table.index]
        columns = [f"{wrap(one, 14, 3)}\n{counts[one]}".strip() for one in order]
        size = (2.8 + 1.05 * len(columns), 1.9 + height * len(rows))
    ax = heat(table, texts.to_numpy(str), rows=rows, columns=columns, unit="score, %", size=size, ax=ax)
    return finish(ax, "Score by domain", note, grid=None)


def _cell_texts(domains: pd.DataFrame, intervals: bool) -> pd.DataFrame:
    """Each row's score in words, its interval beneath where that is asked for."""
    scores = domains["score_pct"].astype(float).map("{:.1f}".format)
    if not intervals:
        return domains.assign(value=scores)
    ends = [
        f"{low:.0f} to {high:.0f}" if np.isfinite([low, high]).all() else "–"
        for low, high in domains[["low_pct", "high_pct"]].to_numpy(float)
    ]
    return domains.assign(value=scores + "\n" + pd.Series(ends, index=domains.index))


def language_split(groups: pd.DataFrame, systems: Sequence[str], *, note: str, ax: Axes | None = None) -> Axes:
    """Chinese and English tasks side by side, a row a system.

    Parameters
    ----------
    groups
        Columns system, language (zh, en), score_pct, and optionally low_pct and high_pct.
    """
    shown = [one for one in systems if one in set(groups["system"])]
    ax = ax or new_axes(8, 1.6 + 0.4 * len(shown))
    language_rows(ax, groups.set_index("system"), shown, "score_pct", label_width=26)
    ax.set_xlabel(SCORE)
    return finish(ax, "Chinese and English tasks", note)
