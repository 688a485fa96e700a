"""Selection by hand: a file of decisions that a person writes, and what it leaves of the queries."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

import pandas as pd

from lifesearch_kit.building.beginnings import Begun, begin_with
from lifesearch_kit.building.difficulty import DIFFICULTIES, difficulty_of
from lifesearch_kit.building.outcomes import Outcome
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text
from lifesearch_kit.files import read_records, write_jsonl
from lifesearch_kit.records import DOMAINS, Domain, Record
from lifesearch_kit.rows import Row, read_rows
from lifesearch_kit.tables import write_table
from lifesearch_kit.terms import is_chinese

COLUMNS = ("query_id", "decision", "reason", "domain", "query")


class Choice(Record):
    """One person's decision on one query, with a reason.

    `domain` and `query` stand in the place of what the steps made, where that is missing or wrong.
    """

    query_id: Id
    decision: Literal["keep", "drop"]
    reason: Text
    domain: Domain | None = None
    query: Text | None = None


def read_selection(path: str | os.PathLike[str], found: Sequence[Outcome]) -> list[Choice]:
    """Read the decisions; none where the file is not there yet.

    Parameters
    ----------
    path
        ``.csv`` with the columns of COLUMNS (the last two may be empty or absent), ``.jsonl`` or ``.json``.
    found
        What the queries came to.

    Raises
    ------
    InputError
        Listing every fault with file, line and field: a misspelt decision or domain, no reason, an id that is no
        query's or stands twice, a query kept by hand that has no domain or no text yet.
    """
    if not Path(path).exists():
        return []
    choices = read_records(path, Choice, key=("query_id",))
    rows, _ = read_rows(path)
    by_id = {one.query_id: one for one in found}
    faults = [one for row, choice in zip(rows, choices, strict=True) for one in _faults(row, choice, by_id)]
    if faults:
        raise InputError(faults)
    return choices


def _faults(row: Row, choice: Choice, by_id: dict[str, Outcome]) -> list[str]:
    outcome = by_id.get(choice.query_id)
    if outcome is None:
        return [f"{row.place}: field 'query_id': {choice.query_id!r} is no query's id; correct it or take the row out"]
    if choice.decision == "drop":
        return []
    missing = {
        "domain": choice.domain is None and outcome.domain is None,
        "query": choice.query is None and not outcome.rewritten,
    }
    return [
        f"{row.place}: field '{name}' is empty, and the steps left query {choice.query_id!r} without one "
        f"({outcome.fate}: {outcome.reason:.120}); fill it, or drop the query"
        for name, lacks in missing.items()
        if lacks
    ]


def write_selection(path: str | os.PathLike[str], choices: Sequence[Choice]) -> None:
    """Write the decisions as ``.csv`` or ``.jsonl``, replaced in one step."""
    if Path(path).suffix == ".jsonl":
        write_jsonl(path, choices)
        return
    write_table(pd.DataFrame([one.model_dump() for one in choices], columns=list(COLUMNS)).fillna(""), path)


def with_choice(choices: Sequence[Choice], choice: Choice) -> list[Choice]:
    """The decisions with one more, which takes the place of an earlier one on the same query."""
    kept = [choice if one.query_id == choice.query_id else one for one in choices]
    return kept if choice in kept else [*kept, choice]


def selection_table(found: Sequence[Outcome], choices: Sequence[Choice]) -> pd.DataFrame:
    """What there is to choose from, and what was chosen.

    Returns
    -------
    DataFrame
        A row a query that is kept, undecided or still to be asked, or that a person decided on. Columns query_id,
        decision (``keep``, ``drop``, ``open``), reason, language (of the text that is left: zh, en), domain,
        difficulty, query, fate, and `remark`, why the steps did not keep it.
    """
    chosen = {one.query_id: one for one in choices}
    rows = []
    for one in found:
        choice = chosen.get(one.query_id)
        if choice is None and one.fate == "dropped":
            continue
        query = (choice.query if choice else None) or one.rewritten or one.query
        rows.append(
            {
                "query_id": one.query_id,
                "decision": choice.decision if choice else "open",
                "reason": choice.reason if choice else "",
                "language": "zh" if is_chinese(query) else "en",
                "domain": (choice.domain if choice else None) or one.domain or "",
                "difficulty": difficulty_of(query),
                "query": query,
                "fate": one.fate,
                "remark": one.reason,
            }
        )
    columns = ["query_id", "decision", "reason", "language", "domain", "difficulty", "query", "fate", "remark"]
    return pd.DataFrame(rows, columns=columns)


def balance(table: pd.DataFrame) -> pd.DataFrame:
    """How the selection is spread over domains, languages and levels of difficulty, empty groups included.

    Returns
    -------
    DataFrame
        Columns by (domain, language, difficulty), group, candidates (queries that are not dropped by hand) and kept.
    """
    groups = {"domain": DOMAINS, "language": ("zh", "en"), "difficulty": DIFFICULTIES}
    open_or_kept, kept = table[table["decision"] != "drop"], table[table["decision"] == "keep"]
    return pd.DataFrame(
        [
            {
                "by": by,
                "group": group,
                "candidates": int((open_or_kept[by] == group).sum()),
                "kept": int((kept[by] == group).sum()),
            }
            for by, names in groups.items()
            for group in names
        ]
    )


def begin_selection(path: Path, source: Path | None, found: Sequence[Outcome]) -> Begun:
    """Begin the decisions with those of another file (``.csv``, ``.jsonl`` or ``.json``); see `begin_with`."""
    return begin_with(path, source, lambda file: read_selection(file, found), write_selection)
