"""Keys do not travel: what vendors, pages and programs say goes to the user, to the model and into the records."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import lru_cache

# Shorter ones are stand-ins for endpoints that ask for no key, and may be ordinary words.
_KEY_LENGTH = 8
# Variables whose values are keys, whoever asks for them: any of them may turn up in what a tool brings.
_KEY_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL)S?(?:_?\d+)?\Z", re.I)
# A path, an address, a sentence, one ordinary word, a number: in a record they are something else.
_NO_KEY = re.compile(r"[/~.]|\w+://|\S*\s|(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,16}|\d{1,15})\Z")


# Of a variable that a profile names: a sentence, or the one word that stands in where no key is asked for.
_NO_NAMED_KEY = re.compile(r"\S*\s|(?:[A-Z]?[a-z]{1,15}|[A-Z]{1,16})\Z")
# Variables that hold keys whatever they are called: those that a profile or a tool names.
_named: set[str] = set()


def add_key_variable(name: str) -> None:
    """Say that an environment variable holds a key; `known_secrets` then holds its value, too."""
    _named.add(name)


def redact(text: str, key: str) -> str:
    """The text with `[key]` for each place where the key stands, also as an address or JSON spells it.

    To be called before the text is cut or parsed.
    """
    if len(key) < _KEY_LENGTH:
        return text
    part, pattern = _pattern(key)
    return pattern.sub("[key]", text) if part in text else text


def known_secrets() -> tuple[str, ...]:
    """Values of the environment variables that hold keys, by their name or as a profile says, the longest first.

    Paths, addresses, sentences, ordinary words and numbers are no keys, whatever their variable is called.
    """
    # Names alone first, as the system spells them: this is done for each tool call, and environments can be large.
    names = _key_names(tuple(getattr(os, "environb", os.environ)))
    return _secrets(_values(names), _values(_named))


def redact_secrets(text: str, secrets: Iterable[str] | None = None) -> str:
    """The text without `secrets`: `known_secrets`, where they are not given."""
    for secret in known_secrets() if secrets is None else secrets:
        text = redact(text, secret)
    return text


@lru_cache(maxsize=8)
def _key_names(names: tuple[str | bytes, ...]) -> tuple[str, ...]:
    """Those of an environment's variables whose names say that they hold keys."""
    return tuple(name for name in map(os.fsdecode, names) if _KEY_NAME.search(name))


def _values(names: Iterable[str]) -> tuple[str, ...]:
    return tuple([os.environ.get(name, "").strip() for name in names])


@lru_cache(maxsize=8)
def _secrets(keys: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
    found = {key for key in keys if not _NO_KEY.match(key)} | {key for key in named if not _NO_NAMED_KEY.match(key)}
    # One key may be the beginning of another.
    return tuple(sorted((key for key in found if len(key) >= _KEY_LENGTH), key=len)[::-1])


@lru_cache(maxsize=64)
def _pattern(key: str) -> tuple[str, re.Pattern[str]]:
    """The longest part of a key that has one spelling, which is looked for first, and a pattern for the whole."""
    part = max(re.findall(r"[A-Za-z0-9]*", key), key=len)
    return part, re.compile("".join(one if one.isascii() and one.isalnum() else _spelled(one) for one in key))


def _spelled(sign: str) -> str:
    """A sign percent-encoded, as JSON's number of it, or as it is behind any backslashes; each also encoded anew."""
    percent = "".join(f"%(?:25)*{byte:02x}" for byte in sign.encode("utf-8", "replace"))
    return rf"(?:(?i:{percent}|\\+u{ord(sign):04x})|\\*{re.escape(sign)})"
