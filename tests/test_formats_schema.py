"""The JSON Schema of tasks.jsonl says what the records say."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from made_tasks import benchmarks
from pydantic import ValidationError

from lifesearch_kit.formats.task_schema import task_schema
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Task

ANY_WEIGHT = Draft202012Validator(task_schema(None), format_checker=Draft202012Validator.FORMAT_CHECKER)
TENTHS = Draft202012Validator(task_schema(), format_checker=Draft202012Validator.FORMAT_CHECKER)
SMALL = {
    "task_id": "t1",
    "language": "en",
    "domain": "Ferries",
    "query": "Which is older?",
    "rubrics": [{"criterion": "Names the blue one.", "weight": 0.3}],
}


def small(edit: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    row: dict[str, Any] = json.loads(json.dumps(SMALL))
    edit(row)
    return row


def is_read(row: dict[str, Any], weight_step: float | None) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Task.model_validate(row, context={"weight_step": weight_step})
    except ValidationError:
        return False
    return True


def test_the_schema_is_one_and_takes_the_demo_benchmark() -> None:
    Draft202012Validator.check_schema(task_schema())
    for line in (ROOT / "data" / "demo" / "tasks.jsonl").read_text("utf-8").splitlines():
        TENTHS.validate(json.loads(line))
    TENTHS.validate(SMALL)


@settings(max_examples=60)
@given(benchmarks())
def test_whatever_the_kit_writes_is_valid(made: list[Task]) -> None:
    for task in made:
        ANY_WEIGHT.validate(json.loads(task.model_dump_json()))


REFUSED: list[Callable[[dict[str, Any]], Any]] = [
    lambda row: row.pop("query"),
    lambda row: row.update(query=" \n"),
    lambda row: row.update(note="x"),
    lambda row: row.update(language="fr"),
    lambda row: row.update(cutoff="31 March 2026"),
    lambda row: row.update(cutoff="2026-02-30"),
    lambda row: row.update(metadata=[]),
    lambda row: row.update(rubrics=[]),
    lambda row: row["rubrics"][0].update(weight=0.0),
    lambda row: row["rubrics"][0].update(weight=0.35),
    lambda row: row["rubrics"][0].update(weight=1.1),
    lambda row: row["rubrics"][0].update(weight="0.3"),
    lambda row: row["rubrics"][0].update(weight=True),
    lambda row: row["rubrics"][0].update(weigth=0.3),
    lambda row: row["rubrics"][0].update(type="Neither"),
    lambda row: row["rubrics"][0].update(criterion=""),
    lambda row: row["rubrics"][0].pop("criterion"),
]


@pytest.mark.parametrize("edit", REFUSED)
def test_what_the_records_refuse_the_schema_refuses(edit: Callable[[dict[str, Any]], Any]) -> None:
    row = small(edit)
    assert not is_read(row, 0.1)
    assert not TENTHS.is_valid(row)


@pytest.mark.parametrize("tenths", range(1, 11))
def test_every_tenth_is_a_weight(tenths: int) -> None:
    assert TENTHS.is_valid(small(lambda row: row["rubrics"][0].update(weight=tenths / 10)))


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(-1, 2), st.floats(-1, 2), st.sampled_from(["", " ", "x", "zh", "2026-03-31"])
)


@settings(max_examples=300)
@given(
    place=st.sampled_from(
        [*Task.model_fields, "rubric_id", "criterion", "type", "necessity", "priority", "weight", "odd"]
    ),
    value=VALUES,
)
def test_what_the_schema_takes_is_read(place: str, value: Any) -> None:
    inner = place not in (*Task.model_fields, "odd")
    row = small(lambda row: (row["rubrics"][0] if inner else row).update({place: value}))
    for validator, step in ((TENTHS, 0.1), (ANY_WEIGHT, None)):
        assert not validator.is_valid(row) or is_read(row, step)


def test_two_rubrics_of_one_id_are_beyond_a_schema(tmp_path: Path) -> None:
    row = small(lambda row: row["rubrics"].append({"rubric_id": "R1", "criterion": "Another.", "weight": 0.1}))
    assert TENTHS.is_valid(row)
    assert not is_read(row, 0.1)
