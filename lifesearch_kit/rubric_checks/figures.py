"""Whether a criterion's figures can be decided on: how near is near enough, in what unit, at what time."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesearch_kit.rubric_checks.criteria import Criterion, Finding, Number

_ABOUT = re.compile(
    r"\b(?:about|around|approximately|approx\.?|roughly|nearly|almost|circa|close to|some"
    r"|an estimated)\s*(?P<number>~?[$€£¥]?\d[\d,.]*(?:\.\d+)?\s*%?|(?:one|two|three|four|five|six|seven|eight|nine"
    r"|ten|twelve|fifteen|twenty|thirty|forty|fifty|a dozen|half) (?=[a-z]))"
    r"|[~≈∼]\s*(?P<tilde>\d[\d,.]*\s*%?)|(?:大约|约为?|将近|接近|近|大概|差不多)(?P<zh>\d[\d,.]*\s*%?[万亿千百]?"
    r"|[一二三四五六七八九十两]+成)"
    r"|(?P<before>(?:\d[\d,.]*\s*%?[万亿千百]?|[一二三四五六七八九十两百千万]+)[^，。；、\d]{0,4}?)(?:左右"
    r"|上下(?!级|文|游)|前后)",
    re.IGNORECASE,
)
_COMPUTED = re.compile(
    r"\b(?:comput|calculat|deriv|work out|convert|estimat)\w*\b[^.]*?(?P<number>\d[\d,]*\.\d+\s*%)"
    r"|\b(?:comput|calculat|deriv|work out|estimat)\w*\b[^.]*?\b(?:average|mean|ratio|per|times"
    r"|growth)\b[^.]*?(?P<ratio>\d[\d,]*\.\d+)"
    r"|(?:计算|算出|推算|换算|估算|得出)[^。]*?(?P<zh>\d[\d,]*\.\d+\s*%)"
    r"|(?:计算|算出|推算|换算|估算|得出)[^。]*?(?:平均|人均|每|比率|倍数|增幅)[^。]*?(?P<ratio_zh>\d[\d,]*\.\d+)",
    re.IGNORECASE,
)
_TOLERANCE = re.compile(
    r"±|\+/-|\baccept(?:ed|able|s)?\b|\bwithin\b|\btoleran|\bbetween [^a-z]{0,4}\d|\ballow(?:ed|ing|ance)?\b|\bmargin\b"
    r"|\brang(?:e|ing)\b|\bgive or take\b|\bup to\b|\bat (?:least|most)\b|\bno (?:more|less|fewer) than\b"
    r"|\bround(?:ed|ing)\b|\bplus or minus\b|\bexact(?:ly)?\b|\bto (?:the nearest|one decimal|two decimals)"
    r"|(?<!from )(?<![\d.,])\d[\d,.]*\s*%?\s*(?:[-–—~～至到]|to)\s*[$€£¥]?\d|均可|亦可|也可|皆可|误差|以内|之间"
    r"|容差|允许|浮动|范围|恰好|至少|至多"
    r"|不超过|不少于|视为合格|视为正确|精确到|保留[一两\d]位|可写作|正负",
    re.IGNORECASE,
)

_QUANTITY = re.compile(
    r"\b(?:revenue|turnover|profit|price|cost|fee|salary|budget|distance|weight|mass|length|height|width|depth"
    r"|speed|temperature|capacity|concentration|area|volume|duration|rents?|wages?|power|energy|pressure"
    r"|emissions?|dose|income|investment|loan|debt|market cap\w*|altitude|wavelength|frequency|consumption|funding"
    r"|spending)\b"
    r"|库容|租金|工资|房价|收入|营收|利润|价格|单价|成本|费用|薪资|预算|距离|重量|质量为|长度|高度|宽度|深度|速度"
    r"|温度|容量|浓度|面积"
    r"|体积|时长|功率|能耗|压力|排放量|剂量|投资额?|贷款|市值|海拔|波长|频率"
    r"|用水量|耗电量|融资额?",
    re.IGNORECASE,
)
_UNIT_BEFORE = re.compile(r"(?:[$€£¥~≈±]|(?:USD|EUR|GBP|CNY|RMB|HK\$|US\$|MBC|[A-Z]{3}))\s*$")
_UNIT_AFTER = re.compile(
    r"\s*(?:[%‰°℃℉$€£¥]|to|and|or|-|–|~|至|到|、|或)?\s*(?:\d[\d,.]*\s*)?(?:[%‰°℃℉$€£¥μµ]|[\u3400-\u9fff]"
    r"|[-–]?(?!(?:and|or|in|for|at|by|on|as|of|to|than|while|with|from|the|after|before|when|which|per|against"
    r"|accepted|is|was|were|are)\b)[A-Za-zμµΩ])"
)
_NOT_UNIT_ZH = re.compile(
    r"\s*(?:并|和|与|而|以|即|，|。|；|且|则|的|高于|低于|较|比|增|降|之间|均|亦|也|是|为|左右|上下)"
)

_VARYING = re.compile(
    r"\b(?:revenue|turnover|(?:net |operating )?profit|prices?|fares?|costs?|market share|share of|population"
    r"|headcount|employees|staff"
    r"|market size|market value|market cap\w*|inflation|unemployment|interest rate|exchange rate|sales|subscribers"
    r"|users"
    r"|customers|visitors|passengers|ridership|employs|exports?|imports?|output|installed (?:base|capacity)|gdp|growth"
    r"|emissions"
    r"|debt|deficit|enrolment|deliveries|energy use|income|budget|wages?|rents?|tariffs?)\b"
    r"|营业收入|营收|净?利润|价格|单价|票价|成本|市场份额|份额|(?<!多)人口(?!家庭)|员工|市场规模|市值|通胀率|失业率"
    r"|利率|汇率|销量|销售额"
    r"|用户[数量]|客户数|客流|游客|出口额?|进口额?|产量|装机容量|增速|增长率|排放量|负债率?|毛利率|股价|用电量|收入"
    r"|预算|工资"
    r"|租金|市占率",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"\b(?:growth|grew|grown|rose|risen|fell|fallen|increased?|decreased?|declined?|dropped|doubled|halved)\b"
    r"|增长|增速|上升|上涨|下降|下跌|同比|环比|增幅|降幅|翻番|减少|增加",
    re.IGNORECASE,
)
_REACH_EN, _REACH_ZH = 70, 26  # characters between a quantity and its figure
_CLAUSE_END = re.compile(r"[.;。；:：()（）]|, (?=which|and|so|but)")
_AS = re.compile(r" as (?:the |an? )?(?:[\w-]+ ){0,3}")
_COUNTED = re.compile(r"\b(?:has|have|had|employs?|counts?|serves?|with)\s*$|[有共达为]$", re.IGNORECASE)
_TIMED = re.compile(
    r"\b(?:Q[1-4]|H[12]|FY\s?\d|fiscal|(?:first|second|third|fourth) quarter|century|\d{4}s|(?:18|17|16|15)\d\d"
    r"|after \d|over \d+ (?:years|months|weeks|days)|launch(?:ed)? (?:price|at))\b|季度|财年|世纪|年代|上半年"
    r"|下半年|首年|期间",
    re.IGNORECASE,
)


def missing_tolerance(criterion: Criterion) -> Iterator[Finding]:
    """An approximate or computed figure without a range that passes."""
    if _TOLERANCE.search(criterion.undated()):
        return
    for pattern, what in ((_ABOUT, "is approximate"), (_COMPUTED, "is computed")):
        match = pattern.search(criterion.plain)
        if match is None:
            continue
        number = next(name for name, value in match.groupdict().items() if value)
        start, end = match.span() if pattern is _ABOUT else match.span(number)
        words = criterion.text[start:end].rstrip(" ,.，。")
        yield Finding(
            "missing_tolerance",
            start,
            start + len(words),
            f"{words!r} {what} and no range says what still passes",
            _range_remedy(criterion.plain[slice(*match.span(number))], criterion.is_chinese),
        )
        return


def _range_remedy(written: str, chinese: bool) -> str:
    digits = re.search(r"\d[\d,]*(?:\.\d+)?", written)
    if digits is None:
        return "add the accepted range, such as 29%至31%均可"
    value = float(digits.group().replace(",", ""))
    unit = "%" if "%" in written else ""
    low, high = (f"{value * factor:.4g}{unit}" for factor in (0.9, 1.1))
    return (
        f"add the accepted range, such as {low}至{high}均可"
        if chinese
        else f"add the range, such as '{low} to {high} accepted'"
    )


def missing_unit(criterion: Criterion) -> Iterator[Finding]:
    """A measured quantity whose figure stands without a unit, and no other figure of the criterion has one."""
    numbers = criterion.numbers()
    found = _measured(criterion, numbers, _QUANTITY)
    if found is None or any(_has_unit(criterion.plain, one.start, one.end) for one in numbers):
        return
    first = found[1]
    words = criterion.text[first.start : first.end]
    yield Finding(
        "missing_unit",
        first.start,
        first.end,
        f"{words!r} has no unit",
        f"add the unit and currency, such as '{words} million euros' ({words}亿元)",
    )


def _measured(
    criterion: Criterion, numbers: list[Number], quantity: re.Pattern[str]
) -> tuple[re.Match[str], Number] | None:
    """A quantity and its figure: what the same clause says of it, or right before it where people are counted."""
    for match in quantity.finditer(criterion.plain):
        for one in numbers:
            between = criterion.plain[match.end() : one.start]
            reach = _REACH_ZH if criterion.is_chinese else _REACH_EN
            if one.start >= match.end() and len(between) <= reach and not _CLAUSE_END.search(between):
                return match, one
            before, behind = criterion.plain[: one.start], criterion.plain[one.end : match.start()]
            if one.end <= match.start() and (_AS.fullmatch(behind) or (_COUNTED.search(before) and len(behind) < 3)):
                return match, one
    return None


def _has_unit(text: str, start: int, end: int) -> bool:
    if _UNIT_BEFORE.search(text[:start]):
        return True
    return bool(_UNIT_AFTER.match(text, end)) and not _NOT_UNIT_ZH.match(text, end)


def missing_date(criterion: Criterion) -> Iterator[Finding]:
    """A figure that changes over time, without the day or period that it holds for.

    Where the question sets a cutoff, a level holds for that day; a change still needs the years that it lies between.
    """
    if criterion.is_dated or _TIMED.search(criterion.plain):
        return
    found = _measured(criterion, criterion.numbers(), _VARYING)
    if found is None or (criterion.has_cutoff and not _CHANGE.search(criterion.plain)):
        return
    start, end = found[0].span()
    words = criterion.text[start:end]
    yield Finding(
        "missing_date",
        start,
        end,
        f"{words!r} changes over time and no date says when the figure holds",
        "add the day or period, such as 'in 2025' or 'at 31 December 2025' (2025年末)",
    )
