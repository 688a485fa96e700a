"""Reports to judge again with changes that must not matter: each transformed, and named as a system of its own.

A judge reads what others wrote. Its verdict must follow from what the report says on the criterion, so it must not move
when the report also holds a verdict, flatters the grader, or carries a paragraph about something else.
`lifesearch_kit.judge.flip_rates` counts how often it does; `lifesearch_kit.judge.transformations` holds the changes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from lifesearch_kit.errors import InputError
from lifesearch_kit.judge.transformations import TRANSFORMATIONS
from lifesearch_kit.records import Report


class TransformedReports(NamedTuple):
    """The changed reports, and as pairs of kind and report those that a kind left as they are."""

    reports: list[Report]
    unchanged: list[tuple[str, Report]]


def transformed_reports(reports: Iterable[Report], kinds: Sequence[str] = ()) -> TransformedReports:
    """Make the changed reports, ready for `plan_checks` and `grade`.

    Parameters
    ----------
    reports
        As they were graded. Those without anything to grade are left out: a planted text is no report.
    kinds
        Names from `TRANSFORMATIONS`; empty takes all.

    Returns
    -------
    TransformedReports
        In the order of reports, then kinds. A changed report is its original's record with another text and the kind
        in the system's name (`transformed_system`), so that its judgments have keys of their own and may lie in one
        store and one table with all others; tokens, cost and transcript are the original's.

    Raises
    ------
    InputError
        Naming each unknown kind, and each system whose name already ends in one.
    """
    every = [one for one in reports if one.is_gradable]
    known = ", ".join(map(repr, TRANSFORMATIONS))
    faults = [
        f"kind {kind!r} is no transformation; choose from {known}" for kind in kinds if kind not in TRANSFORMATIONS
    ]
    faults += [
        f"system {system!r} is named as a transformed one; give the untransformed reports, or rename it"
        for system in dict.fromkeys(one.system for one in every)
        if split_system(system)[1]
    ]
    if faults:
        raise InputError(faults)
    made = TransformedReports([], [])
    for report, kind in itertools.product(every, dict.fromkeys(kinds or TRANSFORMATIONS)):
        text = TRANSFORMATIONS[kind].apply(report.text)
        if text == report.text:
            made.unchanged.append((kind, report))
        else:
            named = {
                "system": transformed_system(report.system, kind),
                "notes": (*report.notes, f"transformed: {kind}"),
            }
            made.reports.append(report.model_copy(update={"text": text, **named}))
    return made


def transformed_system(system: str, kind: str) -> str:
    """The system's name in the key of a transformed report, such as ``my-agent [neutral padding]``."""
    return f"{system} [{kind}]"


def split_system(name: str) -> tuple[str, str | None]:
    """Undo `transformed_system`: the system and the kind, which is None for an untransformed report's."""
    kind = next((kind for kind in TRANSFORMATIONS if name.endswith(transformed_system("", kind))), None)
    return (name, None) if kind is None else (name.removesuffix(transformed_system("", kind)), kind)
