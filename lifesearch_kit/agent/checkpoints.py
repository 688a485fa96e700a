"""What a run under way has done, one finished step a line, so that a crashed run goes on instead of paying again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter
from pydantic_core import to_json

from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.records import ReportStatus
from lifesearch_kit.redaction import redact_secrets
from lifesearch_kit.transcripts import ToolResult


@dataclass(frozen=True)
class FinishedStep:
    """A model decision and what its tools brought.

    `elapsed` are the run's seconds so far, `taken_out` how many earlier results were taken out of the conversation
    before it, `limit` the limit at which it was the last turn.
    """

    reply: Reply
    results: Sequence[ToolResult]
    tool_seconds: float = 0.0
    elapsed: float = 0.0
    taken_out: int = 0
    limit: ReportStatus | None = None


_STEP = TypeAdapter(FinishedStep)


class Checkpoint:
    """The finished steps of one run, in a file that goes when its report is kept.

    Parameters
    ----------
    path
        None keeps nothing.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = path

    def steps(self) -> list[FinishedStep]:
        """What is there; from a line that a crash cut short on, nothing counts, and the file is cut."""
        if self.path is None or not self.path.is_file():
            return []
        steps, whole = [], 0
        for line in self.path.read_bytes().splitlines(keepends=True):
            try:
                steps.append(_STEP.validate_python(json.loads(line if line.endswith(b"\n") else b"")))
            except ValueError:
                break
            whole += len(line)
        with self.path.open("rb+") as file:
            file.truncate(whole)
        return steps

    def add(self, step: FinishedStep) -> None:
        """Keep one more step."""
        if self.path is None:
            return
        line = redact_secrets(to_json(step).decode()).encode() + b"\n"
        try:
            _append(self.path, line)
        except FileNotFoundError:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            _append(self.path, line)

    def remove(self) -> None:
        """Forget the run: its report is kept, or it is to be made anew."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def _append(path: Path, line: bytes) -> None:
    with path.open("ab") as file:
        file.write(line)
