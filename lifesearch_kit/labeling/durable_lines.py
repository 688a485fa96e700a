"""Lines that are on disk when they count as written, and what a kill leaves of a line."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

from lifesearch_kit.errors import InputWarning


def torn_tail(content: bytes) -> bytes:
    """What stands behind the last whole line of JSON Lines, unless that is a whole object but for the line's end."""
    tail = content.rpartition(b"\n")[2]
    return b"" if tail.rstrip().endswith(b"}") else tail


def append_line(path: Path, line: str) -> None:
    """Append a line to a file that no other process writes to. It is on disk when this returns.

    A last line that a kill cut off is set aside first, in a file beside it. Where the line cannot be written, the file
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
            _write(file.fileno(), line.encode() + b"\n")
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
    torn = torn_tail(content)
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
