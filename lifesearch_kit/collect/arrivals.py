"""Judgments on their way into the store, and refusals that speak of the endpoint rather than of a report."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import defaultdict

from lifesearch_kit.collect.accounting import Summary
from lifesearch_kit.collect.store import Store
from lifesearch_kit.errors import ChatError
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge.judge import is_too_long
from lifesearch_kit.records import Judgment

_MOST_WAITING = 32
_REFUSALS = 12


class Refusals:
    """Requests that an endpoint refuses, of several reports and without a verdict between them: it refuses them all."""

    def __init__(self, concurrency: int) -> None:
        self._most = max(_REFUSALS, 2 * concurrency)
        self._refused: defaultdict[str, list[str]] = defaultdict(list)
        self._served: set[str] = set()

    def note(self, check: Check, judgment: Judgment) -> None:
        """Count a judgment; raises ChatError where enough of them were refused."""
        if judgment.status != "error":
            self._served.add(judgment.judge)
        elif judgment.judge not in self._served and not is_too_long(check):
            reports = self._refused[judgment.judge]
            reports.append(f"{judgment.system} {judgment.task_id} {judgment.run}")
            if len(reports) >= self._most and len(set(reports)) > 1:
                raise ChatError(judgment.reason, "stop")


class Arrivals:
    """Judgments on their way into the store: what arrives in one turn of the event loop is kept in one transaction.

    A transaction each would take longer than all else that is done here for a call.
    """

    def __init__(self, store: Store, summary: Summary) -> None:
        self._store, self._summary = store, summary
        self._waiting: list[Judgment] = []
        self._error: sqlite3.Error | None = None

    def add(self, judgment: Judgment) -> None:
        """Keep a judgment before the event loop waits for anything again; raises what hindered an earlier one."""
        self._waiting.append(judgment)
        if self._error:
            raise self._error
        # A baseline answers without a turn of the event loop.
        if len(self._waiting) >= _MOST_WAITING:
            self.keep()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_soon(self._try)

    def keep(self) -> None:
        """Keep what has arrived."""
        if self._waiting:
            self._store.add_judgments(self._waiting)
            for judgment in self._waiting:
                self._summary.add(judgment)
            self._waiting.clear()

    def _try(self) -> None:
        try:
            self.keep()
        except sqlite3.Error as error:
            self._error = error
