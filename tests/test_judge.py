"""The judge over real HTTP on loopback: each kind of reply becomes true, false, or unjudged with its cause."""

from __future__ import annotations

import asyncio
import json

import pytest
from loopback import NO_USAGE, completion

from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.token_counts import estimate_tokens
from lifesearch_kit.errors import ChatError, InputWarning
from lifesearch_kit.judge.checks import check_of
from lifesearch_kit.judge.judge import judge_rubric
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings, SystemSettings

RUBRIC = Rubric(rubric_id="R1", criterion="The response should name the port of Selwick.", weight=0.8)
TASK = Task(task_id="t", language="en", domain="d", query="Which port?", rubrics=(RUBRIC,))
REPORT = Report(system="s", task_id="t", run=2, text="The port of Selwick handled 4.2 million tonnes.")
YES = '{"satisfied": true, "reason": "Port named."}'


def judge_settings(loopback, **changes):
    return JudgeSettings(
        name="j",
        model="m",
        base_url=loopback.chat_url,
        **{"max_retries": 0, "unjudged_retries": 0, "structured_output": False, **changes},
    )


def judged(loopback, reply, report=REPORT, **changes):
    loopback.script[:] = [reply]
    settings = judge_settings(loopback, **changes)

    async def once():
        async with Chat(settings) as chat:
            return await judge_rubric(check_of(TASK, report, RUBRIC, settings, repeat=3), chat)

    return asyncio.run(once())


def test_a_verdict_is_kept_with_all_that_came_with_it(loopback):
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 30,
        "total_tokens": 930,
        "prompt_tokens_details": {"cached_tokens": 512},
        "completion_tokens_details": {"reasoning_tokens": 12},
    }
    judgment = judged(loopback, completion(YES, usage=usage), input_price=2.0, output_price=10.0)
    assert (judgment.system, judgment.task_id, judgment.run, judgment.rubric_id) == ("s", "t", 2, "R1")
    assert (judgment.judge, judgment.repeat, judgment.satisfied, judgment.status) == ("j", 3, True, "ok")
    assert (judgment.reason, judgment.raw, judgment.finish_reason) == ("Port named.", YES, "stop")
    assert (judgment.model, judgment.input_tokens, judgment.cached_tokens) == ("served-model", 900, 512)
    assert (judgment.output_tokens, judgment.reasoning_tokens) == (30, 12)
    # 900 x 2 / 1e6 + 30 x 10 / 1e6 = 0.0018 + 0.0003
    assert judgment.cost == pytest.approx(0.0021)
    (request,) = loopback.requests
    assert request["temperature"] == 0.0
    assert "tools" not in request


@pytest.mark.parametrize(
    ("reply", "status"),
    [
        (completion(YES, finish="length"), "truncated"),
        (completion("", finish="length"), "truncated"),
        (completion(YES, finish="max_tokens"), "truncated"),
        (completion(YES, finish="content_filter"), "refused"),
        (completion(YES, finish="SAFETY"), "refused"),
        (completion(None, refusal="I will not."), "refused"),
        (completion(None), "unparseable"),
        (completion("   "), "unparseable"),
        (completion("It passes."), "unparseable"),
        (completion("", reasoning_content=YES), "unparseable"),
    ],
)
def test_without_a_verdict_the_rubric_is_unjudged(loopback, reply, status):
    judgment = judged(loopback, reply)
    assert (judgment.satisfied, judgment.status) == (None, status)
    assert judgment.reason


def test_tokens_without_a_usage_block_are_counted_here_so_that_a_budget_holds(loopback):
    judgment = judged(loopback, completion(YES, usage=NO_USAGE), input_price=1.0, output_price=1.0)
    texts = [message["content"] for message in loopback.requests[0]["messages"]]
    assert judgment.input_tokens == sum(estimate_tokens(text) for text in texts)
    assert judgment.output_tokens == estimate_tokens(YES)
    assert judgment.cost == pytest.approx((judgment.input_tokens + judgment.output_tokens) / 1e6)
    assert "its tokens were counted here" in judgment.notes


def test_half_a_character_in_a_reason_costs_no_verdict(loopback):
    judgment = judged(loopback, completion('{"satisfied": true, "reason": "\\ud83d half"}'))
    assert (judgment.satisfied, judgment.reason) == (True, "\ufffd half")
    judgment.model_dump_json().encode()


def test_a_report_beyond_the_limit_is_unjudged_without_a_call(loopback):
    long = REPORT.model_copy(update={"text": "x" * 101})
    judgment = judged(loopback, completion(YES), report=long, max_report_characters=100)
    assert (judgment.satisfied, judgment.status) == (None, "error")
    assert judgment.reason == "the report on task 't' has 101 characters; the judge's limit is 100"
    assert loopback.requests == []


def test_without_a_limit_the_last_word_of_a_long_report_is_sent(loopback):
    long = REPORT.model_copy(update={"text": "filler " * 40_000 + "last words: 7.7 percent."})
    assert judged(loopback, completion(YES), report=long).satisfied is True
    assert "last words: 7.7 percent." in loopback.requests[0]["messages"][1]["content"]


def test_a_request_that_is_rejected_is_unjudged(loopback):
    too_long = (
        400,
        {"error": {"message": "this model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}},
    )
    judgment = judged(loopback, too_long)
    assert (judgment.satisfied, judgment.status) == (None, "error")
    assert "maximum context length" in judgment.reason


@pytest.mark.parametrize("status", [401, 503])
def test_an_endpoint_that_fails_is_no_judgment_at_all(loopback, status):
    with pytest.raises(ChatError):
        judged(loopback, (status, {"error": {"message": "not now"}}))


def test_the_judge_reads_what_the_method_says_in_its_order(loopback):
    judged(loopback, completion(YES))
    content = loopback.requests[0]["messages"][1]["content"]
    places = [
        content.index(part)
        for part in (TASK.query, REPORT.text, RUBRIC.criterion, "Objective", "Explicit", "Must Have")
    ]
    assert places == sorted(places)
    assert "0.8" not in json.dumps(loopback.requests[0]), "the weight is never shown"


def test_the_fingerprint_follows_what_was_judged(loopback):
    settings = judge_settings(loopback)
    base = check_of(TASK, REPORT, RUBRIC, settings).fingerprint
    edits = [
        (TASK.model_copy(update={"query": "Which ports?"}), REPORT, RUBRIC, settings),
        (TASK, REPORT.model_copy(update={"text": "Other."}), RUBRIC, settings),
        (TASK, REPORT, RUBRIC.model_copy(update={"criterion": "Other."}), settings),
        (TASK, REPORT, RUBRIC.model_copy(update={"priority": "Nice to Have"}), settings),
        (TASK, REPORT, RUBRIC, judge_settings(loopback, reasoning_effort="low")),
        (TASK, REPORT, RUBRIC, judge_settings(loopback, temperature="default")),
        (TASK, REPORT, RUBRIC, judge_settings(loopback, prompt_en="judge_zh")),
    ]
    assert len({base, *(check_of(*edit).fingerprint for edit in edits)}) == 1 + len(edits)
    longer = judge_settings(loopback, max_report_characters=9, prompt_zh="judge_en")
    assert check_of(TASK, REPORT, RUBRIC, longer).fingerprint == base, "what an English rubric does not see"
    unseen = RUBRIC.model_copy(update={"weight": 0.1})
    assert check_of(TASK, REPORT, unseen, judge_settings(loopback, max_retries=3)).fingerprint == base


def test_what_was_judged_before_a_setting_existed_still_counts():
    class Later(JudgeSettings):
        new_setting: bool = False

    named = {"name": "judge", "model": "m"}
    assert Later(**named).identity() == JudgeSettings(**named).identity()
    assert Later(**named, new_setting=True).identity() != JudgeSettings(**named).identity()


def test_the_defaults_that_an_identity_leaves_out_stay_what_they_are():
    # A changed default would pass for the old one in every store: add a setting under another name instead.
    left_out = {
        model: {
            name: field.get_default(call_default_factory=True)
            for name, field in model.model_fields.items()
            if not field.is_required() and name not in model.no_effect
        }
        for model in (JudgeSettings, SystemSettings)
    }
    shared = {
        "base_url": None,
        "reasoning_effort": "default",
        "max_output_tokens": None,
        "output_limit_field": "max_completion_tokens",
        "extra_body": {},
    }
    assert left_out[JudgeSettings] == shared | {"temperature": 0.0, "structured_output": True}
    assert left_out[SystemSettings] == shared | {
        "temperature": "default",
        "echo_reasoning": True,
        "seed_by_run": False,
        "protocol": "tool_calls",
        "max_steps": 100,
        "max_output_tokens_total": None,
        "max_seconds": 3600.0,
        "max_cost": None,
    }


NO_VERDICT = completion("I would rather talk about the weather.")
REFUSES_FORMAT = (
    400,
    {"error": {"message": "This response_format type is unavailable now", "type": "invalid_request"}},
)


def test_a_reply_without_a_verdict_is_asked_for_again_and_all_that_it_took_is_kept(loopback):
    loopback.script[:] = [NO_VERDICT, completion(YES)]
    settings = judge_settings(loopback, unjudged_retries=1, input_price=1.0, output_price=2.0)
    judgment = asked(settings)
    assert (judgment.satisfied, judgment.status, judgment.raw) == (True, "ok", YES)
    assert (judgment.input_tokens, judgment.output_tokens) == (2 * 10, 2 * 5)
    assert judgment.cost == pytest.approx((20 * 1.0 + 10 * 2.0) / 1_000_000)
    assert any("reply 1 held no verdict (unparseable): 'I would rather" in note for note in judgment.notes)


def test_after_the_last_retry_the_rubric_stays_unjudged(loopback):
    loopback.script[:] = [NO_VERDICT, completion("", finish="length"), NO_VERDICT, completion(YES)]
    judgment = asked(judge_settings(loopback, unjudged_retries=2))
    assert (judgment.satisfied, judgment.status, len(loopback.requests)) == (None, "unparseable", 3)
    assert [note[:7] for note in judgment.notes if "held no verdict" in note] == ["reply 1", "reply 2"]


def test_a_refusal_is_not_asked_again(loopback):
    loopback.script[:] = [completion("", finish="content_filter"), completion(YES)]
    assert asked(judge_settings(loopback, unjudged_retries=3)).status == "refused"
    assert len(loopback.requests) == 1


def test_what_was_paid_for_stays_when_asking_again_fails(loopback):
    loopback.script[:] = [NO_VERDICT, (503, {"error": {"message": "busy"}})]
    judgment = asked(judge_settings(loopback, unjudged_retries=1))
    assert (judgment.status, judgment.input_tokens) == ("unparseable", 10)
    assert any("asking again failed" in note and "busy" in note for note in judgment.notes)


def asked(settings, times=None):
    """One judgment, or several by the same client."""

    async def ask():
        async with Chat(settings) as chat:
            return [await judge_rubric(check_of(TASK, REPORT, RUBRIC, settings), chat) for _ in range(times or 1)]

    judgments = asyncio.run(ask())
    return judgments if times else judgments[0]


@pytest.mark.parametrize(
    ("prompt", "order"),
    [("judge_en", ["satisfied", "reason"]), ("judge_reason_first_en", ["reason", "satisfied"])],
)
def test_the_reply_is_held_to_a_schema_in_the_order_of_the_prompt(loopback, prompt, order):
    loopback.script[:] = [completion(YES)]
    asked(judge_settings(loopback, structured_output=True, prompt_en=prompt))
    form = loopback.requests[0]["response_format"]
    assert form["type"] == "json_schema"
    schema = form["json_schema"]["schema"]
    assert list(schema["properties"]) == schema["required"] == order
    assert schema["properties"]["satisfied"] == {"type": "boolean"}


def test_an_endpoint_that_refuses_the_schema_is_asked_without_once_and_visibly(loopback):
    loopback.script[:] = [REFUSES_FORMAT, completion(YES), completion(YES)]
    with pytest.warns(InputWarning, match="structured_output: false") as warned:
        first, second = asked(judge_settings(loopback, structured_output=True), times=2)
    assert len(warned) == 1
    assert ["response_format" in body for body in loopback.requests] == [True, False, False]
    for judgment in (first, second):
        assert judgment.satisfied is True
        assert "asked without response_format, which the endpoint refused" in judgment.notes


def test_another_refused_setting_is_an_error_with_a_schema_too(loopback):
    loopback.script[:] = [(400, {"error": {"message": "temperature does not support 0", "param": "temperature"}})]
    with pytest.raises(ChatError, match=r"temperature=0\.0 was refused and is never dropped silently"):
        asked(judge_settings(loopback, structured_output=True))
    assert len(loopback.requests) == 1


def test_a_response_format_of_the_users_own_is_kept(loopback):
    loopback.script[:] = [completion(YES)]
    asked(judge_settings(loopback, structured_output=True, extra_body={"response_format": {"type": "json_object"}}))
    assert loopback.requests[0]["response_format"] == {"type": "json_object"}
