"""One run of a profile at a time: a second one would start a second server and remove the first one's figures."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from lifesearch_kit.sqlite_files import locked


def claim(name: str, folder: Path) -> AbstractContextManager[None]:
    """Keep other processes from running the profile of this name; the claim ends with the process, however it ends.

    Parameters
    ----------
    folder
        Where the file lies that is locked; made when absent.

    Raises
    ------
    InputError
        When another process runs the profile, or when the folder cannot be written to.
    """
    busy = f"profile {name!r} is being run already; wait for that run, or stop it"
    return locked(folder / f"{name}.claim.sqlite", 0, busy, "correct that and run again")
