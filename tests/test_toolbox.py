"""Tools as a profile names them, and what an agent gets of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from loopback import Loopback, call, completion

from lifesearch_kit.collect.collect import run_agents
from lifesearch_kit.collect.plan import plan_runs
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.collect.toolbox import Toolbox, open_toolbox, parse_tools
from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool, function_schema, tools_for

WEB = "data/demo/web/pages.jsonl"
TODAY = date(2026, 10, 15)
RUBRICS = (Rubric(rubric_id="R1", criterion="Names it.", weight=1.0),)
OPEN = Task(task_id="open", language="en", domain="d", query="Which port?", rubrics=RUBRICS)
DATED = OPEN.model_copy(update={"task_id": "dated", "cutoff": date(2026, 3, 31)})


def backends(**settings: Any) -> dict[str, str]:
    box = open_toolbox(parse_tools(settings), WEB)
    box.close()
    return {tool.name: tool.backend for tool in box(DATED)}


def test_nothing_said_gives_the_usual_tools() -> None:
    box = open_toolbox(parse_tools({}), WEB)
    assert tools_for(box, OPEN) == tools_for(box, DATED) == list(box.tools)
    assert [tool.name for tool in box.tools] == ["search", "fetch", "python"]
    assert backends()["python"] == "Monty"
    for off in ("off", False):  # what YAML makes of off
        assert list(backends(python=off, as_of=off)) == ["search", "fetch"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"serach": "serper"}, "field 'serach': is no known field; did you mean 'search'"),
        ({"search": "bing"}, "field 'search': \"bing\" is not allowed; choose 'serper' or 'searxng'"),
        ({"search": "searxng"}, "search: searxng and search_address"),
        ({"search_address": "http://127.0.0.1:8888/search"}, "search: searxng and search_address"),
        ({"replay": True}, "replay needs snapshots"),
        ({"readers": []}, "field 'readers'"),
        ({"results": 0}, "field 'results': 0"),
        ({"as_of": "maybe"}, "field 'as_of': \"maybe\" is not allowed"),
    ],
)
def test_a_wrong_setting_is_named(entry: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_tools(entry)
    assert words in str(caught.value)
    assert "tools of the profile" in str(caught.value)


def test_blocked_entries_are_checked_and_live_search_needs_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="no dot"):
        open_toolbox(parse_tools({"blocked": ["no dot"]}), WEB)
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    with pytest.raises(InputError, match="SERPER_API_KEY"):
        open_toolbox(parse_tools({}))
    asked = parse_tools({"search": "searxng", "search_address": "http://127.0.0.1:8888/search"})
    assert not asked.needs_search_key
    assert "127.0.0.1:8888" in open_toolbox(asked).tools[0].backend


def test_a_file_where_the_snapshots_need_a_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    for place in (tmp_path / "file", tmp_path / "file" / "web"):
        with pytest.raises(InputError) as caught:
            open_toolbox(parse_tools({"snapshots": str(place)}), WEB)
        assert str(caught.value) == (
            f"{place}: no folder can be made there ({tmp_path / 'file'} is a file); correct `snapshots`"
        )
    with pytest.raises(InputError, match="no such home folder"):
        open_toolbox(parse_tools({"snapshots": "~nobody-of-this-name/web"}), WEB)
    with pytest.raises(InputError, match="tools of the profile: 'serper' is no mapping"):
        parse_tools("serper")  # type: ignore[arg-type]


def test_every_setting_is_part_of_a_system(tmp_path: Path) -> None:
    plain = backends()
    guarded = backends(as_of="drop", blocked=["benchmark.example"], snapshots=str(tmp_path))
    for name in ("search", "fetch"):
        assert guarded[name].startswith(plain[name])
        for part in ("snapshots", "blocklist", "as of 2026-03-31 (drop)"):
            assert part in guarded[name]
    assert guarded["python"] == plain["python"]
    system = SystemSettings(name="S", model="m")
    settings: list[dict[str, Any]] = [{}, {"as_of": "mark"}, {"blocked": ["a.example"]}, {"python": "off"}]
    plans = [
        plan_runs([OPEN, DATED], [system], open_toolbox(parse_tools(one), WEB), runs=1, today=TODAY) for one in settings
    ]
    assert len({plan[1].fingerprint for plan in plans}) == 4
    assert plans[0][0].fingerprint == plans[1][0].fingerprint, "a task without a cutoff has nothing to be guarded from"


def searched(folder: Path, server: Loopback, box: Toolbox) -> list[str]:
    """What a run's tools brought."""
    server.script[:] = [
        completion(None, call("search", {"query": "ferry"}, "c1")),
        completion(None, call("fetch", {"url": "https://blocked.example/x"}, "c2")),
        completion("# Report"),
    ]
    system = SystemSettings(name="S", model="m", base_url=server.chat_url, max_retries=0)
    with Store(folder) as store:
        plan = plan_runs([DATED], [system], box, runs=1, today=TODAY)
        (report,), _ = asyncio.run(run_agents(plan, box, store, today=TODAY))
    transcript = read_transcript(folder / str(report.transcript))
    return [one.content for step in transcript.steps for one in step.results]


def test_a_run_is_captured_guarded_and_replayed(
    loopback: Loopback, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SERPER_API_KEY", raising=False)
    settings = {"snapshots": str(tmp_path / "web"), "blocked": ["blocked.example"], "as_of": "drop"}
    box = open_toolbox(parse_tools(settings), WEB)
    first = searched(tmp_path / "first", loopback, box)
    assert "blocked" in first[1]
    box.close()
    again = open_toolbox(parse_tools({**settings, "replay": True}))
    assert not parse_tools({**settings, "replay": True}).needs_search_key
    assert searched(tmp_path / "second", loopback, again) == first
    assert [tool.backend for tool in again(DATED)] == [tool.backend for tool in box(DATED)]
    with pytest.raises(ToolError, match="was not captured"):
        asyncio.run(again.tools[0].run({"query": "something else"}))
    again.close()


def test_a_tool_that_keeps_something_within_a_run_is_opened_for_each(loopback: Loopback, tmp_path: Path) -> None:
    log: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[Tool]:
        number = sum("open" in one for one in log)
        log.append(f"open {number}")

        async def answer(query: str) -> str:
            log.append(f"{query} by {number}")
            return "found"

        yield replace(tool, call=answer, open=None)
        log.append(f"close {number}")

    async def never(query: str) -> str:
        raise AssertionError(query)

    tool = Tool("search", function_schema("search"), never, open=opened)
    search = completion(None, call("search", {"query": "q"}, "c1"))
    loopback.script[:] = [search, completion("# One"), search, completion("# Two")]
    system = SystemSettings(name="S", model="m", base_url=loopback.chat_url, max_retries=0)
    with Store(tmp_path) as store:
        plan = plan_runs([OPEN], [system], [tool], runs=2, today=TODAY)
        asyncio.run(run_agents(plan, [tool], store, today=TODAY, concurrency=1))
    assert log == ["open 0", "q by 0", "close 0", "open 1", "q by 1", "close 1"]
