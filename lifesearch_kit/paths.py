"""Where things lie: paths are meant from the checkout's root, whatever the working directory is."""

from __future__ import annotations

import re
from pathlib import Path

from lifesearch_kit.errors import InputError

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = ROOT / "notebooks"
FIGURES = ROOT / "figures"

_PLAIN_NAME = re.compile(r"\w[\w.-]*")


def resolve(path: str | Path) -> Path:
    """An absolute path as it is, a relative one from the checkout's root."""
    return ROOT / Path(path).expanduser()


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
