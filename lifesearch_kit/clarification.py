"""Premature clarification: a final message that asks the user back, or hands the work back, and holds no report.

The first failure mode of the LifeSearch paper. An offer of further help after an answer is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple


class Span(NamedTuple):
    """Where in a text something was found, and the words."""

    start: int
    end: int
    quote: str


# Lengths count a Chinese character as two. What is left of a message beside its requests, their options, greetings and
# plans makes it an answer: a little beside mere questions, more beside an outright request, unless it shows evidence.
_ANSWER_BESIDE_QUESTIONS = 12
_ANSWER_WITH_EVIDENCE = 40
_ANSWER_BESIDE_REQUESTS = (120, 600)
_LONGEST_REQUEST = 500


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE = re.compile(r"[^\n。！？!?；]+?(?:[。！？!?；]+[”」』\"')）]*|\.(?=[\s\"')]|$)|\n|$)")
_OPTION = re.compile(r"\s*(?:[-*•·–]|\(?\d{1,2}[.)、）]|\(?[A-Ha-h][.)、）]|[（(][一二三四五六\d][）)]|[①-⑨])\s*")
_OFFER = _any(
    r"\b(?:if|should|whenever|in case) (?:you|there|this|any|needed|helpful|necessary|of interest)",
    r"\bfeel free|\b(?:anything|what|something) else\b",
    r"(?:如果|如|若|倘若)(?:您|你)?(?:还|有|需|想|希望|对|仍)|随时|欢迎|其他(?:需要|问题)",
)
_SOFTENED = r"(?: also| please| first| briefly| kindly)*"
_TELL = (
    r"(?:clarify|confirm(?! (?:with|at|on|by))|specify|provide|supply|share|tell me|indicate|choose|select"
    r"|pick|elaborate|answer|reply|respond|send|upload|paste|let me know|narrow)\b"
)
_TELL_ZH = (
    r"(?:先|再|尽快|帮忙|协助|进一步|具体|简单|明确)*"
    r"(?:确认|提供|告诉|告知|说明|澄清|补充|明确|选择|指定|回复|回答|发送|上传|给出|指明|描述)"
)
_REQUEST = _any(
    rf"(?:^|[,:;(—-]\s*|\b(?:so|and|but|then)\s+)\W*(?:please|kindly){_SOFTENED} {_TELL}",
    rf"\b(?:could|can|would|will) you{_SOFTENED} {_TELL}",
    r"\blet me know (?:which|what|whether|how|your|who|where|when|once|the)\b",
    r"\b(?:which|what|who|where|how)\b[^.!?\n]{0,120}\b(?:do you (?:mean|prefer|want|need)|did you mean"
    r"|did you have in mind|are you (?:interested|looking|asking|referring)|you(?:'d| would) (?:like|prefer)"
    r"|should i)\b[^.!?\n]*\?",
    r"\bi(?:'ll| will)? (?:need|require)\b[^.!?\n]{0,60}\b(?:from you|details|more information|clarification|your)\b",
    r"\bi(?:'d| would) (?:like|want|need) to (?:first )?(?:confirm|clarify|check)\b",
    r"\b(?:await|waiting for|wait for) (?:your|you)\b",
    r"\b(?:once|after|as soon as|when) you(?:'ve| have)? (?:confirm|clarif|repl|respon|provid|answer|decid|specif)",
    # Not in the middle of a clause: advice such as 出发前请确认签证 speaks to anybody.
    rf"(?:^|[，,：:；、\s]|因此|所以)(?:请|烦请|麻烦|还请|敬请)(?:您|你)?{_TELL_ZH}|请(?:您|你){_TELL_ZH}|请问",
    rf"(?:能否|可否|是否可以|方便)(?:请)?(?:您|你)?{_TELL_ZH}|(?:需要|想|希望)(?:先)?(?:向|跟|和|与)?(?:您|你){_TELL_ZH}",
    r"我(?:需要|想|希望)(?:先)?(?:确认|了解|澄清|明确)|(?:您|你)(?:指|说|问)的是[^。！\n]*[?？]",
    r"(?:等待|等|待|期待|收到)(?:您|你)的?[^。！？\n]{0,6}(?:确认|回复|答复|反馈|补充|说明|选择|指示)",
)
_QUESTION = _any(
    r"\b(?:you|your|should i|shall i)\b[^.!?\n]*\?",
    r"(?:您|你|是否(?:需要|要|由)?我|(?:需要|要不要|是否)我|我(?:该|应该|应当))[^。！\n]*[?？]",
)
_PREAMBLE = _any(
    r"\W*(?:thanks|thank you|hello|hi\b|sure|of course|certainly|happy to|my plan|here(?:'s| is) (?:my|the) plan)",
    r"\W*to (?:give|make|help|ensure|provide|answer|get|tailor)|\W*(?:your|the) (?:question|request|query|term)\b",
    r"\W*i(?:'d| would) be (?:happy|glad)|\W*i(?:'m| am) (?:happy|glad|ready|not sure)",
    r"\W*i(?:'ll| will| can| could| plan| intend| propose| would| have prepared| understand| want)\b",
    r"\W*i(?: was not able| wasn't able| couldn't| could not)\b|\W*it(?:'s| is) (?:not clear|unclear|ambiguous)",
    r"\W*(?:for example|such as|otherwise|then i)\b",
    r"\W*(?:您好|你好|好的|当然|感谢|谢谢|没问题|为了|以便|您的|你的|以下(?:几|是|问题|信息)|该问题|收到|例如|比如|否则)",
    r"\W*(?:我(?:会|将|可以|计划|打算|理解|需要|想|先|很|来|准备|已|无法|没能)|然后|确认后|届时|接下来)",
)
_EVIDENCE = _any(r"https?://|\[\d{1,3}\]|\|\s*:?-{3,}", r"\d[\d,.]*\s*(?:%|％|万|亿|million|billion|percent)")


def asks_back(text: str, question: str = "") -> Span | None:
    """Find the request of a message that asks back instead of reporting.

    The message is taken apart into sentences. What is left after requests to the user, the options under them,
    greetings, plans and offers must be too little to be an answer. Words of the user's own question that the message
    repeats are neither a request nor an answer.

    Parameters
    ----------
    text
        The agent's final message.
    question
        What the user had asked.

    Returns
    -------
    Span or None
        The first request, or the first question to the user where there is no outright request; None where there is
        neither, or where the message is an answer.
    """
    least, most = _ANSWER_BESIDE_REQUESTS
    requests: list[Span] = []
    questions: list[Span] = []
    left = beside = 0
    evidence = under_request = False
    for start, sentence in _sentences(text):
        width = len(sentence) + len(_WIDE.findall(sentence))
        if _words(sentence) in _words(question):
            beside += width
            continue
        found = _addressed(sentence)
        if found is not None:
            found_in = requests if found == "request" else questions
            found_in.append(Span(start, start + len(sentence), sentence))
            under_request, beside = True, beside + width
        elif under_request and _OPTION.match(sentence):
            beside += width
        elif _is_talk(sentence):
            beside += width
            under_request = under_request or sentence.endswith((":", "："))
        else:
            under_request = sentence.endswith((":", "："))
            left += width
            evidence = evidence or bool(_EVIDENCE.search(sentence))
            if left >= most:
                return None
    if requests:
        enough = _ANSWER_WITH_EVIDENCE if evidence else min(max(least, beside), most)
        return requests[0] if left < enough else None
    return questions[0] if questions and left < _ANSWER_BESIDE_QUESTIONS else None


def _sentences(text: str) -> Iterator[tuple[int, str]]:
    """Sentences with their places; a list item is one, however many it holds."""
    for line in re.finditer(r"[^\n]+", text):
        item = _OPTION.match(line.group())
        for match in [line] if item else _SENTENCE.finditer(text, line.start(), line.end()):
            sentence = match.group().strip()
            if sentence:
                yield match.start() + match.group().index(sentence), sentence


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _addressed(sentence: str) -> str | None:
    """Whether a sentence puts a request or a question to the user; an offer does neither."""
    if len(sentence) > _LONGEST_REQUEST or _OFFER.search(sentence):
        return None
    if _REQUEST.search(sentence):
        return "request"
    return "question" if _QUESTION.search(sentence) else None


def _is_talk(sentence: str) -> bool:
    """Whether a sentence is a greeting, a plan, an offer or a question: nothing that answers."""
    if len(sentence) > _LONGEST_REQUEST:
        return False
    plain = sentence.lstrip("#*_> -")
    talk = bool(_PREAMBLE.match(plain)) and not _EVIDENCE.search(plain)
    return talk or bool(_OFFER.search(plain)) or plain.endswith(("?", "？"))
