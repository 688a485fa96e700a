"""The records that everything else passes on: tasks, rubrics, reports, transcripts, judgments, labels.

Every record is frozen. Keys are joined whole: a report is ``(system, task_id, run)``, a judgment adds
``(rubric_id, judge, repeat)``, a label adds ``(rubric_id, annotator)``.
"""

from __future__ import annotations

import math
import warnings
from functools import lru_cache
from typing import Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.fields import Amount, Count, Day, Id, Notes, Said, Text, begin_fingerprint
from lifesearch_kit.text import canonical

Language = Literal["zh", "en"]
RubricType = Literal["Objective", "Subjective"]
Necessity = Literal["Explicit", "Implicit"]
Priority = Literal["Must Have", "Nice to Have"]
Domain = Literal[
    "Company & competitor",
    "Academic & professional",
    "Financial markets",
    "Policy & government",
    "Industry news & trends",
    "Technical tools",
    "Everyday facts",
]
ReportStatus = Literal[
    "answered", "truncated", "asked_back", "empty", "refused", "step_limit", "token_limit", "time_limit", "cost_limit"
]
JudgmentStatus = Literal["ok", "unparseable", "truncated", "refused", "error"]

DOMAINS: tuple[Domain, ...] = get_args(Domain)
WEIGHT_STEP = 0.1
Key = tuple[Any, ...]
REPORT_KEY = ("system", "task_id", "run")
JUDGMENT_KEY = (*REPORT_KEY, "rubric_id", "judge", "repeat")
LABEL_KEY = (*REPORT_KEY, "rubric_id", "annotator")


class Record(BaseModel):
    """Base of all records: frozen, no unknown fields, no silent conversion between types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


class Rubric(Record):
    """One scoring requirement that is passed or failed by itself (the LifeSearch paper, data section)."""

    rubric_id: Id
    criterion: Text
    type: RubricType = "Objective"
    necessity: Necessity = "Explicit"
    priority: Priority = "Must Have"
    weight: float
    dimension: str | None = None

    @field_validator("type", "necessity", "priority", mode="before")
    @classmethod
    def _canonical_word(cls, value: Any, info: ValidationInfo) -> Any:
        choices = get_args({"type": RubricType, "necessity": Necessity, "priority": Priority}[str(info.field_name)])
        if not isinstance(value, str) or value in choices:
            return value
        word = canonical(value, choices)
        if word is None:
            return value
        warnings.warn(f"field '{info.field_name}': {value!r} was read as {word!r}", InputWarning, stacklevel=2)
        return word

    @field_validator("weight")
    @classmethod
    def _sound_weight(cls, weight: float, info: ValidationInfo) -> float:
        if not math.isfinite(weight):
            raise ValueError("is no finite number; write a weight from 0.0 to 1.0")
        if not 0.0 <= weight <= 1.0:
            raise ValueError("lies outside 0.0 to 1.0; rescale the task's weights")
        step = (info.context or {}).get("weight_step")
        if step is None:
            return weight
        steps = round(weight / step)
        if abs(weight - steps * step) > 1e-9:
            raise ValueError(f"is no multiple of {step}; choose the neighbour that is meant")
        return round(steps * step, 10)


class Task(Record):
    """One research question with the rubrics that grade its reports.

    `cutoff` is the last day whose facts the report may use, where the question sets one.
    """

    task_id: Id
    language: Language
    domain: Id
    query: Text
    cutoff: Day | None = None
    rubrics: tuple[Rubric, ...]
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("rubrics", mode="before")
    @classmethod
    def _numbered(cls, value: Any) -> Any:
        if not isinstance(value, (list, tuple)):
            return value
        return tuple(
            {"rubric_id": f"R{number}", **row} if isinstance(row, dict) else row
            for number, row in enumerate(value, start=1)
        )

    @model_validator(mode="after")
    def _gradable(self) -> Self:
        ids = [rubric.rubric_id for rubric in self.rubrics]
        twice = sorted({one for one in ids if ids.count(one) > 1})
        if twice:
            raise ValueError(f"rubric_id {', '.join(twice)} occurs more than once; give each rubric its own")
        if not self.rubrics:
            raise ValueError("there are no rubrics; add at least one")
        if sum(rubric.weight for rubric in self.rubrics) <= 0:
            raise ValueError("the rubrics' weights add up to 0; give at least one rubric a positive weight")
        return self


class Report(Record):
    """What one system wrote for one task in one independent run, and what it took.

    `output_tokens` counts everything generated throughout the run; None means that the endpoint did not say. Where it
    reported no usage at all, the tokens of so many `estimated_steps` were counted here, from the texts that were seen.
    `model_seconds` and `tool_seconds` are the wall time that decisions and tool calls took; tools run side by side.
    """

    system: Id
    task_id: Id
    run: int = Field(default=1, ge=1)
    text: Said
    status: ReportStatus = "answered"
    iterations: Count | None = None
    input_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    tool_calls: dict[str, int] = Field(default_factory=dict)
    failed_tool_calls: dict[str, int] = Field(default_factory=dict)
    estimated_steps: int = Field(default=0, ge=0)
    seconds: Amount | None = None
    model_seconds: Amount | None = None
    tool_seconds: Amount | None = None
    cost: Amount | None = None
    model: Said | None = None
    transcript: str | None = None
    fingerprint: str = ""
    notes: Notes = ()

    @property
    def is_gradable(self) -> bool:
        """Whether there is a report to grade; without one the score is 0 and the status says why."""
        return bool(self.text.strip()) and self.status not in ("asked_back", "empty", "refused")


class Judgment(Record):
    """One pass of one judge over one rubric of one report.

    `satisfied` is None whenever `status` is not ``ok``: an unjudged rubric is not a failed one.
    """

    system: Id
    task_id: Id
    run: int = Field(default=1, ge=1)
    rubric_id: Id
    judge: Id
    repeat: int = Field(default=1, ge=1)
    satisfied: bool | None
    status: JudgmentStatus = "ok"
    reason: Said = ""
    raw: Said = ""
    finish_reason: Said | None = None
    model: Said | None = None
    input_tokens: Count | None = None
    cached_tokens: Count | None = None
    output_tokens: Count | None = None
    reasoning_tokens: Count | None = None
    seconds: Amount | None = None
    cost: Amount | None = None
    fingerprint: str = ""
    notes: Notes = ()

    @model_validator(mode="after")
    def _third_state(self) -> Self:
        if (self.satisfied is None) == (self.status == "ok"):
            raise ValueError("'satisfied' must be true or false where status is 'ok', and null elsewhere")
        return self


class Label(Record):
    """One annotator's Pass or Fail for one rubric of one report."""

    system: Id
    task_id: Id
    run: int = Field(default=1, ge=1)
    rubric_id: Id
    annotator: Id
    satisfied: bool
    note: str = ""
    fingerprint: str = ""


def subject_fingerprint(task: Task, rubric: Rubric, report: Report) -> str:
    """The content that a judge or annotator sees: question, report text, criterion and its attributes."""
    finish = _begin_subject(task.query, report.text)
    return finish(rubric.criterion, rubric.type, rubric.necessity, rubric.priority)


# A report's rubrics follow one another.
_begin_subject = lru_cache(maxsize=16)(begin_fingerprint)
