"""A run that was interrupted goes on at its last finished step, and pays for nothing twice."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from loopback import Loopback, call, completion

from lifesearch_kit.agent.checkpoints import Checkpoint, FinishedStep
from lifesearch_kit.chat.reply import Reply, read_reply
from lifesearch_kit.collect.collect import run_agents
from lifesearch_kit.collect.plan import plan_runs
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.errors import ChatError, ToolError
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.transcripts import ToolResult, Transcript

TODAY = date(2026, 3, 31)
RUBRICS = (Rubric(rubric_id="R1", criterion="Names it.", weight=1.0),)
TASK = Task(task_id="T", language="en", domain="d", query="Which port?", rubrics=RUBRICS)
BUSY = (503, {"error": {"message": "busy"}})


async def _search(query: str) -> str:
    if query == "dead":
        raise ToolError("HTTP 403", service_failed=True)
    return f"results for {query}"


TOOLS = [Tool("search", function_schema("search"), _search)]


def searching(query: str, **message: Any) -> dict[str, Any]:
    return completion(None, call("search", {"query": query}, "same id"), **message)


def made(folder: Path, server: Loopback, *script: Any, **settings: Any) -> list[Report]:
    server.script[:] = script
    system = SystemSettings(**{"name": "S", "model": "m", "base_url": server.chat_url, "max_retries": 0, **settings})
    with Store(folder) as store:
        plan = plan_runs([TASK], [system], TOOLS, runs=1, today=TODAY)
        return asyncio.run(run_agents(plan, TOOLS, store, today=TODAY))[0]


def files(folder: Path) -> list[Path]:
    return sorted((folder / "unfinished").glob("*"))


def comparable(folder: Path, report: Report) -> tuple[Report, Transcript]:
    transcript = read_transcript(folder / str(report.transcript))
    times = {"seconds": 0.0, "tool_seconds": 0.0}
    steps = tuple(
        step.model_copy(
            update={**times, "results": tuple(one.model_copy(update={"seconds": 0.0}) for one in step.results)}
        )
        for step in transcript.steps
    )
    left_out = {**times, "model_seconds": 0.0, "transcript": None, "notes": ()}
    return report.model_copy(update=left_out), transcript.model_copy(update={"steps": steps})


@pytest.mark.parametrize("protocol", ["tool_calls", "text"])
def test_a_run_that_failed_goes_on_at_its_last_finished_step(loopback: Loopback, tmp_path: Path, protocol: str) -> None:
    if protocol == "tool_calls":
        one, two, end = searching("one", reasoning_content="hm"), searching("two"), completion("# Report")
    else:
        calls = [json.dumps({"tool": "search", "arguments": {"query": word}}) for word in ("one", "two")]
        one, two = map(completion, calls)
        end = completion('{"report": "# Report"}')
    with pytest.raises(ChatError, match="busy"):
        made(tmp_path / "cut", loopback, one, two, BUSY, protocol=protocol)
    assert len(files(tmp_path / "cut")) == 1
    refused = loopback.requests[-1]
    (report,) = made(tmp_path / "cut", loopback, end, protocol=protocol)
    asked, again = loopback.requests[-2:]
    assert again == asked == refused, "the conversation is the same to the letter"
    assert files(tmp_path / "cut") == []
    assert any("went on after an interruption behind step 2" in note for note in report.notes)
    (whole,) = made(tmp_path / "whole", loopback, one, two, end, protocol=protocol)
    assert comparable(tmp_path / "cut", report) == comparable(tmp_path / "whole", whole)


def test_steps_made_with_other_settings_stay_and_are_told(loopback: Loopback, tmp_path: Path) -> None:
    with pytest.raises(ChatError):
        made(tmp_path, loopback, searching("one"), BUSY)
    (before,) = files(tmp_path)
    loopback.script[:] = [searching("two"), completion("# Report")]
    system = SystemSettings(name="S", model="m", base_url=loopback.chat_url, max_retries=0, temperature=0.5)
    with Store(tmp_path) as store:
        plan = plan_runs([TASK], [system], TOOLS, runs=1, today=TODAY)
        _, summary = asyncio.run(run_agents(plan, TOOLS, store, today=TODAY))
    assert "1 interrupted run of other settings, tasks or dates kept in unfinished/" in str(summary)
    assert files(tmp_path) == [before], "its own steps went with its report, those of the other settings did not"
    # The settings of before come back, and what was paid for is there.
    asked = len(loopback.requests)
    made(tmp_path, loopback, completion("# Report"))
    assert len(loopback.requests) == asked + 1
    assert files(tmp_path) == []


def test_the_seconds_before_an_interruption_count(loopback: Loopback, tmp_path: Path) -> None:
    with pytest.raises(ChatError):
        made(tmp_path, loopback, searching("one"), BUSY)
    (path,) = files(tmp_path)
    kept = Checkpoint(path)
    (step,) = kept.steps()
    kept.remove()
    kept.add(FinishedStep(step.reply, step.results, elapsed=3600.0))
    (report,) = made(tmp_path, loopback, completion("# Report"))
    assert report.status == "time_limit"
    assert 3600 <= report.seconds < 3700


def test_an_end_that_was_reached_is_not_asked_for_again(loopback: Loopback, tmp_path: Path) -> None:
    with pytest.raises(ChatError):
        made(tmp_path, loopback, searching("one"), BUSY, max_steps=1)
    (path,) = files(tmp_path)
    last = FinishedStep(read_reply(completion("# Report")), [], limit="step_limit")
    Checkpoint(path).add(last)
    before = len(loopback.requests)
    (report,) = made(tmp_path, loopback, max_steps=1)
    assert (report.text, report.status, len(loopback.requests)) == ("# Report", "step_limit", before)


def test_what_was_taken_out_of_the_conversation_stays_out(loopback: Loopback, tmp_path: Path) -> None:
    too_long = (400, {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}})
    with pytest.raises(ChatError):
        made(tmp_path, loopback, *map(searching, "abc"), too_long, searching("d"), BUSY)
    refused = loopback.requests[-1]
    made(tmp_path, loopback, completion("# Report"))
    assert loopback.requests[-1] == refused
    assert "taken out" in str(refused)


def test_a_run_whose_tool_never_worked_begins_anew(loopback: Loopback, tmp_path: Path) -> None:
    with pytest.raises(ChatError, match="never worked"):
        made(tmp_path, loopback, *[searching("dead")] * 3)
    assert files(tmp_path) == []


def test_a_request_that_is_refused_twice_behind_the_same_steps_begins_anew(loopback: Loopback, tmp_path: Path) -> None:
    odd = (400, {"error": {"message": "odd request"}})
    for script, kept in (([searching("one"), odd], 1), ([odd], 0), ([searching("one"), odd], 1)):
        with pytest.raises(ChatError, match="odd"):
            made(tmp_path, loopback, *script)
        assert len(files(tmp_path)) == kept
    (report,) = made(tmp_path, loopback, completion("# Report"))
    assert (report.status, report.iterations) == ("answered", 2)


@pytest.mark.parametrize("cut", [1, 40, 400])
def test_a_line_that_a_crash_cut_short_does_not_count(tmp_path: Path, cut: int) -> None:
    kept = Checkpoint(tmp_path / "x" / "run.jsonl")
    assert kept.steps() == []
    answer = ToolResult(call_id="c", tool="search", arguments="{}", content="港口\u2028 x", ok=True)
    steps = [FinishedStep(read_reply(searching(str(number))), [answer], elapsed=number) for number in range(3)]
    for step in steps:
        kept.add(step)
    read = kept.steps()
    assert [(one.reply, list(one.results), one.elapsed) for one in read] == [
        (one.reply, list(one.results), one.elapsed) for one in steps
    ]
    assert kept.path is not None
    whole = kept.path.read_bytes()
    kept.path.write_bytes(whole[:-cut])
    assert [step.elapsed for step in kept.steps()] == [0, 1]
    kept.add(FinishedStep(Reply({"role": "assistant", "content": "end"}), [], elapsed=9.0))
    assert [step.elapsed for step in kept.steps()] == [0, 1, 9]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(extra=JSON, content=st.text(), seconds=st.floats(0, 1e6))
@example(extra=[float("nan"), float("-inf"), 10**30], content="\r\n\x85\u2028", seconds=0.0)
def test_a_step_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, extra: Any, content: str, seconds: float
) -> None:
    kept = Checkpoint(tmp_path_factory.mktemp("steps") / "run.jsonl")
    result = ToolResult(call_id="c", tool="search", arguments="{}", content=content, ok=False, seconds=seconds)
    step = FinishedStep(read_reply(searching("one", extra=extra)), (result,), seconds, seconds, 2, "time_limit")
    kept.add(step)
    (read,) = kept.steps()
    # By their words: NaN does not equal itself.
    assert repr(replace(read, results=tuple(read.results))) == repr(step)


def test_half_a_character_beside_the_message_loses_no_step(loopback: Loopback, tmp_path: Path) -> None:
    half = completion("# Report", finish="stop\ud800")
    half["model"] = "m\ud83d"
    (report,) = made(tmp_path, loopback, searching("one"), half)
    assert (report.text, report.status, report.model) == ("# Report", "answered", "m\ufffd")
    step = read_transcript(tmp_path / str(report.transcript)).steps[-1]
    assert step.finish_reason == "stop\ufffd"


RUNNER = """
import sys
from pathlib import Path
from test_checkpoints import *
server = Loopback(sys.argv[2])
system = SystemSettings(name="S", model="m", base_url=server.chat_url, max_retries=0)
with Store(Path(sys.argv[1])) as store:
    asyncio.run(run_agents(plan_runs([TASK], [system], TOOLS, runs=1, today=TODAY), TOOLS, store, today=TODAY))
"""


def test_a_killed_run_pays_for_no_finished_step_twice(loopback: Loopback, tmp_path: Path) -> None:
    def slowly(query: str) -> Any:
        def reply(_: Any) -> dict[str, Any]:
            time.sleep(0.15)
            return searching(query)

        return reply

    loopback.script[:] = [slowly(str(number)) for number in range(12)]
    kills = 0
    while loopback.script and kills < 3:
        process = subprocess.Popen(
            [sys.executable, "-c", RUNNER, str(tmp_path), loopback.url], cwd=Path(__file__).parent
        )
        before = len(loopback.requests)
        while len(loopback.requests) < before + 3 and process.poll() is None:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    finished = sum(len(path.read_bytes().splitlines()) for path in files(tmp_path))
    assert 12 - len(loopback.script) - kills <= finished < 12, "a kill costs the decision under way and no more"
    (report,) = made(tmp_path, loopback, *[searching("x")] * 2, completion("# Report"), timeout_seconds=600.0)
    assert (report.status, report.iterations) == ("answered", finished + 3)
