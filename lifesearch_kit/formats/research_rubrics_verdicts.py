"""Verdicts of ResearchRubrics' own grader as judgments; what it calls partly satisfied is neither Pass nor Fail."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Said, Text
from lifesearch_kit.files import validated
from lifesearch_kit.formats.foreign import Foreign
from lifesearch_kit.formats.misfits import Misfit, origin_of
from lifesearch_kit.formats.points import is_fault
from lifesearch_kit.records import Judgment, Task
from lifesearch_kit.rows import PathLike, Row, read_rows

Partial = Literal["refuse", "pass", "fail"]
_MET, _NOT_MET, _PARTLY = "Satisfied", "Not Satisfied", "Partially Satisfied"


class Graded(NamedTuple):
    """Judgments of another grader, and what did not fit."""

    judgments: list[Judgment]
    misfits: list[Misfit]


class _Verdict(Foreign):
    sample_id: Id
    rubric_title: Text
    verdict: Said
    reasoning: Said = ""
    success: bool = True


def read_research_rubrics_verdicts(
    path: PathLike, tasks: Iterable[Task], *, system: str, judge: str, run: int = 1, partial: Partial = "refuse"
) -> Graded:
    """Read the verdicts on one system's reports.

    Parameters
    ----------
    path
        JSON Lines of sample_id, rubric_title (the criterion's text), verdict, reasoning and success.
    tasks
        As `read_research_rubrics` gives them; a verdict finds its rubric by the criterion's text there.
    system, judge, run
        What the file does not say: whose reports, graded by what, and which run of the system.
    partial
        What becomes of ``Partially Satisfied``, which is worth half a criterion's points there: ``refuse``, ``pass``
        (half of them too many) or ``fail`` (half too few).

    Returns
    -------
    Graded
        By the file's order. A met criterion with negative points is a rubric that fails. A call that failed, which its
        grader counts as a score of 0, is no verdict: its judgment has the status ``error``, an unknown verdict
        ``unparseable``.

    Raises
    ------
    InputError
        Listing every fault: samples and criteria that no task has, a criterion that a task has twice, two verdicts on
        one rubric, partial verdicts where nothing was chosen.
    """
    rows, faults = read_rows(path)
    known = {task.task_id: task for task in tasks}
    texts = {task.task_id: _by_text(task) for task in known.values()}
    judgments: dict[tuple[str, str], Judgment] = {}
    misfits: list[Misfit] = []
    for row, one in validated(rows, _Verdict, None, faults):
        found = _criterion(row, one, texts, faults)
        if found is None:
            continue
        if (one.sample_id, found.rubric_id) in judgments:
            faults.append(f"{row.place}: its {found.rubric_id} has a verdict already; keep one")
        if one.success and one.verdict == _PARTLY and partial == "refuse":
            faults.append(f"{row.place}: field 'verdict': {_PARTLY!r} is neither; choose partial 'pass' or 'fail'")
        misfits += _misfits(one, found, partial)
        if not found.is_dropped:
            judgments[one.sample_id, found.rubric_id] = Judgment(
                system=system,
                task_id=one.sample_id,
                run=run,
                rubric_id=found.rubric_id,
                judge=judge,
                reason=one.reasoning,
                **_decision(one, partial, found.is_fault),
            )
    if faults:
        raise InputError(faults)
    return Graded(list(judgments.values()), misfits)


class _Criterion(NamedTuple):
    rubric_id: str
    is_fault: bool
    is_dropped: bool


def _by_text(task: Task) -> dict[str, list[_Criterion]]:
    """A task's criteria by their texts in the file that they came from."""
    kept: Mapping[str, Any] = origin_of(task).get("row", {}).get("rubrics", {})
    found: dict[str, list[_Criterion]] = {}
    for one in task.rubrics:
        fault = is_fault(one, kept.get(one.rubric_id, {}), task.language)
        text = kept[one.rubric_id]["criterion"] if fault else one.criterion
        found.setdefault(text, []).append(_Criterion(one.rubric_id, fault, False))
    for name in origin_of(task).get("dropped", ()):
        found.setdefault(kept[name]["criterion"], []).append(_Criterion(name, True, True))
    return found


def _criterion(
    row: Row, one: _Verdict, texts: Mapping[str, Mapping[str, list[_Criterion]]], faults: list[str]
) -> _Criterion | None:
    if one.sample_id not in texts:
        faults.append(f"{row.place}: field 'sample_id': {one.sample_id!r} is no task; use the file of its tasks")
        return None
    found = texts[one.sample_id].get(one.rubric_title, [])
    if len(found) != 1:
        faults.append(
            f"{row.place}: field 'rubric_title': {len(found) or 'none'} of the criteria of {one.sample_id!r} have this "
            "text; use files of one version, and make texts unique"
        )
        return None
    return found[0]


def _decision(one: _Verdict, partial: Partial, fault: bool) -> dict[str, Any]:
    met = {_MET: True, _NOT_MET: False, _PARTLY: (partial == "pass") is not fault}.get(one.verdict)
    if not one.success or one.verdict == "Error":
        return {"satisfied": None, "status": "error", "raw": one.verdict}
    if met is None:
        return {"satisfied": None, "status": "unparseable", "raw": one.verdict}
    return {"satisfied": met is not fault, "status": "ok", "raw": one.verdict}


def _misfits(one: _Verdict, found: _Criterion, partial: Partial) -> list[Misfit]:
    told = f"read as {partial}: half of the criterion's points too {'many' if partial == 'pass' else 'few'}"
    if found.is_dropped:
        told = "its criterion has negative points and was dropped"
    elif not one.success or one.verdict != _PARTLY:
        return []
    return [
        Misfit(
            kind="lost" if found.is_dropped else "changed",
            task_id=one.sample_id,
            rubric_id=found.rubric_id,
            field="verdict",
            value=one.verdict,
            treatment=told,
        )
    ]
