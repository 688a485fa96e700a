"""What people look at, in a real browser: it shows, fits a phone, follows the colour scheme, runs and loads nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from chromium import chromium, needs_chromium
from matplotlib.figure import Figure
from nbformat import v4, write
from playwright.sync_api import Page

from lifesearch_kit.execution import Outcome
from lifesearch_kit.index_page import render_notebook, write_index
from lifesearch_kit.plots import save_figure
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.views.notebook_views import report_view

ATTACK = '<script>window.hit = 1</script><img src="x" onerror="window.hit = 1"><svg onload="window.hit = 1">'
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A profile's folder with one figure, hostile captions and labels, an executed notebook and a failed one."""
    folder = tmp_path_factory.mktemp("figures")
    figure = Figure(figsize=(9, 4))
    figure.subplots().plot([1, 2], label="苏")
    data = pd.DataFrame({"system": [f"系统 {ATTACK}", "b"], "a_very_long_column_name_for_a_phone": [1.5, None]})
    save_figure(figure, data, profile="p", slug="05_1_x", caption=f"得分 {ATTACK}", notice="Invented.", figures=folder)
    source = folder / "05_x.ipynb"
    cells = [v4.new_markdown_cell(f"# Results {ATTACK}"), v4.new_code_cell("print(1)")]
    write(v4.new_notebook(cells=cells), source)
    executed = folder / "p" / "notebooks" / "05_x.ipynb"
    executed.parent.mkdir()
    task = Task(
        task_id="t",
        language="zh",
        domain="d",
        query=ATTACK,
        rubrics=(Rubric(rubric_id="R1", criterion=ATTACK, weight=1.0),),
    )
    report = Report(
        system="s", task_id="t", text=f"# 标题\n\n{ATTACK}\n\n[a](javascript:window.hit=1)\n\n```\nunclosed"
    )
    judgment = Judgment(system="s", task_id="t", rubric_id="R1", judge="j", satisfied=False, reason=ATTACK)
    view = report_view(task, report, [judgment]).data
    # The notebook's own words are its author's; what came from models stands in its outputs.
    cells[0] = v4.new_markdown_cell("# Results")
    cells[1].outputs = [v4.new_output("display_data", {"text/html": view, "text/plain": "view"})]
    write(v4.new_notebook(cells=cells), executed)
    render_notebook(executed)
    outcomes = [
        Outcome(source, executed, 1.0, None, ("05_1_x",)),
        Outcome(source, executed, 1.0, f"cell 2: ValueError: {ATTACK}", ()),
    ]
    write_index(folder / "p", f"p {ATTACK}", outcomes)
    return folder / "p"


@pytest.fixture(scope="module")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture(
    params=[("index.html", 1200, "light"), ("index.html", 380, "dark"), ("notebooks/05_x.html", 380, "light")]
)
def page(browser, profile: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    name, width, scheme = request.param
    opened = browser.new_page(viewport={"width": width, "height": 800}, color_scheme=scheme)
    opened.complaints = []
    opened.on("pageerror", lambda error: opened.complaints.append(str(error)))
    opened.on("requestfailed", lambda failed: opened.complaints.append(failed.url))
    opened.on(
        "request",
        lambda asked: None if asked.url.startswith(("file:", "data:")) else opened.complaints.append(asked.url),
    )
    opened.goto((profile / name).as_uri())
    yield opened
    opened.close()


def test_it_shows_and_nothing_of_what_it_shows_runs(page: Page) -> None:
    assert page.evaluate("window.hit") is None
    assert page.complaints == []
    assert page.locator("h1, h2").first.inner_text().strip()
    assert page.locator("a[href^='javascript']").count() == 0
    pictures = page.evaluate("[...document.images].map(one => one.naturalWidth)")
    assert all(width > 0 for width in pictures)


def test_it_fits_its_window(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_index_shows_figure_table_reservation_and_failure(browser, profile: Path) -> None:
    opened = browser.new_page(color_scheme="dark")
    opened.goto((profile / "index.html").as_uri())
    assert opened.locator("img").count() == 1
    assert "得分" in opened.inner_text("body")
    assert "Invented." in opened.inner_text("body")
    assert "ValueError" in opened.inner_text("body")
    table = opened.locator("table").first
    assert not table.is_visible()
    opened.locator("summary").first.click()
    assert table.is_visible()
    assert "系统 <script>" in table.inner_text()
    dark = opened.evaluate("getComputedStyle(document.body).backgroundColor")
    opened.emulate_media(color_scheme="light")
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    opened.get_by_role("link", name="as a page").first.click()
    assert opened.url.endswith("05_x.html")
    opened.close()
