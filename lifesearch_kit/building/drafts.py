"""Refined queries as tasks that still lack their rubrics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
from pydantic import Field

from lifesearch_kit.building.records import Query
from lifesearch_kit.building.refinement import Refinement, find_faults
from lifesearch_kit.fields import Day, Id, Text
from lifesearch_kit.records import Language, Record


class DraftTask(Record):
    """A task without rubrics, in the fields of `Task`.

    A task has at least one rubric, so a draft has no such field rather than an empty one: with its rubrics in a file of
    their own it is read as ``read_tasks(drafts, rubrics)``. `metadata` holds where it came from: the raw query, why it
    was selected, subtasks and capabilities.
    """

    task_id: Id
    language: Language
    domain: Id
    query: Text
    cutoff: Day | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)


def draft_tasks(
    refinements: Sequence[Refinement], table: pd.DataFrame, queries: Sequence[Query]
) -> tuple[list[DraftTask], list[str]]:
    """Make drafts of the refinements that break no rule.

    Parameters
    ----------
    refinements, table, queries
        What experts wrote, `selection_table`'s rows, and the raw queries.

    Returns
    -------
    list of DraftTask
        In the order of the refinements.
    list of str
        Ids of refinements that a check holds back; of two with the same final query the later one.
    """
    raw = {query.query_id: query for query in queries}
    rows = {row.query_id: row for row in table.itertuples()}
    drafts: list[DraftTask] = []
    faulty = {finding.query_id for finding in find_faults(refinements, table) if finding.must}
    for refinement in refinements:
        if refinement.query_id in faulty:
            continue
        row, query = rows[refinement.query_id], raw[refinement.query_id]
        origin = {"raw_query": query.text, "selected_query": row.query, "selected_because": row.reason}
        parts = refinement.model_dump(mode="json", include={"subtasks", "capabilities", "note"})
        invented = {"invented": True} if query.metadata.get("invented") else {}
        drafts.append(
            DraftTask(
                task_id=refinement.query_id,
                language=row.language,
                domain=row.domain,
                query=refinement.query,
                cutoff=refinement.cutoff,
                metadata={**invented, **origin, **parts},
            )
        )
    return drafts, [one.query_id for one in refinements if one.query_id in faulty]
