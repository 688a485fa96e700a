"""Criteria without a definite statement ("Assesses whether ..."): judged by topics and by the report's shape."""

from __future__ import annotations

import re

from lifesearch_kit.offline.criteria import Criterion
from lifesearch_kit.offline.features import Features
from lifesearch_kit.terms import is_chinese, key_terms

# Words of grading itself; a report that meets a criterion has no cause to use them.
_GRADING = frozenset(
    key_terms(
        "assess assesses assessment evaluate evaluates evaluation evaluating check checks measures "
        "examines article report paper task clarity "
        "clear clearly depth breadth understanding understand overall well logical logically logic "
        "relevant discussion discussed discuss "
        "coverage directly explicitly explicit detail detailed appropriate appropriately "
        "presentation presented section explanation explain "
        "explained address addresses addressed addressing specified scope conclusion insight "
        "insightful aspect heading headings subheadings "
        "reader readers audience terminology beyond fulfilling fulfill adherence adhere "
        "comprehensive comprehensively comprehensiveness "
        "diverse consistent consistently flow ensure ensures ensuring paragraph paragraphs "
        "sentence sentences argument arguments argumentation "
        "effectiveness effectively effective accuracy accurate accurately precise precision "
        "instruction instructions prompt question focuse focuses "
        "focused focusing extent relevance formatting idea ideas novel novelty originality "
        "thorough thoroughly thoroughness crucial vital "
        "required requirement requirements requested request adequately adequate sufficient "
        "sufficiently merely simply superficial rather "
        "specifically successfully mention mentioned identified identifies identification "
        "described describes description provided provides providing providing "
        "demonstrate demonstrates analysis analyze analyzes analyse quality important importance "
        "essential helpful good use used using content "
        "information topic core key goes going avoid avoiding avoids facilitate comprehension "
        "nuanced sophisticated rigor plausible articulate "
        "评估 评价 考察 报告 文章 论文 清晰 任务 核心 理解 读者 准确 内容 逻辑 使用 整体 回应 方式 "
        "深入 呈现 直接 规范 深度 聚焦 讨论 确保 提出 阐述 "
        "探讨 指令 范围 标题 超越 特定 完整 关联 重点 围绕 方面 段落 严格 维度 体现 恰当 遵循 展开 "
        "充分 流畅 限定 全面 论证 展现 观点 阅读 连贯 包括 "
        "通过 突出 涵盖 详细 充实 明确 要求 用户 简洁 有效 相应 合理 表述 表达 术语 格式 排版 易于 "
        "有助 客观 严谨 洞察 洞见 独到 新颖 价值 例如 不仅 而非 仅仅 "
        "估报 估文 否清 否明 否具 晰度 确性 范性 否严 告中 章中 接回 入分 心问 告是 章是 否准 "
        "否能 否对 否有 否充 否详 否全 否提 清晰度 准确性 完整性 深度性"
    )
)
_PRESENTATION = re.compile(
    r"structur|organi[sz]|heading|format|readab|clarity|language|\bflow|presentation|layout"
    r"|terminolog|concis|coheren|transition|sentence|grammar|visual"
    r"|结构|标题|排版|格式|语言|表达|可读|清晰|流畅|段落|术语|呈现|连贯|简洁|层次|图表",
    re.IGNORECASE,
)
_CONCLUDES = re.compile(r"conclu|summary|recommend|outlook|结论|总结|建议|小结|展望|结语", re.IGNORECASE)
_SOURCING = re.compile(r"\bsources?\b|citation|\bcit(?:e|es|ed|ing)\b|referenc|来源|引用|文献|出处", re.IGNORECASE)
_LONGEST_SENTENCE = 220
ZH_SHARE = 0.72


def topics(criterion: Criterion, weights: dict[str, float]) -> dict[str, float]:
    """The criterion's weighted terms without the words of grading."""
    return {term: weight for term, weight in weights.items() if term not in _GRADING}


def shape(report: Features) -> float:
    """How far the report is laid out for a reader, 0 to 1: headings, lists or tables, sentence length, a conclusion."""
    headings = [section.heading for section in report.sections if section.heading]
    lengths = sorted(len(one.text) for one in report.segments if not one.is_row) or [0]
    return (
        0.35 * min(1.0, len(headings) / 6)
        + 0.2 * min(1.0, (report.list_items + 5 * report.tables) / 10)
        + 0.2 * (lengths[len(lengths) // 2] <= _LONGEST_SENTENCE)
        + 0.25 * any(_CONCLUDES.search(heading) for heading in headings[-3:])
    )


def general_score(criterion: Criterion, report: Features, weights: dict[str, float], near: float) -> float:
    """How far a general criterion is met, 0 to 1.

    The share of its topics that the report covers, and of those in one passage (`near`); for a matter of presentation
    the report's shape counts as much, for one of sourcing whether it has addresses. Chinese bigrams across word borders
    never all recur, so that shares in Chinese are scaled.
    """
    held = sum(weight for term, weight in weights.items() if term in report.where) / (sum(weights.values()) or 1.0)
    covered = min(1.0, (0.8 * held + 0.4 * near) / (ZH_SHARE if is_chinese(criterion.text) else 1.0))
    name = re.split(r"[:：\n]", criterion.text, maxsplit=1)[0][:80]
    if _PRESENTATION.search(name):
        return 0.5 * shape(report) + 0.5 * covered
    if _SOURCING.search(name):
        return 0.5 * min(1.0, len(report.urls) / 5) + 0.5 * covered
    return covered
