"""The baseline researcher: an extractive, rule-based agent. It is no language model.

Every turn is inferred from the messages alone: it plans queries from the question, searches, reads, and writes a report
of dated, cited sentences that the tools returned. Choices among near-equals vary with the request's `seed`; the same
messages and seed give the same turn in any process.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from lifesearch_kit.offline.comparison import Change, changes, choose_between, disagreements
from lifesearch_kit.offline.conversation import Completion, Conversation, read_conversation
from lifesearch_kit.offline.evidence import Evidence, Scorer, collect_evidence
from lifesearch_kit.offline.names import shared_names
from lifesearch_kit.offline.questions import Question, planned_queries, read_question
from lifesearch_kit.offline.reporting import Findings, write_report
from lifesearch_kit.offline.sources import Hit, Source, read_hits, read_sources
from lifesearch_kit.offline.variants import VARIANTS, Variant
from lifesearch_kit.offline.wording import ask_back, closed_book
from lifesearch_kit.terms import key_terms

_NOISE = 0.25
_EVIDENCE_NOISE = 0.12
_ASKING_SHARE = 0.85
_LEAST_SHARE = 0.3
_CHANGE_LINE = re.compile(r"^(\d+) (-?\d+(?:\.\d+)?)$", re.MULTILINE)


def answer_researcher(body: Mapping[str, Any]) -> Completion:
    """Take the next turn of a baseline researcher: tool calls, or the report."""
    conversation = read_conversation(body)
    variant = VARIANTS[conversation.model]
    question = read_question(conversation.question)
    if not variant.queries:
        return Completion(closed_book(question))
    hesitates = variant.asks_back and question.vague and not conversation.calls
    if hesitates and _generator(conversation, "asking").random() < _ASKING_SHARE:
        return Completion(ask_back(question))
    for step in (_search, _read, _compute):
        completion = step(conversation, variant, question)
        if completion is not None:
            return completion
    return Completion(write_report(_findings(conversation, variant, question), variant.terse))


def _generator(conversation: Conversation, purpose: str) -> np.random.Generator:
    """A generator that depends on model, question, seed and purpose only (not on Python's own hash)."""
    key = "\x1f".join((conversation.model, conversation.question, str(conversation.seed), purpose))
    return np.random.default_rng(int.from_bytes(hashlib.sha256(key.encode()).digest()[:16], "big"))


def _queries(conversation: Conversation, variant: Variant, question: Question) -> list[str]:
    """The planned queries, some words left out and the order after the first shaken by the seed."""
    rng = _generator(conversation, "queries")
    planned = planned_queries(question)
    order = sorted(range(1, len(planned)), key=lambda at: at + 2.0 * float(rng.normal()))
    queries: list[str] = []
    for query in [planned[0], *(planned[at] for at in order)]:
        words = query.split()
        kept = [word for word in words if rng.random() > 0.12] if len(words) > 4 else words
        queries.append(" ".join(kept or words))
    return list(dict.fromkeys(queries))[: variant.queries]


def _search(conversation: Conversation, variant: Variant, question: Question) -> Completion | None:
    """Search before the first page is read, and again after each round of reading while queries are left."""
    if "search" not in conversation.tools:
        return None
    asked = [str(call.arguments.get("query")) for call in conversation.made("search")]
    left = [query for query in _queries(conversation, variant, question) if query not in asked]
    last = conversation.calls[-1].name if conversation.calls else "fetch"
    if last == "search" and _unread(conversation, variant, question):
        return None
    if not left:
        return None
    note = "先搜索：" if question.chinese else "Searching for: "
    batch = left[: variant.queries_per_step]
    return Completion(note + " / ".join(batch), tuple(("search", {"query": query}) for query in batch))


def _unread(conversation: Conversation, variant: Variant, question: Question) -> list[tuple[str, int]]:
    """Addresses and parts worth reading next, best first, within the variant's number of pages."""
    if "fetch" not in conversation.tools:
        return []
    tried = {
        (str(call.arguments.get("url")), _page_number(call.arguments.get("page")))
        for call in conversation.made("fetch")
    }
    sources = {source.url: source for source in read_sources(conversation.made("fetch"))}
    later = [
        (source.url, source.parts_read + 1)
        for source in sources.values()
        if variant.later_parts and source.parts_read < source.parts and (source.url, source.parts_read + 1) not in tried
    ]
    room = variant.pages - len({url for url, _ in tried})
    hits = [hit for hit in _readable(conversation, variant, question) if (hit.url, 1) not in tried]
    return later + [(hit.url, 1) for hit in hits[: max(0, room)]]


def _page_number(written: object) -> int:
    return written if isinstance(written, int) else 1


def _readable(conversation: Conversation, variant: Variant, question: Question) -> list[Hit]:
    rng = _generator(conversation, "reading")
    hits = sorted(read_hits(conversation.made("search"), question.terms), key=lambda hit: hit.url)
    shaken = {hit.url: hit.weight * float(np.exp(_NOISE * rng.normal())) for hit in hits}
    best = max((hit.share for hit in hits), default=0.0)
    fitting = [hit for hit in hits if hit.share >= _LEAST_SHARE * best and not _too_new(hit, variant, question)]
    return sorted(fitting, key=lambda hit: (-shaken[hit.url], hit.url))


def _too_new(page: Hit | Source, variant: Variant, question: Question) -> bool:
    return bool(variant.minds_cutoff and question.cutoff and page.published and page.published > question.cutoff)


def _read(conversation: Conversation, variant: Variant, question: Question) -> Completion | None:
    batch = _unread(conversation, variant, question)[: variant.reads_per_step]
    if not batch:
        return None
    note = "阅读：" if question.chinese else "Reading: "
    calls = tuple(("fetch", {"url": url} | ({"page": part} if part > 1 else {})) for url, part in batch)
    return Completion(note + " ".join(url for url, _ in batch), calls)


def _evidence(conversation: Conversation, variant: Variant, question: Question) -> list[Evidence]:
    sources = [one for one in read_sources(conversation.made("fetch")) if not _too_new(one, variant, question)]
    return collect_evidence(sources)


def _names(conversation: Conversation, question: Question) -> tuple[str, ...]:
    titles = [hit.title for hit in read_hits(conversation.made("search"), question.terms)[:12]]
    return tuple(dict.fromkeys([*question.names, *(shared_names(question.text, titles) if question.chinese else ())]))


def _changes(evidence: list[Evidence], question: Question, names: tuple[str, ...]) -> list[Change]:
    scorer = Scorer(evidence, question.terms, names)
    part = frozenset(question.terms)
    scored = [(round(scorer.score(one, part, True, False), 9), one) for one in evidence if one.cells]
    return changes([one for score, one in sorted(scored, key=lambda pair: (-pair[0], pair[1].text)) if score > 0], 6)


def _compute(conversation: Conversation, variant: Variant, question: Question) -> Completion | None:
    """Once, with the python tool: the changes between two years in table rows."""
    if not variant.computes or "python" not in conversation.tools or conversation.made("python"):
        return None
    found = _changes(_evidence(conversation, variant, question), question, _names(conversation, question))
    if not found:
        return None
    pairs = ", ".join(f"({one.old!r}, {one.new!r})" for one in found)
    code = (
        f"pairs = [{pairs}]\nfor number, (old, new) in enumerate(pairs):\n    print(number, round((new "
        f"- old) / old * 100, 2))"
    )
    note = "计算两年之间的变化。" if question.chinese else "Computing the changes between two years."
    return Completion(note, (("python", {"code": code}),))


def _findings(conversation: Conversation, variant: Variant, question: Question) -> Findings:
    evidence = _evidence(conversation, variant, question)
    names = _names(conversation, question)
    rng = _generator(conversation, "evidence")
    noise = {text: float(np.exp(_EVIDENCE_NOISE * rng.normal())) for text in sorted(one.text for one in evidence)}
    scorer = Scorer(evidence, question.terms, names, noise)
    taken: set[str] = set()
    by_part: list[tuple[str, tuple[Evidence, ...]]] = []
    for part in question.requirements:
        chosen = scorer.choose(evidence, part, variant.sentences, taken)
        taken.update(one.text for one in chosen)
        by_part.append((part, tuple(chosen)))
    terms_of_advice = frozenset(key_terms(question.advice or ""))
    choice = choose_between(evidence, names, terms_of_advice) if variant.reconciles else None
    advice: list[Evidence] = []
    if question.advice:
        about = f"{question.advice} {choice or ''}"
        advice = scorer.choose(evidence, about, 3, set()) or scorer.choose(evidence, question.text, 3, set())
    rows = scorer.choose([one for one in evidence if one.cells], question.text, 4 * variant.sentences, set())
    if not rows:
        rows = [one for _, found in by_part for one in found][:6]
    left_out = sum(_too_new(hit, variant, question) for hit in read_hits(conversation.made("search"), question.terms))
    fitting = [one for one in evidence if scorer.named(one)] or evidence
    return Findings(
        question=question,
        by_part=tuple(by_part),
        advice=tuple(advice),
        choice=choice,
        rows=tuple(rows),
        disagreements=tuple(disagreements(fitting, names, 3)) if variant.reconciles and not variant.terse else (),
        changes=tuple(_computed(conversation, evidence, question, names)) if variant.computes else (),
        caveats=tuple(scorer.caveats(fitting, 4, taken)) if variant.reconciles and not variant.terse else (),
        cutoff=question.cutoff if variant.minds_cutoff else None,
        left_out=left_out,
    )


def _computed(
    conversation: Conversation, evidence: list[Evidence], question: Question, names: tuple[str, ...]
) -> list[Change]:
    calls = conversation.made("python")
    results = (
        {int(number): float(percent) for number, percent in _CHANGE_LINE.findall(calls[0].result)} if calls else {}
    )
    return [replace(one, percent=results.get(at)) for at, one in enumerate(_changes(evidence, question, names))]
