"""A model server on loopback as a child process that never outlives the one that started it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import httpx

from lifesearch_kit.errors import InputError, KitError
from lifesearch_kit.local.install import EVERYTHING, install_command

READY_SECONDS = 300.0
_STOP_SECONDS = 2.0
_LINES_SHOWN = 5


class LocalServerError(KitError):
    """The server on this machine did not start, does not answer, or died."""


@dataclass(frozen=True)
class RunningServer:
    """A server that answers.

    Attributes
    ----------
    address
        Its OpenAI-compatible base address, which ends in ``/v1``.
    process
        The child process.
    log
        What the child printed.
    """

    address: str
    process: subprocess.Popen[bytes]
    log: Path

    def death(self) -> str | None:
        """How the child ended, in a few words; None while it runs."""
        code = self.process.poll()
        return None if code is None else _ending(code)


def usable_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def require_server_package(requirements: str = EVERYTHING) -> None:
    """Raise InputError unless the package of the model server is installed; `requirements` is what the user needs."""
    if find_spec("xllamacpp") is None:
        raise InputError(
            f"the model server xllamacpp is not installed: {install_command(requirements)}; where it has no wheel for "
            "the machine, start another OpenAI-compatible server and name its address with --server"
        )


def serve_command(model: Path, *, name: str, threads: int, slots: int, port: int = 0) -> list[str]:
    """The command line that serves a GGUF file.

    Parameters
    ----------
    name
        What requests call the model.
    slots
        Requests that are answered at once; each has a context of its own.
    port
        0 takes a free one.
    """
    options = {"name": name, "threads": threads, "slots": slots, "port": port}
    # One word each: a name may begin with a dash.
    words = [f"--{option}={value}" for option, value in options.items()]
    return [sys.executable, "-m", "lifesearch_kit.local.serve", *words, "--", str(model)]


def require_free_port(port: int) -> None:
    """Raise InputError when something listens already at this port of loopback."""
    with socket.socket() as trial:
        if os.name == "posix":
            # A port that a stopped server has just left counts as free.
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError as error:
            raise InputError(
                f"port {port} of 127.0.0.1 cannot be used ({error.strerror}); choose another with --port, or leave "
                "it out to have a free one"
            ) from None


@contextmanager
def running_server(
    command: Sequence[str], log: Path, *, ready_seconds: float = READY_SECONDS
) -> Iterator[RunningServer]:
    """Start a server, wait until it answers, and stop it whatever happens.

    To be called from the main thread, with whose end the server ends on Linux.

    Parameters
    ----------
    command
        Prints its address in one line, serves, and ends when its standard input does, so that it also stops when this
        process is killed.
    log
        Holds what the child prints besides; each start overwrites it.

    Raises
    ------
    LocalServerError
        When the log cannot be written, when the child dies at the start or is not ready in time, with the last lines
        of its log.
    """
    deadline = time.monotonic() + ready_seconds
    process = _started(command, log)
    try:
        address = _announced(process, deadline)
        if address is None or not _answers(address, process, deadline):
            raise LocalServerError(_failed_start(process, log, ready_seconds))
        yield RunningServer(f"{address}/v1", process, log)
    finally:
        _stop(process)


def _started(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    try:
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("wb") as sink:
            return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sink)
    except OSError as error:
        raise LocalServerError(
            f"the model server cannot be started: {error.filename or log}: {error.strerror}; correct that and run again"
        ) from None


def _announced(process: subprocess.Popen[bytes], deadline: float) -> str | None:
    lines: list[bytes] = []

    def read() -> None:
        if process.stdout is not None:
            lines.append(process.stdout.readline())

    # Not every platform can wait at a pipe for a bounded time; a thread can be waited for.
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(deadline - time.monotonic())
    return (lines[0].decode(errors="replace").strip() if lines else "") or None


def _answers(address: str, process: subprocess.Popen[bytes], deadline: float) -> bool:
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(f"{address}/health", timeout=5, trust_env=False).is_success:
                return True
        except httpx.HTTPError:
            pass
        time.sleep(0.05)
    return False


def _failed_start(process: subprocess.Popen[bytes], log: Path, ready_seconds: float) -> str:
    try:
        # A child that closes its output without an address is about to end.
        ending = _ending(process.wait(1))
    except subprocess.TimeoutExpired:
        ending = f"did not answer within {ready_seconds:g} s"
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-_LINES_SHOWN:]
    shown = "\n".join(["; its last lines:", *lines]) if lines else " (it printed nothing)"
    return f"the model server {ending} at its start; its log is {log}{shown}"


def _ending(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
    return f"was killed by {name}" + (" (memory may have run out)" if name == "SIGKILL" else "")


def _stop(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(_STOP_SECONDS)
    except subprocess.TimeoutExpired:
        pass
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()
