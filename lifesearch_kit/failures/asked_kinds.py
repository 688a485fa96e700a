"""Sources, comparisons and edge cases: whether a criterion asks for one, and whether a report gives any."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lifesearch_kit.failures.evidence import passages_on
from lifesearch_kit.terms import key_terms

_SOURCE = re.compile(
    r"\b(?:cit(?:e|es|ed|ing|ations?)|sourced|urls?"
    r"|(?:its|their|the|an?|as|data|information|official|reliable|authoritative|credible|primary|original|named"
    r"|reputable)"
    r" sources?(?! (?:materials?|code|credibility|cues|like|such as|of (?!the)))"
    r"|links? (?:to|for|from)|references?(?= (?:to|list|section|from|for))|attribut(?:e|es|ed) [^.]{0,40}\bto\b)\b"
    r"|来源|出处|引用|援引|链接|参考文献|标注依据|注明依据",
    re.IGNORECASE,
)
_CITATION = re.compile(
    r"https?://|\[\^?\d+\]|\[[^\]\n]+\]\([^)\n]+\)|【\d+|\bdoi\b|\baccording to\b|\b(?:source|reference)s?\s*[:：]"
    r"|\b(?:reported|published|stated|said|says) (?:by|in|its|the)\b|来源[:：]|出处[:：]|参考文献|根据|(?:^"
    r"|[，。；\s])据",
    re.IGNORECASE,
)
_COMPARISON = re.compile(
    r"\b(?:compar\w+|versus|vs\.?|contrast\w*|differ(?:s|ed|ence|ences|ent|ently)?|relative to|trade-?offs?|against"
    r"|whereas"
    r"|(?!rather |other |either )\w+er than|(?:more|less) than|as (?:many|much) as|respectively|outperform\w*"
    r"|exceed\w*|rank\w*|gap)\b"
    r"|比较|对比|相比|差异|区别|不同|优劣|优于|劣于|[高低多少大小快慢强弱]于|差距|相差|对照|权衡|分别|排名|而言|\d倍",
    re.IGNORECASE,
)
_EDGE_CASE = re.compile(
    r"\b(?:except(?:ions?|ed|s|ing)?|unless|edge cases?|corner cases?|special cases?|limitations?|caveats?|only if"
    r"|even if"
    r"|(?:does|do|did) not (?:apply|cover|include|count)|not (?:included|counted|covered|eligible|applicable|valid"
    r"|allowed)|ineligible|exclud\w+|boundary|uncertain\w*"
    r"|provided that|if (?:the|they|a|an|no))\b"
    r"|例外|除非|除外|特殊情[形况]|局限|限制条件|边界|不适用|不包括|不包含|不含|不计入|不确定|不足之处|如果|若",
    re.IGNORECASE,
)
# Criteria ask for a comparison or an edge case in narrower words than reports may give one in.
_ASKS_COMPARISON = re.compile(
    r"\b(?:compar\w+|versus|contrast\w*|differ(?:s|ed|ence|ences)?|trade-?offs?|relative to|(?!rather |other "
    r"|either )\w+er than"
    r"|(?:more|less) than|which of the \w+)\b"
    r"|比较|对比|相比|差异|区别|优劣|[高低多少大小快慢]于|差距|相差|权衡",
    re.IGNORECASE,
)
_ASKS_EDGE_CASE = re.compile(
    r"\b(?:exceptions?|unless|edge cases?|corner cases?|special cases?|limitations?|caveats?|only if|even if"
    r"|(?:does|do) not (?:apply|cover|include)|exclud\w+ if|not (?:eligible|applicable|valid|allowed|covered)"
    r"|ineligible|warn|uncertaint\w+)\b"
    r"|例外|除非|除外|特殊情[形况]|局限|限制条件|边界|不适用|不确定性",
    re.IGNORECASE,
)
_SAID_OF_CRITERIA = frozenset(key_terms("response should state note explain mention source compare report 回复应说明"))
_NEAR = 80  # characters behind the word for a source in which its name stands


def unserved_kinds(text: str, criterion: str, absent_names: Iterable[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield the kinds that a criterion asks for in words and a report does not serve, with the names that belong there.

    A source is not served where the report cites nothing at all, or where a name behind the word for it is absent; a
    comparison or an edge case where no passage that shares two of the criterion's terms holds words for one.
    """
    terms = frozenset(key_terms(criterion)) - _SAID_OF_CRITERIA
    names = list(absent_names)
    cue = _SOURCE.search(criterion)
    if cue:
        own = [name for name in names if name in criterion[max(0, cue.start() - 4) : cue.end() + _NEAR]]
        if own or not _CITATION.search(text):
            yield "source", own
            names = [name for name in names if name not in own]
    for kind, asks, serves in (
        ("comparison", _ASKS_COMPARISON, _COMPARISON),
        ("edge_case", _ASKS_EDGE_CASE, _EDGE_CASE),
    ):
        if asks.search(criterion) and not any(serves.search(one) for one in passages_on(text, terms)):
            yield kind, names
            names = []
