"""The parts of a query that a rewrite must keep: words of time, named sources, item counts, lengths."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

from lifesearch_kit.dates import date_mentions

Kind = Literal["recency", "source", "count", "length"]
_NUMBER_EN = (
    r"(?:\d+(?:,\d{3})*|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty|fifty|hundred)"
)
_NUMBER_ZH = r"(?:\d+|[一二两三四五六七八九十百千]+)"
# What belongs to the machinery whatever it says: its numbers and dates are no limits of the content.
_MACHINERY = re.compile(
    r"(?:命名为|名为|\b(?:named|called|titled))\s*[“\"「《][^”\"」》\n]{1,60}[”\"」》]|`[^`\n]*`"
    r"|\bhttps?://(?:localhost|127\.|10\.|192\.168\.|0\.0\.0\.0)\S*|(?<![\w:/])[~.]{0,2}/[\w./-]+"
    r"|(?<![\w@.])[\w-]+\.(?:md|json|jsonl|csv|tsv|xlsx?|docx?|pptx?|pdf|txt|html?|ya?ml|py|sh|js|ts|ipynb"
    r"|sqlite|db|log|xml|parquet|zip|tex)\b|\bv\d+(?:\.\d+)+",
    re.IGNORECASE | re.ASCII,
)
_PATTERNS: dict[Kind, re.Pattern[str]] = {
    "recency": re.compile(
        r"\b(?:latest|newest|most recent|recent(?:ly)?|current(?:ly)?|up[- ]to[- ]date|today(?:['’]s)?|yesterday"
        r"|this (?:week|month|quarter|year|season)|so far"
        rf"|(?:last|past) (?:{_NUMBER_EN} )?(?:days?|weeks?|months?|quarters?|years?|decade))\b"
        r"(?! (?:directory|folder|branch|commit|session|workspace|repo\w*|file|project)\b)"
        rf"|最新|最近|近期|近{_NUMBER_ZH}(?:年|个月|个?季度|周|天|日)|过去{_NUMBER_ZH}(?:年|个月|周|天)"
        r"|(?:目前|当前|现在|眼下)(?!目录|文件|分支|会话|工作|仓库|项目)|今天|今日|今年|去年|本周|本月|本季度"
        r"|本年度|上周|上个?月|截至|截止",
        re.IGNORECASE | re.ASCII,
    ),
    "source": re.compile(
        r"\bhttps?://[^\s<>()\[\]\"'，。；、）】」]+|(?<![\w@./-])(?:[a-z0-9-]+\.)+(?:com|org|net|gov|edu|int|io"
        r"|cn|eu|uk|example)\b"
        r"|《[^》\n]{1,60}》|“[^”\n/_\\{}]{1,60}”|「[^」\n/_\\{}]{1,60}」|(?<!\w)\"[^\"\n/_\\{}.]{1,60}\"(?!\w)",
        re.IGNORECASE | re.ASCII,
    ),
    "count": re.compile(
        rf"\btop[- ]{_NUMBER_EN}\b"
        rf"|\b{_NUMBER_EN} (?:[a-z-]+ )?(?:companies|firms|vendors|suppliers|buyers|brands|papers|articles"
        r"|studies|reports|sources|links|products|models|options|tools|libraries|examples|cases|cities|countries"
        r"|items|results|points|reasons"
        r"|funds|stocks|books|recipes|places|hotels|trends|patents|policies|projects|bullets?(?: points)?"
        r"|candidates)\b"
        rf"|前{_NUMBER_ZH}(?:名|条|位|大|家|个)?|(?!一[个种家份条位]){_NUMBER_ZH}(?:条|家|个|款|种|篇|项|位|部"
        rf"|座|所|类|例|支|点(?=建议|理由|原因|结论|要求|启示|看法))"
        r"(?!文件|脚本|字段|目录|分支|线程|工作表|表格|接口|步骤|月|季度|小时)",
        re.IGNORECASE | re.ASCII,
    ),
    "length": re.compile(
        rf"\b{_NUMBER_EN}[- ](?:words?|characters?|sentences?|paragraphs?|pages?)\b"
        rf"|{_NUMBER_ZH}字(?:以内|左右|以上|以下|上下)?|{_NUMBER_ZH}(?:页|段|句)(?:话)?",
        re.IGNORECASE | re.ASCII,
    ),
}


class Protected(NamedTuple):
    """A part that must stay: its kind and its words as they stand in the query."""

    kind: Kind
    words: str


def protected_parts(query: str) -> list[Protected]:
    """The parts of a query that a rewrite must keep, each once, in their order.

    Dates count as words of time. What stands in file names, paths, code or addresses of the writer's own machine is
    left out. What no pattern knows is not found: a rewrite that passes has kept these parts, and perhaps not all.
    """
    seen = _MACHINERY.sub(lambda match: "\0" * len(match[0]), query)
    found = [
        (match.start(), Protected(kind, match[0])) for kind, form in _PATTERNS.items() for match in form.finditer(seen)
    ]
    found += [(one.start, Protected("recency", query[one.start : one.end].strip())) for one in date_mentions(seen)]
    return list(dict.fromkeys(part for _, part in sorted(found, key=lambda one: one[0])))


def lost_parts(before: str, after: str) -> list[Protected]:
    """The protected parts of the first text that the second does not hold; blanks and case do not count."""
    there = _bare(after)
    return [part for part in protected_parts(before) if _bare(part.words) not in there]


def _bare(text: str) -> str:
    return "".join(text.casefold().split())
