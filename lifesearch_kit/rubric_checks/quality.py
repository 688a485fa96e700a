"""How well the checks do on rubrics whose faults are known."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.rubric_checks.checking import CHECKS, check_rubrics

_FIELDS = ("task_id", "rubric_id", "language", "query", "cutoff", "criterion", "type", "priority", "fault", "shows")


def check_quality(cases: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Count what the checks of single criteria find, miss and wrongly find.

    Parameters
    ----------
    cases
        Made rubrics, each with task_id, rubric_id, language, query, cutoff (ISO day or None), criterion, type,
        priority; `fault`, the check that ought to find it, empty for a good one; and `shows`, words that the finding's
        span must hold or lie within.

    Returns
    -------
    DataFrame
        A row for each check and language that has a case: check, language, rubrics (of that language), true (with the
        fault), found, hits, precision and recall (0 to 1; precision is missing where nothing was found), placed (share
        of hits at the named words), missed and false_alarms (task and rubric, joined by ", ").

    Raises
    ------
    InputError
        Naming each case that lacks a field or names an unknown check.
    """
    rows = list(cases)
    faults = [
        f"case {number}: field '{name}' is missing; add it"
        for number, row in enumerate(rows, start=1)
        for name in _FIELDS
        if name not in row
    ]
    faults += [
        f"case {number}: field 'fault': {row['fault']!r} is no check; choose from {', '.join(CHECKS)}"
        for number, row in enumerate(rows, start=1)
        if row.get("fault") and row["fault"] not in CHECKS
    ]
    if faults:
        raise InputError(faults)
    table = pd.DataFrame(rows)
    tested = [one for one in CHECKS if one in set(table["fault"])]
    findings = check_rubrics(_rubrics(table), ignore=set(CHECKS) - set(tested))
    table["name"] = table["task_id"] + " " + table["rubric_id"]
    findings["name"] = findings["task_id"] + " " + findings["rubric_id"]
    return pd.DataFrame(
        [
            {"check": check, "language": language, "rubrics": len(own)} | _counts(own, check, findings)
            for check in tested
            for language, own in table.groupby("language")
            if check in set(own["fault"])
        ]
    )


def _counts(own: pd.DataFrame, check: str, findings: pd.DataFrame) -> dict[str, Any]:
    mine = findings[(findings["check"] == check) & findings["name"].isin(own["name"])]
    true = {row["name"]: row["shows"] for row in own.to_dict("records") if row["fault"] == check}
    found = dict.fromkeys(mine["name"])
    hits = [name for name in found if name in true]
    spans = mine.groupby("name")["span"].agg(list)
    placed = [any(true[name] in span or span in true[name] for span in spans[name]) for name in hits]
    return {
        "true": len(true),
        "found": len(found),
        "hits": len(hits),
        "precision": len(hits) / len(found) if found else float("nan"),
        "recall": len(hits) / len(true),
        "placed": sum(placed) / len(hits) if hits else float("nan"),
        "missed": ", ".join(name for name in true if name not in found),
        "false_alarms": ", ".join(name for name in found if name not in true),
    }


def _rubrics(table: pd.DataFrame) -> pd.DataFrame:
    """Made rubrics with what is the same for all."""
    return table.assign(
        cutoff=pd.to_datetime(table["cutoff"]), necessity="Explicit", weight=0.5, dimension=None, domain="made"
    )
