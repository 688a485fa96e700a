"""Does the python tool's bubblewrap sandbox deny on this machine what it must? Tried before it is used."""

from __future__ import annotations

import json
import os
import shutil
import socket
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

from lifesearch_kit.errors import InputError
from lifesearch_kit.tools.packages import PACKAGES
from lifesearch_kit.tools.sandbox import VARIABLES, Sandbox, Worker

_SECONDS = 60.0
_INSTEAD = "or choose sandbox: monty"
_PROGRAM = """
import importlib, json, os, socket

def forks():
    if os.fork() == 0:
        os._exit(0)

def succeeds(action, *arguments):
    try:
        action(*arguments)
    except Exception:
        return False
    return True

given = json.loads({given!r})
let_through = [f"the variable {{name}}" for name in os.environ if name not in given["variables"]]
let_through += [f"reading {{path}}" for path in given["read"] if succeeds(open, path)]
let_through += [f"writing {{path}}" for path in given["write"] if succeeds(open, path, "a")]
let_through += ["the network"] * succeeds(socket.create_connection, ("127.0.0.1", given["port"]), 1)
let_through += ["new processes"] * succeeds(forks)
missing = [name for name in given["packages"] if not succeeds(importlib.import_module, name)]
print(json.dumps({{"let_through": let_through, "missing": missing}}))
"""


@cache
def require_confinement(sandbox: Sandbox) -> None:
    """Start the sandbox once and have a program try what must fail and import what must be there.

    Raises
    ------
    InputError
        Where bubblewrap is absent, does not start, lets anything through or lacks a package; with the remedy.
    """
    if shutil.which("bwrap") is None:
        raise InputError(
            "the python tool's sandbox bubblewrap is not installed: on Linux, install it (apt-get install bubblewrap, "
            f"dnf install bubblewrap), {_INSTEAD}"
        )
    with _folder() as folder, socket.create_server(("127.0.0.1", 0)) as server:
        secret = Path(folder, "secret")
        secret.write_text("secret", encoding="utf-8")
        told = _run(sandbox, _program(secret, server.getsockname()[1]))
        server.setblocking(False)
        try:
            server.accept()[0].close()
            reached = ["the network"]
        except BlockingIOError:
            reached = []
    try:
        found = json.loads(next(line for line in told.splitlines() if line.startswith("{")))
    except (StopIteration, ValueError):
        raise InputError(
            f"the python tool's sandbox bubblewrap does not start: {told.strip()}; {_remedy(told)}"
        ) from None
    let_through = sorted({*found["let_through"], *reached})
    if let_through:
        raise InputError(
            f"the python tool's sandbox bubblewrap does not hold on this machine, it lets through: "
            f"{', '.join(let_through)}; use another machine, {_INSTEAD}"
        )
    if found["missing"]:
        raise InputError(
            f"in the python tool's sandbox bubblewrap {', '.join(found['missing'])} cannot be imported: install the "
            f"kit's packages so that everybody may read them, or give it more than {sandbox.memory_bytes} bytes of "
            f"memory, {_INSTEAD}"
        )


def _folder() -> tempfile.TemporaryDirectory[str]:
    """In the user's home where possible, as that is what must not be read."""
    home = Path.home()
    return tempfile.TemporaryDirectory(prefix=".sandbox-probe-", dir=home if os.access(home, os.W_OK) else None)


def _program(secret: Path, port: int) -> str:
    given = {
        "variables": VARIABLES,
        "read": [str(secret), str(Path(__file__)), "/etc/passwd", "/proc/self/environ", "/proc/1/environ"],
        "write": [str(secret), "/usr/lib/probe", "/python/lib/probe", "/probe", "/dev/probe"],
        "port": port,
        "packages": PACKAGES,
    }
    return _PROGRAM.format(given=json.dumps(given))


def _run(sandbox: Sandbox, program: str) -> str:
    """Everything that the sandbox says to one program."""
    try:
        worker = Worker(sandbox)
    except OSError as error:
        return f"{error}"
    received = b""
    worker.socket.settimeout(_SECONDS)
    try:
        with suppress(ConnectionError):  # where it ended at once, what it said is still to be read
            worker.socket.sendall(json.dumps({"id": "0", "code": program}).encode() + b"\n")
            worker.socket.shutdown(socket.SHUT_WR)
        while chunk := worker.socket.recv(65_536):
            received += chunk
    except OSError as error:
        received = received or str(error).encode()
    finally:
        worker.kill()
    return received.decode("utf-8", "replace")


def _remedy(told: str) -> str:
    if "nknown option" in told:
        return f"it takes bubblewrap 0.8 or newer, {_INSTEAD}"
    if "bwrap:" in told:
        return (
            "this machine or container does not let this user make namespaces and mounts. In a container, start it so "
            "that it may (docker run --cap-add SYS_ADMIN --security-opt seccomp=unconfined --security-opt "
            "apparmor=unconfined); as a plain user, have user namespaces allowed (sysctl user.max_user_namespaces, on "
            f"Ubuntu kernel.apparmor_restrict_unprivileged_userns=0); {_INSTEAD}"
        )
    return f"Python and the kit's packages must be readable there, {_INSTEAD}"
