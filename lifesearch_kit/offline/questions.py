"""A question taken apart by general rules: what it asks for, about what, up to which day and in which form."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from functools import lru_cache

from lifesearch_kit.dates import CUTOFF_MARK, cutoff_date, date_mentions
from lifesearch_kit.offline.names import names_in
from lifesearch_kit.offline.quantities import quantities
from lifesearch_kit.terms import is_chinese, is_stop, key_terms, sentences, tokenize

_ASK_EN = (
    r"compare|tell me|say|give|list|state|report|explain|describe|check|identify|show|name|include"
    r"|recommend|assess|summari[sz]e|"
    r"what|which|how|whether|when|where|who|why|put|use|finish|end|close|cite|keep|present|set out"
    r"|find|verify|advise|write|add|note|"
    r"point out|work out|calculate|estimate|should"
)
_SPLIT_EN = re.compile(
    rf"[;:]\s+|,\s+(?:and\s+|then\s+|so\s+)?(?=(?:{_ASK_EN})\b)|\s+and\s+(?=(?:{_ASK_EN})\b)", re.IGNORECASE
)
_SPLIT_ZH = re.compile(r"[，；：,;:](?!\d)")
_ASKS = re.compile(
    rf"\b(?:{_ASK_EN})\b|\?|？|请|对比|比较|多少|什么|哪|如何|怎|给出|说明|核实|判断|列出|建议"
    rf"|是否|能不能|有何|变化|多大|分别|各自|梳理|汇总|评估|查|多久|几",
    re.IGNORECASE,
)
_FORM = re.compile(
    r"\btables?\b|\bwords?\b|\blinks?\b|\bsources?\b|\bbullet|\bcharacters\b|表格"
    r"|对照表|一览表|字以内|字左右|\d字|链接|出处|注明来源|来源$|篇幅|全文",
    re.IGNORECASE,
)
_TABLE = re.compile(r"\btables?\b|表格|对照表|一览表|列表|一张表", re.IGNORECASE)
_ADVICE = re.compile(
    r"\brecommend|(?<!I )\badvi[cs](?:e|ing)\b|\byou would (?:pick|choose)|\byour judge?ment|\bshould "
    r"(?:we|i|it)\b|\bbetter (?:placed|choice|option)\b|\bwhich .{0,60}(?:choose|suits?|prefer)"
                     r"|建议|推荐|首选|优先|倾向|该签|有没有必要|选择哪|哪一[家个种款]|该选|更适合"
                     r"|更划算|值得", re.IGNORECASE)  # fmt: skip
_LONGEST_QUERY = 80
_FULL_ADVICE = 12
_LIMIT = re.compile(r"^(?:words?|characters?|字.?)$")
_CONTEXT = re.compile(r"(?:I|I'm|I am|I've|We|We're|My|Our|Using|Going by)\b", re.IGNORECASE)
_POLITE = re.compile(r"^(?:请|帮我|麻烦|另外|此外|最后|同时|并且?|再|还|以及|想|希望|我在?)+")
_FILLER_ZH = re.compile(
    r"请|帮我|分别|各自|是多少|多少|有多大|有何|什么时候|哪个|哪些|哪家|哪一家|是否|能不能|并给出来源|说明"
    r"|给出|判断|核实|比较|对比|如何|怎么样?|什么|以?截至[^，。]*?(?:资料|数据|信息"
    r"|为准)?(?=[，。]|$)"
)
_FILLER_EN = frozenset(tokenize(
    "compare tell say give list state report explain describe check identify show name include "
    "recommend assess want need like "
    "trust use used using put finish end drafting writing published available brief please link "
    "links source sources table words "
    "word one best each know help date current figure figures change"
))  # fmt: skip
_PLACE = (
    r"(?:yard|plant|factory|branch|campus|station|terminal|line|site|office|store|model|edition"
    r"|district|clinic|bridge|lab|hub|depot|museum|"
    r"library|hospital|school|market|park|ferry|bus|train|route|service)"
)
_VAGUE = re.compile(
    rf"\b(?:the|[A-Z]\w+['’]s) (?-i:[A-Z]\w+|[a-z]+ern|island|city|local|main|central|new|old|other"
    rf"|harbour|airport|branch) {_PLACE}\b(?-i:(?! [A-Z]))"
    r"|\b(?:a|an|the) \w+ like (?:mine|ours)\b"
    r"|(?:东|西|南|北|新|老|旧|主|分)(?:部|区|厂|院|馆|校区|城|站|线|店|园)(?=[的，。；、]|$)|(?:那"
    r"|该|这)(?:家|座|所|款|条|间)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Question:
    """What a question asks for.

    `requirements` are its parts that ask for content, `vague` its phrases that may mean several things. `limit` is the
    length of the whole answer and `advice_limit` that of its recommendation, in words or Chinese characters.
    """

    text: str
    chinese: bool
    requirements: tuple[str, ...]
    advice: str | None
    names: tuple[str, ...]
    terms: tuple[str, ...]
    cutoff: date | None
    wants_table: bool
    limit: int | None
    advice_limit: int | None
    vague: tuple[str, ...]


@lru_cache(maxsize=64)
def read_question(text: str) -> Question:
    """Take a question apart by its punctuation, its asking words and its capital letters."""
    chinese = is_chinese(text)
    parts = _parts(text, chinese)
    asking = [part for part in parts if _ASKS.search(part)]
    content = [part for part in asking if not _is_form(part) and not _is_context(part)]
    advice = _advice(parts, sentences(text), chinese)
    limit, advice_limit = _limits(text, advice)
    return Question(
        text=text,
        chinese=chinese,
        requirements=tuple(part for part in content if not advice or not advice.endswith(part)) or (text.strip(),),
        advice=advice,
        names=names_in(text),
        terms=tuple(key_terms(text)),
        cutoff=cutoff_date(text),
        wants_table=bool(_TABLE.search(text)),
        limit=limit,
        advice_limit=advice_limit,
        vague=tuple(dict.fromkeys(match.group().strip() for match in _VAGUE.finditer(text))),
    )


def _parts(text: str, chinese: bool) -> list[str]:
    shortest = 8 if chinese else 24
    found: list[str] = []
    for sentence in sentences(text):
        pieces: list[str] = []
        for piece in (_SPLIT_ZH if chinese else _SPLIT_EN).split(sentence):
            joined = piece.strip(" ，。；：,;:.?？")
            if pieces and (len(joined) < shortest or len(pieces[-1]) < shortest):
                pieces[-1] += ("，" if chinese else ", ") + joined
            elif joined:
                pieces.append(joined)
        found += pieces
    return found


def _undated(part: str) -> str:
    """A part without the phrase that sets the cutoff."""
    for mention in reversed(date_mentions(part)):
        mark = list(CUTOFF_MARK.finditer(part, max(0, mention.start - 30), mention.start))
        if mark and mention.moment.month:
            part = part[: mark[-1].start()] + part[mention.end :]
    return part


def _is_form(part: str) -> bool:
    """Whether a part asks for a table, sources or a length and for hardly anything else."""
    rest = _FORM.sub(" ", _undated(part))
    return bool(_FORM.search(part)) and len([term for term in key_terms(rest) if not term[0].isdigit()]) < 7


def _is_context(part: str) -> bool:
    """Whether a part only says who asks or which sources count."""
    rest = _undated(part)
    left = len([term for term in key_terms(rest) if not term[0].isdigit()])
    return left < (1 if rest == part else 5 if is_chinese(part) else 3) or bool(_CONTEXT.match(part))


def _advice(parts: list[str], said: list[str], chinese: bool) -> str | None:
    """The part that asks for a recommendation; a short one with the parts of its sentence that lead up to it."""
    for at in range(len(parts) - 1, -1, -1):
        if _ADVICE.search(parts[at]):
            start = at
            while (
                chinese
                and start > 0
                and at - start < 2
                and len(key_terms(" ".join(parts[start : at + 1]))) < _FULL_ADVICE
            ):
                if not any(parts[start - 1] in one and parts[at][:12] in one for one in said):
                    break
                start -= 1
            return " ".join(parts[start : at + 1])
    return None


def _clause(sentence: str, start: int, end: int) -> str:
    first = max(sentence.rfind(mark, 0, start) for mark in "，；。,;") + 1
    ends = [at for at in (sentence.find(mark, end) for mark in "，；。,;") if at >= 0]
    return sentence[first : min(ends, default=len(sentence))]


def _limits(text: str, advice: str | None) -> tuple[int | None, int | None]:
    limit: int | None = None
    advice_limit: int | None = None
    for sentence in sentences(text):
        for quantity in quantities(sentence):
            if not _LIMIT.match(quantity.unit) or quantity.percent:
                continue
            clause = _clause(sentence, quantity.start, quantity.end)
            if _ADVICE.search(clause) or re.search(
                r"judg|conclu|summar|finish|end with|判断|结论|总结|最后", clause, re.IGNORECASE
            ):
                advice_limit = int(quantity.high)
            else:
                limit = int(quantity.high)
    return limit, advice_limit


def search_words(part: str, chinese: bool) -> str:
    """The words of a part of the question that are worth searching for, in its order."""
    part = _undated(part)
    if chinese:
        return " ".join(
            piece
            for piece in re.split(r"[，。；：、？,;:?\s“”（）()]+", _FILLER_ZH.sub(" ", _POLITE.sub("", part)))
            if len(piece) > 1
        )[:_LONGEST_QUERY]
    words = re.findall(r"[\w&'’-]+", part)
    kept = [word for word in words if not is_stop(word.casefold()) and not _FILLER_EN.intersection(tokenize(word))]
    return " ".join(dict.fromkeys(kept[:14]))


def planned_queries(question: Question) -> list[str]:
    """Queries in order of use: the whole, each requirement with the names, each name alone, then checks of figures."""
    names = " ".join(question.names[:3])
    whole = " ".join([names, search_words(question.text, question.chinese)])
    checks = ("更正 修订 重述", "公报 统计 报告", "规程 标准 登记 名录") if question.chinese else (
        "correction revised restated", "annual report official statistics", "guidance standard register")  # fmt: skip
    subject = names or " ".join(whole.split()[:3])
    parts = [
        f"{subject} {search_words(part, question.chinese)}"
        for part in (*question.requirements, question.advice or "")
        if part
    ]
    alone = [f"{name} {search_words(question.requirements[0], question.chinese)}" for name in question.names[:4]]
    queries = [whole, *parts, *alone, *(f"{subject} {check}" for check in checks)]
    return list(dict.fromkeys(" ".join(dict.fromkeys(query.split())) for query in queries if query.strip()))
