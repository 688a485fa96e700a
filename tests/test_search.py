"""Search: Serper's settings and its patience, and a second engine behind the same tool."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler
from itertools import pairwise
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback, Site, serve_site

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools import Tool, function_schema, searxng, service
from lifesearch_kit.tools.layout import Hit, SearchResults, collect_hits, show_results
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.tools.search_replies import read_results
from lifesearch_kit.tools.searxng import searxng_search_tool


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as served:
        yield served


def run(tool: Tool, query: str = "q") -> str:
    return asyncio.run(tool.run(json.dumps({"query": query})))


def failed(tool: Tool, query: str = "q") -> ToolError:
    with pytest.raises(ToolError) as caught:
        run(tool, query)
    return caught.value


# Serper


@pytest.mark.parametrize(
    ("settings", "query", "sent"),
    [
        ({}, "population", {"num": 10, "hl": "en", "gl": "us"}),
        ({}, "镇江 人口", {"num": 10, "hl": "zh-cn", "gl": "cn"}),
        ({}, "臺北 2025 population", {"num": 10, "hl": "zh-cn", "gl": "cn"}),
        ({}, "東京の人口", {"num": 10, "hl": "en", "gl": "us"}),
        ({}, "서울 人口", {"num": 10, "hl": "en", "gl": "us"}),
        ({"results": 30}, "q", {"num": 30, "hl": "en", "gl": "us"}),
        ({"language": None}, "镇江", {"num": 10, "gl": "cn"}),
        ({"language": None, "region": None}, "镇江", {"num": 10}),
        ({"language": "de", "region": "at"}, "镇江", {"num": 10, "hl": "de", "gl": "at"}),
        (
            {"as_of": date(2026, 3, 5)},
            "q",
            {"num": 10, "hl": "en", "gl": "us", "tbs": "cdr:1,cd_max:3/5/2026"},
        ),
    ],
)
def test_settings_are_sent_as_serper_takes_them(
    loopback: Loopback, settings: dict[str, Any], query: str, sent: dict[str, Any]
) -> None:
    run(search_tool(endpoint=loopback.search_url, **settings), query)
    assert loopback.asked[0][2] == {"q": query, **sent}


@pytest.mark.parametrize(
    ("settings", "backend"),
    [
        ({}, "Serper, 10 results, language by query, region by query"),
        ({"results": 20, "language": "en", "region": None}, "Serper, 20 results, language en, region None"),
        (
            {"as_of": date(2026, 3, 5)},
            "Serper, 10 results, language by query, region by query, until 2026-03-05",
        ),
    ],
)
def test_the_backend_tells_every_setting_that_changes_results(
    loopback: Loopback, settings: dict[str, Any], backend: str
) -> None:
    tool = search_tool(endpoint=loopback.search_url, **settings)
    assert tool.backend == backend
    assert tool.schema == function_schema("search")


def test_all_wrong_settings_are_told_at_once(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SERPER_API_KEY")
    with pytest.raises(InputError) as caught:
        search_tool(results=0, language="English, please", region="")
    told = str(caught.value)
    assert len(caught.value.faults) == 4
    for words in ("language is 'English, please'", "region is ''", "results is 0", "SERPER_API_KEY"):
        assert words in told


def test_an_address_is_shown_once() -> None:
    links = ["https://a.example/1", "https://a.example/2", "https://a.example/1", None, 5, "https://a.example/2"]
    found = read_results({"organic": [{"title": f"{n}", "link": link} for n, link in enumerate(links)]})
    # Six results: two without an address, two that repeat the first and the second.
    assert found.hits == (Hit("0", "https://a.example/1"), Hit("1", "https://a.example/2"))
    assert (found.dropped, found.repeated) == (2, 2)
    shown = show_results("q", found)
    assert "(2 result(s) without an address were left out.)\n\n(2 repeated result(s) were left out.)" in shown


@given(st.lists(st.none() | st.builds(Hit, st.text(max_size=3), st.sampled_from("abc"))))
def test_every_result_is_shown_or_counted(found: list[Hit | None]) -> None:
    results = collect_hits(found)
    assert len(results.hits) + results.dropped + results.repeated == len(found)
    firsts = [hit for n, hit in enumerate(found) if hit and hit.url not in [one.url for one in found[:n] if one]]
    assert list(results.hits) == firsts


def test_what_serper_sends_around_its_results_does_no_harm(loopback: Loopback) -> None:
    loopback.searches["q"] = {
        "searchParameters": {"q": "q", "type": "search", "num": 10, "engine": "google"},
        "knowledgeGraph": {"title": "Q", "attributes": {"a": "b"}},
        "organic": [
            {
                "title": "One",
                "link": "https://a.example/1",
                "snippet": "s",
                "position": 1,
                "sitelinks": [{"title": "x"}],
            }
        ],
        "peopleAlsoAsk": [{"question": "?"}],
        "relatedSearches": [{"query": "r"}],
        "credits": 1,
    }
    assert run(search_tool(endpoint=loopback.search_url)) == "[1] One\nURL: https://a.example/1\ns"


# Patience


def busy(times: int, header: str | None, then: Any) -> tuple[Any, list[float]]:
    """A path that says 429 so many times, and when it was asked."""
    asked: list[float] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.rfile.read(int(handler.headers.get("Content-Length", 0)))
        asked.append(time.monotonic())
        late = len(asked) > times
        body = json.dumps(then if late else {"message": "Too many requests."}).encode()
        handler.send_response(200 if late else 429)
        handler.send_header("Connection", "close")
        handler.send_header("Content-Length", str(len(body)))
        if header is not None and not late:
            handler.send_header("Retry-After", header)
        handler.end_headers()
        handler.wfile.write(body)

    return answer, asked


FOUND = {"organic": [{"title": "T", "link": "https://a.example/"}]}


@pytest.mark.parametrize("header", ["0.2", "0", "past"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_busy_service_is_waited_for_as_long_as_it_says(
    loopback: Loopback, site: Site, header: str, times: int
) -> None:
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=5), usegmt=True)
    site.paths["/search"], asked = busy(times, past if header == "past" else header, FOUND)
    assert "https://a.example/" in run(search_tool(endpoint=f"{site.url}/search"))
    assert len(asked) == times + 1
    pauses = [after - before for before, after in pairwise(asked)]
    assert all(pause >= (0.2 if header == "0.2" else 0) for pause in pauses)


@pytest.mark.parametrize(
    ("header", "requests"), [("0", 3), (None, 1), ("3600", 1), ("soon", 1), ("-1", 1), ("9" * 400, 1), ("nan", 1)]
)
def test_patience_has_its_bounds(loopback: Loopback, site: Site, header: str | None, requests: int) -> None:
    site.paths["/search"], asked = busy(100, header, FOUND)
    started = time.monotonic()
    error = failed(search_tool(endpoint=f"{site.url}/search"))
    assert "HTTP 429: Too many requests." in str(error)
    assert error.service_failed
    assert len(asked) == requests
    assert time.monotonic() - started < 8


def test_a_date_in_the_future_is_waited_for(loopback: Loopback, site: Site) -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=3), usegmt=True)
    site.paths["/search"], asked = busy(1, soon, FOUND)
    run(search_tool(endpoint=f"{site.url}/search"))
    # Dates have whole seconds, so two of the three are left at least, less what the first request took.
    assert asked[1] - asked[0] > 0.5


def test_a_service_that_drips_meets_its_time_limit(
    loopback: Loopback, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b" ")
            handler.wfile.flush()
            time.sleep(0.05)

    monkeypatch.setattr("lifesearch_kit.tools.search.SECONDS", 0.4)
    site.paths["/search"] = drip
    started = time.monotonic()
    error = failed(search_tool(endpoint=f"{site.url}/search"))
    assert "did not answer (TimeoutError)" in str(error)
    assert error.service_failed
    assert time.monotonic() - started < 4


def test_a_reply_that_is_too_large_is_a_failure(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service, "REPLY_BYTES", 10_000)
    loopback.searches["q"] = {"organic": [], "filler": "x" * 20_000}
    assert "the most that is read" in str(failed(search_tool(endpoint=loopback.search_url)))


# SearXNG


def searxng_reply(**fields: Any) -> str:
    reply = {
        "query": "q",
        "number_of_results": 0,
        "results": [],
        "answers": [],
        "corrections": [],
        "infoboxes": [],
        "suggestions": [],
        "unresponsive_engines": [],
    }
    return json.dumps(reply | fields)


def result(url: Any, title: str = "T", content: Any = "C", **more: Any) -> dict[str, Any]:
    host = urlsplit(url).netloc if isinstance(url, str) else ""
    return {
        "url": url,
        "title": title,
        "content": content,
        "engine": "duckduckgo",
        "parsed_url": ["https", host, "/", "", "", ""],
        "template": "default.html",
        "engines": ["duckduckgo"],
        "positions": [1],
        "score": 1.0,
        "category": "general",
        "publishedDate": None,
        **more,
    }


JSON = {"Content-Type": "application/json"}


def test_searxng_looks_to_the_model_as_serper_does(loopback: Loopback, site: Site) -> None:
    site.paths["/search"] = (
        JSON,
        searxng_reply(
            results=[
                result("https://a.example/1", "公报", "常住人口\n66万", publishedDate="2026-03-02T00:00:00"),
                result("https://a.example/2", "News", "More."),
            ]
        ),
    )
    loopback.searches["盐城 人口"] = {
        "organic": [
            {"title": "公报", "link": "https://a.example/1", "snippet": "常住人口\n66万", "date": "2026-03-02"},
            {"title": "News", "link": "https://a.example/2", "snippet": "More."},
        ]
    }
    tool = searxng_search_tool(f"{site.url}/search")
    assert run(tool, "盐城 人口") == run(search_tool(endpoint=loopback.search_url), "盐城 人口")
    asked = parse_qs(urlsplit(site.visits[0][1]).query)
    assert asked == {"q": ["盐城 人口"], "format": ["json"], "language": ["zh-CN"]}
    assert tool.schema == function_schema("search")


@pytest.mark.parametrize(
    ("settings", "sent", "told"),
    [
        ({}, "en-US", "10 results, language by query"),
        ({"language": "de", "results": 3}, "de", "3 results, language de"),
        ({"language": None}, None, "10 results, language None"),
    ],
)
def test_searxng_settings(site: Site, settings: dict[str, Any], sent: str | None, told: str) -> None:
    site.paths["/search"] = (JSON, searxng_reply(results=[result(f"https://a.example/{n}") for n in range(20)]))
    tool = searxng_search_tool(f"{site.url}/search", **settings)
    assert tool.backend == f"SearXNG at {site.url}/search, {told}"
    assert run(tool).count("URL: ") == settings.get("results", 10)
    assert parse_qs(urlsplit(site.visits[0][1]).query).get("language") == (None if sent is None else [sent])


def test_searxng_results_that_cannot_be_used_are_counted() -> None:
    entries = [result("https://a.example/1", content=None), result(None), result(5), "text", result("magnet:?x")]
    reply = json.loads(searxng_reply(results=[*entries, result("https://a.example/1")]))
    found = searxng.read_results(reply)
    assert found == SearchResults((Hit("T", "https://a.example/1"),), dropped=4, repeated=1)


@pytest.mark.parametrize(
    ("answers", "shown"),
    [
        (["66万"], "66万"),
        ([{"answer": "8 m", "url": "https://a.example", "template": "answer/legacy.html"}], "8 m"),
        ([], ""),
        (None, ""),
    ],
)
def test_searxng_answers_in_the_old_and_the_new_form(answers: Any, shown: str) -> None:
    assert searxng.read_results({"results": [], "answers": answers}).answer == shown


@pytest.mark.parametrize(
    ("reply", "words", "lost"),
    [
        ((JSON, searxng_reply()), None, False),
        (
            (JSON, searxng_reply(unresponsive_engines=[["google", "Suspended: CAPTCHA"], ["bing", "timeout"]])),
            "did not answer: google Suspended: CAPTCHA; bing timeout",
            True,
        ),
        ((403, {}, "<html><h1>Forbidden</h1></html>"), "HTTP 403 without JSON", True),
        ((429, JSON, '{"error": "limiter"}'), "HTTP 429: limiter", True),
        ((JSON, '{"error": "No query"}'), "'results' is null instead of a list: No query", True),
        ((JSON, '{"results": {"1": {}}}'), "'results' is an object instead of a list", False),
        ((JSON, "[]"), "a list instead of an object", False),
        ("<html>busy</html>", "HTTP 200 without JSON", True),
    ],
)
def test_searxng_failures(site: Site, reply: Any, words: str | None, lost: bool) -> None:
    site.paths["/search"] = reply
    tool = searxng_search_tool(f"{site.url}/search")
    if words is None:
        assert run(tool) == "No results for 'q'; try other words."
    else:
        error = failed(tool)
        assert words in str(error)
        assert error.service_failed == lost


def test_searxng_needs_an_address_and_words(site: Site) -> None:
    assert "blank" in str(failed(searxng_search_tool(f"{site.url}/search"), " "))
    assert failed(searxng_search_tool("http://127.0.0.1:9/search")).service_failed
    for endpoint in ("", "search.example", "ftp://search.example", "https://user:word@search.example/search"):
        with pytest.raises(InputError) as caught:
            searxng_search_tool(endpoint, results=0, language="all languages")
        assert len(caught.value.faults) == 3
        assert "word@" not in str(caught.value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(["results", "url", "title", "answers", "answer", "unresponsive_engines", "error"]),
                inner,
            )
        ),
    )
)
def test_no_searxng_payload_ends_otherwise_than_in_results_or_a_failure(payload: Any) -> None:
    try:
        found = searxng.read_results(payload)
    except ToolError:
        return
    assert isinstance(found, SearchResults)


def test_any_async_callable_can_stand_in_for_the_search() -> None:
    async def archive(query: str) -> str:
        return show_results(query, collect_hits([Hit("Own archive", f"https://archive.example/{query}")]))

    tool = Tool("search", function_schema("search"), archive, backend="own archive")
    assert run(tool, "2025") == "[1] Own archive\nURL: https://archive.example/2025"
