"""Snapshots: one answer a request, for every system, process and replay; nothing kept is lost."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit import offline
from lifesearch_kit.collect.collect import run_agents
from lifesearch_kit.collect.plan import plan_runs
from lifesearch_kit.collect.store import Store
from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.files import read_tasks
from lifesearch_kit.paths import ROOT
from lifesearch_kit.settings import SystemSettings, parse_settings
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.layout import show_page
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.tools.snapshot_records import Request, canonical_arguments, to_json
from lifesearch_kit.tools.snapshot_store import SnapshotStore, import_snapshots
from lifesearch_kit.tools.snapshots import Snapshots


def tool(answer: Callable[..., Awaitable[str]], name: str = "fetch", backend: str = "stand-in") -> Tool:
    return Tool(name, function_schema(name), answer, backend=backend)


def run(one: Tool, **arguments: Any) -> str:
    return asyncio.run(one.run(json.dumps(arguments)))


class Counting:
    """A tool's function that numbers its answers and waits a little, like a network does."""

    def __init__(self, *failures: Exception | None) -> None:
        self.failures = list(failures)
        self.asked: list[dict[str, Any]] = []

    async def __call__(self, **arguments: Any) -> str:
        self.asked.append(arguments)
        number = len(self.asked)
        await asyncio.sleep(0.02)
        failure = self.failures.pop(0) if self.failures else None
        if failure:
            raise failure
        return f"answer {number}"


# What is the same request

_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
_ANY = Tool(
    "any",
    {
        "type": "function",
        "function": {
            "name": "any",
            "parameters": {"properties": {"q": {}, "page": {"default": 1}, "mode": {"default": "full"}}},
        },
    },
    Counting(),
)
_BLANK = st.text(" \t\n\u3000", max_size=3)


@given(st.dictionaries(st.sampled_from(["q", "page", "mode", "x", "y"]), _JSON), st.randoms(), _BLANK, _BLANK)
def test_order_outer_blanks_and_defaults_make_no_other_request(
    arguments: dict[str, Any], chance: random.Random, before: str, after: str
) -> None:
    names = list(arguments)
    chance.shuffle(names)
    spelt = {
        name: f"{before}{arguments[name]}{after}" if isinstance(arguments[name], str) else arguments[name]
        for name in names
    }
    spelt = {"page": 1, "mode": f"{before}full{after}"} | spelt
    canonical = canonical_arguments(_ANY, arguments)
    assert to_json(canonical_arguments(_ANY, spelt)) == to_json(canonical)
    # What is canonical stays so, and survives being written down.
    assert to_json(canonical_arguments(_ANY, json.loads(to_json(canonical)))) == to_json(canonical)


@given(_JSON, _JSON)
def test_values_that_differ_in_more_are_other_requests(one: Any, other: Any) -> None:
    def bare(value: Any) -> Any:
        if isinstance(value, str):
            return value.strip()
        if isinstance(value, list):
            return [bare(item) for item in value]
        return {name: bare(item) for name, item in value.items()} if isinstance(value, dict) else value

    same = bare(one) == bare(other) and repr(bare(one)).count("True") == repr(bare(other)).count("True")
    if not same:
        assert to_json(canonical_arguments(_ANY, {"q": one})) != to_json(canonical_arguments(_ANY, {"q": other}))


def test_a_truth_value_is_no_number_and_inner_blanks_count() -> None:
    fetch = tool(Counting())
    assert canonical_arguments(fetch, {"url": " a b ", "page": 1.0}) == {"url": "a b"}
    assert canonical_arguments(fetch, {"url": "a  b", "page": True}) == {"page": True, "url": "a  b"}


def test_the_tool_gets_the_request_in_its_canonical_form(tmp_path: Path) -> None:
    asked = Counting()
    with Snapshots(tmp_path) as snapshots:
        assert run(snapshots.of(tool(asked)), url=" https://a.example ", page=1) == "answer 1"
        assert run(snapshots.of(tool(asked)), page=1, url="https://a.example") == "answer 1"
        assert run(snapshots.of(tool(asked)), url="https://a.example", page=2) == "answer 2"
        assert run(snapshots.of(tool(asked, backend="other")), url="https://a.example") == "answer 3"
        assert run(snapshots.of(tool(asked, name="search")), query="https://a.example") == "answer 4"
    assert asked.asked[:2] == [{"url": "https://a.example"}, {"url": "https://a.example", "page": 2}]


# Failures


def test_a_failure_of_the_page_is_kept_and_a_failed_service_is_not(tmp_path: Path) -> None:
    asked = Counting(ToolError("no such page"), ToolError("overloaded", service_failed=True))
    with Snapshots(tmp_path) as snapshots:
        wrapped = snapshots.of(tool(asked))
        for _ in range(2):
            with pytest.raises(ToolError, match=r"^no such page$") as caught:
                run(wrapped, url="gone")
            assert not caught.value.service_failed
        with pytest.raises(ToolError, match=r"^overloaded$") as caught:
            run(wrapped, url="b")
        assert caught.value.service_failed
        assert run(wrapped, url="b") == "answer 3"
        # 1 repeat answered; the page's failure and "answer 3" captured
        assert snapshots.counts == {"answered": 1, "captured": 2, "captured failures": 1, "service failed": 1}
        assert "1 requests answered from snapshots, 2 captured (1 of them failures" in snapshots.summary()


@pytest.mark.parametrize("bug", [ValueError("a bug"), asyncio.CancelledError()])
def test_a_bug_of_the_tool_keeps_nothing(tmp_path: Path, bug: Exception) -> None:
    asked = Counting(bug)
    with Snapshots(tmp_path) as snapshots:
        with pytest.raises(type(bug)):
            run(snapshots.of(tool(asked)), url="a")
        assert run(snapshots.of(tool(asked)), url="a") == "answer 2"


def test_an_answer_that_is_no_text_is_not_kept(tmp_path: Path) -> None:
    async def nothing(**_: Any) -> Any:
        return None

    with Snapshots(tmp_path) as snapshots:
        with pytest.raises(TypeError, match="fetch returned NoneType"):
            run(snapshots.of(tool(nothing)), url="a")
        assert run(snapshots.of(tool(Counting())), url="a") == "answer 1"


def test_half_characters_do_not_stop_the_keeping(tmp_path: Path) -> None:
    async def torn(**_: Any) -> str:
        return "a\ud83db"

    with Snapshots(tmp_path) as snapshots:
        assert run(snapshots.of(tool(torn)), url="\ud83d") == "a\ufffdb"


def test_a_file_that_cannot_be_written_is_a_failed_service(tmp_path: Path) -> None:
    with Snapshots(tmp_path) as snapshots:
        captured = snapshots.of(tool(Counting()))
        snapshots._store._database.execute("PRAGMA query_only = ON")
        with pytest.raises(ToolError, match="cannot be read or written") as caught:
            run(captured, url="a")
    assert caught.value.service_failed


# At the same time


def together(one: Tool, count: int, *, cancel_first: bool = False) -> list[Any]:
    async def all_at_once() -> list[Any]:
        calls = [asyncio.create_task(one.run({"url": "a"})) for _ in range(count)]
        if cancel_first:
            await asyncio.sleep(0.01)
            calls[0].cancel()
        return await asyncio.gather(*calls, return_exceptions=True)

    return asyncio.run(all_at_once())


def test_requests_at_the_same_time_lead_to_one_call(tmp_path: Path) -> None:
    asked = Counting()
    with Snapshots(tmp_path) as snapshots:
        assert together(snapshots.of(tool(asked)), 5) == ["answer 1"] * 5
        assert snapshots.counts["answered"] == 4
        assert snapshots._under_way == {}
    assert len(asked.asked) == 1


def test_those_who_wait_go_on_when_the_first_is_cancelled(tmp_path: Path) -> None:
    asked = Counting()
    with Snapshots(tmp_path) as snapshots:
        first, *others = together(snapshots.of(tool(asked)), 4, cancel_first=True)
    assert isinstance(first, asyncio.CancelledError)
    assert others == ["answer 2"] * 3
    assert len(asked.asked) == 2


def test_one_who_waits_and_is_cancelled_leaves_the_first_alone(tmp_path: Path) -> None:
    asked = Counting()

    async def second_gives_up(one: Tool) -> list[Any]:
        first = asyncio.create_task(one.run({"url": "a"}))
        await asyncio.sleep(0.005)
        second = asyncio.create_task(asyncio.wait_for(one.run({"url": "a"}), 0.005))
        return await asyncio.gather(first, second, return_exceptions=True)

    with Snapshots(tmp_path) as snapshots:
        first, second = asyncio.run(second_gives_up(snapshots.of(tool(asked))))
    assert first == "answer 1"
    assert isinstance(second, TimeoutError)
    assert len(asked.asked) == 1


def test_a_failed_service_is_told_to_all_who_wait_without_another_call(tmp_path: Path) -> None:
    asked = Counting(ToolError("overloaded", service_failed=True))
    with Snapshots(tmp_path) as snapshots:
        outcomes = together(snapshots.of(tool(asked)), 3)
    assert [(str(one), one.service_failed) for one in outcomes] == [("overloaded", True)] * 3
    assert len(asked.asked) == 1


def test_of_two_processes_the_first_answer_counts_for_both(tmp_path: Path) -> None:
    asked = Counting()
    with Snapshots(tmp_path) as one, Snapshots(tmp_path) as other:

        async def both() -> list[str]:
            tools = [one.of(tool(asked)), other.of(tool(asked))]
            return await asyncio.gather(*(each.run({"url": "a"}) for each in tools))

        assert asyncio.run(both()) == ["answer 1"] * 2
        assert one.set_id == other.set_id
    assert len(asked.asked) == 2


# Replay


def test_a_replay_needs_neither_network_nor_key_and_is_the_same_system(tmp_path: Path, loopback, monkeypatch) -> None:
    loopback.searches["q"] = {"organic": [{"title": "T", "link": "https://a.example/", "snippet": "s"}]}
    loopback.pages["https://a.example/"] = "Title: T\n\nMarkdown Content:\n" + "Lake Orrin is 41 metres deep. " * 20
    with Snapshots(tmp_path) as snapshots:
        captured = {
            "search": snapshots.of(search_tool(endpoint=loopback.search_url)),
            "fetch": snapshots.of(fetch_tool(endpoint=loopback.reader_url)),
        }
        shown = [run(captured["search"], query="q"), run(captured["fetch"], url="https://a.example/")]
        with pytest.raises(ToolError, match=r"b\.example") as gone:
            run(captured["fetch"], url="https://b.example/")
    asked = len(loopback.asked)
    monkeypatch.delenv("SERPER_API_KEY")
    with Snapshots(tmp_path, replay=True) as snapshots:
        replayed = {name: snapshots.replayed(name) for name in captured}
        assert [run(replayed["search"], query=" q "), run(replayed["fetch"], url="https://a.example/")] == shown
        with pytest.raises(ToolError) as again:
            run(replayed["fetch"], url="https://b.example/")
        assert str(again.value) == str(gone.value)
        with pytest.raises(ToolError, match=r'search \{"query":"other"\} was not captured') as absent:
            run(replayed["search"], query="other")
        assert absent.value.service_failed
        assert snapshots.counts == {"answered": 3, "absent": 1}
    assert [(one.schema, one.backend) for one in replayed.values()] == [
        (one.schema, one.backend) for one in captured.values()
    ]
    assert len(loopback.asked) == asked


def test_agents_on_a_replay_write_the_same_reports_under_the_same_fingerprints(tmp_path: Path) -> None:
    web = offline.Web.load(ROOT / "data" / "demo" / "web" / "pages.jsonl")
    tasks = read_tasks(ROOT / "data" / "demo" / "tasks.jsonl")[:1]
    agent = {"name": "a", "model": "baseline-researcher-quick", "base_url": "offline", "seed_by_run": True}
    agents = parse_settings([agent], SystemSettings)
    day = date(2026, 10, 15)

    def reports(tools: list[Any], name: str) -> list[tuple[str, str, dict[str, int]]]:
        with Store(tmp_path / name) as store:
            made, _ = asyncio.run(
                run_agents(plan_runs(tasks, agents, tools, runs=2, today=day), tools, store, today=day)
            )
        return sorted((one.text, one.fingerprint, one.tool_calls) for one in made)

    live = [offline.search_tool(web), offline.fetch_tool(web)]
    with Snapshots(tmp_path) as snapshots:
        captured = reports([snapshots.of(one) for one in live], "captured")
    with Snapshots(tmp_path, replay=True) as snapshots:
        assert reports([snapshots.replayed("search"), snapshots.replayed("fetch")], "replayed") == captured
        assert snapshots.counts["absent"] == 0
    plain = reports(list(live), "plain")
    assert [(text, calls) for text, _, calls in plain] == [(text, calls) for text, _, calls in captured]
    assert {made_with for _, made_with, _ in plain}.isdisjoint(made_with for _, made_with, _ in captured)


def test_what_cannot_be_replayed_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are no snapshots to replay"):
        Snapshots(tmp_path / "absent", replay=True)
    assert not (tmp_path / "absent").exists()
    with Snapshots(tmp_path) as snapshots:
        for backend in ("a", "b"):
            run(snapshots.of(tool(Counting(), backend=backend)), url="u")
    with Snapshots(tmp_path, replay=True) as snapshots:
        with pytest.raises(InputError, match="backends: 'a', 'b'"):
            snapshots.replayed("fetch")
        with pytest.raises(InputError, match="backends: none"):
            snapshots.replayed("search")
        assert run(snapshots.of(tool(Counting(), backend="b")), url="u") == "answer 1"


def test_another_set_is_another_backend(tmp_path: Path) -> None:
    with Snapshots(tmp_path / "a") as one, Snapshots(tmp_path / "b") as other:
        assert one.of(tool(Counting())).backend == f"stand-in, snapshots {one.set_id}"
        assert one.set_id != other.set_id


def test_the_time_of_capture_is_kept(tmp_path: Path) -> None:
    before = datetime.now(UTC).replace(microsecond=0)
    with Snapshots(tmp_path) as snapshots:
        wrapped = snapshots.of(tool(Counting()))
        assert wrapped.captured(url="a") is None
        run(wrapped, url="a")
        first = wrapped.captured(url=" a ", page=1)
    assert first is not None
    assert before <= first <= datetime.now(UTC)
    with Snapshots(tmp_path, replay=True) as snapshots:
        assert snapshots.of(tool(Counting())).captured(url="a") == first


def test_a_document_that_changed_between_its_pages_is_told(tmp_path: Path) -> None:
    length = 250

    async def growing(url: str, page: int = 1) -> str:
        return show_page("x" * length, page, 100, title="T", url=url)

    with Snapshots(tmp_path) as snapshots:
        wrapped = snapshots.of(tool(growing))
        run(wrapped, url="changed")
        run(wrapped, url="same", page=2)
        run(wrapped, url="same", page=3)
        run(wrapped, url="one page of several")
        length = 450
        run(wrapped, url="changed", page=2)
        documents = {one.arguments: (one.pages, one.changed) for one in snapshots.long_documents()}
    assert documents == {'{"url":"changed"}': (2, True), '{"url":"same"}': (2, False)}


# Sharing


def test_an_export_makes_the_same_set_elsewhere(tmp_path: Path) -> None:
    asked = Counting(None, ToolError("gone"))
    with Snapshots(tmp_path / "a") as snapshots:
        run(snapshots.of(tool(asked)), url="页")
        with pytest.raises(ToolError):
            run(snapshots.of(tool(asked)), url="b")
        captured = snapshots.of(tool(asked)).captured(url="b")
        assert snapshots.export(tmp_path / "set.jsonl") == 2
        set_id = snapshots.set_id
    assert import_snapshots(tmp_path / "set.jsonl", tmp_path / "b") == 2
    assert import_snapshots(tmp_path / "set.jsonl", tmp_path / "b") == 0
    with Snapshots(tmp_path / "b", replay=True) as snapshots:
        wrapped = snapshots.of(tool(asked))
        assert run(wrapped, url="页") == "answer 1"
        with pytest.raises(ToolError, match=r"^gone$"):
            run(wrapped, url="b")
        assert wrapped.captured(url="b") == captured
        assert snapshots.set_id == set_id


def test_sets_are_not_mixed_and_contradictions_import_nothing(tmp_path: Path) -> None:
    for name, urls in (("a", ["1", "2"]), ("b", ["1"])):
        with Snapshots(tmp_path / name) as snapshots:
            for url in urls:
                run(snapshots.of(tool(Counting())), url=url)
            snapshots.export(tmp_path / f"{name}.jsonl")
    with pytest.raises(InputError, match="import into a folder of its own"):
        import_snapshots(tmp_path / "a.jsonl", tmp_path / "b")
    lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines()
    third = lines[0].replace('\\"1\\"', '\\"3\\"')
    (tmp_path / "edited.jsonl").write_text("\n".join([third, lines[1].replace("answer", "reply")]), "utf-8")
    with pytest.raises(InputError, match=r'fetch \{"url":"2"\} has another answer here'):
        import_snapshots(tmp_path / "edited.jsonl", tmp_path / "a")
    with SnapshotStore(tmp_path / "a") as store:
        assert [one.arguments for one in store.snapshots()] == ['{"url":"1"}', '{"url":"2"}']


def test_faults_of_a_shared_file_are_told_with_their_places(tmp_path: Path) -> None:
    with Snapshots(tmp_path / "a") as snapshots:
        run(snapshots.of(tool(Counting())), url="1")
        snapshots.export(tmp_path / "a.jsonl")
    row = json.loads((tmp_path / "a.jsonl").read_text("utf-8"))
    rows = [{**row, "captured": "2026-03-31T09:30:00"}, {**row, "captured": "soon"}, {**row, "arguments": "[]"}]
    path = tmp_path / "bad.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in rows), "utf-8")
    with pytest.raises(InputError) as caught:
        import_snapshots(path, tmp_path / "b")
    assert [fault.partition(": ")[0] for fault in caught.value.faults] == [f"{path}:{line}" for line in (1, 2, 3)]
    assert "has no time zone" in caught.value.faults[0]
    assert "is no time" in caught.value.faults[1]
    assert "is no JSON object" in caught.value.faults[2]
    path.write_text("", "utf-8")
    with pytest.raises(InputError, match="holds snapshots of 0 sets"):
        import_snapshots(path, tmp_path / "b")


# Kills and crowds


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "snapshots.sqlite").write_bytes(b"not a database, surely" * 99)
    with pytest.raises(InputError, match=r"snapshots\.sqlite: is no readable file of snapshots"):
        Snapshots(tmp_path)


CAPTURER = """
import asyncio, sys
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.snapshots import Snapshots

async def answer(url):
    return f"{sys.argv[2]} {url} " + "x" * (int(url) * 977 % 20_000)

async def main():
    with Snapshots(sys.argv[1]) as snapshots:
        wrapped = snapshots.of(Tool("fetch", function_schema("fetch"), answer, backend="stand-in"))
        print("ready", flush=True)
        for number in range(100_000):
            print((await wrapped.call(url=str(number))).partition(" x")[0], flush=True)

asyncio.run(main())
"""


def test_what_was_answered_is_kept_when_processes_are_killed_at_any_point(tmp_path: Path) -> None:
    chance = random.Random(7)
    answered: dict[str, str] = {}
    for lap in range(4):
        command = [sys.executable, "-c", CAPTURER, str(tmp_path)]
        processes = [
            subprocess.Popen([*command, f"{lap}{name}"], stdout=subprocess.PIPE, text=True) for name in ("a", "b")
        ]
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            time.sleep(chance.uniform(0.02, 0.4))
            os.kill(process.pid, signal.SIGKILL)
        for process in processes:
            # The kill may cut the last line, and what one process read must be what any other does.
            for line in process.communicate()[0].splitlines(keepends=True):
                maker, _, url = line.strip().partition(" ")
                if line.endswith("\n"):
                    assert answered.setdefault(url, maker) == maker
    assert len(answered) > 20
    with SnapshotStore(tmp_path) as store:
        for url, maker in answered.items():
            kept = store.find(Request("fetch", "stand-in", to_json({"url": url})))
            assert kept is not None
            assert kept.content == f"{maker} {url} " + "x" * (int(url) * 977 % 20_000)
    with sqlite3.connect(tmp_path / "snapshots.sqlite") as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_processes_that_open_a_new_folder_at_once_share_one_set(tmp_path: Path) -> None:
    program = (
        "import sys, time; from lifesearch_kit.tools.snapshot_store import SnapshotStore\n"
        "print('ready', flush=True); sys.stdin.readline(); print(SnapshotStore(sys.argv[1]).set_id)"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(6)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    told = [process.communicate()[0].strip() for process in processes]
    assert len(set(told)) == 1
    assert len(told[0]) == 8
