"""A transcript's steps made ready for reading: search results as lists, pages under their header, links to the web."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from markupsafe import Markup

from lifesearch_kit.records import REPORT_KEY, Report
from lifesearch_kit.tools.shown import ShownHit, page_head, read_results
from lifesearch_kit.transcripts import Step, ToolResult, Transcript
from lifesearch_kit.views.odd_text import reveal

_ADDRESS = re.compile(r"https?://[\w\-.~:/?#@!$&*+,;=%\[\]]*[\w/#=&%\-]")
# The first lines of a hit: its title, then what the search tool said of it.
_HIT_FACT = re.compile(r"(?:URL|Date): ")


def transcript_steps(transcript: Transcript) -> list[dict[str, Any]]:
    """Describe each step for the templates: number, heading, facts, reasoning, text, calls, notes."""
    return [_step(step) for step in transcript.steps]


def transcript_faults(transcript: Transcript, report: Report | None = None) -> list[str]:
    """Say where a transcript breaks off, and where it is not the whole story of its report."""
    faults = []
    if report and any(getattr(report, name) != getattr(transcript, name) for name in REPORT_KEY):
        whose = f"{transcript.system}, task {transcript.task_id}, run {transcript.run}"
        faults.append(f"The transcript is that of another report: {whose}.")
    if not transcript.steps:
        return [*faults, "The transcript holds no step."]
    last = transcript.steps[-1]
    calls = last.message.get("tool_calls")
    asked = len(calls) if isinstance(calls, list) else 0
    if asked > len(last.results):
        faults.append(
            f"The transcript breaks off in step {last.number}: {asked - len(last.results)} of {asked} tool calls have "
            "no result."
        )
    iterations = report.iterations if report else None
    if iterations is not None and iterations > len(transcript.steps):
        faults.append(
            f"The transcript ends after {len(transcript.steps)} of {iterations} steps that the report counts."
        )
    return faults


def linked(text: str) -> Markup:
    """Escape a text, with its addresses of the web as links and invisible characters shown."""
    parts: list[Markup] = []
    end = 0
    link = Markup('<a href="{0}" rel="noopener noreferrer nofollow" target="_blank">{0}</a>')
    for match in _ADDRESS.finditer(text):
        parts += [reveal(text[end : match.start()]), link.format(match[0])]
        end = match.end()
    return Markup().join([*parts, reveal(text[end:])])


def _step(step: Step) -> dict[str, Any]:
    tools = [result.tool for result in step.results]
    named = [f"{name} × {tools.count(name)}" if tools.count(name) > 1 else name for name in dict.fromkeys(tools)] or [
        f"message ({step.finish_reason or 'no finish reason'})"
    ]
    return {
        "number": step.number,
        "heading": ", ".join(named),
        "failed": sum(not result.ok for result in step.results),
        "facts": _facts(step),
        "reasoning": linked(_said(step.message.get("reasoning_content") or step.message.get("reasoning"))),
        "text": linked(_said(step.message.get("content"))),
        "calls": [_call(result) for result in step.results],
        "notes": step.notes,
    }


def _facts(step: Step) -> str:
    facts = [f"{step.seconds:.1f} s deciding"] if step.seconds else []
    facts += [f"{step.tool_seconds:.1f} s in tools"] if step.tool_seconds else []
    counts = {"read": step.input_tokens, "written": step.output_tokens, "of them reasoning": step.reasoning_tokens}
    about = "about " if step.estimated else ""
    facts += [f"{about}{count:,} tokens {what}" for what, count in counts.items() if count is not None]
    return ", ".join(facts)


def _call(result: ToolResult) -> dict[str, Any]:
    listed = read_results(result.content)
    head = page_head(result.content)
    return {
        "tool": result.tool,
        "ok": result.ok,
        "outcome": "" if result.ok else "failed at the service" if result.service_failed else "failed",
        "seconds": f"{result.seconds:.1f} s" if result.seconds else "",
        "arguments": _arguments(result.arguments),
        "hits": [_hit(hit) for hit in listed.hits] if listed else [],
        "around": [linked(part) for part in (*listed.above, *listed.below)] if listed else [],
        "head": linked(head),
        "body": Markup() if listed else linked(result.content[len(head) :].strip("\n")),
        "characters": len(result.content),
    }


def _hit(hit: ShownHit) -> dict[str, Any]:
    title, *lines = hit.text.split("\n")
    snippet = "\n".join(line for line in lines if not _HIT_FACT.match(line))
    return {"title": reveal(title), "url": linked(hit.url), "date": hit.date or "", "snippet": linked(snippet)}


def _arguments(text: str) -> Sequence[tuple[str, Markup]]:
    try:
        given = json.loads(text)
    except (ValueError, RecursionError):  # what the model wrote is shown as it is
        given = None
    if not isinstance(given, dict):
        return [("", linked(text))] if text else []
    return [
        (str(name), linked(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)))
        for name, value in given.items()
    ]


def _said(content: object) -> str:
    """The text of a message: endpoints send a string, or a list of parts."""
    if isinstance(content, list):
        return "\n".join(
            str(part.get("text") or json.dumps(part, ensure_ascii=False)) if isinstance(part, dict) else str(part)
            for part in content
        )
    return "" if content is None else str(content)
