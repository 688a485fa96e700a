"""The demo web: terms, search, fetch, and bad files told in one go."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit import offline
from lifesearch_kit.dates import Moment, cutoff_date, date_mentions, parse_day
from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.offline.quantities import quantities
from lifesearch_kit.offline.web import MARK_EN, MARK_ZH, PAGE_CHARACTERS
from lifesearch_kit.terms import key_terms, sentences, tokenize


def page(url: str, title: str, text: str, **fields: Any) -> dict[str, Any]:
    return {
        "url": f"https://{url}", "title": title, "site": "Fennel Survey", "kind": "official", "language": "en",
        "published": "2026-01-15", "text": text,
    } | fields  # fmt: skip


PAGES = [
    page("survey.fennel.example/lake", "Depth of Lake Orrin", "Lake Orrin is 41 metres deep. It was measured in 2025."),
    page("survey.fennel.example/hill", "Height of Mount Orrin", "Mount Orrin is 912 metres high."),
    page("tongji.baisha.example/qiao", "白沙大桥车流量公报", "2025年白沙大桥日均车流量为6.2万辆。", language="zh"),
    page("tongji.baisha.example/cha", "白沙茶叶产量", "2025年白沙茶叶产量为830吨。", language="zh", published=None),
]


def web_of(folder: Path, pages: list[dict[str, Any]] = PAGES) -> offline.Web:
    path = folder / "pages.jsonl"
    path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in pages), encoding="utf-8")
    return offline.Web.load(path)


@pytest.fixture
def web(tmp_path: Path) -> offline.Web:
    return web_of(tmp_path)


def test_tokens_are_words_without_plural_numbers_and_chinese_pairs() -> None:
    assert tokenize("The Lakes' 4,820 ferries") == ["the", "lake", "4820", "ferry"]
    assert tokenize("白沙大桥２０２５年") == ["白沙", "沙大", "大桥", "2025", "年"]
    assert key_terms("the height of the hill") == ["height", "hill"]


def test_sentences_end_at_points_of_both_scripts_but_not_in_numbers_or_abbreviations() -> None:
    assert sentences("It rose 3.5% in 2025. Experts, e.g. Dr. Moor, agree.") == [
        "It rose 3.5% in 2025.",
        "Experts, e.g. Dr. Moor, agree.",
    ]
    assert sentences("产量为3.5万吨。价格下降！") == ["产量为3.5万吨。", "价格下降！"]


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("on 31 March 2026", Moment(2026, 3, 31)),
        ("March 31st, 2026", Moment(2026, 3, 31)),
        ("2026-03-31", Moment(2026, 3, 31)),
        ("2026/3/31", Moment(2026, 3, 31)),
        ("２０２６年３月３１日", Moment(2026, 3, 31)),
        ("Mar. 2026", Moment(2026, 3)),
        ("2026年3月", Moment(2026, 3)),
        ("Q3 2025", Moment(2025, quarter=3)),
        ("2025年第三季度", Moment(2025, quarter=3)),
        ("the second quarter of 2025", Moment(2025, quarter=2)),
        ("3月31日", Moment(0, 3, 31)),
        ("in 2025", Moment(2025)),
    ],
)
def test_date_forms(text: str, moment: Moment) -> None:
    assert [one.moment for one in date_mentions(text)] == [moment]


def test_what_is_no_date_is_none() -> None:
    assert date_mentions("2,025 tonnes, 2025% and 30 February 2026")[0].moment == Moment(2026, 2)
    assert date_mentions("nothing here") == []


def test_a_fuller_date_says_what_an_open_one_asks() -> None:
    assert Moment(2026, 3).allows(Moment(2026, 3, 31))
    assert not Moment(2026, 3, 31).allows(Moment(2026, 3))
    assert Moment(2025, quarter=3).allows(Moment(2025, 8, 2))
    assert Moment(2025, quarter=3).last_day() == date(2025, 9, 30)


@pytest.mark.parametrize(
    ("question", "day"),
    [
        ("As of 31 May 2026, what changed since 1 January 2024?", date(2026, 5, 31)),
        ("Use only sources published up to the end of June 2026.", date(2026, 6, 30)),
        ("截至2025年12月31日，2026年1月的活动除外，情况如何？", date(2025, 12, 31)),
        ("只采用2026年2月28日以前的资料", date(2026, 2, 28)),
        ("What was the depth on 3 April 2025?", None),
    ],
)
def test_cutoff_is_the_date_beside_a_cutoff_phrase(question: str, day: date | None) -> None:
    assert cutoff_date(question) == day


@given(st.dates(date(1990, 1, 1), date(2099, 12, 31)))
def test_every_day_reads_alike_in_all_forms(day: date) -> None:
    forms = [
        day.isoformat(),
        f"{day.year}年{day.month}月{day.day}日",
        f"{day.day} {day:%B} {day.year}",
        f"{day:%b} {day.day}, {day.year}",
    ]
    assert {parse_day(form) for form in forms} == {day}


@given(st.integers(1, 9_999), st.sampled_from([("万", 4), ("亿", 8), (" million", 6), ("bn", 9), (" thousand", 3)]))
def test_magnitudes_bring_numbers_to_one_scale(number: int, magnitude: tuple[str, int]) -> None:
    word, power = magnitude
    assert [one.value for one in quantities(f"{number / 100:.2f}{word}")] == [pytest.approx(number / 100 * 10**power)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1.2亿人", "120 million people"),
        ("６．２万辆", "62,000 cars"),
        ("百分之12", "12 per cent"),
        ("3.5%", "3.5 percentage points"),
        ("$4.82bn", "4,820 million dollars"),
    ],
)
def test_equal_quantities(one: str, other: str) -> None:
    assert quantities(one)[0].matches(quantities(other)[0])


def test_what_a_number_lets_pass() -> None:
    exact, about, between = (quantities(text)[0] for text in ("4.82 million", "about 200 tonnes", "20% to 25%"))
    # 4,821,340 rounds to 4.82 million, 4,826,000 to 4.83 million.
    assert exact.matches(quantities("4,821,340")[0])
    assert not exact.matches(quantities("4,826,000")[0])
    assert not exact.matches(quantities("4.82%")[0])
    assert (about.low, about.high) == (194.0, 206.0)
    assert (between.low, between.high) == (20.0, 25.0)


def test_dates_identifiers_times_and_named_numbers_are_no_quantities() -> None:
    text = "On 3 May 2026 release 2.14.9 of Atlas 2 (TSA-2026-031) came at 08:40, the 3rd in 2026年第2季度."
    assert quantities(text) == []
    assert [one.value for one in quantities("from 12 to 15 boats")] == [12.0, 15.0]


def test_search_ranks_what_shares_rare_terms(web: offline.Web) -> None:
    assert [one.title for one in web.search("How deep is Lake Orrin?")] == [
        "Depth of Lake Orrin",
        "Height of Mount Orrin",
    ]
    assert web.search("白沙大桥的车流量")[0].title == "白沙大桥车流量公报"
    assert web.search("zeppelin") == []


def test_search_result_text(web: offline.Web) -> None:
    result = asyncio.run(offline.search_tool(web).call(query="白沙 产量"))
    # Both pages share 白沙; only the second one holds 产量, and it has no date.
    assert result.startswith(
        "[1] 白沙茶叶产量\nURL: https://tongji.baisha.example/cha\n2025年白沙茶叶产量为830吨。\n\n"
        "[2] 白沙大桥车流量公报\n"
        "URL: https://tongji.baisha.example/qiao\nDate: 2026-01-15\n"
    )


def test_fetch_result_text_says_that_the_page_is_invented(web: offline.Web) -> None:
    fetch = offline.fetch_tool(web).call
    assert asyncio.run(fetch(url="https://survey.fennel.example/lake/")) == (
        "Title: Depth of Lake Orrin\nURL: https://survey.fennel.example/lake\nPublished: 2026-01-15\nPage: 1 of 1\n\n"
        f"Lake Orrin is 41 metres deep. It was measured in 2025.\n\n{MARK_EN}"
    )
    assert asyncio.run(fetch(url="https://tongji.baisha.example/cha")).endswith(MARK_ZH)


def test_long_pages_come_in_parts_that_together_hold_everything(tmp_path: Path) -> None:
    lines = [f"Line {number} of the register." for number in range(200)]
    web = web_of(tmp_path, [page("long.example/r", "Register", "\n".join(lines))])
    fetch = offline.fetch_tool(web).call
    first = asyncio.run(fetch(url="https://long.example/r"))
    count = int(first.partition("Page: 1 of ")[2].partition("\n")[0])
    parts = [asyncio.run(fetch(url="https://long.example/r", page=number)) for number in range(1, count + 1)]
    shown = [line for part in parts for line in part.splitlines() if line.startswith("Line ")]
    assert shown == lines
    assert all(len(part) < PAGE_CHARACTERS + 300 for part in parts)
    with pytest.raises(ToolError, match=f"has {count} page"):
        asyncio.run(fetch(url="https://long.example/r", page=count + 1))


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("search", {"query": " "}), ("fetch", {"url": "https://x.example"})],
)
def test_tools_fail_with_a_tool_error(web: offline.Web, tool: str, arguments: dict[str, str]) -> None:
    tools = {"search": offline.search_tool(web), "fetch": offline.fetch_tool(web)}
    with pytest.raises(ToolError):
        asyncio.run(tools[tool].call(**arguments))


def test_a_search_without_a_hit_says_so_like_the_real_one(web: offline.Web) -> None:
    assert asyncio.run(offline.search_tool(web).call(query="zeppelin")) == "No results for 'zeppelin'; try other words."


def test_another_web_is_another_backend(web: offline.Web) -> None:
    other = offline.Web([*web.pages[:-1], web.pages[-1].model_copy(update={"text": "Edited."})])
    assert offline.Web(web.pages).name == web.name != other.name


def test_all_faults_of_a_pages_file_are_told_at_once(tmp_path: Path) -> None:
    bad = [
        page("a.example/1", "A", "text"),
        page("a.example/1", "B", "text"),
        page("www.real-site.com/1", "C", "text"),
        page("a.example/2", "D", "text", published="2026-02-30", kind="rumour"),
        {"url": "https://a.example/3"},
    ]
    with pytest.raises(InputError) as caught:
        web_of(tmp_path, bad)
    told = "\n".join(caught.value.faults)
    for words in (
        "pages.jsonl:2",
        ".example or .invalid",
        "pages.jsonl:4",
        "'kind'",
        "no date",
        "pages.jsonl:5",
        "'title'",
        "missing",
    ):
        assert words in told


def test_an_empty_web_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no page"):
        web_of(tmp_path, [])
