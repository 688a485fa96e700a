"""Terms and sentences of English and Chinese text, as the rule-based parts see them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

URL = re.compile(r"https?://[^\s<>()\[\]\"'，。；、）】」]+")
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_CJK}]+|\d+(?:[.,]\d+)*|[^\W\d_{_CJK}][^\W_{_CJK}]*")
_CJK_CHARACTER = re.compile(f"[{_CJK}]")
_POSSESSIVE = re.compile(r"['’]s\b")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_SENTENCE_END = re.compile(
    r"(?<=[。！？；])(?![”」』）])|(?<=[。！？][”」』）])"
    r"|(?<=[.!?])(?=[\"”)\]]?\s+[\"“(\[]?[A-Z0-9*#])|(?<=[.!?][\"”)])\s+"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|approx|vs|No|Nos|Fig|Eq|cf|Dr|Mr|Ms|St|Inc|Ltd|Co|al|[A-Z]))\.$")
_WIDTH = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F) if chr(code) not in "，；：？！（）"}


def words(text: str) -> frozenset[str]:
    """A set of words written as one text."""
    return frozenset(text.split())


_STOP_EN = words(
    "a an the of in on at to for from by with and or but nor as is are was were be been being it "
    "its this that these those "
    "which who whom whose what when where why how do does did done have has had will would shall "
    "should can could may might must "
    "i me my we our us you your they them their he she his her not no any all each both either "
    "per than then there here "
    "such so if into about over under between within also only more most other own same very up out one please"
)
_STOP_ZH = frozenset(
    "的了是在和与及或等为于对并从被把将其该这那也都又就而且之以所有个我你您他她它们请吗呢吧么很最还要会可能让给"
)
_STOP_BIGRAMS = words(
    "回复 应当 应该 说明 指出 给出 列出 提供 明确 需要 以及 是否 报告 至少 如果 因为 所以 但是 "
    "以上 以下 什么 怎么 如何 哪些 哪个 多少 "
    "进行 相关 具体 根据 按照 截至 截止 并且 同时 其中 之间 一个 一下 我们 你们 他们 这个 那个 "
    "帮我 帮忙 想要 希望"
)


def normalise_width(text: str) -> str:
    """Turn full-width digits and letters into ordinary ones; sentence punctuation stays, lengths do not change."""
    return text.translate(_WIDTH)


def is_chinese(text: str) -> bool:
    """Whether Chinese characters carry the text (a fifth of its letters or more)."""
    letters = sum(character.isalpha() for character in text)
    return letters > 0 and len(_CJK_CHARACTER.findall(text)) >= 0.2 * letters


@lru_cache(maxsize=65536)
def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _tokens(text: str) -> Iterator[str]:
    text = unicodedata.normalize("NFC", normalise_width(text)).casefold()
    for match in _TOKEN.finditer(_POSSESSIVE.sub("", _THOUSANDS.sub("", text))):
        token = match.group()
        if _CJK_CHARACTER.match(token):
            yield from (token[at : at + 2] for at in range(max(1, len(token) - 1)))
        else:
            yield _stem(token)


def tokenize(text: str) -> list[str]:
    """All search terms in order: casefolded English words without plural endings, numbers, Chinese bigrams."""
    return list(_tokens(text))


@lru_cache(maxsize=65536)
def is_stop(term: str) -> bool:
    """Whether a term carries no subject: function words, and bigrams that hold or make one."""
    if _CJK_CHARACTER.match(term):
        return term in _STOP_BIGRAMS or any(character in _STOP_ZH for character in term)
    return term in _STOP_EN or (len(term) == 1 and not term.isdigit())


def key_terms(text: str) -> list[str]:
    """Terms that carry a subject, in order of first appearance, each once."""
    return list(dict.fromkeys(term for term in _tokens(text) if not is_stop(term)))


def sentences(text: str) -> list[str]:
    """Split running text into sentences, Chinese and English; a line break always ends one."""
    found: list[str] = []
    for line in text.splitlines():
        start = len(found)
        for piece in _SENTENCE_END.split(line.strip()):
            if len(found) > start and _ABBREVIATION.search(found[-1]):
                found[-1] = f"{found[-1]} {piece.strip()}"
            elif piece.strip():
                found.append(piece.strip())
    return found
