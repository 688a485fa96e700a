"""Figures on disk: the picture, the table behind it, and its caption for the index page."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from lifesearch_kit.paths import FIGURES, plain_name
from lifesearch_kit.plots.fonts import label_key, make_drawable
from lifesearch_kit.plots.labels import wrap
from lifesearch_kit.tables import write_table


def save_figure(
    figure: Figure,
    data: pd.DataFrame,
    *,
    profile: str,
    slug: str,
    caption: str,
    notice: str = "",
    figures: str | Path = FIGURES,
) -> Path:
    """Write ``figures/<profile>/<slug>.png``, the table behind it as ``.csv`` and its caption as ``.json``.

    The picture holds no date, so that the same data give the same file.

    Parameters
    ----------
    data
        Exactly what is drawn, with full labels, a row a mark.
    slug
        File name without ending. It begins with the notebook's number; the index page sorts by it.
    caption
        Whole sentences: what is shown, units, n, what an interval is.
    notice
        A reservation that stands in the picture itself and heads the index page, as `provenance_notice` gives it.
    figures
        Folder of all profiles' figures.

    Returns
    -------
    Path
        The picture.
    """
    folder = Path(figures) / plain_name(profile, "profile")
    folder.mkdir(parents=True, exist_ok=True)
    base = folder / plain_name(slug, "slug")
    if notice:
        figure.text(
            0,
            -0.02,
            wrap(notice, int(15 * figure.get_figwidth()), lines=4),
            ha="left",
            va="top",
            fontsize=8.5,
            color="#7a4a00",
            weight="bold",
            bbox={"boxstyle": "square,pad=0.35", "facecolor": "#fff1c2", "edgecolor": "#b07c00", "linewidth": 0.6},
        )
    make_drawable(figure)
    # Laid out once: every further layout would make room again for notes that reach beyond their axes, and what the
    # notebook shows next would differ from the file.
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    picture = base.with_name(base.name + ".png")
    figure.savefig(
        picture, dpi=150, bbox_inches="tight", pad_inches=0.12, facecolor="white", metadata={"Software": None}
    )
    write_table(data, base.with_name(base.name + ".csv"))
    key = "".join(f" {number} {text};" for number, text in label_key(figure).items())
    record = {"caption": caption + (f" Key:{key[:-1]}." if key else ""), "notice": notice}
    sidecar = base.with_name(base.name + ".json")
    sidecar.write_text(json.dumps(record, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return picture
