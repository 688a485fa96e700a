r"""Criteria with points, some of them negative, as weighted requirements; and scores back on the points' scale.

HealthBench and ResearchRubrics score a report by the points of the criteria that it meets over the positive points in
all, :math:`s = (\sum_{met} p) / T`; a criterion with negative points describes a fault. Here a rubric is passed or
failed, and weights are positive. A fault worth -k becomes "should not show the following", with weight k. With K such
points in a task, a report's score is :math:`s' = (T s + K) / (T + K)`: in one task the order of reports stays, and
`original_score` recovers s. The limits: means over tasks may order systems otherwise, because K / T differs from task
to task; a report that says nothing avoids every fault, so it has K / (T + K) where points give 0 (the kit gives a
missing report 0 without judging it); and judges read "should not" less surely than "should".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lifesearch_kit.errors import InputError
from lifesearch_kit.formats.misfits import Misfit, origin_of
from lifesearch_kit.records import Language, Rubric, Task

Negative = Literal["refuse", "invert", "drop"]
_INVERTED = {
    "en": "The response should not show the following (its absence passes): ",
    "zh": "回复不应出现以下情形（未出现即为通过）：",
}


@dataclass(frozen=True)
class PointedItem:
    """One criterion of another benchmark: where it stands, its points, and the rubric's attributes that are known."""

    place: str
    criterion: str
    points: float
    attributes: Mapping[str, Any] = field(default_factory=dict)


def point_unit(items: Sequence[PointedItem], usual: float) -> float:
    """The points that weigh 1.0: what the format's scale ends at, or the task's largest where that is more."""
    return max([usual, *(abs(item.points) for item in items)])


def require_choice(tasks: Sequence[Sequence[PointedItem]], negative: Negative, path: object) -> None:
    """Refuse criteria with negative points unless it is chosen what becomes of them.

    Raises
    ------
    InputError
        Naming the first one, how many there are, and the choice.
    """
    faults = [item for items in tasks for item in items if item.points < 0]
    if negative != "refuse" or not faults:
        return
    where = sum(any(item.points < 0 for item in items) for items in tasks)
    raise InputError(
        f"{path}: {len(faults)} criteria of {where} tasks have negative points, which no rubric can have; the first is "
        f"{faults[0].place}: {faults[0].points:g} for {faults[0].criterion[:60]!r}; choose negative 'invert' (each "
        "becomes a requirement to avoid it, and scores have another scale, which original_score undoes) or 'drop' "
        "(faults cost nothing)"
    )


def pointed_rubrics(
    items: Sequence[PointedItem], unit: float, negative: Negative, language: Language
) -> tuple[Rubric, ...]:
    """Make rubrics ``R1``, ``R2`` ... of criteria; those that are dropped leave a gap in the numbers."""
    return tuple(
        Rubric(
            rubric_id=f"R{number}",
            criterion=inverted(item.criterion, language) if item.points < 0 else item.criterion,
            weight=abs(item.points) / unit,
            **item.attributes,
        )
        for number, item in enumerate(items, start=1)
        if item.points >= 0 or negative == "invert"
    )


def inverted(criterion: str, language: Language) -> str:
    """The requirement to avoid what a criterion describes."""
    return _INVERTED[language] + criterion


def is_fault(rubric: Rubric, kept: Mapping[str, Any], language: Language) -> bool:
    """Whether a rubric is still the inversion of the criterion that was kept of its origin."""
    text = kept.get("criterion")
    return text is not None and rubric.criterion == inverted(text, language)


def points_misfits(task_id: str, items: Sequence[PointedItem], unit: float, negative: Negative) -> list[Misfit]:
    """What becomes of a task's points, and of each negative one."""
    positive, faults = (sum(abs(item.points) for item in items if (item.points < 0) is sign) for sign in (False, True))
    scaled = f"weight = points / {unit:g}, which leaves a task's score as it is"
    found = [Misfit(kind="changed", task_id=task_id, field="points", treatment=scaled)]
    if faults and negative == "invert":
        told = "score s becomes (T s + K) / (T + K) with T positive and K inverted points; original_score gives s"
        value = f"T = {positive:g}, K = {faults:g}"
        found.append(Misfit(kind="changed", task_id=task_id, field="score", value=value, treatment=told))
    inverts = negative == "invert"
    found += [
        Misfit(
            kind="changed" if inverts else "lost",
            task_id=task_id,
            rubric_id=f"R{number}",
            field="negative points",
            value=f"{item.points:g}: {item.criterion}",
            treatment="inverted: passes where the fault is absent" if inverts else "dropped: the fault costs nothing",
        )
        for number, item in enumerate(items, start=1)
        if item.points < 0
    ]
    return found


def original_score(task: Task, score: float) -> float:
    """A task's score on the scale of the benchmark whose negative points were inverted.

    Parameters
    ----------
    task
        As the reader made it; its rubrics' weights may have been edited since.
    score
        Passed weight over total weight, 0 to 1, of a report that was judged. A missing report has 0 on both scales and
        must not be passed through this.

    Returns
    -------
    float
        Points met over positive points; below 0 where faults outweigh merits. HealthBench cuts the mean over tasks, not
        this, to 0 to 1.

    Raises
    ------
    InputError
        When the task has no criterion with positive points.
    """
    kept = origin_of(task).get("row", {}).get("rubrics", {})
    weights = {True: 0.0, False: 0.0}
    for one in task.rubrics:
        weights[is_fault(one, kept.get(one.rubric_id, {}), task.language)] += one.weight
    positive, faults = weights[False], weights[True]
    if positive <= 0:
        raise InputError(f"task {task.task_id!r}: no criterion has positive points, so it has no score there")
    return (score * (positive + faults) - faults) / positive
