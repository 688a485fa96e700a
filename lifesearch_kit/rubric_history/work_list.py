"""What to inspect next: rubrics that results or their wording make suspicious."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from lifesearch_kit.statistics.task_screening import EASY, HARD

_KEY = ["task_id", "rubric_id"]


class _Sign(NamedTuple):
    """One reason to read a rubric again, or a task as a whole (rubric_id empty)."""

    task_id: str
    rubric_id: str
    source: str
    reason: str


def work_list(
    screening: pd.DataFrame,
    items: pd.DataFrame,
    findings: pd.DataFrame | None = None,
    states: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """Feed outliers among tasks and rubrics back to those who inspect them.

    A rubric is listed where reports that are better otherwise fail it, where the judge decides it both ways, where no
    report passes it in a suspiciously hard task or every one in a task that is too easy, and where a check finds its
    wording at fault. An outlier task is listed itself.

    Parameters
    ----------
    screening, items
        What `task_screening.screen_tasks` and `rubric_items.rubric_items` gave.
    findings
        What `rubric_checks.check_rubrics` gave.
    states
        What `rubric_states` gave.

    Returns
    -------
    DataFrame
        A row a task or rubric, those with most signs first: task_id, rubric_id (empty for a task as a whole), signs
        (their number), sources (``task``, ``rubric``, ``wording``), reasons (a sentence each), state (of the rubric's
        history; empty without one).
    """
    signs = [*_of_tasks(screening), *_of_rubrics(screening, items), *_of_wording(findings)]
    table = pd.DataFrame(signs, columns=list(_Sign._fields))
    listed = (
        table.groupby(_KEY, sort=False)
        .agg(
            signs=("reason", "size"),
            sources=("source", lambda own: ", ".join(dict.fromkeys(own))),
            reasons=("reason", " ".join),
        )
        .reset_index()
    )
    listed["state"] = ""
    if states is not None:
        known = {(row.task_id, row.rubric_id): row.state for row in states.itertuples()}
        listed["state"] = [known.get(key, "") for key in zip(listed["task_id"], listed["rubric_id"], strict=True)]
    return listed.sort_values("signs", ascending=False, kind="stable", ignore_index=True)


def _of_tasks(screening: pd.DataFrame) -> Iterator[_Sign]:
    row: Any
    for row in screening[screening["finding"] != ""].itertuples():
        yield _Sign(row.task_id, "", "task", f"The task is {row.finding}. {row.reasons}")


def _of_rubrics(screening: pd.DataFrame, items: pd.DataFrame) -> Iterator[_Sign]:
    finding = dict(zip(screening["task_id"], screening["finding"], strict=True))
    row: Any
    for row in items[items["reports"] > 0].itertuples():
        what = finding.get(row.task_id, "")
        signs = [
            (row.discrimination < 0, "Reports that are better otherwise fail it."),
            (row.unstable > 0, "The judge decides it both ways in repeats."),
            (what == HARD and row.never_passed, "No report passes it, and the task is suspiciously hard."),
            (what == EASY and row.always_passed, "Every report passes it, and the task is too easy."),
        ]
        for holds, reason in signs:
            if holds:
                yield _Sign(row.task_id, row.rubric_id, "rubric", reason)


def _of_wording(findings: pd.DataFrame | None) -> Iterator[_Sign]:
    if findings is None:
        return
    row: Any
    for row in findings.dropna(subset=["task_id"]).itertuples():
        rubric = "" if pd.isna(row.rubric_id) else row.rubric_id
        yield _Sign(row.task_id, rubric, "wording", f"{row.check}: {row.message}.")
