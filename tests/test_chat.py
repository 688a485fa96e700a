"""The chat client against a real HTTP server: odd replies, odd usage, errors under HTTP 200, refused settings."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import NO_USAGE, Loopback, call, completion, serving

from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.endpoint_errors import explain
from lifesearch_kit.chat.endpoint_faults import Fault
from lifesearch_kit.chat.reply import Reply, read_reply
from lifesearch_kit.chat.usage import Usage, cost, read_usage
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.settings import JudgeSettings, ModelSettings, SystemSettings
from lifesearch_kit.text import repair

QUESTION = [{"role": "user", "content": "何时生效？"}]


def ask(server: Loopback, messages: list[dict[str, Any]] | None = None, **settings: Any) -> Reply:
    chosen = {"name": "C", "model": "m", "base_url": server.chat_url, "max_retries": 2, **settings}
    model = SystemSettings(**chosen) if "echo_reasoning" in chosen else ModelSettings(**chosen)

    async def once() -> Reply:
        async with Chat(model) as chat:
            return await chat.complete(messages or QUESTION)

    return asyncio.run(once())


def error_of(server: Loopback, *replies: Any, messages: list[dict[str, Any]] = QUESTION, **settings: Any) -> ChatError:
    server.script += replies
    with pytest.raises(ChatError) as caught:
        ask(server, messages, **settings)
    return caught.value


# The request


def test_defaults_are_left_to_the_endpoint(loopback: Loopback) -> None:
    loopback.script += [completion("May.")]
    reply = ask(loopback)
    assert reply.text == "May."
    assert reply.model == "served-model"
    assert loopback.requests == [{"model": "m", "messages": QUESTION}]


def test_settings_reach_the_request(loopback: Loopback) -> None:
    loopback.script += [completion("May.")] * 2
    common: dict[str, Any] = {
        "temperature": 0.0,
        "reasoning_effort": "high",
        "max_output_tokens": 9,
        "extra_body": {"top_k": 1},
    }
    ask(loopback, **common)
    ask(loopback, **common, output_limit_field="max_tokens")
    first, second = loopback.requests
    shared = {"model": "m", "messages": QUESTION, "temperature": 0.0, "reasoning_effort": "high", "top_k": 1}
    assert first == {**shared, "max_completion_tokens": 9}
    assert second == {**shared, "max_tokens": 9}


def test_key_goes_into_the_header_and_nowhere_else(loopback: Loopback) -> None:
    loopback.script += [(401, {"error": {"message": "Incorrect API key provided: stand-in-openai_api_key"}})]
    with pytest.raises(ChatError) as caught:
        ask(loopback)
    _, headers, _ = loopback.asked[0]
    assert headers["authorization"] == "Bearer stand-in-openai_api_key"
    assert caught.value.kind == "stop"
    assert "Incorrect API key" in str(caught.value)
    assert "stand-in-openai_api_key" not in str(caught.value)
    assert "stand-in" not in repr(Chat(ModelSettings(name="C", model="m", base_url=loopback.chat_url)))


def test_missing_key_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VENDOR_KEY", raising=False)
    with pytest.raises(InputError, match=r"configuration 'C' needs a key: set the environment variable VENDOR_KEY"):
        Chat(ModelSettings(name="C", model="m", api_key_env="VENDOR_KEY"))


def test_client_of_ones_own_needs_no_key_and_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    answers = httpx.MockTransport(lambda request: httpx.Response(200, json=completion("here")))

    async def twice() -> list[str]:
        async with httpx.AsyncClient(transport=answers) as client:
            texts = []
            for name in ("A", "B"):
                async with Chat(ModelSettings(name=name, model="m", base_url="offline"), client) as chat:
                    texts.append((await chat.complete(QUESTION)).text)
            assert len(client.event_hooks["response"]) == 1
            return texts

    assert asyncio.run(twice()) == ["here", "here"]


def test_address_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"does not start with http:// or https://"):
        ModelSettings(name="C", model="m", base_url="vendor.example/v1")


# Content: empty, null, in parts, truncated, refused, in the reasoning channel


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ("", ""),
        (" \n", " \n"),
        ([{"type": "text", "text": "# A"}, {"type": "text", "text": "\nB"}], "# A\nB"),
        (["one", {"type": "output_text", "text": " two"}], "one two"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "B"}], "B"),
        ([], ""),
        ("<think>B is likely</think>\nA", "A"),
        ("<think>never closed, so never said", ""),
        (" \n<thinking>B is likely</thinking>A", "A"),
        ("# Report\n```\n</think>\n```\nThe rest.", "# Report\n```\n</think>\n```\nThe rest."),
        ("A template ends so:\n<think>\nhm\n</think>\nA", "A template ends so:\n<think>\nhm\n</think>\nA"),
        ("Models write <think> and </think> around it.", "Models write <think> and </think> around it."),
    ],
)
def test_text_is_what_is_visible(content: Any, text: str) -> None:
    assert read_reply(completion(content)).text == text


def test_a_lone_end_of_reasoning_is_kept_and_noted() -> None:
    reply = read_reply(completion("It may be B.\n</think>\n\nA"))
    assert reply.text == "It may be B.\n</think>\n\nA"
    assert any("reasoning may be part of it" in note for note in reply.notes)


@pytest.mark.parametrize(
    "text", ["\n" * 40_000, " " * 40_000, "<think>" * 6_000, "</think>\n" * 5_000, "\t\n" * 20_000]
)
def test_long_odd_replies_are_read_quickly(text: str) -> None:
    started = time.perf_counter()
    read_reply(completion(text))
    assert time.perf_counter() - started < 1.0


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "search", "arguments": {"query": "tide table"}}\n</tool_call>',
        "I will look it up.\n<function=search>tide table</function>",
        '[TOOL_CALLS][{"name": "search"}]',
        "<｜tool▁calls▁begin>search",
    ],
)
def test_a_call_written_as_text_is_noted(text: str) -> None:
    reply = read_reply(completion(text))
    assert (reply.text, reply.tool_calls) == (text, ())
    assert any("looks like a tool call" in note for note in reply.notes)
    assert not read_reply(completion(text, call("search", {"query": "q"}))).notes


def test_a_legacy_function_call_is_noted() -> None:
    reply = read_reply(completion(None, function_call={"name": "search", "arguments": "{}"}))
    assert reply.tool_calls == ()
    assert any("legacy function_call" in note for note in reply.notes)


def test_ordinary_reports_have_no_notes() -> None:
    assert read_reply(completion("# Report\nA `<tool_call>` tag wraps a call; `</think>` ends a thought.")).notes == ()


def test_message_without_content_key_keeps_its_calls() -> None:
    body = completion(None, call("search", {"query": "盐城 2025"}), finish="stop")
    del body["choices"][0]["message"]["content"]
    reply = read_reply(body)
    assert reply.text == ""
    assert [one["function"]["name"] for one in reply.tool_calls] == ["search"]
    assert reply.message == body["choices"][0]["message"]


@pytest.mark.parametrize("calls", [None, [], "search", {"id": "x"}])
def test_no_calls_in_any_shape(calls: Any) -> None:
    assert read_reply(completion("A", tool_calls=calls)).tool_calls == ()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_reasoning_channel_is_never_the_text(field: str) -> None:
    reply = read_reply(completion("", **{field: '{"satisfied": true, "reason": "stated"}'}))
    assert reply.text == ""
    assert field in reply.message


@pytest.mark.parametrize("finish", ["length", "max_tokens", "MAX_TOKENS"])
def test_truncation_is_marked_and_the_text_kept(finish: str) -> None:
    reply = read_reply(completion("# Report\nThe first", finish=finish))
    assert (reply.text, reply.is_truncated, reply.is_refused) == ("# Report\nThe first", True, False)


@pytest.mark.parametrize(
    "body",
    [
        completion(None, finish="content_filter"),
        completion(None, refusal="I cannot help with that."),
        completion([{"type": "refusal", "refusal": "No."}]),
    ],
)
def test_refusals(body: dict[str, Any]) -> None:
    assert read_reply(body).is_refused


def test_odd_types_do_not_break_reading() -> None:
    body = completion("A", refusal=7)
    body["choices"][0]["finish_reason"] = 3
    body["model"] = None
    reply = read_reply(body)
    assert (reply.text, reply.finish_reason, reply.refusal, reply.model) == ("A", None, None, None)


# Usage


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 30, "total_tokens": 37}, (7, 30)),
        ({"prompt_tokens": 7, "completion_tokens": 30, "completion_tokens_details": None}, (7, 30)),
        ({"input_tokens": 7, "output_tokens": 30}, (7, 30)),
        ({"prompt_tokens": "7", "completion_tokens": " 30 "}, (7, 30)),
        ({"prompt_tokens": 7.0, "completion_tokens": 30.0}, (7, 30)),
        ({"prompt_tokens": None, "input_tokens": 7, "completion_tokens": 0}, (7, 0)),
        ({"prompt_tokens": 7, "completion_tokens": None}, (7, None)),
        ({"prompt_tokens": 7}, (7, None)),
        ({"prompt_tokens": True, "completion_tokens": -3}, (None, None)),
        ({"prompt_tokens": "n/a", "completion_tokens": [30]}, (None, None)),
        ({}, (None, None)),
        (None, (None, None)),
        ("none", (None, None)),
    ],
)
def test_unknown_usage_is_none_in_every_spelling(raw: Any, expected: tuple[int | None, int | None]) -> None:
    usage = read_usage(raw)
    assert (usage.input_tokens, usage.output_tokens) == expected
    assert bool(usage.notes) == (expected[1] is None)


def test_total_beyond_the_parts_hides_reasoning() -> None:
    # 40 - 8 - 0 = 32 tokens are unaccounted for, so 0 is no effort that may be reported.
    usage = read_usage({"prompt_tokens": 8, "completion_tokens": 0, "total_tokens": 40})
    assert usage.output_tokens is None
    assert "32 tokens" in usage.notes[0]


def test_reasoning_counted_apart_is_added() -> None:
    raw = {"prompt_tokens": 8, "completion_tokens": 20, "total_tokens": 58}
    usage = read_usage({**raw, "completion_tokens_details": {"reasoning_tokens": 30}})
    assert (usage.output_tokens, usage.reasoning_tokens) == (50, 30)
    assert read_usage({"completion_tokens": 20, "reasoning_tokens": 30}).output_tokens is None


def test_cached_and_reasoning_tokens_in_vendors_spellings() -> None:
    nested = {"prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": {"reasoning_tokens": 5}}
    usage = read_usage({"prompt_tokens": 6, "completion_tokens": 9, **nested})
    assert usage == Usage(6, 4, 9, 5)
    assert read_usage({"prompt_tokens": 6, "completion_tokens": 9, "prompt_cache_hit_tokens": 4}).cached_tokens == 4


def test_cost_is_unknown_where_a_count_or_a_price_is() -> None:
    priced = ModelSettings(name="C", model="m", input_price=2.0, output_price=10.0)
    # 1,000 x 2 / 1,000,000 + 500 x 10 / 1,000,000 = 0.002 + 0.005
    assert cost(Usage(1_000, None, 500, None), priced) == pytest.approx(0.007)
    # 400 of the 1,000 from the cache at 0.5: (600 x 2 + 400 x 0.5 + 500 x 10) / 1,000,000.
    discount = priced.model_copy(update={"cached_input_price": 0.5})
    assert cost(Usage(1_000, 400, 500, None), discount) == pytest.approx(0.0064)
    assert cost(Usage(1_000, 400, 500, None), priced) == cost(Usage(1_000, None, 500, None), discount)
    assert cost(Usage(1_000, None, None, None), priced) is None
    assert cost(Usage(1_000, None, 500, None), ModelSettings(name="C", model="m", input_price=2.0)) is None


@given(
    st.dictionaries(
        st.sampled_from(["prompt_tokens", "completion_tokens", "total_tokens", "usage"]),
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    )
)
def test_no_usage_block_breaks_reading(raw: dict[str, Any]) -> None:
    usage = read_usage(raw)
    assert all(count is None or count >= 0 for count in (usage.input_tokens, usage.output_tokens))


def test_missing_usage_does_not_fail_the_call(loopback: Loopback) -> None:
    loopback.script += [completion("May.", usage=NO_USAGE)]
    reply = ask(loopback)
    assert reply.text == "May."
    assert reply.usage.output_tokens is None
    assert "no usage" in reply.notes[0]


# Errors that come with HTTP 200

RETRIED = {
    "error with a code": {"error": {"message": "upstream is busy", "code": 503}},
    "error beside null choices": {"id": None, "choices": None, "error": {"message": "internal trouble", "code": "500"}},
    "no choice": {"choices": []},
    "null choices": {"id": "c", "choices": None},
    "rate limit": {"error": {"message": "slow down", "code": 429}},
    "a choice's error": {
        "choices": [
            {
                "error": {"code": 502, "message": "provider went away"},
                "message": {"role": "assistant", "content": "Half a rep"},
                "finish_reason": "error",
            }
        ]
    },
    "a broken-off choice": {
        "choices": [{"message": {"role": "assistant", "content": "Half a rep"}, "finish_reason": "error"}]
    },
    "null message": {"choices": [{"message": None, "finish_reason": "stop"}]},
    "choice that is none": {"choices": ["text"]},
    "plain text error": {"error": "upstream timed out"},
    "vendor's own shape": {"code": 1305, "msg": "the service is overloaded"},
    "markup": "<html><body>Bad gateway</body></html>",
    "nothing": "",
    "list": [1, 2],
    "cut JSON": '{"choices": [{"mess',
    "half a character in bytes": b'{"choices": "\xff"}',
}


@pytest.mark.parametrize("body", RETRIED.values(), ids=RETRIED.keys())
def test_error_under_http_200_is_retried(loopback: Loopback, body: Any) -> None:
    loopback.script += [body, body, completion("whole report")]
    assert ask(loopback).text == "whole report"
    assert len(loopback.requests) == 3


@pytest.mark.parametrize("body", RETRIED.values(), ids=RETRIED.keys())
def test_error_under_http_200_ends_as_an_error_when_it_stays(loopback: Loopback, body: Any) -> None:
    error = error_of(loopback, body, body, body)
    assert error.kind == "transient"
    assert "configuration 'C' (model 'm'" in str(error)
    assert "HTTP 200" in str(error)


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ({"error": "model not found"}, "stop"),
        ({"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}, "stop"),
        ({"error": {"message": "Invalid API key", "code": 401}}, "stop"),
        ({"error": {"message": "no access", "code": "404"}}, "stop"),
        ({"message": "Unsupported content in the message"}, "request"),
        ({"error": {"message": "the context length is exceeded"}}, "request"),
        ({"error": {"message": "the input was flagged by moderation"}}, "request"),
        ({"error": {"message": "Insufficient balance"}}, "stop"),
        ({"error": {"message": "wrong API key; correct it and try again"}}, "stop"),
    ],
)
def test_hopeless_error_under_http_200_is_not_retried(loopback: Loopback, body: Any, kind: str) -> None:
    error = error_of(loopback, body)
    assert error.kind == kind
    assert len(loopback.requests) == 1


def test_vendors_words_and_code_are_shown(loopback: Loopback) -> None:
    body = {"error": {"message": "Provider returned error", "code": 502, "metadata": {"raw": "disk is full"}}}
    error = error_of(loopback, body, max_retries=0)
    assert "Provider returned error [disk is full] (code 502)" in str(error)
    assert "Bad gateway" in str(error_of(loopback, "<html>Bad gateway</html>", max_retries=0))


def test_spent_quota_stops_after_its_retries(loopback: Loopback) -> None:
    body = {"error": {"message": "insufficient quota on this account", "code": 429}}
    error = error_of(loopback, body, body, body)
    assert (error.kind, error.status, len(loopback.requests)) == ("stop", 429, 3)


def test_empty_error_field_beside_a_message_is_no_error(loopback: Loopback) -> None:
    loopback.script += [{**completion("fine"), "error": None}]
    assert ask(loopback).text == "fine"


# Errors with an HTTP status


def test_refused_setting_stops_with_its_remedy_after_one_request(loopback: Loopback) -> None:
    refusal = {
        "error": {"message": "temperature=0.2 is not allowed", "param": "temperature", "code": "unsupported_value"}
    }
    error = error_of(loopback, (400, refusal), name="judge cold", temperature=0.2)
    for part in ("'judge cold'", "'m'", "temperature=0.2", "temperature: default", "unsupported_value"):
        assert part in str(error)
    assert error.kind == "stop"
    assert [body["temperature"] for body in loopback.requests] == [0.2]


@pytest.mark.parametrize(
    ("settings", "message", "remedy"),
    [
        ({"reasoning_effort": "max"}, "Unknown reasoning_effort 'max'", "reasoning_effort: default"),
        ({"max_output_tokens": 9}, "Unsupported parameter: 'max_completion_tokens'", "output_limit_field: max_tokens"),
        ({"extra_body": {"top_k": 1}}, "Unrecognized request argument: top_k", "remove it in extra_body"),
        ({"temperature": 0.0}, "该模型不支持 temperature 参数", "temperature: default"),
    ],
)
def test_refused_setting_is_found_in_the_vendors_words(
    loopback: Loopback, settings: dict[str, Any], message: str, remedy: str
) -> None:
    error = error_of(loopback, (400, {"error": {"message": message}}), **settings)
    assert error.kind == "stop"
    assert remedy in str(error)


def test_judge_settings_are_refused_alike(loopback: Loopback) -> None:
    loopback.script += [(422, {"error": {"message": "temperature must be 1", "param": "temperature"}})]
    judge = JudgeSettings(name="J", model="m", base_url=loopback.chat_url)

    async def once() -> None:
        async with Chat(judge) as chat:
            await chat.complete(QUESTION)

    with pytest.raises(ChatError, match=r"configuration 'J'.*temperature: default"):
        asyncio.run(once())


@pytest.mark.parametrize(
    ("status", "message", "kind", "requests"),
    [
        (401, "bad key", "stop", 1),
        (402, "pay first", "stop", 1),
        (403, "no access to this model", "stop", 1),
        (403, "the input was flagged by moderation", "request", 1),
        (404, "The model `m` does not exist", "stop", 1),
        (400, "This model's maximum context length is 8000 tokens", "request", 1),
        (400, "max_tokens is too large: the context length is 8000", "request", 1),
        (413, "payload too large", "request", 1),
        (400, "messages[3]: role 'tool' is out of place", "request", 1),
        (429, "too many requests", "transient", 3),
        (429, "insufficient_quota: see your plan and billing", "stop", 3),
        (429, "账户余额不足，请先付费", "stop", 3),
        (
            429,
            "You exceeded your current quota, see your plan and billing. Quota: 25 a minute. Retry in 7.5s",
            "transient",
            3,
        ),
        (429, "Limit of tokens per min reached. Try again in 6s. Add a payment method under billing", "transient", 3),
        (429, "Resource exhausted (check quota)", "transient", 3),
        (429, "insufficient_quota, retry in 20s", "transient", 3),
        (400, "insufficient tool messages after tool_calls", "request", 1),
        (400, "your credit balance is too low", "stop", 1),
        (400, "upstream: permission denied temporarily", "transient", 1),
        (400, "max_tokens is too large: at most 4 output tokens", "stop", 1),
        (500, "oops", "transient", 3),
        (503, "overloaded", "transient", 3),
    ],
)
def test_kinds(loopback: Loopback, status: int, message: str, kind: str, requests: int) -> None:
    error = error_of(
        loopback, *[(status, {"error": {"message": message}})] * 3, max_output_tokens=9, output_limit_field="max_tokens"
    )
    assert (error.kind, error.status, len(loopback.requests)) == (kind, status, requests)
    assert message in str(error)


@pytest.mark.parametrize(
    ("status", "message", "code", "cause"),
    [
        (400, "This model's maximum context length is 8000 tokens", "context_length_exceeded", "too_long"),
        (400, "prompt is too long: 9000 tokens > 8000", None, "too_long"),
        (400, "The input token count (9000) exceeds the maximum number of tokens allowed (8000).", None, "too_long"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 8000", None, "too_long"),
        (400, "Range of input length should be [1, 8000]", None, "too_long"),
        (400, "输入长度超过限制", "1261", "too_long"),
        (413, "payload too large", None, "too_long"),
        (413, "Request too large on tokens per minute (TPM): limit 8000", None, None),
        (400, "max_tokens is too large: at most 4 output tokens", None, None),
        (400, "messages[2].tool_calls[0].id: string too long", "string_above_max_length", None),
        (
            400,
            "the prompt was flagged; see the safety reasoning guide and try another prompt",
            "invalid_prompt",
            "refused",
        ),
        (400, "the prompt triggered the content management policy", "content_filter", "refused"),
        (400, "Input data may contain inappropriate content.", "data_inspection_failed", "refused"),
        (400, "Content Exists Risk", None, "refused"),
        (400, "内容可能包含敏感内容", "1301", "refused"),
        (403, "the input was flagged by moderation", None, "refused"),
        (403, "no access to this model", None, None),
        (400, "messages[3]: role 'tool' is out of place", None, None),
        (401, "the key was flagged", None, None),
        (429, "the input is too long for your rate", None, None),
    ],
)
def test_causes(status: int, message: str, code: str | None, cause: str | None) -> None:
    # A run in its middle, where wrong words about reasoning would name the switch for it.
    body = {"model": "m", "messages": [*QUESTION, {"role": "assistant", "content": "A"}], "max_tokens": 9}
    error = explain(Fault(message, code), status, "HTTP", SystemSettings(name="C", model="m"), body)
    assert error.cause == cause
    assert cause is None or error.kind == "request"
    assert "echo_reasoning" not in str(error)


@pytest.mark.parametrize(
    "words",
    [
        "authentication service timeout",
        "Upstream permission denied temporarily",
        "The service does not exist right now, try later",
        "Invalid value from the provider, please retry",
        "upstream: maximum concurrent tokens limit reached, retry",
        "moderation service timed out",
        "模型不支持该请求，系统繁忙，请稍后再试",
    ],
)
def test_trouble_that_passes_is_retried_whatever_else_it_says(loopback: Loopback, words: str) -> None:
    loopback.script += [{"error": {"message": words}}, completion("whole report")]
    assert ask(loopback).text == "whole report"
    error = error_of(loopback, *[{"error": words}] * 3)
    assert (error.kind, error.cause) == ("transient", None)


def test_the_usual_error_type_does_not_make_one_bad_request_stop_all(loopback: Loopback) -> None:
    fault = {"message": "Invalid value for 'messages[1].content'", "type": "invalid_request_error", "code": None}
    assert error_of(loopback, (400, {"error": fault})).kind == "request"


@pytest.mark.parametrize(
    ("echo", "message", "switch"),
    [
        (False, "the reasoning_content of the assistant must be passed back", "echo_reasoning: true (now false)"),
        (True, "messages[1].reasoning_content: unknown field", "echo_reasoning: false (now true)"),
    ],
)
def test_complaint_about_reasoning_names_endpoint_and_switch(
    loopback: Loopback, echo: bool, message: str, switch: str
) -> None:
    history = [*QUESTION, {"role": "assistant", "content": "A"}, *QUESTION]
    error = error_of(loopback, (400, {"error": {"message": message}}), messages=history, echo_reasoning=echo)
    assert error.kind == "stop"
    assert loopback.chat_url in str(error)
    assert switch in str(error)


def test_a_key_across_the_end_of_a_long_message_is_not_shown(loopback: Loopback) -> None:
    key = "stand-in-openai_api_key"
    for field in ("message", "code"):
        fault = {"message": "no", field: "x" * 490 + key}
        assert "stand-in" not in str(error_of(loopback, (401, {"error": fault})))
    assert "stand-in" not in str(error_of(loopback, (401, f"<p>{'x ' * 140}{key}</p>")))


# Lone surrogates


@pytest.mark.parametrize("status", [200, 400])
@pytest.mark.parametrize("field", ["message", "code", "param"])
def test_half_characters_in_an_error_are_replaced(loopback: Loopback, status: int, field: str) -> None:
    error = error_of(loopback, *[(status, {"error": {"message": "no", "code": "c", field: "half \ud83d"}})] * 3)
    str(error).encode("utf-8")


def test_half_characters_in_a_reply_are_replaced_and_noted(loopback: Loopback) -> None:
    raw = '{"choices":[{"message":{"role":"assistant","content":"ok \\ud83d\\ude80, half \\ud83d end \\udc00, 镇江"}}]}'
    loopback.script += [raw, completion("next")]
    reply = ask(loopback)
    assert reply.text == "ok 🚀, half \ufffd end \ufffd, 镇江"
    assert "2 lone surrogate(s)" in reply.notes[0]
    json.dumps(reply.message, ensure_ascii=False).encode("utf-8")
    assert ask(loopback, [*QUESTION, reply.message]).text == "next"
    assert loopback.requests[1]["messages"][1]["content"] == reply.text


def test_half_characters_in_a_request_do_not_fail_it(loopback: Loopback) -> None:
    loopback.script += [completion("fine")]
    ask(loopback, [{"role": "user", "content": "half \udc00"}])
    assert loopback.requests[0]["messages"][0]["content"] == "half \ufffd"


TEXTS = st.text(st.characters(codec=None) | st.sampled_from("\ud83d\udc00\ufffd🚀"))


@given(st.recursive(st.none() | st.integers() | TEXTS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner)))
def test_repaired_values_can_be_written_and_stay_so(value: Any) -> None:
    fixed, _ = repair(value)
    json.dumps(fixed, ensure_ascii=False).encode("utf-8")
    assert repair(fixed) == (fixed, 0)


def test_repair_reaches_keys_and_depths() -> None:
    fixed, count = repair({"a\ud800": [{"b": "\udfff\ud83d\ude80"}]})
    assert (fixed, count) == ({"a\ufffd": [{"b": "\ufffd🚀"}]}, 2)


class _Busy(BaseHTTPRequestHandler):
    """Answers 429 with a Retry-After header once, then a completion."""

    retry_after: Callable[[], str]
    asked: list[float]

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.asked.append(time.monotonic())
        first = len(self.asked) == 1
        content = json.dumps({"error": {"message": "slow down"}} if first else completion("A")).encode()
        self.send_response(429 if first else 200)
        if first:
            self.send_header("Retry-After", type(self).retry_after())
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@pytest.mark.parametrize(
    ("retry_after", "least", "most"),
    [
        (lambda: "2", 2.0, 4.0),
        (lambda: formatdate(time.time() + 3, usegmt=True), 1.5, 5.0),
    ],
    ids=["seconds", "date"],
)
def test_a_retry_waits_as_long_as_the_endpoint_says(monkeypatch, retry_after, least, most):
    monkeypatch.setenv("OPENAI_API_KEY", "any word")
    handler = type("Handler", (_Busy,), {"retry_after": staticmethod(retry_after), "asked": []})
    with serving(handler) as url:
        assert ask(Loopback(url)).text == "A"
    first, second = handler.asked
    assert least <= second - first <= most


def test_an_endpoint_that_wants_an_hour_is_not_waited_for(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "any word")
    handler = type("Handler", (_Busy,), {"retry_after": staticmethod(lambda: "3600"), "asked": []})
    with serving(handler) as url:
        assert error_of(Loopback(url)).kind == "transient"
    assert len(handler.asked) == 1


# No answer at all


def unanswered(url: str, http_client: httpx.AsyncClient | None = None, **settings: Any) -> ChatError:
    chosen = ModelSettings(**{"name": "C", "model": "m", "base_url": url, "max_retries": 0, **settings})

    async def once() -> Reply:
        async with Chat(chosen, http_client) as chat:
            return await chat.complete(QUESTION)

    with pytest.raises(ChatError) as caught:
        asyncio.run(once())
    return caught.value


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize("own_client", [False, True])
def test_a_refused_connection_is_told_as_one(loopback: Loopback, own_client: bool) -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    error = unanswered(url, httpx.AsyncClient() if own_client else None)
    place = "it" if own_client else url[len("http://") : -len("/v1")]
    assert str(error) == (
        f"configuration 'C' (model 'm' at {url}): connection refused, nothing listens at {place}; start the server, or"
        " correct base_url"
    )
    # Every further call would fail alike, so that the configuration stops at once.
    assert error.kind == "stop"


def test_who_refused_is_named_where_it_is_not_the_endpoint(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("LOCAL_MODEL_URL", f"http://127.0.0.1:{port}/v1")
    assert str(unanswered("local")).endswith("start the server, or correct LOCAL_MODEL_URL")
    monkeypatch.setenv("HTTP_PROXY", f"http://127.0.0.1:{port}")
    told = str(unanswered("http://vendor.example/v1"))
    assert f"nothing listens at the proxy 127.0.0.1:{port}; start the server, or correct the proxy's" in told


def test_a_name_that_nobody_knows_is_told_and_may_be_known_later(loopback: Loopback) -> None:
    error = unanswered("http://no-such-host.invalid/v1")
    assert "the address is not known here (Cannot connect to host no-such-host.invalid:80" in str(error)
    assert "correct base_url, or mend the network" in str(error)
    assert error.kind == "transient"


def test_only_what_ran_out_of_time_is_called_a_time_out(loopback: Loopback) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        late = unanswered(url, timeout_seconds=0.3)
    assert "no answer in time (Timeout on reading data from socket); try again, or raise timeout_seconds (now 0.3)" in (
        str(late)
    )

    class HangUp(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            """Keep the test's output clean."""

    with serving(HangUp) as url:
        lost = unanswered(f"{url}/v1?key=word")
    assert "no answer, the connection was lost (Server disconnected); try again" in str(lost)
    assert late.kind == lost.kind == "transient"
    assert "timed out" not in str(lost)
    assert "word" not in str(lost)
