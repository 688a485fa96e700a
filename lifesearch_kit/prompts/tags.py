"""Tags around text that others wrote, with a code that the text does not hold: nothing can close its own tag."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from lifesearch_kit.fields import fingerprint


def tag_code(seed: Iterable[str], absent_from: Iterable[str]) -> str:
    """A code that follows from `seed` and stands in none of these texts."""
    parts, texts = tuple(seed), tuple(absent_from)
    attempts = (fingerprint(*parts, attempt) for attempt in itertools.count())
    return next(code for code in attempts if not any(code in text for text in texts))


def tagged(name: str, content: str, code: str) -> str:
    """A text between its tags, on lines of its own."""
    return f"<{name}-{code}>\n{content}\n</{name}-{code}>"
