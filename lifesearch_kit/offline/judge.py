"""The baseline judge: checks a criterion's facts against the report by rules. It is no language model.

It reads the judge prompt's user message (question, report and criterion between tags that end in a nonce) and answers
with one strict JSON object. The same request always gets the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lifesearch_kit.offline.conversation import Completion, text_of
from lifesearch_kit.offline.decisions import Configuration, Decision, decide
from lifesearch_kit.terms import is_chinese

_NONCE = re.compile(r"<question-([^>\s]+)>\n")
REASON_WORDS, REASON_CHARACTERS = 30, 80


JUDGES: dict[str, Configuration] = {
    "baseline-judge": Configuration(topic_share=0.62, context_share=0.40, name_share=0.75, general_share=0.55),
    "baseline-judge-strict": Configuration(topic_share=0.80, context_share=0.55, name_share=1.0, general_share=0.6),
    "baseline-judge-keyword": Configuration(
        topic_share=0.6, context_share=0.0, name_share=0.0, general_share=0.6, checks_facts=False
    ),
}


def answer_judge(body: Mapping[str, Any]) -> Completion:
    """Answer a judge request; what is no judge prompt is answered in words, which nobody takes for a verdict."""
    message = next((text_of(one.get("content")) for one in reversed(body["messages"]) if one.get("role") == "user"), "")
    nonce = _NONCE.match(message.lstrip())
    parts = [_between(message, name, nonce.group(1)) for name in ("question", "report", "criterion")] if nonce else []
    if None in parts or not parts:
        return Completion("This baseline judge found no question, report and criterion between nonce tags.")
    question, report, criterion = (part or "" for part in parts)
    decision = decide(question, report, criterion, JUDGES[str(body["model"])])
    reason = _reason(decision, is_chinese(criterion))
    return Completion(json.dumps({"satisfied": decision.satisfied, "reason": reason}, ensure_ascii=False))


def _between(message: str, name: str, nonce: str) -> str | None:
    """The text between a pair of tags; found by position, since patterns are slow on long reports."""
    opening, closing = f"<{name}-{nonce}>\n", f"\n</{name}-{nonce}>"
    start = message.find(opening)
    end = message.find(closing, start)
    return message[start + len(opening) : end] if 0 <= start < end else None


def _reason(decision: Decision, chinese: bool) -> str:
    words = decision.found if decision.satisfied else decision.missing or decision.found
    listed = [word.strip() for word in words if word.strip()]
    if chinese:
        reason = ("报告中有：" if decision.satisfied else "报告中缺少或不符：") + "、".join(listed[:4])
        return reason[:REASON_CHARACTERS]
    reason = ("Found in the report: " if decision.satisfied else "Missing or not matching: ") + ", ".join(listed[:4])
    return " ".join(reason.split()[:REASON_WORDS])
