"""Criteria of one task that ask for the same: what both pay for is paid for twice.

Criteria of a task are often built alike ("the revenue of A", "the revenue of B"), so likeness alone says little. Two
are near duplicates where they differ in nothing that tells things apart: no figure, no name, no term of the question,
no opposite.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from rapidfuzz import fuzz, process

from lifesearch_kit.rubric_checks.criteria import ACT_EN, ACT_ZH, FILLER_ZH, HEAD_EN, HEAD_ZH
from lifesearch_kit.terms import is_stop, normalise_width, tokenize

LIKE_PCT = 62.0  # likeness of sorted terms from which a pair is looked at closely
_CONTAINED = 0.75  # share of the shorter criterion's terms that the longer one holds
_DIFFERENT = 0.4  # share of all terms that may stand in one criterion alone
_SAME_WORDS = (
    (r"上升|上涨|提高|增加|增长|升高|攀升|提升", "上升"),
    (r"下降|下滑|下跌|降低|减少|走低|回落", "下降"),
    (r"营业收入|营收|收入", "收入"),
    (r"来源|出处", "来源"),
    (r"网址|链接", "链接"),
    (r"大约|约为|约", "约"),
    (r"因为|由于|原因|理由", "原因"),
    (r"\b(?:increased?|rose|grew|risen|growth|rises?|climbed|went up)\b", "rise"),
    (r"\b(?:decreased?|fell|dropped|declined?|fallen|falls?|went down)\b", "fall"),
    (r"\b(?:revenues?|turnover|sales)\b", "revenue"),
    (r"\b(?:sources?|references?)\b", "source"),
    (r"\b(?:links?|urls?)\b", "link"),
    (r"\b(?:reasons?|because|causes?|why)\b", "cause"),
    (r"\b(?:staff|workers|employees|people employed)\b", "employees"),
    (r"\b(?:firm|company|business)\b", "company"),
)
_ALIKE = tuple((re.compile(pattern, re.IGNORECASE), word) for pattern, word in _SAME_WORDS)
_OPPOSITE_WORDS = (
    "rise/fall highest/lowest higher/lower best/worst more/less advantage/disadvantage benefit/risk import/export "
    "strength/weakness first/last supply/demand before/after start/end minimum/maximum men/women male/female "
    "north/south east/west short/long 上升/下降 优点/缺点 优势/劣势 最高/最低 高于/低于 进口/出口 供给/需求 开始/结束 "
    "上限/下限 收益/风险 男性/女性 机遇/挑战"
)
_OPPOSITES = tuple(tuple(pair.split("/")) for pair in _OPPOSITE_WORDS.split())
_ACT = re.compile(rf"^\s*(?:(?:also|\w+ly) )?{ACT_EN}\b(?: that)?|^{FILLER_ZH}{ACT_ZH}", re.IGNORECASE)
_NAME = re.compile(r"(?<![.!?] )(?<!^)(?<![A-Za-z])[A-Z][A-Za-z-]*|[A-Za-z]+[-\d]*\d", re.ASCII)
_NUMBERS = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_NOT = re.compile(r"\bnot?\b|\bnever\b|\bwithout\b|不|未|没有|无(?!论)", re.IGNORECASE)


class Pair(NamedTuple):
    """Two criteria of a task, by their places, and how alike their terms are (percent)."""

    first: int
    second: int
    likeness: float


class _Content(NamedTuple):
    """What a criterion is about: its terms, figures and names, and whether it denies something."""

    terms: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    denies: bool


def near_duplicates(criteria: Sequence[str], query: str) -> Iterator[Pair]:
    """Find pairs of one task's criteria that ask for the same, each second one once, with the likest before it."""
    contents = [_content(one) for one in criteria]
    asked = frozenset(tokenize(_alike(query)))
    lines = [" ".join(sorted(one.terms)) for one in contents]
    likeness = process.cdist(lines, lines, scorer=fuzz.token_set_ratio, score_cutoff=LIKE_PCT)
    for second in range(1, len(criteria)):
        for first in np.argsort(-likeness[second, :second], kind="stable"):
            if likeness[second, first] < LIKE_PCT:
                break
            if _same(contents[first], contents[second], asked):
                yield Pair(int(first), second, float(likeness[second, first]))
                break


def _alike(text: str) -> str:
    for pattern, word in _ALIKE:
        text = pattern.sub(word, text)
    return text


def _content(criterion: str) -> _Content:
    text = normalise_width(criterion)
    head = HEAD_EN.match(text) or HEAD_ZH.match(text)
    body = _ACT.sub("", text[head.end() :] if head else text)
    terms = frozenset(term for term in tokenize(_alike(body)) if not is_stop(term))
    names = frozenset(one.casefold() for one in _NAME.findall(body) if not one[0].isdigit())
    numbers = frozenset(one.replace(",", "") for one in _NUMBERS.findall(body))
    return _Content(terms, numbers, names, bool(_NOT.search(body)))


def _same(one: _Content, two: _Content, asked: frozenset[str]) -> bool:
    """Whether nothing tells two criteria apart. One may say more than the other, not something else."""
    short, long = sorted((one, two), key=lambda content: len(content.terms))
    if not short.terms or short.denies != long.denies:
        return False
    if not (one.numbers <= two.numbers or two.numbers <= one.numbers):
        return False
    if not (one.names <= two.names or two.names <= one.names):
        return False
    only_short, only_long = short.terms - long.terms, long.terms - short.terms
    if any((a in only_short and b in only_long) or (b in only_short and a in only_long) for a, b in _OPPOSITES):
        return False
    # The question's own terms on both sides are its parts: each has a criterion of its own.
    if only_short & asked and only_long & asked:
        return False
    contained = 1 - len(only_short) / len(short.terms)
    different = (len(only_short) + len(only_long)) / len(short.terms | long.terms)
    return contained >= _CONTAINED and different <= _DIFFERENT
