"""One run of a profile at a time: a second one would start a second server and remove the first one's figures."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lifesearch_kit.errors import InputError


@contextmanager
def claim(name: str, folder: Path) -> Iterator[None]:
    """Keep other processes from running the profile of this name; the claim ends with the process, however it ends.

    Parameters
    ----------
    folder
        Where the file lies that is locked; made when absent.

    Raises
    ------
    InputError
        When another process runs the profile, or when the folder cannot be written to.
    """
    path = folder / f"{name}.claim.sqlite"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = sqlite3.connect(path, timeout=0, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise InputError(_unwritable(path, error)) from None
    with closing(lock):
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                raise InputError(f"profile {name!r} is being run already; wait for that run, or stop it") from None
            raise InputError(_unwritable(path, error)) from None
        yield


def _unwritable(path: Path, error: Exception) -> str:
    return f"{path}: cannot be written ({error}); correct that and run again"
