"""The pages of cases in a real browser: they open from a disk without a network, filter, obey keys, and run nothing."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chromium import chromium, needs_chromium
from made_cases import ATTACK, HOSTILE, judge, make_report, make_task, make_transcript, write_run
from playwright.sync_api import Browser, Page, expect

from lifesearch_kit.failures.modes import failure_modes
from lifesearch_kit.frames import judgments_frame, reports_frame, rubrics_frame, tasks_frame
from lifesearch_kit.records import Judgment, Label
from lifesearch_kit.results import Results, load_results
from lifesearch_kit.views.case_pages import write_case_page
from lifesearch_kit.views.run_page import write_run_page

SECONDS_TO_OPEN = 2.0
pytestmark = needs_chromium

Opener = Callable[..., Page]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run's page and a case's page, hostile in every field."""
    folder = tmp_path_factory.mktemp("pages")
    write_run_page(folder / "run.html", load_results(write_run(folder)), folder)
    task = make_task(0.6, 0.4, criterion=ATTACK, query=f"请比较 {ATTACK}", language="zh", domain=ATTACK)
    report = make_report(f"标题\u200b\n\n{HOSTILE}", model=ATTACK, notes=(ATTACK,))
    label = Label(system="s", task_id="t", rubric_id="R1", annotator=ATTACK, satisfied=True, note=ATTACK)
    write_case_page(
        folder / "case.html",
        task,
        report,
        [judge(1, False, reason=ATTACK), judge(2, True, judge=ATTACK)],
        make_transcript(ATTACK),
        [label],
        [(0, 2, ATTACK)],
    )
    return folder


@pytest.fixture
def opened(browser: Browser, pages: Path) -> Iterator[Opener]:
    """Opens a page with the network off; complaints of the browser are collected in `complaints`."""
    contexts = []

    def open_page(name: str | Path, width: int = 1280, scheme: str = "light", address: str = "") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme, offline=True)
        contexts.append(context)
        page = context.new_page()
        page.complaints = []
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on(
            "console", lambda said: page.complaints.append(said.text) if said.type in ("error", "warning") else None
        )
        page.on("request", lambda asked: None if asked.url.startswith("file:") else page.complaints.append(asked.url))
        page.goto((pages / name).as_uri() + address)
        if "run" in str(name):
            page.locator("html[data-ready]").wait_for(state="attached")
        return page

    yield open_page
    for context in contexts:
        context.close()


def open_all(page: Page) -> None:
    """Unfold whatever is folded, until nothing is."""
    while page.locator("details:not([open])").count():
        page.locator("details:not([open]) > summary").first.click()


def entries(page: Page) -> list[str]:
    return page.locator("#list .name").all_inner_texts()


def test_nothing_that_anyone_wrote_runs_or_loads(opened: Opener) -> None:
    page = opened("case.html")
    open_all(page)
    assert "<script>window.hit = 1</script>" in page.inner_text("main")
    for opened_page in (page, opened("run.html")):
        for entry in opened_page.locator(".entry").all():
            entry.click()
            opened_page.locator("#pane h2").wait_for()
            open_all(opened_page)
        opened_page.wait_for_timeout(100)
        assert opened_page.evaluate("window.hit") is None
        assert opened_page.complaints == []
        assert opened_page.locator("iframe, img, base, svg, main style, main script, main meta").count() == 0
        addresses = opened_page.locator("a").evaluate_all("all => all.map(one => one.getAttribute('href'))")
        assert addresses
        assert all(one.startswith(("http://", "https://", "#")) for one in addresses)


def test_the_policy_holds_where_markup_gets_in_all_the_same(opened: Opener) -> None:
    for name in ("case.html", "run.html"):
        page = opened(name)
        refused = page.evaluate("try { document.body.innerHTML = '<b>x</b>'; 'done' } catch (error) { error.name }")
        assert refused == "TypeError"
        page.evaluate(
            "() => { try { document.body.setAttribute('onclick', 'window.hit = 1') } catch { document.body.click() } }"
        )
        page.evaluate("document.body.setAttribute('style', 'display: none')")
        page.evaluate("fetch('https://evil.example/').catch(() => null)")
        assert page.evaluate("window.hit") is None
        assert page.locator("main").is_visible()
        told = "\n".join(page.complaints)
        for kind in ("TrustedHTML", "TrustedScript", "inline style", "Refused to connect"):
            assert kind in told


@pytest.mark.parametrize("name", ["case.html", "run.html"])
def test_it_fits_a_phone_and_follows_the_colour_scheme(opened: Opener, name: str) -> None:
    page = opened(name, 360, "dark")
    if name == "run.html":
        open_all(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360
        page.locator(".entry").first.click()
        page.locator("#pane h2").wait_for()
        assert not page.locator("#list").is_visible()
        page.select_option("#other", index=1)
        page.locator(".versus").wait_for()
    open_all(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor")
    page.emulate_media(color_scheme="light")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != dark
    if name == "run.html":
        page.get_by_role("button", name="Back to the list").click()
        expect(page.locator(".entry").first).to_be_focused()


def test_languages_headings_and_invisible_characters(opened: Opener) -> None:
    page = opened("case.html")
    assert page.locator("h1").count() == 1
    assert page.locator(".question").get_attribute("lang") == "zh-Hans"
    assert page.locator(".report").get_attribute("lang") == "zh-Hans"
    assert page.locator(".report .odd").first.inner_text() == "U+200B"
    assert "holds 1 invisible character (U+200B)" in page.inner_text("main")
    assert "never closed" in page.inner_text("main")
    assert page.locator("mark").first.inner_text() == "1标题"
    page.locator(".findings a").click()
    assert page.url.endswith("#finding-1")


def test_filters_leave_the_right_rows(opened: Opener) -> None:
    page = opened("run.html")
    count = page.locator("#count")
    expect(count).to_have_text("8 of 8 reports")
    page.locator("#chosen-filters").click()
    # A fails R2, the one rubric that is Subjective; B fails R1 alone, and its refused report fails all three.
    for name, value, told in [
        ("system", "B", "4 of 8 reports"),
        ("domain", "Finance", "2 of 8 reports"),
        ("type", "Subjective", "0 of 8 reports"),
        ("domain", "", "1 of 8 reports"),
        ("mode", "no report", "1 of 8 reports"),
    ]:
        page.select_option(f"#filter-{name}", value)
        expect(count).to_have_text(told)
    assert entries(page) == ["B, en-1, run 2"]
    expect(page.locator("#chosen-filters")).to_have_text("Filters and order (3 set)")
    page.get_by_role("button", name="Clear all filters").click()
    expect(count).to_have_text("8 of 8 reports")
    # Subjective and Must Have are on no one rubric: the refused report alone does not make a rubric of both.
    page.select_option("#filter-type", "Subjective")
    page.select_option("#filter-priority", "Must Have")
    expect(count).to_have_text("0 of 8 reports")
    page.get_by_role("button", name="Clear all filters").click()
    page.select_option("#filter-language", "Chinese")
    page.select_option("#filter-order", "high")
    expect(count).to_have_text("4 of 8 reports")
    # A has 0.5, B too (0.3 + 0.2): equals stay in the run's order.
    assert entries(page) == ["A, zh-1, run 1", "A, zh-1, run 2", "B, zh-1, run 1", "B, zh-1, run 2"]


def test_words_are_found_in_questions_and_on_demand_in_reports(opened: Opener) -> None:
    page = opened("run.html")
    page.fill("#words", "WHICH rule")
    expect(page.locator("#count")).to_have_text("4 of 8 reports")
    page.fill("#words", "needleb1")
    expect(page.locator("#count")).to_have_text("0 of 8 reports")
    page.check("#deep")
    expect(page.locator("#count")).to_have_text("2 of 8 reports")
    assert entries(page) == ["B, zh-1, run 1", "B, en-1, run 1"]


def test_it_is_usable_by_keyboard(opened: Opener) -> None:
    page = opened("run.html")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the case")).to_be_focused()
    page.locator("#words").focus()
    for _ in range(3):  # the box to tick, the folded filters, the list
        page.keyboard.press("Tab")
    listed = page.locator(".entry")
    expect(listed.nth(0)).to_be_focused()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(listed.nth(2)).to_be_focused()
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#pane h2").first).to_have_text("B, task zh-1, run 1")
    assert listed.nth(2).get_attribute("aria-current") == "true"
    page.keyboard.press("End")
    expect(listed.nth(7)).to_be_focused()
    page.keyboard.press("Home")
    page.keyboard.press("Tab")  # from the list into the case
    assert page.evaluate("document.querySelector('#pane').contains(document.activeElement)")
    page.keyboard.press("Escape")
    expect(listed.nth(2)).to_be_focused()


def test_a_report_has_an_address_and_a_history(opened: Opener) -> None:
    page = opened("run.html", address="#B/en-1/2")
    expect(page.locator("#pane h2").first).to_have_text("B, task en-1, run 2")
    page.locator(".entry").first.click()
    expect(page.locator("#pane h2").first).to_have_text("A, task zh-1, run 1")
    page.go_back()
    expect(page.locator("#pane h2").first).to_have_text("B, task en-1, run 2")


def test_two_reports_are_compared_rubric_by_rubric(opened: Opener) -> None:
    page = opened("run.html", address="#A/zh-1/1")
    page.select_option("#other", label="B, run 2: 2/3, 50.00%")
    expect(page.locator("#versus h3")).to_have_text("3 of 3 verdicts differ")
    first = page.locator(".versus tbody tr").first
    assert first.locator("td > span").all_inner_texts() == ["passed", "failed"]
    page.select_option("#other", label="A, run 2: 1/3, 50.00%")
    expect(page.locator("#versus h3")).to_have_text("0 of 3 verdicts differ")


def test_two_systems_are_compared_task_by_task(opened: Opener) -> None:
    page = opened("run.html", 375)
    page.get_by_role("button", name="Compare two systems").click()
    listed = page.locator(".choice")
    # zh-1: A has 0.5 and B 0.3 + 0.2, so nothing lies between them; en-1: A 0.5, B the mean of 0.5 and a refused 0.
    assert listed.locator(".name").all_inner_texts() == ["en-1", "zh-1"]
    assert listed.locator(".told").all_inner_texts() == [
        "+25.0 points (50.0% and 25.0%)",
        "+0.0 points (50.0% and 50.0%)",
    ]
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
    page.select_option("#system-1", "A")
    assert listed.count() == 0
    page.select_option("#system-0", "B")
    assert listed.locator(".gap").first.inner_text() == "−25.0 points"
    listed.nth(1).click()
    expect(page.locator("#pane h2").first).to_have_text("B, task zh-1, run 1")
    expect(page.locator("#versus h3")).to_have_text("3 of 3 verdicts differ")
    assert page.locator(".versus th").all_inner_texts()[1:] == ["B, run 1", "A, run 1"]
    assert page.complaints == []


def test_on_a_phone_what_is_tapped_is_as_wide_as_a_finger(opened: Opener) -> None:
    page = opened("run.html", 375)
    page.locator("#chosen-filters").click()
    heights = page.locator("button, select, summary, input[type=search], .tick label").evaluate_all(
        "all => all.filter(one => one.offsetParent).map(one => one.getBoundingClientRect().height)"
    )
    assert len(heights) > 10
    assert min(heights) >= 44


def test_names_of_any_kind_are_names(opened: Opener, tmp_path: Path) -> None:
    names = ["constructor", "__proto__", "a/b#c?d%20e", "'\"><b>", "אב", "苏 州", "toString"]
    reports = [make_report(task_id=name, system=name) for name in names]
    results = Results(tmp_path, reports=reports_frame(reports))
    page = opened(write_run_page(tmp_path / "run_names.html", results))
    expect(page.locator("#count")).to_have_text("7 of 7 reports")
    for number in range(len(names)):
        page.locator(".entry").nth(number).click()
        expect(page.locator(".entry[aria-current='true']")).to_have_attribute("data-number", str(number))
        expect(page.locator("#pane h2").first).to_have_text(
            page.locator(".entry .name").nth(number).inner_text().replace(", ", ", task ", 1)
        )
        address = page.evaluate("location.hash")
        page.evaluate("history.pushState(null, '', '#'); document.querySelector('#pane').replaceChildren()")
        page.evaluate("address => { location.hash = address }", address)
        expect(page.locator("#pane h2").first).to_be_visible()
    assert page.complaints == []


def test_a_case_of_two_megabytes_opens(opened: Opener, tmp_path: Path) -> None:
    text = "| never a table <script>window.hit = 1</script>\n```\n" * 40_000
    write_case_page(tmp_path / "large.html", make_task(1.0), make_report(text), [])
    page = opened(tmp_path / "large.html")
    assert "shown as written" in page.inner_text(".remark >> nth=1")
    assert page.evaluate("document.querySelector('.report').textContent.length") >= len(text)
    assert page.evaluate("window.hit") is None


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """2,000 reports of 10,000 characters, 20 rubrics each; words by chance, so that they compress as language does."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnoprstu", k=rng.randint(2, 9))) for _ in range(4000)]

    def text(length: int) -> str:
        drawn = "\n\n".join(" ".join(rng.choices(words, k=80)) for _ in range(length // 450 + 1))
        return drawn[:length]

    tasks = [
        make_task(*[0.5] * 20, task_id=f"t{number}", query=text(300), criterion=text(150)) for number in range(100)
    ]
    reports = [
        make_report(text(10_000), system=f"s{system}", task_id=task.task_id, run=run)
        for system in range(10)
        for task in tasks
        for run in (1, 2)
    ]
    judgments = [_verdict(rng, one.system, one.task_id, one.run, text(120)) for one in reports]
    results = Results(
        tmp_path_factory.mktemp("large"),
        tasks=tasks_frame(tasks),
        rubrics=rubrics_frame(tasks),
        reports=reports_frame(reports),
        judgments=judgments_frame([one for several in judgments for one in several]),
    )
    # Looking for failures in that many texts is not what is measured here.
    found = failure_modes(results.rubrics, results.reports.head(1))
    return write_run_page(results.folder / "run.html", results, findings=found)


def _verdict(rng: random.Random, system: str, task_id: str, run: int, reason: str) -> list[Judgment]:
    key = {"system": system, "task_id": task_id, "run": run}
    return [judge(number, rng.random() < 0.6, **key, reason=reason) for number in range(1, 21)]


def test_two_thousand_reports_open_at_once(opened: Opener, large: Path) -> None:
    assert large.stat().st_size < 40e6
    taken = []
    for _ in range(3):
        start = time.perf_counter()
        page = opened(large)
        taken.append(time.perf_counter() - start)
    expect(page.locator("#count")).to_have_text("2,000 of 2,000 reports")
    assert page.locator(".entry").count() < 200
    # The best of three: another load on the machine must not fail a test.
    assert min(taken) < SECONDS_TO_OPEN, taken
    page.locator("#chosen-filters").click()
    start = time.perf_counter()
    page.select_option("#filter-system", "s7")
    expect(page.locator("#count")).to_have_text("200 of 2,000 reports")
    page.locator(".entry").nth(50).click()
    page.locator("#pane .report").wait_for()
    assert time.perf_counter() - start < 2 * SECONDS_TO_OPEN
    assert page.complaints == []
