"""The tools: arguments as models write them, Serper and Jina Reader look-alikes over HTTP, the sandbox's limits."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools import fetch as fetch_module
from lifesearch_kit.tools import python as python_module
from lifesearch_kit.tools.addresses import check_address
from lifesearch_kit.tools.blocked import fault_of_page
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.layout import Hit, divide, show_hits, show_results
from lifesearch_kit.tools.python import python_tool
from lifesearch_kit.tools.reader import read_page
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.tools.search_replies import read_results


def run(tool: Tool, **arguments: Any) -> str:
    return asyncio.run(tool.run(json.dumps(arguments)))


def failure(tool: Tool, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        run(tool, **arguments)
    return str(caught.value)


# Arguments


async def _echo(url: str, page: int = 1) -> str:
    return f"{url} {page}"


ECHO = Tool("fetch", function_schema("fetch"), _echo)


@pytest.mark.parametrize("arguments", ['{"url": "u", "page": 2}', {"url": "u", "page": 2}])
def test_arguments_as_text_or_object(arguments: Any) -> None:
    assert asyncio.run(ECHO.run(arguments)) == "u 2"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ('{"url": "u"', "no JSON"),
        ("u", "no JSON"),
        ('["u"]', "no JSON object"),
        ('"u"', "no JSON object"),
        (7, "no JSON object"),
        ("", "'url' is missing"),
        (None, "'url' is missing"),
        ("{}", "'url' is missing"),
        ('{"url": "u", "pages": 2}', "there is no argument 'pages'"),
        ('{"url": 5}', "'url' must be of type string, not 5"),
        ('{"url": "u", "page": "2"}', "'page' must be of type integer"),
        ('{"url": "u", "page": true}', "'page' must be of type integer"),
        ('{"url": null}', "'url' must be of type string, not None"),
        ("[" * 100_000, "no JSON"),
    ],
)
def test_wrong_arguments_say_what_is_expected(arguments: Any, words: str) -> None:
    with pytest.raises(ToolError) as caught:
        asyncio.run(ECHO.run(arguments))
    assert words in str(caught.value)
    assert "Call fetch with one JSON object holding url (string), page (integer, optional)" in str(caught.value)


def test_half_characters_in_arguments_are_replaced() -> None:
    assert asyncio.run(ECHO.run('{"url": "\\ud83d"}')) == "\ufffd 1"


@pytest.mark.parametrize("value", [None, b"text", {"text": 1}, 5])
def test_results_that_are_no_text_are_failures(value: Any) -> None:
    async def odd(query: str) -> Any:
        return value

    with pytest.raises(ToolError, match=r"search returned .* instead of text"):
        asyncio.run(Tool("search", function_schema("search"), odd).run('{"query": "q"}'))


def test_schemas_are_those_of_the_calls() -> None:
    names = {
        name: sorted(function_schema(name)["function"]["parameters"]["properties"])
        for name in ("search", "fetch", "python")
    }
    assert names == {"search": ["query"], "fetch": ["page", "url"], "python": ["code"]}
    with pytest.raises(InputError, match="no tool 'browse'"):
        function_schema("browse")


# Search


def test_search_shows_numbered_results_with_dates(loopback: Loopback) -> None:
    loopback.searches["盐城 人口"] = {
        "organic": [
            {"title": "公报", "link": "https://tj.example/1", "snippet": "常住人口\n66万", "date": "2026年3月2日"},
            {"title": "News", "link": "https://news.example/2", "snippet": "More."},
        ]
    }
    tool = search_tool(endpoint=loopback.search_url)
    assert run(tool, query="盐城 人口") == (
        "[1] 公报\nURL: https://tj.example/1\nDate: 2026年3月2日\n常住人口 66万\n\n[2] News\nURL: https://news.example/2\nMore."
    )
    _, headers, body = loopback.asked[0]
    assert headers["x-api-key"] == "stand-in-serper_api_key"
    assert body["q"] == "盐城 人口"


@pytest.mark.parametrize("payload", [{}, {"organic": []}, {"organic": None, "credits": 1}, {"searchParameters": {}}])
def test_nothing_found_is_no_failure(loopback: Loopback, payload: Any) -> None:
    loopback.searches["q"] = payload
    assert run(search_tool(endpoint=loopback.search_url), query="q") == "No results for 'q'; try other words."


@pytest.mark.parametrize(
    ("payload", "words"),
    [
        ({"message": "Not enough credits", "statusCode": 400}, "Not enough credits"),
        ((403, {"message": "Unauthorized."}), "HTTP 403: Unauthorized."),
        ({"error": "blocked for abuse"}, "blocked for abuse"),
        ({"organic": {"1": {"link": "https://a.example"}}}, "'organic' is an object instead of a list"),
        ({"organic": "none"}, "'organic' is a string instead of a list"),
        ([], "a list instead of an object"),
        ("<html>busy</html>", "HTTP 200 without JSON"),
        ((502, "busy"), "HTTP 502 without JSON"),
    ],
)
def test_vendor_errors_and_odd_shapes_are_failures(loopback: Loopback, payload: Any, words: str) -> None:
    loopback.searches["q"] = payload
    assert words in failure(search_tool(endpoint=loopback.search_url), query="q")


@pytest.mark.parametrize("status", [200, 403])
def test_search_key_in_the_vendors_words_is_not_shown(loopback: Loopback, status: int) -> None:
    key = "stand-in-serper_api_key"
    for said in (f"no access with {key}", "x" * 290 + key):
        loopback.searches["q"] = (status, {"message": said})
        assert "stand-in" not in failure(search_tool(endpoint=loopback.search_url), query="q")


@pytest.mark.parametrize("status", [200, 403])
def test_reader_key_in_the_vendors_words_is_not_shown(loopback: Loopback, status: int) -> None:
    key = "stand-in-jina_api_key"
    tool = jina_tool(endpoint=loopback.reader_url)
    for said in ({"message": f"no access with Bearer {key}"}, f"<p>{'x ' * 145}{key}</p>", {"a": "x" * 290 + key}):
        loopback.pages[ADDRESS] = (status, said)
        shown = run(tool, url=ADDRESS) if status == 200 else failure(tool, url=ADDRESS)
        assert "stand-in" not in shown


def test_half_characters_in_vendors_words_are_replaced(loopback: Loopback) -> None:
    loopback.searches["q"] = (403, {"message": "half \ud83d"})
    loopback.pages[ADDRESS] = (403, {"message": "half \ud83d"})
    failure(search_tool(endpoint=loopback.search_url), query="q").encode("utf-8")
    failure(jina_tool(endpoint=loopback.reader_url), url=ADDRESS).encode("utf-8")


def test_results_without_an_address_are_dropped_and_counted() -> None:
    entries = [
        {"title": "First", "link": "https://a.example/1"},
        {"title": "No link"},
        {"title": None, "link": "https://a.example/2", "snippet": None},
        {"title": "Odd", "link": 5},
        "text",
        {"title": "Script", "link": "javascript:alert(1)"},
    ]
    results = read_results({"organic": entries})
    assert results.hits == (Hit("First", "https://a.example/1"), Hit("https://a.example/2", "https://a.example/2"))
    assert results.dropped == 4
    assert "(4 result(s) without an address were left out.)" in show_results("q", results)


@pytest.mark.parametrize(
    ("box", "shown"),
    [
        ({"answer": "66万"}, "66万"),
        ({"title": "Height", "snippet": "8 m", "link": "https://a.example"}, "Height - 8 m - https://a.example"),
        ({}, ""),
        (None, ""),
    ],
)
def test_answer_box_is_passed_on(box: Any, shown: str) -> None:
    results = read_results({"organic": None, "answerBox": box})
    assert (results.hits, results.answer) == ((), shown)
    assert ("Answer box: " + shown in show_results("q", results)) == bool(shown)


def test_search_fails_without_words_connection_or_key(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "blank" in failure(search_tool(endpoint=loopback.search_url), query=" ")
    assert "did not answer" in failure(search_tool(endpoint="http://127.0.0.1:9/search"), query="q")
    monkeypatch.delenv("SERPER_API_KEY")
    with pytest.raises(InputError, match="set the environment variable SERPER_API_KEY"):
        search_tool()


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(st.sampled_from(["organic", "link", "title", "date", "answerBox", "message"]), inner)
        ),
    )
)
def test_no_payload_ends_otherwise_than_in_results_or_a_failure(payload: Any) -> None:
    try:
        results = read_results(payload)
    except ToolError:
        return
    assert show_hits("q", results.hits).count("URL: ") >= len(results.hits)


# Fetch

ADDRESS = "https://pages.example/a?b=1#c"
jina_tool = partial(fetch_tool, readers=("jina",))


def reader_text(body: str, title: str = "A page", *extra: str) -> str:
    return "\n\n".join([f"Title: {title}", f"URL Source: {ADDRESS}", *extra, f"Markdown Content:\n{body}"])


def test_fetch_shows_the_page_under_its_header(loopback: Loopback) -> None:
    loopback.pages[ADDRESS] = reader_text("First line.\nSecond line.", "年报", "Published Time: 2026-02-01")
    shown = run(jina_tool(endpoint=loopback.reader_url), url=f" {ADDRESS} ")
    head = f"Title: 年报\nURL: {ADDRESS}\nPublished: 2026-02-01\nRead through: Jina Reader\nPage: 1 of 1"
    assert shown == f"{head}\n\nFirst line.\nSecond line."
    _, headers, body = loopback.asked[0]
    assert headers["authorization"] == "Bearer stand-in-jina_api_key"
    assert body == {"url": ADDRESS}


def test_fetch_needs_no_key(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JINA_API_KEY")
    loopback.pages[ADDRESS] = reader_text("Text.")
    assert "Text." in run(jina_tool(endpoint=loopback.reader_url), url=ADDRESS)
    assert "authorization" not in loopback.asked[0][1]


def test_long_pages_come_in_parts(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_module, "PAGE_CHARACTERS", 30)
    loopback.pages[ADDRESS] = reader_text("Twenty characters ..\nTwenty characters ..\nEnd")
    tool = jina_tool(endpoint=loopback.reader_url)
    # Two lines of 21 characters do not fit into 30; the last line fits beside the second.
    assert run(tool, url=ADDRESS).endswith("Page: 1 of 2\n\nTwenty characters ..\n")
    assert run(tool, url=ADDRESS, page=2).endswith("Page: 2 of 2\n\nTwenty characters ..\nEnd")
    for number in (0, 3, -1):
        assert "has 2 page(s)" in failure(tool, url=ADDRESS, page=number)


@given(st.text(st.sampled_from("ab\n镇"), max_size=200), st.integers(1, 30))
def test_division_loses_nothing(text: str, size: int) -> None:
    parts = divide(text, size)
    assert "".join(parts) == text
    assert all(len(part) <= size for part in parts)


BLOCKED = {
    "status in the warning": reader_text(
        "Please wait while we look.", "Hold on", "Warning: Target URL returned error 403: Forbidden"
    ),
    "not found": reader_text(
        "Nothing here, but a long menu. " * 60, "Shop", "Warning: Target URL returned error 404: Not Found"
    ),
    "second warning": reader_text(
        "Hm.", "A", "Warning: shadow DOM", "Warning: Target URL returned error 503: Unavailable"
    ),
    "empty": reader_text("", ""),
    "blank": reader_text(" \n\n "),
    "pictures alone": reader_text(
        "![logo](https://a.example/l.png)\n\n[![x](https://a.example/x.png)](https://a.example)"
    ),
    "Chinese wall": reader_text("当前环境异常，完成验证后即可继续访问。", "公众号"),
    "Chinese limit": reader_text("您的访问过于频繁，请稍后再试。", "提示"),
    "Chinese login": reader_text("请登录后查看全文", "论坛"),
    "human check": reader_text("Verify you are human by completing the action below.", "Just a moment..."),
    "denied": reader_text(
        "Access denied. You don't have permission to access this resource.\nReference #18.2c", "Error"
    ),
    "captcha warning": reader_text(
        "One more step", "Shop", "Warning: This page maybe requiring CAPTCHA, please check."
    ),
    "long wall": reader_text(
        "Sorry, you have been blocked. " + "This website uses a security service. " * 15 + "Cloudflare Ray ID: 8a",
        "Attention Required! | Cloudflare",
    ),
    "login": reader_text("Sign in to continue reading.", "Daily"),
    **{
        words: reader_text(words, title)
        for words, title in [
            ("404 Not Found nginx", ""),
            ("# 404 Not Found\n\nnginx/1.18.0", "404"),
            ("Page not found", "404"),
            ("Sorry, this page could not be found. Try our start page.", ""),
            ("The page may have been moved. Visit our start page or search for it.", "Page not found"),
            ("Internal Server Error", "Error"),
            ("502 Bad Gateway", ""),
            ("抱歉，您访问的页面不存在。返回首页", ""),
            ("系统繁忙，请稍后再试", ""),
            ("HTTP Error 403 - Forbidden", ""),
            ("Access denied.\n\n© 2025 Harbour Board", ""),
            ("Just a moment...", ""),
        ]
    },
}


@pytest.mark.parametrize("page", BLOCKED.values(), ids=BLOCKED.keys())
def test_walls_and_empty_pages_are_failures(loopback: Loopback, page: str) -> None:
    loopback.pages[ADDRESS] = page
    assert f"{ADDRESS} was not read" in failure(jina_tool(endpoint=loopback.reader_url), url=ADDRESS)


ARTICLES = {
    "about 403": reader_text(
        "Servers answer 403 Forbidden when access is denied; a captcha may follow. " * 20,
        "What does 403 Forbidden mean?",
    ),
    "about walls": reader_text(
        "有的网站会提示“访问受限，请先通过验证”。本文说明其原因与应对办法。" * 20, "网站验证机制综述"
    ),
    "short, about 403": reader_text(
        "403 Forbidden is a status code of the HTTP protocol: the server understood the request and will not carry it "
        "out. Logging in again makes no difference. It differs from 401, which asks for credentials first.",
        "HTTP 403",
    ),
    "short, about captchas": reader_text(
        "A captcha is a test that tells people and programs apart. The word was coined in 2003. Early ones showed bent "
        "letters; later ones ask for pictures, or only watch how the pointer moves.",
        "Captcha",
    ),
    "short": reader_text("The bridge opened on 4 May 2026.", "Bridge"),
    "with a cookie line": reader_text("The law took effect in May. " * 40 + "Sign in to continue to comments.", "News"),
    **{
        words: reader_text(words, title)
        for words, title in [
            ("The captcha trade was worth 1.4 billion in 2025, up 9% from 2024.", "Captcha trade"),
            ("Entry in 2025: access was denied to 4 of 60 ships, the port says.", "Port rules"),
            ("Access to the quay was denied to ships without a permit.", ""),
            ("办理须知：请登录市民网后办理。开放时间周二至周五8:30至16:30，票价15元。", "文化馆"),
            ("请登录市民网后预约活动，馆内禁止吸烟。", "文化馆"),
            ("To see a bill, sign in to view your account. A unit costs 14.5 cents as of 2026.", "Bills"),
            ("Unusual activity of the volcano was reported by the station.", ""),
            ("It took just a moment to clear the queue.", ""),
            ("He asked, please wait, and left.", ""),
            ("404 Not Found is the answer for an address without a page.", "HTTP 404"),
            ("The wreck was not found. The divers will return.", ""),
        ]
    },
    "captcha warning on a full page": reader_text(
        "The figure is 8.1 million. " * 40, "A", "Warning: This page maybe requiring CAPTCHA."
    ),
}


@pytest.mark.parametrize("page", ARTICLES.values(), ids=ARTICLES.keys())
def test_articles_about_walls_are_pages(loopback: Loopback, page: str) -> None:
    loopback.pages[ADDRESS] = page
    assert "Page: 1 of 1" in run(jina_tool(endpoint=loopback.reader_url), url=ADDRESS)


@pytest.mark.parametrize("part", ["[", "[a](", "![", "[]((", "[]()", "(", "requir", "404 ", "sorry "])
def test_odd_pages_are_checked_quickly(part: str) -> None:
    started = time.monotonic()
    for length in (1_900, 40_000):
        text = part * (length // len(part))
        fault_of_page(text, text, [text])
    assert time.monotonic() - started < 1.0


def test_cached_copy_keeps_its_warning(loopback: Loopback) -> None:
    warning = "This is a cached snapshot of the original page, consider retry with caching opt-out."
    loopback.pages[ADDRESS] = reader_text("The figure is 131. " * 5, "A", f"Warning: {warning}")
    shown = run(jina_tool(endpoint=loopback.reader_url), url=ADDRESS)
    assert f"\nWarning: {warning}\nRead through: Jina Reader\nPage: 1 of 1\n" in shown


def test_header_words_inside_the_page_are_text() -> None:
    page = read_page(reader_text("Warning: Target URL returned error 404: Not Found is what the tool prints."))
    assert page.warnings == ()
    assert fault_of_page(page.title, page.text * 10, page.warnings) is None
    assert read_page("No header at all").text == "No header at all"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            (422, {"code": 422, "readableMessage": "ParamValidationError: Invalid URL"}),
            "HTTP 422: ParamValidationError",
        ),
        ((451, {"message": "domain is blocked"}), "HTTP 451: domain is blocked"),
        ((503, "<html><b>Down</b></html>"), "HTTP 503: Down"),
    ],
)
def test_reader_errors_are_failures(loopback: Loopback, reply: Any, words: str) -> None:
    loopback.pages[ADDRESS] = reply
    assert words in failure(jina_tool(endpoint=loopback.reader_url), url=ADDRESS)


def test_reader_that_is_away_is_a_failure() -> None:
    assert "did not answer" in failure(jina_tool(endpoint="http://127.0.0.1:9/"), url=ADDRESS)


@pytest.mark.parametrize(
    "url",
    [
        "ftp://files.example/a",
        "file:///etc/hosts",
        "pages.example/a",
        "javascript:alert(1)",
        "https://user:word@pages.example/",
        "https://pages.example@127.0.0.1/",
        "https://pages.example\\@127.0.0.1/",
        "https://pages.example/a b",
        "http://localhost:8000/",
        "http://db.internal/",
        "http://printer.local/",
        "http://intranet/",
        "http://127.0.0.1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://１２７.0.0.1/",
        "http://10.1.2.3/",
        "http://172.16.0.1/",
        "http://192.168.1.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://100.64.0.1/",
        "http://0.0.0.0/",
        "http://224.0.0.1/",
        "http://[::1]/",
        "http://[::]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://[::127.0.0.1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[2002:a00:1::]/",
        "http://[fe80::1%25eth0]/",
        "http://127%2e0%2e0%2e1/",
        "http:///a",
        "https://pages.example:99999/",
        "https://[::1/",
        "",
    ],
)
def test_inside_addresses_are_never_handed_on(loopback: Loopback, url: str) -> None:
    failure(jina_tool(endpoint=loopback.reader_url), url=url)
    assert loopback.asked == []


@pytest.mark.parametrize(
    "url",
    ["https://pages.example/a?q=1&r=%20", "http://8.8.8.8/", "https://镇江.example/公报", "https://[2606:4700::1111]/"],
)
def test_public_addresses_pass(url: str) -> None:
    assert check_address(url) == url


# Python


@pytest.fixture(scope="module")
def python() -> Tool:
    return python_tool(seconds=1)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("print(2)\n3 * 4", "2\n12"),
        ("x = 5", "(The program printed nothing; print what you want to see.)"),
        ("'镇江' * 2", "镇江镇江"),
        ("print('a')", "a"),
        ("import math\nround(math.sqrt(2), 3)", "1.414"),
        ("-1 + 3", "2"),
    ],
)
def test_python_shows_output_and_last_value(python: Tool, code: str, shown: str) -> None:
    assert run(python, code=code) == shown


@pytest.mark.parametrize(
    ("code", "words"),
    [
        ("print('before')\n1 / 0", "ZeroDivisionError"),
        ("raise RuntimeError('broken')", "broken"),
        ("raise RuntimeError(1)", "RuntimeError"),
        ("def f(", "SyntaxError"),
        ("while True: pass", "time limit"),
        ("import time\nfor _ in range(10**9): time.sleep(1)", "limit"),
        ("x = 'a' * 10**10", "MemoryError"),
        ("x = []\nwhile True: x.append('a' * 10**6)", "memory limit"),
        ("while True: print('a' * 1000)", "more than 20000 bytes of output"),
        ("'a' * 10**6", "more than 20000 bytes of output"),
        ("def f(): return f()\nf()", "RecursionError"),
        ("a\x00b", "rror"),
    ],
)
def test_python_failures_and_limits(python: Tool, code: str, words: str) -> None:
    started = time.monotonic()
    said = failure(python, code=code)
    assert words in said
    assert len(said) < 21_000
    assert time.monotonic() - started < 8


@pytest.mark.parametrize(
    "code",
    [
        "open('/etc/hosts').read()",
        "open('main.py', 'w').write('x')",
        "import os\nprint(os.environ)",
        "import os\nos.listdir('/')",
        "import os\nos.system('id')",
        "import subprocess",
        "import socket",
        "import urllib.request",
        "import ctypes",
        "__import__('os')",
    ],
)
def test_python_denies_files_network_and_processes(python: Tool, code: str) -> None:
    assert "rror" in failure(python, code=code)


def test_python_calls_share_nothing(python: Tool) -> None:
    run(python, code="x = 1")
    assert "NameError" in failure(python, code="print(x)")


def test_python_is_off_without_its_interpreter(python: Tool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(python_module.shutil, "which", lambda *_, **__: None)
    assert "the package pydantic-monty is not installed" in failure(python, code="1")
