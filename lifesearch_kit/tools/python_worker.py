"""The program that runs inside the python tool's sandbox: it gives its rights up, then runs one program after another.

Standard library only, since it is executed by its path. Standard input and output are one socket. A request is a line
of JSON with `id` and `code`; the reply is whatever the program prints, then a NUL, the id, `+` or `-` and a line end.
Before the first request one reply comes unasked, once all rights are given up.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import json
import linecache
import os
import resource
import site
import struct
import sys
import traceback
from types import ModuleType
from typing import Any

READY = "0" * 32
_CAPABILITY_VERSION = 0x20080522
_OPEN_FILES, _FILE_BYTES = 64, 64 * 1024 * 1024


def confine(settings: dict[str, Any]) -> None:
    """Cap the number of files in /work, give up user and capabilities, and set limits that nothing raises again."""
    libc = ctypes.CDLL(None, use_errno=True)
    # Files without content fill no tmpfs, but they do fill the kernel's memory, and bubblewrap has no option for that.
    options = f"size={settings['files_bytes']},nr_inodes={settings['files']}".encode()
    _require(libc.mount(b"none", b"/work", None, settings["remount"], options) == 0)
    if os.getuid() == 0:
        os.setgroups([])
        os.setresgid(*[settings["uid"]] * 3)
        os.setresuid(*[settings["uid"]] * 3)
    _require(libc.capset(struct.pack("=Ii", _CAPABILITY_VERSION, 0), bytes(24)) == 0)
    limits = {
        resource.RLIMIT_AS: settings["memory_bytes"],
        resource.RLIMIT_CPU: settings["cpu_seconds"],
        resource.RLIMIT_FSIZE: _FILE_BYTES,
        resource.RLIMIT_NOFILE: _OPEN_FILES,
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_MEMLOCK: 0,
        # None at all, rather than some: the kernel counts them by user, and sandboxes side by side may share one.
        resource.RLIMIT_NPROC: 0,
    }
    for limit, value in limits.items():
        resource.setrlimit(limit, (value, value))


def _require(done: bool) -> None:
    if not done:
        raise OSError(ctypes.get_errno(), f"the sandbox could not be closed: {os.strerror(ctypes.get_errno())}")


def run(code: str, label: str, names: dict[str, Any]) -> bool:
    """Run a program, show the value of its last expression or its error; whether it ended without one."""
    linecache.cache[label] = (len(code), None, [f"{line}\n" for line in code.splitlines()], label)
    try:
        program = ast.parse(code, label)
        last = program.body.pop() if program.body and isinstance(program.body[-1], ast.Expr) else None
        exec(compile(program, label, "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), label, "eval"), names)
            if value is not None:
                print(value)
    except SystemExit as error:
        if error.code not in (None, 0):
            print(f"SystemExit: {error.code}")
            return False
    except BaseException as error:
        inner = error.__traceback__.tb_next if error.__traceback__ else None
        frames = None if isinstance(error, SyntaxError) else inner
        with contextlib.suppress(ValueError):  # it closed its output
            print("".join(traceback.format_exception(type(error), error, frames)), end="")
        return False
    return True


def main() -> None:
    """Serve requests until their end."""
    settings = json.loads(sys.argv.pop())
    requests = os.fdopen(os.dup(0), "rb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if settings["confined"]:
        confine(settings)
    sys.path += settings["paths"]
    site.setquit()
    reply(READY, True)
    module = sys.modules["__main__"] = ModuleType("__main__")
    for number, line in enumerate(requests, start=1):
        request = json.loads(line)
        # Anew each time, since a program may have closed or replaced it.
        with open(1, "w", buffering=1, encoding="utf-8", errors="backslashreplace", closefd=False) as stream:
            sys.stdout = sys.stderr = stream
            succeeded = run(request["code"], f"<program {number}>", module.__dict__)
        reply(request["id"], succeeded)


def reply(request_id: str, succeeded: bool) -> None:
    """End what was printed for a request."""
    os.write(1, f"\0{request_id}{'+' if succeeded else '-'}\n".encode())


if __name__ == "__main__":
    main()
