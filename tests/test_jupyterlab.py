"""Notebook 07 in JupyterLab, in a real browser: it runs, its views show, its filter works; so does its page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest
from chromium import chromium, needs_chromium
from made_cases import write_run
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook
from playwright.sync_api import Page, expect
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from lifesearch_kit.paths import FIGURES, NOTEBOOKS, ROOT

PROFILE = "jupyterlab-test"
MINUTE = 60_000  # milliseconds
pytestmark = [
    pytest.mark.slow,
    needs_chromium,
]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """JupyterLab on a free port of the loopback, with notebook 07 set to a made run; nothing of the user's is read."""
    results = write_run(tmp_path / "results")
    book = parameterize_notebook(
        load_notebook_node(str(NOTEBOOKS / "07_failure_cases.ipynb")), {"results": str(results), "profile": PROFILE}
    )
    book.metadata.pop("papermill", None)
    for cell in book.cells:
        if cell.cell_type == "code":
            cell.update(outputs=[], execution_count=None)
    (tmp_path / "books").mkdir()
    nbformat.write(book, tmp_path / "books" / "07.ipynb")
    # Cells out of sight are drawn too, so that what is looked for is there.
    settings = tmp_path / "settings" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"windowingMode": "none"}), encoding="utf-8")
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "JUPYTER_CONFIG_DIR": str(tmp_path / "config"),
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTER_RUNTIME_DIR": str(tmp_path / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(tmp_path / "settings"),
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--ip=127.0.0.1", "--port=0", "--allow-root"]
    command += ["--ServerApp.open_browser=False", f"--ServerApp.root_dir={tmp_path / 'books'}"]
    with (tmp_path / "lab.log").open("w+b") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=tmp_path)
        try:
            yield _address(server, tmp_path / "lab.log")
        finally:
            server.terminate()
            server.wait(30)
            shutil.rmtree(FIGURES / PROFILE, ignore_errors=True)


def _address(server: subprocess.Popen, log: Path) -> str:
    for _ in range(600):
        found = re.search(r"http://127\.0\.0\.1:\d+/lab\?token=\w+", log.read_text("utf-8", "replace"))
        if found:
            return found[0].replace("/lab?", "/lab/tree/07.ipynb?")
        assert server.poll() is None, log.read_text("utf-8", "replace")
        try:
            server.wait(0.1)
        except subprocess.TimeoutExpired:
            continue
    raise AssertionError(log.read_text("utf-8", "replace"))


def _run_all(page: Page) -> None:
    """Run all cells. Before its kernel is connected, JupyterLab runs none, or asks which kernel it should take."""
    page.get_by_text("| Idle").first.wait_for()
    for _ in range(6):
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        asked = page.locator(".jp-Dialog button", has_text="Select")
        started = page.locator(".jp-InputPrompt", has_text=re.compile(r"\[\d+\]"))
        try:
            started.or_(asked).first.wait_for(timeout=20_000)
        except PlaywrightTimeout:
            continue
        if started.count():
            return
        asked.first.click()
    raise AssertionError("JupyterLab ran no cell")


def test_notebook_07_runs_shows_its_views_and_filters(address: str) -> None:
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(MINUTE)
        page.goto(address)
        page.locator(".jp-NotebookPanel .jp-Cell").first.wait_for()
        _run_all(page)
        last = page.locator(".jp-CodeCell .jp-OutputArea-output", has_text=f"figures/{PROFILE}/cases.html")
        last.first.wait_for(timeout=2 * MINUTE)
        assert page.locator(".jp-OutputArea-output[data-mime-type='application/vnd.jupyter.stderr']").count() == 0

        views = page.locator(".jp-OutputArea .lk-view")
        assert views.count() >= 2  # the report, and two systems side by side
        assert "Requirements, the heaviest loss first" in views.first.inner_text()
        assert "<script>window.hit = 1</script>" in views.first.inner_text()
        assert page.evaluate("window.hit") is None
        assert views.first.evaluate("one => one.scrollWidth <= one.clientWidth + 1")

        table = page.locator(".widget-interact .jp-OutputArea table")
        assert {"A", "B"} <= set(table.locator("tbody tr td:first-of-type").all_inner_texts())
        page.locator(".widget-interact select").first.select_option("B")
        expect(table.locator("tbody tr td:first-of-type").filter(has_text=re.compile("^A$"))).to_have_count(0)
        assert set(table.locator("tbody tr td:first-of-type").all_inner_texts()) == {"B"}

        # The page that it wrote, from the disk and without a network.
        context = browser.new_context(offline=True)
        cases = context.new_page()
        cases.goto((FIGURES / PROFILE / "cases.html").as_uri())
        expect(cases.locator("#count")).to_have_text("8 of 8 reports")
        cases.locator("#chosen-filters").click()
        cases.select_option("#filter-system", "B")
        expect(cases.locator("#count")).to_have_text("4 of 8 reports")
