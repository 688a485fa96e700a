"""Runs of other people's agents, kept as chat messages, as transcripts: to be viewed, and searched for leaks.

Read are JSON Lines whose rows hold `messages` with roles. Calls stand in the field for them or between ``<tool_call>``
tags of the text, results in ``tool`` messages or between ``<tool_response>`` tags of a user's, reasoning in
``reasoning_content`` or between ``<think>`` tags.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from lifesearch_kit.errors import InputError
from lifesearch_kit.rows import PathLike, Row, read_rows
from lifesearch_kit.transcripts import Step, ToolResult, Transcript

_THINK = re.compile(r"<think>(.*?)</think>\s*", re.S)
_CALL = re.compile(r"<tool_call>\s*(.*?)\s*</tool_call>\s*", re.S)
_RESPONSE = re.compile(r"<tool_response>\s*(.*?)\s*</tool_response>", re.S)
_ROLES = ("system", "user", "assistant", "tool", "developer")
_NO_RESULT = "(no result is on record)"


def read_trajectories(path: PathLike, system: str) -> list[Transcript]:
    """Read one file of trajectories.

    Parameters
    ----------
    path
        ``.jsonl`` or ``.json``. A row's id is its `task_id` or `id`, else its number from 1; rows that share one are
        runs of it. The question is what the first user message holds.
    system
        The name of the agent.

    Returns
    -------
    list of Transcript
        One a row, in their order. What the file does not say, such as times and tokens, is missing.

    Raises
    ------
    InputError
        Naming each row without messages, and each message that is none.
    """
    rows, faults = read_rows(path)
    transcripts: list[Transcript] = []
    runs: dict[str, int] = {}
    for number, row in enumerate(rows, start=1):
        wrong = _faults(row)
        if wrong:
            faults += wrong
            continue
        task_id = str(row.data.get("task_id") or row.data.get("id") or number)
        runs[task_id] = runs.get(task_id, 0) + 1
        transcripts.append(_transcript(row.data["messages"], system, task_id, runs[task_id]))
    if faults:
        raise InputError(faults)
    return transcripts


def _faults(row: Row) -> list[str]:
    messages = row.data.get("messages")
    if not isinstance(messages, list) or not messages:
        return [f"{row.place}: field 'messages' is no list of messages; each row holds one conversation"]
    return [
        f"{row.place}: message {number}: {str(one)[:60]!r} has none of the roles {', '.join(_ROLES)}"
        for number, one in enumerate(messages, start=1)
        if not isinstance(one, dict) or one.get("role") not in _ROLES
    ]


def _transcript(messages: Sequence[dict[str, Any]], system: str, task_id: str, run: int) -> Transcript:
    first = next((at for at, one in enumerate(messages) if one["role"] == "assistant"), len(messages))
    said = {role: [_text(one) for one in messages[:first] if one["role"] == role] for role in _ROLES}
    steps: list[Step] = []
    at = first
    while at < len(messages):
        message, answers = messages[at], []
        at += 1
        while at < len(messages) and messages[at]["role"] != "assistant":
            answers.append(messages[at])
            at += 1
        steps.append(_step(len(steps) + 1, message, answers))
    return Transcript(
        system=system,
        task_id=task_id,
        run=run,
        system_prompt="\n".join(said["system"] + said["developer"]),
        question="\n".join(said["user"]),
        steps=tuple(steps),
    )


def _step(number: int, message: dict[str, Any], answers: Sequence[dict[str, Any]]) -> Step:
    text = _text(message)
    reasoning = "\n".join(part.strip() for part in _THINK.findall(text))
    without = _THINK.sub("", text)
    calls = [_written_call(one) for one in _CALL.findall(without)]
    calls += [_call(one) for one in message.get("tool_calls") or []]
    shown = {**message, "content": _CALL.sub("", without).strip()}
    if reasoning:
        shown.setdefault("reasoning_content", reasoning)
    told = [part for one in answers for part in _told(one)]
    told += [_NO_RESULT] * (len(calls) - len(told))
    # One message may answer several calls at once: what is left over belongs to the last of them.
    if calls and len(told) > len(calls):
        told = [*told[: len(calls) - 1], "\n".join(told[len(calls) - 1 :])]
    results = tuple(
        ToolResult(call_id=f"call_{number}_{place}", tool=name, arguments=arguments, content=content, ok=True)
        for place, ((name, arguments), content) in enumerate(zip(calls, told, strict=False), start=1)
    )
    return Step(number=number, message=shown, results=results)


def _told(message: dict[str, Any]) -> list[str]:
    text = _text(message)
    return [text] if message["role"] == "tool" else _RESPONSE.findall(text)


def _written_call(written: str) -> tuple[str, str]:
    try:
        call = json.loads(written)
    except ValueError:
        call = None
    return _call(call) if isinstance(call, dict) else ("unknown", written)


def _call(call: Any) -> tuple[str, str]:
    call = call if isinstance(call, dict) else {}
    function = call["function"] if isinstance(call.get("function"), dict) else call
    arguments = function.get("arguments", {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return str(function.get("name") or "unknown"), written


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    parts = content if isinstance(content, list) else [content]
    return "".join(
        part if isinstance(part, str) else str(part.get("text") or "") if isinstance(part, dict) else ""
        for part in parts
    )
