"""One question to a model: what is asked, to the byte, a fingerprint of it, and the decision that comes of it."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from dataclasses import replace
from string import Template
from typing import NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.agent.conversation import written_tokens
from lifesearch_kit.building.reading import Reading, read_answer
from lifesearch_kit.building.records import Decision, Query, Step
from lifesearch_kit.building.settings import BuilderSettings
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.chat.usage import cost, total
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.terms import is_chinese
from lifesearch_kit.text import encode

_ASKED_AGAIN = ("unparseable", "truncated", "breached")
_COUNTED_HERE = "its tokens were counted here"


class Question(NamedTuple):
    """One decision to be made. `prompt` is the text of the step's prompt as it was when this was planned."""

    query: Query
    step: Step
    builder: BuilderSettings
    prompt: str
    fingerprint: str


def question_of(query: Query, step: Step, builder: BuilderSettings) -> Question:
    """Plan one decision. Its fingerprint follows from step, query text, prompt and settings, not from the query's id.

    Raises
    ------
    InputError
        When there is no such prompt, or when it asks for a value other than ``$nonce``.
    """
    name = f"{step}_{'zh' if is_chinese(query.text) else 'en'}"
    named = builder.prompts.get(name, name)
    prompt = prompts.load(named)
    unknown = sorted(set(prompt.get_identifiers()) - {"nonce"})
    if unknown:
        raise InputError(f"prompt {named!r} asks for ${unknown[0]}, which is not given; it may use $nonce")
    asked_with = fingerprint(step, query.text, prompt.template, builder.identity())
    return Question(query, step, builder, prompt.template, asked_with)


def messages_of(question: Question) -> list[dict[str, str]]:
    """The two messages of one call: the rules, the same for every query, then the query between tags.

    The tags carry a code that follows from the query and does not stand in it, so that no query can close its own. What
    a prompt says after a line ``---`` ends the second message.
    """
    rules, _, closing = question.prompt.partition("\n---\n")
    text = question.query.text
    attempts = (fingerprint(text, question.step, attempt) for attempt in itertools.count())
    nonce = next(one for one in attempts if one not in text)
    asked = f"<query-{nonce}>\n{text}\n</query-{nonce}>\n\n{Template(closing).substitute(nonce=nonce).strip()}"
    return [
        {"role": "system", "content": Template(rules).substitute(nonce=nonce).strip()},
        {"role": "user", "content": asked.rstrip()},
    ]


async def ask(question: Question, chat: Chat) -> Decision:
    """Ask one question.

    Returns
    -------
    Decision
        Without an answer and with a status that says why where the reply holds none. A reply that cannot be read, was
        cut off or breaks a rule of rewriting is asked for again, `undecided_retries` times: the decision holds the last
        reply, tokens and seconds of all of them, and notes on the earlier ones. ``error``: the endpoint rejected this
        one request.

    Raises
    ------
    ChatError
        When the endpoint cannot be reached or refuses every call; nothing was decided then.
    """
    messages = messages_of(question)
    encoded = [encode(message) for message in messages]
    replies: list[Reply] = []
    notes: list[str] = []
    reading = Reading(None, "error")
    while len(replies) <= question.builder.undecided_retries:
        try:
            reply = await chat.complete(encoded)
        except ChatError as error:
            if not replies and error.kind != "request":
                raise
            if replies:  # What ails the endpoint, the next query meets too.
                notes.append(f"asking again failed: {error}")
            else:
                reading = Reading(None, "refused" if error.cause == "refused" else "error", str(error))
            break
        if replies:
            notes.append(f"reply {len(replies)} ({reading.status}): {replies[-1].text!r:.2000}")
        replies.append(reply)
        reading = read_answer(question.step, question.query, reply)
        if reading.status not in _ASKED_AGAIN:
            break
    return _decision(question, reading, [_with_usage(one, encoded) for one in replies], notes)


def _with_usage(reply: Reply, messages: Sequence[bytes]) -> Reply:
    """The reply with its tokens counted here where the endpoint reported none, so that a budget can be kept."""
    usage = reply.usage
    if (usage.input_tokens, usage.output_tokens) != (None, None):
        return reply
    given = sum(written_tokens(json.loads(message)) for message in messages)
    counted = replace(usage, input_tokens=given, output_tokens=written_tokens(reply.message), estimated=True)
    return replace(reply, usage=counted, notes=(*reply.notes, _COUNTED_HERE))


def _decision(question: Question, reading: Reading, replies: Sequence[Reply], notes: Sequence[str]) -> Decision:
    last = replies[-1] if replies else None
    usages = [reply.usage for reply in replies]
    return Decision(
        query_id=question.query.query_id,
        step=question.step,
        status=reading.status,
        answer=reading.answer,
        reason=reading.reason,
        raw=last.text if last else "",
        finish_reason=last.finish_reason if last else None,
        builder=question.builder.name,
        model=last.model if last else None,
        input_tokens=total([usage.input_tokens for usage in usages]),
        cached_tokens=total([usage.cached_tokens for usage in usages]),
        output_tokens=total([usage.output_tokens for usage in usages]),
        reasoning_tokens=total([usage.reasoning_tokens for usage in usages]),
        seconds=total([reply.seconds for reply in replies]),
        cost=total([cost(usage, question.builder) for usage in usages]),
        fingerprint=question.fingerprint,
        notes=(*reading.notes, *notes, *(last.notes if last else ())),
    )
