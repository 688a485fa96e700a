"""Reference labels: whose they are, one a rubric of a report, none of what has changed since."""

from __future__ import annotations

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import LABEL_KEY

_SUBJECT = list(LABEL_KEY[:-1])


def reference_labels(labels: pd.DataFrame, annotator: str = "") -> pd.DataFrame:
    """The labels of the annotator who is the reference.

    Raises
    ------
    InputError
        When there are several annotators and none of them is named.
    """
    names = sorted(labels["annotator"].unique())
    chosen = annotator or (names[0] if len(names) == 1 else "")
    if chosen not in names:
        raise InputError(f"reference {annotator!r}: name the annotator who is the reference, one of {', '.join(names)}")
    return labels[labels["annotator"] == chosen]


def labelled_rubrics(labels: pd.DataFrame) -> pd.DataFrame:
    """A row a labelled rubric of a report: system, task_id, run, rubric_id, label.

    Raises
    ------
    InputError
        When a rubric has several labels or a label is stale.
    """
    refuse_stale(labels)
    several = labels[labels.duplicated(_SUBJECT)]
    if not several.empty:
        raise InputError(
            f"{len(several)} rubrics have several labels (annotators"
            f" {', '.join(map(repr, labels['annotator'].unique()))}); choose the one who is the reference"
        )
    return labels[[*_SUBJECT, "satisfied"]].rename(columns={"satisfied": "label"})


def refuse_stale(labels: pd.DataFrame) -> None:
    """Raise InputError that lists the labels whose question, report or criterion has changed since."""
    if "stale" not in labels:
        return
    stale = labels[labels["stale"].fillna(False).astype(bool)]
    if not stale.empty:
        raise InputError(
            [
                f"label of {row.annotator!r} for system {row.system!r}, task {row.task_id!r}, run {row.run}, rubric"
                f" {row.rubric_id!r}: the question, report or criterion has changed since; label it again or remove it"
                for row in stale.itertuples()
            ]
        )
