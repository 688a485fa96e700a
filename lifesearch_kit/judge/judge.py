"""The judge: one rubric a call, strict reading, every reply accounted for (the LifeSearch paper's judging)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from lifesearch_kit.chat.asking import ask_until_read, spent, with_usage
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import ChatError, InputWarning
from lifesearch_kit.judge.checks import Check, encoded_messages, verdict_format
from lifesearch_kit.judge.verdict import Verdict, read_verdict
from lifesearch_kit.records import Judgment

_ASKED_AGAIN = ("unparseable", "truncated")
_SHOWN = 200  # characters of a reply without a verdict
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
    messages = encoded_messages(check)

    async def ask() -> Reply:
        return with_usage(await _ask(messages, check, chat), messages)

    retries = check.judge.unjudged_retries
    asked = await ask_until_read(
        ask, verdict_of, Verdict, again=_ASKED_AGAIN, retries=retries, wanted="verdict", shown=_SHOWN
    )
    return _judgment(check, replace(asked.reading, notes=(*asked.reading.notes, *asked.notes)), asked.replies)


def is_too_long(check: Check) -> bool:
    """Whether the report is beyond the judge's limit, so that it is not asked."""
    limit = check.judge.max_report_characters
    return limit is not None and len(check.report.text) > limit


def verdict_of(reply: Reply) -> Verdict:
    """Read a reply, its finish reason first: what was cut off or refused holds no verdict, whatever it looks like."""
    return Verdict(None, *reply.shortcoming) if reply.shortcoming else read_verdict(reply.text)


async def _ask(messages: list[bytes], check: Check, chat: Chat) -> Reply:
    """Ask for the form of a verdict, or where the endpoint refuses to be held to one, without."""
    judge = check.judge
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


def _judgment(check: Check, verdict: Verdict, replies: Sequence[Reply]) -> Judgment:
    """The record: what the last reply says, and what all of them took."""
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
        fingerprint=check.fingerprint,
        notes=verdict.notes + (replies[-1].notes if replies else ()),
        **spent(replies, check.judge),
    )
