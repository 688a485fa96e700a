"""DeepResearch Bench: criteria in weighted dimensions, and queries (Ayanami0730/deep_research_bench)."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text
from lifesearch_kit.formats.foreign import Foreign, read_foreign, task_of
from lifesearch_kit.formats.misfits import (
    ATTRIBUTES,
    ORIGIN,
    Conversion,
    Misfit,
    assumed,
    odd_weights,
)
from lifesearch_kit.records import Language, Rubric, Task
from lifesearch_kit.rows import PathLike, Row
from lifesearch_kit.text import strip_invisible

FORMAT = "deep-research-bench"
CRITERIA, QUERIES = "criteria.jsonl", "query.jsonl"

Share = Annotated[float, Field(ge=0, le=1)]


class _Criterion(Foreign):
    criterion: Text
    explanation: str
    weight: Share


class _Criteria(Foreign):
    id: Id
    prompt: Text
    dimension_weight: dict[str, Share]
    criterions: dict[str, list[_Criterion]]


class _Query(Foreign):
    id: Id
    topic: Text
    language: Language
    prompt: Text


def read_deep_research_bench(criteria: PathLike, queries: PathLike) -> Conversion:
    """Read the tasks of DeepResearch Bench.

    Parameters
    ----------
    criteria
        JSON Lines of id, prompt, dimension_weight and, for each dimension, criterions with criterion, explanation and
        weight.
    queries
        JSON Lines of id, topic, language and prompt.

    Returns
    -------
    Conversion
        Tasks in the order of `criteria`. A rubric is a criterion with its explanation; its weight is the dimension's
        weight times the criterion's, not rounded; its id is such as ``comprehensiveness-1``. The domain is the topic.
        The benchmark does not give type, necessity and priority: each rubric has the record's defaults. It grades each
        criterion from 0 to 10 beside a reference report, which Pass and Fail cannot say.

    Raises
    ------
    InputError
        Listing every fault: ids that only one file has, prompts that differ, dimensions without a weight.
    """
    asked = {one.id: (row, one) for row, one in read_foreign(queries, _Query, "id")}
    rows = read_foreign(criteria, _Criteria, "id")
    lone = asked.keys() - {one.id for _, one in rows}
    faults = [f"{queries}: id {one!r} has no criteria in {criteria}; add them or drop it" for one in lone]
    tasks = []
    for row, one in rows:
        if one.id not in asked:
            faults.append(f"{criteria}: id {one.id!r} is not in {queries}; add it there")
        elif asked[one.id][1].prompt.split() != one.prompt.split():
            faults.append(f"{criteria}: id {one.id!r}: another prompt than in {queries}; use files of one version")
        elif one.criterions.keys() != one.dimension_weight.keys():
            odd = ", ".join(sorted(one.criterions.keys() ^ one.dimension_weight.keys()))
            faults.append(f"{criteria}: id {one.id!r}: dimension {odd} has only criteria or only a weight; give both")
        else:
            tasks.append(_task(row, one, *asked[one.id], faults))
    if faults:
        raise InputError(sorted(faults))
    made = [task for task in tasks if task]
    return Conversion(made, [misfit for task in made for misfit in _misfits(task)])


def _task(row: Row, one: _Criteria, query_row: Row, query: _Query, faults: list[str]) -> Task | None:
    mark = mark_between(query.language)
    rubrics = tuple(
        Rubric(
            rubric_id=rubric_id(dimension, number),
            criterion=f"{item.criterion}{mark}{item.explanation}" if item.explanation.strip() else item.criterion,
            weight=one.dimension_weight[dimension] * item.weight,
            dimension=dimension.replace("_", " "),
        )
        for dimension, criteria in one.criterions.items()
        for number, item in enumerate(criteria, start=1)
    )
    slim = {
        dimension: [
            {name: None if name == "explanation" and value.strip() else value for name, value in item.items()}
            for item in items
        ]
        for dimension, items in row.data["criterions"].items()
    }
    asked = {name: None if value == one.prompt else value for name, value in query_row.data.items()}
    origin = {
        "format": FORMAT,
        "assumed": list(ATTRIBUTES),
        "row": {**row.data, "prompt": None, "criterions": slim},
        "query": asked,
    }
    fields = {"task_id": one.id, "language": query.language, "domain": query.topic, "query": one.prompt}
    return task_of(row.place, faults, **fields, rubrics=rubrics, metadata={ORIGIN: origin})


def rubric_id(dimension: str, number: int) -> str:
    """A criterion's id: its dimension, without what cannot be seen, and its number there."""
    return f"{' '.join(strip_invisible(dimension).split())}-{number}"


def mark_between(language: Language) -> str:
    """What stands between a criterion and its explanation."""
    return "：" if language == "zh" else ": "


def _misfits(task: Task) -> list[Misfit]:
    product = "dimension's weight times criterion's; both are kept in metadata['converted_from']"
    graded = "0 to 10 for each criterion, beside a reference report; here passed or failed: scores do not compare"
    return [
        *assumed(task.task_id, ATTRIBUTES),
        Misfit(kind="changed", task_id=task.task_id, field="weight", treatment=product),
        Misfit(kind="changed", task_id=task.task_id, field="score", treatment=graded),
        *odd_weights(task),
    ]
