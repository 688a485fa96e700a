"""Keys do not travel: what vendors, pages and programs say goes to the user, to the model and into the records."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from urllib.parse import quote

# Shorter ones are stand-ins for endpoints that ask for no key, and may be ordinary words.
_KEY_LENGTH = 8
# Variables whose values are keys, whoever asks for them: any of them may turn up in what a tool brings.
_KEY_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)S?\Z", re.I)
_NO_KEY = re.compile(r"[/~.]|\w+://|\S*\s")


def redact(text: str, key: str) -> str:
    """The text with `[key]` for each place where the key stands. To be called before the text is cut or parsed."""
    return text.replace(key, "[key]") if len(key) >= _KEY_LENGTH else text


def known_secrets() -> tuple[str, ...]:
    """Values of the environment variables that are named like keys, in each spelling in which a record may hold them.

    Paths, addresses and sentences are no keys, whatever their variable is called.
    """
    keys = {value.strip() for name, value in os.environ.items() if _KEY_NAME.search(name)}
    keys = {key for key in keys if len(key) >= _KEY_LENGTH and not _NO_KEY.match(key)}
    return tuple(sorted({form for key in keys for form in (key, json.dumps(key)[1:-1], quote(key, safe=""))}))


def redact_secrets(text: str, secrets: Iterable[str] | None = None) -> str:
    """The text without `secrets`: `known_secrets`, where they are not given."""
    for secret in known_secrets() if secrets is None else secrets:
        text = text.replace(secret, "[key]")
    return text
