"""Judgments as Arrow columns: JSON Lines read in pieces, and the table that is made of the columns.

Both give what `files.read_judgments` and `frames.judgments_frame` give, with a tenth of the memory. What those would
warn of or refuse is left to them.
"""

from __future__ import annotations

import hashlib
import json
import re
import warnings
from collections.abc import Iterator
from itertools import islice
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.records import JUDGMENT_KEY, Judgment

_WHOLE, _AMOUNT = pa.int64(), pa.float64()
_TYPES = {
    **dict.fromkeys(("run", "repeat", "input_tokens", "cached_tokens", "output_tokens", "reasoning_tokens"), _WHOLE),
    **dict.fromkeys(("seconds", "cost"), _AMOUNT),
    "satisfied": pa.bool_(),
}
# Notes are kept as the JSON list that they are: few differ, and each is read once.
SCHEMA = pa.schema([(name, _TYPES.get(name, pa.large_string())) for name in Judgment.model_fields])
# Records of a small piece are gone before the garbage collector walks them; few batches make a table that is fast.
_PIECE_BYTES = 500_000
_PIECES_A_BATCH = 128
# The end of a field's name, which is a letter or, written as \u0065, a digit. The quotation mark that begins a text has
# another sign before it, and one within a text has a backslash.
_NAME_END = re.compile(rb'"(?=[ \t\r]*:)(?<=[0-9A-Za-z]")')


class UnusualError(Exception):
    """Lines or keys that a record by record reading has to look at: it tells what is wrong with them, or warns."""


def column_batches(file: BinaryIO, digest: hashlib._Hash | None = None) -> Iterator[pa.RecordBatch]:
    """Read JSON Lines of judgments, some 60 MB at a time.

    Parameters
    ----------
    file
        Opened in binary.
    digest
        Is updated with every byte that was read, where it is wanted.

    Raises
    ------
    UnusualError
        When a line is no judgment, or one that was not written exactly as it is read.
    """
    pieces = _pieces(file, digest)
    while several := list(islice(pieces, _PIECES_A_BATCH)):
        yield pa.concat_batches(several)


def refuse_repeats(columns: pa.Table) -> None:
    """Look for judgments that share their whole key.

    Raises
    ------
    UnusualError
        When there are any.
    """
    if columns.select(list(JUDGMENT_KEY)).to_pandas().duplicated().any():
        raise UnusualError("two judgments share their whole key")


def columns_frame(columns: pa.Table) -> pd.DataFrame:
    """The table that `frames.judgments_frame` makes of the same judgments. Texts stay where the columns have them."""
    frame = columns.to_pandas(types_mapper={pa.bool_(): pd.BooleanDtype()}.get)
    frame["notes"] = _notes(frame["notes"])
    for name in set(SCHEMA.names) - {"satisfied", "notes"}:
        # As pandas has it where no record says more of a column.
        if columns[name].null_count == len(columns):
            frame[name] = np.full(len(columns), None, dtype=object)
    return frame


def _pieces(file: BinaryIO, digest: hashlib._Hash | None) -> Iterator[pa.RecordBatch]:
    while lines := file.readlines(_PIECE_BYTES):
        whole = b"".join(lines)
        if digest is not None:
            digest.update(whole)
        try:
            records = _records([line for line in lines if line.strip(b" \t\r\n")])
            if sum(len(one.model_fields_set) for one in records) != len(_NAME_END.findall(whole)):
                raise UnusualError("a field stands twice in one object")
            yield pa.record_batch([_column(records, field) for field in SCHEMA], schema=SCHEMA)
        except (ValueError, OverflowError, InputWarning) as error:
            raise UnusualError(str(error)) from None


def _records(lines: list[bytes]) -> list[Judgment]:
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputWarning)
        return [Judgment.model_validate_json(line) for line in lines]


def _column(records: list[Judgment], field: pa.Field) -> pa.Array:
    values = [getattr(one, field.name) for one in records]
    if field.name == "notes":
        values = [json.dumps(notes) if notes else "[]" for notes in values]
    return pa.array(values, field.type)


def _notes(texts: pd.Series) -> np.ndarray:
    codes, distinct = pd.factorize(texts)
    lists = np.empty(len(distinct), dtype=object)
    for place, text in enumerate(distinct):
        lists[place] = tuple(json.loads(text))
    return lists[codes]
