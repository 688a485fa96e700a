"""The packaged model: its pieces are checked and joined into one file, which is checked again at every start."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from lifesearch_kit.errors import InputError
from lifesearch_kit.local.install import HERE, install_command
from lifesearch_kit.local.parts import PackagedModel, Part
from lifesearch_kit.paths import resolve

MODELS = resolve("data/external/models")
NOTICES = ("MODEL_NOTICE.txt", "LICENSE-Apache-2.0.txt")
_GGUF = b"GGUF"
_LEFTOVER_SECONDS = 3600.0


def own_model(path: Path, say: Callable[[str], None] = print) -> tuple[Path, str]:
    """Return a GGUF file's absolute path and its name: the file's own with the first digits of its sha256.

    Results are kept by the model's name, so two models must not come under one.

    Raises
    ------
    InputError
        When the file cannot be read or has another format.
    """
    place = Path(os.path.expanduser(path))
    say(f"checking {place.name}")
    try:
        with place.open("rb") as content:
            if content.read(len(_GGUF)) != _GGUF:
                raise InputError(f"{path}: is no GGUF file; give --model a model in that format")
            content.seek(0)
            checksum = hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); correct --model") from None
    return place.resolve(), f"{place.stem}@{checksum[:8]}"


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
        sound = _is_sound(target, model, say)
        if not sound:
            say(f"checking the {len(model.parts)} parts of {target.name}")
            pieces = _checked_pieces(model)
            folder.mkdir(parents=True, exist_ok=True)
            _require_room(folder, model.bytes)
            say(f"joining them into {target}")
            _join(pieces, target, model)
        for name in NOTICES:
            if not sound or not (folder / name).is_file():
                shutil.copyfile(HERE / name, folder / name)
    return target


def _is_sound(target: Path, model: PackagedModel, say: Callable[[str], None]) -> bool:
    if not target.is_file():
        return False
    say(f"checking {target.name}")
    if _matches(target, model.bytes, model.sha256):
        return True
    target.unlink(missing_ok=True)
    say(f"{target}: was altered (it has not the model's checksum), so it was removed and is joined anew")
    return False


def _checked_pieces(model: PackagedModel) -> list[Path]:
    found = {part: part.installed() for part in model.parts}
    missing = [part for part, path in found.items() if path is None]
    if len(missing) == len(model.parts):
        raise InputError(
            f"{model.name}: the packages that carry the model ({model.bytes:,} bytes) are not installed; name a model "
            f"file of your own with --model, or a running server with --server, or install them: {install_command()}"
        )
    if missing:
        # Where only its file is gone, pip holds the package for installed.
        raise InputError(f"{model.name}: {_named(missing)} not installed; install anew: {install_command(anew=True)}")
    pieces = {part: path for part, path in found.items() if path is not None}
    altered = [part for part, path in pieces.items() if not _matches(path, part.bytes, part.sha256)]
    if altered:
        raise InputError(
            f"{model.name}: {_named(altered)} not as published (the checksum of {pieces[altered[0]]} is another); "
            f"install anew: {install_command(anew=True)}"
        )
    return list(pieces.values())


def _named(parts: list[Part]) -> str:
    names = ", ".join(part.package for part in parts)
    return f"the package {names} is" if len(parts) == 1 else f"the packages {names} are"


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
        with suppress(FileNotFoundError):
            if time.time() - leftover.stat().st_mtime > _LEFTOVER_SECONDS:
                leftover.unlink()


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
