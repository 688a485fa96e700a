"""The same request has the same answer, whichever system asks and whenever: for comparisons, and to replay a run.

Snapshots stand next to the tool, inside a blocklist and an as-of guard: what is kept is what the tool said, and serves
every setting of the other two.
"""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.files import write_jsonl
from lifesearch_kit.redaction import redact_secrets
from lifesearch_kit.rows import PathLike
from lifesearch_kit.text import replace_lone_surrogates
from lifesearch_kit.tools.snapshot_records import (
    LongDocument,
    Request,
    Snapshot,
    canonical_arguments,
    long_documents,
    to_json,
)
from lifesearch_kit.tools.snapshot_store import SnapshotStore
from lifesearch_kit.tools.tool import Tool, function_schema


@dataclass(frozen=True)
class CapturedTool(Tool):
    """A tool with snapshots; `captured` takes the arguments of a call and tells when its answer was captured."""

    captured: Callable[..., datetime | None] = field(kw_only=True)


class Snapshots:
    """A set of snapshots and the tools that answer from it.

    A failure that speaks of the page is kept like an answer, a failed service never. Within a process, requests that
    are alike and under way together lead to one call; two processes may both call, and both give what was kept first.

    Parameters
    ----------
    folder
        Holds `snapshots.sqlite`; made when absent, unless for a replay.
    replay
        Never call a tool: what was not captured is a ToolError, of a service that failed, so that a run that finds
        nothing is no report.

    Raises
    ------
    InputError
        When there is nothing to replay, and for a damaged file.
    """

    def __init__(self, folder: str | os.PathLike[str], *, replay: bool = False) -> None:
        self.replay = replay
        self.counts: Counter[str] = Counter()
        self._store = SnapshotStore(folder, must_exist=replay)
        self.set_id = self._store.set_id
        self._under_way: dict[Request, asyncio.Future[Snapshot | ToolError]] = {}

    def close(self) -> None:
        """Close the file; everything kept stays."""
        self._store.close()

    def __enter__(self) -> Snapshots:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def of(self, tool: Tool) -> CapturedTool:
        """The tool with this set before it.

        The set's id is part of the backend, and whether it is replayed is not: in one set a request has one answer.
        """
        if not self.replay:
            self._store.note_tool(tool.name, tool.backend)

        async def call(**arguments: Any) -> str:
            snapshot = await self._answer(tool, canonical_arguments(tool, arguments))
            if snapshot.failed:
                raise ToolError(snapshot.content)
            return snapshot.content

        def captured(**arguments: Any) -> datetime | None:
            kept = self._store.find(_request(tool, canonical_arguments(tool, arguments)))
            return None if kept is None else kept.captured

        return CapturedTool(tool.name, tool.schema, call, f"{tool.backend}, snapshots {self.set_id}", captured=captured)

    def replayed(self, name: str) -> CapturedTool:
        """One of the kit's tools as it was captured, where the tool itself cannot be made for want of a key.

        Raises
        ------
        InputError
            When this is no replay, or no backend stood behind that tool when it was captured, or several did.
        """
        backends = self._store.backends(name)
        if not self.replay or len(backends) != 1:
            found = ", ".join(map(repr, backends)) or "none"
            raise InputError(
                f"{self._store.path}: the tool {name!r} can be replayed by name from replay=True and answers of one"
                f" backend alone (here replay={self.replay}, backends: {found}); give the tool itself to of()"
            )

        async def never(**_: Any) -> str:
            raise ToolError("a replay calls no tool", service_failed=True)

        return self.of(Tool(name, function_schema(name), never, backends[0]))

    async def _answer(self, tool: Tool, values: dict[str, Any]) -> Snapshot:
        request = _request(tool, values)
        try:
            while True:
                kept = self._store.find(request)
                if kept is not None:
                    self.counts["answered"] += 1
                    return kept
                if self.replay:
                    self.counts["absent"] += 1
                    told = f"{tool.name} {request.arguments[:300]} was not captured, and a replay asks nobody"
                    raise ToolError(told, service_failed=True)
                if request not in self._under_way:
                    return _given(await self._capture(tool, values, request))
                earlier = self._under_way[request]
                await asyncio.wait([earlier])
                if not earlier.cancelled() and isinstance(earlier.result(), ToolError):
                    return _given(earlier.result())
        except sqlite3.Error as error:
            told = f"the snapshots cannot be read or written ({error}); free {self._store.path}"
            raise ToolError(told, service_failed=True) from None

    async def _capture(self, tool: Tool, values: dict[str, Any], request: Request) -> Snapshot | ToolError:
        waited_for = self._under_way[request] = asyncio.get_running_loop().create_future()
        try:
            outcome = await self._ask(tool, values, request)
            waited_for.set_result(outcome)
        finally:
            del self._under_way[request]
            # Without an outcome (this call was cancelled, the tool has a bug) those who wait go on by themselves.
            waited_for.cancel()
        return outcome

    async def _ask(self, tool: Tool, values: dict[str, Any], request: Request) -> Snapshot | ToolError:
        try:
            content, failed = await tool.call(**values), False
        except ToolError as error:
            if error.service_failed:
                self.counts["service failed"] += 1
                return error
            content, failed = str(error), True
        if not isinstance(content, str):
            raise TypeError(f"{tool.name} returned {type(content).__name__} instead of text")
        self.counts["captured"] += 1
        self.counts["captured failures"] += failed
        return self._store.keep(
            Snapshot(
                snapshot_set=self.set_id,
                **request._asdict(),
                content=redact_secrets(replace_lone_surrogates(content)[0]),
                failed=failed,
                captured=datetime.now(UTC).replace(microsecond=0),
            )
        )

    def summary(self) -> str:
        """What this process asked of the set so far, in one line."""
        counts = self.counts
        return (
            f"snapshots {self.set_id}: {counts['answered']} requests answered from snapshots, {counts['captured']}"
            f" captured ({counts['captured failures']} of them failures of pages), {counts['service failed']} lost to"
            f" failed services and not kept, {counts['absent']} not captured and refused"
        )

    def export(self, path: PathLike) -> int:
        """Write the whole set as JSON Lines, for `import_snapshots` elsewhere; returns how many snapshots it holds."""
        snapshots = list(self._store.snapshots())
        write_jsonl(path, snapshots)
        return len(snapshots)

    def long_documents(self) -> list[LongDocument]:
        """Documents captured in several pages, widest apart first."""
        return long_documents(self._store.snapshots())


def _request(tool: Tool, values: Mapping[str, Any]) -> Request:
    return Request(tool.name, tool.backend, redact_secrets(to_json(values)))


def _given(outcome: Snapshot | ToolError) -> Snapshot:
    if isinstance(outcome, ToolError):
        # Its own exception for each that waits: a traceback must not grow from several callers.
        raise ToolError(str(outcome), service_failed=True)
    return outcome
