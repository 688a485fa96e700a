"""Weights in tenths, as the kit's own files have them."""

from __future__ import annotations

from collections.abc import Iterable

from lifesearch_kit.formats.misfits import Conversion, Misfit
from lifesearch_kit.records import Task

_EQUAL = 1e-9


def weights_in_tenths(tasks: Iterable[Task]) -> Conversion:
    """Round weights to tenths, in tasks where one is none; the largest of such a task becomes 1.0 first.

    Returns
    -------
    Conversion
        The tasks, and for each that changed the most that any report's score can change by: half the sum of the changes
        of the rubrics' shares, which a report reaches that passes just those that grew. Rubrics whose weight becomes 0
        no longer count, and are named.
    """
    done: list[Task] = []
    misfits: list[Misfit] = []
    for task in tasks:
        weights = [one.weight for one in task.rubrics]
        if all(abs(10 * weight - round(10 * weight)) < _EQUAL for weight in weights):
            done.append(task)
            continue
        rounded = [round(10 * weight / max(weights)) / 10 for weight in weights]
        bound = _largest_change(weights, rounded)
        pairs = zip(task.rubrics, rounded, strict=True)
        done.append(
            task.model_copy(update={"rubrics": tuple(one.model_copy(update={"weight": w}) for one, w in pairs)})
        )
        told = "rounded to tenths, the largest being 1.0; the value is the most that a score can change by"
        found = Misfit(
            kind="changed", task_id=task.task_id, field="weight", value=f"{100 * bound:.2f} points", treatment=told
        )
        misfits += [found, *_vanished(task, rounded)]
    return Conversion(done, misfits)


def _largest_change(before: list[float], after: list[float]) -> float:
    shares = zip(before, after, strict=True)
    return sum(abs(one / sum(before) - other / sum(after)) for one, other in shares) / 2


def _vanished(task: Task, rounded: list[float]) -> list[Misfit]:
    return [
        Misfit(
            kind="lost",
            task_id=task.task_id,
            rubric_id=one.rubric_id,
            field="weight",
            value=f"{one.weight:g}",
            treatment="rounded to 0.0: the rubric no longer counts",
        )
        for one, weight in zip(task.rubrics, rounded, strict=True)
        if weight == 0 and one.weight > 0
    ]
