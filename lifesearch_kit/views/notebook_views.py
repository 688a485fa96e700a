"""A graded report and a transcript as HTML, for notebooks: the same as on the pages of cases. All text is escaped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from IPython.display import HTML
from markupsafe import Markup

from lifesearch_kit.records import Judgment, Label, Report, Task
from lifesearch_kit.transcripts import Transcript
from lifesearch_kit.views.cases import Findings, make_case, transcript_parts
from lifesearch_kit.views.html_templates import fill

_HEADING = 3  # below the headings of a notebook


def report_view(
    task: Task,
    report: Report,
    judgments: Iterable[Judgment],
    labels: Iterable[Label] = (),
    findings: Findings = (),
    *,
    open_report: bool = True,
) -> HTML:
    """Show a report beside the verdicts on it: what cost most comes first.

    Parameters
    ----------
    task, report
        The report must be one on the task.
    judgments, labels
        Those of other reports are left out. Several passes of a rubric are shown together.
    findings
        What `failures.modes.failure_modes` gave, or (start, end, label) in characters of the report's text: marked
        there.
    open_report
        Whether the report's text is unfolded.

    Returns
    -------
    IPython.display.HTML
        Markdown rendered without raw HTML, images left as links; one score line a judge and repeat, as
        "14/18, 60.38%" (rubrics of weight 0 omitted, equation 1); unjudged rubrics are said to be so, and give bounds.

    Raises
    ------
    InputError
        When the report belongs to another task, or findings lie outside its text.
    """
    case = make_case(task, report, judgments, labels, findings)
    return notebook_view("case.html.j2", case=case, shown=case.shown(_HEADING), open=open_report)


def transcript_view(transcript: Transcript) -> HTML:
    """Show a run step by step: what the model wrote, which tools it called, what came back, time and tokens."""
    return notebook_view("transcript.html.j2", transcript=transcript_parts(transcript))


def notebook_view(body: str, **values: Any) -> HTML:
    """Fill the template `body` and give it its styles, which follow the notebook's theme and touch nothing else."""
    return HTML(fill("view.html.j2", css=Markup(fill("view.css")), body=body, top=_HEADING, **values))
