"""Judging through an endpoint's Batch API: the records of live calls, later and usually cheaper.

A batch is never paid for twice. The uploaded file is noted in the run's folder before its batch is asked for, and the
batch's id after: where a process ends between the two, the next one finds the batch in the endpoint's own list.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack

from tqdm.auto import tqdm

from lifesearch_kit.collect.accounting import Summary
from lifesearch_kit.collect.interrupts import interruptible
from lifesearch_kit.collect.store import Store
from lifesearch_kit.collect.workers import open_chats
from lifesearch_kit.errors import InputError
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge_batches.batches import JudgeBatches
from lifesearch_kit.judge_batches.files import Notes, Packer, custom_id
from lifesearch_kit.settings import JudgeSettings


async def grade_in_batches(
    plan: Sequence[Check],
    store: Store,
    *,
    interval: float = 60.0,
    max_requests: int = 50_000,
    max_bytes: int = 200_000_000,
) -> Summary:
    """Make the judgments that the store does not hold a verdict for, through the Batch API of each judge's endpoint.

    Waits until every batch has ended. Stopped at any time, a further call goes on with the same batches and submits
    only what is neither judged nor under way. What is unjudged is asked for again by a further call, not at once
    (`unjudged_retries`). Live calls (`collect.collect.grade`) know nothing of a batch under way, so that what it holds
    would be paid for again: let it end first. A judge's prices are those of its settings: give a batch's there.

    Parameters
    ----------
    plan, store
        As for `collect.collect.grade`.
    interval
        Seconds between two looks at the batches.
    max_requests, max_bytes
        Limits of one batch; more is split. The defaults are those that the openai package documents for its vendor
        (50,000 requests, 200 MB). The rubrics of one report stay together where they fit.

    Returns
    -------
    Summary
        Counts by outcome. What expired, was cancelled or failed for want of capacity is counted as failed: a second
        call submits it again. The judgments are in the store (`Store.select_judgments`); they have no `seconds`, and a
        note says that they came by batch.

    Raises
    ------
    InputError
        When a key is missing, a judge has no vendor's endpoint, another process is at work on the run, or a note of an
        earlier batch cannot be read; nothing was submitted then. Also when an endpoint has no batches.
    ChatError
        When an endpoint fails, a batch is refused whole, or nothing could be done for a configuration. The others
        finish first, and all that was done or submitted is kept.
    """
    limits = {"interval": interval, "max_requests": max_requests, "max_bytes": max_bytes}
    wrong = [f"{name} {value} is too small; give more than 0" for name, value in limits.items() if value <= 0]
    if wrong:
        raise InputError(wrong)
    started = time.perf_counter()
    with store.claim():
        judged = store.judged()
        todo = {custom_id(check.key): check for check in plan if check.key not in judged}
        summary = Summary("judgments", planned=len(plan), skipped=len(plan) - len(todo))
        settings = {check.judge.name: check.judge for check in todo.values()}
        _require_vendors(settings.values())
        async with interruptible(), AsyncExitStack() as stack:
            chats = await open_chats(list(settings.values()), stack)
            notes = Notes(store.folder)
            earlier = notes.read(judged)
            progress = stack.enter_context(tqdm(total=0, desc=summary.what, disable=not todo))
            work = [
                JudgeBatches(
                    judge,
                    chats[name],
                    {one: check for one, check in todo.items() if check.judge.name == name},
                    store,
                    notes,
                    summary,
                    progress,
                )
                for name, judge in settings.items()
            ]
            try:
                async with asyncio.TaskGroup() as group:
                    for one in work:
                        group.create_task(one.run(earlier, interval, Packer(max_requests, max_bytes)))
            except* Exception as errors:
                raise errors.exceptions[0] from None
        summary.seconds = time.perf_counter() - started
        begun = {check.judge.name for check in plan if check.key in judged}
        for one in work:
            one.raise_error(one.judge.name in begun)
        return summary


def _require_vendors(settings: Iterable[JudgeSettings]) -> None:
    faults = [
        f"configuration {one.name!r} has base_url {one.base_url}, and batches need a vendor's endpoint: set base_url "
        "to one, or judge by live calls"
        for one in settings
        if one.runs_here
    ]
    if faults:
        raise InputError(faults)
