"""Whether a criterion can be read alone: no word in it means something that stands elsewhere, or moves with time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesearch_kit.rubric_checks.criteria import ACT_EN, ACT_ZH, FILLER_ZH, SHOULD_EN, Criterion, Finding, place

_DANGLING_EN = re.compile(
    rf"{SHOULD_EN}(?:{ACT_EN}) (?:out )?(?:(?:that|whether|how|why|when|where|if) )?"
    r"(?P<span>it|they|he|she|this|these|those|his|her|such an?)\b(?! (?:response|report|answer|itself))"
    rf"|{SHOULD_EN}(?:{ACT_EN}) (?:that|whether|how|why|when) (?P<its>its|their)\b"
    # A thing without a name, where the criterion begins.
    rf"|{SHOULD_EN}(?:{ACT_EN}) (?:that|whether|how|why|when|where) (?P<thing>the (?:company|firm|product|drug|law"
    r"|policy"
    r"|author|study|city|country|event|organi[sz]ation|project|report|person|device|bank|university)) (?!of\b|in\b"
    r"|that\b)",
    re.IGNORECASE,
)
_DANGLING_ZH = re.compile(
    rf"应当?{FILLER_ZH}{ACT_ZH}了?(?P<span>其(?!中|他|余|次|结论|推荐|判断|建议|答案|论断|依据|所|引用|观点|推断"
    r"|来源|数据来源)|它们?|他们?|她们?|该(?!如何)"
    r"|此(?!外|前|后)"
    r"|这(?!样做)[一两些家个种项次]?)"
    r"|^\W*(?:回复|报告|回答)应当?(?:对|就|为|在|将|把)(?P<its>其(?!中|他|余|结论|推荐|判断|建议|论断|引用|观点|所)"
    r"|它|该|此(?!外)|这)"
    rf"|应当?{FILLER_ZH}{ACT_ZH}了?(?P<thing>公司|企业|产品|政策|法案|作者|项目|机构)(?=[^，。、和与]{{0,4}}(?:成立"
    r"|生效|发布|推出|位于|何时|总部|是))"
)
_ELSEWHERE = re.compile(
    r"\b(?P<span>(?:the )?(?:above(?:[- ]mentioned)?|aforementioned|foregoing|previous(?:ly)? (?:mentioned|stated"
    r"|named|listed"
    r"|criteri(?:on|a)|rubrics?|item|requirement|point)|preceding (?:criterion|rubric|item|point|requirement)"
    r"|same as (?:above|before)"
    r"|as (?:noted|stated|mentioned|described|listed) (?:above|earlier|before)|(?:criterion|rubric|item) R?\d+"
    r"|said (?=company|firm|report|product)))"
    r"(?= |[,.;)]|$)(?! \d)|(?P<zh>上述|前述|如上|上文|同上|下述|以上(?=所述|[两三四五]|各|内容|问题|公司|企业)"
    r"|上一[条项]|前一[条项]|前面(?=提到|所述)"
    r"|第[一二三四五六七八九十\d]+条(?:标准|评分)|R\d+(?=中|的|所))",
    re.IGNORECASE,
)
_FORMER = re.compile(
    r"\bthe (?:former|latter)\b(?! (?:president|minister|chair|head|chief|director|prime|soviet|governor|ceo))"
    r"|[前后]者",
    re.IGNORECASE,
)
_TWO_NAMED = re.compile(r"\b(?:and|or|versus|vs\.?|than|while|whereas)\b|[和与及或、]|相比", re.IGNORECASE)
_UNDATED = re.compile(
    r"\b(?P<span>currently|at present|presently|nowadays|these days|recent(?:ly)?(?! (?:and|to))|today(?:['’]s)?"
    r"|right now|this year"
    r"|last year|next year|this month"
    r"|last month|yesterday|tomorrow|to date|so far|in recent years|the (?:past|last|coming"
    r"|next) (?:few )?(?:years?|months?|decade|quarter)"
    r"|(?<!direct )(?<!alternating )(?<!electric )current(?= (?:\w+ )?(?:price|rate|value|status|state|situation"
    r"|version|government|policy|ceo|law|rules?|president|chair\w*"
    r"|minister|market|charges?|holder|record|figures?|number|population|trend|research|literature|events?|year"
    r"|developments?|landscape|level|estimates?))"
    r"|up[- ]to[- ]date|as of now|ongoing)\b"
    r"|(?P<zh>目前|当前|现在|如今|眼下|现阶段|近期|不久前|前不久|日前|新近|最近(?!的[^，。]{0,6}(?:站|店|医院|机场"
    r"|地铁))|近年来?|近几年"
    r"|今年|去年|(?<!说)(?<!指)明年|今日|今天|昨天|明天|本月"
    r"|上月|下月|本年度?|上年度?|迄今|至今|时下|当下|过去[几一二三两五十][年月]|未来[几一二三两五十][年月])",
    re.IGNORECASE,
)
_LATEST = re.compile(
    r"\b(?P<span>(?:latest|most recent|newest)) (?!(?:known )?(?:date|day|by|at|on)\b)|(?P<zh>最新)(?!鲜)",
    re.IGNORECASE,
)


def not_self_contained(criterion: Criterion) -> Iterator[Finding]:
    """Words whose meaning stands elsewhere: "the former", "currently", 上述, a pronoun for what is not named."""
    check = "not_self_contained"
    elsewhere = "{0!r} points at something outside the criterion"
    name_it = "name what {0!r} stands for"
    for pattern in (_DANGLING_EN, _DANGLING_ZH, _ELSEWHERE, _FORMER):
        for match in pattern.finditer(criterion.plain):
            start, end = place(match)
            before = criterion.plain[criterion.head_end() : start]
            if pattern is _FORMER and _TWO_NAMED.search(before):
                continue
            if match.groupdict().get("zh") and re.search(r"[、和与]", before):
                continue
            words = criterion.text[start:end]
            yield Finding(check, start, end, elsewhere.format(words), name_it.format(words))
    moving = "{0!r} means another time when the criterion is read later"
    date_it = "write the date or period instead of {0!r}, such as 'as of 31 March 2026' (截至2026年3月31日)"
    loose = [] if criterion.is_dated else [_UNDATED]
    if not criterion.is_dated and not re.search(r"\d", criterion.plain):
        loose.append(_LATEST)
    for pattern in loose:
        for match in pattern.finditer(criterion.plain):
            start, end = place(match)
            words = criterion.text[start:end]
            yield Finding(check, start, end, moving.format(words), date_it.format(words))
