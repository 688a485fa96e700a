"""What is asked of a service in the same moment goes out as one request."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Generic, TypeVar

Question = TypeVar("Question")
Answer = TypeVar("Answer")


class Together(Generic[Question, Answer]):
    """Joins the questions that come before the event loop turns, such as those of one call with several queries.

    Parameters
    ----------
    ask
        Takes questions, gives an answer or an error for each. What it raises, all of them get.
    most
        How many go out as one at most.
    """

    def __init__(self, ask: Callable[[Sequence[Question]], Awaitable[Sequence[Answer]]], most: int) -> None:
        self._ask, self._most = ask, most
        self._waiting: list[tuple[Question, asyncio.Future[Answer]]] = []
        self._under_way: set[asyncio.Task[None]] = set()

    async def answer(self, question: Question) -> Answer:
        """The answer to one question."""
        loop = asyncio.get_running_loop()
        mine: asyncio.Future[Answer] = loop.create_future()
        # A loop that was stopped by force leaves its questions behind.
        if not self._waiting or self._waiting[0][1].get_loop() is not loop:
            self._waiting = []
            loop.call_soon(self._send, loop)
        self._waiting.append((question, mine))
        return await mine

    def _send(self, loop: asyncio.AbstractEventLoop) -> None:
        waiting, self._waiting = self._waiting, []
        for start in range(0, len(waiting), self._most):
            part = waiting[start : start + self._most]
            task = loop.create_task(self._settle(part))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
            for _, one in part:
                one.add_done_callback(partial(_give_up, part, task))

    async def _settle(self, waiting: Sequence[tuple[Question, asyncio.Future[Answer]]]) -> None:
        try:
            answers = await self._ask([question for question, _ in waiting])
            for (_, one), answer in zip(waiting, answers, strict=True):
                if not one.done():
                    one.set_result(answer)
        except Exception as error:
            for _, one in waiting:
                if not one.done():
                    one.set_exception(error)
        finally:
            for _, one in waiting:
                one.cancel()


def _give_up(
    waiting: Sequence[tuple[Question, asyncio.Future[Answer]]], task: asyncio.Task[None], _: asyncio.Future[Answer]
) -> None:
    """End a request that nobody waits for any more."""
    if all(one.cancelled() for _, one in waiting):
        task.cancel()
