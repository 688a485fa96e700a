"""A criterion as its checks see it, what they find in it, and the words that several of them look for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lifesearch_kit.dates import date_mentions
from lifesearch_kit.terms import is_chinese, normalise_width

# What a report is asked to do: verbs in their plain form, as they stand behind "should" and 应.
ACT_EN = (
    r"(?:state|give|list|name|explain|describe|compare|identify|mention|provide|include|discuss|analy[sz]e|recommend"
    r"|calculate|compute|cite|link|present|report|note|point out|indicate|specify|define|summari[sz]e|evaluate|assess"
    r"|conclude|show|quantify|outline|warn|advise|justify|distinguish|estimate|address|cover|highlight|clarify|reject"
    r"|trace|convert|judge|flag|attribute|verify|rank|suggest|propose|acknowledge|disclose|illustrate|support|base"
    r"|end|treat|answer|confirm|interpret|contrast|predict|forecast|demonstrate|offer|translate|say|tell|use|avoid"
    r"|keep|leave out|call|set out|express|classify|prefer|rely)"
)
ACT_ZH = (
    r"(?:说明|给出|列出|列举|指出|解释|分析|比较|对比|提供|写出|写明|注明|标明|标注|计算|算出|推荐|建议|总结|判断"
    r"|评估|评价"
    r"|描述|介绍|引用|附上|附有|附(?=校|官|网|链|来|出|表|图|一)|提及|提到|讨论|探讨|阐述|阐明|阐释|论证|区分|得出"
    r"|提示|提醒|采用|采信|归纳|预测"
    r"|强调|回答"
    r"|呈现|展示|界定|定义|识别|揭示|反映|明确|梳理|概述|概括|推断|推算|换算|核实|确认|声明|披露|陈述|论述|量化|提出)"
)
# Behind it stands an act: "The response should clearly " + state.
SHOULD_EN = r"\b(?:should|must|shall|needs? to|has to)(?: also)?(?: \w+ly)? "
FILLER_ZH = (
    "(?:分别|明确|清晰|清楚|准确|正确|进一步|据此|逐一|简要|详细|深入|充分|有效|同时|能够?|主动|一并|另外|再|也|还"
    "|对其)*(?:地)?"
)
HEAD_EN = re.compile(
    r"^\W*(?:the |a |an |this |your |its )?(?:final |written |full |closing )?"
    r"(?:response|report|answer|article|reply|output|memo|brief|text|model|essay|review|summary)\b[^.;:]{0,60}?"
    r"\b(?:should(?:n[\'’]t)?|must(?:n[\'’]t)?|shall|needs? to|has to|ought to)\b",
    re.IGNORECASE,
)
HEAD_ZH = re.compile(
    r"^\W*(?:最终|该|此|本)?(?:回复|报告|回答|答复|答案|正文|全文|文章|输出|模型|总结)[^。；：]{0,16}?(?:应|须"
    r"|需要?|必须|要|切忌|切勿|不得|不能|禁止)"
)
_QUOTED = re.compile(
    r"“[^”\n]*”|「[^」\n]*」|『[^』\n]*』|《[^》\n]*》|‘[^’\n]*’|`[^`\n]*`|\"[^\"\n]*\""
    r"|(?<![A-Za-z0-9])'[^'\n]{1,80}'(?![A-Za-z0-9])"
)
_NUMBER = re.compile(
    r"(?<![\w.,-])[+-]?\d+(?:,\d{3})*(?:\.\d+)?(?![\d.]*\d)|(?<=[\u3400-\u9fff])\d+(?:,\d{3})*(?:\.\d+)?(?![\d.]*\d)"
)

# A figure that counts items of a list or names one of them.
_ENUMERATES = re.compile(
    r"(?:\b(?:instructions?|requirements?|questions?|steps?|sections?|tasks?|criteri(?:on|a)|figures?|tables?"
    r"|parts?|no\.|option|item"
    r"|phase|stage|level|tier|type|class|version|v)|要求|问题|第|步骤|任务|部分|阶段|图|表)\s*$|[+=]\s*$",
    re.IGNORECASE,
)
_ENUMERATED = re.compile(r"\)(?=\s)|\+|[、.](?=[^\d\s])")


class Finding(NamedTuple):
    """What one check found in one criterion: where, what is wrong with it, and how to mend it."""

    check: str
    start: int
    end: int
    message: str
    remedy: str


class Number(NamedTuple):
    """A figure that is no part of a date, and where it stands."""

    value: float
    start: int
    end: int


class Criterion(NamedTuple):
    """A criterion with what its checks need of its rubric and task.

    `plain` has the length of `text`, full-width letters and digits made ordinary and quotations blanked: what a
    criterion quotes is not its own wording.
    """

    text: str
    plain: str
    query: str
    has_cutoff: bool
    type: str
    priority: str

    @property
    def is_chinese(self) -> bool:
        """Whether Chinese characters carry it."""
        return is_chinese(self.text)

    @property
    def is_dated(self) -> bool:
        """Whether it names a year, or anything finer."""
        return any(one.moment.year for one in date_mentions(self.text))

    def undated(self) -> str:
        """`plain` with its dates blanked."""
        text = self.plain
        for one in date_mentions(self.text):
            text = text[: one.start] + "\x00" * (one.end - one.start) + text[one.end :]
        return text

    def numbers(self) -> list[Number]:
        """Its figures outside quotations, in order; dates are none."""
        dates = [(one.start, one.end) for one in date_mentions(self.text)]
        return [
            Number(float(match.group().replace(",", "")), *match.span())
            for match in _NUMBER.finditer(self.plain)
            if not any(start <= match.start() < end for start, end in dates)
            and not _ENUMERATES.search(self.plain[: match.start()])
            and not _ENUMERATED.match(self.plain, match.end())
        ]

    def head_end(self) -> int:
        """Where the requirement begins, behind "The response should" or 回复应; 0 without such a beginning."""
        match = HEAD_EN.match(self.plain) or HEAD_ZH.match(self.plain)
        return match.end() if match else 0


def criterion_of(text: str, *, query: str, has_cutoff: bool, type: str, priority: str) -> Criterion:
    """Prepare a criterion for its checks."""
    plain = _QUOTED.sub(lambda match: "\x00" * len(match.group()), normalise_width(text))
    return Criterion(text, plain, query, has_cutoff, type, priority)


def each(check: str, criterion: Criterion, pattern: re.Pattern[str], message: str, remedy: str) -> Iterator[Finding]:
    """Find a pattern outside quotations, `{0}` in message and remedy standing for the words found."""
    for match in pattern.finditer(criterion.plain):
        start, end = match.span("span") if "span" in pattern.groupindex else match.span()
        words = criterion.text[start:end]
        yield Finding(check, start, end, message.format(words), remedy.format(words))


def place(match: re.Match[str]) -> tuple[int, int]:
    """Where the named part of a match stands; the whole match where it has none."""
    name = next((name for name, value in match.groupdict().items() if value), None)
    return match.span(name) if name else match.span()
