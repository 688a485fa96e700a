"""What each query came to: kept, dropped or undecided, at which step and why, or still to be asked. All are there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, get_args

import pandas as pd

from lifesearch_kit.building.asking import question_of
from lifesearch_kit.building.queries import same_queries
from lifesearch_kit.building.records import (
    STEPS,
    Decision,
    DomainAnswer,
    FilterAnswer,
    Query,
    QueryLanguage,
    RewriteAnswer,
    Step,
)
from lifesearch_kit.building.settings import BuilderSettings
from lifesearch_kit.building.trail import latest
from lifesearch_kit.fields import Id, Said
from lifesearch_kit.records import Record
from lifesearch_kit.text import strip_invisible

Fate = Literal["kept", "dropped", "undecided", "still to be asked"]
Place = Literal["intake", "filter", "classify", "rewrite", ""]
FATES: tuple[Fate, ...] = get_args(Fate)
TO_BE_ASKED: Fate = FATES[-1]
_RUN_AGAIN = "run again to ask"
BASELINE = "baseline-"
NOTICE = "Decided by a rule-based baseline, no language model: no measure of any model or of these queries."


class Outcome(Record):
    """What one query came to.

    `step` is the step that dropped it or left it undecided, empty where it is kept. ``still to be asked`` is no end:
    the endpoint gave no reply at that step, or a budget held it back, and another call asks it. `domain` and
    `rewritten` are there as far as the steps came; `breached` is a rewrite that breaks a rule, for whoever looks at it.
    """

    query_id: Id
    language: QueryLanguage
    fate: Fate
    step: Place = ""
    reason: Said = ""
    domain: str | None = None
    rewritten: Said | None = None
    breached: Said | None = None
    query: Said
    place: str = ""


def intake(queries: Sequence[Query], builder: BuilderSettings) -> dict[str, Outcome]:
    """The outcomes that need no model: empty queries, repeated ones, those beyond the limit of length."""
    found: dict[str, Outcome] = {}
    again = same_queries(queries)
    for query in queries:
        if not strip_invisible(query.text).strip():
            found[query.query_id] = _outcome(query, "dropped", "intake", "the query is empty")
        elif query.query_id in again:
            reason = f"says the same as {again[query.query_id]!r}"
            found[query.query_id] = _outcome(query, "dropped", "intake", reason)
        elif len(query.text) > builder.max_query_characters:
            size = f"the query has {len(query.text):,} characters; the limit is {builder.max_query_characters:,}"
            reason = f"{size}: shorten it by hand, or raise max_query_characters"
            found[query.query_id] = _outcome(query, "undecided", "intake", reason)
    return found


def outcomes(queries: Sequence[Query], builder: BuilderSettings, decisions: Iterable[Decision]) -> list[Outcome]:
    """What each query came to, one a query, in their order.

    Parameters
    ----------
    queries
        All that were read.
    builder
        As it was asked: another prompt or setting has other decisions.
    decisions
        The trail's.
    """
    counted = latest(decisions)
    without_model = intake(queries, builder)
    found = []
    for query in queries:
        if query.query_id in without_model:
            found.append(without_model[query.query_id])
            continue
        marks = {step: question_of(query, step, builder).fingerprint for step in STEPS}
        found.append(_of_decisions(query, {step: counted[mark] for step, mark in marks.items() if mark in counted}))
    return found


def _of_decisions(query: Query, decisions: Mapping[Step, Decision]) -> Outcome:
    answers = {step: one.answer for step, one in decisions.items()}
    kept, domain, rewrite = answers.get("filter"), answers.get("classify"), answers.get("rewrite")
    if isinstance(kept, FilterAnswer) and kept.objections:
        return _outcome(query, "dropped", "filter", "; ".join(kept.objections))
    known: dict[str, str | None] = {"domain": domain.taxonomy if isinstance(domain, DomainAnswer) else None}
    if isinstance(rewrite, RewriteAnswer):
        known["rewritten" if decisions["rewrite"].status == "ok" else "breached"] = rewrite.text
    if known.get("rewritten") == "":
        return _outcome(query, "dropped", "rewrite", "nothing is left of it but engineering", **known)
    for step in STEPS:
        one = decisions.get(step)
        if one is None:
            return _outcome(query, TO_BE_ASKED, step, f"no reply was kept yet; {_RUN_AGAIN}", **known)
        if one.status == "error":
            return _outcome(query, TO_BE_ASKED, step, f"error: {one.reason}; {_RUN_AGAIN}", **known)
        if one.status != "ok":
            return _outcome(query, "undecided", step, f"{one.status}: {one.reason}", **known)
    return _outcome(query, "kept", "", "", **known)


def _outcome(
    query: Query,
    fate: Fate,
    step: Place,
    reason: str,
    domain: str | None = None,
    rewritten: str | None = None,
    breached: str | None = None,
) -> Outcome:
    return Outcome(
        query_id=query.query_id,
        language=query.language,
        fate=fate,
        step=step,
        reason=reason,
        domain=domain,
        rewritten=rewritten,
        breached=breached,
        query=query.text,
        place=query.place,
    )


def outcomes_frame(found: Sequence[Outcome]) -> pd.DataFrame:
    """A row an outcome, columns as its fields."""
    return pd.DataFrame([one.model_dump() for one in found], columns=list(Outcome.model_fields))


def outcome_counts(found: pd.DataFrame) -> pd.DataFrame:
    """A row a fate and step, with queries by language and in all; the sum of all is the number of queries."""
    by = [pd.Categorical(found["fate"], FATES, ordered=True), found["step"], found["language"]]
    counts = found.groupby(by, observed=True)["query_id"].count().unstack(fill_value=0)
    return counts.assign(queries=counts.sum(axis=1)).rename_axis(index=["fate", "step"], columns=None).reset_index()


def outcome_words(found: Sequence[Outcome]) -> str:
    """How many queries came to what, and that those without a reply are still to be asked, where there are any."""
    counts = {fate: sum(one.fate == fate for one in found) for fate in FATES}
    told = f"{len(found)} queries: " + ", ".join(f"{counts[fate]} {fate}" for fate in FATES)
    if not counts[TO_BE_ASKED]:
        return told
    why = "no reply has come to them, as the endpoint failed or rejected the request, or the budget held them back"
    return f"{told}. The last have no outcome yet: {why}. Run again: what has a reply is not asked twice"


def building_notice(decisions: Iterable[Decision], queries: Iterable[Query] = ()) -> str:
    """What must be said beside figures of these decisions; empty where no baseline made any and nothing is invented.

    A baseline is known by the model that a decision names, so that the notice follows the data, not a setting.
    """
    invented = any(query.metadata.get("invented") for query in queries)
    by_baseline = any((one.model or "").startswith(BASELINE) for one in decisions)
    return " ".join(["Invented queries."] * invented + [NOTICE] * by_baseline)
