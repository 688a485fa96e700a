"""Strict reading of the replies: an answer in the form that was asked for, or the reason why it is none."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, get_args

from pydantic import ValidationError

from lifesearch_kit.building.records import (
    Answer,
    DecisionStatus,
    DomainAnswer,
    FilterAnswer,
    QualityLevel,
    Query,
    RewriteAnswer,
    Step,
)
from lifesearch_kit.building.rewriting import check_rewrite
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.records import Domain
from lifesearch_kit.text import canonical, fold

_FENCE = re.compile(r"\A\s*(?:```|~~~)\w*[ \t]*\n(?P<inside>.*?)\n?\s*(?:```|~~~)\s*\Z", re.DOTALL)
_TAG = re.compile(r"</?query-[0-9a-f]{16}>")
_NOTHING = ('""', "''", "“”", "「」")
_TRUTHS = {"true": True, "false": False}
_REASON_WORDS = 10
# Two characters make a word.
_REASON_CHARACTERS = 2 * _REASON_WORDS


class Reading(NamedTuple):
    """What a reply says: an answer, or a status and a reason why there is none; `notes` name every leniency."""

    answer: Answer | None
    status: DecisionStatus
    reason: str = ""
    notes: tuple[str, ...] = ()


def read_answer(step: Step, query: Query, reply: Reply) -> Reading:
    """Read one step's reply, its finish reason first: what was cut off or refused holds no answer.

    The whole reply must be one JSON object with the fields that were asked for, each once and no other; a code fence
    around all of it is let pass. A rewrite is the reply's text, and checked against the query.
    """
    if reply.shortcoming:
        return Reading(None, *reply.shortcoming)
    if step == "rewrite":
        return _rewrite(query, reply.text)
    try:
        fields, notes = _object(reply.text)
        answer = _READERS[step](fields, notes)
    except ValueError as error:
        return Reading(None, "unparseable", str(error))
    return Reading(answer, "ok", "", tuple(notes))


def _object(text: str) -> tuple[dict[str, Any], list[str]]:
    fence = _FENCE.match(text)
    notes = ["a code fence around the object"] if fence else []
    inside = fence["inside"] if fence else text
    if not inside.strip():
        raise ValueError("the reply holds no text")
    try:
        fields = json.loads(inside, object_pairs_hook=_fields_once, strict=False)
    except json.JSONDecodeError:
        raise ValueError("the reply is no single JSON object with nothing around it") from None
    except RecursionError:
        raise ValueError("the reply is nested too deeply") from None
    if not isinstance(fields, dict):
        raise ValueError("the reply is JSON, and no object with named fields")
    return fields, notes


def _fields_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = [name for name, _ in pairs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"the field {twice!r} stands twice in the reply")
    return dict(pairs)


def _filter(fields: dict[str, Any], notes: list[str]) -> FilterAnswer:
    for name in ("is_unrelated_to_search", "is_time_dependent"):
        value = fields.get(name)
        if isinstance(value, str) and fold(value) in _TRUTHS:
            notes.append(f"{name}: {value!r} was read as {fold(value)}")
            fields[name] = _TRUTHS[fold(value)]
    _spell(fields, "quality_level", get_args(QualityLevel), notes)
    return _validated(FilterAnswer, fields)


def _classify(fields: dict[str, Any], notes: list[str]) -> DomainAnswer:
    _spell(fields, "taxonomy", get_args(Domain), notes)
    if isinstance(fields.get("taxonomy"), str) and fields["taxonomy"] not in get_args(Domain):
        raise ValueError(f"the domain {fields['taxonomy']!r:.80} is none of the seven")
    answer = _validated(DomainAnswer, fields)
    words = len(answer.reason.split())
    if words > _REASON_WORDS or (words == 1 and len(answer.reason) > max(_REASON_CHARACTERS, 30)):
        notes.append(f"the reason is longer than {_REASON_WORDS} words")
    return answer


_READERS: Mapping[str, Callable[[dict[str, Any], list[str]], Answer]] = {"filter": _filter, "classify": _classify}


def _spell(fields: dict[str, Any], name: str, choices: tuple[str, ...], notes: list[str]) -> None:
    value = fields.get(name)
    if not isinstance(value, str) or value in choices:
        return
    word = canonical(value, choices)
    if word is not None:
        notes.append(f"{name}: {value!r} was read as {word!r}")
        fields[name] = word


def _validated(model: type[Any], fields: dict[str, Any]) -> Any:
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        told = []
        for one in error.errors(include_url=False):
            what = {"missing": "is missing", "extra_forbidden": "was not asked for"}.get(one["type"])
            shown = what or f"is {json.dumps(one['input'], ensure_ascii=False, default=str)[:60]}"
            told.append(f"the field {'.'.join(map(str, one['loc']))!r} {shown}")
        raise ValueError("; ".join(told)) from None


def _rewrite(query: Query, said: str) -> Reading:
    notes = []
    fence = _FENCE.match(said)
    if fence and not _FENCE.match(query.text):
        said, notes = fence["inside"], ["a code fence around the text"]
    text = said.strip()
    bare = _TAG.sub("", text).strip()
    if bare != text:
        text, notes = bare, [*notes, "the query's tags around the text"]
    if text in _NOTHING:
        text, notes = "", [*notes, "quotation marks around nothing"]
    breaches = check_rewrite(query.text, text)
    status: DecisionStatus = "breached" if breaches else "ok"
    return Reading(RewriteAnswer(text=text), status, "; ".join(map(str, breaches)), tuple(notes))
