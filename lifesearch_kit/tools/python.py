"""The `python` tool: a model's code in the Monty interpreter, which has no files, network or processes."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sysconfig
import tempfile
from pathlib import Path

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools.tool import Tool, function_schema

SECONDS = 10.0
MEMORY_BYTES = 64 * 1024 * 1024
OUTPUT_BYTES = 20_000
# Beyond the seconds that the interpreter counts itself: then its process is killed.
_GRACE_SECONDS = 5.0
_OUTCOME = re.compile(r"^[\d.]+[^\s\d]{1,2} ❯ ", re.M)


def python_tool(*, seconds: float = SECONDS, memory_bytes: int = MEMORY_BYTES) -> Tool:
    """Code execution within limits of time, memory and output; every call starts with nothing.

    Where pydantic-monty is not installed, each call raises ToolError: there is no fallback without a sandbox.
    """

    async def python(code: str) -> str:
        return await _run(code, seconds, memory_bytes)

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
