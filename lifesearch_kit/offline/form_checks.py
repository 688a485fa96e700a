"""Checks of a report's form: a table, a length, headings, lists."""

from __future__ import annotations

import re

from lifesearch_kit.offline.criteria import Criterion
from lifesearch_kit.offline.features import Features, length
from lifesearch_kit.offline.findings import Finding
from lifesearch_kit.offline.quantities import quantities
from lifesearch_kit.terms import is_chinese, key_terms

_TABLE = re.compile(
    r"\b(?:in|as|use|include|contain|present|give|with)\b[^.;]{0,60}\btables?\b|表格|对照表"
    r"|一览表|列表对比|用表|[一张]表",
    re.I,
)
_TABLE_WORDS = frozenset(
    key_terms(
        "one single table tables side column columns row rows present compare "
        "comparison hold contain use 表格 一张 张表 对照表 列出 同时列 并列 "
        "表中 中同 对照 开头 正文 用表 包含 含一 文开 "
        "头部 部分 分用 表对 表汇 include includ give put holds present"
    )
)
TABLE_SHARE = 0.5
_LENGTH = re.compile(r"\b(?:words?|characters?)\b|字(?:以内|之内|以下|左右|之间|数)?")
_LENGTH_ASKED = re.compile(
    r"\b(?:no more than|at most|within|under|between|up to|length|long|limit|exceed"
    r"|keep)\b|不超过|以内|之内|控制|篇幅|长度|字数|至|不少于",
    re.I,
)
_SECTION = re.compile(
    r"(recommendation|conclusion|summary|abstract|overview|建议|判断|结论|摘要|总结|推荐|概述|开头"
    r"|结尾)",
    re.I,
)
_SECTION_KIN = {
    "recommendation": "recommend|conclusion|advice",
    "conclusion": "conclu|summary|recommend",
    "summary": "summary|short answer|conclu|overview",
    "建议": "建议|推荐|结论",
    "判断": "判断|结论|建议|推荐",
    "结论": "结论|总结|判断|建议",
    "摘要": "摘要|概述|要点|结论",
    "总结": "总结|结论",
    "推荐": "推荐|建议|结论",
}
_ADVISES = re.compile(r"\bbetter\b|\bprefer|\bchoose|\bchoice\b|\bshould\b|优先|选择|推荐|更适合", re.I)
_CLOSING_PARAGRAPHS = 3
_HEADINGS = re.compile(r"\bheadings?\b|\bsubheadings?\b|小标题|分节|标题", re.I)
_BULLETS = re.compile(r"\bbullet(?:ed)?\b|\bnumbered list\b|项目符号|编号列表|逐条|分条", re.I)


def table_check(criterion: Criterion, report: Features) -> Finding | None:
    """A table, where one is asked for; its rows must share terms with the criterion."""
    if not _TABLE.search(criterion.positive):
        return None
    if not report.tables:
        return Finding(False, "table")
    rows: set[str] = set().union(*(one.terms for one in report.segments if one.is_row))
    topics = [term for term in criterion.terms if term not in _TABLE_WORDS and not term[0].isdigit()]
    missing = [term for term in topics if term not in rows]
    return Finding(
        len(missing) <= (1 - TABLE_SHARE) * len(topics), f"table: {', '.join(missing[:2])}" if missing else "table"
    )


def length_check(criterion: Criterion, report: Features) -> Finding | None:
    """A length in words or characters, of the whole report or of the section that the criterion names."""
    limits = [
        one
        for one in quantities(criterion.text)
        if _LENGTH.match(one.unit) or one.unit in ("字", "字以", "字之", "words", "字左", "字视")
    ]
    if not limits or not _LENGTH_ASKED.search(criterion.text) or not _LENGTH.search(criterion.text):
        return None
    part = _section_text(criterion.positive, report)
    if part is None:
        return Finding(False, "建议" if is_chinese(criterion.text) else "section")
    size = length(part)
    low = min((one.low for one in limits if one.low < one.high), default=0.0)
    high = max(one.high for one in limits)
    if re.search(r"at least|不少于|no fewer", criterion.positive, re.I) and not low:
        low, high = high, float("inf")
    return Finding(low <= size <= high, f"{size}")


def _section_text(wanted: str, report: Features) -> str | None:
    """The text that a length is meant for: the whole, or the named section; None where there is none."""
    named = _SECTION.search(wanted)
    if not named:
        return report.text
    kin = re.compile(_SECTION_KIN.get(named.group(1).casefold(), named.group(1)), re.I)
    for section in reversed(report.sections):
        if section.text and kin.search(section.heading):
            return section.text
    closing = [one for one in re.split(r"\n\s*\n", report.text) if one.strip()][-_CLOSING_PARAGRAPHS:]
    return next((one for one in reversed(closing) if kin.search(one) or _ADVISES.search(one)), None)


def form_check(criterion: Criterion, report: Features) -> Finding | None:
    """Headings or list items, where the criterion asks for them."""
    if _HEADINGS.search(criterion.positive):
        return Finding(sum(bool(one.heading) for one in report.sections) >= 2, "headings")
    if _BULLETS.search(criterion.positive):
        return Finding(report.list_items >= 2, "list")
    return None
