"""Bytes to text when a header or a page may be silent or wrong about its character encoding."""

from __future__ import annotations

import codecs
import re
from itertools import chain

from charset_normalizer import from_bytes

_SAMPLE = 32_000
# With fewer bytes beyond ASCII than this a guess is worth less than what the page says of itself.
_TELLING = 60
_BROKEN_SHARE = 0.01
# A letter with an accent between plain ones: the look of Western text, and hardly ever of an East Asian one.
_WESTERN = re.compile(rb"[a-z][\xc0-\xff](?=[a-z])", re.I)
_MARKS = [
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
]
# What is declared under these names is, in practice, the larger set.
_LARGER = {
    **dict.fromkeys(("gb2312", "gbk", "hz"), "gb18030"),
    "big5": "big5hkscs",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
    **dict.fromkeys(("iso8859-1", "ascii"), "cp1252"),
}
# Servers add these to every page, whatever it holds.
_UNASKED = ("cp1252", "utf-8")
_DECLARED = re.compile(rb"(?:charset|encoding)\s*=\s*[\"']?\s*([\w:.-]+)", re.I)


def decode(data: bytes, declared: str = "") -> str | None:
    """The text, or None when no encoding fits.

    A byte order mark decides, then valid UTF-8, then what the bytes look like; what the header (`declared`) or the
    page itself says decides short pages, and where the look tells nothing.
    """
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return data.decode(codec, "replace")
    zeros = data[:_SAMPLE].count(0)
    if zeros * 20 > min(len(data), _SAMPLE):
        return _tolerant(data, "utf-16-be" if data[0:_SAMPLE:2].count(0) * 2 > zeros else "utf-16-le")
    stated = [name for name in map(_codec, (declared, _in_page(data))) if name]
    # Text in ISO-2022 is ASCII to the eye.
    if b"\x1b$" in data or b"\x1b(" in data:
        stated = [name for name in stated if name.startswith("iso2022")] or ["iso2022_jp"]
    elif (text := _strict(data, "utf-8")) is not None:
        return text
    told = [name for name in stated if name not in _UNASKED]
    beyond = data.translate(None, bytes(range(128)))
    trusted = told and len(beyond) < _TELLING and len(_WESTERN.findall(data)) * 2 <= len(beyond)
    guesses = [] if trusted else _guesses(data)
    order = list(dict.fromkeys([*guesses, *told, *_UNASKED[1:], *stated]))
    read = chain((_strict(data, name) for name in order), (_tolerant(data, name) for name in order))
    return next((text for text in read if text is not None), None)


def _guesses(data: bytes) -> list[str]:
    beyond = re.search(rb"[\x80-\xff]", data)
    start = max(0, beyond.start() - _SAMPLE // 2) if beyond else 0
    best = from_bytes(data[start : start + _SAMPLE]).best() or from_bytes(data[:1_000_000]).best()
    return [name for name in (_codec(best.encoding),) if name] if best else []


def _in_page(data: bytes) -> str:
    found = _DECLARED.search(data[:4096])
    return found[1].decode("latin-1") if found else ""


def _codec(name: str) -> str:
    try:
        known = codecs.lookup(name.strip().strip("\"'")).name if name else ""
    except (LookupError, ValueError):
        return ""
    return _LARGER.get(known, known)


def _strict(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except (UnicodeDecodeError, LookupError):
        return None


def _tolerant(data: bytes, codec: str) -> str | None:
    try:
        text = data.decode(codec, "replace")
    except LookupError:
        return None
    wide = sum(not char.isascii() for char in text)
    return text if text.count("\N{REPLACEMENT CHARACTER}") <= _BROKEN_SHARE * wide else None
