"""The packages that programs of the python tool may import: where they are, which versions, and nothing else beside."""

from __future__ import annotations

import platform
import sys
from functools import cache
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

PACKAGES = ("numpy", "pandas", "scipy")
_IMPORTED_BY_THEM = ("python-dateutil", "six", "pytz", "tzdata")


@cache
def package_mounts() -> tuple[tuple[tuple[Path, str], ...], tuple[str, ...]]:
    """Mounts of the packages, nothing else of the environment, and the folders that Python then finds them in."""
    base = Path(sys.base_prefix).resolve()
    mounts: list[tuple[Path, str]] = []
    paths: dict[str, None] = {}
    for found in filter(None, map(_distribution, (*PACKAGES, *_IMPORTED_BY_THEM))):
        folder = Path(str(found.locate_file(""))).resolve()
        if folder.is_relative_to(base):
            paths[f"/python/{folder.relative_to(base)}"] = None
            continue
        paths["/packages"] = None
        names = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
        mounts += [(folder / name, f"/packages/{name}") for name in sorted(names)]
    return tuple(mounts), tuple(paths)


def _distribution(name: str) -> Distribution | None:
    try:
        return distribution(name)
    except PackageNotFoundError:
        return None


def versions() -> str:
    """Python and the packages with their versions, as they may change what a program prints."""
    found = [(name, one.version) for name in PACKAGES if (one := _distribution(name))]
    return ", ".join(f"{name} {version}" for name, version in (("CPython", platform.python_version()), *found))
