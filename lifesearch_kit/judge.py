"""The judge: one rubric a call, strict reading, every reply accounted for (the LifeSearch paper's judging)."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from lifesearch_kit import prompts
from lifesearch_kit.chat import Chat, Reply
from lifesearch_kit.errors import ChatError, InputWarning
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.records import Judgment, Report, Rubric, Task, subject_fingerprint
from lifesearch_kit.settings import JudgeSettings
from lifesearch_kit.usage import cost, total
from lifesearch_kit.verdict import Verdict, read_verdict

_FIELDS = {"satisfied": {"type": "boolean"}, "reason": {"type": "string"}}
_ASKED_AGAIN = ("unparseable", "truncated")
_WITHOUT_FORMAT = "asked without response_format, which the endpoint refused"
_ATTRIBUTES = {"en": ("Type", "Necessity", "Priority"), "zh": ("类型", "必要性", "优先级")}


def judge_messages(task: Task, report: Report, rubric: Rubric, judge: JudgeSettings) -> list[dict[str, str]]:
    """The two messages of one call: the rules, then question, report and criterion in this order.

    All that a report's rubrics share comes first and is identical to the byte, so that a provider's prefix cache can
    serve it. What a prompt says after a line ``---`` ends the second message: a small model loses sight of a form that
    stands before a long report. The tags carry a code that follows from question and report and stands in neither, so
    that no report can close its own. The weight is never shown.
    """
    parts = (("question", task.query), ("report", report.text), ("criterion", rubric.criterion))
    nonce = _nonce(task.query, report.text)
    rules, _, closing = prompts.render(prompt_name(task, judge), nonce=nonce).partition("\n---\n")
    blocks = [f"<{name}-{nonce}>\n{content}\n</{name}-{nonce}>" for name, content in parts]
    values = (rubric.type, rubric.necessity, rubric.priority)
    attributes = (f"{name}: {value}" for name, value in zip(_ATTRIBUTES[task.language], values, strict=True))
    asked = "\n\n".join(blocks) + "\n" + "\n".join(attributes)
    if closing:
        asked += f"\n\n{closing.strip()}"
    return [{"role": "system", "content": rules}, {"role": "user", "content": asked}]


def verdict_format(prompt: str) -> dict[str, Any]:
    """The reply's form as a `response_format`: its fields come in the order in which the prompt names them last."""
    fields = dict(sorted(_FIELDS.items(), key=lambda field: prompt.rfind(field[0])))
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


def judgment_fingerprint(task: Task, report: Report, rubric: Rubric, judge: JudgeSettings) -> str:
    """What a stored judgment judged: question, report, criterion with attributes, prompt text and judge settings."""
    prompt = prompts.load(prompt_name(task, judge)).template
    return fingerprint(subject_fingerprint(task, rubric, report), prompt, judge.identity())


async def judge_rubric(
    task: Task, report: Report, rubric: Rubric, judge: JudgeSettings, chat: Chat, *, repeat: int = 1
) -> Judgment:
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
    limit = judge.max_report_characters
    if limit is not None and len(report.text) > limit:
        length = f"the report on task {task.task_id!r} has {len(report.text)} characters"
        verdict = Verdict(None, "error", f"{length}; the judge's limit is {limit}")
        return _judgment(task, report, rubric, judge, repeat, verdict, [])
    verdict, replies = await _ask_for_verdict(judge_messages(task, report, rubric, judge), task, judge, chat)
    return _judgment(task, report, rubric, judge, repeat, verdict, replies)


async def _ask_for_verdict(
    messages: list[dict[str, str]], task: Task, judge: JudgeSettings, chat: Chat
) -> tuple[Verdict, list[Reply]]:
    """Ask until a reply is readable or the retries are used up; all replies are returned, since all were paid for."""
    replies: list[Reply] = []
    notes: list[str] = []
    verdict = Verdict(None, "error")
    while len(replies) <= judge.unjudged_retries:
        try:
            reply = await _ask(messages, task, judge, chat)
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


async def _ask(messages: list[dict[str, str]], task: Task, judge: JudgeSettings, chat: Chat) -> Reply:
    """Ask for the form of a verdict, or where the endpoint refuses to be held to one, without."""
    if not judge.structured_output or "response_format" in judge.extra_body:
        return await chat.complete(messages)
    if not chat.refuses_response_format:
        form = verdict_format(prompts.load(prompt_name(task, judge)).template)
        try:
            return await chat.complete(messages, response_format=form)
        except ChatError as error:
            if error.parameter != "response_format":
                raise
            told = f"{error}; it is asked without from now on, and its judgments say so"
            warnings.warn(told, InputWarning, stacklevel=2)
    reply = await chat.complete(messages)
    return replace(reply, notes=(*reply.notes, _WITHOUT_FORMAT))


def _nonce(question: str, report: str) -> str:
    attempts = (fingerprint(question, report, attempt) for attempt in itertools.count())
    return next(nonce for nonce in attempts if nonce not in question and nonce not in report)


def prompt_name(task: Task, judge: JudgeSettings) -> str:
    """The prompt in the language of the task."""
    return judge.prompt_zh if task.language == "zh" else judge.prompt_en


def _judgment(
    task: Task,
    report: Report,
    rubric: Rubric,
    judge: JudgeSettings,
    repeat: int,
    verdict: Verdict,
    replies: Sequence[Reply],
) -> Judgment:
    """The record: what the last reply says, and what all of them took."""
    last = replies[-1] if replies else None
    usages = [reply.usage for reply in replies]
    return Judgment(
        system=report.system,
        task_id=report.task_id,
        run=report.run,
        rubric_id=rubric.rubric_id,
        judge=judge.name,
        repeat=repeat,
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
        cost=total([cost(usage, judge) for usage in usages]),
        fingerprint=judgment_fingerprint(task, report, rubric, judge),
        notes=verdict.notes + (last.notes if last else ()),
    )
