"""How the steps' decisions compare with known answers: one row a question, and the counts behind a confusion matrix."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd
from pydantic import ValidationError

from lifesearch_kit.building.alignment import align
from lifesearch_kit.building.asking import question_of
from lifesearch_kit.building.records import (
    STEPS,
    Decision,
    DomainAnswer,
    FilterAnswer,
    QualityLevel,
    Query,
    RewriteAnswer,
)
from lifesearch_kit.building.settings import BuilderSettings
from lifesearch_kit.building.trail import latest
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Said
from lifesearch_kit.records import DOMAINS, Domain, Record
from lifesearch_kit.rows import Row, fault

UNDECIDED = "undecided"
_TRUTH, _FATE = ("true", "false"), ("kept", "dropped")
# What may be decided, in the order in which tables and figures show it.
CHOICES: dict[str, tuple[str, ...]] = {
    "quality_level": ("high", "medium", "low"),
    "is_unrelated_to_search": _TRUTH,
    "is_time_dependent": _TRUTH,
    "kept by the filter": _FATE,
    "taxonomy": DOMAINS,
    "rewritten": ("as known", "too much taken", "too little taken", "both"),
}
KNOWN_REWRITES = ("unchanged", "shortened", "nothing left")
SEEN, HELD_OUT = "seen", "held out"


class KnownAnswers(Record):
    """What each step should say of one query; domain and rewritten text only where the filter should keep it."""

    quality_level: QualityLevel
    is_unrelated_to_search: bool
    is_time_dependent: bool
    domain: Domain | None = None
    rewritten: Said | None = None

    @property
    def is_kept(self) -> bool:
        """Whether the filter should keep the query."""
        return self.quality_level != "low" and not self.is_unrelated_to_search and not self.is_time_dependent


def known_answers(queries: Sequence[Query]) -> dict[str, KnownAnswers]:
    """The known answers that queries carry in their field `known`, by id.

    Raises
    ------
    InputError
        Listing every wrong field with its place.
    """
    known: dict[str, KnownAnswers] = {}
    faults: list[str] = []
    for query in queries:
        given = query.metadata.get("known")
        if given is None:
            continue
        row = Row(query.place, given if isinstance(given, dict) else {})
        try:
            known[query.query_id] = KnownAnswers.model_validate(given)
        except ValidationError as error:
            faults += [fault(row, KnownAnswers, one) for one in error.errors(include_url=False)]
    if faults:
        raise InputError(faults)
    return known


def compared(queries: Sequence[Query], builder: BuilderSettings, decisions: Iterable[Decision]) -> pd.DataFrame:
    """Each judgment on each query with a known answer beside what was decided.

    Each step stands by itself: a query that should be kept is compared at all steps, whatever the filter said of it.

    Returns
    -------
    DataFrame
        Columns part (``held out`` where the query says so), query_id, language, judgment, known, decided (``undecided``
        where there is no sound answer). A rewrite is known to leave the query unchanged, shortened or empty, and
        compared by its words: marks and blanks do not count.
    """
    counted, known = latest(decisions), known_answers(queries)
    rows: list[dict[str, Any]] = []
    for query in queries:
        wanted = known.get(query.query_id)
        if wanted is None:
            continue
        found = [counted.get(question_of(query, step, builder).fingerprint) for step in STEPS]
        answers = [one.answer if one and one.status == "ok" else None for one in found]
        part = HELD_OUT if query.metadata.get("held_out") else SEEN
        about = {"part": part, "query_id": query.query_id, "language": query.language}
        pairs = _filter_pairs(wanted, answers[0]) | _later_pairs(query, wanted, answers[1], answers[2])
        rows += [{**about, "judgment": name, "known": one, "decided": two} for name, (one, two) in pairs.items()]
    return pd.DataFrame(rows, columns=["part", "query_id", "language", "judgment", "known", "decided"])


def _filter_pairs(wanted: KnownAnswers, answer: object) -> dict[str, tuple[str, str]]:
    said = answer if isinstance(answer, FilterAnswer) else None
    names = ("quality_level", "is_unrelated_to_search", "is_time_dependent")
    pairs = {
        name: (str(getattr(wanted, name)).lower(), str(getattr(said, name)).lower() if said else UNDECIDED)
        for name in names
    }
    kept = _FATE[bool(said.objections)] if said else UNDECIDED
    return pairs | {"kept by the filter": (_FATE[not wanted.is_kept], kept)}


def _later_pairs(query: Query, wanted: KnownAnswers, domain: object, rewrite: object) -> dict[str, tuple[str, str]]:
    pairs: dict[str, tuple[str, str]] = {}
    if wanted.domain is not None:
        pairs["taxonomy"] = (wanted.domain, domain.taxonomy if isinstance(domain, DomainAnswer) else UNDECIDED)
    if wanted.rewritten is not None:
        left = wanted.rewritten.strip()
        kind = KNOWN_REWRITES[2 if not left else left != query.text.strip()]
        pairs["rewritten"] = (kind, _likeness(left, rewrite.text) if isinstance(rewrite, RewriteAnswer) else UNDECIDED)
    return pairs


def _likeness(known: str, written: str) -> str:
    """A rewrite's words beside the known ones."""
    changes = {piece.change for piece in align(known, written) if piece.is_word}
    return CHOICES["rewritten"][("removed" in changes) + 2 * ("added" in changes)]


def confusion(pairs: pd.DataFrame) -> pd.DataFrame:
    """Counts of `compared` rows: columns part, judgment, known, decided, queries (above 0 only), in the shown order."""
    by = ["part", "judgment", "known", "decided"]
    counts = pairs.groupby(by, sort=False)["query_id"].count().rename("queries").reset_index()
    order = {
        "part": (SEEN, HELD_OUT),
        "judgment": tuple(CHOICES),
        "known": (*dict.fromkeys(one for choices in CHOICES.values() for one in choices), *KNOWN_REWRITES),
        "decided": (*dict.fromkeys(one for choices in CHOICES.values() for one in choices), UNDECIDED),
    }
    return counts.sort_values(by, key=lambda column: column.map(_places(order[str(column.name)])), ignore_index=True)


def _places(names: Sequence[str]) -> Mapping[str, int]:
    return {name: place for place, name in enumerate(names)}


def accuracy(pairs: pd.DataFrame) -> pd.DataFrame:
    """How often a judgment is as known.

    Returns
    -------
    DataFrame
        A row a judgment and part, columns queries, right, undecided, accuracy_pct (right of all, an undecided one is
        not right) and constant_pct (what the answer that is known most often would reach if always given).
    """
    right = (pairs["known"] == pairs["decided"]) | (pairs["decided"] == CHOICES["rewritten"][0])
    marked = pairs.assign(right=right, undecided=pairs["decided"] == UNDECIDED)
    marked["judgment"] = pd.Categorical(marked["judgment"], list(CHOICES), ordered=True)
    marked["part"] = pd.Categorical(marked["part"], [SEEN, HELD_OUT], ordered=True)
    groups = marked.groupby(["judgment", "part"], observed=True)
    table = groups.agg(queries=("right", "size"), right=("right", "sum"), undecided=("undecided", "sum"))
    table["accuracy_pct"] = 100 * table["right"] / table["queries"]
    table["constant_pct"] = 100 * groups["known"].agg(lambda known: known.value_counts().iloc[0]) / table["queries"]
    # To leave every query as it is would be no answer to what should be taken away.
    table.loc[table.index.get_level_values("judgment") == "rewritten", "constant_pct"] = float("nan")
    return table.reset_index()
