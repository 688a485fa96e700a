"""The `python` tool in CPython with numpy, pandas and scipy: schema, backend, one interpreter a call or a run."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from typing import Any

from lifesearch_kit.errors import InputError
from lifesearch_kit.tools.interpreter import OUTPUT_BYTES, Interpreter
from lifesearch_kit.tools.packages import PACKAGES, versions
from lifesearch_kit.tools.probe import require_confinement
from lifesearch_kit.tools.sandbox import FILES_BYTES, Sandbox, require_posix
from lifesearch_kit.tools.tool import Tool, function_schema

_MIB = 1024 * 1024


def cpython_tool(sandbox: Sandbox) -> Tool:
    """Code execution in CPython within a sandbox that was tried on this machine, or, for ``none``, in a plain process.

    A persistent one is used through its `open`, which gives a run its own interpreter: started with the first call,
    ended with the run.

    Raises
    ------
    InputError
        When the sandbox is not there or lets anything through here.
    """
    if sandbox.kind == "bubblewrap":
        require_confinement(sandbox)
    else:
        require_posix()

    async def once(code: str) -> str:
        with closing(Interpreter(sandbox)) as interpreter:
            return await interpreter.call(code)

    async def unopened(code: str) -> str:
        raise InputError("this python tool keeps state within a run: enter its open() and call the tool that it gives")

    @asynccontextmanager
    async def opened() -> AsyncIterator[Tool]:
        with closing(Interpreter(sandbox)) as interpreter:
            yield replace(tool, call=interpreter.call, open=None)

    call, opener = (unopened, opened) if sandbox.persistent else (once, None)
    tool = Tool("python", _schema(sandbox), call, _backend(sandbox), opener)
    return tool


def _schema(sandbox: Sandbox) -> dict[str, Any]:
    schema = function_schema("python")
    *names, last = PACKAGES
    if sandbox.persistent:
        state = "Variables, imports and files stay for your later calls."
    else:
        state = "Each call starts afresh, without the variables and files of earlier ones."
    if sandbox.kind == "bubblewrap":
        reach = (
            "Files can be written in the working folder, /work, and nothing else of a computer is there: no network, "
            "no other programs, no threads."
        )
    else:
        reach = "Files can be written in the working folder."
    schema["function"]["description"] = (
        "Run a Python program for calculations. Returns what it prints and the value of its last expression. "
        f"{state} {', '.join(names)} and {last} can be imported. {reach} A call is stopped after {sandbox.seconds:g} "
        f"seconds, and {OUTPUT_BYTES} bytes of its output are shown."
    )
    return schema


def _backend(sandbox: Sandbox) -> str:
    """The sandbox and all that can change what a program does in it."""
    limits = [f"{sandbox.seconds:g} s", f"{OUTPUT_BYTES} bytes of output"]
    if sandbox.kind == "bubblewrap":
        limits += [f"{sandbox.memory_bytes / _MIB:g} MiB of memory", f"{FILES_BYTES // _MIB} MiB of files"]
    name = "bubblewrap" if sandbox.kind == "bubblewrap" else "NO SANDBOX (plain process)"
    state = "one interpreter a run" if sandbox.persistent else "one interpreter a call"
    return f"{name}: {versions()}; {state}; {', '.join(limits)}"
