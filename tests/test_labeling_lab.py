"""The notebook of people's work in JupyterLab and a real browser: by keyboard, through a kill, nothing lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import nbformat
import numpy as np
import pytest
from chromium import chromium, needs_chromium
from lab import lab, open_notebook, run_cell
from made_cases import ATTACK
from made_studies import label_all, made_reports, made_tasks
from playwright.sync_api import Browser, Locator, Page, expect

from lifesearch_kit.files import read_labels, write_jsonl
from lifesearch_kit.labeling.items import label_items
from lifesearch_kit.labeling.sampling import label_candidates, sample_rubrics
from lifesearch_kit.paths import NOTEBOOKS

pytestmark = [
    pytest.mark.slow,
    needs_chromium,
]
# The notebook's code cells, by number.
PREPARE, LABEL, SETTLE, REFERENCE, RANK, RANKINGS = range(4), 4, 6, 7, 8, 9
TASKS = made_tasks(4)
LINES = "Line.\n\n" * 80
# What criteria name stands at the end of a long report.
REPORTS = [one.model_copy(update={"text": f"# Report\n\n{ATTACK}\n\n{LINES}{one.text}"}) for one in made_reports(TASKS)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of results, of labels, and of the notebook for each person."""
    made = tmp_path_factory.mktemp("lab")
    write_jsonl(made / "run" / "tasks.jsonl", TASKS)
    write_jsonl(made / "run" / "reports.jsonl", REPORTS)
    for name, people in {"ann": ("ann", ""), "cy": ("", "cy"), "other": ("ann", "")}.items():
        notebook = nbformat.read(NOTEBOOKS / "10_label_and_rank.ipynb", as_version=4)
        values = {
            "annotator": people[0],
            "settler": people[1],
            "results": str(made / "run"),
            "labels": str(made / "labels"),
        }
        values |= {"labelled": "", "n": 10, "rubrics_per_report": 2, "ranked_tasks": 1}
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in cells:
            cell.outputs, cell.execution_count = [], None
        lines = [f"{key} = {value!r}" for key, value in values.items()]
        cells[0].source += (
            "\n" + "\n".join(lines) + f"\nimport os\nopen({str(made / 'pid')!r}, 'w').write(str(os.getpid()))"
        )
        nbformat.write(notebook, made / f"{name}.ipynb")
    return made


@pytest.fixture(scope="module")
def address(folder: Path) -> Iterator[str]:
    with lab(folder) as served:
        yield served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


def opened(browser: Browser, address: str, name: str) -> Page:
    page = open_notebook(browser, address, f"{name}.ipynb")
    page.elsewhere = []
    page.on(
        "request",
        lambda asked: (
            None
            if address.split("//")[1] in asked.url or asked.url.startswith(("data:", "blob:"))
            else page.elsewhere.append(asked.url)
        ),
    )
    for number in PREPARE:
        run_cell(page, number)
    return page


def desk_of(page: Page, cell: int) -> Locator:
    """Run a cell that shows a desk, and click into it."""
    run_cell(page, cell)
    desk = page.locator(".jp-CodeCell").nth(cell).locator(".lk-desk")
    expect(desk).to_be_visible()
    desk.scroll_into_view_if_needed()
    desk.locator(".lk-ask").click()
    return desk


def answers(folder: Path, kind: str = "answers", name: str = "ann") -> list[dict[str, object]]:
    path = folder / "labels" / kind / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def press(page: Page, desk: Locator, key: str, stored: str) -> None:
    """Press a key and wait for the word that it is stored."""
    page.keyboard.press(key)
    expect(desk.locator(".lk-count")).to_contain_text(stored)


def test_ten_rubrics_by_keyboard_through_a_killed_kernel(browser: Browser, address: str, folder: Path) -> None:
    page = opened(browser, address, "ann")
    desk = desk_of(page, LABEL)
    mark = desk.locator("mark").first
    expect(mark).to_contain_text("ferries ran")
    pane = desk.locator(".lk-pane").bounding_box()
    place = mark.bounding_box()
    assert pane is not None
    assert place is not None
    assert pane["y"] < place["y"] < pane["y"] + pane["height"]
    before = page.locator(".jp-Cell").count()
    for key in ("x", "d", "d", "a", "b", "m", "y", "Escape", "z"):
        page.keyboard.press(key)
    assert page.locator(".jp-Cell").count() == before
    assert page.locator(".jp-MarkdownCell").count() == before - 11
    assert answers(folder) == []
    for number, key in enumerate("pfp", start=1):
        press(page, desk, key, f"{number} of 10")
    # What is typed into a note is no key, and an input method's Enter ends no note.
    page.keyboard.press("n")
    page.keyboard.type("pf?")
    box = desk.locator("textarea")
    box.evaluate(
        "box => box.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', isComposing: true, bubbles: true}))"
    )
    expect(box).to_be_focused()
    page.keyboard.insert_text("票价")
    page.keyboard.press("Enter")
    expect(desk.locator(".lk-said")).to_have_text("Note stored")
    expect(desk).to_be_focused()
    press(page, desk, "f", "4 of 10")
    assert [(one["satisfied"], one["note"]) for one in answers(folder)[3:]] == [(None, "pf?票价"), (False, "pf?票价")]
    page.keyboard.press("Backspace")
    expect(box).to_have_value("pf?票价")
    expect(desk.locator("[data-key=f]")).to_have_attribute("aria-pressed", "true")
    page.keyboard.press("p")
    expect(desk.locator(".lk-said")).to_have_text("Stored: Pass")
    assert answers(folder)[-1]["satisfied"] is True
    page.keyboard.press("?")
    expect(desk.locator(".lk-help")).to_be_visible()
    page.keyboard.press("?")

    stored = answers(folder)
    os.kill(int((folder / "pid").read_text()), signal.SIGKILL)
    page.get_by_role("dialog", name="Kernel Restarting").get_by_role("button", name="Ok").click()
    desk.locator(".lk-ask").click()
    expect(desk).to_be_focused()
    page.keyboard.press("p")
    expect(desk.locator(".lk-alarm")).to_contain_text("Not stored yet", timeout=20_000)
    assert answers(folder) == stored
    for number in PREPARE:
        run_cell(page, number)
    desk = desk_of(page, LABEL)
    expect(desk.locator(".lk-count")).to_contain_text("4 of 10")
    expect(desk.locator(".lk-notice")).to_contain_text("Going on as ann")
    for number in range(5, 11):
        press(page, desk, "p", f"{number} of 10")
    expect(desk.locator(".lk-ask")).to_have_text("All 10 are labelled.")
    assert answers(folder)[: len(stored)] == stored
    assert page.evaluate("window.hit") is None
    assert page.elsewhere == []


def test_a_second_window_of_the_same_name_is_refused(browser: Browser, address: str, folder: Path) -> None:
    page = opened(browser, address, "other")
    run_cell(page, LABEL)
    expect(page.locator(".jp-CodeCell").nth(LABEL)).to_contain_text("is at work in another notebook")
    assert len({one["annotator"] for one in answers(folder)}) == 1


def test_disagreements_are_settled_by_keyboard(browser: Browser, address: str, folder: Path) -> None:
    items = label_items(
        sample_rubrics(label_candidates(TASKS, REPORTS), 10, np.random.default_rng(1), 2), TASKS, REPORTS
    )
    given = {(one["task_id"], one["rubric_id"], one["report"]): one["satisfied"] for one in answers(folder)}
    assert set(given) == {one.key for one in items}
    # bo differs from ann on two items.
    differing = items[:2]
    failed = [one for one in items if given[one.key] == (one in differing)]
    label_all(items, "bo", folder / "labels", failed=failed)
    page = opened(browser, address, "cy")
    run_cell(page, 5)
    expect(page.locator(".jp-CodeCell").nth(5)).to_contain_text("the same label for 8 of 10 rubrics. Cohen's kappa is")
    desk = desk_of(page, SETTLE)
    expect(desk.locator(".lk-labels li")).to_have_count(2)
    page.keyboard.press("f")
    box = desk.locator("textarea")
    expect(box).to_be_focused()
    page.keyboard.press("Enter")
    expect(desk.locator(".lk-said")).to_have_text("Give the reason, then Enter")
    expect(box).to_be_focused()
    page.keyboard.type("p is not said")
    press(page, desk, "Enter", "1 of 2")
    page.keyboard.press("p")
    expect(box).to_be_focused()
    page.keyboard.type("said in the first line")
    press(page, desk, "Enter", "2 of 2")
    run_cell(page, REFERENCE)
    labels = read_labels(folder / "labels" / "labels.csv")
    assert len(labels) == 30
    settled = [one for one in labels if one.annotator == "reference" and one.note]
    assert [(one.satisfied, one.note) for one in settled] == [
        (False, "p is not said"),
        (True, "said in the first line"),
    ]


def test_four_reports_are_ranked_by_keyboard(browser: Browser, address: str, folder: Path) -> None:
    page = opened(browser, address, "ann")
    desk = desk_of(page, RANK)
    expect(desk.locator(".lk-board tbody tr")).to_have_count(4)
    for number, key in enumerate("1224" * 3, start=1):
        page.keyboard.press(key)
        expect(desk.locator(".lk-board td .lk-soft")).to_have_count(12 - number)
    page.keyboard.press("c")
    expect(desk.locator(".lk-head h4")).to_have_text("Report C")
    press(page, desk, "Enter", "1 of 1")
    run_cell(page, RANKINGS)
    assert "blinded ranking" in (folder / "run" / "rankings.csv").read_text(encoding="utf-8")
    names = ("factual accuracy", "completeness", "formatting")
    assert answers(folder, "rankings")[-1]["places"] == {name: [1, 2, 2, 4] for name in names}
