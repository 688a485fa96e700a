"""Keys do not travel in what a vendor says: its words go to the user, to the model and into the transcript."""

from __future__ import annotations

# Shorter ones are stand-ins for endpoints that ask for no key, and may be ordinary words.
_KEY_LENGTH = 8


def redact(text: str, key: str) -> str:
    """The text with `[key]` for each place where the key stands. To be called before the text is cut or parsed."""
    return text.replace(key, "[key]") if len(key) >= _KEY_LENGTH else text
