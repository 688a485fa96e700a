"""What one run has done so far, and what it comes to: its cost, the limit it meets, its report and transcript."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from lifesearch_kit.agent.checkpoints import FinishedStep
from lifesearch_kit.agent.tool_calls import Turn
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.chat.usage import Usage, cost, total
from lifesearch_kit.records import Report, ReportStatus, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.transcripts import Step, ToolResult, Transcript


class Progress:
    """The finished steps of one run.

    Parameters
    ----------
    task, system, run
        As for `lifesearch_kit.agent.agent.research`.
    """

    def __init__(self, task: Task, system: SystemSettings, run: int) -> None:
        self.task, self.system, self.run = task, system, run
        self.replies: list[Reply] = []
        self.results: list[ToolResult] = []
        self._failed: dict[str, None] = {}
        self._done: list[tuple[Turn, FinishedStep]] = []

    def add(self, turn: Turn, done: FinishedStep) -> None:
        """Count one more step."""
        self.replies.append(turn.answer)
        self.results += done.results
        self._failed |= dict.fromkeys(one.tool for one in done.results if one.service_failed)
        self._done.append((turn, done))

    def limit(self) -> ReportStatus | None:
        """The limit that is reached, if any, time aside."""
        system = self.system
        if len(self.replies) >= system.max_steps:
            return "step_limit"
        most = system.max_output_tokens_total
        if most is not None and sum(one.output_tokens or 0 for one in self._least_usages()) >= most:
            return "token_limit"
        return "cost_limit" if system.max_cost is not None and self.paid() >= system.max_cost else None

    def paid(self, steps: int | None = None) -> float:
        """What the decisions so far, or the first ones, cost at least."""
        return sum(cost(one, self.system) or 0.0 for one in list(self._least_usages())[:steps])

    def _least_usages(self) -> Iterator[Usage]:
        for reply in self.replies:
            usage = reply.usage
            yield usage if usage.output_tokens is not None else replace(usage, output_tokens=usage.least_output)

    def never_worked(self, calls: int) -> ToolResult | None:
        """The last result of a tool that was called so often at least and whose service failed every time, if any."""
        for tool in self._failed:
            own = [one for one in self.results if one.tool == tool]
            if len(own) >= calls and all(one.service_failed for one in own):
                return own[-1]
        return None

    def report(self, text: str, status: ReportStatus, seconds: float, notes: Sequence[str]) -> Report:
        """The run as a report; `notes` are of the whole run, and follow those of its steps."""
        return Report(
            system=self.system.name,
            task_id=self.task.task_id,
            run=self.run,
            text=text,
            status=status,
            iterations=len(self.replies),
            input_tokens=total([reply.usage.input_tokens for reply in self.replies]),
            output_tokens=total([reply.usage.output_tokens for reply in self.replies]),
            reasoning_tokens=total([reply.usage.reasoning_tokens for reply in self.replies]),
            tool_calls=dict(Counter(one.tool for one in self.results)),
            failed_tool_calls=dict(Counter(one.tool for one in self.results if not one.ok)),
            estimated_steps=sum(reply.usage.estimated for reply in self.replies),
            seconds=seconds,
            model_seconds=sum(reply.seconds for reply in self.replies),
            tool_seconds=sum(done.tool_seconds for _, done in self._done),
            cost=total([cost(reply.usage, self.system) for reply in self.replies]),
            model=self.replies[-1].model if self.replies else None,
            notes=(*self._notes(), *notes),
        )

    def transcript(self, system_prompt: str) -> Transcript:
        """Everything that was said and done."""
        return Transcript(
            system=self.system.name,
            task_id=self.task.task_id,
            run=self.run,
            system_prompt=system_prompt,
            question=self.task.query,
            steps=tuple(_step(number, *one) for number, one in enumerate(self._done, start=1)),
        )

    def _notes(self) -> list[str]:
        alike: dict[str, list[str]] = {}
        for note in (note for one in self._done for note in _step_notes(*one)):
            alike.setdefault(re.sub(r"\d+", "#", note), []).append(note)
        notes = [ones[0] if len(ones) == 1 else f"{ones[0]} ({len(ones)} steps)" for ones in alike.values()]
        models = sorted({reply.model for reply in self.replies if reply.model})
        if len(models) > 1:
            notes.append(f"more than one model answered: {', '.join(models)}")
        return notes


def _step(number: int, turn: Turn, done: FinishedStep) -> Step:
    reply = turn.answer
    return Step(
        number=number,
        message=turn.message,
        results=tuple(done.results),
        finish_reason=reply.finish_reason,
        input_tokens=reply.usage.input_tokens,
        output_tokens=reply.usage.output_tokens,
        reasoning_tokens=reply.usage.reasoning_tokens,
        estimated=reply.usage.estimated,
        seconds=reply.seconds,
        tool_seconds=done.tool_seconds,
        notes=_step_notes(turn, done),
    )


def _step_notes(turn: Turn, done: FinishedStep) -> tuple[str, ...]:
    if not done.limit:
        return turn.answer.notes
    not_run = [f"{len(turn.calls)} tool call(s) of the last turn were not run"] if turn.calls else []
    return (*turn.answer.notes, f"last turn, without tools: {done.limit}", *not_run)
