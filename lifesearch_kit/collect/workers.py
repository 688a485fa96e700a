"""A fixed pool of workers over units of work: trouble with one configuration stops that configuration alone."""

from __future__ import annotations

import asyncio
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Generic, TypeVar

from tqdm.auto import tqdm

from lifesearch_kit import offline
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.collect.accounting import Budget, Summary
from lifesearch_kit.collect.interrupts import interruptible
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.judge.prefix_order import PrefixOrder
from lifesearch_kit.own_agents import OwnAgent
from lifesearch_kit.settings import ModelSettings

Unit = TypeVar("Unit")
# So many failures of one configuration without a success between them: its endpoint is down.
_FAILURES_IN_A_ROW = 12


class Workers(Generic[Unit]):
    """Do units of work, a bounded number at a time.

    Parameters
    ----------
    order
        Hands out the units.
    settings_of
        The configuration that a unit needs.
    make
        Does a unit with the clients by configuration, keeps the result, and returns what it cost (None: unknown).
    begun
        Names of configurations that did something in an earlier call.
    summary
        What is counted as it goes: planned and skipped are known before.
    budget
        When it is spent, no further unit is begun.
    """

    def __init__(
        self,
        order: PrefixOrder[Unit],
        settings_of: Callable[[Unit], ModelSettings | OwnAgent],
        make: Callable[[Unit, Mapping[str, Chat]], Awaitable[float | None]],
        begun: set[str],
        summary: Summary,
        budget: Budget,
    ) -> None:
        self._order, self._settings_of, self._make = order, settings_of, make
        self._begun, self._summary, self._budget = begun, summary, budget
        self._chats: Mapping[str, Chat] = {}
        self._stopped: dict[str, ChatError] = {}
        self._last: dict[str, ChatError] = {}
        self._in_a_row, self._failed, self._done = Counter[str](), Counter[str](), Counter[str]()

    async def run(self, settings: Sequence[ModelSettings | OwnAgent], concurrency: int) -> None:
        """Work through the order.

        Raises
        ------
        InputError
            When a key or a price is missing; nothing has run then.
        ChatError
            When an endpoint refused every further call or has gone: its configuration stopped at once, the others
            finished. Also when nothing at all could be done for a configuration.
        """
        if concurrency < 1:
            raise InputError(f"concurrency {concurrency} runs nothing; give 1 or more")
        models = [one for one in settings if isinstance(one, ModelSettings)]
        self._budget.require_prices(models)
        started = time.perf_counter()
        most_in_a_row = max(_FAILURES_IN_A_ROW, 2 * concurrency)
        todo = self._summary.planned - self._summary.skipped
        async with interruptible(), AsyncExitStack() as stack:
            self._chats = await open_chats(models, stack)
            progress = stack.enter_context(tqdm(total=todo, desc=self._summary.what, disable=not todo, mininterval=0.5))
            try:
                async with asyncio.TaskGroup() as group:
                    for _ in range(min(concurrency, todo)):
                        group.create_task(self._work(progress, most_in_a_row))
            except* Exception as errors:
                raise errors.exceptions[0] from None
            finally:
                self._summary.seconds = time.perf_counter() - started
        self._tell_who_stopped([one.name for one in settings])

    async def _work(self, progress: tqdm, most_in_a_row: int) -> None:
        # The workers share one order: a waiting unit costs nothing, and memory does not grow with their number.
        while (unit := await self._order.take()) is not None:
            settings = self._settings_of(unit)
            if settings.name not in self._stopped and (settings.runs_here or await self._is_affordable()):
                await self._do(unit, most_in_a_row)
                if self._summary.cost is not None:
                    progress.set_postfix_str(f"cost {self._summary.cost:,.2f}", refresh=False)
            self._order.finish(unit)
            progress.update()

    async def _is_affordable(self) -> bool:
        if await self._budget.admit():
            return True
        self._summary.stopped = f"stopped by the {self._budget}"
        return False

    async def _do(self, unit: Unit, most_in_a_row: int) -> None:
        settings = self._settings_of(unit)
        name = settings.name
        took: float | None = 0.0
        failed = True
        try:
            took = await self._make(unit, self._chats)
            failed = False
            self._in_a_row[name] = 0
            self._done[name] += 1
        except ChatError as error:
            took = error.cost
            self._summary.add_failed(cause_of(error), took)
            self._in_a_row[name] += 1
            self._failed[name] += 1
            self._last[name] = error
            if error.kind == "stop" or self._in_a_row[name] >= most_in_a_row:
                self._stopped.setdefault(name, error)
        finally:
            if not settings.runs_here:
                self._budget.settle(took, failed=failed)

    def _tell_who_stopped(self, names: Sequence[str]) -> None:
        # The others have finished by now: one configuration's failure must not cost them what is under way.
        for name in names:
            in_vain = self._failed[name] and not self._done[name] and name not in self._begun
            if name in self._stopped or in_vain:
                cause = self._stopped.get(name) or self._last[name]
                remedy = f"What was done is kept; mend this, or take {name!r} out, and run again to go on"
                raise ChatError(f"{cause}. {remedy}. {self._summary}", cause.kind, cause.status) from cause


def cause_of(error: ChatError) -> str:
    """An error's words without what differs from call to call, so that equal causes are counted together."""
    return re.sub(r"\b(?=\w*\d)[\w-]{8,}\b", "...", str(error))[:200]


def open_chat(settings: ModelSettings) -> Chat:
    """A client for a model; the built-in baselines answer inside this process. Raises InputError for a missing key."""
    return Chat(settings, offline.http_client() if settings.is_offline else None)


async def open_chats(settings: Sequence[ModelSettings], stack: AsyncExitStack) -> Mapping[str, Chat]:
    """Clients by their configuration's name, closed with the stack.

    Raises
    ------
    InputError
        Naming every key that is missing.
    """
    chats: dict[str, Chat] = {}
    faults: list[str] = []
    for one in settings:
        try:
            chats[one.name] = await stack.enter_async_context(open_chat(one))
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return chats
