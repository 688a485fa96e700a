"""Other people's trajectories as transcripts, in the view."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from test_real_reports import REAL

from lifesearch_kit.agent.trajectories import read_trajectories
from lifesearch_kit.errors import InputError
from lifesearch_kit.views.notebook_views import transcript_view

FILE = REAL / "webdancer_trajectories" / "sample_traj.jsonl"


def written(folder: Path, *rows: Any) -> Path:
    path = folder / "t.jsonl"
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), "utf-8")
    return path


ASKED = [{"role": "system", "content": "rules"}, {"role": "user", "content": "Which port?"}]


def test_calls_in_tags_and_in_fields_are_read_alike(tmp_path: Path) -> None:
    tagged = [
        *ASKED,
        {
            "role": "assistant",
            "content": "<think>Two things.</think>\nLooking.\n"
            + '<tool_call>\n{"name": "search", "arguments": {"query": "港口"}}\n</tool_call>\n'
            + '<tool_call>\n{"name": "visit", "arguments": {"url": "u"}}\n</tool_call>',
        },
        {
            "role": "user",
            "content": "<tool_response>\nfirst\n</tool_response>\n<tool_response>second</tool_response>",
        },
        {"role": "assistant", "content": "<think>Enough.</think>Selwick."},
    ]
    calls = [
        {"id": "a", "function": {"name": "search", "arguments": '{"query": "港口"}'}},
        {"id": "b", "function": {"name": "visit", "arguments": '{"url": "u"}'}},
    ]
    fields = [
        *ASKED,
        {"role": "assistant", "content": "Looking.", "reasoning_content": "Two things.", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "a", "content": "first"},
        {"role": "tool", "tool_call_id": "b", "content": "second"},
        {"role": "assistant", "content": "Selwick.", "reasoning_content": "Enough."},
    ]
    one, two = read_trajectories(written(tmp_path, {"messages": tagged}, {"messages": fields, "id": "x"}), "S")
    assert (one.task_id, two.task_id, one.question, one.system_prompt) == ("1", "x", "Which port?", "rules")
    assert one.steps[0].results == two.steps[0].results
    assert [(result.tool, result.content) for result in one.steps[0].results] == [
        ("search", "first"),
        ("visit", "second"),
    ]
    for step, other in zip(one.steps, two.steps, strict=True):
        assert step.message["content"] == other.message["content"]
        assert step.message["reasoning_content"] == other.message["reasoning_content"]


def test_rows_of_one_task_are_its_runs(tmp_path: Path) -> None:
    row = {"task_id": "t", "messages": [*ASKED, {"role": "assistant", "content": "A"}]}
    assert [one.run for one in read_trajectories(written(tmp_path, row, row), "S")] == [1, 2]


def test_what_is_no_conversation_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, {"messages": []}, {"text": "x"}, {"messages": [{"role": "robot"}]})
    with pytest.raises(InputError) as caught:
        read_trajectories(path, "S")
    first, second, third = caught.value.faults
    assert "t.jsonl:1: field 'messages' is no list" in first
    assert "t.jsonl:2" in second
    assert "t.jsonl:3: message 1" in third


def test_a_call_that_is_no_json_and_one_without_a_result_stay_visible(tmp_path: Path) -> None:
    said = {"role": "assistant", "content": "<tool_call>{oops</tool_call><tool_call>{}</tool_call>"}
    (one,) = read_trajectories(written(tmp_path, {"messages": [*ASKED, said]}), "S")
    assert [(result.tool, result.arguments) for result in one.steps[0].results] == [
        ("unknown", "{oops"),
        ("unknown", "{}"),
    ]
    assert all("no result" in result.content for result in one.steps[0].results)


@pytest.mark.skipif(
    not FILE.is_file(), reason="set LIFESEARCH_REAL_DATA to a folder that holds webdancer_trajectories/"
)
def test_200_real_trajectories_load_whole_and_show_in_the_view() -> None:
    transcripts = read_trajectories(FILE, "webdancer")
    rows = [json.loads(line)["messages"] for line in FILE.read_text("utf-8").splitlines()]
    assert len(transcripts) == len(rows) == 200
    for transcript, messages in zip(transcripts, rows, strict=True):
        own = [one["content"] for one in messages if one["role"] == "assistant"]
        assert len(transcript.steps) == len(own)
        for step, text in zip(transcript.steps, own, strict=True):
            assert len(step.results) == text.count("</tool_call>")
            assert (
                step.message["reasoning_content"].split()
                == " ".join(re.findall(r"<think>(.*?)</think>", text, re.S)).split()
            )
        told = "".join(one["content"] for one in messages[2:] if one["role"] == "user")
        kept = "".join(result.content for step in transcript.steps for result in step.results)
        assert re.sub(r"\s|</?tool_response>", "", told) == re.sub(r"\s", "", kept)
        html = transcript_view(transcript).data
        assert html.count("<summary>Step ") == len(transcript.steps)
        named = sum(html.count(f'<p class="part"><bdi>{name}</bdi>') for name in ("search", "visit"))
        assert named == sum(len(step.results) for step in transcript.steps)
