"""Strict reading of a judge's reply: true, false, or unjudged. Ambiguity is unjudged, never a guess."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lifesearch_kit.records import JudgmentStatus
from lifesearch_kit.text import fold

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_OBJECT_AT_LINE_START = re.compile(r"^[ \t]*(?=\{)", re.MULTILINE)
_UNESCAPED_REASON = re.compile(
    r'\{\s*"satisfied"\s*:\s*(true|false)\s*,\s*"reason"\s*:\s*"((?:(?!"satisfied"\s*:).)*)"\s*\}', re.DOTALL
)
_FENCE = re.compile(r"\A\s*(?:```|~~~)\w*\s*\n|\n\s*(?:```|~~~)\s*\Z")
_WORDS = {"true": True, "false": False}


@dataclass(frozen=True)
class Verdict:
    """What a reply says. `satisfied` is None unless `status` is ``ok``; `notes` name every leniency that was used."""

    satisfied: bool | None
    status: JudgmentStatus
    reason: str = ""
    notes: tuple[str, ...] = ()


def read_verdict(reply: str) -> Verdict:
    """Read a judge's reply.

    Accepted is one JSON object with `satisfied`, alone on its line or lines, whether or not a code fence, prose or a
    thinking block surrounds it. An object inside a sentence is a quotation and does not count, so that a judge who
    quotes what a report planted cannot be misread.

    Returns
    -------
    Verdict
        ``unparseable`` when there is no such object, when two disagree, when a field stands twice in it, or when its
        value is neither true nor false.
    """
    text = _THINKING.sub("", reply).strip()
    if not text:
        return Verdict(None, "unparseable", "the reply holds no text")
    objects, broken = _objects(text)
    verdicts = [verdict for verdict in map(_verdict_of, objects) if verdict is not None]
    if broken or not verdicts:
        return _with_unescaped_reason(text)
    if len({verdict.satisfied for verdict in verdicts}) > 1:
        return Verdict(None, "unparseable", "the reply holds verdicts that disagree")
    return verdicts[-1]


def _objects(text: str) -> tuple[list[_Pairs], bool]:
    """The objects that begin a line, and whether one that mentions a verdict could not be read.

    What stands inside a broken object may be a quotation, so nothing after it can be trusted.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, strict=False)
    objects: list[_Pairs] = []
    end = 0
    for start in _OBJECT_AT_LINE_START.finditer(text):
        if start.end() < end:
            continue
        try:
            value, end = decoder.raw_decode(text, start.end())
        except (json.JSONDecodeError, RecursionError):
            if "satisfied" in fold(text[start.end() :]):
                return objects, True
            continue
        objects.append(value)
    return objects, False


class _Pairs(list[tuple[str, Any]]):
    """An object's fields in order, so that a repeated field is seen."""


def _verdict_of(fields: _Pairs) -> Verdict | None:
    named = [(fold(name), value) for name, value in fields]
    values = [value for name, value in named if name == "satisfied"]
    if not values:
        return None
    if len(values) > 1:
        return Verdict(None, "unparseable", "the field 'satisfied' stands twice in the reply")
    notes = [f"spelling of field {name!r}" for name, _ in fields if fold(name) == "satisfied" and name != "satisfied"]
    value = values[0]
    if isinstance(value, str) and fold(value) in _WORDS:
        notes.append(f"{value!r} was read as {_WORDS[fold(value)]}")
        value = _WORDS[fold(value)]
    if not isinstance(value, bool):
        shown = json.dumps(value, ensure_ascii=False)
        return Verdict(None, "unparseable", f"'satisfied' is {shown}: neither true nor false")
    reason = next((value for name, value in named if name == "reason"), None)
    if not isinstance(reason, str) or not reason.strip():
        notes.append("no reason given")
    return Verdict(value, "ok", reason if isinstance(reason, str) else "", tuple(notes))


def _with_unescaped_reason(text: str) -> Verdict:
    match = _UNESCAPED_REASON.fullmatch(_FENCE.sub("", text).strip())
    if match is None:
        return Verdict(None, "unparseable", "the reply holds no verdict in the form that was asked for")
    return Verdict(_WORDS[match[1]], "ok", match[2], ("unescaped quotation marks in the reason",))
