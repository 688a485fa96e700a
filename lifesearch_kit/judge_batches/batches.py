"""One judge's batches: those under way found again, what is left submitted, all of them waited for and read."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from openai.types import Batch

from lifesearch_kit.chat.client import Chat
from lifesearch_kit.collect.accounting import Summary
from lifesearch_kit.collect.store import Store
from lifesearch_kit.collect.workers import cause_of
from lifesearch_kit.errors import ChatError, InputWarning, KitError
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge_batches.answers import Replay, read_answers
from lifesearch_kit.judge_batches.endpoint import Endpoint, counted
from lifesearch_kit.judge_batches.files import Note, Notes, Packer
from lifesearch_kit.judge_batches.submission import Submission
from lifesearch_kit.records import Judgment
from lifesearch_kit.settings import JudgeSettings

_ENDED = ("completed", "failed", "expired", "cancelled")
_MOST_FAULTS_TOLD = 5
# So many rounds of looks at all batches without an answer: the endpoint is down.
_ROUNDS_IN_VAIN = 12


class JudgeBatches:
    """The judgments of one judge that are to be made.

    Parameters
    ----------
    judge, chat
        Its settings, and the client for its endpoint.
    todo
        What is to be judged, by custom id.
    store, notes
        Keep the judgments, and what is at the endpoint.
    summary, progress
        What is counted as it goes.
    """

    def __init__(
        self,
        judge: JudgeSettings,
        chat: Chat,
        todo: Mapping[str, Check],
        store: Store,
        notes: Notes,
        summary: Summary,
        progress: Any,
    ) -> None:
        self.judge, self._todo = judge, todo
        self._store, self._notes = store, notes
        self._summary, self._progress = summary, progress
        self._endpoint, self._replay = Endpoint(chat), Replay(judge)
        self._submission = Submission(judge.name, self._endpoint, self._replay, notes)
        self._shown: dict[str, int] = {}
        self._done = 0
        self._stopped: KitError | None = None
        self._last: ChatError | None = None

    async def run(self, earlier: Sequence[Note], interval: float, packer: Packer) -> None:
        """Find what is under way, submit the rest, wait for all of it; an error is kept, and the other judges go on."""
        waiting = [note for note in earlier if not self._todo.keys().isdisjoint(note.unread)]
        try:
            for lost in [note for note in waiting if note.batch is None]:
                waiting.remove(lost)
                found = await self._submission.find(lost, interval)
                if found:
                    waiting.append(found)
            waited_for = {name for note in waiting for name in note.unread}
            left = {name: check for name, check in self._todo.items() if name not in waited_for}
            async for made in self._submission.submit(left, packer):
                if isinstance(made, Note):
                    waiting.append(made)
                else:
                    self._keep([made])
        except KitError as error:
            self._stopped = error
        # What is still lost stays noted for a further call.
        await self._wait([note for note in waiting if note.batch], interval)

    def raise_error(self, begun: bool) -> None:
        """Raise what stopped the judge, and what failed everywhere; `begun` says that it has verdicts from before."""
        cause = self._stopped or (None if self._done or begun else self._last)
        if isinstance(cause, ChatError):
            told = (
                f"{cause}. What was done and submitted is kept; mend this, or take {self.judge.name!r} out, and run "
                f"again to go on. {self._summary}"
            )
            raise ChatError(told, cause.kind, cause.status) from cause
        if cause:
            raise cause

    async def _wait(self, waiting: list[Note], interval: float) -> None:
        self._progress.total += sum(len(note.sent) for note in waiting)
        self._progress.refresh()
        in_vain = 0
        while waiting:
            looks = [(note, await self._look(note)) for note in waiting]
            waiting = [note for note, look in looks if look is not True]
            passing = [look for _, look in looks if isinstance(look, ChatError)]
            in_vain = in_vain + 1 if len(passing) == len(looks) else 0
            if in_vain >= _ROUNDS_IN_VAIN:
                self._stopped = self._stopped or passing[0]
                return
            if waiting:
                await asyncio.sleep(interval)

    async def _look(self, note: Note) -> bool | ChatError:
        """Read a batch that has ended; tells whether there is nothing to wait for, or what failed and may pass."""
        path = self._notes.path(note)
        try:
            batch = await self._endpoint.retrieve(note, path)
            ended = batch.status in _ENDED
            self._show(note, batch, ended)
            if ended:
                await self._read(note, batch, await self._endpoint.answers(batch, path))
        except KitError as error:
            if isinstance(error, ChatError) and error.kind == "transient":
                return error
            self._stopped = self._stopped or error
            return True
        return ended

    def _show(self, note: Note, batch: Batch, ended: bool) -> None:
        shown = len(note.sent) if ended else sum(counted(batch))
        self._progress.update(shown - self._shown.get(note.token, 0))
        self._shown[note.token] = shown

    async def _read(self, note: Note, batch: Batch, files: Mapping[str, bytes]) -> None:
        answers, faults = read_answers(files, note.sent)
        if faults:
            more = [f"and {len(faults) - _MOST_FAULTS_TOLD} more"] if len(faults) > _MOST_FAULTS_TOLD else []
            told = "\n".join([f"batch {batch.id}: these answers were not used:", *faults[:_MOST_FAULTS_TOLD], *more])
            warnings.warn(told, InputWarning, stacklevel=2)
        judgments: list[Judgment] = []
        for name in note.unread:
            if name not in self._todo:
                continue
            try:
                judgments.append(await self._replay.judgment(self._todo[name], answers.get(name, []), batch))
            except ChatError as error:
                self._summary.failed[cause_of(error)] += 1
                self._last = error
                self._stopped = self._stopped or (error if error.kind == "stop" else None)
        self._keep(judgments)
        # Of a batch that failed as a whole nothing is left for another plan either.
        others = [] if batch.status == "failed" else [name for name in note.unread if name not in self._todo]
        self._notes.settle(note, others)

    def _keep(self, judgments: Sequence[Judgment]) -> None:
        self._store.add_judgments(judgments)
        self._done += len(judgments)
        for judgment in judgments:
            self._summary.add(judgment)
