"""Messages that hand work back: they ask the user before going on, or tell the user to look things up, or refuse.

Wider than `clarification.asks_back`, which decides how a run ended and leaves every message alone that says anything of
its own: here a report may stand beside the request. An offer to do more than was asked is no request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lifesearch_kit.agent.clarification import FIGURE, REQUEST, asks_back, sentence_spans
from lifesearch_kit.text import Span

_BEGINNING, _ENDING = 600, 1500  # characters of a report where it speaks to its reader
_SHORT = 600  # a message without figures up to this length, wide characters counted twice, is no report
_SHORT_REFUSAL = 500
_BEFORE = 300  # characters in which the request stands that a sentence goes back to

_ANSWERED = (
    r"(?:confirm|clarif|repl|respon|provid|answer|decid|specif|choos|chose|pick|tell|told|let me know|share|sen[dt]"
    r"|upload|get back|advise|indicate|select)\w*"
)
_ANSWER = r"(?:answers?|reply|replies|response|confirmation|choice|input|decision|feedback|go-ahead|preferences?)"
_GO_ON = (
    r"(?:start|begin|proceed|continue|go on|go ahead|get going|finish|complet\w+|search|look|write|fill|collect|compile"
    r"|research|draft|finali[sz]e|deliver|produce|prepare|run|compare|do (?:this|that|the)|add (?:the|this))"
)
# Going on depends on the user's answer, and the one who goes on is the agent, or its report is what waits.
_SELF = (
    r"(?:i|i['’](?:ll|d|m)|we|we['’]ll|me|my|the rest|the remaining|(?:this|the) report|\w+ (?:half|sections?|parts?))"
)
_UPON = (
    rf"\b(?:once|after|as soon as|when|until|upon|on|without|pending|await\w*|wait\w* for)\b[^.!?;\n]{{0,20}}"
    rf"(?:\byou(?:['’]ve| have)? {_ANSWERED}|\byour {_ANSWER}\b|\bhear(?:ing)? (?:back\b|from you\b))"
)
_DEFERS = re.compile(
    rf"\bbefore i (?:can |could )?{_GO_ON}\b"
    rf"|{_UPON}[^.!?;\n]{{0,60}}\b{_SELF}\b|\b{_SELF}\b[^.!?;\n]{{0,80}}{_UPON}"
    rf"|\bi(?:['’]ll| will)? (?:need|require) (?:you to {_ANSWERED}"
    r"|(?:your|more|further|some|a few|the following|additional)[^.!?\n]{0,40}\b(?:from you|before|first|in order to))"
    rf"|(?:please|kindly|could you|can you)\b[^.!?\n]{{0,120}}\b(?:so(?: that)? i can|(?:and|then) i(?:['’]ll| will))"
    rf"(?: then)? {_GO_ON}\b"
    rf"|\b(?:await\w*|wait\w* (?:for|on)) your {_ANSWER}"
    r"|\b(?:let me know|tell me|please (?:say|confirm|indicate))\b[^.!?\n]{0,30}\b(?:whether|if)\b[^.!?\n]{0,20}"
    rf"\b(?:to|i should|me to) {_GO_ON}\b"
    r"|\b(?:let me know|tell me|please|send me|give me)\b[^.!?\n]{0,120}\b(?:i(?:['’]ll| will| can)? then|then i)\b"
    rf"|\b(?:not enough|insufficient|don['’]t have enough|lack(?:ing)?(?: the)?) (?:information|details?|context)"
    rf" to {_GO_ON}\b",
    re.IGNORECASE,
)
_ANSWERED_ZH = "(?:告诉|确认|回复|答复|明确|确定|选定|告知|提供|补充|澄清|反馈|选择|说明|回音|决定|定夺|指示)"
_GO_ON_ZH = "(?:检索|整理|补写|补充|完成|开始|继续|撰写|比较|进行|给出|展开|着手|推进|查询|分析|写)"
_DEFERS_ZH = re.compile(
    rf"{_ANSWERED_ZH}(?:之|以)?后[，,]?(?:我(?:们)?(?:将|会|再|即可|可以|就|便|才能)?|再|即可|方可"
    rf"|才能)[^。！？，\n]{{0,8}}"
    rf"{_GO_ON_ZH}|(?:等|待|得到|收到|拿到|有了)(?:了)?(?:您|你)的?{_ANSWERED_ZH}[^。！？\n]{{0,16}}(?:我|再|才|就"
    rf"|即可|方可)"
    r"|(?:请|麻烦|烦请)(?:您|你)?(?:把|将)[^。！？\n]{1,30}(?:贴|发|传|给|寄)[^。！？，\n]{0,6}[，,]?我(?:接着|继续|再"
    r"|就|便|马上)"
    r"|请(?:您|你)?(?:直接)?回复\s*[“\"「『'](?:继续|确认|是|好|可以|[A-Da-d\d])"
    r"|(?:请|麻烦|烦请)[^。！？\n]{0,10}(?:告诉|告知)[^。！？\n]{0,40}[，,；]我(?:再|才|就|便|随后|接着)"
    rf"|收到回复后我|等待(?:您|你)的?{_ANSWERED_ZH}|(?:需要|有待|须)(?:您|你)(?:先|再|进一步)?{_ANSWERED_ZH}"
    rf"|(?:信息|条件|资料)(?:不足|不够)[，,]?(?:暂时?|目前)?(?:无法|不能){_GO_ON_ZH}"
    rf"|请(?:您|你)?先?{_ANSWERED_ZH}[^。！？\n]{{0,40}}(?:我|以便我?){_GO_ON_ZH}",
)
# What the agent does next, where the sentence before asks for something.
_THEN = re.compile(
    r"^\W*(?:then i(?:['’]ll| will| can)|i(?:['’]ll| will| can) then|after that,? i(?:['’]ll| will| can))\b"
    r"|^\W*(?:之后|然后|随后|届时)我(?:们)?(?:再|会|将|就|便)",
    re.IGNORECASE,
)
_GOES_ON = re.compile(
    rf"^\W*(?:(?:then )?i(?:['’]ll| will| can)(?: then)?|(?:and )?then i(?:['’]ll| will| can)) {_GO_ON}\b"
    rf"|^\W*(?:您|你)?(?:同意|{_ANSWERED_ZH})(?:之|以)?后[，,]?我|^\W*我(?:再|会|将|就|便|马上)",
    re.IGNORECASE,
)
_OPENING = re.compile(r"(?:[*#_]+\s*)?(?:thank you|thanks|多谢|谢谢)[^。.!！]{0,20}[。.!！]?", re.IGNORECASE)
_ITEM_NUMBER = re.compile(r"^\s*\(?\d{1,2}[.)、）]\s", re.MULTILINE)
_OFFER = re.compile(
    r"\bif (?:you(?:['’]d| would)?(?: also)? (?:like|want|wish|prefer|need|are interested)|useful|helpful|needed"
    r"|necessary"
    r"|desired)\b|\bwould you like|\bwant me to\b|\bhappy to\b|\bfeel free\b|\bglad to\b"
    r"|\banything else\b|\bany (?:other|further|more) questions?\b|还有(?:其他|什么|别的)|要不要我|需要我"
    r"|如需|如果?(?:您|你)?(?:还)?(?:需要|想|希望|愿意|有兴趣)|若需|若(?:您|你)(?:需要|想|希望)|欢迎|随时",
    re.IGNORECASE,
)
_YOURSELF = re.compile(
    r"\b(?:look|find|check|search|collect|obtain|get|contact|consult|gather|read|retrieve|ask|verify|pull|go)\b"
    r"[^.!?\n]{0,80}\b(?:yourself|yourselves|on your own)\b"
    r"|\byou (?:can|could|may|should|will (?:need|have) to|(?:need|have) to) (?:look up|look for|find|collect|obtain"
    r"|gather|retrieve)\b"
    r"|\b(?:suggest|recommend|advise)\b[^.!?\n]{0,20}\byou (?:contact|search|consult|look up)\b"
    r"|(?:自行|自己|亲自)(?:再)?(?:到|去|在|前往|登录)?[^，。！？\n]{0,12}"
    r"(?:查|找|翻|搜|看|检索|联系|收集|获取|索取|整理|统计)",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:i|we) (?:did not|didn['’]t|could not|couldn['’]t|(?:was|am|were) (?:unable|not able)|wasn['’]t able|have not"
    r"|haven['’]t|failed|cannot|can['’]t|ran out|had no time|skipped)\b"
    r"|(?:未能|没能|没有|无法|未|没|来不及)(?:能)?(?:查|打开|访问|获取|找到|完成|检索|取得|得出|给出|读取|整理|覆盖|看"
    r"|做|写|算|核)|打不开|查不到|来不及",
    re.IGNORECASE,
)
_HELP = r"(?:help|assist|comply|provide|answer|fulfil\w*|discuss|respond|support|complete|do)"
_REFUSAL = re.compile(
    r"(?:^\W*|(?:\b(?:i|we|assistant|model)\b|\bsorry\b|['’]m)[^.!?\n]{0,25})"
    r"(?:\b(?:cannot|unable to|not able to|(?:must|have to) decline(?: to)?)"
    rf"|(?:can|won)['’]t(?: be able to)?|\bwill not(?: be able to)?) {_HELP}\b"
    r"|\b(?:outside|beyond) (?:of )?(?:what i|my|the scope of what)\b|['’]m not (?:allowed|permitted|able) to\b"
    r"|超出了?[^。！？\n]{0,12}(?:范围|权限|能力)|帮不[上了]"
    r"|\b(?:request|task|query|question) (?:(?:is|was|has been) )?(?:declined|refused|denied|rejected)\b"
    r"|(?:请求|问题|任务|内容)[^。！？\n]{0,6}违反[^。！？\n]{0,12}(?:政策|规定|准则|规范)"
    r"|(?:^|[，。,！\s]|我|本人|暂时?|恕|因此|所以)(?:无法|不能|不便|不可以|没法|没有办法|不方便)(?:为(?:您|你))?"
    r"(?:协助|提供|回答|完成|满足|处理|讨论|回应|帮助|帮)|恕难",
    re.IGNORECASE,
)
_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")


class HandedBack(NamedTuple):
    """The sentence that hands the work back; `partial` where a report of some substance stands beside it."""

    span: Span
    partial: bool


def hands_back(text: str, question: str = "") -> HandedBack | None:
    """Find where a message hands the work back to the user, with or without a partial report.

    Either it makes going on depend on the user's reply, or it says that something was not done and that the user should
    do it; a short message without figures that ends in a request or question asks as well. Looked at are the message's
    beginning and end, where it speaks to its reader. Offers of further help, advice beside a finished answer and
    questions that the report itself answers are none.

    Parameters
    ----------
    text
        The agent's final message.
    question
        What the user had asked.
    """
    request = asks_back(text, question)
    if request is not None:
        return HandedBack(request, False)
    asked = None if _is_report(text) else _ends_asking(text)
    if asked is not None:
        return HandedBack(asked, False)
    before = ""
    for span in _spoken(text):
        defers = _DEFERS.search(span.quote) or _DEFERS_ZH.search(span.quote)
        redirects = _YOURSELF.search(span.quote) and _NOT_DONE.search(f"{before} {span.quote}")
        goes_on = _THEN.search(span.quote) and _asks(before)
        if (defers or goes_on or redirects) and not _OFFER.search(span.quote):
            return HandedBack(_request_near(text, span), _is_report(text))
        before = span.quote
    return None


def refuses(text: str) -> Span | None:
    """The sentence in which a short message without figures declines the task; None for any other message."""
    if not text.strip() or _width(text) > _SHORT_REFUSAL or FIGURE.search(text):
        return None
    return next((Span(*span) for span in sentence_spans(text) if _REFUSAL.search(span[2])), None)


def _ends_asking(text: str) -> Span | None:
    """The first request or question of a message that ends with one, what the agent does next aside."""
    sentences = [
        one for one in sentence_spans(text) if not (_GOES_ON.search(one.quote) or _OPENING.fullmatch(one.quote))
    ]
    if not sentences or not _asks(sentences[-1].quote) or _OFFER.search(sentences[-1].quote):
        return None
    return next(one for one in sentences if _asks(one.quote))


def _spoken(text: str) -> Iterator[Span]:
    """Sentences of a text's beginning and end."""
    if len(text) <= _BEGINNING + _ENDING:
        parts = [(0, len(text))]
    else:
        parts = [(0, _BEGINNING), (text.find("\n", len(text) - _ENDING) % (len(text) + 1), len(text))]
    for start, end in parts:
        for span in sentence_spans(text[start:end]):
            yield Span(span.start + start, span.end + start, span.quote)


def _request_near(text: str, span: Span) -> Span:
    """The passage from the first request or question shortly before a sentence to that sentence's end."""
    start = max(0, span.start - _BEFORE)
    earlier = [one for one in sentence_spans(text[start : span.start]) if _asks(one.quote)]
    if not earlier or _asks(span.quote):
        return span
    start += earlier[0].start
    return Span(start, span.end, text[start : span.end])


def _asks(sentence: str) -> bool:
    return sentence.endswith(("?", "？")) or bool(REQUEST.search(sentence))


def _is_report(text: str) -> bool:
    return _width(text) > _SHORT or bool(FIGURE.search(_ITEM_NUMBER.sub("", text)))


def _width(text: str) -> int:
    return len(text) + len(_WIDE.findall(text))
