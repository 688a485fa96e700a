"""Keys do not travel: planted wherever an endpoint, a page, a program or a model brings one, found nowhere after."""

from __future__ import annotations

import asyncio
import gzip
import json
import logging
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback, _Handler, call, completion, serving

from lifesearch_kit.collect.collect import grade, run_agents
from lifesearch_kit.collect.plan import plan_checks, plan_runs
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.errors import ChatError, InputWarning
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.redaction import known_secrets, redact, redact_secrets
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.tools import Tool
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.python import python_tool
from lifesearch_kit.tools.search import search_tool

TODAY = date(2026, 3, 31)
# With signs that JSON and addresses spell in their own ways; OTHER_TOKEN is nobody's but the environment's.
KEYS = {
    "OPENAI_API_KEY": "sk-live/Ab3+Zq9==openai",
    "SERPER_API_KEY": "4f2c9e8b7a6d5c3b1a0fserper",
    "JINA_API_KEY": "jina_7d/8e+9f&0a1b2c",
    "OTHER_TOKEN": 'gh"p_Qw8\\Er7Ty6Ui5Op4',
}
RUBRICS = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Names port {n}.", weight=1.0) for n in range(3))
TASK = Task(task_id="T", language="en", domain="d", query="Which port?", rubrics=RUBRICS)


def spellings(key: str) -> set[str]:
    """A key as texts, JSON, JSON inside JSON and addresses hold it."""
    once = json.dumps(key)[1:-1]
    php, numbered = once.replace("/", "\\/"), once.replace("=", "\\u003d").replace("+", "\\u002b")
    nested = {json.dumps(form)[1:-1] for form in (once, php, numbered)}
    encoded = quote(key, safe="")
    return {key, once, php, numbered, *nested, encoded, quote(key), quote(encoded, safe="")}


FORMS = sorted({form for key in KEYS.values() for form in spellings(key)})
SAID = " ".join(FORMS)


def leaks(text: str | bytes) -> list[str]:
    content = text if isinstance(text, bytes) else text.encode()
    return [form for form in FORMS if form.encode() in content]


def leaks_on_disk(folder: Path) -> list[tuple[str, str]]:
    found = []
    for path in sorted(one for one in folder.rglob("*") if one.is_file()):
        content = path.read_bytes()
        content = gzip.decompress(content) if path.suffix == ".gz" else content
        found += [(path.name, form) for form in leaks(content)]
    return found


class _Echo(_Handler):
    """Sends the keys that it was given back in headers."""

    def end_headers(self) -> None:
        for name in ("Authorization", "X-API-KEY"):
            self.send_header(f"X-Echo-{name}", self.headers.get(name, "none"))
        super().end_headers()


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    handler = type("Handler", (_Echo,), {})
    with serving(handler) as url:
        handler.loopback = Loopback(url)  # type: ignore[attr-defined]
        yield handler.loopback  # type: ignore[attr-defined]


def system(server: Loopback, name: str = "S") -> SystemSettings:
    return SystemSettings(name=name, model="m", base_url=server.chat_url, max_retries=0)


def kit_tools(server: Loopback) -> list[Tool]:
    return [
        search_tool(endpoint=server.search_url),
        fetch_tool(endpoint=server.reader_url, readers=("jina",)),
        python_tool(sandbox="none"),
    ]


def run(server: Loopback, folder: Path, *script: Any, tools: list[Tool] | None = None) -> list[Report]:
    server.script[:] = script
    given_tools = kit_tools(server) if tools is None else tools
    with Store(folder) as store:
        plan = plan_runs([TASK], [system(server)], given_tools, runs=1, today=TODAY)
        reports, summary = asyncio.run(run_agents(plan, given_tools, store, today=TODAY))
        # While the write-ahead log is there.
        assert leaks_on_disk(folder) == []
    assert leaks(str(summary)) == []
    return reports


def plant_in_services(server: Loopback) -> None:
    """Results and pages that hold every key, and services that complain about the key they were given."""
    address = f"https://port.example/?k={quote(KEYS['OTHER_TOKEN'], safe='')}&again={quote(KEYS['OPENAI_API_KEY'])}"
    hit = {"title": SAID, "link": address, "snippet": SAID, "date": SAID}
    server.searches |= {
        "ports": {"organic": [hit], "answerBox": {"answer": SAID}},
        "refused": (403, {"message": f"{'x' * 290}{KEYS['SERPER_API_KEY']} {SAID}", "statusCode": 403}),
        "broken": (500, f"<p>{SAID}</p>"),
    }
    server.pages |= {
        "https://port.example/": f"Title: {SAID}\n\nMarkdown Content:\n# Ports\n{SAID}",
        "https://port.example/401": (401, json.dumps({"message": f"no such key {KEYS['JINA_API_KEY']}"})),
        "https://port.example/php": (422, json.dumps({"message": KEYS["JINA_API_KEY"]}).replace("/", "\\/")),
        "https://port.example/html": (500, f"<p>{'x' * 290}{KEYS['JINA_API_KEY']}</p>"),
    }


def calls_for_keys(secrets: Path) -> list[dict[str, Any]]:
    """Calls whose results hold keys; the programs read them from a file, as a plain process can."""
    look = f"import json, sys\nkeys = json.load(open({str(secrets)!r}))\n"
    pages = ["https://port.example/", *(f"https://port.example/{name}" for name in ("401", "php", "html"))]
    programs = [f"{look}print(keys)", f"{look}json.dumps(keys)", f"{look}sys.exit(str(keys))", f"{look}1 / keys"]
    asked = [
        *(("search", {"query": query}) for query in ("ports", "refused", "broken", SAID)),
        *(("fetch", {"url": url}) for url in pages),
        *(("python", {"code": code}) for code in programs),
        (SAID[:60], {"x": SAID}),
        ("search", SAID),
    ]
    return [call(name, arguments, f"c{number}") for number, (name, arguments) in enumerate(asked)]


def test_keys_from_services_pages_programs_and_the_model_are_nowhere(
    server: Loopback, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    plant_in_services(server)
    seen: list[list[tuple[str, str]]] = []
    secrets, folder = tmp_path / "secrets.json", tmp_path / "run"
    secrets.write_text(json.dumps(KEYS))

    def report(_: Any) -> dict[str, Any]:
        assert list((folder / "unfinished").iterdir())
        seen.append(leaks_on_disk(folder))
        return completion(f"# Ports\n{SAID}", reasoning_content=SAID, extra={"note": SAID})

    def echo(_: Any) -> dict[str, Any]:
        return {**completion(str(server.asked[-1][1]), *calls_for_keys(secrets)), "model": KEYS["OPENAI_API_KEY"]}

    (made,) = run(server, folder, echo, report)
    assert seen == [[]], "checkpoints of the run under way, and the write-ahead log"
    assert leaks_on_disk(folder) == []
    assert leaks(made.model_dump_json()) == []
    assert made.text.startswith("# Ports\n[key] ")
    # What tools brought, as the model was sent it.
    results = [one["content"] for one in server.requests[1]["messages"] if one["role"] == "tool"]
    assert len(results) == 14
    assert [leaks(one) for one in results if leaks(one)] == []
    transcript = read_transcript(folder / str(made.transcript))
    # Every tool that held a key says where it stood; the first program printed all four.
    assert sum("[key]" in one.content for one in transcript.steps[0].results) >= 9
    assert transcript.steps[0].results[8].content.count("[key]") == len(KEYS)
    printed = capsys.readouterr()
    assert leaks(caplog.text + printed.out + printed.err) == []


ERRORS = {
    "a wrong key": (401, {"error": {"message": f"Incorrect API key provided: {KEYS['OPENAI_API_KEY']}"}}),
    "slashes escaped": (401, json.dumps({"error": {"message": KEYS["OPENAI_API_KEY"]}}).replace("/", "\\/")),
    "signs as numbers": (401, json.dumps({"error": KEYS["OPENAI_API_KEY"]}).replace("=", "\\u003d")),
    "in a code": (400, {"error": {"message": "no", "code": KEYS["OPENAI_API_KEY"]}}),
    "in markup": (500, f"<p>{KEYS['OPENAI_API_KEY']}</p>"),
    "in an address": (404, {"error": f"no route ?key={quote(KEYS['OPENAI_API_KEY'], safe='')}"}),
    "under HTTP 200": {"error": {"message": f"bad gateway for Bearer {KEYS['OPENAI_API_KEY']}", "code": 502}},
    "at the cut": (429, {"error": {"message": "x" * 490 + KEYS["OPENAI_API_KEY"]}}),
}


@pytest.mark.parametrize("fault", ERRORS.values(), ids=ERRORS.keys())
def test_a_key_in_an_endpoints_error_is_not_in_the_exception(
    server: Loopback,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    fault: Any,
) -> None:
    caplog.set_level(logging.INFO)
    with pytest.raises(ChatError) as caught:
        run(server, tmp_path, fault)
    assert leaks(str(caught.value) + repr(caught.value.__cause__)) == []
    assert "[key]" in str(caught.value) or len(str(fault)) > 490
    assert "sk-live" not in str(caught.value)
    assert leaks_on_disk(tmp_path) == []
    printed = capsys.readouterr()
    assert leaks(caplog.text + printed.out + printed.err) == []


def test_a_key_in_the_words_that_end_a_run_is_not_in_its_notes(server: Loopback, tmp_path: Path) -> None:
    words = f"prompt is too long for Bearer {KEYS['OPENAI_API_KEY']}"
    (made,) = run(server, tmp_path, (400, {"error": {"message": words}}))
    assert made.status == "token_limit"
    assert any("too long for Bearer [key]" in note for note in made.notes)
    assert leaks_on_disk(tmp_path) == []


def test_a_service_that_never_worked_does_not_tell_its_key(server: Loopback, tmp_path: Path) -> None:
    plant_in_services(server)
    with pytest.raises(ChatError, match="never worked") as caught:
        run(server, tmp_path, completion(None, call("search", {"query": "refused"})), completion("# Report"))
    assert leaks(str(caught.value)) == []


def test_keys_in_a_judges_replies_are_nowhere(
    server: Loopback, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.INFO)
    judge = JudgeSettings(name="J", model="m", base_url=server.chat_url, max_retries=0, unjudged_retries=1)
    report = Report(system="S", task_id="T", text="# Ports")
    refused = (400, {"error": {"message": f"response_format is unknown to {KEYS['OPENAI_API_KEY']}"}})
    verdict = completion(json.dumps({"satisfied": True, "reason": SAID}))
    words = (400, {"error": {"message": f"odd request by {KEYS['OPENAI_API_KEY']}"}})
    server.script[:] = [refused, verdict, completion(SAID), completion(SAID), words]
    with Store(tmp_path) as store:
        plan = plan_checks([TASK], [report], [judge])
        with pytest.warns(InputWarning) as warned:
            summary = asyncio.run(grade(plan, store, concurrency=1))
        judgments = list(store.select_judgments(check.key for check in plan))
        assert leaks_on_disk(tmp_path) == []
    assert [one.status for one in judgments] == ["ok", "unparseable", "error"]
    assert all("[key]" in one.model_dump_json() for one in judgments)
    assert leaks("".join([str(summary), *(one.model_dump_json() for one in judgments)])) == []
    assert leaks("".join(str(one.message) for one in warned)) == []
    assert leaks_on_disk(tmp_path) == []
    printed = capsys.readouterr()
    assert leaks(caplog.text + printed.out + printed.err) == []


# The parts


@pytest.mark.parametrize("form", FORMS)
def test_every_spelling_is_found(monkeypatch: pytest.MonkeyPatch, form: str) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    assert redact_secrets(f"before {form} after") == "before [key] after"


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=8), st.text(), st.text())
def test_a_key_goes_and_the_record_around_it_can_still_be_read(key: str, before: str, after: str) -> None:
    assert redact(f"<{key}>", key) == "<[key]>"
    assert redact(f"?k={quote(key, safe='')}&", key) == "?k=[key]&"
    # A sign at the edge may stand behind a backslash that the record needs; keys do not begin or end with one.
    if key.strip("\\") != key or key[0] in '"/u':
        return
    record = {"before": before, "said": f" {key} ", "after": after, "count": 12345}
    read = json.loads(redact(json.dumps(record), key))
    assert key not in read["said"]
    assert read["count"] == 12345


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("A_KEY", "true"),
        ("A_KEY", "disabled"),
        ("A_KEY", "Password"),
        ("A_KEY", "DEVELOPMENT"),
        ("A_TOKEN", "12345678"),
        ("A_KEY", "any word"),
        ("A_KEY", "/home/user/.ssh/id_ed25519"),
        ("A_KEY", "~/keys/deploy.pem"),
        ("A_KEY", "./deploy.pem"),
        ("A_SECRET", "https://vault.example/v1"),
        ("A_TOKEN", "short12"),
        ("MONKEYS_HOME", "sk-live-0123456789"),
        ("KEYBOARD", "sk-live-0123456789"),
    ],
)
def test_ordinary_values_stay(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    before = known_secrets()
    monkeypatch.setenv(name, value)
    assert known_secrets() == before
    assert redact_secrets(f"It says {value}.") == f"It says {value}."


@pytest.mark.parametrize(
    "name", ["A_KEY", "a_key", "APIKEY", "A_KEYS", "A_KEY_2", "A_TOKEN", "A_SECRET", "A_CREDENTIALS"]
)
def test_variables_that_are_named_like_keys_are_known(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, " sk-0123456789 ")
    assert "sk-0123456789" in known_secrets()


def test_a_key_that_begins_like_another_leaves_no_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", "sk-0123456789")
    monkeypatch.setenv("B_KEY", "sk-0123456789-and-more")
    assert redact_secrets("sk-0123456789-and-more, sk-0123456789") == "[key], [key]"


def test_ordinary_text_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, key in KEYS.items():
        monkeypatch.setenv(name, key)
    text = (
        'true, false, null; sk-live, jina_, /usr/lib/python3; C:\\keys; {"satisfied": true, "n": 4} 港口 100%2F\\u003d'
    )
    assert redact_secrets(text) == text


def test_a_key_counts_from_the_moment_it_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = "kq7Zw3Rt9Xv1", "pL5mN8bV2cX4"
    monkeypatch.setenv("VENDOR_WORD", first)
    assert first not in known_secrets()
    # As many variables as before.
    monkeypatch.delenv("VENDOR_WORD")
    monkeypatch.setenv("VENDOR_TOKEN", first)
    assert redact_secrets(f"a {first} b") == "a [key] b"
    monkeypatch.setenv("VENDOR_TOKEN", second)
    assert redact_secrets(f"{first} {second}") == f"{first} [key]"
    monkeypatch.delenv("VENDOR_TOKEN")
    assert redact_secrets(second) == second
