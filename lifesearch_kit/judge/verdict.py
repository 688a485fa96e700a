"""Strict reading of a judge's reply: true, false, or unjudged. Ambiguity is unjudged, never a guess."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, NamedTuple

from lifesearch_kit.records import JudgmentStatus
from lifesearch_kit.text import fold

_THINKING = re.compile(
    r"(?:\s*<((?:[a-z_]+:)?(?:think|thinking|thought|reasoning))\b[^<>]*>.*?(?:</\1>|\Z))+", re.DOTALL | re.IGNORECASE
)
# Marks of a chat's or an answer's beginning and end, which say nothing.
_MARKS = re.compile(r"<\|[^|<>\n]{1,40}\|>|</?(?:answer|output|json|result|s)>|\ufeff", re.IGNORECASE)
_WORDS_AFTER = re.compile(r"\w")
# What a reply says of its verdict before the object: the last word decides, as a sentence may weigh both.
_STATED = re.compile(
    r"(?:verdict|answer|decision|judge?ment|conclusion|satisfied|结论|判定|判断|裁决|答案)[\s*_`\"'”]*(?:is|as|为|是|[:：=])+[\s*_`\"'“]*"
    r"(?P<no>false|no\b|not\b|fail|unmet|unsatisf|missing|partial|不|未|没|否)?(?P<yes>true|yes|pass|met\b|satisf|通过|满足|符合|达标|是)?",
    re.IGNORECASE,
)
_INTRODUCES_A_QUOTATION = re.compile(
    r"(?:report|response|text|quot|plant|says|states|contains|line|报告|回复|回答|原文|引用|写道|植入)[^\n]*[:：]\s*(?:(?:```|~~~)\w*)?\s*\Z",
    re.IGNORECASE,
)
_MOST_OBJECTS = 100
_VERDICT, _REASON = r'"satisfied"\s*:\s*(true|false)', r'"reason"\s*:\s*"((?:(?!"satisfied"\s*:).)*)"'
# Either order of the two fields: a judge that gives its reason first must not lose verdicts that the other one keeps.
_UNESCAPED_REASON = re.compile(rf"\{{\s*(?:{_VERDICT}\s*,\s*{_REASON}|{_REASON}\s*,\s*{_VERDICT})\s*\}}", re.DOTALL)
_FENCE = re.compile(r"\A\s*(?:```|~~~)\w*\s*|\s*(?:```|~~~)\s*\Z")
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

    Accepted is one JSON object with `satisfied`, alone on its line or lines, in a code fence or not, behind a thinking
    block or prose. An object inside a sentence is a quotation, and so is one that a line such as "The report says:"
    introduces. Wherever they stand, two objects that disagree leave the rubric unjudged, and so do any words after the
    object, and words before it that state the other verdict: a judge who quotes what a report planted is not misread.

    Returns
    -------
    Verdict
        ``unparseable`` when there is no such object, when two disagree, when a field stands twice in it, or when its
        value is neither true nor false.
    """
    thinking = _THINKING.match(reply)
    text = _MARKS.sub("", reply[thinking.end() if thinking else 0 :]).strip()
    if not text:
        return Verdict(None, "unparseable", "the reply holds no text")
    objects, broken = _objects(text)
    verdicts = [(verdict, one) for one in objects if (verdict := _verdict_of(one.fields)) is not None]
    standing = [(verdict, one) for verdict, one in verdicts if one.alone]
    if broken or not standing:
        return _with_unescaped_reason(text)
    if len({verdict.satisfied for verdict, _ in verdicts}) > 1:
        return Verdict(None, "unparseable", "the reply holds verdicts that disagree")
    verdict, last = standing[-1]
    if _WORDS_AFTER.search(text, last.end):
        return Verdict(None, "unparseable", "the reply goes on after the object that holds a verdict")
    fault = _fault_before(text[: standing[0][1].start], verdict)
    return Verdict(None, "unparseable", fault) if fault else verdict


def _fault_before(words: str, verdict: Verdict) -> str:
    """Why words before the object leave its verdict in doubt."""
    stated = [bool(one["yes"]) and not one["no"] for one in _STATED.finditer(words) if one["yes"] or one["no"]]
    if stated and verdict.satisfied is not None and stated[-1] != verdict.satisfied:
        return "the reply states the other verdict before the object that holds one"
    return "the object that holds a verdict is a quotation" if _INTRODUCES_A_QUOTATION.search(words) else ""


class _Pairs(list[tuple[str, Any]]):
    """An object's fields in order, so that a repeated field is seen."""


class _Found(NamedTuple):
    """An object in a reply; `alone` where nothing else stands on its first and last line."""

    fields: _Pairs
    start: int
    end: int
    alone: bool


def _objects(text: str) -> tuple[list[_Found], bool]:
    """Every readable object, and whether one that begins a line and speaks of a verdict could not be read.

    What stands inside a broken object may be a quotation, so nothing after it can be trusted.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_Pairs, strict=False)
    last_mention = text.casefold().rfind("satisfied")
    objects: list[_Found] = []
    end = 0
    for tried, brace in enumerate(re.finditer(r"\{", text)):
        start = brace.start()
        if start < end:
            continue
        if tried > _MOST_OBJECTS:
            return objects, True
        begins_line = not _FENCE.sub("", text[text.rfind("\n", 0, start) + 1 : start]).strip()
        try:
            fields, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):  # a number of thousands of digits is a ValueError too
            if begins_line and start < last_mention:
                return objects, True
            continue
        ends_line = not text[end:].split("\n", 1)[0].strip(" \t`~")
        objects.append(_Found(fields, start, end, begins_line and ends_line))
    return objects, False


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
    satisfied, reason = (match[1], match[2]) if match[1] else (match[4], match[3])
    if "{" in reason or "}" in reason:
        return Verdict(None, "unparseable", "the reply holds more than one object, one of them unreadable")
    return Verdict(_WORDS[satisfied], "ok", reason, ("unescaped quotation marks in the reason",))
