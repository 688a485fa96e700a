"""One look for all figures: a system keeps its colour, marker and place wherever it is drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import matplotlib as mpl
import matplotlib.pyplot as plt
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lifesearch_kit.plots.fonts import families, make_drawable
from lifesearch_kit.plots.labels import wrap

EDGE = "#333333"
LANGUAGE_LOOKS = {"zh": ("Chinese", "#d55e00", "o"), "en": ("English", "#0173b2", "s")}
_MARKERS = "osD^vPX*<>"
_HATCHES = ("", "///", "...", "xx", "\\\\\\")


@dataclass(frozen=True)
class Look:
    """How one system is drawn."""

    color: str
    marker: str
    hatch: str


def style() -> None:
    """Set matplotlib's defaults for the kit's figures; notebooks call it once."""
    mpl.rcParams.update(
        {
            "font.family": families(),
            "font.size": 9.5,
            "axes.titlesize": 12,
            "axes.titlelocation": "left",
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.axisbelow": True,
            "axes.unicode_minus": True,
            "grid.color": "0.88",
            "legend.frameon": False,
            "figure.dpi": 100,
            "savefig.dpi": 150,
        }
    )


def system_order(scores: pd.DataFrame) -> list[str]:
    """Order of systems in every figure: the highest mean score first, equal ones by name.

    Parameters
    ----------
    scores
        Columns ``system`` and ``lower_pct``, what a system has for certain (its score, where nothing is open), or else
        ``score_pct``; several rows of one system (judges) are averaged.
    """
    value = "lower_pct" if "lower_pct" in scores else "score_pct"
    means = scores.groupby("system")[value].mean().round(9).reset_index()
    return means.sort_values([value, "system"], ascending=[False, True])["system"].tolist()


def system_looks(systems: Sequence[str]) -> dict[str, Look]:
    """Colour, marker and hatch of each system, by its place in `systems`.

    Ten colours that colour-blind readers can tell apart; markers differ between neighbours, and from the eleventh
    system on a hatch tells apart the bars of one colour.
    """
    colors = sns.color_palette("colorblind").as_hex()
    return {
        system: Look(
            colors[place % len(colors)],
            _MARKERS[(place + place // len(colors)) % len(_MARKERS)],
            _HATCHES[place // len(colors) % len(_HATCHES)],
        )
        for place, system in enumerate(systems)
    }


def new_axes(width: float, height: float) -> Axes:
    """One pair of axes in a figure of its own, in inches."""
    _, ax = plt.subplots(figsize=(width, height), layout="constrained")
    return ax


def figure_of(ax: Axes) -> Figure:
    """The whole figure that axes belong to."""
    return cast(Figure, ax.get_figure(root=True))


def finish(ax: Axes, title: str, note: str = "", grid: str | None = "x") -> Axes:
    """Title, a note under it (n, what an interval is), grid, and fonts for every character."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(True, axis=grid, color="0.88", linewidth=0.8)  # type: ignore[arg-type]
        ax.set_axisbelow(True)
    columns = max(30, int(figure_of(ax).get_figwidth() * 15 * ax.get_position().width))
    note = wrap(note, columns, lines=4)
    room = 12.5 * (note.count("\n") + 1) if note else 0
    ax.set_title(wrap(title, int(columns * 0.75)), loc="left", fontsize=12, pad=8 + room)
    if note:
        ax.annotate(
            note,
            (0, 1),
            xytext=(0, 5),
            xycoords="axes fraction",
            textcoords="offset points",
            ha="left",
            va="bottom",
            fontsize=8.5,
            color="0.35",
            linespacing=1.25,
            annotation_clip=False,
        )
    make_drawable(figure_of(ax))
    return ax
