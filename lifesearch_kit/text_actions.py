"""One reply of the text protocol, read as an action: a tool call, a report, or what is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from lifesearch_kit.text import repair

TOOL, ARGUMENTS, REPORT = "tool", "arguments", "report"
_REASONING = re.compile(r"\A\s*[^\s{].*?^[ \t]*</(?:think|thinking)>[ \t]*$", re.S | re.M)
_OBJECT = re.compile(r"^[ \t]*(\{)", re.M)
_ANOTHER = re.compile(r'\{\s*"')
_FENCE = re.compile(r"(?:```|~~~)\w*")
_UNFINISHED_REPORT = re.compile(r'^[ \t]*\{\s*"report"\s*:\s*"((?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)', re.M)
# What may follow where nothing but the cut keeps the object from being read: part of an escape, or the string's end.
_CUT = re.compile(r'(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z|"\s*\}?\s*\Z')
_HALF_AT_END = re.compile("[\ud800-\udbff]\\Z")


@dataclass(frozen=True)
class Action:
    """What a reply asks for: a call where `tool` is given, the end where `report` is; otherwise `fault` says why not.

    `notes` name every leniency that was used.
    """

    tool: str | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    report: str | None = None
    fault: str = ""
    notes: tuple[str, ...] = ()


def read_action(text: str, *, truncated: bool = False) -> Action:
    """Read a reply's visible text.

    Accepted is one JSON object that begins a line. A code fence, reasoning or words around it are left out and noted;
    line breaks that its strings hold as they are, are read and noted. An object inside a sentence is a quotation.

    Parameters
    ----------
    text
        The reply without reasoning that the endpoint marks.
    truncated
        Whether it was cut at the output limit. A report is read as far as it goes then.
    """
    shown = _REASONING.sub("", text, count=1)
    begins = _OBJECT.search(shown)
    if begins is None:
        return Action(fault="it holds no JSON object")
    start = begins.start(1)
    try:
        fields, end, notes = _decode(shown, start)
    except (ValueError, RecursionError) as error:
        if not truncated:
            reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            return Action(fault=f"its JSON cannot be read ({reason})")
        report = recover_report(shown[begins.start() :])
        if report is None:
            return Action(fault="it was cut at the output limit before its JSON object was complete")
        return Action(report=report, notes=("the report was recovered from a JSON object that was cut off",))
    if _ANOTHER.search(shown, end):
        return Action(fault="it holds more than one JSON object")
    return _action(fields, (*notes, *_around(text, shown[:start] + shown[end:], shown)))


def recover_report(text: str) -> str | None:
    """The report so far, from an object that was cut off inside it.

    An escape that the cut went through is left out, and so is half a character. None where the text begins no report,
    or where more than the cut keeps it from being read: part of the report would be lost without a word.
    """
    match = _UNFINISHED_REPORT.match(text)
    if match is None or not _CUT.match(text, match.end()):
        return None
    return repair(_HALF_AT_END.sub("", json.loads(f'"{match[1]}"', strict=False)))[0]


def _decode(text: str, start: int) -> tuple[dict[str, Any], int, list[str]]:
    notes: list[str] = []
    try:
        fields, end = json.JSONDecoder(object_pairs_hook=_unique).raw_decode(text, start)
    except json.JSONDecodeError:
        fields, end = json.JSONDecoder(object_pairs_hook=_unique, strict=False).raw_decode(text, start)
        notes.append("line breaks inside a JSON string were not escaped")
    repaired, halves = repair(fields)
    if halves:
        notes.append(f"{halves} lone surrogate(s) in the JSON object were replaced")
    return repaired, end, notes


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object's fields; of two values under one name none is to be preferred."""
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise ValueError(f"the field {name[:64]!r} stands twice in one object")
        fields[name] = value
    return fields


def _around(text: str, outside: str, shown: str) -> list[str]:
    notes = ["reasoning before the JSON object was left out"] if shown != text else []
    if _FENCE.sub("", outside).strip():
        notes.append("words around the JSON object were left out")
    elif outside.strip():
        notes.append("a code fence around the JSON object was left out")
    return notes


def _action(fields: dict[str, Any], notes: tuple[str, ...]) -> Action:
    if TOOL in fields and REPORT in fields:
        return Action(fault='its JSON object has both "tool" and "report"')
    if TOOL not in fields and REPORT not in fields:
        return Action(fault='its JSON object has neither "tool" nor "report"')
    known = {TOOL, ARGUMENTS} if TOOL in fields else {REPORT}
    if set(fields) - known:
        notes += ("further fields of the JSON object were not read",)
    if REPORT in fields:
        if not isinstance(fields[REPORT], str):
            return Action(fault='"report" is not a string')
        return Action(report=fields[REPORT], notes=notes)
    if not isinstance(fields[TOOL], str):
        return Action(fault='"tool" is not a string')
    arguments = fields.get(ARGUMENTS, {})
    if not isinstance(arguments, dict):
        return Action(fault='"arguments" is not a JSON object')
    return Action(tool=fields[TOOL], arguments=arguments, notes=notes)
