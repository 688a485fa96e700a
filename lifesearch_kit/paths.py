"""Where things lie, from the checkout's root whatever the working directory is, and files replaced in one step."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lifesearch_kit.errors import InputError

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"

_PLAIN_NAME = re.compile(r"\w[\w.-]*")


def resolve(path: str | Path) -> Path:
    """An absolute path as it is, a relative one from the checkout's root.

    Raises
    ------
    InputError
        When it begins with ``~`` and the name of nobody.
    """
    try:
        return ROOT / Path(path).expanduser()
    except RuntimeError:
        raise InputError(f"{path}: there is no such home folder; write the whole path") from None


def make_folder(folder: Path, setting: str) -> None:
    """Make a folder, with those above it, where it is absent.

    Parameters
    ----------
    setting
        What names it, in an error's words.

    Raises
    ------
    InputError
        When that cannot be done: a file is in its place, or rights are missing.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        blocking = next((one for one in (folder, *folder.parents) if os.path.isfile(one)), None)
        reason = f"{blocking} is a file" if blocking else getattr(error, "strerror", None) or str(error)
        raise InputError(f"{folder}: no folder can be made there ({reason}); correct `{setting}`") from None


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a place beside a file to write to, which takes the file's own in one step once all is written.

    The folder is made where it is absent. Where writing fails, the file stays as it was.
    """
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".part")
    yield temporary
    temporary.replace(target)


def plain_name(name: str, what: str) -> str:
    """Return `name` if it can be the name of one file or folder.

    Raises
    ------
    InputError
        When it holds a separator or anything else that would lead elsewhere.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise InputError(
            f"{what} {name!r} becomes a file name: use letters, digits, '_', '-' and '.' only (a profile whose file is "
            "named otherwise can give its name by the key 'profile')"
        )
    return name
