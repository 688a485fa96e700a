"""The agent against endpoints with the quirks of vendors: what comes back unchanged, odd calls, streams, full contexts.

Whatever a vendor does must end as a result that the model can act on, as a recorded end, or as an error with a remedy.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import NO_USAGE, call, completion
from test_agent import REPORT, TASK, TOOLS
from vendor_server import (
    Stream,
    Vendor,
    at_most,
    chunks,
    cut,
    reasoning_refused,
    reasoning_required,
    serve_vendor,
    sse,
    stream_only,
    unchanged,
)

from lifesearch_kit.agent.agent import research
from lifesearch_kit.agent.conversation import TAKEN_OUT
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.event_stream import read_stream
from lifesearch_kit.chat.token_counts import estimate_tokens
from lifesearch_kit.errors import ChatError
from lifesearch_kit.records import Report
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.transcripts import Transcript

SEARCH = call("search", {"query": "盐城 人口"})
FOUND = "results for 盐城 人口"
STREAM: dict[str, Any] = {"extra_body": {"stream": True, "stream_options": {"include_usage": True}}}


@pytest.fixture
def vendor(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("OPENAI_API_KEY", "any word")
    with serve_vendor() as server:
        yield server


def study(server: Vendor, *turns: Any, tools: list[Tool] | None = None, **settings: Any) -> tuple[Report, Transcript]:
    server.turns += turns
    system = SystemSettings(**{"name": "S", "model": "m", "base_url": server.url, "max_retries": 1, **settings})

    async def once() -> tuple[Report, Transcript]:
        async with Chat(system) as chat:
            given = TOOLS if tools is None else tools
            return await research(TASK, system, chat, given, run=1, today=date(2026, 3, 31))

    return asyncio.run(once())


def answers(server: Vendor, request: int = 1) -> list[str]:
    return [one["content"] for one in server.requests[request]["messages"] if one["role"] == "tool"]


# What comes back


def thinking(*calls: dict[str, Any], content: Any = "") -> dict[str, Any]:
    return completion(content, *calls, reasoning_content="先查 the bulletin\n")


def test_reasoning_that_is_required_comes_back_verbatim(vendor: Vendor) -> None:
    vendor.rules += [reasoning_required, unchanged]
    report, _ = study(vendor, thinking(SEARCH), thinking({**SEARCH, "id": "b"}), completion(REPORT))
    assert (report.status, report.iterations) == ("answered", 3)


@pytest.mark.parametrize(
    ("rule", "echo", "remedy"),
    [(reasoning_required, False, "set echo_reasoning: true"), (reasoning_refused, True, "set echo_reasoning: false")],
)
def test_reasoning_on_the_wrong_side_stops_with_the_switch(vendor: Vendor, rule: Any, echo: bool, remedy: str) -> None:
    vendor.rules.append(rule)
    with pytest.raises(ChatError, match=remedy) as caught:
        study(vendor, thinking(SEARCH), completion(REPORT), echo_reasoning=echo)
    assert caught.value.kind == "stop"
    assert len(vendor.requests) == 2
    vendor.said.clear()
    vendor.turns.clear()
    report, _ = study(vendor, thinking(SEARCH), completion(REPORT), echo_reasoning=not echo)
    assert report.status == "answered"


def test_reasoning_that_a_proxy_drops_is_no_matter_of_the_switch(vendor: Vendor) -> None:
    vendor.rules.append(
        lambda _, request: "Function call is missing a thought_signature." if len(request["messages"]) > 2 else None
    )
    with pytest.raises(ChatError, match="went back as it came") as caught:
        study(vendor, completion(None, SIGNED))
    assert (caught.value.kind, "echo_reasoning" in str(caught.value)) == ("stop", False)


SIGNED = {**SEARCH, "extra_content": {"google": {"thought_signature": "Zm9v+/=="}}}


@pytest.mark.parametrize("echo", [True, False])
@pytest.mark.parametrize(
    "turn",
    [
        completion("", SIGNED),
        completion(
            None, {**SEARCH, "index": 0, "x": None}, annotations=[], audio=None, refusal=None, unknown={"a": [1]}
        ),
        completion([{"type": "text", "text": "Looking."}], SEARCH, provider_specific_fields={"n": 1.0}),
        completion("Looking.", SIGNED, {**SIGNED, "id": "b", "extra_content": {}}),
        completion([], SEARCH),
        completion("half \ufffd 🚀 \\u0000 </think>", SEARCH),
    ],
)
def test_signatures_and_unknown_fields_come_back_to_the_letter(vendor: Vendor, turn: Any, echo: bool) -> None:
    vendor.rules.append(unchanged)
    report, transcript = study(vendor, turn, completion(REPORT), echo_reasoning=echo)
    assert report.status == "answered"
    assert transcript.steps[0].message == turn["choices"][0]["message"]
    assert answers(vendor)[0] == FOUND


# Calls


@pytest.mark.parametrize(
    "ids", [("a", "a"), ("", " "), (None, None), (None, "a"), (7, 7), (0, "0"), ("x" * 400, True), ({"a": 1}, ["b"])]
)
def test_ids_of_every_kind_are_set_right_on_both_sides(vendor: Vendor, ids: tuple[Any, Any]) -> None:
    one, two = ({**call("search", {"query": query}, None), "id": key} for query, key in zip("xy", ids, strict=True))
    again = [{**one}, {**two}]
    report, _ = study(vendor, completion(None, one, two), completion(None, *again), completion(REPORT))
    assert report.status == "answered"
    assert answers(vendor, 2) == ["results for x", "results for y"] * 2


EXPECTED = "Call search with one JSON object holding query (string)"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ('{"query":"a"}', "results for a"),
        ('{"query":"a"}{"query":"a"}', "results for a"),
        ('{"query":"a"}\n {"query":"a"} {"query":"a"}', "results for a"),
        ('{"query":"a"}{"query":"b"}', "Error: the arguments are no JSON (something else follows"),
        ('{"query":"a"}{"query":"a"', "Error: the arguments are no JSON (something else follows"),
        ('{"query":"a"}, please', "Error: the arguments are no JSON (something else follows"),
        (json.dumps('{"query":"a"}'), "results for a"),
        (json.dumps(json.dumps('{"query":"a"}')), "Error: the arguments are no JSON object"),
        ('"a"', "Error: the arguments are no JSON object"),
        ({"query": "a"}, "results for a"),
        ({"query": None}, "Error: 'query' must be of type string, not None"),
        (["a"], "Error: the arguments are no JSON object"),
        (7, "Error: the arguments are no JSON object"),
        (None, "Error: 'query' is missing"),
        ("", "Error: 'query' is missing"),
        ("null", "Error: the arguments are no JSON object"),
        ('{"query": "a', "Error: the arguments are no JSON (Unterminated string"),
        ("<parameter=query>a</parameter>", "Error: the arguments are no JSON"),
        ("[" * 5000, "Error: the arguments are no JSON"),
    ],
)
def test_arguments_are_read_or_the_model_is_told(vendor: Vendor, arguments: Any, told: str) -> None:
    vendor.rules.append(unchanged)
    odd = {"id": "a", "type": "function", "function": {"name": "search", "arguments": arguments}}
    report, transcript = study(vendor, completion(None, odd), completion(REPORT))
    (answer,) = answers(vendor)
    assert answer.startswith(told)
    assert answer.startswith("results") or EXPECTED in answer
    assert report.failed_tool_calls == ({} if told.startswith("results") else {"search": 1})
    assert isinstance(transcript.steps[0].results[0].arguments, str)


@given(st.dictionaries(st.text(), st.text() | st.integers(), max_size=3), st.integers(1, 3), st.booleans())
def test_arguments_written_several_times_or_encoded_twice_are_the_same(
    values: dict[str, Any], times: int, encoded: bool
) -> None:
    schema = {
        "type": "function",
        "function": {"name": "any", "parameters": {"properties": {name: {} for name in values}}},
    }
    written = json.dumps(values) * times
    tool = Tool("any", schema, TOOLS[0].call)
    assert tool.read_arguments(json.dumps(json.dumps(values)) if encoded else written) == values


def test_several_calls_beside_text_an_unknown_tool_and_a_failure(vendor: Vendor) -> None:
    vendor.rules.append(unchanged)
    calls = [
        call("search", {"query": "x"}, "a"),
        call("browser.open", {"id": 1}, "b"),
        call("search", {"query": "fail"}, "c"),
        call("fetch", {"url": "https://a.example", "page": 2}, "d"),
    ]
    report, transcript = study(vendor, completion("I will look.", *calls), completion(REPORT))
    assert answers(vendor) == [
        "results for x",
        "Error: there is no tool 'browser.open'; the tools are search, fetch",
        "Error: the search engine is away",
        "page 2 of https://a.example",
    ]
    assert report.text == REPORT
    assert [one.ok for one in transcript.steps[0].results] == [True, False, False, True]


def test_half_a_call_at_the_output_limit_is_told_to_the_model(vendor: Vendor) -> None:
    half = call("search", '{"query": "盐城 人', "a")
    report, transcript = study(vendor, completion(None, half, finish="length"), completion(REPORT))
    assert "the arguments are no JSON (Unterminated string" in answers(vendor)[0]
    assert (report.status, transcript.steps[0].finish_reason) == ("answered", "length")


@pytest.mark.parametrize("content", [None, "", [], [{"type": "text", "text": ""}]])
def test_an_end_without_words_is_recorded(vendor: Vendor, content: Any) -> None:
    report, _ = study(vendor, completion(None, SEARCH), completion(content))
    assert (report.status, report.text, report.iterations) == ("empty", "", 2)


def test_a_legacy_function_call_is_a_recorded_end(vendor: Vendor) -> None:
    old = completion(None, function_call={"name": "search", "arguments": "{}"}, finish="function_call")
    report, _ = study(vendor, old)
    assert (report.status, report.tool_calls) == ("empty", {})
    assert any("legacy function_call" in note for note in report.notes)


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        (completion(None, tool_calls={"id": "a", "function": SEARCH["function"]}), "empty", "is no list"),
        (completion("I will search.", finish="tool_calls"), "answered", "it holds none"),
    ],
)
def test_calls_that_are_not_there_are_noted(vendor: Vendor, reply: Any, status: str, words: str) -> None:
    report, _ = study(vendor, reply)
    assert report.status == status
    assert any(words in note for note in report.notes)


def test_a_context_that_is_full_in_the_middle_of_a_report_has_cut_it(vendor: Vendor) -> None:
    report, _ = study(vendor, completion("# Half", finish="model_context_window_exceeded"))
    assert (report.status, report.text) == ("truncated", "# Half")


# Tokens


def test_tokens_are_counted_here_where_there_is_no_usage(vendor: Vendor) -> None:
    report, transcript = study(
        vendor, completion(None, SEARCH, usage=NO_USAGE), completion(REPORT, usage=NO_USAGE), max_retries=0
    )
    written = [estimate_tokens("search") + estimate_tokens('{"query": "盐城 人口"}'), estimate_tokens(REPORT)]
    asked = estimate_tokens(transcript.system_prompt) + estimate_tokens(TASK.query)
    assert [step.output_tokens for step in transcript.steps] == written
    assert [step.input_tokens for step in transcript.steps] == [asked, asked + written[0] + estimate_tokens(FOUND)]
    assert [step.estimated for step in transcript.steps] == [True, True]
    assert (report.estimated_steps, report.output_tokens) == (2, sum(written))


@pytest.mark.parametrize(
    ("usage", "output", "reasoning"),
    [
        # In the output, as most do; beside it (10 + 5 + 30 = 45); and hidden, so unknown.
        (
            {"completion_tokens": 35, "total_tokens": 45, "completion_tokens_details": {"reasoning_tokens": 30}},
            40,
            None,
        ),
        ({"completion_tokens": 5, "total_tokens": 45, "completion_tokens_details": {"reasoning_tokens": 30}}, 40, None),
        ({"completion_tokens": 5, "total_tokens": 45}, None, None),
    ],
)
def test_hidden_reasoning_tokens(vendor: Vendor, usage: Any, output: int | None, reasoning: int | None) -> None:
    # The other step reports 5 output tokens and says nothing of reasoning: 35 + 5 = 40.
    report, _ = study(vendor, completion(None, SEARCH), completion(REPORT, usage={"prompt_tokens": 10, **usage}))
    assert (report.output_tokens, report.reasoning_tokens, report.estimated_steps) == (output, reasoning, 0)
    assert any("reasoning" in note for note in report.notes) == (usage["completion_tokens"] == 5)


# Errors that come with HTTP 200


@pytest.mark.parametrize(
    "fault",
    [
        {"error": {"message": "upstream overloaded", "code": 503}},
        {"choices": [], "base_resp": {"status_code": 1000, "status_msg": "unknown trouble"}},
        completion("# Half a rep", finish="network_error"),
        completion("# Half a rep", finish="insufficient_system_resource"),
        completion("# Half a rep", finish="error"),
    ],
)
def test_an_error_under_http_200_is_asked_again_or_leaves_no_report(vendor: Vendor, fault: Any) -> None:
    report, _ = study(vendor, completion(None, SEARCH), fault, completion(REPORT))
    assert (report.text, report.iterations, len(vendor.requests)) == (REPORT, 2, 3)
    vendor.said.clear()
    with pytest.raises(ChatError) as caught:
        study(vendor, completion(None, SEARCH), fault, fault)
    assert caught.value.kind == "transient"


# No end of calls


def searching(request: dict[str, Any]) -> dict[str, Any]:
    return completion("More.", call("search", {"query": str(len(request["messages"]))}, "same"))


def test_endless_calling_ends_at_the_step_limit_with_one_last_turn(vendor: Vendor) -> None:
    vendor.turns += [searching] * 4
    report, _ = study(vendor, lambda request: completion(REPORT), max_steps=4)
    assert (report.text, report.status, report.iterations) == (REPORT, "step_limit", 5)
    assert [request.get("tool_choice") for request in vendor.requests] == [None] * 4 + ["none"]


@pytest.mark.parametrize(("words", "status"), [("More.", "step_limit"), (None, "step_limit")])
def test_calls_in_the_last_turn_end_the_run_all_the_same(vendor: Vendor, words: Any, status: str) -> None:
    vendor.endless = True
    last = completion(words, SEARCH)
    report, transcript = study(vendor, lambda request: last, max_steps=3)
    assert (report.text, report.status, report.tool_calls) == (words or "", status, {"search": 3})
    assert any("1 tool call(s) of the last turn were not run" in note for note in report.notes)
    assert len(vendor.requests) == len(transcript.steps) == 4


# A conversation that outgrows the context

TOO_LONG = [
    "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
    "Your input exceeds the context window of this model. Please adjust your input and try again.",
    "prompt is too long: 215000 tokens > 200000 maximum",
    "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length",
    "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
    "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    "Please reduce the length of the messages or completion.",
    "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
    "Invalid request: Your request exceeded model token limit: 8192",
    "Prompt 超长",
    "invalid params, context window exceeds limit (2013)",
    "This model's maximum prompt length is 131072 but the request contains 150000 tokens.",
    "too many tokens: total number of tokens in the prompt cannot exceed 4081",
    "Input is too long for requested model.",
    "the request exceeds the available context size, try increasing it",
    "The input (5000 tokens) is longer than the model's context length (4096 tokens).",
    "Total tokens of image and text exceed max message tokens",
    "输入内容超过模型最大长度限制",
]


async def _long(query: str) -> str:
    return query * 1000


LONG = [Tool("search", function_schema("search"), _long)]


def growing(request: dict[str, Any]) -> dict[str, Any]:
    """Six searches, each with its own letter and a result of 1,000 of it, then the report."""
    number = sum(one["role"] == "assistant" for one in request["messages"])
    return completion(REPORT) if number == 6 else completion(None, call("search", {"query": "abcdef"[number]}, "id"))


@pytest.mark.parametrize(("words", "status"), [*((words, 400) for words in TOO_LONG), ("Payload Too Large", 413)])
def test_a_conversation_that_outgrows_the_context_makes_room(vendor: Vendor, words: str, status: int) -> None:
    vendor.endless, vendor.status = True, status
    vendor.rules.append(at_most(7_000, words))
    report, transcript = study(vendor, growing, tools=LONG)
    assert (report.text, report.status, report.iterations) == (REPORT, "answered", 7)
    taken = sum(one == TAKEN_OUT for one in answers(vendor, -1))
    told = [note for note in report.notes if "taken out of the conversation" in note]
    # Each note begins with how many results it speaks of.
    assert sum(int(note.split()[0]) for note in told) == taken > 0
    assert [step.results[0].content for step in transcript.steps[:6]] == [letter * 1000 for letter in "abcdef"]


@pytest.mark.parametrize("words", TOO_LONG)
def test_where_nothing_is_left_to_take_out_the_run_ends_at_its_token_limit(vendor: Vendor, words: str) -> None:
    vendor.endless = True
    question = 600 + len(TASK.query)
    vendor.rules.append(at_most(question + 3_500, words))

    async def longer(query: str) -> str:
        return query * 4000

    report, transcript = study(vendor, growing, tools=[Tool("search", function_schema("search"), longer)])
    assert (report.status, report.text, report.is_gradable) == ("token_limit", "", False)
    assert report.iterations == len(transcript.steps) == 1
    assert any(words in note for note in report.notes)


# Streams


STREAM_ONLY = [
    "This model only support stream mode, please enable the stream parameter to access the model.",
    "parameter.enable_thinking must be set to false for non-streaming calls",
    "Stream must be set to true",
    "Non-streaming requests are not supported by this model.",
    "This endpoint supports only streaming responses.",
    "Please set 'stream' to true.",
    "The model requires streaming.",
    "stream=false is not supported",
    "该模型仅支持流式调用",
    "只支持stream模式",
]


@pytest.mark.parametrize("words", STREAM_ONLY)
def test_an_endpoint_that_only_streams_names_the_remedy_and_the_remedy_works(vendor: Vendor, words: str) -> None:
    vendor.rules += [stream_only(words), unchanged]
    remedy = r"set extra_body: \{stream: true, stream_options: \{include_usage: true\}\}"
    with pytest.raises(ChatError, match=remedy) as caught:
        study(vendor, completion(None, SEARCH))
    assert (caught.value.kind, len(vendor.requests)) == ("stop", 1)
    vendor.turns.clear()
    report, _ = study(vendor, thinking({**SIGNED, "id": "b"}, content="Looking."), completion(REPORT), **STREAM)
    assert (report.text, report.status) == (REPORT, "answered")
    assert answers(vendor, -1)[-1] == FOUND
    # 10 and 5 in each of two steps, from the last chunks.
    assert (report.input_tokens, report.output_tokens, report.estimated_steps, report.model) == (
        20,
        10,
        0,
        "served-model",
    )


def test_an_endpoint_without_usage_in_its_stream_is_counted_here(vendor: Vendor) -> None:
    report, _ = study(vendor, completion(REPORT, usage=NO_USAGE), **STREAM)
    assert (report.text, report.estimated_steps, report.output_tokens) == (REPORT, 1, estimate_tokens(REPORT))


TWO = completion(
    "看。", {**SIGNED, "id": "a"}, call("fetch", {"url": "https://a.example"}, "b"), reasoning_content="想 🚀"
)
AZURE = {
    "choices": [],
    "created": 0,
    "id": "",
    "model": "",
    "object": "",
    "prompt_filter_results": [{"prompt_index": 0}],
}
WRITTEN = {
    "plainly": Stream([sse(chunks(TWO))]),
    "letter by letter": Stream([sse(chunks(TWO, 1))]),
    "CRLF": Stream([sse(chunks(TWO), line="\r\n")]),
    "CR": Stream([sse(chunks(TWO), line="\r")]),
    "comments": Stream([sse(chunks(TWO), comment=": keep-alive\n\n")]),
    "comments between lines": Stream([sse(chunks(TWO), comment="event: message\nid: 1\n: OPENROUTER PROCESSING\n")]),
    "no [DONE]": Stream([sse(chunks(TWO), done=False)]),
    "an empty first chunk": Stream([sse([AZURE, *chunks(TWO)])]),
    "bytes one by one": Stream(cut(sse(chunks(TWO)), 1)),
    "five bytes at a time": Stream(cut(sse(chunks(TWO)), 5)),
    "a byte order mark": Stream([b"\xef\xbb\xbf" + sse(chunks(TWO))]),
}


def calls_again(edit: Any) -> list[dict[str, Any]]:
    """The chunks with every piece of a call changed by `edit`, which gets the piece and its whole call."""
    sent = chunks(TWO)
    whole = TWO["choices"][0]["message"]["tool_calls"]
    for chunk in sent:
        for choice in chunk["choices"]:
            for piece in choice["delta"].get("tool_calls", []):
                edit(piece, whole[piece["index"]])
    return sent


def _repeat(piece: dict[str, Any], whole: dict[str, Any]) -> None:
    piece.update(id=whole["id"], type="function")
    piece["function"]["name"] = whole["function"]["name"]


def _blank(piece: dict[str, Any], whole: dict[str, Any]) -> None:
    if "id" not in piece:
        piece.update(id="", type=None)
        piece["function"]["name"] = None


def _new_ids(piece: dict[str, Any], whole: dict[str, Any]) -> None:
    piece.setdefault("id", f"new-{id(piece)}")


def _without_index(piece: dict[str, Any], whole: dict[str, Any]) -> None:
    del piece["index"]


def whole_calls(*changes: dict[str, Any], together: bool = False) -> list[dict[str, Any]]:
    """The calls whole, in one chunk or one each; `changes` go over them."""
    calls = [{**one, **change} for one, change in zip(TWO["choices"][0]["message"]["tool_calls"], changes, strict=True)]
    others = [one for one in chunks(TWO) if not any("tool_calls" in part["delta"] for part in one["choices"])]
    deltas = [calls] if together else [[one] for one in calls]
    sent = [{"choices": [{"index": 0, "delta": {"tool_calls": delta}, "finish_reason": ""}]} for delta in deltas]
    return [*others[:-2], *sent, *others[-2:]]


WRITTEN |= {
    "id and name in every piece": Stream([sse(calls_again(_repeat))]),
    "blank id and name in later pieces": Stream([sse(calls_again(_blank))]),
    "a new id in every piece": Stream([sse(calls_again(_new_ids))]),
    "pieces without index": Stream([sse(calls_again(_without_index))]),
    "whole calls in one chunk without index": Stream([sse(whole_calls({}, {}, together=True))]),
    "whole calls in chunks of their own without index": Stream([sse(whole_calls({}, {}))]),
    "whole calls all with index 0": Stream([sse(whole_calls({"index": 0}, {"index": 0}))]),
    "whole calls numbered from 1": Stream([sse(whole_calls({"index": 1}, {"index": 2}))]),
}


@pytest.mark.parametrize("stream", WRITTEN.values(), ids=WRITTEN.keys())
def test_every_way_to_cut_a_stream_gives_the_same_message(vendor: Vendor, stream: Stream) -> None:
    vendor.write = lambda body: stream if body is TWO else Stream([sse(chunks(body))])
    vendor.rules.append(unchanged)
    report, transcript = study(vendor, TWO, completion(REPORT), **STREAM)
    assert transcript.steps[0].message == TWO["choices"][0]["message"]
    assert answers(vendor) == [FOUND, "page 1 of https://a.example"]
    assert (report.text, report.output_tokens, report.estimated_steps) == (REPORT, 10, 0)


@given(st.text(max_size=40), st.text(max_size=40), st.integers(1, 7))
def test_a_stream_holds_what_was_written_into_it(content: str, arguments: str, size: int) -> None:
    body = completion(content, call("search", {"query": arguments}), reasoning_content=content)
    read = read_stream(sse(chunks(body, size)))
    assert read is not None
    message = body["choices"][0]["message"]
    if not content:  # No piece of it is sent then.
        message = {name: value for name, value in message.items() if value != ""}
    assert read["choices"][0]["message"] == message
    assert (read["usage"], read["choices"][0]["finish_reason"]) == (body["usage"], "tool_calls")


HALF = chunks(completion(REPORT))[:4]
BROKEN = {
    "an error event": sse([*HALF, {"error": {"message": "engine went away", "code": 500}}]),
    "an error that is named": sse([*HALF, 'event: error\ndata: {"message": "engine went away"}']),
    "an error in plain words": sse([*HALF, "event: error\ndata: engine went away"], done=False),
    "an error as an object": sse([*HALF, {"object": "error", "message": "engine went away", "code": 500}]),
    "an error as a type": sse([*HALF, {"type": "error", "message": "engine went away"}]),
    "an end in the middle": sse(HALF, done=False),
    "an end inside an event": sse(HALF, done=False)[:-9],
    "nothing": b"",
    "comments alone": b": keep-alive\n\n",
    "[DONE] alone": sse([]),
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN.keys())
@pytest.mark.parametrize("closed", [True, False])
def test_a_stream_that_breaks_off_is_never_half_a_report(vendor: Vendor, content: bytes, closed: bool) -> None:
    def broken(_: Any) -> Stream:
        return Stream([content] if content else [], broken=closed)

    report, _ = study(vendor, broken, completion(REPORT), **STREAM)
    assert (report.text, len(vendor.requests)) == (REPORT, 2)
    vendor.said.clear()
    with pytest.raises(ChatError) as caught:
        study(vendor, broken, broken, **STREAM)
    assert caught.value.kind == "transient"


def test_a_refusal_inside_a_stream_is_not_asked_again(vendor: Vendor) -> None:
    def refused(_: Any) -> Stream:
        return Stream([sse([{"error": {"message": "the input was flagged by moderation", "code": "content_filter"}}])])

    report, _ = study(vendor, completion(None, SEARCH), refused, **STREAM)
    assert (report.status, report.iterations, len(vendor.requests)) == ("refused", 1, 2)


# As long as an error's shown words and longer.
LONG_HALF = chunks(completion("# Report\n" + "The port grew. " * 50))[:-2]


@pytest.mark.parametrize(
    ("error", "status"),
    [({"message": "the input was flagged by moderation"}, "refused"), ({"message": "x", "code": 500}, None)],
)
def test_the_words_of_an_error_behind_half_a_stream_are_read(vendor: Vendor, error: Any, status: str | None) -> None:
    def broken(_: Any) -> Stream:
        return Stream([sse([*LONG_HALF, {"error": error}])])

    if status:
        report, _ = study(vendor, completion(None, SEARCH), broken, **STREAM)
        assert report.status == status
        return
    with pytest.raises(ChatError, match=r"HTTP 200 with an error body: x \(code 500\)"):
        study(vendor, broken, broken, **STREAM)


def test_half_a_call_in_a_stream_at_the_output_limit_is_told_to_the_model(vendor: Vendor) -> None:
    half = completion(None, call("search", '{"query": "盐城', "a"), finish="length")
    report, _ = study(vendor, half, completion(REPORT), **STREAM)
    assert "the arguments are no JSON (Unterminated string" in answers(vendor)[0]
    assert report.status == "answered"
