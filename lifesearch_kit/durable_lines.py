"""Lines that are on disk when they count as written, and what a kill leaves of a line."""

from __future__ import annotations

import os
import re
import warnings
from contextlib import AbstractContextManager
from pathlib import Path

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.sqlite_files import locked

_PATIENCE_SECONDS = 60.0
_STRING = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)


def read_lines(path: Path) -> tuple[str, bytes]:
    """Read JSON Lines as far as they are whole.

    Returns
    -------
    tuple of str and bytes
        The text of the whole lines, and what stands behind them of one that was cut off.

    Raises
    ------
    InputError
        When the file cannot be read, or a whole line is no UTF-8.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); name a file that can") from None
    torn = _torn_tail(content)
    whole = content[: len(content) - len(torn)]
    try:
        return whole.decode("utf-8-sig"), torn
    except UnicodeDecodeError as error:
        line = whole[: error.start].count(b"\n") + 1
        raise InputError(f"{path}:{line}: is no UTF-8; save the file as UTF-8") from None


def _torn_tail(content: bytes) -> bytes:
    """What stands behind the last whole line, unless that is a whole object but for the line's end."""
    tail = content.rpartition(b"\n")[2]
    return b"" if _is_whole(tail) else tail


def _is_whole(line: bytes) -> bool:
    """Whether an object is there to its last brace; a cut may fall behind the brace of an inner one."""
    bare = _STRING.sub(b"", line)
    return line.rstrip().endswith(b"}") and b'"' not in bare and bare.count(b"{") <= bare.count(b"}")


def alone_at(path: Path) -> AbstractContextManager[None]:
    """Keep other processes and threads that ask for the same from a file of lines; wait for one that is at work there.

    Raises
    ------
    InputError
        When another one has not finished after a minute, or when no lock can be made beside the file.
    """
    busy = f"{path}: another process has been writing to it for a minute; wait for it, or stop it"
    return locked(path.with_suffix(".lock"), _PATIENCE_SECONDS, busy, "correct the path, or the folder's rights")


def append_lines(path: Path, *lines: str) -> None:
    """Append lines to a file that no other process writes to. They are on disk when this returns.

    A last line that a kill cut off is set aside first, in a file beside it. Where the lines cannot be written, the file
    is as it was.

    Raises
    ------
    OSError
        When the disk is full or the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    # Opened each time: an editor may have put another file in its place.
    with path.open("ab", buffering=0) as file:
        before = _mended(path, file.fileno())
        try:
            _write(file.fileno(), "".join(f"{line}\n" for line in lines).encode())
        except OSError:
            os.ftruncate(file.fileno(), before)
            raise
    if is_new:
        _sync_folder(path.parent)


def _mended(path: Path, descriptor: int) -> int:
    """End or set aside a last line without an end, so that the next one begins a line; return the length."""
    content = path.read_bytes()
    if not content or content.endswith(b"\n"):
        return len(content)
    torn = _torn_tail(content)
    if not torn:
        _write(descriptor, b"\n")
        return len(content) + 1
    aside = path.with_suffix(".torn")
    with aside.open("ab") as file:
        file.write(torn + b"\n")
    os.ftruncate(descriptor, len(content) - len(torn))
    told = f"{path}: the last line was cut off, so it was never stored; what there is of it is in {aside.name}"
    warnings.warn(told, InputWarning, stacklevel=4)
    return len(content) - len(torn)


def _write(descriptor: int, content: bytes) -> None:
    while content:
        content = content[os.write(descriptor, content) :]
    os.fsync(descriptor)


def _sync_folder(folder: Path) -> None:
    """Make a new file's name last, where a folder can be synced."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
