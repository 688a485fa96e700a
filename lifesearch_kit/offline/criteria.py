"""What the baseline judge takes from a criterion: facts that must be there, and facts that must not."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache

from lifesearch_kit.dates import DateMention, date_mentions
from lifesearch_kit.offline.features import urls_of
from lifesearch_kit.offline.names import marked_names
from lifesearch_kit.offline.quantities import Quantity, quantities
from lifesearch_kit.terms import key_terms, normalise_width

_LEAD = re.compile(
    r"^\s*(?:the\s+)?(?:response|report|answer|article|paper)\s+(?:should|must|needs? "
    r"to)\s+|^\s*(?:该)?(?:回复|报告|回答|文章)(?:应当|应该|应|须|需要?|必须)",
    re.IGNORECASE,
)
_FORBIDDING = re.compile(
    r"(?:而不是|而非|不应|不得|不把|不将|不采用|不使用|不引用|不能把|不可把|避免)[^，。；;）]*"
    r"|(?:\brather than\b|\binstead of\b|\(not\b|, not\b|\b(?:and|but|or) not (?!only)|\b(?:should"
    r"|must|do(?:es)?) not\b"
    r"|\band leaves? out\b|\bleave out\b|\bavoid(?:s|ing)?\b|\bwithout (?=\w+ing\b))[^,;.)]*(?:[.,]\d[^,;.)]*)*"
    r"|\bkeep[^,;.]*\bout of\b[^,;.]*",
    re.IGNORECASE,
)
_COMPARING = re.compile(r"^(?:而不是|而非|rather than|instead of|\(not\b)", re.IGNORECASE)
_ACCEPTED = re.compile(
    r"[（(][^（）()]*(?:accepted|acceptable|tolerance|allowed|also fine|counts? as|均可|亦可"
    r"|也可|即可|视为|误差|允许|±)[^（）()]*[)）]",
    re.IGNORECASE,
)
_NO_TOPIC = re.compile(r"https?://\S+|大约|约为?(?=\d)|左右")
_WITHIN = re.compile(
    r"(?:within|±|plus or minus|误差(?:不超过|在)?|上下)\s*±?\s*(?P<number>one|two|three|half a|\d+(?:\.\d+)?)\s*"
    r"(?P<unit>percentage points?|points?|个?百分点|%|per ?cent)",
    re.IGNORECASE,
)
_ALTERNATIVE = re.compile(r"\bor\b|\beither\b|\bany of\b|或|任一|之一", re.IGNORECASE)
_AT_LEAST = re.compile(
    r"(?:at least|no fewer than|至少|不少于)\s*(?P<number>\d+|one|two|three|four|five|一|两|二"
    r"|三|四|五)\s*(?:of\b|项|个|种|家|条|类|点|方面|\w+)",
    re.IGNORECASE,
)
_NEGATION = re.compile(
    r"未(?!来|必)|没有?|并非|不(?!同|仅|少|断|超|足|久|过|论|管|只|锈|良|动产|低于|高于|多于|大于|小于)|无法|尚无"
    r"|\b(?:not (?!only|more|less)|no (?!more|fewer|less|later)|never|cannot|neither|without)|n't\b",
    re.IGNORECASE,
)
_CONSEQUENCE = re.compile(r"\bso that\b|\bbecause\b|\btherefore\b|\band so\b|因此|所以|因而|从而")
_VERBS_ZH = re.compile(
    r"(?:应当|应该|应|并|分别|明确|清楚)?(?:给出结论|写明|说明|指出|给出|算出|提示|提醒|判断|列出"
    r"|写出|注明|标明|采信|解释|提到|提及|得出|介绍|描述|比较|对比)(?:了|出)?"
)
_CODE = re.compile(
    r"`[^`]+`|(?<!\d)\d{1,2}:\d{2}(?!\d)|(?<![\d.])\d+(?:\.\d+){2,}|[〔\[(]\d{4}[〕\])]\d+号"
    r"|\b[A-Z]+/?[A-Z]*[ -]\d+(?:[—-]\d+)*",
    re.ASCII,
)
_NUMBER_WORDS = {"one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "half a": 0.5,
                 "一": 1.0, "两": 2.0, "二": 2.0, "三": 3.0, "四": 4.0, "五": 5.0}  # fmt: skip


@dataclass(frozen=True)
class Criterion:
    """A criterion taken apart.

    `terms` are what it is about; `needed` is how many of several facts suffice, 0 for all. `forbidden_...` come from
    clauses that bar something, comparing ones ("rather than") left aside. `is_general` marks one without a statement.
    """

    text: str
    positive: str
    terms: tuple[str, ...]
    quantities: tuple[Quantity, ...]
    dates: tuple[DateMention, ...]
    names: tuple[str, ...]
    urls: tuple[str, ...]
    forbidden_dates: tuple[DateMention, ...]
    forbidden_terms: tuple[str, ...]
    forbidden_quantities: tuple[Quantity, ...]
    negated: bool
    alternatives: bool
    needed: int
    is_general: bool


def _widened(found: list[Quantity], allowed: list[Quantity]) -> list[Quantity]:
    """Let each allowed value or range widen the required quantity that it surrounds or stands closest to."""
    for one in allowed:
        for at, quantity in enumerate(found):
            share = abs(quantity.value - one.value) / max(abs(one.value), 1e-9)
            if quantity.percent == one.percent and (one.low <= quantity.value <= one.high or share < 0.06):
                low, high = min(quantity.low, one.low), max(quantity.high, one.high)
                found[at] = replace(quantity, low=low, high=high, step=max(quantity.step, one.step))
    return found


def _required(text: str) -> list[Quantity]:
    plain = _ACCEPTED.sub(lambda match: " " * len(match.group()), text)
    within = _WITHIN.search(text)
    if within:
        plain = plain.replace(within.group(), " " * len(within.group()))
    allowed = [one for match in _ACCEPTED.finditer(text) for one in quantities(match.group())]
    found = _widened(quantities(plain), allowed)
    if within:
        word = within["number"].casefold()
        margin = _NUMBER_WORDS.get(word) or float(word)
        found = [replace(one, low=one.low - margin, high=one.high + margin) if one.percent else one for one in found]
    return found


def _names(text: str) -> tuple[str, ...]:
    codes = [match.group().strip("`") for match in _CODE.finditer(text)]
    return tuple(dict.fromkeys([*marked_names(text), *codes]))


@lru_cache(maxsize=4096)
def read_criterion(text: str) -> Criterion:
    """Take a criterion apart. One without "The response should" counts as a general one, judged by its topics."""
    text = normalise_width(text)
    lead = _LEAD.match(text)
    body = text[lead.end() :] if lead else text
    parts = [match.group() for match in _FORBIDDING.finditer(body)]
    barred = [part for part in parts if not _COMPARING.match(part)]
    positive = _FORBIDDING.sub(" ", body)
    at_least = _AT_LEAST.search(positive)
    number = at_least["number"].casefold() if at_least else ""
    needed = int(_NUMBER_WORDS.get(number) or (number.isdigit() and int(number)) or 0)
    if at_least:
        positive = positive[: at_least.start("number")] + positive[at_least.end("number") :]
    shown = _ACCEPTED.sub(" ", positive)
    topic = _NO_TOPIC.sub(" ", _VERBS_ZH.sub(" ", _WITHIN.sub(" ", shown)))
    return Criterion(
        text=text,
        positive=positive.strip(),
        terms=tuple(key_terms(topic)),
        quantities=tuple(_required(positive)),
        dates=tuple(date_mentions(shown)),
        names=_names(shown),
        urls=tuple(urls_of(shown)),
        forbidden_dates=tuple(one for part in barred for one in date_mentions(part)),
        forbidden_terms=tuple(
            term for part in barred for term in key_terms(_VERBS_ZH.sub(" ", part)) if not term[0].isdigit()
        ),
        forbidden_quantities=tuple(one for part in barred for one in quantities(part)),
        negated=bool(_NEGATION.search(_CONSEQUENCE.split(shown)[0])),
        alternatives=bool(_ALTERNATIVE.search(shown)),
        needed=needed,
        is_general=lead is None,
    )


def negates(text: str) -> bool:
    """Whether a sentence denies something."""
    return bool(_NEGATION.search(text))
