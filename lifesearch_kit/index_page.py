"""The page that shows a profile's figures, and executed notebooks as pages. Neither needs a network."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import nbformat
from markupsafe import Markup
from nbconvert import HTMLExporter
from pygments.formatters import HtmlFormatter  # type: ignore[import-untyped]

from lifesearch_kit.execution import Outcome
from lifesearch_kit.views.html_templates import fill
from lifesearch_kit.views.page_fonts import embedded_font

CASES_PAGE = "cases.html"  # what notebook 07 writes beside the figures
_ROWS_SHOWN = 12
# The file beside it holds every digit.
_LONG_NUMBER = re.compile(r"\A-?\d+\.\d{3,}(?:e-?\d+)?\Z")


@dataclass(frozen=True)
class _Figure:
    slug: str
    caption: str
    notice: str
    header: list[str]
    rows: list[list[str]]
    rows_in_all: int


def write_index(folder: Path, profile: str, outcomes: Sequence[Outcome]) -> Path:
    """Write ``index.html``: figures with captions, tables and notebooks, failed notebooks marked as such.

    Where the folder holds ``cases.html``, the page of all reports, it is linked at the top.

    Parameters
    ----------
    folder
        The profile's folder of figures, each a ``.png``, a ``.csv`` and a ``.json`` with its caption.
    profile
        The profile's name, for the title.
    outcomes
        What became of each notebook, in the order of the page.
    """
    drawn = [[_read_figure(folder, slug) for slug in outcome.figures] for outcome in outcomes]
    notices = dict.fromkeys(figure.notice for figures in drawn for figure in figures if figure.notice)
    sections = [
        {
            "name": outcome.notebook.stem,
            "title": _heading(outcome.notebook),
            "outcome": outcome,
            "page": outcome.executed.with_suffix(".html").is_file(),
            "figures": figures,
        }
        for outcome, figures in zip(outcomes, drawn, strict=True)
    ]
    page = folder / "index.html"
    cases = folder / CASES_PAGE
    values = {"profile": profile, "sections": sections, "notices": list(notices), "cases": cases.is_file()}
    font = embedded_font([fill("index.html.j2", font="", **values)])
    page.write_text(fill("index.html.j2", font=font, **values), encoding="utf-8")
    return page


def render_notebook(executed: Path) -> Path:
    """Write an executed notebook as one HTML page beside it."""
    notebook = nbformat.read(executed, as_version=4)
    body, _ = HTMLExporter(template_name="basic").from_notebook_node(notebook)
    page = executed.with_suffix(".html")
    colors = {"light": "default", "dark": "github-dark"}
    styles = {name: HtmlFormatter(style=style).get_style_defs(".highlight") for name, style in colors.items()}
    marked = {name: Markup(one) for name, one in styles.items()}
    font = embedded_font([body])
    text = fill("notebook.html.j2", title=executed.stem, body=Markup(body), styles=marked, font=font)
    page.write_text(text, encoding="utf-8")
    return page


def _heading(notebook: Path) -> str:
    cells = nbformat.read(notebook, as_version=4).cells
    lines: Iterator[str] = (line for cell in cells if cell.cell_type == "markdown" for line in cell.source.splitlines())
    return next((line.lstrip("# ").strip() for line in lines if line.startswith("#")), notebook.stem)


def _read_figure(folder: Path, slug: str) -> _Figure:
    record = json.loads((folder / f"{slug}.json").read_text(encoding="utf-8"))
    with (folder / f"{slug}.csv").open(encoding="utf-8-sig", newline="") as file:
        header, *rows = list(csv.reader(file)) or [[]]
    shown = [[_LONG_NUMBER.sub(_shortened, cell) for cell in row] for row in rows[:_ROWS_SHOWN]]
    return _Figure(slug, record["caption"], record["notice"], header, shown, len(rows))


def _shortened(number: re.Match[str]) -> str:
    value = float(number[0])
    return f"{value:.2f}" if abs(value) >= 1 else f"{value:.3g}"
