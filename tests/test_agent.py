"""The agent loop over real HTTP: tool calls and their ids, limits, how runs end, what is counted."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import date
from typing import Any

import pytest
from loopback import NO_USAGE, Loopback, call, completion

from lifesearch_kit.agent import tool_calls
from lifesearch_kit.agent.agent import research
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.token_counts import estimate_tokens
from lifesearch_kit.errors import ChatError, InputError, ToolError
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import SystemSettings, parse_settings
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.python import python_tool
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.transcripts import Transcript

TASK = Task(
    task_id="T1",
    language="zh",
    domain="Policy & government",
    query="盐城市2025年末常住人口是多少？",
    rubrics=(Rubric(rubric_id="R1", criterion="回复应给出66万人。", weight=1.0),),
)
REPORT = "2025年末常住人口66万人（https://tj.example/1）。"
SEARCH = call("search", {"query": "盐城 人口"})


async def _search(query: str) -> str:
    if query == "fail":
        raise ToolError("the search engine is away")
    if query == "break":
        raise KeyError("secret detail")
    if query == "slow":
        await asyncio.sleep(0.2)
    return f"results for {query}"


async def _fetch(url: str, page: int = 1) -> str:
    return f"page {page} of {url}"


TOOLS = [Tool("search", function_schema("search"), _search), Tool("fetch", function_schema("fetch"), _fetch)]


def study(
    server: Loopback, *replies: Any, tools: list[Tool] = TOOLS, run: int = 1, **settings: Any
) -> tuple[Report, Transcript]:
    server.script += replies
    system = SystemSettings(**{"name": "S", "model": "m", "base_url": server.chat_url, "max_retries": 0, **settings})

    async def once() -> tuple[Report, Transcript]:
        async with Chat(system) as chat:
            return await research(TASK, system, chat, tools, run=run, today=date(2026, 3, 31))

    return asyncio.run(once())


def test_one_whole_run_through_all_three_tools(loopback: Loopback) -> None:
    loopback.searches["盐城 人口"] = {"organic": [{"title": "公报", "link": "https://tj.example/1", "snippet": "66万"}]}
    loopback.pages["https://tj.example/1"] = (
        "Title: 公报\n\nURL Source: https://tj.example/1\n\nMarkdown Content:\n常住人口66万人"
    )
    tools = [search_tool(endpoint=loopback.search_url), fetch_tool(endpoint=loopback.reader_url), python_tool()]
    report, transcript = study(
        loopback,
        completion(None, SEARCH),
        completion(
            "Reading.",
            call("fetch", {"url": "https://tj.example/1"}, "call_2"),
            call("python", {"code": "60 + 6"}, "call_3"),
        ),
        completion(REPORT),
        tools=tools,
    )
    assert (report.text, report.status, report.is_gradable) == (REPORT, "answered", True)
    assert (report.system, report.task_id, report.run, report.model) == ("S", "T1", 1, "served-model")
    # Three decisions of 10 input and 5 output tokens each.
    assert (report.iterations, report.input_tokens, report.output_tokens) == (3, 30, 15)
    assert report.tool_calls == {"search": 1, "fetch": 1, "python": 1}
    assert report.failed_tool_calls == {}
    contents = [result.content for step in transcript.steps for result in step.results]
    assert "URL: https://tj.example/1" in contents[0]
    assert contents[1].endswith("常住人口66万人")
    assert contents[2] == "66"
    assert [step.number for step in transcript.steps] == [1, 2, 3]
    assert transcript.question == TASK.query


def test_first_request_holds_prompt_date_question_and_tools(loopback: Loopback) -> None:
    study(loopback, completion(REPORT))
    (request,) = loopback.requests
    system, user = request["messages"]
    assert system["role"] == "system"
    assert "Today is 2026-03-31." in system["content"]
    assert user == {"role": "user", "content": TASK.query}
    assert [tool["function"]["name"] for tool in request["tools"]] == ["search", "fetch"]
    assert "tool_choice" not in request
    assert "seed" not in request


def test_braces_and_dollars_in_a_question_stay_as_they_are(loopback: Loopback) -> None:
    task = TASK.model_copy(update={"query": "Explain {x; 2} and $today in {today}."})
    loopback.script += [completion(REPORT)]
    system = SystemSettings(name="S", model="m", base_url=loopback.chat_url)

    async def once() -> None:
        async with Chat(system) as chat:
            await research(task, system, chat, [], run=1, today=date(2026, 3, 31))

    asyncio.run(once())
    assert loopback.requests[0]["messages"][1]["content"] == task.query


def test_run_number_is_the_seed_where_asked_for(loopback: Loopback) -> None:
    study(loopback, completion(REPORT), run=3, seed_by_run=True)
    assert loopback.requests[0]["seed"] == 3


# Tool calls


def test_five_parallel_calls_with_bad_ids_are_answered_in_order(loopback: Loopback) -> None:
    calls = [
        call("search", {"query": "one"}, "c1"),
        call("browse", {}, "c2"),
        call("fetch", {"url": "https://a.example"}, ""),
        call("search", {"query": "fail"}, "c1"),
        call("search", {"query": "five"}, None),
    ]
    report, transcript = study(loopback, completion(None, *calls), completion(REPORT))
    _, _, assistant, *answers = loopback.requests[1]["messages"]
    sent = [one["id"] for one in assistant["tool_calls"]]
    assert [one["tool_call_id"] for one in answers] == sent
    assert len(set(sent)) == 5
    assert all(sent)
    assert sent[:2] == ["c1", "c2"]
    assert [one["function"] for one in assistant["tool_calls"]] == [one["function"] for one in calls]
    assert [one["content"] for one in answers] == [
        "results for one",
        "Error: there is no tool 'browse'; the tools are search, fetch",
        "page 1 of https://a.example",
        "Error: the search engine is away",
        "results for five",
    ]
    assert report.tool_calls == {"search": 3, "browse": 1, "fetch": 1}
    assert report.failed_tool_calls == {"browse": 1, "search": 1}
    assert [result.call_id for result in transcript.steps[0].results] == sent
    assert [result.ok for result in transcript.steps[0].results] == [True, False, True, False, True]


def test_an_id_used_in_an_earlier_step_is_replaced(loopback: Loopback) -> None:
    study(loopback, completion(None, SEARCH), completion(None, SEARCH), completion(REPORT))
    answers = [one["tool_call_id"] for one in loopback.requests[2]["messages"] if one["role"] == "tool"]
    assert answers[0] == "call_1"
    assert len(set(answers)) == 2


def test_calls_of_a_step_run_side_by_side(loopback: Loopback) -> None:
    slow = [call("search", {"query": "slow"}, f"c{number}") for number in range(6)]
    _, transcript = study(loopback, completion(None, *slow), completion(REPORT))
    # Six calls of 0.2 seconds one after the other would take 1.2; each is timed from the common start.
    assert max(result.seconds for result in transcript.steps[0].results) < 0.6


@pytest.mark.parametrize("arguments", ["{", "[1]", '{"q": "x"}', "{}", '{"query": 5}', "null", ""])
def test_wrong_arguments_are_told_to_the_model(loopback: Loopback, arguments: str) -> None:
    report, _ = study(loopback, completion(None, call("search", arguments)), completion(REPORT))
    answer = loopback.requests[1]["messages"][-1]
    assert answer["content"].startswith("Error: ")
    assert "Call search with one JSON object holding query (string)" in answer["content"]
    assert (report.status, report.failed_tool_calls) == ("answered", {"search": 1})


@pytest.mark.parametrize(
    "entry", [{}, {"id": "c1"}, {"id": "c1", "function": None}, "search", None, {"function": {"name": None}}]
)
def test_calls_that_are_none_become_failures(loopback: Loopback, entry: Any) -> None:
    report, _ = study(loopback, completion(None, tool_calls=[entry]), completion(REPORT))
    assistant, answer = loopback.requests[1]["messages"][2:]
    assert assistant["tool_calls"][0]["id"] == answer["tool_call_id"]
    assert "there is no tool 'unknown'" in answer["content"]
    assert report.failed_tool_calls == {"unknown": 1}


def test_a_tool_that_breaks_does_not_end_the_run(loopback: Loopback) -> None:
    report, _ = study(loopback, completion(None, call("search", {"query": "break"})), completion(REPORT))
    assert loopback.requests[1]["messages"][-1]["content"] == "Error: search failed with KeyError: 'secret detail'"
    assert report.status == "answered"


@pytest.mark.parametrize("content", [None, "", "I will look it up."])
@pytest.mark.parametrize("finish", ["stop", "tool_calls", "length"])
def test_calls_are_run_whatever_content_and_finish_reason(loopback: Loopback, content: str | None, finish: str) -> None:
    report, _ = study(loopback, completion(content, SEARCH, finish=finish), completion(REPORT))
    assert loopback.requests[1]["messages"][2]["tool_calls"] == [SEARCH]
    assert (report.text, report.status) == (REPORT, "answered")


def test_half_characters_in_tool_results_do_not_fail_the_next_request(loopback: Loopback) -> None:
    async def odd(query: str) -> str:
        return "half \ud83d"

    study(
        loopback, completion(None, SEARCH), completion(REPORT), tools=[Tool("search", function_schema("search"), odd)]
    )
    assert loopback.requests[1]["messages"][-1]["content"] == "half \ufffd"


# The assistant's message goes back as it came


def test_message_goes_back_verbatim(loopback: Loopback) -> None:
    signed = {**SEARCH, "extra_content": {"vendor": {"thought_signature": "Zm9v"}}}
    study(loopback, completion("", signed, reasoning_content="need the bulletin", annotations=[]), completion(REPORT))
    assert loopback.requests[1]["messages"][2] == {
        "role": "assistant",
        "content": "",
        "tool_calls": [signed],
        "reasoning_content": "need the bulletin",
        "annotations": [],
    }


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_details"])
def test_reasoning_is_left_out_where_switched_off_and_kept_in_the_transcript(loopback: Loopback, field: str) -> None:
    thought = {field: "need the bulletin"}
    replies = [completion("", SEARCH, **thought), completion(REPORT, **thought)]
    report, transcript = study(loopback, *replies, echo_reasoning=False)
    assert field not in loopback.requests[1]["messages"][2]
    assert [step.message[field] for step in transcript.steps] == ["need the bulletin"] * 2
    assert "bulletin" not in report.text


# How runs end


@pytest.mark.parametrize(
    ("reply", "status", "gradable"),
    [
        (completion(REPORT), "answered", True),
        (completion([{"type": "text", "text": "# 报告"}, {"type": "text", "text": "\n66万"}]), "answered", True),
        (completion(REPORT, finish="length"), "truncated", True),
        (completion("", finish="length"), "token_limit", False),
        (completion(None), "empty", False),
        (completion(" \n "), "empty", False),
        (completion("", reasoning_content="66万"), "empty", False),
        (completion(None, finish="content_filter", refusal="no"), "refused", False),
        (completion("I cannot help.", refusal="I cannot help."), "refused", False),
        (completion("请问您指的是常住人口还是户籍人口？"), "asked_back", False),
        (completion(f"{REPORT}是否需要我补充户籍人口？"), "answered", True),
        (completion("66万人。需要我列出来源吗？"), "answered", True),
    ],
)
def test_status_of_the_last_message(loopback: Loopback, reply: dict[str, Any], status: str, gradable: bool) -> None:
    report, transcript = study(loopback, reply)
    assert (report.status, report.is_gradable, report.iterations) == (status, gradable, 1)
    assert len(transcript.steps) == 1


@pytest.mark.parametrize(
    ("reply", "status", "words"),
    [
        (completion("<tool_call>{}</tool_call>"), "answered", "looks like a tool call"),
        (completion(None, function_call={"name": "search", "arguments": "{}"}), "empty", "legacy function_call"),
    ],
)
def test_calls_in_a_form_that_is_not_read_are_noted(loopback: Loopback, reply: Any, status: str, words: str) -> None:
    report, _ = study(loopback, reply)
    assert report.status == status
    assert any(words in note for note in report.notes)


def last_turn(server: Loopback) -> dict[str, Any]:
    request = server.requests[-1]
    assert request["tool_choice"] == "none"
    assert request["messages"][-1]["role"] == "user"
    assert "last turn" in request["messages"][-1]["content"]
    return request


def test_step_limit_grants_one_last_turn_without_tools(loopback: Loopback) -> None:
    report, transcript = study(
        loopback, completion(None, SEARCH), completion(None, SEARCH), completion(REPORT), max_steps=2
    )
    last_turn(loopback)
    assert all("tool_choice" not in request for request in loopback.requests[:2])
    assert (report.text, report.status, report.is_gradable, report.iterations) == (REPORT, "step_limit", True, 3)
    assert "last turn, without tools: step_limit" in transcript.steps[-1].notes


def test_report_within_the_limit_is_an_answer(loopback: Loopback) -> None:
    report, _ = study(loopback, completion(None, SEARCH), completion(REPORT), max_steps=2)
    assert (report.status, report.iterations) == ("answered", 2)


def test_token_limit(loopback: Loopback) -> None:
    # 5 + 5 output tokens reach the limit of 8 after the second decision.
    report, _ = study(
        loopback, completion(None, SEARCH), completion(None, SEARCH), completion(REPORT), max_output_tokens_total=8
    )
    last_turn(loopback)
    assert (report.status, report.iterations, report.output_tokens) == ("token_limit", 3, 15)


def test_cost_limit(loopback: Loopback) -> None:
    # Each decision costs (10 x 3 + 5 x 12) / 1,000,000 = 0.00009: two reach 0.00018.
    prices = {"input_price": 3.0, "output_price": 12.0, "max_cost": 0.00018}
    report, _ = study(loopback, completion(None, SEARCH), completion(None, SEARCH), completion(REPORT), **prices)
    last_turn(loopback)
    assert (report.text, report.status, report.iterations) == (REPORT, "cost_limit", 3)


def test_a_cost_limit_needs_prices() -> None:
    with pytest.raises(InputError, match="max_cost needs prices; set input_price and output_price"):
        parse_settings([{"name": "S", "model": "m", "max_cost": 1.0}], SystemSettings)


HIDDEN = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}


@pytest.mark.parametrize(
    ("limit", "status"),
    [
        # 40 in all, of them 10 given: at least 30 a decision, whatever they are.
        ({"max_output_tokens_total": 60}, "token_limit"),
        # 10 x 1 + 30 x 10 = 310 millionths a decision.
        ({"max_cost": 0.00062, "input_price": 1.0, "output_price": 10.0}, "cost_limit"),
    ],
)
def test_hidden_tokens_count_towards_a_limit(loopback: Loopback, limit: dict[str, Any], status: str) -> None:
    replies = [completion(None, SEARCH, usage=HIDDEN)] * 2
    report, _ = study(loopback, *replies, completion(REPORT, usage=HIDDEN), **limit)
    assert (report.status, report.iterations, report.output_tokens) == (status, 3, None)
    assert sum("hidden" in note for note in report.notes) == 1
    assert any("(3 steps)" in note for note in report.notes)


def test_a_decision_is_given_up_when_the_time_is_over(loopback: Loopback) -> None:
    def slowly(_: Any) -> dict[str, Any]:
        time.sleep(1.5)
        return completion(None, SEARCH)

    report, _ = study(loopback, slowly, completion(REPORT), max_seconds=0.4)
    assert (report.text, report.status, report.iterations) == (REPORT, "time_limit", 1)
    assert any("given up as the time was over" in note for note in report.notes)


def test_time_limit(loopback: Loopback) -> None:
    report, _ = study(loopback, completion(None, SEARCH), completion(REPORT), max_seconds=1e-9)
    last_turn(loopback)
    assert report.status == "time_limit"


def test_calls_in_the_last_turn_are_not_run(loopback: Loopback) -> None:
    report, transcript = study(loopback, completion(None, SEARCH), completion(None, SEARCH), max_steps=1)
    assert (report.text, report.status, report.is_gradable) == ("", "step_limit", False)
    assert report.tool_calls == {"search": 1}
    assert "1 tool call(s) of the last turn were not run" in transcript.steps[-1].notes
    assert loopback.script == []


@pytest.mark.parametrize(
    ("reply", "status"),
    [(completion("请问您指的是哪一年？"), "asked_back"), (completion(None, refusal="no"), "refused")],
)
def test_last_turn_without_a_report_says_why(loopback: Loopback, reply: dict[str, Any], status: str) -> None:
    report, _ = study(loopback, completion(None, SEARCH), reply, max_steps=1)
    assert (report.status, report.is_gradable) == (status, False)


def test_without_tools_no_tool_field_is_sent(loopback: Loopback) -> None:
    study(loopback, completion(REPORT), tools=[])
    assert {"tools", "tool_choice"}.isdisjoint(loopback.requests[0])


# Counting


def test_tokens_of_a_step_without_usage_are_counted_here_and_marked(loopback: Loopback) -> None:
    replies = [completion(None, SEARCH), completion("Reading on.", SEARCH, usage=NO_USAGE), completion(REPORT)]
    report, transcript = study(loopback, *replies)
    written = estimate_tokens("Reading on.") + estimate_tokens("search") + estimate_tokens('{"query": "盐城 人口"}')
    assert [step.output_tokens for step in transcript.steps] == [5, written, 5]
    assert [step.estimated for step in transcript.steps] == [False, True, False]
    assert (report.output_tokens, report.estimated_steps) == (10 + written, 1)
    given = transcript.steps[1].input_tokens
    texts = [transcript.system_prompt, TASK.query, "search", '{"query": "盐城 人口"}', "results for 盐城 人口"]
    assert given == sum(estimate_tokens(text) for text in texts)
    assert any("no usage" in note for note in report.notes)


def test_a_hidden_count_stays_unknown(loopback: Loopback) -> None:
    # 10 + 5 of 40: what the other 25 are, the endpoint does not say.
    hidden = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 40}
    report, _ = study(loopback, completion(None, SEARCH), completion(REPORT, usage=hidden))
    assert (report.input_tokens, report.output_tokens, report.estimated_steps) == (20, None, 0)


def test_wall_time_is_told_apart_by_model_and_tools(loopback: Loopback) -> None:
    slow = [call("search", {"query": "slow"}, f"c{number}") for number in range(6)]
    report, transcript = study(loopback, completion(None, *slow), completion(REPORT))
    # Six calls of 0.2 seconds side by side.
    assert 0.2 <= report.tool_seconds < 0.6
    assert transcript.steps[0].tool_seconds == report.tool_seconds
    assert report.model_seconds == pytest.approx(sum(step.seconds for step in transcript.steps))
    assert report.model_seconds + report.tool_seconds <= report.seconds


def test_cost_is_summed_over_the_steps(loopback: Loopback) -> None:
    report, _ = study(loopback, completion(None, SEARCH), completion(REPORT), input_price=3.0, output_price=12.0)
    # Two decisions: 2 x (10 x 3 + 5 x 12) / 1,000,000 = 180 / 1,000,000.
    assert report.cost == pytest.approx(0.00018)


def test_more_than_one_served_model_is_noted(loopback: Loopback) -> None:
    report, _ = study(loopback, completion(None, SEARCH), {**completion(REPORT), "model": "other"})
    assert report.model == "other"
    assert "more than one model answered: other, served-model" in report.notes


def test_half_characters_in_the_report_are_replaced_and_noted(loopback: Loopback) -> None:
    report, transcript = study(loopback, json.dumps(completion("66万 \ud83d 🚀")))
    assert report.text == "66万 \ufffd 🚀"
    assert any("surrogate" in note for note in report.notes)
    for record in (report, transcript):
        record.model_dump_json().encode("utf-8")


# Infrastructure


@pytest.mark.parametrize("failure", [(500, {"error": {"message": "down"}}), {"choices": None}, (401, {"error": "no"})])
def test_an_endpoint_that_fails_leaves_no_report(loopback: Loopback, failure: Any) -> None:
    with pytest.raises(ChatError):
        study(loopback, completion(None, SEARCH), failure)


def test_complaint_about_reasoning_stops_with_the_switch(loopback: Loopback) -> None:
    refusal = (
        400,
        {"error": {"message": "The reasoning_content in the thinking mode must be passed back to the API."}},
    )
    with pytest.raises(ChatError, match=r"set echo_reasoning: true \(now false\)") as caught:
        study(loopback, completion("", SEARCH, reasoning_content="x"), refusal, echo_reasoning=False)
    assert caught.value.kind == "stop"


def test_a_hanging_tool_is_given_up_and_many_calls_take_turns(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_calls, "CALL_SECONDS", 0.5)
    now, most = [0], [0]

    async def slow(query: str) -> str:
        now[0] += 1
        most[0] = max(most[0], now[0])
        try:
            await asyncio.sleep(5 if query == "hang" else 0.01)
        finally:
            now[0] -= 1
        return query

    calls = [call("search", {"query": "hang" if n == 3 else str(n)}, f"c{n}") for n in range(40)]
    tools = [Tool("search", function_schema("search"), slow)]
    report, transcript = study(loopback, completion(None, *calls), completion(REPORT), tools=tools)
    results = transcript.steps[0].results
    assert [one.ok for one in results] == [n != 3 for n in range(40)]
    assert "took longer than 0.5 seconds" in results[3].content
    assert most[0] == 8
    assert report.failed_tool_calls == {"search": 1}


@pytest.mark.parametrize(
    ("message", "code", "status"),
    [
        ("This model's maximum context length is 8192 tokens.", "context_length_exceeded", "token_limit"),
        ("The prompt was flagged by the content filter.", "content_filter", "refused"),
    ],
)
def test_a_conversation_that_goes_no_further_is_a_run_without_a_report(
    loopback: Loopback, message: str, code: str, status: str
) -> None:
    end = (400, {"error": {"message": message, "code": code}})
    report, transcript = study(loopback, completion(None, SEARCH), end)
    assert (report.status, report.text, report.is_gradable) == (status, "", False)
    assert (report.iterations, report.output_tokens, len(transcript.steps)) == (1, 5, 1)
    assert any(message in note for note in report.notes)


def test_a_request_that_is_wrong_in_itself_is_no_report(loopback: Loopback) -> None:
    with pytest.raises(ChatError):
        study(loopback, (400, {"error": {"message": "unknown field 'tool_choice'"}}))


def test_a_run_whose_search_never_worked_is_lost_not_scored(loopback: Loopback) -> None:
    async def dead(query: str) -> str:
        raise ToolError("HTTP 403: the key is revoked", service_failed=True)

    tools = [Tool("search", function_schema("search"), dead), TOOLS[1]]
    with pytest.raises(ChatError, match="the tool search never worked: Error: HTTP 403"):
        study(loopback, completion(None, SEARCH), completion(REPORT), tools=tools)
    turns = [completion(None, call("search", {"query": "q"}, f"c{n}")) for n in range(9)]
    with pytest.raises(ChatError) as caught:
        study(loopback, *turns, tools=tools)
    assert caught.value.kind == "transient"
    assert len(loopback.script) == 9 - 3, "given up after three calls"
    loopback.script.clear()

    async def recovers(query: str) -> str:
        if query == "first":
            raise ToolError("busy", service_failed=True)
        return "found"

    tools = [Tool("search", function_schema("search"), recovers)]
    both = [call("search", {"query": query}, query) for query in ("first", "second")]
    report, _ = study(loopback, completion(None, *both), completion(REPORT), tools=tools)
    assert (report.status, report.failed_tool_calls) == ("answered", {"search": 1})
