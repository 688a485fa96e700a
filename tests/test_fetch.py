"""The fetch tool: two ways to a page, documents of several kinds, and servers that lie, drip, loop or never end."""

from __future__ import annotations

import asyncio
import gzip
import json
import random
import socket
import sys
import time
import zlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import PUBLIC, Loopback, Site, public_network, serve_site
from made_files import encrypted, pdf, pdf_of_streams

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools import Tool, direct, documents, function_schema
from lifesearch_kit.tools import fetch as fetch_module
from lifesearch_kit.tools import service as service_module
from lifesearch_kit.tools.charset import decode
from lifesearch_kit.tools.direct import inflate
from lifesearch_kit.tools.documents import kind_of
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.search import search_tool

URL = "http://pages.example/a"
CHINESE = "截至二零二六年三月三十一日，全市常住人口为六十六万人，比上年末增加一点二万人。本公报所列数据为初步统计数。"
TRADITIONAL = (
    "截至二零二六年三月三十一日，全市常住人口為六十六萬人，比上年末增加一點二萬人。本公報所列數據為初步統計數。"
)
JAPANESE = "令和八年三月三十一日現在、市の人口は六十六万人で、前の年の末より一万二千人増えました。数値は速報値です。"
KOREAN = "이천이십육년 삼월 삼십일일 현재 시의 인구는 육십육만 명으로 전년 말보다 만 이천 명 증가하였다."
RUSSIAN = "По состоянию на тридцать первое марта население города составило шестьсот шестьдесят тысяч человек."
GERMAN = "Zum Jahresende betrug die Bevölkerung der Stadt für alle Bürger über sechshunderttausend, größer als früher."
MENU = "<nav><ul>" + "".join(f"<li><a href='/s{n}'>Section {n}</a></li>" for n in range(40)) + "</ul></nav>"


def html(text: str, title: str = "A page", head: str = "") -> str:
    return (
        f"<!doctype html><html><head>{head}<title>{title}</title></head><body>{MENU}<main><article><h1>{title}</h1>"
        f"<p>{text}</p></article></main><footer>Imprint, privacy, cookies {MENU}</footer></body></html>"
    )


ARTICLE = html(
    "The harbour handled 1,204 ships in 2025, 9% more than in the year before. Most were ferries. "
    "The board counts every ship that stays for an hour or more, whatever its size; boats of the harbour itself do not "
    "count. A longer table with the figures of each month follows in the printed report, which the board sends out."
)


@pytest.fixture
def site() -> Iterator[Site]:
    with serve_site() as served:
        yield served


@pytest.fixture
def direct_tool(site: Site) -> Tool:
    return fetch_tool(readers=("direct",), network=public_network(site)[0])


def run(tool: Tool, url: str = URL, **arguments: Any) -> str:
    return asyncio.run(tool.run(json.dumps({"url": url, **arguments})))


def failed(tool: Tool, url: str = URL, **arguments: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        run(tool, url, **arguments)
    return caught.value


def text_of(shown: str) -> str:
    return shown.partition("\n\n")[2]


# Two ways


def both(loopback: Loopback, site: Site, **settings: Any) -> Tool:
    return fetch_tool(endpoint=loopback.reader_url, network=public_network(site)[0], **settings)


def test_the_reader_is_asked_first_and_alone_where_it_brings_the_page(loopback: Loopback, site: Site) -> None:
    loopback.pages[URL] = f"Title: T\n\nURL Source: {URL}\n\nMarkdown Content:\nThrough the reader."
    shown = run(both(loopback, site))
    assert "\nRead through: Jina Reader\n" in shown
    assert text_of(shown) == "Through the reader."
    assert site.visits == []


@pytest.mark.parametrize(
    ("reply", "cause"),
    [
        ((402, {"message": "Balance exhausted"}), "HTTP 402: Balance exhausted"),
        ((401, {"message": "Bad key stand-in-jina_api_key"}), "HTTP 401: Bad key [key]"),
        ((503, "<b>Down\nfor now</b>"), "HTTP 503: Down for now"),
        ((422, {"readableMessage": "no\nsuch host"}), "HTTP 422: no such host"),
        ("Title: x\n\nURL Source: u\n\nMarkdown Content:\n", "the page is empty"),
        ("Title: Just a moment...\n\nURL Source: u\n\nMarkdown Content:\nVerify you are human", "a human check"),
        (
            "Title: x\n\nURL Source: u\n\nWarning: Target URL returned error 403: Forbidden\n\nMarkdown Content:\nNo",
            "the page answered HTTP 403",
        ),
    ],
)
def test_the_page_comes_directly_where_the_reader_fails(loopback: Loopback, site: Site, reply: Any, cause: str) -> None:
    loopback.pages[URL] = reply
    site.paths["/a"] = ARTICLE
    shown = run(both(loopback, site))
    (line,) = [one for one in shown.splitlines() if one.startswith("Read through: ")]
    assert line.startswith("Read through: direct connection (Jina Reader: ")
    assert cause in line
    assert "1,204 ships" in text_of(shown)
    assert "stand-in" not in shown


def test_a_reader_that_is_away_is_replaced(site: Site) -> None:
    site.paths["/a"] = ARTICLE
    shown = run(fetch_tool(endpoint="http://127.0.0.1:9/", network=public_network(site)[0]))
    assert "(Jina Reader: the page reader did not answer (ConnectError); try again)" in shown


@pytest.mark.parametrize(("status", "lost"), [(402, False), (404, False)])
def test_two_failures_are_one_with_both_causes(loopback: Loopback, site: Site, status: int, lost: bool) -> None:
    loopback.pages[URL] = (status, {"message": "said the reader"})
    error = failed(both(loopback, site))
    assert f"HTTP {status}: said the reader; direct connection: the page answered HTTP 404" in str(error)
    assert error.service_failed == lost


def test_only_where_both_services_fail_is_the_service_lost(loopback: Loopback) -> None:
    async def silent(host: str, port: int) -> list[str]:
        raise ToolError("no name server answered", service_failed=True)

    network = direct.GuardedNetwork(silent)
    for status, lost in ((402, True), (422, False)):
        loopback.pages[URL] = (status, {"message": "no"})
        error = failed(fetch_tool(endpoint=loopback.reader_url, network=network))
        assert "no name server answered" in str(error)
        assert error.service_failed == lost


def test_inside_addresses_reach_neither_way(loopback: Loopback, site: Site) -> None:
    for url in ("http://127.0.0.1/", "http://localhost/", "http://2130706433/", "http://metadata.google.internal/"):
        assert not failed(both(loopback, site), url).service_failed
    assert (loopback.asked, site.visits) == ([], [])


def test_other_ports_go_to_the_reader_alone(loopback: Loopback, site: Site) -> None:
    url = "http://pages.example:8080/"
    loopback.pages[url] = "Title: T\n\nURL Source: u\n\nMarkdown Content:\nAt port 8080."
    assert "At port 8080." in run(both(loopback, site), url)
    loopback.pages[url] = (422, {"message": "no"})
    assert "only 80 and 443 are fetched from" in str(failed(both(loopback, site), url))
    assert site.visits == []


@pytest.mark.parametrize(
    ("readers", "backend"),
    [
        (("jina", "direct"), "Jina Reader, then direct connection"),
        (("jina",), "Jina Reader"),
        (["direct"], "direct connection"),
        (("direct", "jina"), "direct connection, then Jina Reader"),
    ],
)
def test_the_backend_names_the_ways(readers: Any, backend: str) -> None:
    tool = fetch_tool(readers=readers)
    assert tool.backend == backend
    assert tool.schema == function_schema("fetch")


@pytest.mark.parametrize("readers", [(), ("jina", "jina"), ("serper",), "jina"])
def test_unknown_readers_are_refused(readers: Any) -> None:
    with pytest.raises(InputError, match="name one or both of jina, direct"):
        fetch_tool(readers=readers)


def test_a_reader_that_has_moved_brings_no_page(loopback: Loopback) -> None:
    loopback.pages[URL] = (301, "<p>Moved</p>")
    error = failed(fetch_tool(readers=("jina",), endpoint=loopback.reader_url))
    assert "HTTP 301: Moved" in str(error)
    assert error.service_failed


@pytest.mark.parametrize("value", ["schlüssel-1234", "two words", "a\tb"])
def test_a_key_that_no_request_can_carry_is_told_and_not_shown(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JINA_API_KEY", value)
    monkeypatch.setenv("SERPER_API_KEY", value)
    for make in (fetch_tool, search_tool):
        with pytest.raises(InputError, match="_API_KEY holds no key") as caught:
            make()
        assert value not in str(caught.value)


def test_the_reader_may_not_send_without_end(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_module, "REPLY_BYTES", 1_000)
    loopback.pages[URL] = "x" * 2_000
    error = failed(fetch_tool(readers=("jina",), endpoint=loopback.reader_url))
    assert "sent more than 0 MB" in str(error)


# Documents


def test_an_article_comes_without_the_menus_around_it(site: Site, direct_tool: Tool) -> None:
    head = '<meta property="article:published_time" content="2026-03-02T08:00:00Z">'
    table = "<table><tr><th>Year</th><th>Ships</th></tr><tr><td>2025</td><td>1,204</td></tr></table>"
    site.paths["/a"] = html(f"The harbour handled more ships. {GERMAN}</p>{table}<p>More to come.", "港口 2025", head)
    shown = run(direct_tool)
    head_lines, _, text = shown.partition("\n\n")
    assert head_lines == (
        f"Title: 港口 2025\nURL: {URL}\nPublished: 2026-03-02\nRead through: direct connection\nPage: 1 of 1"
    )
    assert GERMAN in text
    assert "| 2025 | 1,204 |" in text
    assert "Section 7" not in text
    assert "privacy" not in text


def test_short_pages_and_lists_come_whole(site: Site, direct_tool: Tool) -> None:
    items = "".join(f"<li><a href='/d/{number}'>Budget of {1900 + number}</a></li>" for number in range(100))
    site.paths["/a"] = f"<html><body><article><p>All budgets of the board.</p></article><ul>{items}</ul></body></html>"
    shown = run(direct_tool)
    assert [f"Budget of {1900 + number}" in shown for number in range(100)] == [True] * 100
    site.paths["/a"] = "<html><body><h2>Where?</h2><p>Here.</p>" + "<p>Yes.</p>" * 3 + "</body></html>"
    assert text_of(run(direct_tool)).replace("## ", "").split() == ["Where?", "Here.", "Yes.", "Yes.", "Yes."]


@pytest.mark.parametrize(("depth", "cut"), [(100, False), (1_000, False), (3_000, True)])
def test_deeply_nested_pages_are_read_whole_or_say_so(site: Site, direct_tool: Tool, depth: int, cut: bool) -> None:
    site.paths["/a"] = "<html><body>" + "".join(f"<div>Line {number} of an old page.<br>" for number in range(depth))
    shown = run(direct_tool)
    assert f"Line {min(depth, 2_000) - 1} of an old page." in "".join(
        text_of(run(direct_tool, page=number))
        for number in range(1, int(shown.partition("Page: 1 of ")[2].split()[0]) + 1)
    )
    assert ("\nWarning: the page is nested so deeply that only its beginning was read\n" in shown) == cut


def test_a_date_in_the_text_is_not_taken_for_the_pages_own(site: Site, direct_tool: Tool) -> None:
    site.paths["/a"] = html("The bridge opened on 4 May 2019, and the toll was abolished on 1 January 2021.")
    assert "Published" not in run(direct_tool)


ENCODED = [
    (CHINESE, "gbk"),
    (CHINESE, "gb18030"),
    (CHINESE + "㐂𠮷", "gb18030"),
    (TRADITIONAL, "big5"),
    (TRADITIONAL, "gbk"),
    (JAPANESE, "shift_jis"),
    (JAPANESE, "euc_jp"),
    (JAPANESE, "iso2022_jp"),
    (KOREAN, "euc_kr"),
    (RUSSIAN, "cp1251"),
    (RUSSIAN, "koi8_r"),
    (GERMAN, "cp1252"),
    (CHINESE, "utf-8"),
    (CHINESE, "utf-8-sig"),
    (CHINESE, "utf-16"),
    (CHINESE, "utf-32"),
]
NAMES = {"utf-8-sig": "utf-8", "iso2022_jp": "iso-2022-jp"}
HEADERS = ["right", "missing", "latin-1", "wrong"]


def header_of(codec: str, header: str) -> str:
    wrong = "gbk" if codec in ("big5", "shift_jis", "euc_kr") else "big5"
    name = NAMES.get(codec, codec.replace("_", "-"))
    return {"right": name, "missing": "", "latin-1": "ISO-8859-1", "wrong": wrong}[header]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize(("text", "codec"), ENCODED, ids=[f"{codec}-{text[:2]}" for text, codec in ENCODED])
def test_any_encoding_is_read_whatever_the_header_says(text: str, codec: str, header: str) -> None:
    page = html(text)
    assert decode(page.encode(codec), header_of(codec, header)) == page


@pytest.mark.parametrize("header", ["missing", "wrong"])
@pytest.mark.parametrize("codec", ["gbk", "gb18030", "utf-16"])
def test_pages_are_read_in_their_own_encoding(site: Site, direct_tool: Tool, codec: str, header: str) -> None:
    told = header_of(codec, header)
    site.paths["/a"] = ({"Content-Type": f"text/html; charset={told}" if told else None}, html(CHINESE).encode(codec))
    assert CHINESE in text_of(run(direct_tool))


@pytest.mark.parametrize("codec", ["gbk", "gb18030", "big5hkscs", "cp932", "utf-16-le", "utf-16-be", "utf-8"])
def test_plain_text_is_decoded_alike(codec: str) -> None:
    text = {"big5hkscs": TRADITIONAL, "cp932": JAPANESE}.get(codec, CHINESE)
    assert decode((f"name,value\n{text}\n" * 20).encode(codec)) == f"name,value\n{text}\n" * 20


@pytest.mark.parametrize("told", ["gb2312", "GBK", "gb18030", "ISO-8859-1", ""])
def test_a_short_page_is_read_as_it_says_of_itself(told: str) -> None:
    text = '<meta charset="gb2312"><p>朱镕基、喆'
    assert decode(text.encode("gb18030"), told) == text


def test_a_broken_byte_does_not_spoil_a_page() -> None:
    line = f"{CHINESE}\n".encode("gbk")
    data = bytearray(line * 20)
    data[120] = 0xFF
    text = decode(bytes(data), "gbk")
    assert text is not None
    # Byte 120 is in the second line (a line has 53 times 2 and 1); at the line's end the pairs fall into step again.
    assert len(line) == 53 * 2 + 1
    assert text.splitlines()[0] == CHINESE
    assert text.splitlines()[2:] == [CHINESE] * 18


@given(st.text(st.characters(exclude_categories=("Cs",)), max_size=80), st.sampled_from(["utf-8", "utf-8-sig"]))
def test_utf8_is_always_read_as_it_is(text: str, codec: str) -> None:
    if "\0" not in text and "\x1b" not in text and not text.startswith("\ufeff"):
        assert decode(text.encode(codec), "gbk") == text


@pytest.mark.parametrize(
    ("declared", "body", "shown"),
    [
        ("text/plain", "plain words", "plain words"),
        ("text/csv; charset=gbk", "城市,人口\n镇江,66万".encode("gbk"), "城市,人口\n镇江,66万"),
        ("application/json", '{"人口": 66}', '{"人口": 66}'),
        ("application/geo+json", '{"a": 1}', '{"a": 1}'),
        ("application/xml", "<rows><row>1</row></rows>", "<rows><row>1</row></rows>"),
        (
            "text/xml; charset=gb2312",
            '<?xml version="1.0"?><a>镇江</a>'.encode("gbk"),
            '<?xml version="1.0"?><a>镇江</a>',
        ),
        ("application/octet-stream", "a,b\n1,2", "a,b\n1,2"),
        (None, "no type at all", "no type at all"),
        ("text/plain", "﻿text after a mark".encode(), "text after a mark"),
        ("application/json", "[1, 2]".encode("utf-16"), "[1, 2]"),
    ],
)
def test_text_is_shown_as_it_is(site: Site, direct_tool: Tool, declared: str | None, body: Any, shown: str) -> None:
    site.paths["/a"] = ({"Content-Type": declared}, body)
    assert text_of(run(direct_tool)) == shown


@pytest.mark.parametrize(
    ("declared", "body", "kind"),
    [
        ("text/plain", ARTICLE.encode(), "html"),
        ("application/octet-stream", b"\n  <HTML><body>x", "html"),
        ("text/html", pdf(["x"]), "pdf"),
        ("application/octet-stream", pdf(["x"]), "pdf"),
        ("application/pdf", ARTICLE.encode(), "html"),
        ("application/xhtml+xml", b'<?xml version="1.0"?><!-- c --><html xmlns="x">', "html"),
        ("text/html", b"<p>fragment", "html"),
        ("application/json", b"{}", "text"),
        ("", b"<rss></rss>", "text"),
    ],
)
def test_the_bytes_say_more_than_a_wrong_header(declared: str, body: bytes, kind: str) -> None:
    assert kind_of(body, declared)[0] == kind


@pytest.mark.parametrize(
    ("declared", "body", "words"),
    [
        ("image/png", b"\x89PNG\r\n\x1a\n\0\0", "image/png, not text"),
        ("application/zip", b"PK\3\4\0\0", "application/zip, not text"),
        ("application/octet-stream", b"\x7fELF\0\0\0", "application/octet-stream, not text"),
        ("", b"\x7fELF\0\0\0", "a file of unknown type, not text"),
        ("video/mp4", b"x", "video/mp4, not text"),
        ("text/plain", random.Random(1).randbytes(6_000).replace(b"\0", b"."), "encoding was not recognised"),
        ("application/pdf", b"sorry", "declared as a PDF and is none"),
        ("text/html", b"", "the page is empty"),
        ("text/html", b" \n ", "the page is empty"),
        ("text/html", b"<html><body></body></html>", "the page is empty"),
    ],
)
def test_what_is_no_text_is_a_failure(site: Site, direct_tool: Tool, declared: str, body: bytes, words: str) -> None:
    site.paths["/a"] = ({"Content-Type": declared}, body)
    error = failed(direct_tool)
    assert words in str(error)
    assert not error.service_failed


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Just a moment...", "Enable JavaScript and cookies to continue"),
        ("Attention Required! | Cloudflare", "Sorry, you have been blocked. Cloudflare Ray ID: 8a"),
        ("安全验证", "请完成下方验证后继续访问"),
        ("Shop", "Access denied"),
    ],
)
def test_walls_that_come_with_success_are_failures(site: Site, direct_tool: Tool, title: str, text: str) -> None:
    site.paths["/a"] = (
        f"<html><head><title>{title}</title></head><body><noscript>{text}</noscript><p>{text}</p></body></html>"
    )
    assert "behind a block, a human check or a login" in str(failed(direct_tool))


@pytest.mark.parametrize("status", [204, 400, 401, 403, 404, 410, 429, 500, 503])
def test_http_errors_of_the_page_are_failures(site: Site, direct_tool: Tool, status: int) -> None:
    site.paths["/a"] = (status, {}, "" if status == 204 else ARTICLE)
    error = failed(direct_tool)
    assert f"HTTP {status}" in str(error)
    assert not error.service_failed


def test_long_pages_come_in_parts_and_nothing_is_lost(site: Site, direct_tool: Tool) -> None:
    lines = [f"Line {number} of a long list, with some words to fill it." for number in range(1_000)]
    site.paths["/a"] = ({"Content-Type": "text/plain"}, "\n".join(lines))
    first = run(direct_tool)
    count = int(first.partition("Page: 1 of ")[2].partition("\n")[0])
    assert count > 3
    parts = [text_of(run(direct_tool, page=number)) for number in range(1, count + 1)]
    assert "".join(parts) == "\n".join(lines)
    assert f"has {count} page(s)" in str(failed(direct_tool, page=count + 1))


# PDF


def test_a_pdf_is_read_page_by_page_in_both_languages(site: Site, direct_tool: Tool) -> None:
    data = pdf(["Harbour report 2025", "全市常住人口为六十六万人", ""], title="年度报告")
    site.paths["/a"] = ({"Content-Type": "application/pdf"}, data)
    shown = run(direct_tool)
    assert shown.startswith("Title: 年度报告\n")
    assert text_of(shown) == "Harbour report 2025\n\n全市常住人口为六十六万人"


def test_a_pdf_that_opens_without_a_password_is_read(site: Site, direct_tool: Tool) -> None:
    site.paths["/a"] = ({"Content-Type": "application/pdf"}, encrypted(pdf(["Open to all"]), ""))
    assert text_of(run(direct_tool)) == "Open to all"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (encrypted(pdf(["Secret"]), "word"), "the PDF is encrypted"),
        (pdf(["", "", ""]), "the 3 page(s) of the PDF hold no text; it is probably a scan"),
        (pdf(["Cut off"])[:200], "it is damaged"),
        (b"%PDF-1.7\n%%EOF", "it is damaged"),
        (b"%PDF-1.7\n" + bytes(range(256)) * 50, "it is damaged"),
    ],
    ids=["encrypted", "scanned", "cut off", "hollow", "noise"],
)
def test_pdfs_without_readable_text_are_failures(site: Site, direct_tool: Tool, data: bytes, words: str) -> None:
    site.paths["/a"] = ({"Content-Type": "application/pdf"}, data)
    error = failed(direct_tool)
    assert words in str(error)
    assert not error.service_failed


def test_a_page_of_a_pdf_that_cannot_be_read_is_told(site: Site, direct_tool: Tool) -> None:
    words = b"BT /F1 12 Tf <00480069> Tj ET"
    # Far more than pypdf agrees to unpack for one page.
    site.paths["/a"] = ({"Content-Type": "application/pdf"}, pdf_of_streams([words, b" " * 100_000_000, words]))
    shown = run(direct_tool)
    assert "\nWarning: 1 of 3 pages of the PDF could not be read\n" in shown
    assert text_of(shown) == "Hi\n\nHi"


def test_a_pdf_that_takes_long_is_stopped(site: Site, direct_tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "SECONDS", 1.5)
    data = pdf_of_streams([b"BT /F1 12 Tf " + b"1 0 0 1 9 9 Tm <0041> Tj " * 600_000 + b"ET"])
    site.paths["/a"] = ({"Content-Type": "application/pdf"}, data)
    started = time.monotonic()
    assert "longer than 1.5 seconds" in str(failed(direct_tool))
    assert time.monotonic() - started < 8
    assert len(data) < 100_000


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux holds a process to such a limit")
def test_a_pdf_that_takes_much_memory_is_stopped(
    site: Site, direct_tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "MEMORY_BYTES", 200_000_000)
    site.paths["/a"] = (
        {"Content-Type": "application/pdf"},
        pdf_of_streams([b"BT " + b"<0041> Tj " * 6_000_000 + b"ET"]),
    )
    assert "memory" in str(failed(direct_tool))


def test_what_could_not_be_read_of_a_long_pdf_is_told(
    site: Site, direct_tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "SECONDS", 15.0)
    slow = b"BT /F1 12 Tf <0041> Tj " + b"1 0 0 1 9 9 Tm " * 60_000 + b"ET"
    site.paths["/a"] = ({"Content-Type": "application/pdf"}, pdf_of_streams([slow] * 200))
    shown = run(direct_tool)
    (line,) = [one for one in shown.splitlines() if one.startswith("Warning: ")]
    assert "of 200 pages of the PDF were read" in line


def test_parsing_leaves_the_event_loop_free(site: Site, direct_tool: Tool) -> None:
    site.paths["/a"] = (
        {"Content-Type": "application/pdf"},
        pdf_of_streams([b"BT <0041> Tj " + b"0 0 Td " * 80_000 + b"ET"]),
    )
    pauses: list[float] = []

    async def ticking() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            pauses.append(time.monotonic() - before)

    async def both_at_once() -> None:
        ticks = asyncio.create_task(ticking())
        await direct_tool.call(url=URL)
        ticks.cancel()

    asyncio.run(both_at_once())
    assert len(pauses) > 10
    assert sorted(pauses)[len(pauses) // 2] < 0.1


@pytest.mark.parametrize(
    "body",
    [
        b"<html><body>" + b"<div>" * 200_000 + b"deep",
        b"<html><body>" + b"<b><i><a href=x><p>" * 50_000 + b"crossed",
        b"<html><body " + b"a=1 " * 300_000 + b">x",
        b'<!DOCTYPE html [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;">]><html><body>&b;'
        + b"&lt;" * 100_000,
        b"<html><body><p>" + b"\xff\xfe\0" * 100_000,
        b"<html><body>" + b"<table><tr><td>" * 30_000 + b"nested",
    ],
    ids=["deep", "crossed", "attributes", "entities", "noise", "tables"],
)
def test_hostile_html_ends_in_a_page_or_a_failure(
    site: Site, direct_tool: Tool, body: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "SECONDS", 5.0)
    site.paths["/a"] = body
    started = time.monotonic()
    try:
        assert "Page: 1 of" in run(direct_tool)
    except ToolError as error:
        assert not error.service_failed  # noqa: PT017
    assert time.monotonic() - started < 20


def test_no_key_reaches_the_process_that_parses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JINA_API_KEY", "stand-in-jina")
    seen: dict[str, Any] = {}
    popen = documents.subprocess.Popen

    def spy(*arguments: Any, **named: Any) -> Any:
        seen.update(named["env"])
        return popen(*arguments, **named)

    monkeypatch.setattr(documents.subprocess, "Popen", spy)
    assert asyncio.run(documents.read_document(b"words", "text/plain")).text == "words"
    assert set(seen) <= {"SYSTEMROOT"}


# Servers


def test_redirects_are_followed_and_told(site: Site, direct_tool: Tool) -> None:
    site.paths["/a"] = (301, {"Location": "/b"}, "")
    site.paths["/b"] = (302, {"Location": "//other.example/c d?q=镇".encode().decode("latin-1")}, "")
    site.paths["/c%20d"] = ARTICLE
    shown = run(direct_tool)
    assert f"\nURL: {URL}\nWarning: the address redirects to http://other.example/c%20d?q=镇\n" in shown
    assert [(host, path) for host, path, _ in site.visits] == [
        ("pages.example", "/a"),
        ("pages.example", "/b"),
        ("other.example", "/c%20d?q=%E9%95%87"),
    ]


@pytest.mark.parametrize(("hops", "arrives"), [(5, True), (6, False)])
def test_five_redirects_are_the_most(site: Site, direct_tool: Tool, hops: int, arrives: bool) -> None:
    site.paths |= {f"/{number}": (307, {"Location": f"/{number + 1}"}, "") for number in range(hops)}
    site.paths[f"/{hops}"] = ARTICLE
    if arrives:
        assert "1,204 ships" in run(direct_tool, "http://pages.example/0")
    else:
        assert "redirects more than 5 times" in str(failed(direct_tool, "http://pages.example/0"))
    assert len(site.visits) == 6


@pytest.mark.parametrize(
    ("location", "words"),
    [
        ("/a", "redirects more than 5 times"),
        (None, "HTTP 302 without saying where"),
        ("http://127.0.0.1/", "not on the public internet"),
        ("http://[::1/", "an address that is not fetched"),
        ("ftp://pages.example/", "an address that is not fetched"),
        ("http://pages.example:22/", "only 80 and 443"),
    ],
)
def test_redirects_that_lead_nowhere_are_failures(site: Site, direct_tool: Tool, location: Any, words: str) -> None:
    site.paths["/a"] = (302, {"Location": location}, "")
    assert words in str(failed(direct_tool))


def test_gzip_is_asked_for_and_read(site: Site, direct_tool: Tool) -> None:
    site.paths["/a"] = ({"Content-Encoding": "gzip"}, gzip.compress(ARTICLE.encode()))
    assert "1,204 ships" in run(direct_tool)
    headers = site.visits[0][2]
    assert headers["accept-encoding"] == "gzip"
    assert not {"cookie", "authorization", "referer"} & set(headers)


@pytest.mark.parametrize("encoding", ["br", "zstd", "deflate", "gzip, gzip", "gzip, br"])
def test_other_compression_is_refused_unread(site: Site, direct_tool: Tool, encoding: str) -> None:
    site.paths["/a"] = ({"Content-Encoding": encoding}, zlib.compress(ARTICLE.encode()))
    assert "which was not asked for" in str(failed(direct_tool))


BOMB = gzip.compress(bytes(40_000_000))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (BOMB, "larger than 20.0 MB when uncompressed"),
        (gzip.compress(bytes(15_000_000)) * 2, "larger than 20.0 MB when uncompressed"),
        (gzip.compress(b"") * 5_000, "damaged"),
        (gzip.compress(ARTICLE.encode())[:-20], "breaks off"),
        (ARTICLE.encode(), "damaged"),
    ],
    ids=["bomb", "two members", "many members", "cut off", "not compressed"],
)
def test_bombs_and_damaged_compression_are_failures(site: Site, direct_tool: Tool, body: bytes, words: str) -> None:
    site.paths["/a"] = ({"Content-Encoding": "gzip"}, body)
    started = time.monotonic()
    assert words in str(failed(direct_tool))
    assert time.monotonic() - started < 5


@given(st.lists(st.binary(max_size=300), max_size=5))
def test_gzip_in_members_is_read_whole(parts: list[bytes]) -> None:
    packed = b"\0\0".join(gzip.compress(part) for part in parts)
    whole = b"".join(parts)
    assert inflate(packed, len(whole)) == whole
    if whole:
        with pytest.raises(ToolError, match="larger than"):
            inflate(packed, len(whole) - 1)


def test_a_page_of_50_megabytes_is_refused_at_its_announcement(site: Site, direct_tool: Tool) -> None:
    sent: list[int] = []

    def large(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "50000000")
        handler.end_headers()
        for _ in range(500):
            handler.wfile.write(b"x" * 100_000)
            sent.append(100_000)

    site.paths["/a"] = large
    assert "the page is 50.0 MB; at most 20.0 MB are read" in str(failed(direct_tool))
    assert sum(sent) < 20_000_000


def test_a_body_without_end_is_left_at_the_limit(
    site: Site, direct_tool: Tool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(direct, "BODY_BYTES", 1_000_000)
    sent: list[int] = []

    def endless(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        while len(sent) < 2_000:
            handler.wfile.write(b"x" * 100_000)
            sent.append(100_000)

    site.paths["/a"] = endless
    assert "larger than 1.0 MB, the most that is read" in str(failed(direct_tool))
    assert sum(sent) < 100_000_000


def test_a_dripping_server_meets_the_deadline(site: Site, direct_tool: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "DIRECT_SECONDS", 0.5)

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(60):
            handler.wfile.write(b"x")
            handler.wfile.flush()
            time.sleep(0.05)

    site.paths["/a"] = drip
    site.paths["/silent"] = lambda handler: time.sleep(3.0)
    for url in (URL, "http://pages.example/silent"):
        started = time.monotonic()
        assert "did not come within 0.5 seconds" in str(failed(direct_tool, url))
        assert time.monotonic() - started < 2.8


def raw(data: bytes) -> Any:
    def write(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(data)
        handler.wfile.flush()
        handler.connection.shutdown(socket.SHUT_RDWR)

    return write


@pytest.mark.parametrize(
    "answer",
    [
        b"",
        b"no http at all\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n<p>short",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n<p>short",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 7\r\n\r\n<p>short",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n<p>ab\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"X: " + b"y" * 300_000 + b"\r\n\r\n<p>x",
        b"HTTP/1.1 999999 OK\r\n\r\n",
    ],
    ids=["nothing", "words", "short", "negative", "twice", "bad chunk", "cut chunk", "long header", "status"],
)
def test_broken_answers_are_failures(site: Site, direct_tool: Tool, answer: bytes) -> None:
    site.paths["/a"] = raw(answer)
    assert "the connection failed" in str(failed(direct_tool))


def test_a_length_that_is_too_small_ends_the_page_there(site: Site, direct_tool: Tool) -> None:
    # 11 of 19 bytes are announced, and no more belongs to the answer.
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 11\r\n\r\nFirst words and more"
    site.paths["/a"] = raw(answer)
    assert text_of(run(direct_tool)) == "First words"


def test_a_server_that_is_not_there_is_the_pages_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        network, dial = public_network(Site(f"http://127.0.0.1:{free.getsockname()[1]}"))
        error = failed(fetch_tool(readers=("direct",), network=network))
    assert "the connection failed (ConnectError" in str(error)
    assert not error.service_failed
    assert dial.dialled == [(PUBLIC, 80)]


def test_the_event_loop_may_be_one_without_child_processes(site: Site, direct_tool: Tool) -> None:
    site.paths["/a"] = ARTICLE
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        assert "1,204 ships" in runner.run(direct_tool.call(url=URL))


def test_an_unguarded_client_would_have_been_let_in(site: Site) -> None:
    site.paths["/a"] = (302, {"Location": f"{site.url}/b"}, "")
    site.paths["/b"] = "inside"
    assert httpx.get(f"{site.url}/a", follow_redirects=True, trust_env=False).text == "inside"
