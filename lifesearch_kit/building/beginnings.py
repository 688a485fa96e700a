"""Files that people write by hand, begun with a copy of one that a profile names; and which of the two is in force."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple, TypeVar

from pydantic import ValidationError

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import write_jsonl
from lifesearch_kit.paths import ROOT, replacing
from lifesearch_kit.records import Record

AnyRecord = TypeVar("AnyRecord", bound=Record)


class Begun(NamedTuple):
    """The file that is in force, and in words where it comes from."""

    path: Path
    told: str


class _Origin(Record):
    """What a file was begun with: digests of the source as it was, and of the copy as it was made."""

    source_digest: str
    copy_digest: str


def begin_with(
    path: Path,
    source: Path | None,
    read: Callable[[Path], Sequence[AnyRecord]],
    write: Callable[[Path, Sequence[AnyRecord]], None] = write_jsonl,
) -> Begun:
    """Begin a file that is made by hand with a copy of another one, and say which of the two is in force.

    The copy is in force. When the source has changed since, it is copied anew if the copy is as it was made; what was
    written into the copy by hand is never replaced, and the words say how to take the source instead.

    Parameters
    ----------
    path
        The file in force; beside it ``<name>.begun`` keeps what it was begun with.
    source
        To begin with; None where nothing is named.
    read
        Reads the source before it is copied; it raises for faults.
    write
        Writes the records where the two have another format.

    Raises
    ------
    InputError
        When there is nothing yet and the source is not there, and for faults of a source that is to be copied.
    """
    force, origin = f"{_shown(path)} is in force", _origin_of(path)
    if source is None or (source.exists() and path.exists() and source.samefile(path)):
        return Begun(path, force if path.exists() else f"{force} once something is written there")
    if not source.is_file():
        if not path.exists():
            raise InputError(f"{source}: there is no such file to begin with; correct the path, or leave it empty")
        return Begun(path, f"{force}; {_shown(source)}, which is named to begin with, is not there")
    if not path.exists():
        _copy(path, source, read, write)
        return Begun(path, f"{force}, begun now with a copy of {_shown(source)}")
    if _digest(source) in (origin.source_digest if origin else "", _digest(path)):
        return Begun(path, f"{force}; {_shown(source)}, with which it was begun, is as it was")
    if origin and origin.copy_digest == _digest(path):
        _copy(path, source, read, write)
        told = f"{_shown(source)} is another than it was, and nothing was written here since, so it was copied anew"
        return Begun(path, f"{force}; {told}")
    told = (
        f"{_shown(source)} is another than this was begun with, and is NOT read, as this was written to since. "
        f"To take it, move {_shown(path)} away and run again; what was written there is then only where you moved it"
    )
    return Begun(path, f"{force}; {told}")


def _copy(
    path: Path,
    source: Path,
    read: Callable[[Path], Sequence[AnyRecord]],
    write: Callable[[Path, Sequence[AnyRecord]], None],
) -> None:
    before, records = _digest(source), read(source)
    if source.suffix == path.suffix:
        with replacing(path) as temporary:
            shutil.copyfile(source, temporary)
    else:
        write(path, records)
    with replacing(_origin_file(path)) as temporary:
        temporary.write_text(
            _Origin(source_digest=before, copy_digest=_digest(path)).model_dump_json(), encoding="utf-8"
        )


def _origin_of(path: Path) -> _Origin | None:
    try:
        return _Origin.model_validate_json(_origin_file(path).read_bytes())
    except (OSError, ValidationError):  # Then nothing is known of it, and nothing is replaced.
        return None


def _origin_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.begun")


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def _shown(path: Path) -> str:
    return str(path.relative_to(ROOT) if path.is_relative_to(ROOT) else path)
