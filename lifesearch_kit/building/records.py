"""What building a benchmark passes on: raw queries, the answers of each step, and decisions with their raw replies."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from lifesearch_kit.fields import Amount, Count, Id, Notes, Said
from lifesearch_kit.records import Domain, Record

Step = Literal["filter", "classify", "rewrite"]
STEPS: tuple[Step, ...] = ("filter", "classify", "rewrite")
QueryLanguage = Literal["zh", "en", "mixed"]
QualityLevel = Literal["high", "medium", "low"]
DecisionStatus = Literal["ok", "unparseable", "truncated", "refused", "breached", "error"]


class Query(Record):
    """One raw query as it came. `text` may be empty: an empty query gets its word like any other.

    `place` is file and line; `metadata` holds what else its row says.
    """

    query_id: Id
    text: Said
    language: QueryLanguage
    place: str = ""
    metadata: dict[str, Any] = Field(default_factory=dict)


class FilterAnswer(Record):
    """The first step's three judgments, each with its reason (the LifeSearch paper, how tasks are made)."""

    quality_level: QualityLevel
    quality_reason: Said
    is_unrelated_to_search: bool
    unrelated_reason: Said
    is_time_dependent: bool
    time_dependent_reason: Said

    @property
    def objections(self) -> tuple[str, ...]:
        """Why the query is dropped, each with the reason given; none where it is kept."""
        found = (
            (self.quality_level == "low", "quality is low", self.quality_reason),
            (self.is_unrelated_to_search, "needs no search", self.unrelated_reason),
            (self.is_time_dependent, "depends on an event that it does not describe", self.time_dependent_reason),
        )
        return tuple(f"{what}: {why}" if why.strip() else what for holds, what, why in found if holds)


class DomainAnswer(Record):
    """The second step's answer: one domain by the query's core purpose."""

    taxonomy: Domain
    reason: Said = ""


class RewriteAnswer(Record):
    """The third step's answer: what is left of the query; empty where nothing is."""

    text: Said


Answer = FilterAnswer | DomainAnswer | RewriteAnswer


class Decision(Record):
    """One step's answer on one query, or why there is none, with the raw reply and what it took.

    A row of the audit trail. `answer` is None unless `status` is ``ok`` or ``breached`` (a rewrite that breaks a rule:
    `reason` says which, `answer` holds what was written). `attempt` counts the replies to one question, from 1.
    """

    query_id: Id
    step: Step
    status: DecisionStatus
    answer: Answer | None = None
    reason: Said = ""
    attempt: int = Field(default=1, ge=1)
    raw: Said = ""
    finish_reason: Said | None = None
    builder: Id
    model: Said | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    seconds: Amount | None = None
    cost: Amount | None = None
    fingerprint: str
    notes: Notes = ()

    @model_validator(mode="after")
    def _has_its_answer(self) -> Self:
        if (self.answer is None) == (self.status in ("ok", "breached")):
            raise ValueError("'answer' must be there where status is 'ok' or 'breached', and null elsewhere")
        return self
