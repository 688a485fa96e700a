"""Whether a criterion is worded so that a report can meet it, and two judges agree that it does."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lifesearch_kit.rubric_checks.criteria import Criterion, Finding, each

_NEGATED_EN = re.compile(
    # The first "should" alone: "rely on A and should not repeat B" says what stands there instead.
    r"^(?:(?!\b(?:should|must|shall)\b).)*?\b(?:should|must|shall|needs? to|has to)(?:(?: also| always)? |(?=n['’]t))"
    r"(?P<span>n['’]t(?: \w+)?|not(?! only\b)(?: \w+)?|never(?: \w+)?"
    r"|avoid(?:s|ing)?|refrain from|omit|leave out|exclude|contain no|include no|make no|give no|be free (?:of|from)"
    r"|skip|steer clear of|stay away from|ignore)\b|(?P<head>^\W*(?:do(?:es)? not|avoids?|never|no)\b)",
    re.IGNORECASE,
)
_NEGATED_ZH = re.compile(
    r"^\W*(?:最终|该|此|本)?(?:回复|报告|回答|答复|答案|正文|全文|文章|输出|模型|总结)(?:中|里|的[^，。]{1,10}?)?"
    r"(?P<span>(?:应当?|须|需要?|必须)?(?:避免|不(?:应当?|得|要|能|可|宜|把|将|采用|引用|包含|出现|使用|以|提及"
    r"|涉及)|禁止|切勿|切忌|严禁|勿|没有|排除|剔除|忽略|回避))"
)

_VAGUE_EN = re.compile(
    r"(?<![\w-])(?:appropriate(?:ly)?|adequate(?:ly)?|sufficient(?:ly)?|comprehensive(?:ly|ness)?|thorough(?:ly|ness)?"
    r"|in[- ]depth|insightful|meaningful(?:ly)?|reasonabl[ey]|suitabl[ey]|proper(?:ly)?|well[- ](?:structured"
    r"|organi[sz]ed"
    r"|written|reasoned|supported|researched|explained|presented|chosen)|high[- ]quality|user[- ]friendly"
    r"|effective(?:ly)?"
    r"|clear(?:ly)?(?! (?:skies|sky|water|glass|cut|coat|span|up))|clarity|concise(?:ly|ness)?|coherent(?:ly)?"
    r"|logical(?:ly)?"
    r"|detailed|nuanced|robust(?:ly)?(?! (?:design|control|statistic|regression|optimi[sz]ation|standard|estimat))"
    r"|compelling|persuasive(?:ly)?|easy[- ]to[- ](?:read|follow|understand)|readable"
    r"|useful(?:ly)?|helpful(?:ly)?|good|nice(?:ly)?|great|excellent|strong(?:ly)?(?= (?:analysis|argument|evidence"
    r"|case"
    r"|reason|conclusion|answer))|engaging|balanced(?= (?:view|account|discussion|assessment|perspective|analysis"
    r"|tone|way))"
    r"|relevant|several|various|numerous|enough|etc\.?|and so on|as needed|where necessary|if applicable"
    r"|some(?= (?:examples?|reasons?|figures?|details?|sources?|facts?|ways?|kind|risks?|data|evidence"
    r"|alternatives?|options?))"
    r"|professional(?:ly)?(?= (?:tone|manner|way|language|style|format|look))|critical(?:ly)?(?= (?:evaluat|analy"
    r"|discuss|assess|engag))"
    r"|interesting|impressive|satisfactor(?:y|ily)|well(?= (?:explain|describ|present|support|cover))"
    r"|deep(?:ly)?(?= (?:analysis"
    r"|understanding|insight|discussion))|sound(?= (?:advice|reasoning|judge?ment|argument|recommendation|analysis"
    r"|basis))|(?:simple|plain)(?= (?:terms|language|words|way|manner))|smooth(?:ly)?(?= (?:transition|flow))"
    r"|convincing(?:ly)?"
    r"|practical(?= (?:advice|guidance|value|recommendations?|suggestions?|tips|steps|insights?))|actionable"
    r"|valuable)(?![\w-])",
    re.IGNORECASE,
)
_TERMS_OF_ART = re.compile(
    r"(?:statistical(?:ly)? \w+|relevant (?:market|period|authority)|cost[- ]effective\w*|effective (?:date|from|on"
    r"|tax|rate"
    r"|dose|yield|interest)|practical (?:exam|test)|detailed balance|sufficient statistic|goods? (?:and|or)|good faith"
    r"|good (?:manufacturing|clinical|laboratory|agricultural) practice|balanced (?:budget|sheet)|etc/"
    r"|reasonable accommodation)",
    re.IGNORECASE,
)
_VAGUE_ZH = re.compile(
    r"(?:恰当|适当|适度|合理(?!用药|性价)|充分(?!条件|就业)|清晰|清楚|详细|详尽|全面(?!小康|禁止|推)|深入|深刻"
    r"|(?<![层水孔埋坑沟])深度(?!学习|不|为|达|约|\s*\d)|较?良好|优秀|优质|高质量"
    r"|丰富(?!度)|若干|一些|等等|尽可能|尽量|必要的|有条理|逻辑性?(?:清晰|严密|严谨|强)|条理|通顺|流畅|简洁|精炼"
    r"|精准|到位|专业(?=的?(?:语气|表达|水准|性|语言|口吻))"
    r"|有价值|有意义|有说服力|有见地|独到|易于理解|易懂|通俗|有效(?=地|性|回应|支撑|整合|结合|利用|呈现)|足够|较为"
    r"|比较(?=全面|详细|清楚|好|完整)|较好|严谨"
    r"|完善|生动|美观|有针对性|针对性|妥善|妥当|相应的|实用|可操作性?|前瞻性|系统(?:性(?!风险)|地)|批判性|有用"
    r"|靠谱|透彻|言之有物|中肯|翔实|扎实|周全|周到|贴切|浅显|精当|简明|面面俱到|切实|客观(?:地|性)|适宜|恰如其分|得当)"
)
_AS_TERM_ZH = re.compile(
    r"(?:深入推进|全面(?:战略|脱贫|深化)|深度学习|合理(?:用药|使用年限)|充分(?:必要|条件|就业)|优质(?:煤|率|股)"
    r"|清晰度\s*\d)"
)


def negative_wording(criterion: Criterion) -> Iterator[Finding]:
    """A requirement that is met by leaving something out, and so by an empty report. Negative facts are none."""
    message = "{0!r} asks for an omission, which a report that says nothing meets"
    remedy = (
        "say what stands there instead, such as 'The response should use data up to 31 March 2026 as the latest' "
        "(回复应以截至某日的数据为最新数据)"
    )
    for pattern in (_NEGATED_EN, _NEGATED_ZH):
        match = pattern.search(criterion.plain)
        if match is None:
            continue
        groups = match.groupdict()
        start, end = match.span("span" if groups["span"] else "head")
        words = criterion.text[start:end]
        yield Finding("negative_wording", start, end, message.format(words), remedy)
        return


def vague_wording(criterion: Criterion) -> Iterator[Finding]:
    """Words that two judges may read in two ways, outside quotations and terms of art; one finding a word."""
    taken = [match.span() for pattern in (_TERMS_OF_ART, _AS_TERM_ZH) for match in pattern.finditer(criterion.plain)]
    message = "{0!r} has no measure: two judges may decide differently"
    remedy = "drop {0!r}, or say what shows it: a number, a list of what must be there, an example that is accepted"
    seen: set[str] = set()
    for pattern in (_VAGUE_EN, _VAGUE_ZH):
        for one in each("vague_wording", criterion, pattern, message, remedy):
            word = criterion.text[one.start : one.end].casefold()
            # A capital inside a sentence begins a name: Great Merrowick.
            is_name = one.start > 0 and criterion.text[one.start].isupper()
            if word not in seen and not is_name and not any(start <= one.start < end for start, end in taken):
                seen.add(word)
                yield one
