"""Text at the edges: half characters, invisible marks, odd spellings of fixed words; places in a text."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_INVISIBLE = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\U000e0000-\U000e007f]"
)
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))


class Span(NamedTuple):
    """Where in a text something was found, and the words."""

    start: int
    end: int
    quote: str


def replace_lone_surrogates(text: str) -> tuple[str, int]:
    """Make a text encodable as UTF-8.

    Returns
    -------
    tuple of str and int
        The text with whole pairs joined and each lone half replaced by U+FFFD, and how many were.
    """
    # The encoder finds one faster than a search does.
    try:
        text.encode()
    except UnicodeEncodeError:
        pass
    else:
        return text, 0
    units = text.encode("utf-16-le", "surrogatepass")
    repaired = units.decode("utf-16-le", "replace")
    return repaired, repaired.count(REPLACEMENT) - text.count(REPLACEMENT)


def encode(value: Any) -> bytes:
    """A JSON value as UTF-8, without blanks; lone halves of characters are replaced."""
    text = _ENCODER.encode(value)
    try:
        return text.encode()
    except UnicodeEncodeError:
        return replace_lone_surrogates(text)[0].encode()


def strip_invisible(text: str) -> str:
    """Remove zero-width, bidirectional and tag characters; everything visible stays as it is."""
    return _INVISIBLE.sub("", text)


def fold(word: str) -> str:
    """Reduce a fixed word to what it means: width, case, spacing and invisible marks do not count."""
    return " ".join(unicodedata.normalize("NFKC", strip_invisible(word)).casefold().split())


def canonical(word: str, choices: Iterable[str]) -> str | None:
    """The member of `choices` that `word` spells, or None."""
    folded = fold(word)
    return next((choice for choice in choices if fold(choice) == folded), None)


def repair(value: Any) -> tuple[Any, int]:
    """Make every string of a JSON value encodable as UTF-8.

    Returns
    -------
    tuple of Any and int
        The value (itself where nothing was wrong) and how many lone halves were replaced.
    """
    if isinstance(value, str):
        return replace_lone_surrogates(value)
    if isinstance(value, list):
        items = [repair(item) for item in value]
        return [item for item, _ in items], sum(count for _, count in items)
    if isinstance(value, dict):
        pairs = [(repair(key), repair(item)) for key, item in value.items()]
        return {key: item for (key, _), (item, _) in pairs}, sum(one + two for (_, one), (_, two) in pairs)
    return value, 0
