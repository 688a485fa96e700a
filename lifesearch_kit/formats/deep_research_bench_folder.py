"""Tasks as a folder of DeepResearch Bench."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lifesearch_kit.files import write_json_rows
from lifesearch_kit.formats.deep_research_bench import CRITERIA, FORMAT, QUERIES, mark_between, rubric_id
from lifesearch_kit.formats.foreign import written_id
from lifesearch_kit.formats.misfits import ATTRIBUTES, Misfit, lost_fields, origin_of
from lifesearch_kit.records import Language, Rubric, Task
from lifesearch_kit.rows import PathLike

# The only ones that its scoring program asks for.
_DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
_NO_DIMENSION = "criteria"
_EQUAL = 1e-9


def write_deep_research_bench(tasks: Iterable[Task], folder: PathLike) -> list[Misfit]:
    """Write tasks as a folder of criteria.jsonl and query.jsonl.

    Tasks that came from DeepResearch Bench are written as they were there, with what has been edited since. Else a
    dimension's weight is its share of the task's weight, and a criterion's its share of the dimension's.
    """
    criteria, queries = [], []
    misfits: list[Misfit] = []
    for task in tasks:
        origin = origin_of(task, FORMAT)
        row, query = origin.get("row", {}), origin.get("query", {})
        name = written_id(task, row, "id")
        criteria.append({**row, "id": name, "prompt": task.query, **_weighted(task, row)})
        start = {"id": name, "topic": task.domain, "language": task.language}
        prompt = query.get("prompt") or ""
        queries.append({**query, **start, "prompt": prompt if prompt.split() == task.query.split() else task.query})
        misfits += lost_fields(task, ("cutoff",), ATTRIBUTES, FORMAT) + _changed(task, row)
    write_json_rows(Path(folder) / CRITERIA, criteria)
    write_json_rows(Path(folder) / QUERIES, queries)
    return misfits


def _weighted(task: Task, row: Mapping[str, Any]) -> dict[str, Any]:
    """The dimensions' weights and their criteria."""
    kept = _kept_items(row)
    groups: dict[str, list[Rubric]] = {name: [] for name in row.get("criterions", ())}
    for one in task.rubrics:
        groups.setdefault(_dimension(one, kept), []).append(one)
    groups = {name: rubrics for name, rubrics in groups.items() if rubrics}
    sums = {name: sum(one.weight for one in rubrics) for name, rubrics in groups.items()}
    total = sum(sums.values())
    same = _same_weights(task.rubrics, row)
    items = {
        name: [
            _item(one, kept.get(one.rubric_id, {}), task.language)
            | ({} if same else {"weight": one.weight / sums[name] if sums[name] else 1 / len(rubrics)})
            for one in rubrics
        ]
        for name, rubrics in groups.items()
    }
    shares = row["dimension_weight"] if same else {name: min(1.0, one / total) for name, one in sums.items()}
    return {"dimension_weight": shares, "criterions": items}


def _kept_items(row: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        rubric_id(dimension, number): {**item, "dimension": dimension}
        for dimension, items in row.get("criterions", {}).items()
        for number, item in enumerate(items, start=1)
    }


def _dimension(rubric: Rubric, kept: Mapping[str, Mapping[str, Any]]) -> str:
    was = kept.get(rubric.rubric_id, {}).get("dimension")
    if was is not None and was.replace("_", " ") == rubric.dimension:
        return str(was)
    return (rubric.dimension or _NO_DIMENSION).replace(" ", "_")


def _same_weights(rubrics: Sequence[Rubric], row: Mapping[str, Any]) -> bool:
    kept = _kept_items(row)
    shares = row.get("dimension_weight", {})
    return kept.keys() == {one.rubric_id for one in rubrics} and all(
        _dimension(one, kept) == kept[one.rubric_id]["dimension"]
        and abs(shares[kept[one.rubric_id]["dimension"]] * kept[one.rubric_id]["weight"] - one.weight) < _EQUAL
        for one in rubrics
    )


def _item(rubric: Rubric, kept: Mapping[str, Any], language: Language) -> dict[str, Any]:
    blank = kept.get("explanation") if rubric.criterion == kept.get("criterion") else None
    texts = {"criterion": rubric.criterion, "explanation": blank or ""}
    start = f"{kept.get('criterion')}{mark_between(language)}"
    if kept and rubric.criterion.startswith(start):
        texts = {"criterion": kept["criterion"], "explanation": rubric.criterion.removeprefix(start)}
    return {name: value for name, value in kept.items() if name != "dimension"} | texts


def _changed(task: Task, row: Mapping[str, Any]) -> list[Misfit]:
    """What is written otherwise than the task has it."""
    kept = _kept_items(row)
    found = []
    total = sum(one.weight for one in task.rubrics)
    if not _same_weights(task.rubrics, row):
        told = "divided by their sum, and split into a share of the dimension and the dimension's own"
        found.append(("changed", "weight", f"sum {total:g}", told))
    names = dict.fromkeys(_dimension(one, kept) for one in task.rubrics)
    strange = [name for name in names if name not in _DIMENSIONS]
    if strange:
        told = f"its scoring program asks for {', '.join(_DIMENSIONS)} only; add these there"
        found.append(("changed", "dimension", ", ".join(strange), told))
    bent = {str(one.dimension) for one in task.rubrics if _dimension(one, kept).replace("_", " ") != one.dimension}
    if bent:
        told = f"blanks become '_', and rubrics without a dimension are in '{_NO_DIMENSION}'"
        found.append(("lost", "dimension", ", ".join(sorted(bent)), told))
    return [
        Misfit.model_validate(
            {"kind": kind, "task_id": task.task_id, "field": field, "value": value, "treatment": treatment}
        )
        for kind, field, value, treatment in found
    ]
