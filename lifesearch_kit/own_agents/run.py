"""One run of an agent of one's own, under the same limits, tools and records as the kit's harness."""

from __future__ import annotations

import asyncio
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lifesearch_kit.agent.agent import final_status, opened
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import ChatError
from lifesearch_kit.fields import Amount, Count, Notes
from lifesearch_kit.own_agents import process
from lifesearch_kit.own_agents.calls import AgentError, Calls
from lifesearch_kit.own_agents.functions import AgentFunction, load_function, told_to
from lifesearch_kit.own_agents.settings import OwnAgent
from lifesearch_kit.records import Record, Report, ReportStatus, Task
from lifesearch_kit.redaction import redact_secrets
from lifesearch_kit.rows import Row, fault
from lifesearch_kit.text import repair
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import Step, Transcript


class Handed(Record):
    """What an agent may say in its report; all else in the kit's Report is the kit's own count.

    `status` is how the agent ended where it knows better: ``refused``, ``asked_back``, ``truncated``, or the limit of
    its own that it met. ``answered`` and ``empty`` go without saying: the text decides, as in the harness. Counts are
    of the whole run, None where they are not known; `cost` is in the currency of the profile's prices.
    """

    text: str
    status: ReportStatus = "answered"
    iterations: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    cost: Amount | None = None
    model: str | None = None
    notes: Notes = ()


async def run_own_agent(
    task: Task,
    agent: OwnAgent,
    tools: Sequence[Tool],
    *,
    run: int,
    today: date,
    function: AgentFunction | None = None,
) -> tuple[Report, Transcript]:
    """Let an agent of one's own work on one task until it hands over its report or its time is up.

    Parameters
    ----------
    task
        The agent gets it without rubrics and metadata.
    function
        The agent's function where it is loaded already (see `lifesearch_kit.own_agents.require_agents`).

    Returns
    -------
    tuple of Report and Transcript
        A step of the transcript is one tool call, the last one the report. Where the time was up, the text is the
        draft that was there.

    Raises
    ------
    ChatError
        When the agent fails (exception, exit code, broken protocol), or the service behind a tool never answered: there
        is no report then, and the run is to be made again.
    InputError
        When the agent's function cannot be loaded.
    """
    shown = task.model_copy(update={"rubrics": (), "metadata": {}})
    async with opened(tools) as own:
        calls = Calls(own)
        work = _Work(agent, calls, shown, {"today": today, "run": run})
        try:
            said = await work.outcome([tool.schema for tool in own], function)
        except AgentError as error:
            raise ChatError(agent.redact(f"agent {agent.name!r} {error}"), error.kind) from error
    calls.require_tools()
    limit: ReportStatus | None = "time_limit" if work.seconds >= agent.max_seconds else None
    results = calls.results
    report = Report(
        **said.model_dump(exclude={"text", "status", "notes"}),
        text=redact_secrets(said.text),
        system=agent.name,
        task_id=task.task_id,
        run=run,
        status=_status(said, limit, task.query),
        tool_calls=dict(Counter(one.tool for one in results)),
        failed_tool_calls=dict(Counter(one.tool for one in results if not one.ok)),
        seconds=work.seconds,
        tool_seconds=calls.tool_seconds,
        notes=(*map(agent.redact, said.notes), *work.notes),
    )
    return report, _transcript(report, task.query, calls.steps(), "draft" if limit else "report")


@dataclass
class _Work:
    """An agent at work on one task, within its time."""

    agent: OwnAgent
    calls: Calls
    task: Task
    told: dict[str, Any]
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    async def outcome(self, schemas: list[dict[str, Any]], function: AgentFunction | None) -> Handed:
        """What the agent hands over by itself, or has when its time is up."""
        started = time.perf_counter()
        async with AsyncExitStack() as stack:
            talk: process.Conversation | None = None
            if self.agent.command:
                opening = self._opening(schemas)
                conversation = process.conversation(self.agent, opening, self.calls.answer)
                talk = await stack.enter_async_context(conversation)
                work: asyncio.Task[Any] = asyncio.create_task(talk.report())
            else:
                work = asyncio.create_task(self._call(function or load_function(self.agent.function or "")))
            # Where nobody asks for its outcome any more, its failure is nobody's business either.
            work.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
            try:
                both = {work, self.calls.given_up}
                await asyncio.wait(both, timeout=self.agent.max_seconds, return_when=asyncio.FIRST_COMPLETED)
                self.seconds = time.perf_counter() - started
                if self.calls.given_up.done():
                    raise self.calls.given_up.result()
                if not work.done():
                    return self._read(await self._last_words(work, talk))
                if work.cancelled():
                    raise AgentError("cancelled itself")
                return self._read(work.result())
            finally:
                self.calls.close()
                await _cancel(work)

    def _opening(self, schemas: list[dict[str, Any]]) -> dict[str, Any]:
        task = self.task.model_dump(mode="json", include={"task_id", "language", "query", "cutoff"})
        return {"task": task, "today": self.told["today"].isoformat(), "run": self.told["run"], "tools": schemas}

    async def _call(self, function: AgentFunction) -> Any:
        told = {name: self.told[name] for name in told_to(function)}
        try:
            return await function(self.task, self.calls.tools(), **told)
        except (Exception, SystemExit) as raised:  # Somebody's own code may fail in any way.
            error: BaseException = raised
            while isinstance(error, BaseExceptionGroup):
                error = error.exceptions[0]
            place = traceback.extract_tb(error.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            kind = error.kind if isinstance(error, ChatError) else "transient"
            raise AgentError(f"failed with {type(error).__name__}: {error} ({where})", kind) from error

    async def _last_words(self, work: asyncio.Task[Any], talk: process.Conversation | None) -> Any:
        """The time is up: a function is cancelled, and what it returns then is its draft; a process is asked to end."""
        self.calls.close()
        await _cancel(work)
        if not work.done():
            self.notes += ("the agent went on when its time was up, and could not be stopped",)
        elif not work.cancelled() and work.exception() is None:
            return work.result()
        return await talk.last_words() if talk else ""

    def _read(self, said: Any) -> Handed:
        if isinstance(said, Report):
            said = {name: getattr(said, name) for name in Handed.model_fields} | {"notes": list(said.notes)}
        values, halves = repair({"text": said} if isinstance(said, str) else said)
        if not isinstance(values, dict):
            raise AgentError(f"returned {type(said).__name__}; return a Report or its text")
        if halves:
            self.notes += (f"{halves} lone surrogate(s) in the report were replaced",)
        try:
            return Handed.model_validate(values)
        except ValidationError as error:
            faults = [fault(Row("report", values), Handed, one) for one in error.errors(include_url=False)]
            raise AgentError(f"handed over a report that cannot be used: {'; '.join(faults)}") from None


async def _cancel(work: asyncio.Task[Any]) -> None:
    if not work.done():
        work.cancel()
        await asyncio.wait({work}, timeout=process.GRACE_SECONDS)


def _status(said: Handed, limit: ReportStatus | None, question: str) -> ReportStatus:
    """As the harness would see a last message that says the same."""
    if said.status == "asked_back":
        return said.status
    own_limit = said.status if said.status.endswith("_limit") else None
    last = Reply(
        {},
        said.text,
        finish_reason="length" if said.status == "truncated" else None,
        refusal=said.status if said.status == "refused" else None,
    )
    return final_status(limit or own_limit, last, question)


def _transcript(report: Report, question: str, steps: list[Step], what: str) -> Transcript:
    if report.text:
        message = {"role": "assistant", "content": report.text}
        steps = [*steps, Step(number=len(steps) + 1, message=message, finish_reason=what)]
    return Transcript(
        system=report.system,
        task_id=report.task_id,
        run=report.run,
        system_prompt="",
        question=question,
        steps=tuple(steps),
    )
