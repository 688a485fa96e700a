"""The items that are labelled, their order for a person, and the passages that a criterion points to."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.evidence import passages
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.labeling.blinding import report_code
from lifesearch_kit.records import REPORT_KEY, Report, Rubric, Task, subject_fingerprint
from lifesearch_kit.terms import key_terms
from lifesearch_kit.views.report_html import Highlight

MOST_PASSAGES = 3
_FEWEST_TERMS = 2


@dataclass(frozen=True)
class LabelItem:
    """One rubric of one report."""

    task: Task
    rubric: Rubric
    report: Report

    @property
    def key(self) -> tuple[str, str, str]:
        """Task, rubric, and the report's code, which names no system."""
        return self.task.task_id, self.rubric.rubric_id, report_code(self.report)

    @property
    def fingerprint(self) -> str:
        """Of what an annotator sees: an answer for another one is an answer to another question."""
        return subject_fingerprint(self.task, self.rubric, self.report)


def label_items(sample: pd.DataFrame, tasks: Iterable[Task], reports: Iterable[Report]) -> list[LabelItem]:
    """The items of a sample, in its order.

    Raises
    ------
    InputError
        For rows whose task, rubric or report is not there.
    """
    by_task = {task.task_id: task for task in tasks}
    rubrics = {(task.task_id, one.rubric_id): one for task in by_task.values() for one in task.rubrics}
    texts = {tuple(getattr(one, name) for name in REPORT_KEY): one for one in reports}
    items, faults = [], []
    for row in sample.itertuples(index=False):
        rubric, report = rubrics.get((row.task_id, row.rubric_id)), texts.get((row.system, row.task_id, row.run))
        if rubric is None or report is None:
            missing = f"rubric {row.rubric_id!r}" if rubric is None else f"report of {row.system!r}, run {row.run}"
            faults.append(f"sample, task {row.task_id!r}: there is no {missing}; draw the sample again")
        else:
            items.append(LabelItem(by_task[row.task_id], rubric, report))
    if faults:
        raise InputError(faults)
    return items


def personal_order(items: Sequence[LabelItem], annotator: str, seed: int) -> list[LabelItem]:
    """The items in a person's own order: reports shuffled, a report's items together and shuffled.

    Everybody gets the same items; with orders of their own, what comes late and finds people tired differs.
    """
    rng = personal_generator(annotator, seed)
    grouped: dict[str, list[LabelItem]] = {}
    for one in sorted(items, key=lambda item: item.key):
        grouped.setdefault(report_code(one.report), []).append(one)
    codes = sorted(grouped)
    shuffled = [grouped[codes[at]] for at in rng.permutation(len(codes))]
    return [group[at] for group in shuffled for at in rng.permutation(len(group))]


def personal_generator(annotator: str, seed: int) -> np.random.Generator:
    """Random numbers of one person: the same for the same name and seed."""
    return np.random.default_rng([seed, int(fingerprint("annotator", annotator), 16)])


def named_passages(text: str, criterion: str) -> list[Highlight]:
    """Up to three passages that share most of a criterion's subject terms, the closest first, headings aside.

    A search for words: what is required may stand elsewhere, or in other words.
    """
    wanted = frozenset(key_terms(criterion))
    found = [
        (len(one.terms & wanted), one.span)
        for one in passages(text)
        if not one.span.quote.startswith("#") and len(one.terms & wanted) >= _FEWEST_TERMS
    ]
    found.sort(key=lambda one: (-one[0], one[1].start))
    least = found[0][0] / 2 if found else 0
    near = [span for count, span in found[:MOST_PASSAGES] if count >= least]
    return [Highlight(span.start, span.end, number) for number, span in enumerate(near, start=1)]
