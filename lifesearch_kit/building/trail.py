"""The audit trail: every decision with its raw reply, in the run's SQLite file. No reply is ever replaced."""

from __future__ import annotations

import os
from collections.abc import Iterable

from lifesearch_kit.building.records import Decision
from lifesearch_kit.collect.store import Store
from lifesearch_kit.redaction import redact_secrets

_SCHEMA = """
CREATE TABLE IF NOT EXISTS decisions (
    fingerprint TEXT, attempt INTEGER, record TEXT NOT NULL, PRIMARY KEY (fingerprint, attempt)) WITHOUT ROWID;
"""


class Trail(Store):
    """A run's folder that also keeps decisions; the lock against a second process is the store's own.

    Parameters
    ----------
    folder
        Made when absent.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        super().__init__(folder)
        self._database.executescript(_SCHEMA)

    def __enter__(self) -> Trail:
        return self

    def add(self, decision: Decision) -> Decision:
        """Keep a decision as the next attempt at its question; return it with its number."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            (before,) = self._database.execute(
                "SELECT COALESCE(MAX(attempt), 0) FROM decisions WHERE fingerprint = ?", (decision.fingerprint,)
            ).fetchone()
            kept = decision.model_copy(update={"attempt": before + 1})
            row = (kept.fingerprint, kept.attempt, redact_secrets(kept.model_dump_json()))
            self._database.execute("INSERT INTO decisions VALUES (?, ?, ?)", row)
        return kept

    def decisions(self) -> list[Decision]:
        """All decisions, every attempt, those of one question in a row."""
        rows = self._database.execute("SELECT record FROM decisions ORDER BY fingerprint, attempt")
        return [Decision.model_validate_json(record) for (record,) in rows]

    def latest(self) -> dict[str, Decision]:
        """The decision that counts, by the fingerprint of its question: the last with an answer, else the last."""
        return latest(self.decisions())


def latest(decisions: Iterable[Decision]) -> dict[str, Decision]:
    """Of several attempts at one question the last one with an answer that counts, else the last one."""
    counted: dict[str, Decision] = {}
    for decision in decisions:
        before = counted.get(decision.fingerprint)
        if before is None or before.status != "ok" or decision.status == "ok":
            counted[decision.fingerprint] = decision
    return counted
