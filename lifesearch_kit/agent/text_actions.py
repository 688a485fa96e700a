"""One reply of the text protocol, read as an action: a tool call, a report, or what is wrong with it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import Any

from lifesearch_kit.text import repair

TOOL, ARGUMENTS, REPORT = "tool", "arguments", "report"
_REASONING = re.compile(r"\A\s*[^\s{].*?^[ \t]*</(?:think|thinking)>[ \t]*", re.S | re.M)
# An object begins a line; what models put before it in that line is a fence, a tag or their own name.
_OBJECT = re.compile(r"^[ \t\ufeff]*(?:(?:```|~~~)\w*[ \t]*|</?\w+>[ \t]*|You:[ \t]*)*(\{)", re.M)
_MEANT = re.compile(r'\{\s*"(?:tool|report|name)"\s*:')
_ANOTHER = re.compile(r'\{\s*"')
_MARKS = re.compile(r"(?:```|~~~)\w*|</?\w+>|\ufeff|^You:", re.M)
_UNFINISHED_REPORT = re.compile(r'\{\s*"report"\s*:\s*"((?:[^"\\]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*)')
# What may follow where nothing but the cut keeps the object from being read: part of an escape, or the string's end.
_CUT = re.compile(r'(?:\\(?:u[0-9a-fA-F]{0,3})?)?\Z|"\s*\}?\s*\Z')
_HALF_AT_END = re.compile("[\ud800-\udbff]\\Z")
_UNESCAPED_REPORT = re.compile(
    r'\{\s*"report"\s*:\s*"((?:(?!"(?:tool|report)"\s*:).)*)"\s*\}\s*(?:```|~~~)?\s*\Z', re.S
)
_ESCAPE = re.compile(r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})')


@dataclass(frozen=True)
class Action:
    """What a reply asks for: a call where `tool` is given, the end where `report` is; otherwise `fault` says why not.

    `arguments` are as written, to be read like those of any call. `is_prose` marks a fault without any object that
    could have been meant as an action. `source` is the object's own text, `cut` whether the output limit went through
    it. `notes` name every leniency that was used.
    """

    tool: str | None = None
    arguments: Any = None
    report: str | None = None
    fault: str = ""
    is_prose: bool = False
    source: str = ""
    cut: bool = False
    notes: tuple[str, ...] = ()


def read_action(text: str, *, truncated: bool = False) -> Action:
    """Read a reply's visible text.

    Accepted is one JSON object that begins a line. A code fence, reasoning or words around it are left out and noted,
    but a report with words before and after it is a quotation; line breaks that its strings hold as they are, and
    quotation marks inside a report, are read and noted.

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
        return Action(fault="it holds no JSON object that begins a line", is_prose=not _MEANT.search(shown))
    start = begins.start(1)
    try:
        fields, end, notes = _decode(shown, start)
    except (ValueError, RecursionError) as error:
        return _unreadable(shown[start:], error, truncated)
    if _ANOTHER.search(shown, end):
        return Action(fault="it holds more than one JSON object")
    before, after = (bool(_MARKS.sub("", part).strip()) for part in (shown[:start], shown[end:]))
    if REPORT in fields and before and after:
        return Action(fault="its JSON object stands between other words, as a quotation does")
    outside = shown[:start] + shown[end:]
    action = _action(fields, (*notes, *_around(outside, reasoning=shown != text)))
    return replace(action, source=shown[start:end])


def _unreadable(source: str, error: Exception, truncated: bool) -> Action:
    """An object that is no JSON: a report that was cut, or whose quotation marks are not escaped, can be read still."""
    if truncated:
        report = recover_report(source)
        if report is None:
            return Action(fault="it was cut at the output limit before its JSON object was complete", cut=True)
        notes = ("the report was recovered from a JSON object that was cut off",)
        return Action(report=report, source=source, cut=True, notes=notes)
    unescaped = _UNESCAPED_REPORT.match(source)
    if unescaped:
        report = _ESCAPE.sub(lambda escape: json.loads(f'"{escape[0]}"'), unescaped[1])
        notes = ("quotation marks inside the report were not escaped",)
        return Action(report=repair(report)[0], source=source, notes=notes)
    reason = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
    return Action(fault=f"its JSON cannot be read ({reason})")


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


def _around(outside: str, *, reasoning: bool) -> list[str]:
    notes = ["reasoning before the JSON object was left out"] if reasoning else []
    if _MARKS.sub("", outside).strip():
        notes.append("words around the JSON object were left out")
    elif outside.strip():
        notes.append("a code fence around the JSON object was left out")
    return notes


def _action(fields: dict[str, Any], notes: tuple[str, ...]) -> Action:
    if TOOL not in fields and set(fields) == {"name", ARGUMENTS}:
        fields = {TOOL: fields["name"], ARGUMENTS: fields[ARGUMENTS]}
        notes += ('the tool was named by "name"',)
    if TOOL in fields and REPORT in fields:
        return Action(fault='its JSON object has both "tool" and "report"')
    if TOOL not in fields and REPORT not in fields:
        return Action(fault='its JSON object has neither "tool" nor "report"')
    if REPORT in fields:
        if not isinstance(fields[REPORT], str):
            return Action(fault='"report" is not a string')
        if fields[REPORT].strip() and not any(letter.isalnum() for letter in fields[REPORT]):
            return Action(fault='"report" holds no words')
        extra = ("further fields of the JSON object were not read",) if len(fields) > 1 else ()
        return Action(report=fields[REPORT], notes=(*notes, *extra))
    if not isinstance(fields[TOOL], str):
        return Action(fault='"tool" is not a string')
    rest = {name: value for name, value in fields.items() if name not in (TOOL, ARGUMENTS)}
    if ARGUMENTS in fields:
        extra = ("further fields of the JSON object were not read",) if rest else ()
        return Action(tool=fields[TOOL], arguments=fields[ARGUMENTS], notes=(*notes, *extra))
    extra = ('the arguments stood beside "tool"',) if rest else ()
    return Action(tool=fields[TOOL], arguments=rest, notes=(*notes, *extra))
