"""Raw queries through filter, classification and rewriting: bounded, resumable, each reply stored as it arrives."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from lifesearch_kit.building.asking import Question, ask, question_of
from lifesearch_kit.building.outcomes import intake
from lifesearch_kit.building.records import Decision, FilterAnswer, Query, Step
from lifesearch_kit.building.settings import BuilderSettings
from lifesearch_kit.building.trail import Trail
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.collect.accounting import Budget, Summary
from lifesearch_kit.collect.workers import Workers
from lifesearch_kit.errors import ChatError
from lifesearch_kit.judge.prefix_order import PrefixOrder

# So many requests of one step that the endpoint rejects, with none served between them: it rejects them all.
_REJECTIONS = 12


@dataclass
class StepSummary(Summary):
    """What one step did. `undecided` counts decisions without a sound answer by status; an ``error`` is none yet."""

    undecided: Counter[str] = field(default_factory=Counter)

    def add_decision(self, decision: Decision) -> None:
        """Count one stored decision."""
        self.count(decision.input_tokens, decision.output_tokens, decision.cost)
        if decision.status != "ok":
            self.undecided[decision.status] += 1

    def __str__(self) -> str:
        told = [
            f"; {count} rejected by the endpoint, still to be asked"
            if status == "error"
            else f"; {count} undecided ({status})"
            for status, count in sorted(self.undecided.items())
        ]
        return super().__str__() + "".join(told)


async def build(
    queries: Sequence[Query],
    builder: BuilderSettings,
    trail: Trail,
    *,
    concurrency: int = 8,
    budget: Budget | None = None,
    again: bool = False,
) -> list[StepSummary]:
    """Take raw queries the whole way: what the filter keeps is classified and rewritten.

    Parameters
    ----------
    queries
        As `read_queries` gives them. Empty ones, repeated ones and those beyond the limit are not asked about.
    builder
        The model that decides.
    trail
        Keeps each decision as it arrives.
    concurrency
        Calls at a time.
    budget
        When it is spent no further call is begun, and the summary says so. None sets none.
    again
        Whether questions that were left undecided are asked once more; the earlier replies stay in the trail.

    Returns
    -------
    list of StepSummary
        One a step. What each query came to is `outcomes(queries, builder, trail.decisions())`.

    Raises
    ------
    InputError
        When a key or a prompt is missing, or with a budget a price, or another process is at work on the folder.
    ChatError
        When the endpoint refuses every further call or has gone; all that was done is kept, and a call like this one
        goes on.
    """
    without_model = intake(queries, builder)
    asked = [query for query in queries if query.query_id not in without_model]
    budget = budget or Budget()
    summaries = [await decide("filter", asked, builder, trail, concurrency=concurrency, budget=budget, again=again)]
    counted = trail.latest()
    passed = [query for query in asked if _passes(counted.get(question_of(query, "filter", builder).fingerprint))]
    following: tuple[Step, ...] = ("classify", "rewrite")
    for step in following:
        summaries.append(
            await decide(step, passed, builder, trail, concurrency=concurrency, budget=budget, again=again)
        )
    return summaries


def _passes(decision: Decision | None) -> bool:
    answer = decision.answer if decision else None
    return isinstance(answer, FilterAnswer) and not answer.objections


async def decide(
    step: Step,
    queries: Iterable[Query],
    builder: BuilderSettings,
    trail: Trail,
    *,
    concurrency: int = 8,
    budget: Budget | None = None,
    again: bool = False,
) -> StepSummary:
    """Take one step on queries, whatever the others say of them; see `build`.

    A question that has a reply is not asked again, unless `again` is set and the reply left it undecided. One that the
    endpoint rejected (status ``error``) is asked at each call.
    """
    planned = (question_of(query, step, builder) for query in queries)
    questions = list({question.fingerprint: question for question in planned}.values())
    with trail.claim():
        counted = trail.latest()
        settled = {mark for mark, one in counted.items() if one.status == "ok" or not (again or one.status == "error")}
        todo = [question for question in questions if question.fingerprint not in settled]
        summary = StepSummary(step, planned=len(questions), skipped=len(questions) - len(todo))
        rejected: list[str] = []

        async def make(question: Question, chats: Mapping[str, Chat]) -> float | None:
            decision = trail.add(await ask(question, chats[builder.name]))
            summary.add_decision(decision)
            rejected[:] = [*rejected, decision.reason] if decision.status == "error" else []
            if len(rejected) >= max(_REJECTIONS, 2 * concurrency):
                raise ChatError(decision.reason, "stop")
            return decision.cost

        begun = {one.builder for one in counted.values()}
        # The rules are the same for each query of a language, so a prompt cache can serve them.
        order = PrefixOrder(todo, lambda question: question.prompt)
        workers = Workers(order, lambda question: question.builder, make, begun, summary, budget or Budget())
        await workers.run([builder] if todo else [], concurrency)
        return summary
