"""Findings that are meant as they are: a file beside the tasks that says why, one a line."""

from __future__ import annotations

import difflib

import pandas as pd
from pydantic import ValidationInfo, field_validator

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text
from lifesearch_kit.files import read_records
from lifesearch_kit.records import Record
from lifesearch_kit.rows import PathLike
from lifesearch_kit.rubric_checks.checking import CHECKS, findings_frame

_KEY = ["task_id", "rubric_id", "check", "span"]


class AcceptedFinding(Record):
    """One finding that a person has read and lets stand, as long as the criterion still says the same words.

    Without a rubric it is a finding of the task, without a task one of the whole benchmark.
    """

    task_id: Id | None = None
    rubric_id: Id | None = None
    check: str
    span: str = ""
    reason: Text

    @field_validator("check")
    @classmethod
    def _known(cls, check: str, info: ValidationInfo) -> str:
        if check in CHECKS:
            return check
        near = difflib.get_close_matches(check, CHECKS, n=1)
        raise ValueError(f"is no check; did you mean '{near[0]}'?" if near else f"is no check; use {', '.join(CHECKS)}")


def read_accepted(path: PathLike) -> list[AcceptedFinding]:
    """Read accepted findings from JSON Lines; no two may be of the same place. Raises InputError."""
    return read_records(path, AcceptedFinding, key=_KEY)


def without_accepted(findings: pd.DataFrame, accepted: list[AcceptedFinding], where: PathLike) -> pd.DataFrame:
    """Leave out the accepted findings.

    Parameters
    ----------
    findings
        What `check_rubrics` gave, of all checks.
    where
        The file that they were read from, for the error.

    Raises
    ------
    InputError
        Naming each accepted finding that is not found any more: the words have changed, and nobody has read the new.
    """
    keys = {tuple(getattr(one, name) for name in _KEY) for one in accepted}
    there = [
        tuple(None if pd.isna(value) else value for value in row)
        for row in findings[_KEY].itertuples(index=False, name=None)
    ]
    gone = [one for one in accepted if tuple(getattr(one, name) for name in _KEY) not in set(there)]
    if gone:
        raise InputError(
            [
                f"{where}: task {one.task_id!r}, rubric {one.rubric_id!r}, check '{one.check}', span {one.span!r}: "
                "is not found any more; remove the line, or accept what is found now"
                for one in gone
            ]
        )
    kept = [row for row, key in zip(findings.itertuples(index=False, name=None), there, strict=True) if key not in keys]
    return findings_frame(kept)
