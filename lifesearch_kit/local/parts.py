"""The pieces of the packaged model, as installed packages carry them.

Those packages are read as files only: nothing of them is ever imported or run.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

_TABLE = Path(__file__).with_name("parts.csv")


@dataclass(frozen=True)
class Part:
    """One piece of the model.

    Attributes
    ----------
    package, version
        The package that carries it.
    file
        Its path among that package's installed files.
    bytes, sha256
        Its size and checksum.
    """

    package: str
    version: str
    file: str
    bytes: int
    sha256: str

    def installed(self) -> Path | None:
        """Where the piece lies, found without importing its package; None when it is not there."""
        try:
            path = Path(str(distribution(self.package).locate_file(self.file)))
        except PackageNotFoundError:
            return None
        return path if path.is_file() else None


@dataclass(frozen=True)
class PackagedModel:
    """A model file that packages carry in pieces.

    Attributes
    ----------
    name
        The file's name without ``.gguf``; a profile names the model by it.
    sha256
        Checksum of the joined file.
    parts
        In the order in which they are joined.
    """

    name: str
    sha256: str
    parts: tuple[Part, ...]

    @property
    def bytes(self) -> int:
        """Size of the joined file."""
        return sum(part.bytes for part in self.parts)


def packaged_model() -> PackagedModel:
    """Qwen2.5-Coder-1.5B-Instruct in 4-bit form, by the Qwen team of Alibaba Cloud (Apache-2.0).

    Its pieces stand in parts.csv.
    """
    with _TABLE.open(encoding="utf-8", newline="") as table:
        parts = tuple(
            Part(row["package"], row["version"], row["file"], int(row["bytes"]), row["sha256"])
            for row in csv.DictReader(table)
        )
    return PackagedModel(
        "qwen2.5-coder-1.5b-instruct-q4_k_m", "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046", parts
    )
