"""Labels that fit: wrapped in Chinese and English, and placed beside points without overlap."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from lifesearch_kit.plots.fonts import make_drawable

_NO_LINE_START = "，。、；：！？）】》」』”’,.;:!?)]}%…"
_WIDE = r"\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
_PIECE = re.compile(rf"\s+|[^\s/_{_WIDE}-]*[/_-]+|[^\s/_{_WIDE}-]+|.", re.DOTALL)


def display_width(text: str) -> int:
    """Columns that a text takes: a Chinese character two, a combining mark none, any other character one."""
    return sum(
        0 if unicodedata.combining(one) else 2 if unicodedata.east_asian_width(one) in "WF" else 1 for one in text
    )


def wrap(text: str, width: int, lines: int = 3) -> str:
    """Break a label into lines of at most `width` columns; what exceeds `lines` is cut and ends in an ellipsis."""
    rows = [""]
    for piece in _pieces(" ".join(text.split()), width):
        overflows = display_width(rows[-1] + piece.rstrip()) > width
        hangs = piece in _NO_LINE_START and display_width(rows[-1]) <= width
        if overflows and rows[-1] and not hangs:
            rows.append("")
        rows[-1] += piece if rows[-1] else piece.lstrip()
    rows = [row.rstrip() for row in rows]
    if len(rows) > lines:
        rows = rows[:lines]
        while display_width(rows[-1]) > width - 1:
            rows[-1] = rows[-1][:-1]
        rows[-1] = rows[-1].rstrip() + "…"
    return "\n".join(rows)


def _pieces(text: str, width: int) -> Iterator[str]:
    for piece in _PIECE.findall(text):
        for start in range(0, len(piece), width):
            yield piece[start : start + width]


def label_points(ax: Axes, x: Sequence[float], y: Sequence[float], labels: Sequence[str]) -> None:
    """Write a label beside each point, where it overlaps no other label and no point; a line leads to a distant one.

    Axis limits must be set before. Points are labelled from the top down, so that the result is always the same.
    """
    figure = cast(Figure, ax.get_figure(root=True))
    arrow = {"arrowstyle": "-", "color": "0.55", "linewidth": 0.6, "shrinkA": 0, "shrinkB": 4}
    texts = [
        ax.annotate(label, (px, py), xytext=(0, 0), textcoords="offset points", fontsize=8.5, arrowprops=arrow)
        for label, px, py in zip(labels, x, y, strict=True)
    ]
    make_drawable(figure)
    figure.draw_without_rendering()
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    points = ax.transData.transform(np.column_stack([x, y]))
    step = figure.dpi / 72
    taken = [Bbox.from_extents(px - 5 * step, py - 5 * step, px + 5 * step, py + 5 * step) for px, py in points]
    frame = ax.get_window_extent()
    for index in sorted(range(len(labels)), key=lambda one: (-y[one], x[one])):
        text = texts[index]
        size = text.get_window_extent(renderer)
        others = [box for one, box in enumerate(taken) if one != index]
        choices = [(_box(points[index], place, size, step), place) for place in _places()]
        costs = [
            1000.0 * sum(map(box.overlaps, others)) + 50 * _outside(box, frame) + rank
            for rank, (box, _) in enumerate(choices)
        ]
        box, (dx, dy, ha, va) = choices[int(np.argmin(costs))]
        text.set(position=(dx, dy), ha=ha, va=va)
        if abs(dx) <= 7 and abs(dy) <= 7 and text.arrow_patch is not None:
            text.arrow_patch.set_visible(False)
        taken.append(box)


def _box(point: np.ndarray, place: tuple[float, float, str, str], size: Bbox, step: float) -> Bbox:
    dx, dy, ha, va = place
    x = point[0] + dx * step - size.width * {"left": 0.0, "center": 0.5, "right": 1.0}[ha]
    y = point[1] + dy * step - size.height * {"bottom": 0.0, "center": 0.5, "top": 1.0}[va]
    return Bbox.from_bounds(x - step, y - step, size.width + 2 * step, size.height + 2 * step)


def _outside(box: Bbox, frame: Bbox) -> float:
    return max(0.0, frame.x0 - box.x0, box.x1 - frame.x1, frame.y0 - box.y0, box.y1 - frame.y1)


def _places() -> Iterator[tuple[float, float, str, str]]:
    """Offsets in points with alignments, the nearest first."""
    for far in (7.0, 14.0, 22.0, 32.0, 44.0):
        yield far, 0, "left", "center"
        yield -far, 0, "right", "center"
        yield 0, far, "center", "bottom"
        yield 0, -far, "center", "top"
        for dx, ha in ((far, "left"), (-far, "right")):
            for dy, va in ((far, "bottom"), (-far, "top")):
                yield dx * 0.8, dy * 0.8, ha, va
