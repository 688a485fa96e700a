"""The packaged model: its pieces are checked and joined into one file, which is checked again at every start."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from lifesearch_kit.errors import InputError
from lifesearch_kit.local.parts import PackagedModel, Part
from lifesearch_kit.paths import resolve

HERE = Path(__file__).parent
MODELS = resolve("data/external/models")
NOTICES = ("MODEL_NOTICE.txt", "LICENSE-Apache-2.0.txt")
INSTALL = "pip install '.[local]'"
_LEFTOVER_SECONDS = 3600.0


def ensure_model(model: PackagedModel, folder: Path = MODELS, say: Callable[[str], None] = print) -> Path:
    """Return the joined model file; its checksum has been taken anew, and its licence lies beside it.

    The file is joined when it is absent, or when it is not what it should be.

    Parameters
    ----------
    say
        Told each step that takes time.

    Raises
    ------
    InputError
        When a piece is missing or altered, or when the disk has no room or cannot be written to.
    """
    target = folder / f"{model.name}.gguf"
    with _disk_faults(folder, model.bytes):
        if not _is_sound(target, model, say):
            say(f"checking the {len(model.parts)} parts of {target.name}")
            pieces = _checked_pieces(model)
            folder.mkdir(parents=True, exist_ok=True)
            _require_room(folder, model.bytes)
            say(f"joining them into {target}")
            _join(pieces, target, model)
        for name in NOTICES:
            shutil.copyfile(HERE / name, folder / name)
    return target


def _is_sound(target: Path, model: PackagedModel, say: Callable[[str], None]) -> bool:
    if not target.is_file():
        return False
    say(f"checking {target.name}")
    if _matches(target, model.bytes, model.sha256):
        return True
    target.unlink()
    say(f"{target}: was altered (it has not the model's checksum), so it was removed and is joined anew")
    return False


def _checked_pieces(model: PackagedModel) -> list[Path]:
    found = {part: part.installed() for part in model.parts}
    missing = [part for part, path in found.items() if path is None]
    if len(missing) == len(model.parts):
        raise InputError(
            f"{model.name}: the packages that carry the model are not installed; {INSTALL} gets them "
            f"({model.bytes:,} bytes), or name a model file of your own with --model or a running server with --server"
        )
    if missing:
        raise InputError(f"{model.name}: {_named(missing)} not installed; {_reinstall(missing)}")
    pieces = {part: path for part, path in found.items() if path is not None}
    altered = [part for part, path in pieces.items() if not _matches(path, part.bytes, part.sha256)]
    if altered:
        raise InputError(
            f"{model.name}: {_named(altered)} not as published (the checksum of {pieces[altered[0]]} is another); "
            f"{_reinstall(altered)}"
        )
    return list(pieces.values())


def _named(parts: list[Part]) -> str:
    names = ", ".join(part.package for part in parts)
    return f"the package {names} is" if len(parts) == 1 else f"the packages {names} are"


def _reinstall(parts: list[Part]) -> str:
    wanted = " ".join(f"{part.package}=={part.version}" for part in parts)
    return f"install anew: pip install --force-reinstall --no-deps --only-binary :all: {wanted}"


def _matches(path: Path, size: int, sha256: str) -> bool:
    if path.stat().st_size != size:
        return False
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest() == sha256


def _join(pieces: list[Path], target: Path, model: PackagedModel) -> None:
    _remove_leftovers(target)
    number, name = tempfile.mkstemp(prefix=f"{target.name}.", suffix=".part", dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(number, "wb") as sink:
            _copy(pieces, sink)
        if not _matches(temporary, model.bytes, model.sha256):
            raise InputError(
                f"{target}: the joined parts have not the model's checksum, so nothing was kept; run again, and check "
                "the disk if that does not help"
            )
        # A temporary file is readable by its owner only.
        temporary.chmod(0o644)
        temporary.replace(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _copy(pieces: list[Path], sink: BinaryIO) -> None:
    for piece in pieces:
        with piece.open("rb") as source:
            shutil.copyfileobj(source, sink, 1024 * 1024)
    sink.flush()
    os.fsync(sink.fileno())


def _remove_leftovers(target: Path) -> None:
    """Remove what a killed process left half joined; a file that still grows is another process's."""
    for leftover in target.parent.glob(f"{target.name}.*.part"):
        if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
            leftover.unlink(missing_ok=True)


def _require_room(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise InputError(_no_room(folder, needed, free))


def _no_room(folder: Path, needed: int, free: int) -> str:
    return f"{folder}: the model needs {needed:,} bytes there and {free:,} are free; free some and run again"


@contextmanager
def _disk_faults(folder: Path, needed: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise InputError(_no_room(folder, needed, shutil.disk_usage(folder).free)) from None
        raise InputError(
            f"{error.filename or folder}: cannot be read or written ({error.strerror}); correct that and run again"
        ) from None
