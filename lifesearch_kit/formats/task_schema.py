"""A JSON Schema of tasks.jsonl, made from the records, so that others can check a benchmark with their own programs."""

from __future__ import annotations

from typing import Any

from lifesearch_kit.records import WEIGHT_STEP, Rubric, Task

_NEVER_BLANK = ("task_id", "domain", "query", "rubric_id", "criterion")
_VISIBLE = r"\S"
_DAY = r"^\d{4}-\d{2}-\d{2}$"


def task_schema(weight_step: float | None = WEIGHT_STEP) -> dict[str, Any]:
    """The JSON Schema of one task, a line of tasks.jsonl.

    What it accepts, `read_tasks` reads, but for what a schema of one line cannot say: no two tasks share their id, and
    no two rubrics of a task. A day that no calendar has is told only where the validator checks formats. `read_tasks`
    is more lenient: it takes whole numbers as ids and other spellings, such as ``must have``.

    Parameters
    ----------
    weight_step
        Weights are multiples of it; None admits any from 0 to 1.

    Returns
    -------
    dict
        In the draft of 2020-12.
    """
    schema = Task.model_json_schema()
    rubric = schema["$defs"][Rubric.__name__]
    for fields in (schema["properties"], rubric["properties"]):
        for name, entry in fields.items():
            if name in _NEVER_BLANK:
                entry["pattern"] = _VISIBLE
    weight = rubric["properties"]["weight"]
    weight |= {"minimum": 0, "maximum": 1}
    if weight_step is not None:
        # Multiples of 0.1 cannot be told by division: 0.3 / 0.1 is no whole number.
        weight["enum"] = [round(step * weight_step, 10) for step in range(round(1 / weight_step) + 1)]
    rubric["required"].remove("rubric_id")
    rubric["properties"]["rubric_id"]["description"] = "R1, R2 ... where it is left out"
    schema["properties"]["rubrics"] |= {
        "minItems": 1,
        "contains": {"properties": {"weight": {"exclusiveMinimum": 0}}, "required": ["weight"]},
    }
    day = next(one for one in schema["properties"]["cutoff"]["anyOf"] if one.get("type") == "string")
    day["pattern"] = _DAY
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
