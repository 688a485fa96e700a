"""Tasks, reports and judgments for tests of pages, among them texts that try to break out of a page."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

from lifesearch_kit.files import write_jsonl
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.transcripts import Step, ToolResult, Transcript

ATTACK = (
    '<script>window.hit = 1</script><img src="x" onerror="window.hit = 1"><svg onload="window.hit = 1">'
    '</script><script>window.hit = 1</script><!-- <![CDATA[ ]]> --><iframe srcdoc="<script>parent.hit = 1</script>">'
    '\'"><b onclick="window.hit = 1">b</b><style>body { display: none }</style><base href="https://evil.example/">'
    '<meta http-equiv="refresh" content="0;url=https://evil.example/"></div></main></body>{{ 7 * 7 }}'
)
LINKS = (
    "[run](javascript:window.hit=1) [data](data:text/html,<script>window.hit=1</script>) <javascript:window.hit=1> "
    '[vb](vbscript:x) [file](file:///etc/passwd) [web](https://good.example/a?b=1&c="x") ![shot](https://evil.example/t.png)'
)
BROKEN = "Broken <img src=x onerror=window.hit=1 \n\n<a href='javascript:window.hit=1'\n\n```html\n<script>window.hit=1"
HOSTILE = (
    f"# Title {ATTACK}\n\n{ATTACK}\n\n{LINKS}\n\n| a {ATTACK.replace('|', '')} | b |\n|---|--:|\n| 1 | 2 |\n\n{BROKEN}"
)


def make_task(
    *weights: float, task_id: str = "t", criterion: str = "The response should hold it.", **fields: Any
) -> Task:
    rubrics = tuple(
        Rubric(rubric_id=f"R{number}", criterion=criterion, weight=weight)
        for number, weight in enumerate(weights, start=1)
    )
    return Task(**({"task_id": task_id, "language": "en", "domain": "d", "query": "Why?", "rubrics": rubrics} | fields))


def make_report(text: str = "A", **fields: Any) -> Report:
    return Report(**({"system": "s", "task_id": "t", "text": text} | fields))


def judge(number: int, satisfied: bool | None, **fields: Any) -> Judgment:
    keys = {"system": "s", "task_id": "t", "rubric_id": f"R{number}", "judge": "j"}
    status = "ok" if satisfied is not None else "truncated"
    return Judgment(**(keys | {"satisfied": satisfied, "status": status} | fields))


def make_transcript(said: str = "text", **fields: Any) -> Transcript:
    """Two steps: a search with one hit and a failed fetch, then a message."""
    hits = f"[1] Title {said}\nURL: https://a.example/x\nDate: 2026-01-02\nSnippet {said}"
    calls = (
        ToolResult(call_id="1", tool="search", arguments='{"query": "who"}', content=hits, ok=True, seconds=0.5),
        ToolResult(call_id="2", tool="fetch", arguments=said, content=said, ok=False),
    )
    steps = (
        Step(
            number=1,
            message={"content": None, "reasoning_content": said, "tool_calls": [{}, {}]},
            results=calls,
            input_tokens=3000,
            output_tokens=1200,
            seconds=2.5,
            tool_seconds=0.5,
        ),
        Step(number=2, message={"content": [{"type": "text", "text": said}]}, finish_reason="stop", notes=(said,)),
    )
    keys = {"system": "s", "task_id": "t", "run": 1, "system_prompt": said, "question": said, "steps": steps}
    return Transcript(**(keys | fields))


def write_run(folder: Path) -> Path:
    """A results folder: systems A and B, a Chinese and an English task, two runs, one report refused.

    A passes R1 alone (0.5 of 1.0), B passes R2 and R3; A's rubric R2 is Subjective, Implicit and Nice to Have.
    """
    other = {"type": "Subjective", "necessity": "Implicit", "priority": "Nice to Have"}
    kinds = [(0.5, {}), (0.3, other), (0.2, {})]
    tasks = [
        Task(
            task_id=name,
            language=language,
            domain=domain,
            query=f"{question} {ATTACK}",
            cutoff="2026-03-31",
            rubrics=tuple(
                Rubric(rubric_id=f"R{number}", criterion=f"要求 {number} {ATTACK}", weight=weight, **kind)
                for number, (weight, kind) in enumerate(kinds, start=1)
            ),
        )
        for name, language, domain, question in [
            ("zh-1", "zh", "Finance", "请比较两只基金的分派率。"),
            ("en-1", "en", "Policy", "Which rule is in force?"),
        ]
    ]
    reports, judgments = [], []
    for task in tasks:
        for system in ("A", "B"):
            for run in (1, 2):
                key = {"system": system, "task_id": task.task_id, "run": run}
                refused = system == "B" and task.task_id == "en-1" and run == 2
                text = "" if refused else f"Needle{system}{run}\u200b\u202e {HOSTILE}"
                path = f"transcripts/{system}-{task.task_id}-{run}.json.gz" if system == "A" else None
                status = "refused" if refused else "answered"
                reports.append(Report(**key, text=text, status=status, transcript=path, notes=(ATTACK,)))
                judgments += [
                    judge(number, (number == 1) == (system == "A"), **key, reason=f"reason {ATTACK}")
                    for number in (() if refused else (1, 2, 3))
                ]
                if path and run == 1:  # the file of run 2 is lost
                    (folder / path).parent.mkdir(parents=True, exist_ok=True)
                    content = make_transcript(ATTACK, **key).model_dump_json()
                    (folder / path).write_bytes(gzip.compress(content.encode()))
    write_jsonl(folder / "tasks.jsonl", tasks)
    write_jsonl(folder / "reports.jsonl", reports)
    write_jsonl(folder / "judgments.jsonl", judgments)
    return folder
