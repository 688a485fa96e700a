"""A run's folder: reports and judgments in one SQLite file, a compressed transcript beside each report.

What was stored is there after a kill or a full disk. A row is written once; only an unjudged judgment gives way to a
later one.
"""

from __future__ import annotations

import gzip
import os
import re
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import date
from pathlib import Path
from typing import TypeVar

from lifesearch_kit.agent.checkpoints import Checkpoint
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.records import JUDGMENT_KEY, REPORT_KEY, Judgment, Key, Record, Report
from lifesearch_kit.redaction import known_secrets, redact_secrets
from lifesearch_kit.sqlite_files import open_database
from lifesearch_kit.transcripts import Transcript

AnyRecord = TypeVar("AnyRecord", Report, Judgment)
_UNFINISHED = "unfinished"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS reports (
    system TEXT, task_id TEXT, run INTEGER, fingerprint TEXT, record TEXT NOT NULL,
    PRIMARY KEY (system, task_id, run, fingerprint)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS run (started TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS judgments (
    system TEXT, task_id TEXT, run INTEGER, rubric_id TEXT, judge TEXT, repeat INTEGER, fingerprint TEXT,
    judged INTEGER NOT NULL, record TEXT NOT NULL,
    PRIMARY KEY (system, task_id, run, rubric_id, judge, repeat, fingerprint)) WITHOUT ROWID;
"""


class Store:
    """The folder of one run; readable and writable by several processes at once.

    Parameters
    ----------
    folder
        Made when absent.

    Raises
    ------
    InputError
        When it can neither be made nor written, and for a damaged file.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(folder)
        self._database = open_database(self.folder / "run.sqlite", _SCHEMA, "run", "results")

    def close(self) -> None:
        """Close the file; everything stored stays."""
        self._database.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    @contextmanager
    def claim(self) -> Iterator[None]:
        """Keep other processes from collecting into this run: what two of them do at once is paid for twice.

        The claim ends with the process, however it ends.

        Raises
        ------
        InputError
            When another process holds the run.
        """
        claim = sqlite3.connect(self.folder / "claim.sqlite", timeout=0, isolation_level=None)
        try:
            claim.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            claim.close()
            raise InputError(
                f"{self.folder}: another process is at work on this run; wait for it, or stop it"
            ) from None
        try:
            yield
        finally:
            claim.close()

    def started(self) -> date:
        """The day on which the run was started; a run that goes on another day keeps it."""
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            row = self._database.execute("SELECT started FROM run").fetchone()
            if row is None:
                row = (date.today().isoformat(),)
                self._database.execute("INSERT INTO run VALUES (?)", row)
        return date.fromisoformat(row[0])

    def add_report(self, report: Report, transcript: Transcript | None = None) -> Report:
        """Keep a report, its transcript first; return what is stored, which is another process's where that was first.

        The stored report names its transcript by the path inside the folder.
        """
        if transcript is not None:
            content = redact_secrets(transcript.model_dump_json())
            path = _transcript_path(report, content)
            _write_compressed(self.folder / path, content)
            report = report.model_copy(update={"transcript": path.as_posix()})
        key = key_of(report, REPORT_KEY)
        record = redact_secrets(report.model_dump_json())
        self._database.execute("INSERT OR IGNORE INTO reports VALUES (?, ?, ?, ?, ?)", (*key, record))
        where = "system = ? AND task_id = ? AND run = ? AND fingerprint = ?"
        (record,) = self._database.execute(f"SELECT record FROM reports WHERE {where}", key).fetchone()
        stored = Report.model_validate_json(record)
        if report.transcript is not None and stored.transcript != report.transcript:
            (self.folder / report.transcript).unlink(missing_ok=True)
        return stored

    def checkpoint(self, key: Key) -> Checkpoint:
        """Where the finished steps of a run under way are kept, by its report's key."""
        return Checkpoint(self.folder / _UNFINISHED / f"{fingerprint(*key)}.jsonl")

    def unfinished_beside(self, keys: Iterable[Key]) -> int:
        """How many interrupted runs have steps here and are none of these: of other settings, tasks or dates."""
        wanted = {self.checkpoint(key).path for key in keys}
        return sum(path not in wanted for path in (self.folder / _UNFINISHED).glob("*.jsonl"))

    def add_judgments(self, judgments: Iterable[Judgment]) -> None:
        """Keep judgments. One that is stored already stays, unless it is unjudged."""
        secrets = known_secrets()
        records = ((one, redact_secrets(one.model_dump_json(), secrets)) for one in judgments)
        rows = [(*key_of(one, JUDGMENT_KEY), one.satisfied is not None, record) for one, record in records]
        with self._database:
            self._database.execute("BEGIN IMMEDIATE")
            self._database.executemany(
                "INSERT INTO judgments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET judged = excluded.judged, record = excluded.record WHERE judgments.judged = 0",
                rows,
            )

    def judged(self) -> set[Key]:
        """Keys, fingerprint last, of the judgments that hold a verdict."""
        columns = ", ".join((*JUDGMENT_KEY, "fingerprint"))
        return set(self._database.execute(f"SELECT {columns} FROM judgments WHERE judged = 1"))

    def reports(self) -> dict[Key, Report]:
        """All reports by key, fingerprint last."""
        return self._records("reports", Report, REPORT_KEY)

    def judgments(self) -> dict[Key, Judgment]:
        """All judgments by key, fingerprint last."""
        return self._records("judgments", Judgment, JUDGMENT_KEY)

    def select_judgments(self, keys: Iterable[Key]) -> Iterator[Judgment]:
        """The judgments with these keys, fingerprint last, in that order, one at a time; absent ones are left out."""
        where = " AND ".join(f"{column} = ?" for column in (*JUDGMENT_KEY, "fingerprint"))
        for key in keys:
            for (record,) in self._database.execute(f"SELECT record FROM judgments WHERE {where}", key):
                yield Judgment.model_validate_json(record)

    def _records(self, table: str, model: type[AnyRecord], key: tuple[str, ...]) -> dict[Key, AnyRecord]:
        rows = self._database.execute(f"SELECT record FROM {table}")
        records = (model.model_validate_json(record) for (record,) in rows)
        return {key_of(record, key): record for record in records}


def key_of(record: Record, key: tuple[str, ...]) -> Key:
    """A record's key with its fingerprint last."""
    return tuple(getattr(record, name) for name in (*key, "fingerprint"))


def read_transcript(path: str | os.PathLike[str]) -> Transcript:
    """Read one transcript file.

    Raises
    ------
    InputError
        When it is absent or damaged.
    """
    try:
        return Transcript.model_validate_json(gzip.decompress(Path(path).read_bytes()))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such transcript; check the path") from None
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path}: is no readable transcript ({type(error).__name__}); run its agent again") from None


def _transcript_path(report: Report, content: str) -> Path:
    system, task = (re.sub(r"[^\w.-]", "_", name)[:60] for name in (report.system, report.task_id))
    # The content's digest keeps two processes, and two names that look alike as files, out of each other's way.
    digest = fingerprint(report.system, report.task_id, report.fingerprint, content)
    return Path("transcripts", system, f"{task}__run{report.run}__{digest}.json.gz")


def _write_compressed(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}.part")
    with temporary.open("wb") as file:
        file.write(gzip.compress(text.encode(), mtime=0))
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def select(records: Mapping[Key, AnyRecord], wanted: Iterable[Key]) -> list[AnyRecord]:
    """The records of the wanted keys, in that order; absent ones are left out."""
    return [records[key] for key in wanted if key in records]
