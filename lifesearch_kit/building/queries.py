"""Raw queries from JSON Lines, JSON, CSV or a plain text file: ids, languages, and what needs no model to be seen."""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lifesearch_kit.building.records import Query, QueryLanguage
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.rows import PathLike, Row, fault, read_rows, read_text
from lifesearch_kit.terms import is_chinese
from lifesearch_kit.text import fold, repair

_CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
# Words of ordinary English: names in capitals, file names and addresses are at home in Chinese sentences too.
_ENGLISH = re.compile(r"(?<![\w./-])[A-Z]?[a-z]{2,}(?![\w/-]|\.\w)")
# A Chinese word has about one and two thirds characters; a language counts from a quarter of the words on.
_CHARACTERS_A_WORD, _SHARE = 5 / 3, 0.25
_ID_DIGITS = 10


def language_of(text: str) -> QueryLanguage:
    """The language of a query: ``mixed`` where each of both has a quarter of its words or more.

    Letters decide, so a text without any counts as English.
    """
    chinese, english = len(_CHINESE.findall(text)) / _CHARACTERS_A_WORD, len(_ENGLISH.findall(text))
    if min(chinese, english) >= _SHARE * (chinese + english) > 0:
        return "mixed"
    return "zh" if chinese >= english and chinese > 0 else "zh" if is_chinese(text) else "en"


def read_queries(path: PathLike) -> list[Query]:
    """Read raw queries, in the order of the file; not one is left out.

    A row needs the field `query`; `query_id` is kept where it is there and otherwise follows from the text, so that the
    same query has the same id tomorrow (equal ones are numbered). Every other field is kept as `metadata`.

    Parameters
    ----------
    path
        ``.jsonl``, ``.json``, ``.csv`` (an empty cell is an empty query), or ``.txt``: a query a line, blank lines are
        none.

    Raises
    ------
    InputError
        Listing every fault: unreadable lines, a row without `query`, an id that stands twice.
    """
    rows, faults = (_text_lines(path), []) if Path(path).suffix == ".txt" else read_rows(path)
    # In CSV an empty cell is left out of its row: the column is there where any row has it.
    blank_cells = Path(path).suffix == ".csv" and any("query" in row.data for row in rows)
    queries: list[Query] = []
    first: dict[str, str] = {}
    made = Counter[str]()
    for row in rows:
        data = {"query": "", **row.data} if blank_cells else row.data
        query = _query(Row(row.place, data), made, faults)
        if query is None:
            continue
        if query.query_id in first:
            faults.append(
                f"{row.place}: query_id {query.query_id!r} stands already at {first[query.query_id]}; keep one"
            )
        first.setdefault(query.query_id, row.place)
        queries.append(query)
    if faults:
        raise InputError(faults)
    if not queries:
        raise InputError(f"{path}: holds no query; give at least one")
    return queries


def _text_lines(path: PathLike) -> list[Row]:
    # Only a line feed ends a line: other separators stand inside pasted queries.
    lines = enumerate(read_text(path).split("\n"), start=1)
    return [Row(f"{path}:{number}", {"query": line.strip()}) for number, line in lines if line.strip()]


def _query(row: Row, made: Counter[str], faults: list[str]) -> Query | None:
    text = row.data.get("query")
    if not isinstance(text, str):
        near = [name for name in row.data if fold(name) in ("query", "text", "prompt", "question", "input")]
        what = f"is no text ({type(text).__name__})" if "query" in row.data else "is missing"
        faults.append(f"{row.place}: field 'query': {what}; " + (f"rename '{near[0]}'?" if near else "add it as text"))
        return None
    text, halves = repair(text)
    if halves:
        warnings.warn(f"{row.place}: {halves} half characters were replaced", InputWarning, stacklevel=3)
    metadata: dict[str, Any] = {name: value for name, value in row.data.items() if name not in ("query", "query_id")}
    given = row.data.get("query_id")
    fields = {"text": text, "language": language_of(text), "place": row.place, "metadata": metadata}
    try:
        return Query(query_id=_made_id(text, made) if given is None else given, **fields)
    except ValidationError as error:
        faults += [fault(row, Query, one) for one in error.errors(include_url=False)]
        return None


def _made_id(text: str, made: Counter[str]) -> str:
    base = f"q-{fingerprint(text)[:_ID_DIGITS]}"
    made[base] += 1
    return base if made[base] == 1 else f"{base}-{made[base]}"


def same_queries(queries: Sequence[Query]) -> dict[str, str]:
    """Ids of queries that say what an earlier one says, and that one's id.

    Width, case, spacing and invisible marks do not count; queries without any text are not compared.
    """
    first: dict[str, str] = {}
    again: dict[str, str] = {}
    for query in queries:
        said = fold(query.text)
        if said and first.setdefault(said, query.query_id) != query.query_id:
            again[query.query_id] = first[said]
    return again
