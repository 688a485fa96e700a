"""Batches submitted once: each is noted before it is asked for and after, so that one that was lost is found again."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence

from lifesearch_kit.errors import ChatError, InputError, KitError
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge_batches.answers import Replay
from lifesearch_kit.judge_batches.endpoint import Endpoint
from lifesearch_kit.judge_batches.files import Line, Note, Notes, Packer, request_line
from lifesearch_kit.records import Judgment


class Submission:
    """Gets the requests of one judge to its endpoint.

    Parameters
    ----------
    name
        The judge's.
    endpoint, replay
        Take the requests, and tell what they are.
    notes
        Keep what is at the endpoint.
    """

    def __init__(self, name: str, endpoint: Endpoint, replay: Replay, notes: Notes) -> None:
        self._name, self._endpoint, self._replay, self._notes = name, endpoint, replay, notes

    async def find(self, note: Note, interval: float) -> Note | None:
        """Note the batch of a submission of which the answer was lost; None, and no note, where none was made."""
        path = self._notes.path(note)
        batch = await self._endpoint.find(note, path)
        if batch is None:
            # One that was asked for a moment ago may not be in the list yet.
            await asyncio.sleep(interval)
            batch = await self._endpoint.find(note, path)
        if batch is None:
            self._notes.drop(note)
            return None
        return self._with_batch(note, batch)

    async def submit(self, checks: Mapping[str, Check], packer: Packer) -> AsyncIterator[Note | Judgment]:
        """Submit checks by custom id.

        Yields
        ------
        Note or Judgment
            Each batch that was made; and each judgment that needs no request, as the report is beyond the limit.
        """
        for _, group in itertools.groupby(checks.items(), key=lambda one: one[1].key[:3]):
            lines: list[Line] = []
            for name, check in group:
                asked = await self._replay.request(check)
                if isinstance(asked, Judgment):
                    yield asked
                else:
                    lines.append(self._line(name, check, asked, packer.max_bytes))
            for full in packer.add(lines):
                yield await self._send(full)
        if packer.rest:
            yield await self._send(packer.rest)

    def _line(self, name: str, check: Check, asked: bytes, max_bytes: int) -> Line:
        line = request_line(name, asked)
        if len(line.content) > max_bytes:
            raise InputError(
                f"system {check.report.system!r}, task {check.report.task_id!r}, run {check.report.run}, rubric "
                f"{check.rubric.rubric_id!r}: the request has {len(line.content)} bytes and max_bytes is {max_bytes}; "
                f"give {self._name!r} a max_report_characters"
            )
        return line

    async def _send(self, lines: Sequence[Line]) -> Note:
        token = uuid.uuid4().hex
        path = self._notes.write_requests(token, lines)
        try:
            file = await self._endpoint.upload(path)
        finally:
            path.unlink()
        names = tuple(line.custom_id for line in lines)
        note = Note(token=token, judge=self._name, input_file=file, sent=names, unread=names)
        self._notes.keep(note)
        try:
            batch = await self._endpoint.create(note)
        except KitError as error:
            # Only a plain refusal says that no batch was made.
            if not isinstance(error, ChatError) or error.kind != "transient" or error.status == 429:
                self._notes.drop(note)
            raise
        return self._with_batch(note, batch)

    def _with_batch(self, note: Note, batch: str) -> Note:
        note = note.model_copy(update={"batch": batch})
        self._notes.keep(note)
        return note
