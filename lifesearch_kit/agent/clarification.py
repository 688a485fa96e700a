"""Premature clarification: a final message that asks the user back, or hands the work back, and holds nothing else.

The first failure mode of the LifeSearch paper. A message that says anything of its own is an answer, however little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesearch_kit.text import Span

# A Chinese character counts as two. Longer sentences are content; so are longer options under a request.
_LONGEST_SENTENCE = 400
_LONGEST_OPTION = 120


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.I)


_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_SENTENCE = re.compile(r"[^\n。！？!?；]+?(?:[。！？!?；]+[”」』\"')）]*|\.(?=[\s\"')]|$)|\n|$)")
_OPTION = re.compile(r"\s*(?:[-*•·–]|\(?\d{1,2}[.)、）]|\(?[A-Ha-h][.)、）]|[（(][一二三四五六\d][）)]|[①-⑨])\s*")
# A number that is no year, or an address.
FIGURE = re.compile(r"https?:|(?<!\d)(?!(?:19|20)\d\d(?!\d))\d")

_SOFTENED = r"(?: also| please| first| briefly| kindly)*"
# What only a partner in a conversation can be asked for, and what a counter or a form may ask for as well.
_TELL = (
    r"(?:clarify|specify|tell me|say (?:how|which|what|whether)|indicate|elaborate|reply|respond|let me know|narrow"
    r"|answer|choose|select|pick"
    r"|confirm (?:the following|which|what|whether|your choice)"
    r"|(?:provide|supply|share|send|upload|paste|confirm)\b[^.!?\n]{0,60}\b(?:i|me|more|details?|following|which"
    r"|what))\b"
)
_TELL_ZH = (
    r"(?:先|再|尽快|帮忙|协助|进一步|具体|简单|明确)*"
    r"(?:告诉|告知|说明|澄清|明确|指定|回复|回答|指明|描述|选择"
    r"|(?:确认|提供|补充|发送|上传|给出)[^。！？\n]{0,20}(?:[：:]|以下|具体|详细|更多|哪|是否|我|(?:您|你)(?:希望|想"
    r"|要|的)))"
)
REQUEST = _any(
    rf"(?:^|[,:;(—-]\s*|\b(?:so|and|but|then)\s+)\W*(?:please|kindly){_SOFTENED} {_TELL}",
    rf"\b(?:could|can|would|will) you{_SOFTENED} (?:{_TELL}|(?:provide|share|confirm|send|upload)\b[^.!?\n]*\?)",
    r"\blet me know (?:which|what|whether|how|your|who|where|when|once|the)\b",
    r"\bi(?:'ll| will)? (?:need|require)\b[^.!?\n]{0,60}\b(?:from you|details|more information|clarification)\b",
    r"\bi(?:'d| would) (?:like|want|need) to (?:first )?(?:confirm|clarify|check)\b",
    r"\b(?:await|waiting for|wait for) your (?:reply|response|answer|confirmation|choice|decision|input)",
    r"^\W*(?:once|after|as soon as|when) you(?:'ve| have)? (?:confirm|clarif|repl|respon|provid|answer|decid|specif)"
    r"[^.!?\n]{0,40}\bi(?:'ll| will| can)\b",
    # Not in the middle of a clause: advice such as 出发前请确认签证 speaks to anybody.
    rf"(?:^|[，,：:；、\s]|因此|所以)(?:请|烦请|麻烦|还请|敬请)(?:您|你)?{_TELL_ZH}|需要(?:您|你){_TELL_ZH}",
    rf"(?:能否|可否|是否可以|方便)(?:请)?(?:您|你)?{_TELL_ZH}|(?:想|希望)(?:先)?(?:向|跟|和|与)?(?:您|你){_TELL_ZH}",
    r"我(?:需要|想|希望)(?:先)?(?:确认|了解|澄清|明确)|请问[^。！\n]*[?？]",
    r"(?:等待|期待)(?:您|你)的?(?:确认|回复|答复|反馈|补充|说明|选择|指示)",
)
# Offers to go on are among them: with nothing else beside them they hand the work back just as well.
_QUESTION = _any(
    r"\b(?:you|your|should i|shall i)\b[^.!?\n]*\?",
    r"(?:您|你|是否(?:需要|要|由)?我|是否(?:按此|照此|就此|如此)(?:执行|进行|继续|开始)|(?:需要|要不要|是否)我|我(?:该"
    r"|应该|应当))[^。！\n]*[?？]",
)
_COURTESY = _any(
    r"\W*(?:thanks|thank you)(?: (?:so|very) much)?(?: for [^.!,:;]{0,50})?(?=[.!,:;]|$)",
    r"\W*(?:hello|hi|sure|certainly|of course|great question|happy to help|i(?:'d| would) be (?:happy|glad) to help"
    r"|i(?:'m| am) (?:happy|glad|ready) to (?:help|start|begin))(?=[.!,:;]|$)",
    r"\W*(?:您好|你好|好的|当然|没问题|收到|(?:感谢|谢谢)(?:您|你)?(?:的(?:提问|问题|咨询|耐心"
    r"|信任))?)(?=[。！，,!：:]|$)",
)
_LEAD = _any(r"\W*(?:then|otherwise|next|first|after that|然后|接下来|届时|否则|首先)\b[\s,，]*")
_WORK = (
    r"(?:search|look|start|begin|proceed|continue|research|gather|collect|compare|write|prepare|check|review|analy[sz]e"
    r"|refine|tailor|focus|investigate|narrow|go ahead|verify|summari[sz]e|identify|help|assist)\b"
)
_WORK_ZH = (
    r"(?:检索|搜索|查找|查询|调研|研究|收集|整理|分析|比较|撰写|汇总|核实|制定|开始|继续)(?!了|到|得|结果|表明|显示)"
)
_PLAN = _any(
    rf"\W*i(?:'ll| will| can| plan to| intend to|'m going to| am going to)(?: then| first| now)? {_WORK}",
    r"\W*(?:i have (?:prepared|made|drafted) (?:a|the|my) plan|(?:here(?:'s| is) )?my (?:research |search )?plan)\W*$",
    rf"\W*(?:[^，。\d]{{0,10}}[，,])?(?:您|你)?(?:确认|回复|确定|答复)[之以]?后[，,]?我?(?:们)?(?:再|即可|就"
    rf"|便)[^。]{{0,8}}{_WORK_ZH}",
    rf"\W*(?:(?:您|你)?(?:确认|回复)后[，,]?)?我(?:们)?(?:会|将|计划|打算|准备)[^。]{{0,12}}{_WORK_ZH}",
    r"\W*(?:以下是)?我的(?:调研|研究|检索)?计划(?:如下)?\W*$|\W*我已(?:经)?(?:了解|收到|理解|明白)(?:您"
    r"|你)?的?[^，。]{0,6}\W*$",
)
_REASON = _any(
    r"^\W*(?:your|the|this) (?:question|request|query|term|name|word|wording)\b[^,;]{0,60}\b(?:ambiguous|unclear|vague"
    r"|not clear|too broad|underspecified|leaves? open)\b[^,;]{0,20}$",
    r"^\W*it(?:'s| is) (?:un|not )clear (?:which|what|who)\b",
    r"^\W*(?:there (?:are|may be)|i (?:found|see))\b[^,;]{0,40}\b(?:of (?:that|this|the same) name|possible matches"
    r"|meanings|interpretations)\b[^,;]{0,30}$|^\W*(?:it|this|the \w+) (?:can|could|may|might) (?:mean|refer to)\W*$",
    r"^\W*i(?:'m| am) not sure (?:which|what|whether|who)\b|^\W*clarification(?: is)?(?: needed| required)?\W*$",
    r"^\W*i (?:was(?: not|n't) able to|couldn't|could not|cannot|can't) (?:open|access|read|see|load)\b[^,;]{0,40}$",
    r"^\W*i (?:was not able to|couldn't|could not|cannot|can't) (?:determine|tell) (?:which|what) [^,;]{0,40}\byou\b",
    r"^\W*(?:a few|some|quick) questions\b[^,;]{0,30}$|^\W*(?:几个|以下)问题\W*$",
    r"(?:有|存在)[^，。]{0,10}同名|(?:问题|名称|术语|说法|表述|请求|需求)[^，。]{0,12}(?:歧义|不明确|不够(?:具体|明确"
    r"|清楚)"
    r"|多种(?:理解|含义|解释)|多个方面|宽泛)|^\W*(?:需要|待)(?:先)?(?:您|你)?(?:确认|澄清)[^，。]{0,10}$",
    r"\bi want to be sure\b[^,;]{0,40}$",
    r"^\W*i (?:don't|do not) have enough (?:information|details|context)\b[^,;]{0,30}$",
    r"(?:信息|条件)(?:不足|不够)[，,]?(?:无法|不能)[^，。]{0,8}$",
    r"我(?:无法|没能|不能)(?:打开|访问|读取)[^，。]{0,20}$|我(?:无法|不能)(?:确定|判断)(?:您|你)",
)
# How a clause begins that leads up to a request.
_LEAD_IN = _any(
    r"\W*i can (?:help|put|do|prepare|certainly|gladly)\b",
    r"\W*(?:to (?:give|make|help|ensure|provide|answer|get|tailor|narrow|do|be|avoid)|before (?:i|we)|in order to"
    r"|once you|if so|for (?:that|this)|regarding|(?:and|or|but) ?)\b(?! it\b)",
    r"\W*(?:what|which|who|when|where|how|do|does|did|is|are|should|shall|would|could|can|will)\b",
    r"\W*(?:为了|以便|(?:在|正式)?开始|在[^，]{0,12}(?:之?前)|关于|针对|请|烦请|麻烦|如果|首先|是否)",
    r"\W*(?:您|你)(?:指|说|问|想|更|希望|关注|计划|倾向)",
)
_LABEL = re.compile(r"\W*[^\W\d][^:：,，.。\d]{0,30}[:：]")
_CONDITIONAL = _any(r"\W*(?:yes|no|if|when)\b", r"\W*(?:是|否|如|若)")


def asks_back(text: str, question: str = "") -> Span | None:
    """Find the request of a message that asks back instead of reporting.

    The message is taken apart into sentences. Each must be a request or a question, an option under one, a courtesy, a
    plan of work, a reason for asking, or words of the user's own question; one sentence that is none of these makes
    the message an answer. So a long message with findings that ends in a question back counts as an answer too: what
    it is worth is left to its rubrics.

    Parameters
    ----------
    text
        The agent's final message.
    question
        What the user had asked.

    Returns
    -------
    Span or None
        The first request, question or offer to the user; None where there is none, or where the message says anything
        else.
    """
    asked = _words(question)
    first: Span | None = None
    heads_options = False
    for start, end, sentence in sentence_spans(text):
        if len(sentence) + len(_WIDE.findall(sentence)) > _LONGEST_SENTENCE:
            return None
        if _words(sentence) in asked:
            continue
        item = _OPTION.match(sentence)
        # "1. Please give your address" is a step for anybody, unless a request or a question stands above.
        may_ask = item is None or heads_options or sentence.endswith(("?", "？"))
        found = REQUEST.search(sentence) or _QUESTION.search(sentence) if may_ask else None
        if found is not None:
            if _tells(sentence[: found.start()] if found.re is REQUEST else sentence, item):
                return None
            first = first or Span(start, end, sentence)
        elif not (item and heads_options and _is_option(sentence[item.end() :])) and not _is_talk(sentence):
            return None
        heads_options = heads_options if item else sentence.endswith((":", "：", "?", "？")) or heads_options
    return first


def sentence_spans(text: str) -> Iterator[Span]:
    """Sentences with their places; a list item is one, however many it holds."""
    for line in re.finditer(r"[^\n]+", text):
        item = _OPTION.match(line.group())
        for match in [line] if item else _SENTENCE.finditer(text, line.start(), line.end()):
            sentence = match.group().strip()
            if sentence:
                start = match.start() + match.group().index(sentence)
                yield Span(start, start + len(sentence), sentence)


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def _tells(words: str, item: re.Match[str] | None) -> bool:
    """Whether the clauses that lead up to a request say anything ("It is 42 km, shall I go on?")."""
    if item is not None:
        label = _LABEL.match(words, item.end())
        words = words[label.end() if label else item.end() :]
    clauses = re.split(r"[,，;:：、]|\s[-–—]+\s|——", words)[:-1]
    return any(FIGURE.search(one) or not (_LEAD_IN.match(one) or _is_talk(one)) for one in clauses if one.strip())


def _is_option(words: str) -> bool:
    """Whether a list item is short and names a choice; figures and conditions ("Yes: apply in person") are answers."""
    wide = len(words) + len(_WIDE.findall(words))
    return wide <= _LONGEST_OPTION and not FIGURE.search(words) and not _CONDITIONAL.match(words)


def _is_talk(sentence: str) -> bool:
    """Whether a sentence is a courtesy, a plan, a reason for asking or a question: nothing that answers."""
    plain = sentence.strip("#*_> -")
    if plain.endswith(("?", "？")):
        return True
    while courtesy := _COURTESY.match(plain):
        plain = plain[courtesy.end() :].lstrip(" .!,:;。！，：")
    if FIGURE.search(plain):
        return False
    clauses = [_LEAD.sub("", clause.strip(), count=1) for clause in re.split("[:：]", plain)]
    return all(not clause or _PLAN.match(clause) or _REASON.search(clause) for clause in clauses)
