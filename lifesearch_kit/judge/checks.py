"""One judgment to be made: what is asked, to the byte, and a fingerprint of it (the LifeSearch paper's judging)."""

from __future__ import annotations

import json
from functools import lru_cache
from string import Template
from typing import Any, NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.prompts.tags import tag_code, tagged
from lifesearch_kit.records import Key, Report, Rubric, Task, subject_fingerprint
from lifesearch_kit.settings import JudgeSettings
from lifesearch_kit.text import encode

_FIELDS = {"satisfied": {"type": "boolean"}, "reason": {"type": "string"}}
_ATTRIBUTES = {"en": ("Type", "Necessity", "Priority"), "zh": ("类型", "必要性", "优先级")}
# More reports than are judged at once; each takes about as many bytes as its text.
_OPENINGS_KEPT = 1024


class Check(NamedTuple):
    """One judgment to be made. `prompt` is the text of the judge's prompt as it was when this was planned."""

    task: Task
    report: Report
    rubric: Rubric
    judge: JudgeSettings
    repeat: int
    prompt: str
    fingerprint: str

    @property
    def key(self) -> Key:
        """The judgment's key, fingerprint last."""
        report, rubric = self.report, self.rubric
        return (
            *(report.system, report.task_id, report.run),
            *(rubric.rubric_id, self.judge.name, self.repeat, self.fingerprint),
        )

    @property
    def prefix(self) -> Key:
        """What stands for the beginning of its request, which an endpoint's prompt cache can hold."""
        report, judge = self.report, self.judge
        return (report.system, report.task_id, report.run, judge.base_url, judge.model, prompt_name(self.task, judge))


def check_of(
    task: Task, report: Report, rubric: Rubric, judge: JudgeSettings, *, repeat: int = 1, prompt: str | None = None
) -> Check:
    """Plan one judgment.

    Its fingerprint follows from question, report, criterion with its attributes, prompt and judge settings.

    Parameters
    ----------
    prompt
        The text of the judge's prompt, where it was read already.
    """
    if prompt is None:
        prompt = prompts.load(prompt_name(task, judge)).template
    judged_with = fingerprint(subject_fingerprint(task, rubric, report), prompt, judge.identity())
    return Check(task, report, rubric, judge, repeat, prompt, judged_with)


def prompt_name(task: Task, judge: JudgeSettings) -> str:
    """The prompt in the language of the task."""
    return judge.prompt_zh if task.language == "zh" else judge.prompt_en


def encoded_messages(check: Check) -> list[bytes]:
    """The two messages of one call as JSON: the rules, then question, report and criterion in this order.

    All that a report's rubrics share comes first and is identical to the byte, so that a provider's prefix cache can
    serve it; it is encoded once. What a prompt says after a line ``---`` ends the second message: a small model loses
    sight of a form that stands before a long report. The tags carry a code that follows from question and report and
    stands in neither, so that no report can close its own. The weight is never shown.
    """
    task, rubric = check.task, check.rubric
    opening = _opening(check.prompt, task.query, check.report.text)
    values = (rubric.type, rubric.necessity, rubric.priority)
    attributes = (f"{name}: {value}" for name, value in zip(_ATTRIBUTES[task.language], values, strict=True))
    asked = "\n".join((tagged("criterion", rubric.criterion, opening.nonce), *attributes))
    return [opening.rules, opening.asked + encode(f"\n\n{asked}{opening.closing}")[1:-1] + b'"}']


def judge_messages(task: Task, report: Report, rubric: Rubric, judge: JudgeSettings) -> list[dict[str, str]]:
    """The messages of one call, see `encoded_messages`."""
    return [json.loads(one) for one in encoded_messages(check_of(task, report, rubric, judge))]


@lru_cache(maxsize=64)
def verdict_format(prompt: str) -> dict[str, Any]:
    """The reply's form as a `response_format`: its fields come in the order in which the prompt names them last."""
    fields = dict(sorted(_FIELDS.items(), key=lambda field: prompt.rfind(field[0])))
    schema = {"type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}
    return {"type": "json_schema", "json_schema": {"name": "verdict", "strict": True, "schema": schema}}


class _Opening(NamedTuple):
    """What the calls on one report share: the first message, the beginning of the second, what ends the prompt."""

    nonce: str
    rules: bytes
    asked: bytes
    closing: str


@lru_cache(maxsize=_OPENINGS_KEPT)
def _opening(prompt: str, question: str, report: str) -> _Opening:
    nonce = tag_code((question, report), absent_from=(question, report))
    rules, _, closing = Template(prompt).substitute(nonce=nonce).partition("\n---\n")
    shared = "\n\n".join((tagged("question", question, nonce), tagged("report", report, nonce)))
    return _Opening(
        nonce,
        encode({"role": "system", "content": rules}),
        encode({"role": "user", "content": shared}).removesuffix(b'"}'),
        f"\n\n{closing.strip()}" if closing else "",
    )
