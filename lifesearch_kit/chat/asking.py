"""One question to a model until a reply can be read: when to ask again, and what all the replies took."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.chat.token_counts import written_tokens
from lifesearch_kit.chat.usage import Usage, cost, total
from lifesearch_kit.errors import ChatError
from lifesearch_kit.settings import ModelSettings

_COUNTED_HERE = "its tokens were counted here"


class Reading(Protocol):
    """How a reply reads."""

    @property
    def status(self) -> str:
        """``ok``, or why it cannot be used."""


AnyReading = TypeVar("AnyReading", bound=Reading)


@dataclass(frozen=True)
class Asked(Generic[AnyReading]):
    """What came of a question: the last reading, all replies, since all were paid for, notes on the earlier ones."""

    reading: AnyReading
    replies: tuple[Reply, ...]
    notes: tuple[str, ...]


async def ask_until_read(
    ask: Callable[[], Awaitable[Reply]],
    read: Callable[[Reply], AnyReading],
    unread: Callable[[None, Literal["refused", "error"], str], AnyReading],
    *,
    again: Collection[str],
    retries: int,
    wanted: str,
    shown: int,
) -> Asked[AnyReading]:
    """Ask until a reply can be read or the retries are used up.

    Parameters
    ----------
    ask, read
        One call, and how its reply reads.
    unread
        Makes the reading, from its status and its reason, where the endpoint rejected this one request.
    again
        The statuses of a reading that are worth another call.
    retries
        Calls beyond the first.
    wanted, shown
        What a reply was to hold, and how many characters of one without it the notes keep.

    Raises
    ------
    ChatError
        When the endpoint cannot be reached or refuses every call, and no reply has come.
    """
    replies: list[Reply] = []
    notes: list[str] = []
    reading: AnyReading | None = None
    while reading is None or (reading.status in again and len(replies) <= retries):
        try:
            reply = await ask()
        except ChatError as error:
            if reading is None and error.kind != "request":
                raise
            if reading is None:
                reading = unread(None, "refused" if error.cause == "refused" else "error", str(error))
            else:  # What ails the endpoint, the next question meets too.
                notes.append(f"asking again failed: {error}")
            break
        if reading is not None:
            notes.append(f"reply {len(replies)} held no {wanted} ({reading.status}): {replies[-1].text!r:.{shown}}")
        replies.append(reply)
        reading = read(reply)
    return Asked(reading, tuple(replies), tuple(notes))


def spent(replies: Sequence[Reply], settings: ModelSettings) -> dict[str, Any]:
    """Fields of a record: what the last of a question's replies says, and the tokens, seconds and cost of all."""
    last = replies[-1] if replies else None
    usages = [reply.usage for reply in replies]
    return {
        "raw": last.text if last else "",
        "finish_reason": last.finish_reason if last else None,
        "model": last.model if last else None,
        "input_tokens": total([usage.input_tokens for usage in usages]),
        "cached_tokens": total([usage.cached_tokens for usage in usages]),
        "output_tokens": total([usage.output_tokens for usage in usages]),
        "reasoning_tokens": total([usage.reasoning_tokens for usage in usages]),
        "seconds": total([reply.seconds for reply in replies]),
        "cost": total([cost(usage, settings) for usage in usages]),
    }


def with_usage(reply: Reply, messages: Iterable[bytes]) -> Reply:
    """The reply, noted and with its tokens counted here where the endpoint reported none, so that a budget holds."""
    usage = known_usage(reply, map(json.loads, messages))
    return reply if usage is reply.usage else replace(reply, usage=usage, notes=(*reply.notes, _COUNTED_HERE))


def known_usage(reply: Reply, messages: Iterable[Mapping[str, Any]]) -> Usage:
    """What the endpoint reported of the call, or where that is nothing at all, tokens as they are counted here."""
    usage = reply.usage
    if (usage.input_tokens, usage.output_tokens) != (None, None):
        return usage
    given = sum(map(written_tokens, messages))
    return replace(usage, input_tokens=given, output_tokens=written_tokens(reply.message), estimated=True)
