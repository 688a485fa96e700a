"""The as-of guard: dates as they are shown, what is dropped, what is marked, and where it stands among the wrappers."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools import snapshots as snapshots_module
from lifesearch_kit.tools.as_of import as_of_guard, read_span
from lifesearch_kit.tools.blocklist import Blocklist, blocking
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.layout import Hit, show_hits, show_page
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.tools.snapshots import Snapshots

CUTOFF = date(2026, 3, 31)
TOLD_ON = date(2026, 4, 2)


def tool(answer: str, name: str = "search", backend: str = "stand-in", asked: list[Any] | None = None) -> Tool:
    async def call(**arguments: Any) -> str:
        if asked is not None:
            asked.append(arguments)
        return answer

    return Tool(name, function_schema(name), call, backend=backend)


def run(one: Tool, **arguments: Any) -> str:
    return asyncio.run(one.run(json.dumps(arguments)))


@pytest.mark.parametrize(
    ("shown", "first", "last"),
    [
        ("2026-03-05", "2026-03-05", "2026-03-05"),
        ("2026-03-05T23:10:00+08:00", "2026-03-05", "2026-03-05"),
        ("Mar 5, 2026", "2026-03-05", "2026-03-05"),
        ("Thu, 05 Mar 2026 12:00:00 GMT", "2026-03-05", "2026-03-05"),
        ("2026年3月5日", "2026-03-05", "2026-03-05"),
        ("２０２６年３月５日", "2026-03-05", "2026-03-05"),
        ("March 2026", "2026-03-01", "2026-03-31"),
        ("2026年3月", "2026-03-01", "2026-03-31"),
        ("Q2 2026", "2026-04-01", "2026-06-30"),
        ("2026", "2026-01-01", "2026-12-31"),
        # Told on 2 April 2026
        ("today", "2026-04-02", "2026-04-02"),
        ("昨天", "2026-04-01", "2026-04-01"),
        ("3 days ago", "2026-03-30", "2026-03-30"),
        ("3天前", "2026-03-30", "2026-03-30"),
        ("三天前", "2026-03-30", "2026-03-30"),
        ("20 minutes ago", "2026-04-02", "2026-04-02"),
        ("5 hours ago", "2026-04-01", "2026-04-02"),
        ("5小时前", "2026-04-01", "2026-04-02"),
        # from one week to two: 7 and 14 days back
        ("1 week ago", "2026-03-19", "2026-03-26"),
        ("a week ago", "2026-03-19", "2026-03-26"),
        ("1周前", "2026-03-19", "2026-03-26"),
        # 60 and 90 days back
        ("2 months ago", "2026-01-02", "2026-02-01"),
        ("2个月前", "2026-01-02", "2026-02-01"),
        ("1 year ago", "2024-04-02", "2025-04-02"),
        # No year: the last one before
        ("Mar 5", "2026-03-05", "2026-03-05"),
        ("3月5日", "2026-03-05", "2026-03-05"),
        ("Apr 3", "2025-04-03", "2025-04-03"),
        ("4月", "2026-04-01", "2026-04-30"),
    ],
)
def test_dates_as_they_are_shown(shown: str, first: str, last: str) -> None:
    assert read_span(shown, TOLD_ON) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize("shown", ["", "recently", "in spring", "3 people", "99999 years", "9999 years ago", "Feb 30"])
def test_what_is_no_date_is_none(shown: str) -> None:
    assert read_span(shown, TOLD_ON) is None


@given(st.dates(date(1990, 1, 1), date(2090, 1, 1)))
def test_the_three_full_forms_agree_for_every_day(day: date) -> None:
    forms = [day.isoformat(), f"{day:%b} {day.day}, {day.year}", f"{day.year}年{day.month}月{day.day}日"]
    assert {read_span(form, TOLD_ON) for form in forms} == {(day, day)}


@given(st.text(max_size=40))
def test_any_text_is_read_without_an_error(text: str) -> None:
    span = read_span(text, TOLD_ON)
    assert span is None or span.first <= span.last


HITS = [
    Hit("In time", "https://a.example/1", "s", "Mar 31, 2026"),
    Hit("Late", "https://a.example/2", "s", "2026年4月1日"),
    Hit("Undated", "https://a.example/3", "s"),
    Hit("Vague", "https://a.example/4", "s", "2026"),
    Hit("Old", "https://a.example/5", "Since 2027.", "2025"),
]


def test_late_results_are_dropped_and_undated_ones_counted() -> None:
    counts: Counter[str] = Counter()
    shown = run(as_of_guard(tool(show_hits("q", HITS)), CUTOFF, counts=counts), query="q")
    left = show_hits("q", [HITS[0], *HITS[2:]])
    assert shown == f"{left}\n\n(1 result dated after 2026-03-31 left out; 2 results with no date that tells.)"
    assert counts == {"in time": 2, "late": 1, "undated": 2}


def test_late_results_are_marked() -> None:
    shown = run(as_of_guard(tool(show_hits("q", HITS)), CUTOFF, "mark"), query="q")
    marked = show_hits("q", HITS).replace("Date: 2026年4月1日", "Date: 2026年4月1日 (after 2026-03-31)")
    assert shown == f"{marked}\n\n(1 result dated after 2026-03-31 marked; 2 results with no date that tells.)"


def test_a_list_in_time_stays_as_it_is_and_an_answer_box_is_undated() -> None:
    text = show_hits("q", [HITS[0], HITS[4]])
    assert run(as_of_guard(tool(text), CUTOFF), query="q") == text
    shown = run(as_of_guard(tool(f"Answer box: 41 metres\n\n{text}"), CUTOFF), query="q")
    assert shown == f"Answer box: 41 metres\n\n{text}\n\n(1 result with no date that tells.)"
    none = show_hits("q", [])
    assert run(as_of_guard(tool(none), CUTOFF), query="q") == none


def page(published: str | None) -> str:
    return show_page("Date: 2030-01-01\n\nText.", 1, 99, title="T", url="https://a.example", published=published)


def test_a_late_page_is_refused_or_marked() -> None:
    late = tool(page("2026-04-01T08:00:00Z"), "fetch")
    with pytest.raises(ToolError, match=r"is dated 2026-04-01T08:00:00Z, after 2026-03-31") as caught:
        run(as_of_guard(late, CUTOFF), url="u")
    assert not caught.value.service_failed
    marked = run(as_of_guard(late, CUTOFF, "mark"), url="u")
    assert "\nPage: 1 of 1\nNote: this page is dated 2026-04-01T08:00:00Z, after 2026-03-31" in marked
    assert marked.endswith("\n\nDate: 2030-01-01\n\nText.")


def test_a_page_in_time_stays_as_it_is_and_an_undated_one_says_so() -> None:
    counts: Counter[str] = Counter()
    assert run(as_of_guard(tool(page("2026-03-31"), "fetch"), CUTOFF, counts=counts), url="u") == page("2026-03-31")
    shown = run(as_of_guard(tool(page(None), "fetch"), CUTOFF, counts=counts), url="u")
    assert "Page: 1 of 1\nNote: no date shows whether this page is from after 2026-03-31\n\nDate: 2030" in shown
    assert counts == {"in time": 1, "undated": 1}


def test_the_cutoff_and_the_mode_are_part_of_the_backend_and_none_changes_nothing() -> None:
    plain = tool("")
    assert as_of_guard(plain, None) is plain
    assert as_of_guard(plain, CUTOFF).backend == "stand-in, as of 2026-03-31 (drop)"
    assert as_of_guard(plain, CUTOFF, "mark").backend == "stand-in, as of 2026-03-31 (mark)"
    with pytest.raises(InputError, match="as-of mode 'hide' is not known"):
        as_of_guard(plain, CUTOFF, "hide")  # type: ignore[arg-type]


class _Clock(datetime):
    """The day of capture."""

    @classmethod
    def now(cls, tz: Any = None) -> datetime:
        return datetime(2026, 4, 2, 12, tzinfo=UTC)


@pytest.mark.parametrize(("cutoff", "kept"), [(date(2026, 3, 29), False), (date(2026, 3, 30), True)])
def test_relative_dates_count_from_the_day_of_capture(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cutoff: date, kept: bool
) -> None:
    monkeypatch.setattr(snapshots_module, "datetime", _Clock)
    searched = tool(show_hits("q", [Hit("T", "https://a.example/", "s", "3 days ago")]))
    with Snapshots(tmp_path) as snapshots:
        # 2 April less three days is 30 March, however long ago that is by now.
        guarded = as_of_guard(blocking(snapshots.of(searched), Blocklist(["b.example"])), cutoff)
        assert ("https://a.example/" in run(guarded, query="q")) is kept


def test_one_set_of_snapshots_serves_every_blocklist_and_cutoff(tmp_path: Path, loopback) -> None:
    """Snapshots innermost, then the blocklist, then the guard: the later settings ask nobody anew."""
    loopback.searches["q"] = {"organic": [
        {"title": "Old", "link": "https://old.example/", "date": "Mar 1, 2026"},
        {"title": "New", "link": "https://new.example/", "date": "Apr 9, 2026"},
        {"title": "Key", "link": "https://key.example/", "date": "Mar 1, 2026"},
    ]}  # fmt: skip
    new = "Title: New\n\nURL Source: https://new.example/\n\nPublished Time: 2026-04-09\n\nMarkdown Content:\n"
    loopback.pages["https://new.example/"] = new + "The lake was 41 metres deep in 2026, as measured in April. " * 9
    with Snapshots(tmp_path) as snapshots:
        inner = [
            snapshots.of(search_tool(endpoint=loopback.search_url)),
            snapshots.of(fetch_tool(endpoint=loopback.reader_url)),
        ]
        seen = []
        for entries in ([], ["key.example"]):
            for cutoff in (None, CUTOFF):
                search, fetch = [as_of_guard(blocking(one, Blocklist(entries)), cutoff) for one in inner]
                hosts = [name for name in ("old", "new", "key") if f"//{name}.example" in run(search, query="q")]
                try:
                    read = "41 metres" in run(fetch, url="https://new.example/")
                except ToolError as error:
                    read = "after 2026-03-31" not in str(error)
                seen.append((hosts, read, search.backend, len(loopback.asked)))
    assert [one[:2] for one in seen] == [
        (["old", "new", "key"], True),
        (["old", "key"], False),
        (["old", "new"], True),
        (["old"], False),
    ]
    assert len({one[2] for one in seen}) == 4
    # The first setting, without list and cutoff, asked for all that there was.
    assert {one[3] for one in seen} == {seen[0][3]}
