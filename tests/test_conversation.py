"""The messages of a run: encoded once, and shortened by the rule."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback, call, completion
from test_agent import REPORT, study

from lifesearch_kit.agent import conversation
from lifesearch_kit.agent.conversation import TAKEN_OUT, Conversation
from lifesearch_kit.tools import Tool, function_schema

ASKED = [{"role": "system", "content": "rules"}, {"role": "user", "content": "question"}]
TOO_LONG = (400, {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}})


def result(size: int, letter: str = "x") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": letter, "content": letter * size}


def conversation_of(*sizes: int) -> Conversation:
    one = Conversation(ASKED)
    for size in sizes:
        one.add([{"role": "assistant", "content": "thought"}])
        one.add([result(size)], results=True)
    return one


def taken(one: Conversation) -> list[bool]:
    return [message["content"] == TAKEN_OUT for message in one.messages if message["role"] == "tool"]


@pytest.mark.parametrize(
    ("sizes", "count", "gone"),
    [
        ((), 0, []),
        ((50,), 0, [False]),  # the newest stays
        ((10, 50), 1, [True, False]),
        ((10, 10, 10, 10, 99), 2, [True, True, False, False, False]),  # 20 of 40
        ((5, 10, 25, 99), 3, [True, True, True, False]),  # 15 of 40 are not half
        ((30, 5, 5, 99), 1, [True, False, False, False]),  # 30 of 40 are
    ],
)
def test_the_older_half_of_the_results_is_taken_out_whole(sizes: tuple[int, ...], count: int, gone: list[bool]) -> None:
    one = conversation_of(*sizes)
    assert one.shorten() == count
    assert taken(one) == gone
    assert one.messages[:2] == ASKED


@given(st.lists(st.integers(0, 300), max_size=12))
def test_it_ends_with_the_newest_result_alone_and_sends_what_it_holds(sizes: list[int]) -> None:
    one = conversation_of(*sizes)
    while one.shorten():
        sent = [json.loads(part) for part in one.encoded(one.messages) if isinstance(part, bytes)]
        assert sent == one.messages
    assert taken(one) == [True] * (len(sizes) - 1) + [False] * bool(sizes)
    assert [message["role"] for message in one.messages] == ["system", "user", *["assistant", "tool"] * len(sizes)]


def test_a_message_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded: list[Any] = []
    usual = conversation.encode
    monkeypatch.setattr(conversation, "encode", lambda message: encoded.append(message) or usual(message))
    one = conversation_of(5, 5)
    for _ in range(3):
        assert all(isinstance(part, bytes) for part in one.encoded(one.messages))
    assert encoded == one.messages


async def _long(query: str) -> str:
    return query * 100


LONG = [Tool("search", function_schema("search"), _long)]


@pytest.mark.parametrize("protocol", ["tool_calls", "text"])
def test_a_run_that_outgrows_the_context_makes_room_and_says_so(loopback: Loopback, protocol: str) -> None:
    def asking(letter: str) -> Any:
        if protocol == "tool_calls":
            return completion(None, call("search", {"query": letter}, letter))
        return completion(json.dumps({"tool": "search", "arguments": {"query": letter}}))

    end = completion(REPORT if protocol == "tool_calls" else json.dumps({"report": REPORT}))
    script = [asking("a"), asking("b"), asking("c"), TOO_LONG, end]
    report, transcript = study(loopback, *script, tools=LONG, protocol=protocol)
    assert (report.text, report.status, report.iterations) == (REPORT, "answered", 4)
    before, after = (json.dumps(request["messages"]) for request in loopback.requests[-2:])
    assert [letter * 100 in before for letter in "abc"] == [True] * 3
    assert [letter * 100 in after for letter in "abc"] == [False, True, True]
    assert after.count(TAKEN_OUT) == 1
    if protocol == "text":
        assert f"Result of search:\\n{TAKEN_OUT}" in after
    assert any("1 older result(s) were taken out of the conversation before step 4" in note for note in report.notes)
    assert [step.results[0].content for step in transcript.steps[:3]] == ["a" * 100, "b" * 100, "c" * 100]


def test_a_run_that_cannot_be_shortened_further_ends_without_a_report(loopback: Loopback) -> None:
    searches = [completion(None, call("search", {"query": letter}, letter)) for letter in "ab"]
    report, _ = study(loopback, *searches, TOO_LONG, TOO_LONG, tools=LONG)
    assert (report.status, report.text, report.iterations) == ("token_limit", "", 2)
