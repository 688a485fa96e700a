"""How the baseline builder judges a raw query: by words and by length alone."""

from __future__ import annotations

import re
from typing import Any

from lifesearch_kit.terms import is_chinese, key_terms

_FOLLOWS_UP = re.compile(
    r"\A\s*(?:and|also|but|same as|what about|how about|the (?:second|first|other) one|as (?:above|before)"
    r"|continue|go on)\b"
    r"|\A\s*(?:继续|再来|接着|然后呢|那个|这个|同上|跟刚才|像刚才|还是刚才|上面)",
    re.I,
)
_BREAKS_OFF = re.compile(
    r"\b(?:and|or|the|a|an|of|to|for|with|about|then|between|in|on|from)\s*\Z|(?:关于|以及|和|与|的|把|对|并|或)\s*\Z",
    re.I,
)
_GIVEN_UP = re.compile(r"\bnever ?mind\b|\bforget it\b|算了|不用了|没事了", re.I)
_ERROR = re.compile(
    r"\b\w*(?:Error|Exception)\b[:：]|\bTraceback\b|\bstack trace\b|\bsegfault\b|\bexit code \d|报错|抛出异常"
    r"|编译不过"
)
_RESEARCH = re.compile(
    r"\b(?:compare|find|list|search|summari[sz]e|overview|review|plan|research|look up|recommend"
    r"|what|which|who|where|why|how)\b"
    r"|对比|比较|检索|查(?!收)|综述|整理|盘点|汇总|推荐|哪些|有没有|什么|多少|怎样|怎么|哪里",
    re.I,
)
_NO_SEARCH = re.compile(
    r"\b(?:write|implement|code|refactor|debug|fix|optimi[sz]e)\b.{0,40}\b(?:function|class|script|css|html|code"
    r"|query|regex"
    r"|component|unit tests?|page)\b|\b(?:rename|delete|move|edit|merge)\b.{0,30}\bfiles?\b"
    r"|\b(?:poem|short story|limerick|lyrics|birthday card|joke)\b|\btranslat\w+\b|\b(?:rewrite|proofread"
    r"|paraphrase)\b"
    r"|\bcalculate\b|\bwhat is \d+\s*[-+*/x×]\s*\d+"
    r"|用(?:java|python|c\+\+|go|js)\S*(?:实现|写)|(?:写|编写|实现)\S{0,8}(?:函数|脚本|代码|程序|类)"
    r"|翻译[成为]|润色|改写下面|写一?(?:首|篇|段|封|个)\S{0,12}(?:诗|故事|介绍|文案|祝福|邮件|作文)|自我介绍"
    r"|\A计算|算一下"
    r"|陪我聊|你好呀|心情怎么样",
    re.I,
)
_UNSAID_EVENT = re.compile(
    r"\bwhy (?:did|has|is) (?:it|this|that|they)\b|\b(?:the|their|this) (?:announcement|accident|incident|decision"
    r"|scandal|news)\b"
    r"|\bthat (?:was|were) announced\b|\b(?:just|suddenly) (?:crash|drop|jump|fell|rose)\w*"
    r"|这次|那次|这件事|那件事|那场|这场|这么多|刚刚宣布|刚才的|突然",
    re.I,
)
_JUST_NOW = re.compile(
    r"\b(?:yesterday|last night|this morning|today|this week|just now|recently|last week)\b"
    r"|昨[天晚]|今[早天晨]|刚刚|最近突然|这两天|上周|前天|这次|事故",
    re.I,
)
_DETAIL = re.compile(r"[,;:、，；：]|\d|\b(?:and|each|with|no more than|at least|as of)\b|各|分别|并|不超过|至少|截至")
_FEWEST_WORDS, _FEWEST_CHARACTERS = 4, 7
_MUCH_DETAIL, _LONG_WORDS, _LONG_CHARACTERS = 4, 18, 34


def judge_query(query: str) -> dict[str, Any]:
    """The filter's six fields."""
    level, why = _quality(query)
    unrelated = _NO_SEARCH.search(query)
    asks = bool(_RESEARCH.search(query)) and unrelated is not None and unrelated.start() > 0
    needs_none = unrelated is not None and not asks
    event = _UNSAID_EVENT.search(query)
    dependent = event is not None and _JUST_NOW.search(query) is not None and not needs_none
    return {
        "quality_level": level,
        "quality_reason": why,
        "is_unrelated_to_search": needs_none,
        "unrelated_reason": f"asks for {unrelated[0][:40]!r}" if needs_none and unrelated else "asks for facts",
        "is_time_dependent": dependent,
        "time_dependent_reason": f"{event[0]!r} is not described" if dependent and event else "no unsaid event",
    }


def _quality(query: str) -> tuple[str, str]:
    text = query.strip()
    chinese = is_chinese(text)
    size, fewest = (len(text), _FEWEST_CHARACTERS) if chinese else (len(text.split()), _FEWEST_WORDS)
    for form, why in (
        (_GIVEN_UP, "given up"),
        (_ERROR, "a program's error"),
        (_FOLLOWS_UP, "follows up on something unseen"),
        (_BREAKS_OFF, "breaks off"),
    ):
        if form.search(text):
            return "low", why
    if size < fewest:
        return "low", "too short to tell what is wanted"
    if not _RESEARCH.search(text) and not _NO_SEARCH.search(text) and len(set(key_terms(text))) < 2 * fewest:
        return "low", "nothing is asked"
    long = size >= (_LONG_CHARACTERS if chinese else _LONG_WORDS)
    details = len(_DETAIL.findall(text))
    return ("high", f"{details} details") if long and details >= _MUCH_DETAIL else ("medium", f"{details} details")
