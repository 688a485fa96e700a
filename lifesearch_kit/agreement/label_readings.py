"""What of a labels file was read otherwise than written, so that a repair is seen and not only made."""

from __future__ import annotations

import re
import warnings

import pandas as pd

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.files import read_labels
from lifesearch_kit.frames import labels_frame
from lifesearch_kit.rows import PathLike

_PLACE = re.compile(r":(\d+): ")


def label_readings(path: PathLike) -> pd.DataFrame:
    """What a labels file holds that was read otherwise than written: blanks, width, case and invisible marks.

    Returns
    -------
    DataFrame
        A row a kind of repair, the most frequent first: reading (from what to what), labels (rows of the file; missing
        for an annotator's name, whose spellings are joined over the whole file), first_line (likewise). No row means
        that all was read as it stands.

    Raises
    ------
    InputError
        As `read_labels` and `labels_frame`.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        labels_frame(read_labels(path))
    readings: dict[str, list[int]] = {}
    for one in caught:
        told = str(one.message)
        place = _PLACE.search(told)
        lines = readings.setdefault(told[place.end() :] if place else told, [])
        lines += [int(place[1])] if place else []
    rows = [(reading, len(lines) or None, min(lines, default=None)) for reading, lines in readings.items()]
    table = pd.DataFrame(rows, columns=["reading", "labels", "first_line"]).astype({"labels": "Int64"})
    table = table.astype({"first_line": "Int64"})
    return table.sort_values("labels", ascending=False, kind="stable", ignore_index=True)
