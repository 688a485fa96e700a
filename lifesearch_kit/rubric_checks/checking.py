"""All checks of a benchmark's rubrics at once, as one tidy table of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.rubric_checks.criteria import Criterion, Finding, criterion_of
from lifesearch_kit.rubric_checks.duplicates import near_duplicates
from lifesearch_kit.rubric_checks.facts import missing_fact, single_recommendation
from lifesearch_kit.rubric_checks.figures import missing_date, missing_tolerance, missing_unit
from lifesearch_kit.rubric_checks.references import not_self_contained
from lifesearch_kit.rubric_checks.requirements import not_operational, subjective_must_have, two_requirements
from lifesearch_kit.rubric_checks.weights import share_findings, task_findings, weight_findings
from lifesearch_kit.rubric_checks.wording import negative_wording, vague_wording

FINDING_COLUMNS = ("task_id", "rubric_id", "check", "severity", "start", "end", "span", "message", "remedy")
_OF_CRITERIA: tuple[Callable[[Criterion], Iterator[Finding]], ...] = (
    two_requirements,
    not_self_contained,
    missing_fact,
    missing_tolerance,
    missing_unit,
    missing_date,
    negative_wording,
    vague_wording,
    not_operational,
    single_recommendation,
    subjective_must_have,
)
# An error breaks a rule for certain; a warning is for a person to decide on.
SEVERITIES = {
    **{check.__name__: "warning" for check in _OF_CRITERIA},
    "near_duplicate": "warning",
    "subjective_must_have": "error",
    "weight_step": "error",
    "zero_weight": "error",
    "task_weight": "warning",
    "rubric_count": "error",
    "missing_dimension": "warning",
    "attribute_shares": "warning",
}
CHECKS = tuple(SEVERITIES)


class _Row(NamedTuple):
    """One row of the table."""

    task_id: str | None
    rubric_id: str | None
    check: str
    severity: str
    start: int | None
    end: int | None
    span: str
    message: str
    remedy: str


def check_rubrics(rubrics: pd.DataFrame, ignore: Iterable[str] = ()) -> pd.DataFrame:
    """Hold rubrics against the LifeSearch paper's writing rules, Chinese and English alike.

    The checks read words, not meaning: a finding is a place to look at.

    Parameters
    ----------
    rubrics
        A row a rubric, as `frames.rubrics_frame` gives it: task_id, rubric_id, query, cutoff, criterion, type,
        necessity, priority, weight, dimension.
    ignore
        Names of `CHECKS` to leave out.

    Returns
    -------
    DataFrame
        A row a finding, in the order of the rubrics, those of a task as a whole behind its rubrics', those of all tasks
        last: task_id, rubric_id (missing where no single one is meant), check, severity (``error``: breaks a rule for
        certain; ``warning``: a person decides), start and end (characters of the criterion; missing where its wording
        is not meant), span (those characters), message, remedy.

    Raises
    ------
    InputError
        Naming each check that is unknown.
    """
    left_out = frozenset(ignore)
    unknown = sorted(left_out - set(CHECKS))
    if unknown:
        raise InputError([f"check {one!r} is unknown; choose from {', '.join(CHECKS)}" for one in unknown])
    if rubrics.empty:
        return findings_frame([])
    rows = [row for row in _rows(rubrics, left_out) if row.check not in left_out]
    order = {key: at for at, key in enumerate(zip(rubrics["task_id"], rubrics["rubric_id"], strict=True))}
    last = {task: at for (task, _), at in order.items()}
    rows.sort(key=lambda row: order.get((row.task_id, row.rubric_id), last.get(row.task_id, len(order)) + 0.5))
    return findings_frame(rows)


def findings_frame(rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
    """Findings as a table with its types, empty or not."""
    frame = pd.DataFrame(rows, columns=list(FINDING_COLUMNS))
    return frame.astype({"start": "Int64", "end": "Int64"} | dict.fromkeys(("task_id", "rubric_id"), "object"))


def _rows(rubrics: pd.DataFrame, left_out: frozenset[str]) -> Iterator[_Row]:
    checks = [one for one in _OF_CRITERIA if one.__name__ not in left_out]
    row: Any
    for row in rubrics.itertuples():
        criterion = criterion_of(
            row.criterion, query=row.query, has_cutoff=pd.notna(row.cutoff), type=row.type, priority=row.priority
        )
        for check in checks:
            for one in check(criterion):
                span = row.criterion[one.start : one.end]
                yield _row(row.task_id, row.rubric_id, one.check, one.start, one.end, span, one.message, one.remedy)
    if "near_duplicate" not in left_out:
        for task, own in rubrics.groupby("task_id", sort=False):
            yield from _duplicate_rows(str(task), own)
    for found in (weight_findings, task_findings, share_findings):
        for whole in found(rubrics):
            yield _row(whole.task_id, whole.rubric_id, whole.check, None, None, "", whole.message, whole.remedy)


def _duplicate_rows(task: str, own: pd.DataFrame) -> Iterator[_Row]:
    names, criteria = list(own["rubric_id"]), list(own["criterion"])
    for pair in near_duplicates(criteria, str(own["query"].iloc[0])):
        first, text = names[pair.first], criteria[pair.second]
        message = f"asks for the same as {first} ({criteria[pair.first]!r}): what both ask for counts twice"
        yield _row(
            task,
            names[pair.second],
            "near_duplicate",
            0,
            len(text),
            text,
            message,
            f"keep one of the two, or say in each what {first} leaves open",
        )


def _row(
    task: str | None,
    rubric: str | None,
    check: str,
    start: int | None,
    end: int | None,
    span: str,
    message: str,
    remedy: str,
) -> _Row:
    return _Row(task, rubric, check, SEVERITIES[check], start, end, span, message, remedy)
