"""Prompts as text files, one a prompt; ``$name`` marks where a value goes."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from lifesearch_kit.errors import InputError

FOLDER = Path(__file__).parent


@cache
def load(name: str) -> Template:
    """Read a prompt.

    Parameters
    ----------
    name
        A prompt of the kit (``judge_en``), or the path of a text file of one's own.

    Raises
    ------
    InputError
        When there is neither.
    """
    for path in (FOLDER / f"{name}.txt", Path(name)):
        if path.is_file():
            return Template(path.read_text(encoding="utf-8"))
    known = ", ".join(sorted(path.stem for path in FOLDER.glob("*.txt")))
    raise InputError(f"prompt {name!r} is neither a file nor one of the kit's prompts; choose from {known}")


def render(name: str, /, **values: str) -> str:
    """Fill a prompt in one pass: text inside a value is never taken for a placeholder.

    Raises
    ------
    InputError
        When the prompt asks for a value that is not given.
    """
    template = load(name)
    unknown = sorted(set(template.get_identifiers()) - set(values))
    if unknown:
        given = ", ".join(sorted(values))
        raise InputError(f"prompt {name!r} asks for ${unknown[0]}, which is not given; it may use {given}")
    return template.substitute(values)
