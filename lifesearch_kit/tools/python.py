"""The `python` tool: a model's code in Monty, an interpreter without files, network or processes, or in CPython."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sysconfig
import tempfile
from pathlib import Path
from typing import Literal

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.tools.cpython import cpython_tool
from lifesearch_kit.tools.sandbox import Sandbox
from lifesearch_kit.tools.tool import Tool, function_schema

SECONDS = 10.0
MEMORY_BYTES = 64 * 1024 * 1024
CPYTHON_MEMORY_BYTES = 1024 * 1024 * 1024
OUTPUT_BYTES = 20_000
# Beyond the seconds that the interpreter counts itself: then its process is killed.
_GRACE_SECONDS = 5.0
_OUTCOME = re.compile(r"^[\d.]+[^\s\d]{1,2} ❯ ", re.M)


def python_tool(
    *,
    sandbox: Literal["monty", "bubblewrap", "none"] = "monty",
    persistent: bool = False,
    seconds: float = SECONDS,
    memory_bytes: int | None = None,
) -> Tool:
    """Code execution within limits of time, memory and output.

    Where pydantic-monty is not installed, each call in Monty raises ToolError: there is no fallback without a sandbox.

    Parameters
    ----------
    sandbox
        ``monty``: an interpreter of a part of Python, anywhere. ``bubblewrap``: CPython with numpy, pandas and scipy in
        namespaces of Linux. ``none``: CPython as a plain process with all rights of this user; whatever a model, or a
        page that it read, makes it write can read your files and keys and use your network. Only for a machine that
        holds nothing to lose.
    persistent
        Whether names, imports and files stay from call to call of a run (not in Monty). Such a tool is used through its
        `open`; otherwise every call starts with nothing.
    seconds
        Wall-clock time of a call.
    memory_bytes
        64 MiB in Monty and 1 GiB in bubblewrap where it is not given; not for ``none``, which has no such limit.

    Raises
    ------
    InputError
        For settings that do not go together, and where bubblewrap is absent or, tried out, lets something through.
    """
    if sandbox not in ("monty", "bubblewrap", "none"):
        raise InputError(f"sandbox {sandbox!r} of the python tool: choose from monty, bubblewrap, none")
    if sandbox == "none" and memory_bytes is not None:
        raise InputError("memory_bytes of the python tool: a plain process has no such limit; leave it out")
    if sandbox != "monty":
        limit = CPYTHON_MEMORY_BYTES if memory_bytes is None else memory_bytes
        return cpython_tool(Sandbox(sandbox, seconds, limit, persistent))
    if persistent:
        raise InputError("persistent: true of the python tool: Monty keeps nothing; choose sandbox: bubblewrap")
    limit = MEMORY_BYTES if memory_bytes is None else memory_bytes

    async def python(code: str) -> str:
        return await _run(code, seconds, limit)

    return Tool("python", function_schema("python"), python, backend="Monty")


async def _run(code: str, seconds: float, memory_bytes: int) -> str:
    # Its own program, not the Python binding: the binding's threads now and then abort a Python process as it ends.
    program = shutil.which("monty", path=sysconfig.get_path("scripts"))
    if program is None:
        raise ToolError("the python tool is off here: the package pydantic-monty is not installed")
    limits = ["--max-feed-duration", str(seconds), "--max-memory", str(memory_bytes), "--max-sleep", "0"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "main.py").write_text(code, encoding="utf-8")
        try:
            process = await asyncio.create_subprocess_exec(
                program,
                *limits,
                "main.py",
                cwd=folder,
                env={name: value for name, value in os.environ.items() if name == "SYSTEMROOT"},
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
        except (OSError, NotImplementedError) as error:
            raise ToolError(f"the python tool is off here: its interpreter does not start ({error})") from None
        printed, told = await _observe(process, seconds + _GRACE_SECONDS)
    return _outcome(printed, told, process.returncode)


async def _observe(process: asyncio.subprocess.Process, seconds: float) -> tuple[str, str]:
    try:
        async with asyncio.timeout(seconds):
            printed, told = await asyncio.gather(_read(process.stdout, process), _read(process.stderr, process))
            await process.communicate()  # not wait(): what a stopped program left in its pipes would hold up its end
    except TimeoutError:
        raise ToolError(f"the program was stopped after {seconds:g} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
        # What is left in the pipes must be read, or their transports outlive the event loop.
        await process.communicate()
    return printed, told


async def _read(stream: asyncio.StreamReader | None, process: asyncio.subprocess.Process) -> str:
    """Everything up to the limit; a program that goes on beyond it is stopped."""
    collected = bytearray()
    while stream is not None and len(collected) <= OUTPUT_BYTES:
        chunk = await stream.read(OUTPUT_BYTES)
        if not chunk:
            return collected.decode("utf-8", "replace")
        collected += chunk
    if process.returncode is None:
        process.kill()
    shown = collected[:OUTPUT_BYTES].decode("utf-8", "ignore")
    return f"{shown}\n(Stopped: more than {OUTPUT_BYTES} bytes of output; print less.)"


def _outcome(printed: str, told: str, code: int | None) -> str:
    """What was printed, then the value of the last expression. Raises ToolError for a failure."""
    outcome = _OUTCOME.search(told)
    value = ""
    if outcome:
        value = told[outcome.end() :].removeprefix("error:").strip()
        told = told[: outcome.start()]
    shown = "\n".join(part for part in (printed.rstrip("\n"), told.strip(), "" if value == "None" else value) if part)
    if code != 0:
        raise ToolError(shown or f"the program ended with code {code}")
    return shown or "(The program printed nothing; print what you want to see.)"
