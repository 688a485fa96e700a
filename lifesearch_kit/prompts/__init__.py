"""Prompts as text files, one a prompt; ``$name`` marks where a value goes."""

from __future__ import annotations

from pathlib import Path
from string import Template

from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import resolve

FOLDER = Path(__file__).parent


def load(name: str) -> Template:
    """Read a prompt.

    Parameters
    ----------
    name
        A prompt of the kit (``judge_en``), or the path of a text file of one's own (from the checkout's root).

    Raises
    ------
    InputError
        When there is neither, or when a ``$`` in it is no placeholder.
    """
    for path in (FOLDER / f"{name}.txt", resolve(name)):
        if path.is_file():
            template = Template(path.read_text(encoding="utf-8"))
            if not template.is_valid():
                raise InputError(f"prompt {name!r} holds a $ that begins no name; write $$ for a dollar sign")
            return template
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
