"""The judge: one rubric a call, strict reading, every reply accounted for (the LifeSearch paper's judging)."""

from __future__ import annotations

import itertools

from lifesearch_kit import prompts
from lifesearch_kit.chat import Chat, Reply, cost
from lifesearch_kit.errors import ChatError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.records import Judgment, Report, Rubric, Task, subject_fingerprint
from lifesearch_kit.settings import JudgeSettings
from lifesearch_kit.verdict import Verdict, read_verdict

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
    rules, _, closing = prompts.render(_prompt_name(task, judge), nonce=nonce).partition("\n---\n")
    blocks = [f"<{name}-{nonce}>\n{content}\n</{name}-{nonce}>" for name, content in parts]
    values = (rubric.type, rubric.necessity, rubric.priority)
    attributes = (f"{name}: {value}" for name, value in zip(_ATTRIBUTES[task.language], values, strict=True))
    asked = "\n\n".join(blocks) + "\n" + "\n".join(attributes)
    if closing:
        asked += f"\n\n{closing.strip()}"
    return [{"role": "system", "content": rules}, {"role": "user", "content": asked}]


def judgment_fingerprint(task: Task, report: Report, rubric: Rubric, judge: JudgeSettings) -> str:
    """What a stored judgment judged: question, report, criterion with attributes, prompt text and judge settings."""
    prompt = prompts.load(_prompt_name(task, judge)).template
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
        endpoint rejects).

    Raises
    ------
    ChatError
        When the endpoint cannot be reached or refuses every call; nothing was judged then.
    """
    limit = judge.max_report_characters
    reply: Reply | None = None
    if limit is not None and len(report.text) > limit:
        length = f"the report on task {task.task_id!r} has {len(report.text)} characters"
        verdict = Verdict(None, "error", f"{length}; the judge's limit is {limit}")
    else:
        try:
            reply = await chat.complete(judge_messages(task, report, rubric, judge))
            verdict = verdict_of(reply)
        except ChatError as error:
            if error.kind != "request":
                raise
            verdict = Verdict(None, "refused" if error.cause == "refused" else "error", str(error))
    return _judgment(task, report, rubric, judge, repeat, verdict, reply)


def verdict_of(reply: Reply) -> Verdict:
    """Read a reply, its finish reason first: what was cut off or refused holds no verdict, whatever it looks like."""
    if reply.is_truncated:
        return Verdict(None, "truncated", "the reply was cut at the output limit; raise max_output_tokens")
    if reply.is_refused:
        return Verdict(None, "refused", reply.refusal or "the endpoint's content filter stopped the reply")
    return read_verdict(reply.text)


def _nonce(question: str, report: str) -> str:
    attempts = (fingerprint(question, report, attempt) for attempt in itertools.count())
    return next(nonce for nonce in attempts if nonce not in question and nonce not in report)


def _prompt_name(task: Task, judge: JudgeSettings) -> str:
    return judge.prompt_zh if task.language == "zh" else judge.prompt_en


def _judgment(
    task: Task, report: Report, rubric: Rubric, judge: JudgeSettings, repeat: int, verdict: Verdict, reply: Reply | None
) -> Judgment:
    usage = reply.usage if reply else None
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
        raw=reply.text if reply else "",
        finish_reason=reply.finish_reason if reply else None,
        model=reply.model if reply else None,
        input_tokens=usage.input_tokens if usage else None,
        cached_tokens=usage.cached_tokens if usage else None,
        output_tokens=usage.output_tokens if usage else None,
        reasoning_tokens=usage.reasoning_tokens if usage else None,
        seconds=reply.seconds if reply else None,
        cost=cost(usage, judge) if usage else None,
        fingerprint=judgment_fingerprint(task, report, rubric, judge),
        notes=verdict.notes + (reply.notes if reply else ()),
    )
