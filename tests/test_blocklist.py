"""Blocked addresses: however they are spelt or wrapped, in calls, in results and behind redirects."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.blocklist import Blocklist, blocking
from lifesearch_kit.tools.layout import Hit, show_hits, show_page
from lifesearch_kit.tools.search import search_tool

LIST = Blocklist(["blocked.example", "github.example/Team/Bench", "papers.example/*/2610.18092*", "my-bench.example"])


def tool(answer: str, name: str = "fetch", asked: list[Any] | None = None) -> Tool:
    async def call(**arguments: Any) -> str:
        if asked is not None:
            asked.append(arguments)
        return answer

    return Tool(name, function_schema(name), call, backend="stand-in")


def run(one: Tool, **arguments: Any) -> str:
    return asyncio.run(one.run(json.dumps(arguments)))


HIDDEN = [
    "https://blocked.example",
    "http://BLOCKED.Example:443/x?y#z",
    "https://www.blocked.example./x",
    "https://data.v2.blocked.example/x",
    "https://blocked%2Eexample/x",
    "https://blocked%252eexample/x",
    "https://ｂｌｏｃｋｅｄ．example/x",
    "https://blocked。example/x",
    "https://bloc\u200bked.example/x",
    "https://user@blocked.example/x",
    "https://web.archive.org/web/2026/https://blocked.example/x",
    "https://web.archive.org/web/20260301000000id_/http:/blocked.example",
    "https://archive.ph/https%3A%2F%2Fblocked.example%2Fx",
    "https://r.jina.ai/https://blocked.example/x",
    "https://r.jina.ai/blocked.example/x",
    "https://cache.example/search?q=cache:Ab12:blocked.example/x&hl=en",
    "https://reader.example/?url=https%253A%252F%252Fblocked.example%252Fx",
    "https://blocked-example.translate.goog/x?_x_tr_sl=en",
    "https://www-blocked-example.translate.goog/x",
    "https://my--bench-example.translate.goog/x",
    "https://blocked-example.cdn.ampproject.org/v/s/a.b/x",
    "https://blocked-example.ezproxy.library.example/x",
    "https://blocked.example.proxy.library.example/x",
    "https://github.example/team/bench",
    "https://github.example/team/bench/tree/main",
    "https://github.example/team/bench.git",
    "https://github.example//team//bench/",
    "https://github.example/team/./bench",
    "https://github.example/other/../team/bench",
    "https://github.example/../team/bench",
    "https://github.example/a/b/../../team/bench",
    "https://github.example/..//x/../team/bench",
    "github.example/x/../team/bench",
    "https://web.archive.org/web/2026/https://blocked.example/../x",
    "https://web.archive.org/web/2026/https://github.example/../team/bench",
    "https://github.example/Team%2FBench",
    "https://github-example.translate.goog/team/bench?_x_tr_tl=zh",
    "https://github.example:443/team/bench",
    "https://papers.example/abs/2610.18092v2",
    "https://papers.example/pdf/2610.18092.pdf",
    "https:\\\\blocked.example\\x",
    "blocked.example/x",
]
FREE = [
    "https://example",
    "https://unblocked.example/x",
    "https://not-blocked.example/x",
    "https://blocked.example.com/x",
    "https://blocked.example-x.org/",
    "https://news.example/why-blocked-example-matters.html",
    "https://blocked-example.com/x",
    "https://github.example/team",
    "https://github.example/team/benchmark",
    "https://github.example/team/bench-fork",
    "https://github.example/others/team/bench",
    "https://papers.example/abs/2610.18093",
    "https://my.bench.example/",
]


@pytest.mark.parametrize("address", HIDDEN)
def test_a_blocked_address_is_refused_in_every_spelling_and_reaches_no_tool(address: str) -> None:
    asked: list[Any] = []
    with pytest.raises(ToolError, match="the address is blocked here") as caught:
        run(blocking(tool("secret", asked=asked), LIST), url=address)
    assert not caught.value.service_failed
    assert asked == []


@pytest.mark.parametrize("address", FREE)
def test_neighbours_of_a_blocked_address_stay_free(address: str) -> None:
    assert run(blocking(tool("page"), LIST), url=address) == "page"


@given(st.lists(st.booleans(), min_size=30, max_size=30), st.integers(0, 4))
def test_case_and_escapes_never_free_a_blocked_address(upper: list[bool], layers: int) -> None:
    letters = zip("https://blocked.example/a", upper, strict=False)
    address = "".join(letter.upper() if up else letter for letter, up in letters)
    host = address.partition("//")[2]
    for _ in range(layers):
        host = "".join(f"%{ord(sign):02x}" for sign in host) if len(host) < 300 else quote(host, safe="")
    assert LIST.entry_for(f"https://{host}") == "blocked.example"


def test_names_in_other_scripts_are_one_with_their_ascii_form() -> None:
    # Punycode of 例子
    assert Blocklist(["例子.example"]).entry_for("https://xn--fsqu00a.example/x") == "例子.example"
    assert Blocklist(["xn--fsqu00a.example"]).entry_for("https://例子.example/x") == "例子.example"


def test_results_with_blocked_addresses_are_left_out_and_counted() -> None:
    hits = [
        Hit("One", "https://free.example/1", "About blocked.example."),
        Hit("Two", "https://sub.blocked.example/2", "s"),
        Hit("Three", "https://r.jina.ai/https://blocked.example/3", "s", "2026-01-02"),
        Hit("Four", "https://free.example/4", "s", "2026-01-02"),
    ]
    shown = run(blocking(tool(show_hits("q", hits) + "\n\n(1 other note.)", "search"), LIST), query="q")
    left = show_hits("q", [hits[0], hits[3]])
    assert shown == f"{left}\n\n(1 other note.)\n\n(2 results were left out: blocked here.)"


def test_nothing_is_left_of_a_list_of_blocked_results_or_a_blocked_answer() -> None:
    blocked = tool(show_hits("q", [Hit("T", "https://blocked.example/", "s")]), "search")
    assert run(blocking(blocked, LIST), query="q") == ("No results are left.\n\n(1 result was left out: blocked here.)")
    answer = tool("Answer box: 41 metres - https://blocked.example/a\n\nNo results for 'q'; try other words.", "search")
    assert run(blocking(answer, LIST), query="q") == (
        "No results for 'q'; try other words.\n\n(1 result was left out: blocked here.)"
    )


def test_a_search_for_the_blocked_name_is_made_and_its_results_are_filtered() -> None:
    free = show_hits("q", [Hit("T", "https://free.example/", "s")])
    assert run(blocking(tool(free, "search"), LIST), query="site:blocked.example rubric") == free


JINA_HEADER = "Title: T\n\nURL Source: https://www.blocked.example/x\n\nMarkdown Content:\nText."


@pytest.mark.parametrize(
    "answer",
    [
        show_page("Text.", 1, 99, title="T", url="https://blocked.example/x"),
        show_page("Text.", 1, 99, title="T", url="https://a.example", warnings=["came from https://blocked.example/"]),
        JINA_HEADER,
    ],
)
def test_a_page_that_came_from_a_blocked_address_is_refused(answer: str) -> None:
    with pytest.raises(ToolError, match="the page's own address is blocked here"):
        run(blocking(tool(answer), LIST), url="https://short.example/1")


def test_a_page_that_links_to_a_blocked_address_is_read() -> None:
    text = "[1] A list\nURL: https://blocked.example/1\n\nSee https://blocked.example/2."
    page = show_page(text, 1, 999, title="On https://blocked.example/", url="https://free.example/")
    assert run(blocking(tool(page), LIST), url="https://free.example/") == page


def test_the_list_is_part_of_the_backend_whatever_its_order_and_spelling() -> None:
    one = blocking(tool(""), Blocklist(["a.example", "b.example/Path/"]))
    same = blocking(tool(""), Blocklist(["https://www.B.example/path  # the data set", "A.example.", "a.example"]))
    other = blocking(tool(""), Blocklist(["a.example", "b.example"]))
    assert one.backend == same.backend
    assert one.backend.startswith("stand-in, blocklist ")
    assert one.backend != other.backend
    plain = tool("")
    assert blocking(plain, Blocklist([])) is plain
    assert one == replace(plain, call=one.call, backend=one.backend)


def test_every_wrong_entry_is_named() -> None:
    with pytest.raises(InputError) as caught:
        Blocklist(["fine.example", "localhost", "", "two words.example/a b", "*", 7])  # type: ignore[list-item]
    assert len(caught.value.faults) == 5
    assert "blocked: 'localhost' is no host" in caught.value.faults[0]


def test_a_real_search_shows_no_blocked_result(loopback) -> None:
    organic = [{"title": f"T{number}", "link": f"https://{host}/{number}"} for number, host in enumerate(
        ["free.example", "blocked.example", "WWW.Blocked.Example"]
    )]  # fmt: skip
    loopback.searches["q"] = {"organic": organic, "answerBox": {"answer": "41", "link": "https://blocked.example/a"}}
    shown = run(blocking(search_tool(endpoint=loopback.search_url), LIST), query="q")
    assert "https://free.example/0" in shown
    assert "blocked.example" not in shown.casefold()
    # two results and the answer box
    assert "(3 results were left out: blocked here.)" in shown
