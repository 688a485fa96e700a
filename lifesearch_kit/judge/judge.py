"""The judge: one rubric a call, strict reading, every reply accounted for (the LifeSearch paper's judging)."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from dataclasses import replace

from lifesearch_kit.agent.conversation import written_tokens
from lifesearch_kit.chat.client import Chat, Reply
from lifesearch_kit.chat.usage import cost, total
from lifesearch_kit.errors import ChatError, InputWarning
from lifesearch_kit.judge.checks import Check, encoded_messages, verdict_format
from lifesearch_kit.judge.verdict import Verdict, read_verdict
from lifesearch_kit.records import Judgment

_ASKED_AGAIN = ("unparseable", "truncated")
_COUNTED_HERE = "its tokens were counted here"
_WITHOUT_FORMAT = "asked without response_format, which the endpoint refused"


async def judge_rubric(check: Check, chat: Chat) -> Judgment:
    """Ask the judge whether a report satisfies one rubric.

    Returns
    -------
    Judgment
        With `satisfied` None and a status that says why where there is no verdict: ``truncated`` (cut at the output
        limit), ``refused``, ``unparseable``, or ``error`` (a report beyond the judge's limit, a request that the
        endpoint rejects). The first and the third are asked for again, `judge.unjudged_retries` times: the record holds
        the last reply, tokens and seconds of all of them, and notes on the earlier ones.

    Raises
    ------
    ChatError
        When the endpoint cannot be reached or refuses every call; nothing was judged then.
    """
    if is_too_long(check):
        length = f"the report on task {check.task.task_id!r} has {len(check.report.text)} characters"
        limit = f"the judge's limit is {check.judge.max_report_characters}"
        return _judgment(check, Verdict(None, "error", f"{length}; {limit}"), [])
    return _judgment(check, *await _ask_for_verdict(check, chat))


def is_too_long(check: Check) -> bool:
    """Whether the report is beyond the judge's limit, so that it is not asked."""
    limit = check.judge.max_report_characters
    return limit is not None and len(check.report.text) > limit


async def _ask_for_verdict(check: Check, chat: Chat) -> tuple[Verdict, list[Reply]]:
    """Ask until a reply is readable or the retries are used up; all replies are returned, since all were paid for."""
    replies: list[Reply] = []
    notes: list[str] = []
    verdict = Verdict(None, "error")
    while len(replies) <= check.judge.unjudged_retries:
        try:
            reply = _with_usage(await _ask(check, chat), check)
        except ChatError as error:
            if not replies and error.kind != "request":
                raise
            if replies:  # What ails the endpoint, the next rubric meets too.
                notes.append(f"asking again failed: {error}")
            else:
                verdict = Verdict(None, "refused" if error.cause == "refused" else "error", str(error))
            break
        if replies:
            notes.append(f"reply {len(replies)} held no verdict ({verdict.status}): {replies[-1].text!r:.200}")
        replies.append(reply)
        verdict = verdict_of(reply)
        if verdict.status not in _ASKED_AGAIN:
            break
    return replace(verdict, notes=(*verdict.notes, *notes)), replies


def verdict_of(reply: Reply) -> Verdict:
    """Read a reply, its finish reason first: what was cut off or refused holds no verdict, whatever it looks like."""
    if reply.is_truncated:
        return Verdict(None, "truncated", "the reply was cut at the output limit; raise max_output_tokens")
    if reply.is_refused:
        return Verdict(None, "refused", reply.refusal or "the endpoint's content filter stopped the reply")
    return read_verdict(reply.text)


async def _ask(check: Check, chat: Chat) -> Reply:
    """Ask for the form of a verdict, or where the endpoint refuses to be held to one, without."""
    messages, judge = encoded_messages(check), check.judge
    if not judge.structured_output or "response_format" in judge.extra_body:
        return await chat.complete(messages)
    if not chat.refuses_response_format:
        try:
            return await chat.complete(messages, response_format=verdict_format(check.prompt))
        except ChatError as error:
            if error.parameter != "response_format":
                raise
            told = (
                f"configuration {judge.name!r} is asked without response_format from now on, and its judgments say so, "
                f"since the endpoint refuses it; structured_output: false asks without at once. Its words: {error}"
            )
            warnings.warn(told, InputWarning, stacklevel=2)
    reply = await chat.complete(messages)
    return replace(reply, notes=(*reply.notes, _WITHOUT_FORMAT))


def _with_usage(reply: Reply, check: Check) -> Reply:
    """The reply with its tokens counted here where the endpoint reported no usage, so that a budget can be kept."""
    usage = reply.usage
    if (usage.input_tokens, usage.output_tokens) != (None, None):
        return reply
    given = sum(written_tokens(json.loads(message)) for message in encoded_messages(check))
    counted = replace(usage, input_tokens=given, output_tokens=written_tokens(reply.message), estimated=True)
    return replace(reply, usage=counted, notes=(*reply.notes, _COUNTED_HERE))


def _judgment(check: Check, verdict: Verdict, replies: Sequence[Reply]) -> Judgment:
    """The record: what the last reply says, and what all of them took."""
    last = replies[-1] if replies else None
    usages = [reply.usage for reply in replies]
    return Judgment(
        system=check.report.system,
        task_id=check.report.task_id,
        run=check.report.run,
        rubric_id=check.rubric.rubric_id,
        judge=check.judge.name,
        repeat=check.repeat,
        satisfied=verdict.satisfied,
        status=verdict.status,
        reason=verdict.reason,
        raw=last.text if last else "",
        finish_reason=last.finish_reason if last else None,
        model=last.model if last else None,
        input_tokens=total([usage.input_tokens for usage in usages]),
        cached_tokens=total([usage.cached_tokens for usage in usages]),
        output_tokens=total([usage.output_tokens for usage in usages]),
        reasoning_tokens=total([usage.reasoning_tokens for usage in usages]),
        seconds=total([reply.seconds for reply in replies]),
        cost=total([cost(usage, check.judge) for usage in usages]),
        fingerprint=check.fingerprint,
        notes=verdict.notes + (last.notes if last else ()),
    )
