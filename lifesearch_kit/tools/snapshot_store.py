"""One SQLite file of snapshots: an answer of a tool is kept once, with its time of capture, and never replaced.

What was kept is there after a kill or a full disk, and several processes may write to one folder.
"""

from __future__ import annotations

import os
import uuid
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_records
from lifesearch_kit.rows import PathLike
from lifesearch_kit.sqlite_files import open_database
from lifesearch_kit.tools.snapshot_records import Request, Snapshot

FILE = "snapshots.sqlite"
_KEY = ("tool", "backend", "arguments")
_SCHEMA = """
CREATE TABLE IF NOT EXISTS snapshots (
    tool TEXT, backend TEXT, arguments TEXT, failed INTEGER NOT NULL, content BLOB NOT NULL, captured TEXT NOT NULL,
    PRIMARY KEY (tool, backend, arguments));
CREATE TABLE IF NOT EXISTS tools (tool TEXT, backend TEXT, PRIMARY KEY (tool, backend));
CREATE TABLE IF NOT EXISTS snapshot_set (only_row INTEGER PRIMARY KEY CHECK (only_row = 1), id TEXT NOT NULL);
"""


class SnapshotStore:
    """The file of one set of snapshots.

    Parameters
    ----------
    folder
        Made when absent, unless `must_exist`.

    Raises
    ------
    InputError
        When the file is damaged or cannot be written, or is absent where it must exist.
    """

    def __init__(self, folder: str | os.PathLike[str], *, must_exist: bool = False) -> None:
        self.path = Path(folder) / FILE
        if must_exist and not self.path.is_file():
            raise InputError(f"{self.path}: there are no snapshots to replay; capture them first, or import some")
        self._database = open_database(self.path, _SCHEMA, "file of snapshots", "snapshots")
        self._database.execute("INSERT OR IGNORE INTO snapshot_set VALUES (1, ?)", (uuid.uuid4().hex[:8],))

    def close(self) -> None:
        """Close the file; everything kept stays."""
        self._database.close()

    def __enter__(self) -> SnapshotStore:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @property
    def set_id(self) -> str:
        """What the set is known by; exports and imports carry it on."""
        (found,) = self._database.execute("SELECT id FROM snapshot_set").fetchone()
        return str(found)

    def find(self, request: Request) -> Snapshot | None:
        """The answer kept for a request."""
        where = "WHERE tool = ? AND backend = ? AND arguments = ?"
        return next(self._select(where, request), None)

    def keep(self, snapshot: Snapshot) -> Snapshot:
        """Keep an answer; return what is kept, which is another process's where that was first."""
        self._insert(snapshot)
        kept = self.find(snapshot.request)
        return snapshot if kept is None else kept

    def snapshots(self) -> Iterator[Snapshot]:
        """All that is kept, in the order of its capture."""
        return self._select("ORDER BY captured, rowid", ())

    def note_tool(self, tool: str, backend: str) -> None:
        """Keep that a tool was there, whether or not it is ever asked."""
        self._database.execute("INSERT OR IGNORE INTO tools VALUES (?, ?)", (tool, backend))

    def backends(self, tool: str) -> list[str]:
        """The backends that stood behind a tool."""
        found = "SELECT backend FROM {} WHERE tool = ?"
        both = f"{found.format('snapshots')} UNION {found.format('tools')} ORDER BY backend"
        return [backend for (backend,) in self._database.execute(both, (tool, tool))]

    def add_all(self, snapshots: Iterable[Snapshot], set_id: str) -> int:
        """Add snapshots of the same set, all or none; an empty file takes the set's id on. Returns how many were new.

        Raises
        ------
        InputError
            For another set's snapshots, and requests that both sides answer differently.
        """
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            (before,) = self._database.execute("SELECT count(*) FROM snapshots").fetchone()
            if before and self.set_id != set_id:
                told = f"{self.path}: holds the set {self.set_id}, not {set_id}; import into a folder of its own"
                raise InputError(told)
            self._database.execute("UPDATE snapshot_set SET id = ?", (set_id,))
            faults = []
            for one in snapshots:
                self._insert(one)
                kept = self.find(one.request)
                if kept is not None and (kept.content, kept.failed) != (one.content, one.failed):
                    faults.append(
                        f"{self.path}: {one.tool} {one.arguments} has another answer here; keep one of the two"
                    )
            if faults:
                raise InputError(faults)
            (after,) = self._database.execute("SELECT count(*) FROM snapshots").fetchone()
        return int(after) - int(before)

    def _insert(self, one: Snapshot) -> None:
        packed = zlib.compress(one.content.encode())
        row = (*one.request, one.failed, packed, one.captured.isoformat())
        self._database.execute("INSERT OR IGNORE INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", row)

    def _select(self, clause: str, values: Iterable[str]) -> Iterator[Snapshot]:
        set_id = self.set_id
        rows = self._database.execute(
            f"SELECT tool, backend, arguments, failed, content, captured FROM snapshots {clause}", tuple(values)
        )
        for tool, backend, arguments, failed, packed, captured in rows:
            yield Snapshot(
                snapshot_set=set_id,
                tool=tool,
                backend=backend,
                arguments=arguments,
                content=zlib.decompress(packed).decode(),
                failed=bool(failed),
                captured=captured,
            )


def import_snapshots(path: PathLike, folder: str | os.PathLike[str]) -> int:
    """Bring an exported JSON Lines file into a folder, all of it or nothing; returns how many snapshots were new.

    Raises
    ------
    InputError
        Listing the faults of the file, and what does not fit with the snapshots that the folder has.
    """
    snapshots = read_records(path, Snapshot, key=_KEY)
    sets = sorted({one.snapshot_set for one in snapshots})
    if len(sets) != 1:
        raise InputError(f"{path}: holds snapshots of {len(sets)} sets; import a file of one")
    with SnapshotStore(folder) as store:
        return store.add_all(snapshots, sets[0])
