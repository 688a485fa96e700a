"""What the researcher's tools have returned so far: search hits and the pages read, with their dates."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from functools import lru_cache
from urllib.parse import urlsplit

from lifesearch_kit.dates import parse_day
from lifesearch_kit.offline.conversation import Call
from lifesearch_kit.terms import key_terms

_HIT = re.compile(
    r"^\[(\d+)\] (?P<title>.+)\nURL: (?P<url>\S+)(?:\nDate: "
    r"(?P<date>.+))?(?:\n(?P<snippet>(?:(?!\n\[\d+\] ).)*))?",
    re.M,
)
_PAGE = re.compile(
    r"\ATitle: (?P<title>.*)\nURL: (?P<url>\S+)(?:\nPublished: (?P<date>.+))?(?:\nWarning: "
    r".+)*\nPage: (?P<number>\d+) of (?P<count>\d+)\n\n(?P<text>.*)\Z",
    re.DOTALL,
)
_INFORMAL = re.compile(r"blog|forum|bbs|community|\bfans?\b|/posts?/|/t/|wiki|tieba|social", re.IGNORECASE)
INFORMAL_TRUST = 0.55


@dataclass(frozen=True)
class Hit:
    """A search result: `weight` grows with rank and number of searches, `share` is its part of the question's terms."""

    url: str
    title: str
    published: date | None
    weight: float
    share: float = 0.0


@dataclass(frozen=True)
class Source:
    """A page as far as it was read."""

    url: str
    title: str
    published: date | None
    text: str
    parts_read: int
    parts: int

    @property
    def trust(self) -> float:
        """Below 1 for an address that looks like a blog or a forum."""
        return trust(self.url)


def trust(url: str) -> float:
    """How far an address is trusted: 1, or less where it names itself a blog or forum."""
    parts = urlsplit(url)
    return INFORMAL_TRUST if _INFORMAL.search(f"{parts.hostname}{parts.path}") else 1.0


@lru_cache(maxsize=1024)
def _hits_of(result: str) -> tuple[tuple[Hit, frozenset[str]], ...]:
    found = []
    for match in _HIT.finditer(result):
        title, snippet = match["title"].strip(), (match["snippet"] or "").strip()
        hit = Hit(match["url"], title, parse_day(match["date"]) if match["date"] else None, 0.0)
        found.append((hit, frozenset(key_terms(f"{title} {snippet}"))))
    return tuple(found)


def read_hits(calls: Sequence[Call], question_terms: Sequence[str]) -> list[Hit]:
    """All hits so far, best first: high ranks, several searches, words of the question in title and snippet."""
    weights: dict[str, float] = defaultdict(float)
    shares: dict[str, float] = defaultdict(float)
    first: dict[str, Hit] = {}
    wanted = set(question_terms)
    for call in calls:
        for rank, (hit, terms) in enumerate(_hits_of(call.result), start=1):
            shared = len(wanted & terms) / max(1, len(wanted))
            weights[hit.url] += (1.0 / (rank + 1) + shared) * trust(hit.url)
            first.setdefault(hit.url, hit)
            shares[hit.url] = max(shares[hit.url], shared)
    hits = [replace(hit, weight=weights[url], share=shares[url]) for url, hit in first.items()]
    return sorted(hits, key=lambda hit: (-hit.weight, hit.url))


def read_sources(calls: Sequence[Call]) -> list[Source]:
    """The pages fetched so far, parts of one page joined; results that are no page (failures) are passed over."""
    found: dict[str, Source] = {}
    for call in calls:
        match = _PAGE.match(call.result.replace("\r\n", "\n").strip())
        if match is None:
            continue
        url = match["url"]
        text = _without_last_mark(match["text"])
        published = parse_day(match["date"]) if match["date"] else None
        earlier = found.get(url)
        joined = f"{earlier.text}\n{text}" if earlier else text
        found[url] = Source(url, match["title"].strip(), published, joined, int(match["number"]), int(match["count"]))
    return list(found.values())


def _without_last_mark(text: str) -> str:
    """Leave out a last line in brackets, which speaks about the page and is none of its content."""
    lines = text.rstrip().splitlines()
    if lines and re.fullmatch(r"[(（].*[)）]", lines[-1].strip()):
        lines = lines[:-1]
    return "\n".join(lines).strip()
