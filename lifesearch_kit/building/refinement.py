"""Expert refinement: subtasks, capabilities and the final query of a selected one, and the checks on them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal, NamedTuple, get_args

import pandas as pd
from pydantic import Field

from lifesearch_kit.building.beginnings import Begun, begin_with
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Day, Id, Text
from lifesearch_kit.files import read_records
from lifesearch_kit.records import Record
from lifesearch_kit.terms import is_chinese, key_terms
from lifesearch_kit.text import fold

SubtaskType = Literal["Lookup", "Compute", "Compare", "Reason"]
Capability = Literal["SP", "IS", "CR", "UH"]
CAPABILITIES = {
    "SP": "Search Planning",
    "IS": "Information Synthesis",
    "CR": "Conflict Resolution",
    "UH": "Uncertainty Handling",
}
FEWEST_SUBTASKS, MOST_SUBTASKS, USUAL_CAPABILITIES = 2, 4, 2
_SHARED_TERMS = 0.5
_LISTED = re.compile(r"^\s*(?:\d+[.)、]|[-*•]|[（(]\d+[)）])\s*\S", re.MULTILINE)


class Subtask(Record):
    """One part of a task (the LifeSearch paper, how tasks are made)."""

    description: Text
    type: SubtaskType


class Refinement(Record):
    """What an expert made of one selected query: its subtasks, the capabilities that it tests, and the final query.

    `cutoff` is the last day whose facts a report may use, where the final query sets one.
    """

    query_id: Id
    query: Text
    subtasks: Annotated[tuple[Subtask, ...], Field(strict=False)]
    capabilities: Annotated[tuple[Capability, ...], Field(strict=False)]
    cutoff: Day | None = None
    note: str = ""


class Finding(NamedTuple):
    """What a check found. `must`: it keeps the refinement from becoming a task; otherwise it is to be looked at."""

    query_id: str
    check: str
    must: bool
    field: str
    value: str
    remedy: str


def read_refinements(path: str | os.PathLike[str]) -> list[Refinement]:
    """Read refinements; none where the file is not there yet.

    Raises
    ------
    InputError
        Listing every fault with file, line and field: an unknown type or capability, a blank text, an id twice.
    """
    if Path(path).suffix == ".csv":
        raise InputError(f"{path}: refinements hold lists of subtasks, for which a CSV has no place; write .jsonl")
    return read_records(path, Refinement, key=("query_id",)) if Path(path).exists() else []


def begin_refinements(path: Path, source: Path | None) -> Begun:
    """Begin the refinements with those of another file (``.jsonl`` or ``.json``); see `begin_with`."""
    return begin_with(path, source, read_refinements)


def check_refinement(refinement: Refinement, table: pd.DataFrame) -> list[Finding]:
    """Hold one refinement against the method's rules and against the query that was selected.

    Parameters
    ----------
    table
        `selection_table`'s: what the query was before.
    """
    row = table[(table["query_id"] == refinement.query_id) & (table["decision"] == "keep")]
    found = [*_subtasks(refinement), *_capabilities(refinement), *_form(refinement)]
    if row.empty:
        remedy = "keep the query in the selection first, or take the refinement out"
        found.append(("not_selected", True, "query_id", refinement.query_id, remedy))
    else:
        found += _intent(refinement, str(row["query"].iloc[0]))
    return [Finding(refinement.query_id, *one) for one in found]


Found = tuple[str, bool, str, str, str]


def _subtasks(refinement: Refinement) -> Iterator[Found]:
    count = len(refinement.subtasks)
    if not FEWEST_SUBTASKS <= count <= MOST_SUBTASKS:
        remedy = f"write {FEWEST_SUBTASKS} to {MOST_SUBTASKS}: " + ("split it" if count < 2 else "join or drop some")
        yield "subtask_count", True, "subtasks", f"{count} subtasks", remedy
    said: set[str] = set()
    for number, subtask in enumerate(refinement.subtasks):
        if fold(subtask.description) in said:
            remedy = "say what it adds, or take it out"
            yield "subtask_repeated", True, f"subtasks.{number}.description", subtask.description, remedy
        said.add(fold(subtask.description))


def _capabilities(refinement: Refinement) -> Iterator[Found]:
    named = refinement.capabilities
    value = ", ".join(named) or "none"
    if not named:
        yield "capability_count", True, "capabilities", value, f"name those it tests, of {', '.join(CAPABILITIES)}"
    elif len(set(named)) < len(named):
        yield "capability_repeated", True, "capabilities", value, "name each once"
    elif len(named) != USUAL_CAPABILITIES:
        remedy = f"{USUAL_CAPABILITIES} is usual: see whether one is missing, or one not really tested"
        yield "capability_count", False, "capabilities", value, remedy


def _form(refinement: Refinement) -> Iterator[Found]:
    listed = len(_LISTED.findall(refinement.query))
    if listed >= len(refinement.subtasks) > 1:
        remedy = "write one coherent query as a person would ask it, not a list of subtasks"
        yield "one_natural_query", False, "query", f"{listed} list items", remedy


def _intent(refinement: Refinement, before: str) -> Iterator[Found]:
    if is_chinese(before) != is_chinese(refinement.query):
        yield "query_language", True, "query", refinement.query[:60], "keep the language of the selected query"
        return
    terms = key_terms(before)
    shared = set(terms) & set(key_terms(refinement.query))
    if terms and len(shared) < _SHARED_TERMS * len(terms):
        missing = ", ".join(term for term in terms if term not in shared)
        remedy = "see whether the user's intent is still there"
        yield "intent_kept", False, "query", f"{len(shared)} of {len(terms)} terms left; gone: {missing:.120}", remedy


def find_faults(refinements: Sequence[Refinement], table: pd.DataFrame) -> list[Finding]:
    """What `check_refinement` finds of each, and final queries that an earlier refinement has already."""
    found: list[Finding] = []
    first: dict[str, str] = {}
    for refinement in refinements:
        found += check_refinement(refinement, table)
        other = first.setdefault(fold(refinement.query), refinement.query_id)
        if other != refinement.query_id:
            remedy = f"{other!r} has the same final query: write one that differs, or take one of them out"
            found.append(Finding(refinement.query_id, "query_repeated", True, "query", refinement.query, remedy))
    return found


def check_refinements(refinements: Sequence[Refinement], table: pd.DataFrame) -> pd.DataFrame:
    """All that `find_faults` finds, a row each, columns as Finding's; what must be mended first."""
    frame = pd.DataFrame(find_faults(refinements, table), columns=list(Finding._fields))
    return frame.sort_values("must", ascending=False, kind="stable", ignore_index=True)


def refinement_counts(refinements: Sequence[Refinement]) -> pd.DataFrame:
    """How often each type of subtask and each capability occurs: columns what, name, refinements, total."""
    rows = []
    for what, names in (("subtask", get_args(SubtaskType)), ("capability", get_args(Capability))):
        for name in names:
            each = [
                sum(one.type == name for one in refinement.subtasks)
                if what == "subtask"
                else refinement.capabilities.count(name)
                for refinement in refinements
            ]
            rows.append({"what": what, "name": name, "refinements": sum(map(bool, each)), "total": sum(each)})
    return pd.DataFrame(rows)
