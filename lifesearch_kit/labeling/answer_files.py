"""One file a person: answers one a line, each on disk before it counts as given, and nobody else at the file."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from lifesearch_kit.durable_lines import append_lines, read_lines
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id
from lifesearch_kit.records import Record
from lifesearch_kit.rows import Row, fault, json_lines
from lifesearch_kit.text import fold, replace_lone_surrogates

# What the settled labels are called in a labels file; no person can have that name.
REFERENCE = "reference"
_PLAIN_NAME = re.compile(r"\w[\w.-]*")


class Answer(Record):
    """What every line of a person's file says: who answered, and when (UTC)."""

    annotator: Id
    answered: str = ""


AnyAnswer = TypeVar("AnyAnswer", bound=Answer)
_HELD: dict[Path, AnswerFile[Any]] = {}


def now() -> str:
    """The present second, in UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class AnswerFile(Generic[AnyAnswer]):
    """Answers of one person, appended to and never rewritten: a changed mind is one more line, and the last one counts.

    Parameters
    ----------
    folder
        Holds a file for each person; made at the first answer.
    annotator
        Whose file it is; becomes the file's name.
    model
        What a line holds.

    Raises
    ------
    InputError
        For a name that cannot be one of a file, that settled labels have, or that reads like another person's here.
    """

    def __init__(self, folder: Path, annotator: str, model: type[AnyAnswer]) -> None:
        if not _PLAIN_NAME.fullmatch(annotator):
            raise InputError(
                f"annotator {annotator!r} becomes a file's name: use letters, digits, '_', '-' and '.' only"
            )
        self.path = folder / f"{annotator}.jsonl"
        self.annotator = annotator
        self.model = model
        self._lock: sqlite3.Connection | None = None
        if fold(annotator) == REFERENCE:
            raise InputError(f"annotator {annotator!r}: settled labels have this name; choose another")
        for other in people(folder):
            if other != annotator and fold(other) == fold(annotator):
                raise InputError(
                    f"annotator {annotator!r}: {other!r} has begun already, and both read as one name; write"
                    f" {other!r} if that is you, and another name if not"
                )

    def hold(self) -> None:
        """Keep other processes from writing to the file until this one ends, however it ends.

        Within one process the last to hold it has it: a cell that is run again takes over from its earlier view.

        Raises
        ------
        InputError
            When another process holds it: another window of the same person, or a second person of the same name.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        earlier = _HELD.pop(self.path.resolve(), None)
        if earlier is not None:
            earlier.release()
        lock = sqlite3.connect(self.path.with_suffix(".lock"), timeout=0, isolation_level=None, check_same_thread=False)
        try:
            lock.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError:
            lock.close()
            raise InputError(
                f"annotator {self.annotator!r} is at work in another notebook: go on there, or shut its kernel down. If"
                " that is somebody else, choose another name"
            ) from None
        self._lock = lock
        _HELD[self.path.resolve()] = self

    def release(self) -> None:
        """Let others write."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def resume(self) -> list[AnyAnswer]:
        """Hold the file and read it; one with faults is let go again. Raises InputError as `hold` and `read`."""
        self.hold()
        try:
            return self.read()
        except BaseException:
            self.release()
            raise

    def read(self) -> list[AnyAnswer]:
        """Every answer, the latest last; a last line that was cut off by a kill was never given and is left out.

        Raises
        ------
        InputError
            Listing every fault of the file, as an edit by hand may leave them; nothing is changed.
        """
        if not self.path.exists():
            return []
        found = list(json_lines(read_lines(self.path)[0], str(self.path)))
        faults = [one for one in found if isinstance(one, str)]
        answers = []
        for row in [one for one in found if isinstance(one, Row)]:
            try:
                answer = self.model.model_validate(row.data)
            except ValidationError as error:
                faults += [fault(row, self.model, one) for one in error.errors(include_url=False)]
                continue
            if fold(answer.annotator) != fold(self.annotator):
                faults.append(
                    f"{row.place}: field 'annotator': {answer.annotator!r} is another name than the file's; move the"
                    f" line to that person's file, or write {self.annotator!r}"
                )
            answers.append(answer)
        if faults:
            raise InputError(faults)
        return answers

    def append(self, answer: AnyAnswer) -> None:
        """Write one answer. It is on disk when this returns; where it cannot be, the file is as it was.

        Raises
        ------
        InputError
            When the file is not held, as another view of the same process has taken over.
        OSError
            When the disk is full or the file cannot be written.
        """
        if self._lock is None:
            raise InputError("this view was replaced by a newer one; go on there, or run this cell again")
        line = json.dumps(answer.model_dump(mode="json"), ensure_ascii=False, allow_nan=False)
        append_lines(self.path, replace_lone_surrogates(line)[0])


def people(folder: Path) -> list[str]:
    """Everybody who has a file in a folder of answers."""
    return sorted(path.stem for path in folder.glob("*.jsonl")) if folder.is_dir() else []


def latest(answers: Iterable[AnyAnswer], *key: str) -> dict[tuple[object, ...], AnyAnswer]:
    """The last answer to each question, in the order in which they were last given."""
    found: dict[tuple[object, ...], AnyAnswer] = {}
    for one in answers:
        values = tuple(getattr(one, name) for name in key)
        found.pop(values, None)
        found[values] = one
    return found
