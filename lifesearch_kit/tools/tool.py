"""What a tool is, and how a model's arguments for it are read."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass
from typing import Any

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.records import Task
from lifesearch_kit.text import repair

_QUOTED = 200
_DECODER = json.JSONDecoder()
_TYPES: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}
_PARAMETERS: dict[str, tuple[str, dict[str, dict[str, Any]], list[str]]] = {
    "search": (
        "Search the web. Returns a numbered list of results with title, address, date where known, and a snippet.",
        {"query": {"type": "string", "description": "What to search for, in the language of the sources wanted."}},
        ["query"],
    ),
    "fetch": (
        "Read one web page or document as text. Long ones come in numbered pages.",
        {
            "url": {"type": "string", "description": "The full address, starting with http:// or https://."},
            "page": {"type": "integer", "description": "Which page of a long text, from 1.", "default": 1},
        },
        ["url"],
    ),
    "python": (
        "Run a short Python program for calculations. Returns what it prints and the value of its last expression. "
        "Each call starts afresh. There are no files, no network and no third-party packages.",
        {"code": {"type": "string", "description": "The program."}},
        ["code"],
    ),
}


def function_schema(name: str) -> dict[str, Any]:
    """The function schema of one of the kit's three tools, as chat-completions requests carry it.

    Raises
    ------
    InputError
        When the kit has no tool of that name.
    """
    if name not in _PARAMETERS:
        raise InputError(f"the kit has no tool {name!r}; choose from {', '.join(_PARAMETERS)}")
    description, properties, required = _PARAMETERS[name]
    parameters = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"type": "function", "function": {"name": name, "description": description, "parameters": parameters}}


@dataclass(frozen=True)
class Tool:
    """One tool.

    Parameters
    ----------
    name
        The name that the model calls.
    schema
        A chat-completions function schema.
    call
        Takes the schema's properties as keyword arguments, returns text, raises ToolError on failure.
    backend
        What answers. Reports made with another backend are other reports.
    open
        For a tool that keeps state within a run: opens that run's own.
    """

    name: str
    schema: dict[str, Any]
    call: Callable[..., Awaitable[str]]
    backend: str = ""
    open: Callable[[], AbstractAsyncContextManager[Tool]] | None = None

    async def run(self, arguments: Any) -> str:
        """Call the tool with a model's arguments, normally a string of JSON.

        Raises
        ------
        ToolError
            When the arguments do not fit the schema (the message says what does), when the tool fails, and when it
            returns something else than text.
        """
        content: object = await self.call(**self.read_arguments(arguments))
        if not isinstance(content, str):
            raise ToolError(f"{self.name} returned {type(content).__name__} instead of text")
        return content

    def read_arguments(self, arguments: Any) -> dict[str, Any]:
        """Check a model's arguments against the schema: one object, known names, all required ones, fitting types.

        Raises
        ------
        ToolError
            Naming what is wrong and what the tool expects.
        """
        values = self._parse(arguments)
        parameters = self.schema["function"].get("parameters") or {}
        properties = parameters.get("properties", {})
        values = {name: _as_meant(value, properties.get(name, {})) for name, value in values.items()}
        faults = [f"there is no argument {name!r}" for name in values if name not in properties]
        faults += [f"{name!r} is missing" for name in parameters.get("required", []) if name not in values]
        faults += [
            f"{name!r} must be of type {properties[name]['type']}, not {value!r:.{_QUOTED}}"
            for name, value in values.items()
            if not _fits(value, properties.get(name, {}).get("type"))
        ]
        if faults:
            raise ToolError(f"{'; '.join(faults)}. {self._expects()}")
        return values

    def _parse(self, arguments: Any) -> dict[str, Any]:
        values = arguments
        if values is None or (isinstance(values, str) and not values.strip()):
            values = "{}"
        if isinstance(values, str):
            try:
                values = _read_json(values)
            except (ValueError, RecursionError) as error:
                shown = str(arguments)[:_QUOTED]
                raise ToolError(f"the arguments are no JSON ({error}): {shown}. {self._expects()}") from None
        if not isinstance(values, dict):
            raise ToolError(f"the arguments are no JSON object: {str(arguments)[:_QUOTED]}. {self._expects()}")
        return repair(values)[0]

    def _expects(self) -> str:
        parameters = self.schema["function"].get("parameters") or {}
        required = parameters.get("required", [])
        names = [
            f"{name} ({rule.get('type', 'any type')}{'' if name in required else ', optional'})"
            for name, rule in parameters.get("properties", {}).items()
        ]
        return f"Call {self.name} with one JSON object holding {', '.join(names) or 'nothing'}"


def _read_json(text: str) -> Any:
    """The value of a text, also where it is written several times over, or as JSON inside a JSON string.

    Raises ValueError for text that is no JSON, or holds anything beside that value.
    """
    text = text.strip()
    value, end = _DECODER.raw_decode(text)
    if text.replace(text[:end], "").strip():
        raise ValueError("something else follows the first object; make one call for each")
    if isinstance(value, str):
        with suppress(ValueError, RecursionError):
            value = json.loads(value)
    return value


def _as_meant(value: Any, rule: dict[str, Any]) -> Any:
    """A lone text where a list of texts is wanted, as the list that it is written as, or as a list of one."""
    if not isinstance(value, str) or rule.get("type") != "array" or rule.get("items", {}).get("type") != "string":
        return value
    with suppress(ValueError, RecursionError):
        written = json.loads(value)
        if isinstance(written, list):
            return written
    return [value]


def _fits(value: Any, type_name: str | None) -> bool:
    if type_name not in _TYPES:
        return True
    return isinstance(value, _TYPES[type_name]) and (type_name == "boolean" or not isinstance(value, bool))


# The same tools for all tasks, or what gives those of a task.
Tools = Sequence[Tool] | Callable[[Task], Sequence[Tool]]


def tools_for(tools: Tools, task: Task) -> Sequence[Tool]:
    """The tools that agents get for a task."""
    return tools(task) if callable(tools) else tools
