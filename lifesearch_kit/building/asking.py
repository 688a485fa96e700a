"""One question to a model: what is asked, to the byte, a fingerprint of it, and the decision that comes of it."""

from __future__ import annotations

from string import Template
from typing import NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.building.reading import Reading, read_answer
from lifesearch_kit.building.records import Decision, Query, Step
from lifesearch_kit.building.settings import BuilderSettings
from lifesearch_kit.chat.asking import Asked, ask_until_read, spent, with_usage
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.prompts.tags import tag_code, tagged
from lifesearch_kit.terms import is_chinese
from lifesearch_kit.text import encode

_ASKED_AGAIN = ("unparseable", "truncated", "breached")
_SHOWN = 2000  # characters of a reply without an answer


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
    nonce = tag_code((text, question.step), absent_from=(text,))
    asked = f"{tagged('query', text, nonce)}\n\n{Template(closing).substitute(nonce=nonce).strip()}"
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
    messages = [encode(message) for message in messages_of(question)]

    async def ask_once() -> Reply:
        return with_usage(await chat.complete(messages), messages)

    def read(reply: Reply) -> Reading:
        return read_answer(question.step, question.query, reply)

    retries = question.builder.undecided_retries
    asked = await ask_until_read(
        ask_once, read, Reading, again=_ASKED_AGAIN, retries=retries, wanted="answer", shown=_SHOWN
    )
    return _decision(question, asked)


def _decision(question: Question, asked: Asked[Reading]) -> Decision:
    reading, replies = asked.reading, asked.replies
    return Decision(
        query_id=question.query.query_id,
        step=question.step,
        status=reading.status,
        answer=reading.answer,
        reason=reading.reason,
        builder=question.builder.name,
        fingerprint=question.fingerprint,
        notes=(*reading.notes, *asked.notes, *(replies[-1].notes if replies else ())),
        **spent(replies, question.builder),
    )
