"""The order in which a prompt cache serves most: the first of those that share a prefix alone, then the others.

A provider keeps the beginning of a prompt only once a request with it has finished, so requests that share their
beginning and go out together are all read anew.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

Unit = TypeVar("Unit")


class PrefixOrder(Generic[Unit]):
    """Hands out units of work to workers, each unit once.

    Of the units that share a prefix the first goes out alone; the others follow when it has finished, however it ended,
    and before another prefix is begun. Units that share none with others go out in their order.

    Parameters
    ----------
    units
        What is to be done.
    prefix_of
        What a unit shares with others.
    """

    def __init__(self, units: Iterable[Unit], prefix_of: Callable[[Unit], Hashable]) -> None:
        self._prefix_of = prefix_of
        self._ready: deque[Unit] = deque()
        groups: dict[Hashable, deque[Unit]] = {}
        for unit in units:
            groups.setdefault(prefix_of(unit), deque()).append(unit)
        self._untouched = deque(groups.items())
        self._followers: dict[Hashable, deque[Unit]] = {}
        self._finished = asyncio.Event()

    async def take(self) -> Unit | None:
        """The next unit, waited for where it depends on another worker's; None when none is left."""
        while not self._ready:
            if self._untouched:
                prefix, group = self._untouched.popleft()
                first = group.popleft()
                self._followers[prefix] = group
                return first
            if not self._followers:
                return None
            self._finished.clear()
            await self._finished.wait()
        return self._ready.popleft()

    def finish(self, unit: Unit) -> None:
        """Say that a unit has ended; those that waited for it may go."""
        followers = self._followers.pop(self._prefix_of(unit), None)
        if followers is not None:
            self._ready.extend(followers)
            self._finished.set()
