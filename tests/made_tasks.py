"""Tasks of every kind that the records admit, for property tests, and small files to read."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any, get_args

from hypothesis import strategies as st

from lifesearch_kit.records import Language, Necessity, Priority, Rubric, RubricType, Task
from lifesearch_kit.text import strip_invisible

CHARACTERS = st.one_of(st.sampled_from("abc 中文,;\"'\r\n\t=|\\\u200b𝄞é"), st.characters(exclude_categories=["Cs"]))
ANY_TEXT = st.text(CHARACTERS, max_size=12)
TEXTS = ANY_TEXT.filter(str.strip)
HALVES = st.text(st.sampled_from("ab\ud800\udc00文"), min_size=1, max_size=6)
JSON_VALUES = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), ANY_TEXT),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ANY_TEXT, inner, max_size=3)),
    max_leaves=6,
)
WEIGHTS = st.one_of(st.integers(0, 10).map(lambda tenths: tenths / 10), st.floats(1e-6, 1))


def as_name(text: str) -> str:
    return " ".join(strip_invisible(text).split())


NAMES = TEXTS.map(as_name).filter(bool)


@st.composite
def tasks(draw: st.DrawFn, texts: st.SearchStrategy[str] = TEXTS, numbered: bool = False) -> Task:
    """Any task; `numbered` ones have the rubric ids R1, R2 ..., which formats without ids give back."""
    count = draw(st.integers(1, 4))
    names = draw(st.lists(NAMES, min_size=count, max_size=count, unique=True))
    weights = draw(st.lists(WEIGHTS, min_size=count, max_size=count).filter(any))
    rubrics = [
        Rubric(
            rubric_id=f"R{number}" if numbered else name,
            criterion=draw(texts),
            type=draw(st.sampled_from(get_args(RubricType))),
            necessity=draw(st.sampled_from(get_args(Necessity))),
            priority=draw(st.sampled_from(get_args(Priority))),
            weight=weight,
            dimension=draw(st.one_of(st.none(), ANY_TEXT)),
        )
        for number, (name, weight) in enumerate(zip(names, weights, strict=True), start=1)
    ]
    return Task(
        task_id=draw(NAMES),
        language=draw(st.sampled_from(get_args(Language))),
        domain=draw(NAMES),
        query=draw(texts),
        cutoff=draw(st.one_of(st.none(), st.dates(date(1, 1, 1), date(9999, 12, 31)))),
        rubrics=tuple(rubrics),
        metadata=draw(st.dictionaries(ANY_TEXT, JSON_VALUES, max_size=2)),
    )


def benchmarks(**given: Any) -> st.SearchStrategy[list[Task]]:
    return st.lists(tasks(**given), min_size=1, max_size=3, unique_by=lambda task: task.task_id)


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path
