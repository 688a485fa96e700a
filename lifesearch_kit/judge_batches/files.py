"""Batches as files in a run's folder: the requests to be uploaded, and a note of each batch that was submitted."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import ValidationError

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.records import Key, Record

REQUEST_URL: Literal["/v1/chat/completions"] = "/v1/chat/completions"


class Note(Record):
    """One batch that was submitted, or may have been: without `batch`, what became of the submission is not known.

    `token` stands in the batch's metadata. `sent` are the custom ids of its requests, `unread` those whose answers were
    not read yet.
    """

    token: str
    judge: str
    input_file: str
    batch: str | None = None
    sent: tuple[str, ...]
    unread: tuple[str, ...]


class Line(NamedTuple):
    """One request of a batch, as it stands in the request file."""

    custom_id: str
    content: bytes


class Notes:
    """The notes of a run, one small file a batch, each replaced in one step.

    Parameters
    ----------
    run
        The run's folder.
    """

    def __init__(self, run: Path) -> None:
        self.folder = run / "batches"

    def path(self, note: Note) -> Path:
        """Where a note stands."""
        return self.folder / f"{note.token}.json"

    def read(self, judged: Iterable[Key]) -> list[Note]:
        """The notes with something left to read; what else a process left when it was stopped is removed.

        Parameters
        ----------
        judged
            Keys of the judgments that hold a verdict: theirs are not waited for any more.

        Raises
        ------
        InputError
            Naming each note that cannot be read, and so may hide a batch that was paid for.
        """
        for leftover in [*self.folder.glob("*.jsonl"), *self.folder.glob("*.part")]:
            leftover.unlink()
        notes: list[Note] = []
        faults: list[str] = []
        for path in sorted(self.folder.glob("*.json")):
            try:
                notes.append(Note.model_validate_json(path.read_bytes()))
            except (OSError, ValidationError) as error:
                faults.append(
                    f"{path}: is no readable note of a batch ({type(error).__name__}); see in the vendor's list of "
                    "batches whether one still runs for this run, then remove the file to submit its requests anew"
                )
        if faults:
            raise InputError(faults)
        known = {custom_id(key) for key in judged} if notes else set()
        settled = (self.settle(note, [one for one in note.unread if one not in known]) for note in notes)
        return [note for note in settled if note.unread]

    def settle(self, note: Note, unread: Iterable[str]) -> Note:
        """Note what is left to read, and forget a batch of which nothing is."""
        left = note.model_copy(update={"unread": tuple(unread)})
        if not left.unread:
            self.drop(note)
        elif left != note:
            self.keep(left)
        return left

    def keep(self, note: Note) -> None:
        """Write a note."""
        self._write(self.path(note), note.model_dump_json().encode())

    def drop(self, note: Note) -> None:
        """Forget a batch."""
        self.path(note).unlink(missing_ok=True)

    def write_requests(self, token: str, lines: Iterable[Line]) -> Path:
        """Write a request file."""
        path = self.folder / f"{token}.jsonl"
        self._write(path, b"".join(line.content for line in lines))
        return path

    def _write(self, path: Path, content: bytes) -> None:
        self.folder.mkdir(exist_ok=True)
        temporary = path.with_name(f"{path.name}.part")
        with temporary.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)


def custom_id(key: Key) -> str:
    """The name of a judgment's request: 25 characters that follow from its key, fingerprint included."""
    return f"judgment-{fingerprint(*key)}"


def request_line(name: str, body: bytes) -> Line:
    """A request with its body as it is, byte by byte."""
    head = json.dumps({"custom_id": name, "method": "POST", "url": REQUEST_URL})
    return Line(name, head[:-1].encode() + b', "body": ' + body + b"}\n")


class Packer:
    """Fills request files up to their limits, in order.

    Lines that are added together stay in one file, unless they are more than a whole file takes.

    Parameters
    ----------
    max_requests, max_bytes
        The limits of one file; a line beyond `max_bytes` gets a file of its own.
    """

    def __init__(self, max_requests: int, max_bytes: int) -> None:
        self.max_requests = max_requests
        self.max_bytes = max_bytes
        self.rest: list[Line] = []
        self._bytes = 0

    def add(self, lines: list[Line]) -> Iterator[list[Line]]:
        """Add lines that belong together; yields each file that is full."""
        if self.rest and not self._takes(len(lines), sum(len(line.content) for line in lines)):
            yield self._full()
        for line in lines:
            if self.rest and not self._takes(1, len(line.content)):
                yield self._full()
            self.rest.append(line)
            self._bytes += len(line.content)

    def _takes(self, count: int, size: int) -> bool:
        return len(self.rest) + count <= self.max_requests and self._bytes + size <= self.max_bytes

    def _full(self) -> list[Line]:
        full, self.rest, self._bytes = self.rest, [], 0
        return full
