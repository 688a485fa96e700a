"""SQLite files that several processes may open and write at once (a write-ahead log, commits that survive a kill).

Also locks between processes: an SQLite file's lock ends with its process, however that ends.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import make_folder

_PATIENCE_SECONDS = 60.0


def open_database(path: Path, schema: str, what: str, setting: str) -> sqlite3.Connection:
    """Open a file, made with the schema when absent, and its folder with it.

    Parameters
    ----------
    what, setting
        What it holds, and the setting that names its folder, in an error's words.

    Raises
    ------
    InputError
        When the folder cannot be made, and when the file is no database or cannot be written.
    """
    make_folder(path.parent, setting)
    try:
        return _open(path, schema)
    except sqlite3.OperationalError as error:
        raise InputError(f"{path}: cannot be written ({error}); correct `{setting}`, or the folder's rights") from None
    except sqlite3.DatabaseError as error:
        raise InputError(f"{path}: is no readable {what} ({error}); move it away") from None


@contextmanager
def locked(path: Path, patience_seconds: float, busy: str, remedy: str) -> Iterator[None]:
    """Keep others that ask for the same lock waiting, in this process and in others.

    Parameters
    ----------
    path
        The file that is locked; made when absent, and its folder with it.
    patience_seconds
        How long to wait for another one.
    busy, remedy
        What an error says when another one still holds it, and what is to be done where the file cannot be written.

    Raises
    ------
    InputError
        In these two cases.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = sqlite3.connect(path, timeout=patience_seconds, isolation_level=None)
    except (OSError, sqlite3.Error) as error:
        raise InputError(_unwritable(path, error, remedy)) from None
    with closing(lock):
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            is_busy = error.sqlite_errorcode == sqlite3.SQLITE_BUSY
            raise InputError(busy if is_busy else _unwritable(path, error, remedy)) from None
        yield


def _unwritable(path: Path, error: Exception, remedy: str) -> str:
    return f"{path}: cannot be written ({error}); {remedy}"


def _open(path: Path, schema: str) -> sqlite3.Connection:
    database = sqlite3.connect(path, timeout=_PATIENCE_SECONDS, isolation_level=None)
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(schema)
            return database
        except sqlite3.OperationalError as error:
            # SQLite's own time-out does not hold where several processes turn a new file to WAL at once.
            if "locked" not in str(error) or time.monotonic() > give_up:
                database.close()
                raise
            time.sleep(0.02)
        except sqlite3.DatabaseError:
            database.close()
            raise
