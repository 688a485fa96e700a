"""What people have answered so far: how far they are, where they differ, and the labels that come of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.labeling.answer_files import REFERENCE, latest, people
from lifesearch_kit.labeling.items import LabelItem
from lifesearch_kit.labeling.labels import ANSWERS, ITEM_KEY, LabelAnswer, answer_file
from lifesearch_kit.records import Label, Report, Task


@dataclass(frozen=True)
class Disagreement:
    """An item that people labelled differently, with the label of each."""

    item: LabelItem
    labels: tuple[Label, ...]

    @property
    def verdicts(self) -> dict[str, bool]:
        """What each annotator decided."""
        return {label.annotator: label.satisfied for label in self.labels}


@dataclass(frozen=True)
class Study:
    """Items, the annotators who label all of them, and the labels so far; others' and other items' stay out."""

    items: Sequence[LabelItem]
    annotators: Sequence[str]
    labels: Sequence[Label]

    def by_item(self) -> dict[tuple[str, ...], dict[str, Label]]:
        """Labels by item and annotator; those of an earlier question, text or criterion are left out."""
        items = {_label_key(one): one for one in self.items}
        found: dict[tuple[str, ...], dict[str, Label]] = {one.key: {} for one in self.items}
        for label in self.labels:
            item = items.get((label.system, label.task_id, label.run, label.rubric_id))
            known = item is not None and label.annotator in self.annotators
            if item is not None and known and label.fingerprint in ("", item.fingerprint):
                found[item.key][label.annotator] = label
        return found

    def current_labels(self) -> list[Label]:
        """The labels that count, annotator by annotator."""
        by_item = self.by_item()
        return [one[name] for name in self.annotators for one in by_item.values() if name in one]

    def progress(self) -> pd.DataFrame:
        """How far each annotator is, and nothing about what they answered.

        Returns
        -------
        DataFrame
            A row an annotator: annotator, labelled, items, finished.
        """
        by_item = self.by_item()
        counts = [sum(name in one for one in by_item.values()) for name in self.annotators]
        total = len(self.items)
        rows = [(name, count, total, count == total) for name, count in zip(self.annotators, counts, strict=True)]
        return pd.DataFrame(rows, columns=["annotator", "labelled", "items", "finished"])

    @property
    def finished(self) -> bool:
        """Whether there are two annotators or more, and all of them have labelled every item."""
        return len(self.annotators) > 1 and bool(self.progress()["finished"].all())

    def disagreements(self) -> list[Disagreement]:
        """Items that all labelled, and not alike, in the items' order."""
        by_item = self.by_item()
        found = []
        for item in self.items:
            own = by_item[item.key]
            if len(own) == len(self.annotators) and len({one.satisfied for one in own.values()}) > 1:
                found.append(Disagreement(item, tuple(own[name] for name in self.annotators)))
        return found


def study_of_answers(items: Sequence[LabelItem], folder: Path, annotators: Sequence[str] = ()) -> Study:
    """What people have answered so far in a folder of labels; without names, everybody who has begun.

    Raises
    ------
    InputError
        Listing the faults of all files together.
    """
    given = read_answers(folder, annotators)
    return Study(items, list(given), [label for own in given.values() for label in labels_of(own, items)])


def study_of_labels(labels: Iterable[Label], tasks: Iterable[Task], reports: Iterable[Report]) -> Study:
    """Labels that were made elsewhere, of all that anybody labelled; the reference is no annotator."""
    given = [one for one in labels if one.annotator != REFERENCE]
    keys = {(one.system, one.task_id, one.run, one.rubric_id) for one in given}
    items = [one for one in all_items(tasks, reports) if _label_key(one) in keys]
    return Study(items, sorted({one.annotator for one in given}), given)


def read_answers(folder: Path, annotators: Iterable[str] = ()) -> dict[str, list[LabelAnswer]]:
    """The last answer of each person to each item, by person.

    Parameters
    ----------
    folder
        The folder of labels.
    annotators
        Whose; none takes everybody with a file.

    Raises
    ------
    InputError
        Listing the faults of all files together.
    """
    faults: list[str] = []
    given = {}
    for name in annotators or people(folder / ANSWERS):
        try:
            given[name] = list(latest(answer_file(folder, name).read(), *ITEM_KEY).values())
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return given


def labels_of(answers: Iterable[LabelAnswer], items: Iterable[LabelItem]) -> list[Label]:
    """Answers as labels, with the systems' names. Notes alone are none, nor are answers to other items."""
    by_key = {item.key: item for item in items}
    labels = []
    for answer in answers:
        item = by_key.get((answer.task_id, answer.rubric_id, answer.report))
        if item is None or answer.satisfied is None:
            continue
        labels.append(
            Label(
                system=item.report.system,
                task_id=item.task.task_id,
                run=item.report.run,
                rubric_id=item.rubric.rubric_id,
                annotator=answer.annotator,
                satisfied=answer.satisfied,
                note=answer.note,
                fingerprint=answer.fingerprint,
            )
        )
    return labels


def all_items(tasks: Iterable[Task], reports: Iterable[Report]) -> list[LabelItem]:
    """Every rubric of every report, to find what answers of earlier samples were about."""
    by_task = {task.task_id: task for task in tasks}
    return [
        LabelItem(by_task[report.task_id], rubric, report)
        for report in reports
        if report.task_id in by_task
        for rubric in by_task[report.task_id].rubrics
    ]


def _label_key(item: LabelItem) -> tuple[str, str, int, str]:
    return item.report.system, item.task.task_id, item.report.run, item.rubric.rubric_id
