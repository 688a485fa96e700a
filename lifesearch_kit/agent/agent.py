"""The agent: decide, run tools, observe, until the report (a ReAct loop). How calls are written is the protocol's."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import date

from lifesearch_kit import prompts
from lifesearch_kit.agent.checkpoints import Checkpoint
from lifesearch_kit.agent.clarification import asks_back
from lifesearch_kit.agent.loop import Loop
from lifesearch_kit.agent.text_protocol import TextProtocol
from lifesearch_kit.agent.tool_calls import LAST_TURN_PROMPT, ToolCallsProtocol
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import ChatError
from lifesearch_kit.records import Report, ReportStatus, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool
from lifesearch_kit.transcripts import Transcript

SYSTEM_PROMPT = "agent_system"
_CALLS_TO_WAIT_FOR = 3


async def research(
    task: Task,
    system: SystemSettings,
    chat: Chat,
    tools: Sequence[Tool],
    *,
    run: int,
    today: date,
    checkpoint: Checkpoint | None = None,
) -> tuple[Report, Transcript]:
    """Let a model work on one task until it writes its report or meets a limit.

    At a limit of the system (steps, output tokens, cost, seconds) it is told so and gets one more turn without tools.
    Where the endpoint says that the conversation no longer fits into the model's context, the older half of what tools
    brought is taken out (see `lifesearch_kit.agent.conversation.Conversation.shorten`) and the model asked again, as
    often as there is something to take; the notes say so. A conversation that is still too long, or that the
    endpoint's moderation turns down, ends without a report.

    Parameters
    ----------
    checkpoint
        Steps that an interrupted run has finished are taken from here, and each new one is kept here.

    Returns
    -------
    tuple of Report and Transcript
        `iterations` counts model decisions: each may hold several tool calls or the final answer. Token counts are sums
        over all of them, None where one is unknown.

    Raises
    ------
    ChatError
        When the endpoint gives no usable reply, or the service behind a tool never answered (network, key, quota):
        there is no report then, and the run is to be made again. It goes on from its checkpoint, unless that is what
        would fail again.
    """
    kept = checkpoint or Checkpoint()
    async with opened(tools) as own:
        protocol = _protocol(system, own)
        prompt = prompts.render(SYSTEM_PROMPT, today=today.isoformat())
        prompt = "\n".join(filter(None, [prompt, protocol.instructions]))
        loop = Loop(task, system, chat, own, run, protocol, prompt, kept)
        if loop.progress.replies:
            lost = "; names and files of its programs were lost" if any(tool.open for tool in tools) else ""
            loop.notes.append(f"went on after an interruption behind step {len(loop.progress.replies)}{lost}")
        begun = len(loop.progress.replies)
        try:
            return await _run(loop), loop.transcript()
        except ChatError as error:
            # What is refused behind the same steps once more, these steps are to blame for.
            if error.kind == "request" and begun == len(loop.progress.replies):
                kept.remove()
            error.cost = loop.progress.paid() - loop.progress.paid(begun)
            raise


async def _run(loop: Loop) -> Report:
    try:
        while not loop.ended:
            loop.require_tools(calls=_CALLS_TO_WAIT_FOR)
            await loop.step(loop.limit() if loop.progress.replies or loop.timed_out else None)
    except ChatError as error:
        if error.cause is None:
            raise
        status: ReportStatus = "refused" if error.cause == "refused" else "token_limit"
        return loop.report("", status, str(error))
    loop.require_tools(calls=1)
    last = loop.progress.replies[-1]
    return loop.report(last.text, final_status(loop.met, last, loop.task.query))


@asynccontextmanager
async def opened(tools: Sequence[Tool]) -> AsyncIterator[list[Tool]]:
    """The tools of one run: those that keep something within a run are opened for it, and closed after."""
    async with AsyncExitStack() as stack:
        yield [await stack.enter_async_context(tool.open()) if tool.open else tool for tool in tools]


def prompt_names(system: SystemSettings) -> tuple[str, ...]:
    """The prompts that a system's runs use."""
    return (SYSTEM_PROMPT, LAST_TURN_PROMPT, *_protocol(system, ()).prompt_names)


def _protocol(system: SystemSettings, tools: Sequence[Tool]) -> ToolCallsProtocol | TextProtocol:
    if system.protocol == "tool_calls":
        return ToolCallsProtocol(tools)
    return TextProtocol(tools, constrained=system.protocol == "constrained_text")


def final_status(limit: ReportStatus | None, last: Reply, question: str = "") -> ReportStatus:
    """How a run ended: refusals and questions back first, then a limit, then what the last message says by itself.

    A blank message that was cut at the output limit met that limit before any answer.
    """
    if last.is_refused:
        return "refused"
    if not last.text.strip():
        return limit or ("token_limit" if last.is_truncated else "empty")
    if asks_back(last.text, question):
        return "asked_back"
    return limit or ("truncated" if last.is_truncated else "answered")
