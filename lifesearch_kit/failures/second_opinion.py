"""A language model's second opinion on a finding. The rule-based detectors stay the default; this only comments."""

from __future__ import annotations

from typing import Any

import pandas as pd

from lifesearch_kit import prompts
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.errors import ChatError
from lifesearch_kit.judge.judge import verdict_of
from lifesearch_kit.judge.verdict import Verdict
from lifesearch_kit.prompts.tags import tag_code, tagged
from lifesearch_kit.records import Report

_AROUND = 20_000  # characters of a long report to either side of the evidence


async def second_opinion(finding: Any, report: Report, chat: Chat) -> Verdict:
    """Ask a model whether a finding holds.

    Parameters
    ----------
    finding
        A row of `failures.modes.failure_modes`: a mapping, a Series, or a named tuple of `itertuples`.
    report
        The report in which it was found. Of a long one, the part around the evidence is shown.
    chat
        An open endpoint. The prompt is ``failure_opinion_en`` or ``failure_opinion_zh``, by the finding's language.

    Returns
    -------
    Verdict
        `satisfied` says whether the model agrees; None, with a status that says why, where its reply is cut off,
        refused, or anything but one plain verdict, as for a judge: such a finding has no second opinion.

    Raises
    ------
    ChatError
        When the endpoint cannot be reached or refuses every call.
    """
    try:
        reply = await chat.complete(opinion_messages(finding, report))
    except ChatError as error:
        if error.kind != "request":
            raise
        return Verdict(None, "refused" if error.cause == "refused" else "error", str(error))
    return verdict_of(reply)


def opinion_messages(finding: Any, report: Report) -> list[dict[str, str]]:
    """The two messages of one call: the rules, then claim, passage and report. No tag can be closed by a report."""
    row = finding._asdict() if hasattr(finding, "_asdict") else dict(finding)
    claim = "\n".join(
        f"{name}: {row[name]}" for name in ("mode", "missing", "detail") if not pd.isna(row[name]) and row[name]
    )
    passage = row["evidence"] or "(none)"
    part = _part(report.text, row["start"], row["end"])
    nonce = tag_code((claim, report.text), absent_from=(report.text,))
    blocks = (("claim", claim), ("passage", passage), ("report", part or "(empty)"))
    asked = "\n\n".join(tagged(name, content, nonce) for name, content in blocks)
    rules = prompts.render(f"failure_opinion_{row['language']}", nonce=nonce)
    return [{"role": "system", "content": rules}, {"role": "user", "content": asked}]


def _part(text: str, start: Any, end: Any) -> str:
    if len(text) <= 2 * _AROUND:
        return text
    first, last = (0, 0) if pd.isna(start) else (int(start), int(end))
    return text[max(0, first - _AROUND) : last + _AROUND]
