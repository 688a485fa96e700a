"""Whether a criterion holds the fact that it asks for, and leaves open what the question leaves open."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesearch_kit.rubric_checks.criteria import ACT_EN, FILLER_ZH, SHOULD_EN, Criterion, Finding, place

_ANSWERED = re.compile(
    r"[:：(（\x00]|\b(?:as|is|are|was|were|such as|namely|e\.g\.|because|at least|including|each|every|any)\b"
    r"|[为是如即]"
    r"|至少|例如|包括|每|任[一何]"
)
_GIVEN = re.compile(r"[:：(（\x00]|\b(?:as|that|is|are|was|to be|namely|such as)\b(?! (?:tested|counted|measured))")
_ASKS_DATE = re.compile(r"\b(?:date|year)|日期|年份|时间", re.IGNORECASE)
_UNSAID_EN = re.compile(
    rf"{SHOULD_EN}(?:{ACT_EN}|report|have|contain)\b[^.;]{{0,50}}?\b(?P<span>(?:correct|accurate|actual|exact|right"
    rf"|true|precise|official|real|verified) (?:\w+ ){{0,3}}?(?:figures?|numbers?|values?|dates?|names?|answers?"
    r"|amounts?|prices?|years?|totals?|counts?|percentages?|rates?|results?|versions?|opening hours|address(?:es)?"
    r"|spelling|titles?|quantit(?:y|ies)|definitions?|city|capital"
    r"|person|author|winner|statistics|data|facts?|information))\b"
    r"|\b(?P<adverb>(?:correctly|accurately|precisely|truthfully) (?:state|give|identif|name|list|report|calculat"
    r"|comput|describ|answer|reflect|quote|cite)\w*)"
    r"|\b(?P<agree>(?:consistent with|in line with|match(?:es)?|agree(?:s)? with|conform to"
    r"|correspond to) (?:the )?(?:official|actual|real|published|public|source|original|latest|reference|standard)"
    r"(?: \w+){0,2}|(?:figures|numbers|data|facts|information|statistics|dates) (?:should"
    r"|must) be (?:factually )?(?:correct|accurate|right))\b",
    re.IGNORECASE,
)
_UNSAID_ZH = re.compile(
    r"(?P<span>(?:正确|准确|真实|精确|如实)(?:无误)?地?(?:给出|写出|写明|说明|列出|指出|回答|计算|算出|识别|提供"
    r"|标注|注明))|(?:给出|写出|写明|说明|列出|指出|提供"
    r"|回答)[^，。；]{0,20}?(?P<noun>(?:正确|准确|真实|实际|精确|官方)的?[^，。；、]{0,6}?(?:数字|数据|数值"
    r"|日期|金额|年份|答案|结果|信息|名称|版本|人数|价格"
    r"|比例)(?!的))"
    r"|(?P<agree>与(?:官方|实际|事实|公开|原始|权威|真实)[^，。；]{0,12}?(?:一致|相符|吻合)|符合(?:事实|实际)"
    r"|(?:数据|数字|事实|信息)应当?(?:正确|准确|属实|无误))"
)
_VALUE_EN = (
    r"(?:revenue|price|population|market share|share|growth rate|rate|cost|turnover|net profit|profit|headcount"
    r"|capacity|year of \w+|founding (?:year|date)"
    r"|release date|publication date|launch date|version number|number of \w+|sales|salary|distance|height"
    r"|area|weight|length|inflation|output|size of \w+|sample size)"
)
_VALUE_ZH = (
    r"(?:营业收入|营收|价格|单价|人口|市场份额|份额|增速|增长率|成本|利润|毛利率|产量|销量|发布日期|成立时间"
    r"|成立年份|上市日期|版本号|面积|高度|长度|距离|样本量|员工人数"
    r"|装机容量|产能|票价|汇率|利率|死亡人数|数量)"
)
_BARE_VALUE_EN = re.compile(
    rf"{SHOULD_EN}(?:state|give|report|provide|specify|identify|mention|quote|indicate) (?:the "
    rf"|[A-Z][\w-]*(?:['’]s)? )(?:[\w-]+(?:['’]s)? ){{0,4}}?(?P<span>{_VALUE_EN})\b",
    re.IGNORECASE,
)
_BARE_VALUE_ZH = re.compile(
    rf"应当?{FILLER_ZH}(?:给出|写出|写明|列出|指出|说明|提供"
    rf"|提到)[^，。；、]{{2,24}}?(?P<span>{_VALUE_ZH})(?=[，。；]|$)"
)
_RECOMMEND_EN = re.compile(
    rf"{SHOULD_EN}(?:recommend|suggest|advise|pick|choose|select|propose)\w*(?: (?:to|that|using|visiting|buying"
    r"|staying|choosing|booking|reading|switching|the (?:user|reader|family|firm|team)|use|buy|visit|stay|book"
    r"|choose|at|in|on|it))*"
    r"(?: (?:the|a|an))? (?P<span>(?-i:[A-Z][\w&.'’-]*(?: (?:(?-i:[A-Z])[\w&.'’-]*|\d[\w.]*|of|the|&))*)|\x00+)",
    re.IGNORECASE,
)
_BEST_EN = re.compile(
    rf"{SHOULD_EN}(?:name|list|give|call|identify|present"
    r"|declare) (?:the )?(?P<span>(?-i:[A-Z])[\w&.'’-]*(?: [A-Z0-9][\w.-]*)*|\x00+)"
    r" (?:as|to be) (?:the |its |an? )?(?:best|top|first|ideal|preferred|recommended|right|most suitable)\b",
    re.IGNORECASE,
)
_BEST_ZH = re.compile(
    r"(?<!不)应当?(?:明确)?(?:把|将)(?P<span>[^，。；、（(]{2,16}?)(?:列为|作为|选为|定为|推为|视为)(?:首选|最佳"
    r"|第一选择|最优|最合适|最好)"
)
_RECOMMEND_ZH = re.compile(
    r"(?<!不)应当?(?:明确|优先)?(?:推荐|首选|建议(?:用户|读者)?(?:游览|购买|入住|阅读|使用|选择|选用|选购|参观|前往"
    r"|报名|乘坐|订购|安装))(?:用户|读者|游客)?(?:使用|购买"
    r"|入住|前往|游览|阅读|选择|参观|选购|安装)?"
    r"(?P<span>(?!至少|一[个家种款条项本台座部处套只]|[两二三四五几]|若干|\d|哪|适合|符合|具体|明确|能|可|不|有|在"
    r"|与|按|根据|采用|先|每|何|方案|以|从|对|任"
    r"|用户)[^，。；、（(]{2,20})"
)
_ALTERNATIVE = re.compile(
    r"\b(?:or|such as|e\.g\.|for example|for instance|at least (?:one|two|three)|any (?:of|one)|one of|among"
    r"|similar|equivalent|comparable|either|like|including)\b|或|例如|比如|如[：:（(]|等|之一|任[一选]|类似|同类"
    r"|其中|同等",
    re.IGNORECASE,
)


def missing_fact(criterion: Criterion) -> Iterator[Finding]:
    """A criterion that asks for the right value and does not give it, so that a judge would have to look it up."""
    if criterion.numbers():
        return
    for pattern in (_UNSAID_EN, _UNSAID_ZH, _BARE_VALUE_EN, _BARE_VALUE_ZH):
        match = pattern.search(criterion.plain)
        if match is None:
            continue
        start, end = place(match)
        rest = criterion.plain[end:]
        words = criterion.text[start:end]
        given = match.groupdict()
        # A date answers where a date is asked for; elsewhere it only says of when the value is.
        dated = bool(_ASKS_DATE.search(words)) and criterion.is_dated
        answered = dated or (_GIVEN if given.get("adverb") else _ANSWERED).search(rest)
        if answered and not given.get("agree"):
            continue
        yield Finding(
            "missing_fact",
            start,
            end,
            f"{words!r} asks for a fact that the criterion does not hold: a judge without a browser cannot decide it",
            "write the verified fact into the criterion, such as 'states the revenue of 2025 as 12.85 billion yuan' "
            "(给出2025年营业收入12.85亿元)",
        )
        return


def single_recommendation(criterion: Criterion) -> Iterator[Finding]:
    """A required recommendation of one thing that the question does not name, where others would serve."""
    if criterion.priority != "Must Have" or _ALTERNATIVE.search(criterion.plain):
        return
    for pattern in (_RECOMMEND_EN, _RECOMMEND_ZH, _BEST_EN, _BEST_ZH):
        match = pattern.search(criterion.plain)
        if match is None:
            continue
        start = match.start("span")
        words = criterion.text[start : match.end("span")].rstrip(".")
        end = start + len(words)
        if _named(words.strip("“”「」《》\"'"), criterion.query):
            continue
        yield Finding(
            "single_recommendation",
            start,
            end,
            f"requires {words!r}, which the question does not name: other answers may serve as well",
            "admit alternatives ('such as …, or another that …'; 如……或同类), or call it Nice to Have",
        )


def _named(words: str, query: str) -> bool:
    """Whether the question names it: all its words that begin with a capital, or its first four Chinese characters."""
    folded = query.casefold()
    names = re.findall(r"[A-Z][\w-]{2,}", words) or re.findall(r"[\u3400-\u9fff]{4}", words)[:1]
    return words.casefold() in folded or (bool(names) and all(one.casefold() in folded for one in names))
