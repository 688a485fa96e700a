"""Where in a run's transcript a finding shows: the step that asked back or ended it, or that read the later data."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import pandas as pd

from lifesearch_kit.dates import date_mentions
from lifesearch_kit.transcripts import Step, Transcript

_AROUND = 120  # characters to either side of a date in a tool's result


class StepSpan(NamedTuple):
    """Words of one step: its number, whether the agent's message or a tool (by name) said them, and their place."""

    step: int
    source: str
    start: int
    end: int
    quote: str


def transcript_evidence(finding: Any, transcript: Transcript) -> list[StepSpan]:
    """Find the words of a transcript that belong to a finding.

    ``premature_clarification``: the evidence in the message that says it. ``no_report``: the last message, or where
    that is blank the finish reason and notes of its step. ``temporal_scope``: every passage of a tool's result that
    names a date of the evidence, the first of each result. Other findings are about what is not there and have none.

    Parameters
    ----------
    finding
        A row of `failures.modes.failure_modes`: a mapping, a Series, or a named tuple of `itertuples`.
    """
    row = finding._asdict() if hasattr(finding, "_asdict") else dict(finding)
    if row["mode"] == "premature_clarification":
        return [span for step in transcript.steps for span in _said(step, row["evidence"])]
    if row["mode"] == "no_report":
        return _ending(transcript.steps[-1]) if transcript.steps else []
    if row["mode"] == "temporal_scope":
        return [span for step in transcript.steps for span in _read(step, row["evidence"])]
    return []


def _text(step: Step) -> str:
    content = step.message.get("content")
    return content if isinstance(content, str) else ""


def _said(step: Step, words: str) -> Iterator[StepSpan]:
    start = _text(step).find(words) if words and not pd.isna(words) else -1
    if start >= 0:
        yield StepSpan(step.number, "message", start, start + len(words), words)


def _ending(step: Step) -> list[StepSpan]:
    text = _text(step).strip()
    if text:
        start = _text(step).index(text)
        return [StepSpan(step.number, "message", start, start + len(text), text)]
    told = [*([f"finish reason: {step.finish_reason}"] if step.finish_reason else []), *step.notes]
    return [StepSpan(step.number, "record", 0, 0, "; ".join(told) or "a blank message")]


def _read(step: Step, evidence: str) -> Iterator[StepSpan]:
    wanted = {one.moment for one in date_mentions(evidence)}
    for result in step.results:
        for mention in date_mentions(result.content):
            if any(one.allows(mention.moment) for one in wanted if one.month or one.quarter or one.half):
                start, end = max(0, mention.start - _AROUND), mention.end + _AROUND
                yield StepSpan(step.number, result.tool, mention.start, mention.end, result.content[start:end].strip())
                break
