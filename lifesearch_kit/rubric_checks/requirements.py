"""Whether a criterion is one requirement on what the report says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesearch_kit.rubric_checks.criteria import ACT_EN, ACT_ZH, FILLER_ZH, HEAD_EN, HEAD_ZH, Criterion, Finding, place

_OBJECT = (
    r"(?= (?:that|the|a|an|whether|how|why|what|which|when|where|who|whom|its|their|each|both|at|all|any|every|one|two"
    r"|three|for|in|on|with|only|no|not|against|to|from|between|least|(?-i:[A-Z])|[0-9\x00$€£]))"
)
_SECOND_EN = re.compile(
    rf"(?:,? and(?:,? (?:also|then|should|must|to))*|; ?(?:and |it |the response )?(?:should |must |also )*"
    rf"|,? as well as|,? plus|,? while also) (?P<span>(?:\w+ly )?(?-i:{ACT_EN}){_OBJECT})"
    r"|\bboth (?:which|how|what|why|whether|when|where|who)\b.*? and (?P<question>(?:which|how|what|why|whether"
    r"|when|where|who) \w+)"
    r"|(?:,? and|[.;,]) (?:it |the (?:response|report|answer|article) )?(?P<modal>(?:should"
    r"|must)(?: also)?(?: not)? \w+)",
    re.IGNORECASE,
)
_SECOND_ZH = re.compile(
    r"(?:并(?:且|应|需|要|能|同时|据此|对此)*|且(?:应|需|还|能)|(?<=[，,；])同时(?:应|需|还|要|也)*|以及|还(?:应"
    r"|需)要?|；(?:还|并|也)?应?"
    rf"|[，,](?:另外?|再|并|同时|还)(?:应|需)?|既(?:要|应|需)?[^。；]{{2,40}}?[又也还](?:要|应|需)?)"
    rf"(?:是否)?{FILLER_ZH}(?P<span>{ACT_ZH})(?!者|是|的)|[，。；](?:回复|报告|回答)?(?P<modal>(?:并|且|还|也"
    rf"|同时)?应当?{FILLER_ZH}{ACT_ZH})"
)
_BARE_ZH = re.compile(r"^\W*(?:最终|该|此|本)?(?:回复|报告|回答|答复|文章)")
_IMPERATIVE = re.compile(r"^\W*[A-Za-z]+")


def two_requirements(criterion: Criterion) -> Iterator[Finding]:
    """A second act beside the first: "state A and explain B", 给出甲，并说明乙. One half met has no verdict."""
    begin = criterion.head_end() or _first_word(criterion)
    either = criterion.plain.find("既", 0, begin)  # 回复既要…，又要…
    begin = begin if either < 0 else either
    for pattern in (_SECOND_EN, _SECOND_ZH):
        match = pattern.search(criterion.plain, begin)
        if match is None:
            continue
        start, end = place(match)
        joint = match.start()
        first, second = criterion.text[:joint].rstrip(" ,，；;。."), criterion.text[start:].rstrip(" 。.")
        yield Finding(
            "two_requirements",
            start,
            end,
            f"a second requirement begins at {criterion.text[start:end]!r}: "
            "a report that meets only one of them has no verdict",
            f"write two rubrics and share the weight: {first!r} and {second!r}",
        )
        return


def _first_word(criterion: Criterion) -> int:
    """Behind the verb that a criterion without a head begins with, which is its first act."""
    match = _BARE_ZH.match(criterion.plain) if criterion.is_chinese else _IMPERATIVE.match(criterion.plain)
    return match.end() if match else 0


def not_operational(criterion: Criterion) -> Iterator[Finding]:
    """A criterion that does not say what the report does: it lacks "The response should" (回复应)."""
    if HEAD_EN.match(criterion.plain) or HEAD_ZH.match(criterion.plain):
        return
    is_zh = criterion.is_chinese
    end = min(len(criterion.text), 8 if is_zh else 24)
    yield Finding(
        "not_operational",
        0,
        end,
        "does not say what the report should do",
        "begin with 回复应 and what it says" if is_zh else "begin with 'The response should' and what it says",
    )


def subjective_must_have(criterion: Criterion) -> Iterator[Finding]:
    """A preference that is called necessary."""
    if criterion.type == "Subjective" and criterion.priority == "Must Have":
        yield Finding(
            "subjective_must_have",
            0,
            len(criterion.text),
            "is Subjective and Must Have: a preference cannot be required",
            "call it Nice to Have, or say by what fact it is met and call it Objective",
        )
