"""Evidence: sentences and table rows of the pages read, scored against the parts of the question."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from lifesearch_kit.offline.quantities import Quantity, quantities
from lifesearch_kit.offline.sources import Source
from lifesearch_kit.terms import key_terms, sentences

_ROW = re.compile(r"^\s*\|(.+)\|\s*$")
_RULE = re.compile(r"^[\s|:-]+$")
_MARKS = re.compile(r"\*\*|__|^\s*(?:[-*+•]|\d{1,2}[.)、])\s+|^\s*>+\s*|`")
_ASKS_FIGURE = re.compile(
    r"how (?:many|much|long|large|big)|figures?|rate|share|size|number|revenue|price|cost"
    r"|多少|多大|几|数|率|额|量|价|费|份额|规模",
    re.IGNORECASE,
)
_FEWEST_TERMS = 5
_LEAST_FIT = 0.35
CORRECTS = re.compile(
    r"correct(?:ed|ion|ing|s)\b|restat|revis|supersed|overstat|mistak|\berror|not (?:directly "
    r")?comparable|cannot be compared|differs? from|should not be|"
    r"disagree|unlike|更正|重述|修订|修正|有误|误(?:写|把|将|用)|不能直接|不可比|口径(?:不同|不一"
    r"|有别)|不应|不要|取代|偏高|偏低|高估|撤回|作废|以.{2,12}为准",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Evidence:
    """One sentence or table row of a source; a row is written out with the header of its columns."""

    text: str
    source: Source
    terms: frozenset[str]
    quantities: tuple[Quantity, ...]
    cells: tuple[str, ...] = ()
    header: tuple[str, ...] = ()


def collect_evidence(sources: Iterable[Source]) -> list[Evidence]:
    """Every sentence and table row of the sources that says something of its own."""
    found: list[Evidence] = []
    seen: set[str] = set()
    for source in sources:
        for one in _of_source(source):
            if one.text not in seen and len(one.terms) >= _FEWEST_TERMS:
                seen.add(one.text)
                found.append(one)
    return found


def _cells(line: str) -> tuple[str, ...]:
    match = _ROW.match(line)
    return tuple(cell.strip() for cell in match.group(1).split("|")) if match else ()


@lru_cache(maxsize=512)
def _of_source(source: Source) -> tuple[Evidence, ...]:
    return tuple(_read_lines(source))


def _read_lines(source: Source) -> Iterable[Evidence]:
    header: tuple[str, ...] = ()
    lines = source.text.splitlines()
    for number, line in enumerate(lines):
        cells = _cells(line)
        if cells:
            if number + 1 < len(lines) and _RULE.match(lines[number + 1]):
                header = cells
            elif not _RULE.match(line):
                yield _row(cells, header, source)
        elif line.strip() and not line.lstrip().startswith("#"):
            for sentence in sentences(_MARKS.sub("", line)):
                yield Evidence(sentence, source, frozenset(key_terms(sentence)), tuple(quantities(sentence)))


def _row(cells: tuple[str, ...], header: tuple[str, ...], source: Source) -> Evidence:
    colon, stop = (
        ("：", "；")
        if any("\u4e00" <= character <= "\u9fff" for character in "".join(cells + header))
        else (": ", "; ")
    )
    pairs = [f"{name}{colon}{cell}" for name, cell in zip(header[1:], cells[1:], strict=False)] or list(cells[1:])
    label = f"{header[0]} {cells[0]}" if header else cells[0]
    text = f"{cells[0]} — {stop.join(pairs)}"
    terms = frozenset(key_terms(f"{text} {label} {source.title}"))
    return Evidence(text, source, terms, tuple(quantities(stop.join(cells[1:]))), cells, header)


class Scorer:
    """Scores evidence by shared terms, rare ones more, on pages that fit the question as a whole."""

    def __init__(
        self,
        evidence: Sequence[Evidence],
        question_terms: Sequence[str],
        names: Sequence[str],
        noise: Mapping[str, float] | None = None,
    ) -> None:
        self._names = tuple(name.casefold() for name in names)
        self._asked = frozenset(question_terms)
        documents: dict[str, set[str]] = {}
        for one in evidence:
            documents.setdefault(one.source.url, set(key_terms(one.source.title))).update(one.terms)
        self._count = len(evidence)
        self._in = Counter(term for one in evidence for term in one.terms)
        shares = {url: self._total(self._asked & terms) for url, terms in documents.items()}
        best = max(shares.values(), default=1.0) or 1.0
        fits = {url: share / best for url, share in shares.items()}
        self._fit = {url: fit if fit >= _LEAST_FIT else 0.0 for url, fit in fits.items()}
        self._noise = noise or {}

    def _total(self, terms: Iterable[str]) -> float:
        return sum(self.rarity(term) for term in sorted(terms))

    def rarity(self, term: str) -> float:
        """Inverse document frequency over the evidence, at least 0.2."""
        return max(0.2, math.log((self._count + 1) / (self._in[term] + 0.5)))

    def named(self, one: Evidence) -> frozenset[str]:
        """The question's names that a piece of evidence, or its page's title, mentions."""
        text = f"{one.source.title} {one.text}".casefold()
        return frozenset(name for name in self._names if name in text)

    def score(self, one: Evidence, part: frozenset[str], asks_figure: bool, corrects: bool) -> float:
        """How well a piece of evidence serves one part of the question."""
        shared = self._total(part & one.terms) + 0.35 * self._total((self._asked - part) & one.terms)
        if not part & one.terms:
            return 0.0
        bonus = 1.0 + 0.35 * bool(self.named(one)) + 0.25 * (asks_figure and bool(one.quantities))
        bonus += 0.5 * (corrects and bool(CORRECTS.search(one.text)))
        shared *= self._noise.get(one.text, 1.0)
        return shared * bonus * one.source.trust * self._fit[one.source.url] ** 1.5 / (len(one.terms) + 10) ** 0.4

    def caveats(self, evidence: Sequence[Evidence], count: int, taken: set[str]) -> list[Evidence]:
        """Sentences that correct, restate or warn about a figure, the ones that fit the question best."""
        part = frozenset(self._asked)
        warning = [one for one in evidence if not one.cells and one.text not in taken and CORRECTS.search(one.text)]
        scored = [(round(self.score(one, part, True, True), 9), one) for one in warning]
        return [one for score, one in sorted(scored, key=lambda pair: (-pair[0], pair[1].text)) if score > 0][:count]

    def choose(self, evidence: Sequence[Evidence], part: str, count: int, taken: set[str]) -> list[Evidence]:
        """The best pieces for one part of the question, each new one preferred for names and terms not yet covered."""
        terms = frozenset(key_terms(part))
        asks_figure, corrects = (
            bool(_ASKS_FIGURE.search(part)),
            bool(CORRECTS.search(part)) or "说法" in part or "claim" in part,
        )
        scores = {one.text: self.score(one, terms, asks_figure, corrects) for one in evidence}
        chosen: list[Evidence] = []
        covered: Counter[str] = Counter()
        pool = [one for one in evidence if scores[one.text] > 0 and one.text not in taken]
        while pool and len(chosen) < count:
            best = max(
                pool,
                key=lambda one: (
                    round(scores[one.text] * self._novelty(one, terms, covered), 9),
                    one.source.url,
                    one.text,
                ),
            )
            pool.remove(best)
            if any(_same(best, other) for other in chosen):
                continue
            chosen.append(best)
            covered.update((best.terms & terms) | self.named(best) | {best.source.url})
        return chosen

    def _novelty(self, one: Evidence, part: frozenset[str], covered: Counter[str]) -> float:
        keys = sorted((one.terms & part) | self.named(one))
        fresh = sum(0.5 ** covered[key] for key in keys) / max(1, len(keys))
        return (0.3 + fresh) * 0.8 ** covered[one.source.url]


def _same(one: Evidence, other: Evidence) -> bool:
    smaller = min(len(one.terms), len(other.terms))
    return len(one.terms & other.terms) > 0.75 * smaller and {q.value for q in one.quantities} == {
        q.value for q in other.quantities
    }
