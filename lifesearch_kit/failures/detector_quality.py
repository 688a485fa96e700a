"""How well the detectors of failure modes do on reports whose truth is known by construction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.missing import KINDS
from lifesearch_kit.failures.modes import failure_modes

_FIELDS = ("case_id", "language", "query", "cutoff", "status", "text", "modes", "shows", "no_report", "criteria")
_OF_REPORTS = ("premature_clarification", "temporal_scope", "no_report")


class _Unit(NamedTuple):
    """One thing that a detector may find in a case; `placed` where its evidence shows the words that the case names."""

    mode: str
    kind: str
    language: str
    case_id: str
    true: bool
    found: bool
    placed: bool | None


def detector_quality(cases: Iterable[Mapping[str, Any]]) -> pd.DataFrame:
    """Count what the detectors find, miss and wrongly find.

    Parameters
    ----------
    cases
        Made reports, each with case_id, language, query, cutoff (ISO day), status and text; what is true of it: `modes`
        (of reports), `shows` (for a mode, words that its evidence must hold), `no_report` (why there is none, else
        empty); and `criteria`, each a failed `criterion` with the kinds of detail that are `missing`.

    Returns
    -------
    DataFrame
        A row for each mode, kind and language: mode, kind (of missing details, else empty), language, units (reports;
        for details, criteria), true, found, hits, precision and recall (0 to 1, missing where nothing was found or
        nothing is true), placed (share of hits whose evidence shows the named words; missing where none are named),
        missed and false_alarms (their case_ids).

    Raises
    ------
    InputError
        Naming each case that lacks a field.
    """
    rows = list(cases)
    faults = [
        f"case {row.get('case_id', number)!r}: field '{name}' is missing; add it"
        for number, row in enumerate(rows, start=1)
        for name in _FIELDS
        if name not in row
    ]
    if faults:
        raise InputError(faults)
    units = pd.DataFrame([unit for row in rows for unit in _units(row)], columns=list(_Unit._fields))
    groups = units.groupby(["mode", "kind", "language"], sort=False)
    table = [dict(zip(("mode", "kind", "language"), key, strict=True)) | _counts(group) for key, group in groups]
    return pd.DataFrame(table).sort_values(["mode", "kind", "language"], ignore_index=True)


def _counts(units: pd.DataFrame) -> dict[str, Any]:
    true, found = units["true"], units["found"]
    hits = int((true & found).sum())
    placed = units.loc[true & found, "placed"].dropna()
    return {
        "units": len(units),
        "true": int(true.sum()),
        "found": int(found.sum()),
        "hits": hits,
        "precision": hits / found.sum() if found.any() else float("nan"),
        "recall": hits / true.sum() if true.any() else float("nan"),
        "placed": float(placed.astype(bool).mean()) if len(placed) else float("nan"),
        "missed": ", ".join(units.loc[true & ~found, "case_id"]),
        "false_alarms": ", ".join(units.loc[found & ~true, "case_id"]),
    }


def _units(case: Mapping[str, Any]) -> Iterator[_Unit]:
    findings = failure_modes(*_frames(case))
    for mode in _OF_REPORTS:
        own = findings[findings["mode"] == mode]
        true, words = mode in case["modes"], case["shows"].get(mode)
        placed = words in " ".join(own["evidence"]) if words and len(own) else None
        if mode == "no_report" and true and len(own) and own["detail"].iloc[0] != case["no_report"]:
            # A report that is missing for another reason than was found is both missed and a false alarm.
            yield _Unit(mode, "", case["language"], case["case_id"], False, True, None)
            own = own.iloc[:0]
        yield _Unit(mode, "", case["language"], case["case_id"], true, len(own) > 0, placed)
    for place, criterion in enumerate(case["criteria"], start=1):
        cells = findings.loc[findings["rubric_id"] == f"R{place}", "missing"]
        found = {kind for cell in cells for kind in cell.split(", ")}
        name = f"{case['case_id']} R{place}"
        for kind in KINDS:
            true = kind in criterion["missing"]
            yield _Unit("missing_details", kind, case["language"], name, true, kind in found, None)


def _frames(case: Mapping[str, Any]) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame | None]:
    """One case as rubrics, report and judgments that fail all of its criteria."""
    key = {"system": "made", "task_id": case["case_id"], "run": 1}
    criteria = [one["criterion"] for one in case["criteria"]]
    rubrics = pd.DataFrame({"criterion": criteria or [case["query"]]})
    rubrics = rubrics.assign(
        task_id=case["case_id"],
        rubric_id=[f"R{place}" for place in range(1, len(rubrics) + 1)],
        language=case["language"],
        domain="made",
        query=case["query"],
        cutoff=pd.Timestamp(case["cutoff"]),
        dimension=None,
        weight=1.0,
    )
    usable = bool(case["text"].strip()) and case["status"] not in ("asked_back", "empty", "refused")
    report = pd.DataFrame([key | {"text": case["text"], "status": case["status"], "gradable": usable}])
    judgments = rubrics[["task_id", "rubric_id"]].assign(system="made", run=1, judge="made", repeat=1, satisfied=False)
    return rubrics, report, judgments if criteria else None
