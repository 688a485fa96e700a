"""A large judgments.jsonl is read once: its columns are kept beside it, and mapped into memory from then on.

The copy, ``judgments.jsonl.arrow``, is a seal and an Arrow stream. The seal is a digest of the version of the copy, of
the content of judgments.jsonl and of the stream: whatever changed in either file, by whatever way, the seal is broken
and the copy is written anew. What it cannot see is a check of records that was edited without a new version of the kit.
Texts stay on the disk until they are looked at, so a copy may be removed or replaced at any time, but not written into.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import secrets
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

import pandas as pd
import pyarrow as pa

from lifesearch_kit import __version__
from lifesearch_kit.files import read_judgments
from lifesearch_kit.frames import judgments_frame
from lifesearch_kit.judgment_columns import SCHEMA, UnusualError, column_batches, columns_frame, refuse_repeats
from lifesearch_kit.records import Judgment
from lifesearch_kit.rows import PathLike

# About 50,000 judgments: below, reading them takes a second, and folders stay as they are.
SMALLEST_BYTES = 32_000_000
# To be raised when the same columns come to mean something else.
_VERSION = f"1, {__version__}, {SCHEMA}, {Judgment.model_json_schema()}".encode()
_SEAL_BYTES = hashlib.sha256().digest_size
_ABANDONED_SECONDS = 3600.0


def read_judgments_frame(path: PathLike) -> pd.DataFrame:
    """Read judgments as the table that `judgments_frame` makes of them; beside a large file its columns are kept.

    A file with faults or readings to warn of has no copy. Where none can be written, that is warned of.

    Raises
    ------
    InputError
        As `read_judgments`.
    """
    try:
        return columns_frame(_columns(Path(path)))
    except (OSError, UnusualError):
        return judgments_frame(read_judgments(path))


def _columns(path: Path) -> pa.Table:
    copy = path.with_name(f"{path.name}.arrow")
    with path.open("rb") as source:
        if os.fstat(source.fileno()).st_size < SMALLEST_BYTES:
            return _in_memory(source)
        columns = _mapped(copy, hashlib.file_digest(source, "sha256").digest()) if copy.exists() else None
        if columns is None:
            source.seek(0)
            columns = _mapped(copy, _write(copy, source))
        if columns is None:
            source.seek(0)
            columns = _in_memory(source)
        return columns


def _in_memory(source: BinaryIO) -> pa.Table:
    columns = pa.Table.from_batches(column_batches(source), SCHEMA)
    refuse_repeats(columns)
    return columns


def _mapped(copy: Path, source: bytes) -> pa.Table | None:
    """The columns of a copy whose seal holds for the source's digest, else None."""
    try:
        with copy.open("rb") as file:
            if file.read(_SEAL_BYTES) != _seal(file, source):
                return None
            return _open(file)
    except (OSError, ValueError, pa.ArrowException):
        return None


def _open(file: io.BufferedIOBase) -> pa.Table:
    mapping = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    return pa.ipc.open_stream(pa.py_buffer(mapping).slice(_SEAL_BYTES)).read_all()


def _seal(file: io.BufferedIOBase, source: bytes) -> bytes:
    begun = hashlib.sha256(_VERSION + source)
    file.seek(_SEAL_BYTES)
    return hashlib.file_digest(file, lambda: begun).digest()


def _write(copy: Path, source: BinaryIO) -> bytes:
    """Write a copy; return the digest of what was read. Several processes may do so at once: the last one's stays."""
    digest = hashlib.sha256()
    # Never a name that another process is writing to.
    temporary = copy.with_name(f"{copy.name}.{secrets.token_hex(8)}.part")
    try:
        _remove_abandoned(copy)
        with temporary.open("x+b") as file:
            file.write(bytes(_SEAL_BYTES))
            with pa.ipc.new_stream(file, SCHEMA) as stream:
                for batch in column_batches(source, digest):
                    stream.write_batch(batch)
            file.flush()
            refuse_repeats(_open(file))
            seal = _seal(file, digest.digest())
            file.seek(0)
            file.write(seal)
        if os.name == "posix":  # one who writes into a mapped file, as `cp` does, ends the programs that mapped it
            temporary.chmod(temporary.stat().st_mode & ~0o222)
        temporary.replace(copy)
    except OSError as error:
        told = f"{copy}: cannot be kept ({error.strerror}); without it, loading takes as long each time"
        warnings.warn(told, stacklevel=6)
    finally:
        temporary.unlink(missing_ok=True)
    return digest.digest()


def _remove_abandoned(copy: Path) -> None:
    """Remove what a process left that was killed while it wrote."""
    for part in copy.parent.glob(f"{copy.name}.*.part"):
        with suppress(FileNotFoundError):
            if part.stat().st_mtime < time.time() - _ABANDONED_SECONDS:
                part.unlink()
