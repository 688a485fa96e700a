"""One report as a page of its own, in one file: open it from a disk, send it, read it without a network."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from markupsafe import Markup

from lifesearch_kit.records import Judgment, Label, Report, Task
from lifesearch_kit.views.cases import Findings, TranscriptSource, case_html, make_case, transcript_parts
from lifesearch_kit.views.html_templates import fill
from lifesearch_kit.views.odd_text import reveal_plain
from lifesearch_kit.views.sealed_pages import write_sealed_page

CASE_STYLES = ("page.css", "case.css")


def write_case_page(
    path: str | os.PathLike[str],
    task: Task | None,
    report: Report,
    judgments: Iterable[Judgment],
    transcript: TranscriptSource = None,
    labels: Iterable[Label] = (),
    findings: Findings = (),
    *,
    notice: str = "",
) -> Path:
    """Write one case as a self-contained page that holds no script at all.

    It shows question, cutoff and score, the rubrics by the weight that they lost with verdict, the judge's reason and
    people's labels, the report with its findings marked, and the transcript step by step. What is odd is said: a
    missing task, invisible characters, HTML, a transcript that breaks off.

    Parameters
    ----------
    path
        Where the page goes; a file that is there is replaced.
    task
        None where it is lost.
    judgments, labels
        Those of other reports are left out.
    transcript
        A transcript, or its file.
    findings
        What `failures.modes.failure_modes` gave, or (start, end, label) in characters of the report's text.
    notice
        What must be said beside these results (`provenance.provenance_notice`).

    Raises
    ------
    InputError
        When the report is on another task, or findings lie outside its text.
    """
    case = case_html(make_case(task, report, judgments, labels, findings))
    steps = fill("transcript.html.j2", transcript=transcript_parts(transcript, report), top=1)
    return write_sealed_page(
        path,
        "case_page.html.j2",
        CASE_STYLES,
        characters=(case, steps),
        title=reveal_plain(f"{report.system}, {report.task_id}, run {report.run}"),
        notice=notice,
        case=Markup(case),
        transcript=Markup(steps),
    )
