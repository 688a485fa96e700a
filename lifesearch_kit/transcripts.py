"""What a run leaves behind beside its report: every decision, tool call and result."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from lifesearch_kit.fields import Count, Id, Notes, Said
from lifesearch_kit.records import Record


class ToolResult(Record):
    """One tool call of a step and what came back; `service_failed`: network, key or quota kept it from an answer."""

    call_id: str
    tool: str
    arguments: Said
    content: Said
    ok: bool
    service_failed: bool = False
    seconds: float = 0.0


class Step(Record):
    """One model decision: the assistant's message as received, and the results of the tools it called.

    `seconds` are the decision's, `tool_seconds` the wall time of all its calls side by side. `estimated`: the endpoint
    reported no usage, so tokens were counted here.
    """

    number: int
    message: dict[str, Any]
    results: Annotated[tuple[ToolResult, ...], Field(strict=False)] = ()
    finish_reason: str | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    estimated: bool = False
    seconds: float = 0.0
    tool_seconds: float = 0.0
    notes: Notes = ()


class Transcript(Record):
    """One run of an agent, step by step."""

    system: Id
    task_id: Id
    run: int
    system_prompt: str
    question: str
    steps: Annotated[tuple[Step, ...], Field(strict=False)]
