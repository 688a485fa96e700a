"""What the clause of a date says of it: that something was so, or only that it is planned, due, or left out."""

from __future__ import annotations

import re

from lifesearch_kit.dates import DateMention
from lifesearch_kit.text import Span

# A later date is evidence of newer data where the clause reports something of that day: it says as of when, when a
# source came out, or what was so. It is none where the clause looks ahead, says when a page was opened, or leaves the
# later data out.
_CLAUSE_END = re.compile(r"[;；|\n]")
_WINDOW = 300  # characters to either side of a date that its clause is looked for in
_REPORTING = re.compile(
    r"\b(?:as (?:of|at)|according to|no longer|by|up to|through|during|was|were|had|rose|fell|grew|stood|brought|saw"
    r"|shut|made|sold|hit|led|held|won"
    r"|became|began|went|took|came|got|lost|built|met|cut|(?!need)[a-z]{3,}ed)\b"
    r"|截至|截止|发布|公布|更新|修订|报道|公告|数据|为|达|增至|降至|升至|增长|下降|完成|超过|已经?|了|因|称|表示|接待"
    r"|迎来|停产"
    r"|投产|录得|实现|同比|环比|突破|上涨|下跌|提高|减少|宣布|召开|举办|当选|获|根据|通知|不再",
    re.IGNORECASE,
)
# Of a year alone: past tense beside "in", as in "in 2027 it stood at 19"; "the 2027 budget" is of an earlier day.
_IN_YEAR = re.compile(r"\b(?:in|during|throughout)\s*$", re.IGNORECASE)
_PAST_WORDS = (
    r"(?:was|were|had|rose|fell|grew|stood|saw|made|sold|hit|led|held|won|became|began|went|took|came|lost"
    r"|(?!need|propos|intend|slat|promis|requir|design|bas|allow|commit|suppos|set)[a-z]{2,}ed)"
)
_PAST_BEFORE = re.compile(rf"\b{_PAST_WORDS}(?: \w+){{0,2}} (?:in|during)\s*$", re.IGNORECASE)
_PAST_AFTER = re.compile(rf"^[\s,]*(?:\w+[\s,]+){{0,6}}{_PAST_WORDS}\b", re.IGNORECASE)
# "The 2027 harvest came in at 24 tonnes"; what is fixed ahead of its year ("the 2027 budget") is of an earlier day.
_FIGURE_OF_YEAR = re.compile(
    r"^ (?!(?:budget|plan|target|edition|model|version|season|agenda|deadline|goal|outlook"
    rf"|guid)\w*)[a-z]+(?: [a-z]+){{0,2}} {_PAST_WORDS}"
    r"(?: [a-z]+){0,3} [^\w\s]{0,2}\d",
    re.IGNORECASE,
)
_PAST_ZH = re.compile(
    r"^\s*[^，。；\d]{0,12}(?:达到?|为|增至|降至|升[至到]|接待|迎来|录得|实现|完成了|突破|才|已|完工|投产|建成|开通"
    r"|倒闭|获批)"
    r"|^[^，。；\d、（(]{1,10}\d[\d.,]*\s*(?:%|[万亿千百吨元人家辆件座台个公])"
)
_OTHER_DATES = re.compile(
    r"\d{1,4}\s*[年月日号](?:\d{1,2}\s*[月日号])*|\b\d{1,2} [A-Z][a-z]{2,8}\b|\b[A-Z][a-z]{2,8} \d{1,2}\b|\[\^?\d+\]"
    r"|(?<!\d)(?:19|20)\d\d(?!\d)|https?://\S+|\d{1,2}:\d{2}"
)
_FIGURE = re.compile(r"\d")
_ALONE = re.compile(r"^\W*(?:[A-Za-z]{3,9}\W+)?$")
_BRACKETED = re.compile(r"[(（][^()（）]{0,40}$")
_SET_ASIDE = re.compile(
    r"\b(?:will|shall|would|could|(?-i:may)|might|expect\w*|forecast\w*|project(?:s|ed|ion\w*)"
    r"|(?<!the )(?<!\ba )plan(?:s|ned)?|under (?:the|a|its|this) plan"
    r"|schedul\w+|target\w*"
    r"|due|estimat\w+|anticipat\w+|predict\w*|goal|aims?|assum\w+|deadline|accessed|retrieved|exclud\w+|ignored"
    r"|disregarded"
    r"|omitted|set aside|left (?:out|aside)|discarded|dropped as|too recent|foreseen|slated"
    r"|not (?:used|included|considered)|(?:after|beyond) the cut-?off|until|effective|in force|takes? effect"
    r"|comes? into|(?:is|are) to be|onwards?|must|upcoming|open(?:ed|s)? (?:for )?registration"
    r"|registration (?:is|has)(?: now)? open(?:ed)?"
    r"|(?:starting|beginning|postponed|delayed) (?:on|from|to|in))\b"
    r"|预计|预期|预测|预估|预算|计划|规划|拟|目标|将|未来|今后|假设|假定|有望|力争|定于|拟于|访问日期|检索|访问于|不纳入|未纳入"
    r"|未采用"
    r"|不采用|不予采用|未使用"
    r"|没有(?:采用|使用|纳入)|忽略|排除|剔除|截止日之后|到期|期限|推迟|延期|延至|(?:[年月日号]|\d)\s*起(?![诉草步飞火义初])"
    r"|起(?:实施|执行|施行|计算|生效|[，,。；]|$)|[自从]20\d\d年[^，。；]{0,8}起",
    re.IGNORECASE,
)
# A date that a scheduled event's word or label announces: "Support ends: …", "报名截止日期：…".
_SCHEDULED = re.compile(
    r"\b(?:(?:ends|expires|matures|closes|opens|starts|begins|launches|resumes|departs|arrives|runs"
    r"|(?<!the )(?:end|expire|close|open|start|begin|resume|run)(?= (?:on|at|from)\b)|valid|next \w+"
    r"|(?:end|expiry|expiration|closing|opening|start|renewal) date|end of (?:support|life|sales?))"
    r"[\s:*_|(]*(?:(?:is|on|at|in|from|by|to|through)\b[\s:*_]*)?"
    r"|(?:open|valid|runs?|season)[\w ]{0,30} (?:from|to|through) |\b(?:not )?before |\bnot later than "
    r"|\bno later than )$"
    r"|(?:结束|终止|停止|开始|开放|关闭|启用|开通|举行|举办|活动|有效|截止)(?:日期|时间|日|期)?[\s*_]*[:：][\s*_]*$"
    r"|(?:结束|终止|停止|开始|开放|关闭|启用|开通|举行|举办|活动|有效|截止)(?:日期|时间|日|期)[\s*_]*[为是至到]?\s*$"
    r"|(?:报名|申请|申报|投标|征集|受理|提交|预售)[^，。；]{0,4}截[止至]于?\s*$",
    re.IGNORECASE,
)
_ENDS_THERE = re.compile(r"\s*(?:截止|止(?!损|跌)|(?:之|以)?前)")


# A figure that was read on a later day is later data; the day on which a cited page was opened is none.
_READ_THEN = re.compile(
    r"\b(?:data|figures?|numbers?|counts?|values?|statistics|prices?|rates?|snapshot|results?)\b[^.;,()]{0,30}"
    r"\b(?:retrieved|accessed)(?= (?:on|in)?\s*$)"
    r"|(?:数据|数字|统计|结果|价格)[^，。；（）]{0,8}(?:检索|访问)(?=于?\s*$)",
    re.IGNORECASE,
)


def reports_of(text: str, span: Span, mention: DateMention) -> bool:
    """Whether the clause of a date reports something of that day.

    Parameters
    ----------
    span
        The passage that holds the date.
    """
    before = _CLAUSE_END.split(text[max(span.start, mention.start - _WINDOW) : mention.start])[-1]
    after = _CLAUSE_END.split(text[mention.end : min(span.end, mention.end + _WINDOW)])[0]
    read_then = _READ_THEN.search(before)
    before = _READ_THEN.sub("read", before)
    clause = before + text[mention.start : mention.end] + after
    if _SET_ASIDE.search(clause) or _SCHEDULED.search(before[-60:]) or _ENDS_THERE.match(after):
        return False
    if read_then:
        return True
    moment = mention.moment
    if not (moment.month or moment.quarter or moment.half):
        in_words = "年" in text[mention.start : mention.end]
        if in_words:
            return bool(_PAST_ZH.search(after))
        if _FIGURE_OF_YEAR.search(after):
            return True
        return bool(_IN_YEAR.search(before[-20:]) and (_PAST_AFTER.search(after) or _PAST_BEFORE.search(before[-60:])))
    alone = bool(_ALONE.match(before)) and not after.strip(" .。)）*_")
    bracketed = bool(_BRACKETED.search(before[-60:])) and after.lstrip().startswith((")", "）"))
    if alone or bracketed or span.quote.startswith("#"):
        return True
    said = _OTHER_DATES.sub(" ", before) + " " + _OTHER_DATES.sub(" ", after)
    return bool(_REPORTING.search(said) or _FIGURE.search(said))
