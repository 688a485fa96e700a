"""Agents of one's own: the same tools, limits and records as the harness, for functions and for real processes."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback

from lifesearch_kit.agent import tool_calls
from lifesearch_kit.errors import ChatError, InputError, ToolError
from lifesearch_kit.own_agents import OwnAgent, calls, link, parse_systems, process, require_agents
from lifesearch_kit.own_agents.run import run_own_agent
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.transcripts import Transcript

TODAY = date(2026, 10, 15)
CRITERION = "The response should give 66 thousand."
TASK = Task(
    task_id="T1",
    language="zh",
    domain="Policy & government",
    query="盐城市2025年末常住人口是多少？",
    cutoff=date(2026, 3, 31),
    rubrics=(Rubric(rubric_id="R1", criterion=CRITERION, weight=1.0),),
    metadata={"answer": "66 thousand"},
)
KEY = "sk-0123456789abcdef"
WRITE = """
import json, os, signal, subprocess, sys, time
def write(message):
    print(json.dumps(message), flush=True)
def call(tool, **arguments):
    write({"call": {"id": 1, "tool": tool, "arguments": arguments}})
    return json.loads(sys.stdin.readline())
start = json.loads(sys.stdin.readline())
"""


async def _search(query: str) -> str:
    if query == "away":
        raise ToolError("the search engine is away", service_failed=True)
    if query == "fail":
        raise ToolError("no such thing")
    if query == "slow":
        await asyncio.sleep(0.2)
    if query == "hang":
        await asyncio.sleep(60)
    return f"results for {query}"


TOOLS = [Tool("search", function_schema("search"), _search)]


def run(
    agent: OwnAgent, function: Any = None, tools: list[Tool] = TOOLS, task: Task = TASK, number: int = 2
) -> tuple[Report, Transcript]:
    return asyncio.run(run_own_agent(task, agent, tools, run=number, today=TODAY, function=function))


def call_function(function: Any, *, tools: list[Tool] = TOOLS, **settings: Any) -> tuple[Report, Transcript]:
    agent = OwnAgent(**{"name": "mine", "version": "1", "function": "somewhere:answer", **settings})
    return run(agent, function, tools)


def run_program(folder: Path, program: str, *, tools: list[Tool] = TOOLS, **settings: Any) -> tuple[Report, Transcript]:
    (folder / "agent.py").write_text(WRITE + textwrap.dedent(program), "utf-8")
    command = ("python", str(folder / "agent.py"))
    return run(OwnAgent(**{"name": "mine", "version": "1", "command": command, **settings}), tools=tools)


def contents(transcript: Transcript) -> list[str]:
    return [result.content for step in transcript.steps for result in step.results]


def is_alive(pid: int, seconds: float = 2.0) -> bool:
    """Whether a process is still there after so long: one that was killed may take a moment to go."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        try:
            os.kill(pid, 0)
            if Path("/proc").is_dir() and Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except OSError:
            return False
        time.sleep(0.02)
    return True


def pid_in(path: Path, seconds: float = 10.0) -> int:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if path.exists() and path.read_text().strip():
            return int(path.read_text())
        time.sleep(0.01)
    raise AssertionError(f"{path} was not written")


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 0.5)


# The examples of the README


def example(name: str, folder: Path) -> Path:
    (code,) = re.findall(rf"```python\n(# {name}\n.*?)```", (ROOT / "README.md").read_text("utf-8"), re.S)
    (folder / name).write_text(code, "utf-8")
    return folder / name


def example_agents(folder: Path) -> list[OwnAgent]:
    function = f"{example('my_agent.py', folder)}:answer"
    command = ["python", str(example("my_process.py", folder))]
    entries = [
        {"name": "mine", "version": "1", "function": function},
        {"name": "other", "version": "1", "command": command},
    ]
    return [one for one in parse_systems(entries) if isinstance(one, OwnAgent)]


@pytest.mark.parametrize("place", [0, 1])
def test_the_examples_run_over_a_real_search(loopback: Loopback, tmp_path: Path, place: int) -> None:
    loopback.searches[TASK.query] = {"organic": [{"title": "公报", "link": "https://tj.example/1", "snippet": "66万"}]}
    agent = example_agents(tmp_path)[place]
    functions = require_agents([agent])
    tools = [search_tool(endpoint=loopback.search_url)]
    report, transcript = run(agent, functions.get(agent.name), tools)
    assert report.text.startswith("As of 2026-10-15:\n\n")
    assert "https://tj.example/1" in report.text
    assert (report.system, report.task_id, report.run, report.status) == (agent.name, "T1", 2, "answered")
    assert (report.iterations, report.output_tokens, report.tool_calls) == (1, None, {"search": 1})
    assert report.failed_tool_calls == {}
    assert 0 < report.tool_seconds <= report.seconds
    assert [step.number for step in transcript.steps] == [1, 2]
    (result,) = transcript.steps[0].results
    assert (result.tool, json.loads(result.arguments), result.ok) == ("search", {"query": TASK.query}, True)
    assert transcript.steps[1].message == {"role": "assistant", "content": report.text}
    assert transcript.question == TASK.query


def test_both_kinds_leave_the_same_record_of_the_same_calls(loopback: Loopback, tmp_path: Path) -> None:
    records = [run(agent, tools=[search_tool(endpoint=loopback.search_url)]) for agent in example_agents(tmp_path)]
    one, other = (
        [(step.number, step.message, [(r.call_id, r.content, r.ok) for r in step.results]) for step in transcript.steps]
        for _, transcript in records
    )
    assert one == other


# What an agent is given


def test_a_function_gets_no_answer_key_and_the_tools_by_name_and_schema() -> None:
    seen: list[Any] = []

    async def answer(task: Task, tools: list[Tool], today: date, run: int) -> str:
        seen.append((task, tools, today, run))
        return "66万"

    call_function(answer)
    ((task, (tool,), today, number),) = seen
    assert (task.rubrics, task.metadata, task.query, task.cutoff) == ((), {}, TASK.query, TASK.cutoff)
    assert CRITERION not in task.model_dump_json()
    assert (tool.name, tool.schema, today, number) == ("search", TOOLS[0].schema, TODAY, 2)


def test_a_process_gets_no_answer_key(tmp_path: Path) -> None:
    report, _ = run_program(tmp_path, 'write({"report": {"text": json.dumps(start)}})')
    assert json.loads(report.text) == {
        "task": {"task_id": "T1", "language": "zh", "query": TASK.query, "cutoff": "2026-03-31"},
        "today": "2026-10-15",
        "run": 2,
        "tools": [TOOLS[0].schema],
    }


def test_a_process_sees_no_key_but_those_that_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SERPER_API_KEY", KEY)
    monkeypatch.setenv("MINE_API_KEY", KEY)
    program = 'write({"report": {"text": " ".join(sorted(os.environ))}})'
    report, _ = run_program(tmp_path, program)
    # LC_CTYPE may be set by Python itself.
    allowed = {"HOME", "LANG", "LC_CTYPE", "LD_LIBRARY_PATH", "LIFESEARCH_AGENT_RUN", "PATH", "PYTHONUNBUFFERED"}
    assert set(report.text.split()) <= allowed | {"PYTHONUTF8"}
    report, _ = run_program(tmp_path, program, environment=("MINE_API_KEY",))
    assert "MINE_API_KEY" in report.text
    assert "SERPER_API_KEY" not in report.text


def test_tools_that_keep_state_are_opened_for_the_run_and_closed(tmp_path: Path) -> None:
    events: list[str] = []

    @asynccontextmanager
    async def opened() -> AsyncIterator[Tool]:
        events.append("opened")
        yield replace(tool, call=counted, open=None)
        events.append("closed")

    async def counted(query: str) -> str:
        events.append(query)
        return str(len(events))

    async def unopened(query: str) -> str:
        raise AssertionError("called without being opened")

    tool = Tool("search", function_schema("search"), unopened, open=opened)

    async def answer(task: Task, tools: list[Tool]) -> str:
        return await tools[0].run({"query": "a"})

    report, _ = call_function(answer, tools=[tool])
    assert (report.text, events) == ("2", ["opened", "a", "closed"])
    run_program(tmp_path, 'write({"report": {"text": call("search", query="b")["content"]}})', tools=[tool])
    assert events[3:] == ["opened", "b", "closed"]


# Calls of tools


ODD_CALLS: list[tuple[str, Any, str]] = [
    ("search", {"query": "a"}, "results for a"),
    ("search", '{"query": "a"}', "results for a"),
    ("search", {"q": "a"}, "Error: there is no argument 'q'; 'query' is missing. Call search with"),
    ("search", {"query": 5}, "Error: 'query' must be of type string, not 5"),
    ("search", None, "Error: 'query' is missing"),
    ("search", [1], "Error: the arguments are no JSON object: [1]"),
    ("search", {"query": "fail"}, "Error: no such thing"),
    ("browse", {}, "Error: there is no tool 'browse'; the tools are search"),
]


def test_calls_of_a_process_are_answered_and_recorded_as_in_the_harness(tmp_path: Path) -> None:
    calls = [[tool, arguments] for tool, arguments, _ in ODD_CALLS]
    program = f"""
    said = []
    for number, (tool, arguments) in enumerate(json.loads({json.dumps(json.dumps(calls))})):
        write({{"call": {{"id": {{"n": number}}, "tool": tool, "arguments": arguments}}}})
        said.append(json.loads(sys.stdin.readline()))
    write({{"report": {{"text": json.dumps(said)}}}})
    """
    report, transcript = run_program(tmp_path, program)
    said = json.loads(report.text)
    assert [one["id"] for one in said] == [{"n": number} for number in range(8)]
    assert [one["ok"] for one in said] == [True, True, *[False] * 6]
    assert [one["content"] for one in said] == contents(transcript)
    for content, (_, _, expected) in zip(contents(transcript), ODD_CALLS, strict=True):
        assert content.startswith(expected)
    assert report.tool_calls == {"search": 7, "browse": 1}
    assert report.failed_tool_calls == {"search": 5, "browse": 1}
    assert report.status == "answered"


def test_calls_of_a_function_are_recorded_whether_by_run_or_by_call() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        (search,) = tools
        await search.call(query="a")
        await search.run('{"query": "b"}')
        failures = []
        for arguments in ({"q": "a"}, {"query": "fail"}, {"query": {1, 2}}):
            with pytest.raises(ToolError) as caught:
                await search.call(**arguments)
            failures.append(str(caught.value))
        return "\n".join(failures)

    report, transcript = call_function(answer)
    assert contents(transcript)[:2] == ["results for a", "results for b"]
    assert [f"Error: {line}" for line in report.text.split("\n")] == contents(transcript)[2:]
    assert "no JSON" in contents(transcript)[4]
    assert (report.tool_calls, report.failed_tool_calls) == ({"search": 5}, {"search": 3})


def test_half_characters_in_calls_and_reports_are_replaced(tmp_path: Path) -> None:
    program = r"""
    sys.stdout.write('{"call": {"id": "\\ud83d", "tool": "search", "arguments": {"query": "\\ud83d"}}}\n')
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write('{"report": {"text": "66\\ud83d"}}')
    """
    report, transcript = run_program(tmp_path, program)
    assert (report.text, contents(transcript)) == ("66\ufffd", ["results for \ufffd"])
    assert "1 lone surrogate(s) in the report were replaced" in report.notes
    transcript.model_dump_json().encode("utf-8")


def test_calls_side_by_side_are_bounded_and_each_is_a_step_in_the_order_of_the_calls(tmp_path: Path) -> None:
    now, most = [0], [0]

    async def slow(query: str) -> str:
        now[0] += 1
        most[0] = max(most[0], now[0])
        await asyncio.sleep(0.1)
        now[0] -= 1
        return query

    tools = [Tool("search", function_schema("search"), slow)]
    program = """
    for number in range(24):
        write({"call": {"id": number, "tool": "search", "arguments": {"query": str(number)}}})
    answers = [json.loads(sys.stdin.readline()) for _ in range(24)]
    write({"report": {"text": json.dumps({one["id"]: one["content"] for one in answers})}})
    """
    report, transcript = run_program(tmp_path, program, tools=tools)
    assert json.loads(report.text) == {str(number): str(number) for number in range(24)}
    assert contents(transcript) == [str(number) for number in range(24)]
    assert most[0] == 8

    async def answer(task: Task, own: list[Tool]) -> str:
        return " ".join(await asyncio.gather(*(own[0].call(query=str(number)) for number in range(24))))

    most[0] = 0
    report, transcript = call_function(answer, tools=tools)
    assert contents(transcript) == report.text.split() == [str(number) for number in range(24)]
    assert most[0] == 8
    # Three turns of 0.1 seconds; summed over the calls it would be 24 times 0.1.
    assert 0.3 <= report.tool_seconds < 2.0


def test_a_hanging_tool_is_given_up_as_in_the_harness(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tool_calls, "CALL_SECONDS", 0.2)
    report, _ = run_program(tmp_path, 'write({"report": {"text": call("search", query="hang")["content"]}})')
    assert report.text == "Error: search took longer than 0.2 seconds and was given up"
    assert report.failed_tool_calls == {"search": 1}


def test_a_call_that_its_agent_gives_up_is_recorded_as_failed() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(tools[0].call(query="hang"), 0.1)
        return "done"

    report, transcript = call_function(answer)
    assert report.failed_tool_calls == {"search": 1}
    assert contents(transcript) == ["Error: the call was given up before an answer came"]
    assert 0.1 <= transcript.steps[0].results[0].seconds < 2


def test_calls_under_way_at_the_report_are_recorded_as_failed(tmp_path: Path) -> None:
    program = """
    write({"call": {"id": 1, "tool": "search", "arguments": {"query": "hang"}}})
    write({"report": {"text": "66"}})
    """
    started = time.monotonic()
    report, transcript = run_program(tmp_path, program)
    assert time.monotonic() - started < 4
    assert (report.text, report.failed_tool_calls) == ("66", {"search": 1})
    assert contents(transcript) == ["Error: the call was given up before an answer came"]


def test_after_its_run_an_agent_calls_nothing() -> None:
    kept: list[Tool] = []

    async def answer(task: Task, tools: list[Tool]) -> str:
        kept.extend(tools)
        return "done"

    call_function(answer)
    with pytest.raises(ToolError, match="the run is over"):
        asyncio.run(kept[0].call(query="a"))


def test_calls_without_end_end_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "MOST_CALLS", 20)
    with pytest.raises(ChatError, match="agent 'mine' made more than 20 tool calls"):
        run_program(tmp_path, 'while True: call("search", query="a")')


# A service that never worked is no report


AWAY = """
for number in range({calls}):
    call("search", query="away")
time.sleep({seconds})
write({{"report": {{"text": "No evidence was found."}}}})
"""


def test_a_tool_that_never_worked_leaves_no_report(tmp_path: Path) -> None:
    with pytest.raises(ChatError, match="the tool search never worked: Error: the search engine is away") as caught:
        run_program(tmp_path, AWAY.format(calls=1, seconds=0))
    assert caught.value.kind == "transient"


def test_three_calls_of_a_service_that_is_away_end_the_run_at_once(tmp_path: Path) -> None:
    started = time.monotonic()
    with pytest.raises(ChatError, match="never worked"):
        run_program(tmp_path, AWAY.format(calls=3, seconds=60))

    async def answer(task: Task, tools: list[Tool]) -> str:
        for _ in range(3):
            with pytest.raises(ToolError):
                await tools[0].call(query="away")
        await asyncio.sleep(60)
        return "No evidence was found."

    with pytest.raises(ChatError, match="never worked"):
        call_function(answer)
    assert time.monotonic() - started < 10


def test_a_service_that_worked_once_is_none_that_never_did(tmp_path: Path) -> None:
    program = 'call("search", query="a")\n' + AWAY.format(calls=3, seconds=0)
    report, _ = run_program(tmp_path, program)
    assert (report.status, report.failed_tool_calls) == ("answered", {"search": 3})


# What a report says, and what it does not decide


FULL = {
    "text": "66万",
    "iterations": 3,
    "input_tokens": 900,
    "output_tokens": 120,
    "reasoning_tokens": 20,
    "cost": 0.5,
    "model": "m-1",
    "notes": ["took two turns"],
}


def test_a_report_keeps_what_the_agent_counts(tmp_path: Path) -> None:
    report, _ = run_program(tmp_path, f'write({{"report": json.loads({json.dumps(json.dumps(FULL))})}})')
    told = report.model_dump(include=set(FULL))
    assert {**told, "notes": list(told["notes"])} == FULL

    async def answer(task: Task, tools: list[Tool]) -> Report:
        own = {"system": "somebody", "task_id": "other", "run": 9, "seconds": 0.0, "tool_calls": {"search": 99}}
        return Report(**{**FULL, **own})

    report, _ = call_function(answer)
    assert report.model_dump(include=set(FULL)) == told
    assert (report.system, report.task_id, report.run, report.tool_calls) == ("mine", "T1", 2, {})
    assert report.seconds > 0


@pytest.mark.parametrize(
    ("text", "said", "status"),
    [
        ("66万", "answered", "answered"),
        ("", "answered", "empty"),
        ("66万", "empty", "answered"),
        ("请问您指的是哪一年？", "answered", "asked_back"),
        ("66万", "asked_back", "asked_back"),
        ("66万", "refused", "refused"),
        ("66万", "truncated", "truncated"),
        ("66万", "step_limit", "step_limit"),
        ("", "token_limit", "token_limit"),
        ("请问您指的是哪一年？", "step_limit", "asked_back"),
    ],
)
def test_the_status_follows_the_harness_where_the_agent_says_nothing_else(text: str, said: Any, status: str) -> None:
    async def answer(task: Task, tools: list[Tool]) -> Report:
        return Report(system="x", task_id="x", text=text, status=said)

    report, _ = call_function(answer)
    assert (report.text, report.status) == (text, status)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({}, "field 'text': is missing"),
        ({"text": 5}, "field 'text': 5 is no text"),
        ({"text": "66", "ouput_tokens": 5}, "is no known field; did you mean 'output_tokens'?"),
        ({"text": "66", "output_tokens": -1}, "field 'output_tokens': -1"),
        ({"text": "66", "status": "done"}, "field 'status': \"done\" is not allowed; choose 'answered'"),
        ({"text": "66", "seconds": 1.0}, "field 'seconds': is no known field"),
    ],
)
def test_a_report_that_cannot_be_used_is_one_clear_error(tmp_path: Path, said: dict[str, Any], fault: str) -> None:
    with pytest.raises(ChatError, match=re.escape(fault)) as caught:
        run_program(tmp_path, f'write({{"report": json.loads({json.dumps(json.dumps(said))})}})')
    assert str(caught.value).startswith("agent 'mine' handed over a report that cannot be used")


# Functions that fail


def test_a_function_that_fails_has_no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_API_KEY", KEY)

    async def answer(task: Task, tools: list[Tool]) -> str:
        raise ValueError(f"bad key {KEY}")

    with pytest.raises(ChatError) as caught:
        call_function(answer)
    assert re.fullmatch(
        r"agent 'mine' failed with ValueError: bad key \[key\] \(test_own_agents\.py:\d+\)", str(caught.value)
    )
    assert caught.value.kind == "transient"


def test_what_failed_in_a_group_of_tasks_is_named() -> None:
    async def fail() -> None:
        raise KeyError("page")

    async def answer(task: Task, tools: list[Tool]) -> str:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
        return "66"

    with pytest.raises(ChatError, match="agent 'mine' failed with KeyError: 'page'"):
        call_function(answer)


def test_a_report_holds_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VENDOR_API_KEY", KEY)

    async def answer(task: Task, tools: list[Tool]) -> Report:
        return Report(system="x", task_id="x", text=f"refused: {KEY}", notes=(f"with {KEY}",))

    report, transcript = call_function(answer)
    assert (report.text, report.notes) == ("refused: [key]", ("with [key]",))
    assert KEY not in transcript.model_dump_json()


@pytest.mark.parametrize(
    ("fail", "told"),
    [
        (lambda: sys.exit(3), "failed with SystemExit: 3"),
        (lambda: asyncio.current_task().cancel(), "cancelled itself"),  # type: ignore[union-attr]
        (lambda: {"text": "66"}["report"], "failed with KeyError: 'report'"),
    ],
)
def test_however_a_function_fails_the_collection_goes_on(fail: Callable[[], Any], told: str) -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        fail()
        await asyncio.sleep(1)
        return "66"

    with pytest.raises(ChatError, match=re.escape(told)):
        call_function(answer)


def test_a_refused_key_stops_as_in_the_harness() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        raise ChatError("key revoked", "stop")

    with pytest.raises(ChatError, match="key revoked") as caught:
        call_function(answer)
    assert caught.value.kind == "stop"


def test_a_function_must_return_a_report_or_text() -> None:
    async def answer(task: Task, tools: list[Tool]) -> Any:
        return 66

    with pytest.raises(ChatError, match="returned int; return a Report or its text"):
        call_function(answer)


# The time limit


def test_a_function_is_cancelled_and_what_it_returns_then_is_its_draft() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        try:
            await tools[0].call(query="hang")
        except asyncio.CancelledError:
            return "66万, so far"
        return "66万"

    report, transcript = call_function(answer, max_seconds=0.2)
    assert (report.text, report.status, report.is_gradable) == ("66万, so far", "time_limit", True)
    assert report.failed_tool_calls == {"search": 1}
    assert transcript.steps[-1].finish_reason == "draft"
    assert 0.2 <= report.seconds < 2


def test_a_function_without_a_draft_ends_empty_at_its_time_limit() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        await asyncio.sleep(60)
        return "66万"

    report, transcript = call_function(answer, max_seconds=0.1)
    assert (report.text, report.status, report.is_gradable) == ("", "time_limit", False)
    assert transcript.steps == ()


@pytest.mark.usefixtures("short_grace")
def test_a_function_that_cannot_be_cancelled_is_left_behind() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        end = time.monotonic() + 2.5
        while time.monotonic() < end:
            try:
                await asyncio.sleep(0.1)
            except asyncio.CancelledError:
                continue
        return "too late"

    report, _ = call_function(answer, max_seconds=0.1)
    assert (report.text, report.status) == ("", "time_limit")
    assert "could not be stopped" in report.notes[0]


def test_a_function_that_blocks_past_its_limit_has_met_it() -> None:
    async def answer(task: Task, tools: list[Tool]) -> str:
        time.sleep(0.3)
        return "66万"

    report, _ = call_function(answer, max_seconds=0.1)
    assert (report.text, report.status) == ("66万", "time_limit")


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("time.sleep(60)", ""),
        ('write({"draft": "one"}); write({"draft": "two"}); time.sleep(60)', "two"),
        (
            'signal.signal(signal.SIGTERM, lambda *_: (write({"draft": "last"}), sys.exit())); time.sleep(60)',
            "last",
        ),
        (
            'signal.signal(signal.SIGTERM, lambda *_: (write({"report": {"text": "whole"}}), sys.exit()))\n'
            'write({"draft": "one"}); call("search", query="hang")',
            "whole",
        ),
        ('write({"draft": "one"}); sys.stdout.write(\'{"report": {"te\'); sys.stdout.flush(); time.sleep(60)', "one"),
    ],
)
def test_a_process_has_its_draft_for_a_report_at_the_time_limit(tmp_path: Path, program: str, text: str) -> None:
    report, _ = run_program(tmp_path, program, max_seconds=1.5)
    assert (report.text, report.status) == (text, "time_limit")
    assert 1.5 <= report.seconds < 4.0


def test_a_report_counts_as_in_time_however_long_its_process_goes_on(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(process, "GRACE_SECONDS", 2.0)
    program = f"""
    open({str(tmp_path / "pid")!r}, "w").write(str(os.getpid()))
    write({{"report": {{"text": "66"}}}})
    time.sleep(60)
    """
    report, _ = run_program(tmp_path, program, max_seconds=2.0)
    assert (report.text, report.status) == ("66", "answered")
    assert report.seconds < 2.0
    assert not is_alive(pid_in(tmp_path / "pid"))


# Processes that fail


@pytest.mark.parametrize(
    ("program", "told"),
    [
        ("sys.exit(3)", "ended with exit code 3 before its report"),
        ("raise ValueError('no such model')", "exit code 1 .*: ValueError: no such model"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", r"ended by signal 11 \(Segmentation fault\)"),
        ("", "ended with exit code 0 before its report"),
        ("os.close(1); time.sleep(60)", "closed its standard output without a report"),
        ('sys.stdout.write(\'{"report": {"te\'); sys.stdout.flush(); os._exit(4)', 'code 4.*middle of a line.*"te$'),
        ("sys.stdout.buffer.write(b'\"\\xe4\\xb8\\n')", "it is no UTF-8"),
        ("print('loading the model'); time.sleep(60)", r"it is no JSON \(.*\): loading the model"),
        ("write([1]); time.sleep(60)", r"no call, draft or report of the protocol: \[1\]"),
        ("write({'call': {'name': 'search'}}); time.sleep(60)", "no call, draft or report"),
        ("write({'draft': 5}); time.sleep(60)", "no call, draft or report"),
        ("print('[' * 200_000); time.sleep(60)", "it is no JSON"),
        ('print(f\'{{"report": {"9" * 5000}}}\'); time.sleep(60)', "it is no JSON"),
    ],
)
def test_a_process_that_fails_has_no_report_and_its_last_words_are_told(
    tmp_path: Path, program: str, told: str
) -> None:
    started = time.monotonic()
    with pytest.raises(ChatError, match=f"(?s)^agent 'mine' .*{told}") as caught:
        run_program(tmp_path, program)
    assert time.monotonic() - started < 10
    assert caught.value.kind == "transient"
    assert len(str(caught.value)) < 1_000


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(ChatError, match=r"agent 'mine' does not start: .*nowhere"):
        run(OwnAgent(name="mine", version="1", command=(str(tmp_path / "nowhere"),)))


def test_what_a_process_says_last_holds_no_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINE_VARIABLE", KEY)
    for program in ("raise ValueError(os.environ['MINE_VARIABLE'])", "print(' ' * 290 + os.environ['MINE_VARIABLE'])"):
        with pytest.raises(ChatError, match=r"\[key\]") as caught:
            run_program(tmp_path, program, environment=("MINE_VARIABLE",))
        assert KEY[:8] not in str(caught.value)


def test_a_character_that_comes_in_two_parts_is_whole(tmp_path: Path) -> None:
    program = """
    line = json.dumps({"report": {"text": "66万"}}, ensure_ascii=False).encode()
    cut = line.index("万".encode()) + 1
    for part in (line[:cut], line[cut:]):
        sys.stdout.buffer.write(part); sys.stdout.buffer.flush(); time.sleep(0.2)
    """
    report, _ = run_program(tmp_path, program)
    assert report.text == "66万"


# Floods


def _nested(inner: Any) -> Any:
    names = st.sampled_from(["call", "draft", "report", "tool", "id", "text"])
    return st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3)


def _encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def test_huge_reports_arrive_and_endless_lines_are_cut_off(tmp_path: Path) -> None:
    report, _ = run_program(tmp_path, 'write({"report": {"text": "x" * 5_000_000}})')
    assert len(report.text) == 5_000_000
    with pytest.raises(ChatError, match="wrote a line of more than 10,000,000 bytes"):
        run_program(tmp_path, "while True: sys.stdout.write('x' * 65536)")


def test_endless_output_is_cut_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "OUTPUT_BYTES", 1_000_000)
    with pytest.raises(ChatError, match="or 1,000,000 bytes on standard output"):
        run_program(tmp_path, 'while True: write({"draft": "x" * 100_000})')


@given(st.binary() | st.recursive(st.none() | st.text() | st.integers(), _nested).map(_encoded))
def test_whatever_a_line_holds_it_is_a_message_or_one_clear_error(line: bytes) -> None:
    agent = OwnAgent(name="mine", version="1", command=("x",))
    conversation = process.Conversation(agent, None, None)  # type: ignore[arg-type]
    error = ""
    try:
        kind, content = conversation._read(line)
    except calls.AgentError as raised:
        error = str(raised)
    if error:
        assert error.startswith("wrote a line on standard output that cannot be used")
        assert len(error) < 700
    else:
        assert json.loads(line) == {kind: content}
        assert isinstance(content, {"call": dict, "draft": str, "report": dict}[kind])


@pytest.mark.parametrize("line", ["'\\n'", '\'{"draft": "x"}\\n\''])
def test_endless_lines_of_a_process_end_it_and_hold_nobody_up(tmp_path: Path, line: str) -> None:
    async def beside() -> float:
        agent = OwnAgent(name="mine", version="1", command=("python", str(tmp_path / "agent.py")))
        work = asyncio.create_task(run_own_agent(TASK, agent, TOOLS, run=1, today=TODAY))
        longest = 0.0
        while not work.done():
            started = time.monotonic()
            await asyncio.sleep(0.01)
            longest = max(longest, time.monotonic() - started)
        with pytest.raises(ChatError, match="wrote more than 100,000 lines"):
            await work
        return longest

    (tmp_path / "agent.py").write_text(WRITE + f"while True: sys.stdout.write({line} * 1000)", "utf-8")
    assert asyncio.run(beside()) < 1.0


def test_a_flood_on_standard_error_is_read_and_only_its_end_kept(tmp_path: Path) -> None:
    program = """
    for _ in range(50_000):
        sys.stderr.write("x" * 600 + "\\n")
    sys.exit("that was all")
    """
    with pytest.raises(ChatError, match=r"exit code 1 .* from its end: that was all \| x{300}"):
        run_program(tmp_path, program)


@pytest.mark.usefixtures("short_grace")
def test_a_process_that_never_reads_meets_its_time_limit_and_is_held_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(link, "_UNREAD_BYTES", 1_000_000)

    async def long(query: str) -> str:
        return "x" * 100_000

    program = """
    write({"draft": "one"})
    while True:
        write({"call": {"id": 1, "tool": "search", "arguments": {"query": "a"}}})
    """
    report, _ = run_program(tmp_path, program, tools=[Tool("search", function_schema("search"), long)], max_seconds=2.0)
    assert (report.text, report.status) == ("one", "time_limit")
    # 1,000,000 bytes wait, 65,536 are in the pipe, and 8 calls are taken before it shows: 10 + 1 + 8 answers or so.
    assert 10 <= report.tool_calls["search"] <= 25


# Nothing is left behind


STRAY = """
child = subprocess.Popen(["sleep", "300"], start_new_session={own_session})
open({pid!r}, "w").write(str(child.pid))
"""


@pytest.mark.parametrize("own_session", [False, True])
@pytest.mark.parametrize(
    ("ending", "told"),
    [
        ('write({"report": {"text": "66"}})', "answered"),
        ("sys.exit(3)", "exit code 3"),
        ("time.sleep(60)", "time_limit"),
        ("print('oops'); time.sleep(60)", "no JSON"),
        ("signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)", "time_limit"),
    ],
)
@pytest.mark.usefixtures("short_grace")
def test_a_child_that_keeps_the_pipes_is_killed_and_waited_for_by_nobody(
    tmp_path: Path, ending: str, told: str, own_session: bool
) -> None:
    if own_session and not Path("/proc/self/environ").exists():
        pytest.skip("only Linux shows who inherited an environment")
    program = STRAY.format(own_session=own_session, pid=str(tmp_path / "pid")) + ending
    started = time.monotonic()
    try:
        outcome = run_program(tmp_path, program, max_seconds=1.5)[0].status
    except ChatError as error:
        outcome = str(error)
    assert told in outcome
    assert time.monotonic() - started < 5
    assert not is_alive(pid_in(tmp_path / "pid"))


def test_who_holds_a_pipe_out_of_reach_is_not_waited_for(tmp_path: Path) -> None:
    program = f"""
    child = subprocess.Popen(["sleep", "300"], start_new_session=True, env={{"PATH": os.environ["PATH"]}})
    open({str(tmp_path / "pid")!r}, "w").write(str(child.pid))
    sys.exit(3)
    """
    started = time.monotonic()
    try:
        with pytest.raises(ChatError, match="ended with exit code 3"):
            run_program(tmp_path, program)
        assert time.monotonic() - started < 8
    finally:
        os.kill(pid_in(tmp_path / "pid"), signal.SIGKILL)


DEAF = """
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["sleep", "300"])
open({child!r}, "w").write(str(child.pid))
open({own!r}, "w").write(str(os.getpid()))
time.sleep(300)
"""


def test_a_cancelled_run_leaves_nothing_behind(tmp_path: Path) -> None:
    paths = [tmp_path / "child", tmp_path / "own"]
    (tmp_path / "agent.py").write_text(WRITE + DEAF.format(child=str(paths[0]), own=str(paths[1])), "utf-8")
    agent = OwnAgent(name="mine", version="1", command=("python", str(tmp_path / "agent.py")))

    async def cancelled() -> float:
        work = asyncio.create_task(run_own_agent(TASK, agent, TOOLS, run=1, today=TODAY))
        await asyncio.to_thread(pid_in, paths[1])
        started = time.monotonic()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work
        return time.monotonic() - started

    assert asyncio.run(cancelled()) < 3
    assert not any(is_alive(pid_in(path)) for path in paths)


def children_of(pid: int) -> list[int]:
    listed = subprocess.run(["ps", "-A", "-o", "ppid=,pid="], capture_output=True, text=True, check=True).stdout
    pairs = [line.split() for line in listed.splitlines()]
    return [int(child) for parent, child in pairs if int(parent) == pid]


@pytest.mark.parametrize(
    "number",
    [
        signal.SIGINT,
        pytest.param(signal.SIGKILL, marks=pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")),
    ],
)
def test_whatever_ends_the_kit_leaves_nothing_behind(tmp_path: Path, number: signal.Signals) -> None:
    paths = [tmp_path / "child", tmp_path / "own"]
    (tmp_path / "agent.py").write_text(WRITE + DEAF.format(child=str(paths[0]), own=str(paths[1])), "utf-8")
    program = f"""
import asyncio, datetime
from lifesearch_kit.own_agents.run import run_own_agent
from lifesearch_kit.own_agents import OwnAgent
from lifesearch_kit.records import Task
task = Task.model_construct(task_id="T1", language="en", domain="d", query="q?", cutoff=None)
agent = OwnAgent(name="mine", version="1", command=("python", {str(tmp_path / "agent.py")!r}))
asyncio.run(run_own_agent(task, agent, [], run=1, today=datetime.date(2026, 10, 15)))
"""
    kit = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True)
    try:
        pid_in(paths[1], 30)
        started = children_of(kit.pid)
        kit.send_signal(number)
        told = kit.communicate(timeout=10)[1]
    finally:
        kit.kill()
    assert ("KeyboardInterrupt" in told) == (number == signal.SIGINT)
    assert "never retrieved" not in told
    assert not any(is_alive(pid_in(path)) for path in paths)
    assert not any(is_alive(pid) for pid in started), "nor does who watches"


def test_many_runs_leave_no_descriptors_and_say_nothing(tmp_path: Path, recwarn: Any, caplog: Any) -> None:
    program = "write({'report': {'text': call('search', query='slow')['content']}})"
    run_program(tmp_path, program)
    before = len(os.listdir("/dev/fd"))

    async def many() -> None:
        agent = OwnAgent(name="mine", version="1", command=("python", str(tmp_path / "agent.py")))
        runs = (run_own_agent(TASK, agent, TOOLS, run=number, today=TODAY) for number in range(1, 9))
        assert [report.run for report, _ in await asyncio.gather(*runs)] == list(range(1, 9))

    asyncio.run(many())
    assert len(os.listdir("/dev/fd")) == before
    assert caplog.records == []
    assert [str(one.message) for one in recwarn if one.category is ResourceWarning] == []


def test_a_shell_script_will_do(tmp_path: Path) -> None:
    script = tmp_path / "agent.sh"
    script.write_text(
        "#!/bin/sh\nread -r start\n"
        """echo '{"call": {"id": 1, "tool": "search", "arguments": {"query": "a"}}}'\nread -r answer\n"""
        """echo '{"report": {"text": "found"}}'\n""",
        "utf-8",
    )
    script.chmod(0o755)
    report, transcript = run(OwnAgent(name="mine", version="1", command=(str(script),)))
    assert (report.text, contents(transcript)) == ("found", ["results for a"])


# Profiles


def test_systems_of_both_kinds_are_read_from_one_list() -> None:
    systems = parse_systems(
        [
            {"name": "model", "model": "m", "base_url": "http://127.0.0.1:1/v1"},
            {"name": "mine", "version": "1", "command": ["python", "my_agent.py"], "environment": ["A_KEY"]},
            {"name": "other", "version": "1", "function": "my_agent.py:answer", "max_seconds": 60},
        ]
    )
    assert [type(one) for one in systems] == [SystemSettings, OwnAgent, OwnAgent]
    assert systems[1] == OwnAgent(
        name="mine", version="1", command=("python", "my_agent.py"), environment=("A_KEY",), max_seconds=3600.0
    )
    assert all(one.runs_here for one in systems[1:])


@pytest.mark.parametrize(
    ("entry", "told"),
    [
        ({"name": "a", "version": "1"}, "(a): give exactly one of function and command"),
        ({"name": "a", "version": "1", "command": ["x"], "function": "m:f"}, "exactly one of function and command"),
        ({"name": "a", "command": ["x"]}, "field 'version': is missing; add it"),
        ({"name": "a", "version": 1, "command": ["x"]}, "field 'version': 1 is no text; put it in quotes"),
        ({"name": "a", "version": "1", "comand": ["x"]}, "field 'comand': is no known field; did you mean 'command'?"),
        ({"name": "a", "version": "1", "command": ["x"], "model": "m"}, "field 'model': is no known field; remove it"),
        ({"name": "a", "version": "1", "command": ["x", 3]}, "field 'command.1': 3 is no text; put it in quotes"),
        ({"name": "a", "version": "1", "command": [" "]}, "command names no program"),
        ({"name": "a", "version": "1", "function": "my_agent.py"}, "names no function; write module:function"),
        ({"name": "a", "version": "1", "command": ["x"], "max_seconds": 0}, "field 'max_seconds': 0"),
        ({"name": "a", "version": "1", "function": "m:f", "environment": ["A"]}, "environment is for a command"),
        ({"name": "a", "modell": "m"}, "field 'modell': is no known field; did you mean 'model'?"),
        ("mine", "'mine' is no mapping"),
    ],
)
def test_faults_of_an_entry_name_entry_and_field(entry: Any, told: str) -> None:
    good = {"name": "good", "model": "m"}
    with pytest.raises(InputError) as caught:
        parse_systems([good, entry])
    assert any(told in fault for fault in caught.value.faults)
    assert all(fault.startswith("system 2 of the profile") for fault in caught.value.faults)
    assert ": : " not in str(caught.value)


def test_a_key_in_the_place_of_its_variable_is_not_shown() -> None:
    with pytest.raises(InputError, match="entry 2 is no name of an environment variable") as caught:
        parse_systems([{"name": "a", "version": "1", "command": ["x"], "environment": ["A_KEY", KEY]}])
    assert KEY not in str(caught.value)


def test_a_name_stands_for_one_system_of_either_kind() -> None:
    with pytest.raises(InputError, match="the name 'a' stands for 2 systems of the profile"):
        parse_systems([{"name": "a", "model": "m"}, {"name": "a", "version": "1", "command": ["x"]}])


def test_the_identity_changes_with_all_that_changes_the_result_alone() -> None:
    agent = OwnAgent(name="a", version="1", command=("x",))
    same = [agent, OwnAgent(name="a", version="1", command=("x",), environment=("A_KEY",), max_seconds=3600.0)]
    assert len({one.identity() for one in same}) == 1
    others = [{"version": "2"}, {"command": ("x", "y")}, {"max_seconds": 60.0}, {"name": "b"}]
    assert len({agent.identity(), *(agent.model_copy(update=one).identity() for one in others)}) == 5


# Before anything runs


def test_every_agent_that_cannot_be_started_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    (tmp_path / "mine.py").write_text("import nowhere_at_all", "utf-8")
    (tmp_path / "good.py").write_text(
        "async def answer(task, tools, *, run): ...\ndef blocking(task, tools): ...\nasync def odd(task): ...\n"
        "async def asks(task, tools, more): ...",
        "utf-8",
    )
    functions = {
        f"{tmp_path}/mine.py:answer": "ModuleNotFoundError: No module named 'nowhere_at_all'",
        f"{tmp_path}/absent.py:answer": "there is no file",
        "nowhere_at_all:answer": "cannot be imported",
        f"{tmp_path}/good.py:anwser": "has no function 'anwser'; did you mean 'answer'?",
        f"{tmp_path}/good.py:blocking": "is no async function",
        f"{tmp_path}/good.py:odd": "must take a task and its tools",
        f"{tmp_path}/good.py:asks": "must take a task and its tools",
    }
    commands = {
        ("no-such-program-here",): "there is no program no-such-program-here",
        ("./tests",): "there is no program",
        ("python", "tests/no_such_agent.py"): "there is no file",
    }
    agents = [OwnAgent(name=f"f{n}", version="1", function=one) for n, one in enumerate(functions)]
    agents += [OwnAgent(name=f"c{n}", version="1", command=one) for n, one in enumerate(commands)]
    agents.append(OwnAgent(name="e", version="1", command=("python", "-V"), environment=("ABSENT_KEY",)))
    with pytest.raises(InputError) as caught:
        require_agents(agents)
    expected = [*functions.values(), *commands.values(), "set the environment variable ABSENT_KEY"]
    for agent, told, fault in zip(agents, expected, caught.value.faults, strict=True):
        assert fault.startswith(f"system {agent.name!r}: ")
        assert told in fault


def test_a_file_is_read_anew_and_finds_what_lies_beside_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", list(sys.path))
    agent = OwnAgent(name="mine", version="1", function=f"{tmp_path}/mine.py:answer")
    (tmp_path / "beside_mine.py").write_text("WORDS = '66万'", "utf-8")
    for word in ("one", "two"):
        (tmp_path / "mine.py").write_text(
            f"async def answer(task, tools):\n    from beside_mine import WORDS\n    return WORDS + '{word}'", "utf-8"
        )
        report, _ = run(agent, require_agents([agent])["mine"])
        assert report.text == f"66万{word}"
