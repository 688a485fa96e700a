"""All reports of a run in one file: a list to filter, and each report as a case.

A case is rendered here, by the same templates as a page of its own, and stored as a tree of elements and texts. The
page's script builds those elements one by one from a list of allowed ones, texts as text nodes: it never hands a
string to a parser of HTML, and its policy (Trusted Types) would not let it. Each tree is compressed by itself and
unpacked when it is looked at, so that 2,000 reports open about as fast as twenty.
"""

from __future__ import annotations

import base64
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from lifesearch_kit.errors import InputError
from lifesearch_kit.provenance import provenance_notice
from lifesearch_kit.results import Results
from lifesearch_kit.text import encode
from lifesearch_kit.views.case_pages import CASE_STYLES
from lifesearch_kit.views.cases import case_html, transcript_parts
from lifesearch_kit.views.html_templates import fill
from lifesearch_kit.views.html_trees import html_tree
from lifesearch_kit.views.odd_text import reveal_plain
from lifesearch_kit.views.run_cases import Run, RunCase, gather_cases
from lifesearch_kit.views.sealed_pages import write_sealed_page

MOST_REPORTS = 2_000
# Characters of base64; 2,000 usual reports take about 15 million.
CASE_ROOM = 48_000_000
TRANSCRIPT_ROOM = 16_000_000


def write_run_page(
    path: str | os.PathLike[str],
    results: Results,
    transcripts_folder: str | os.PathLike[str] | None = None,
    *,
    judge: str = "",
    findings: pd.DataFrame | None = None,
) -> Path:
    """Write the reports of a results folder as one self-contained page.

    The list filters by system, domain, language, status, failure mode, by the attributes of a rubric that was failed,
    and by words. A chosen report is shown as a case, and rubric by rubric beside another report on its task; two
    systems are compared task by task, those on which they differ most first.

    Parameters
    ----------
    path
        Where the page goes; a file that is there is replaced.
    results
        With reports; tasks, judgments and labels where there are any.
    transcripts_folder
        The folder that the reports' transcript paths start at, as a rule the results' own. Without it there are no
        transcripts in the page. Transcripts beyond 16 MB (compressed) are left out, which the page says.
    judge
        Whose verdicts are shown; empty takes the judge with most of them.
    findings
        What `failures.modes.failure_modes` gave; without it, that is computed here.

    Raises
    ------
    InputError
        Without reports, for more than 2,000 of them, for an unknown judge, or findings outside their reports.
    """
    count = len(results.require("reports"))
    if not 0 < count <= MOST_REPORTS:
        raise InputError(
            f"{results.folder}: {count:,} reports; a page shows 1 to {MOST_REPORTS:,} of them, so pick some"
        )
    run = gather_cases(results, judge, findings)
    index = json.dumps(_index(run), ensure_ascii=False, separators=(",", ":"))
    characters = set(index)
    cases, left_out = _packed_cases(run, characters)
    transcripts, untold = _packed_transcripts(run, transcripts_folder, characters)
    notices = [provenance_notice(results)]
    notices += [f"{left_out:,} reports are in the list alone: the page would be too large."] if left_out else []
    if transcripts_folder is None:
        notices.append("Transcripts are not in this page.")
    elif untold:
        notices.append(f"The transcripts of {untold:,} reports are left out: the page would be too large.")
    return write_sealed_page(
        path,
        "run_page.html.j2",
        (*CASE_STYLES, "run_page.css"),
        ("run_trees.js", "run_list.js", "run_pairs.js", "run_case.js"),
        characters=characters,
        title=reveal_plain(f"Reports of {results.folder.resolve().name}"),
        judge=run.judge,
        notices=[one for one in notices if one],
        index=_in_script(index),
        cases=cases,
        transcripts=transcripts,
        count=count,
    )


def _packed_cases(run: Run, characters: set[str]) -> tuple[dict[int, str], int]:
    room, packed = CASE_ROOM, {}
    for number, one in enumerate(run.cases):
        verdicts = {
            row.rubric.rubric_id: [row.verdict, row.look, reveal_plain(" / ".join(row.reasons))]
            for row in one.case.rows
        }
        html = case_html(one.case, top=2)
        content = _packed({"case": html_tree(html), "verdicts": verdicts})
        if len(content) <= room:
            characters.update(html)
            packed[number] = content
            room -= len(content)
    return packed, len(run.cases) - len(packed)


def _packed_transcripts(
    run: Run, folder: str | os.PathLike[str] | None, characters: set[str]
) -> tuple[dict[int, str], int]:
    room, packed, left_out = TRANSCRIPT_ROOM, {}, 0
    for number, one in enumerate(run.cases if folder is not None else ()):
        report = one.case.report
        if not report.transcript:
            continue
        # The first one that finds no room ends it: to read on would cost minutes for nothing.
        if not left_out:
            parts = transcript_parts(Path(str(folder), report.transcript), report)
            html = fill("transcript.html.j2", transcript=parts, top=2)
            content = _packed(html_tree(html))
            if len(content) <= room:
                characters.update(html)
                packed[number] = content
                room -= len(content)
                continue
        left_out += 1
    return packed, left_out


def _index(run: Run) -> dict[str, Any]:
    tasks = {
        task.task_id: {
            "question": reveal_plain(task.query),
            "lang": "zh-Hans" if task.language == "zh" else "en",
            "rubrics": [[one.rubric_id, one.weight, reveal_plain(one.criterion)] for one in task.rubrics],
        }
        for task in run.tasks.values()
    }
    return {"reports": [_entry(one, run.judge) for one in run.cases], "tasks": tasks}


def _entry(one: RunCase, judge: str) -> dict[str, Any]:
    task, report = one.case.task, one.case.report
    failed = [row.rubric for row in one.case.rows if row.look == "failed"]
    return {
        "system": reveal_plain(report.system),
        "task": report.task_id,
        "run": report.run,
        "domain": reveal_plain(task.domain) if task else "unknown",
        "language": ("Chinese" if task.language == "zh" else "English") if task else "unknown",
        "status": report.status.replace("_", " "),
        "modes": [mode.replace("_", " ") for mode in one.modes],
        "failed": sorted({(rubric.type, rubric.necessity, rubric.priority) for rubric in failed}),
        "score": one.score,
        "transcript": bool(report.transcript),
        # The page's heading names the judge.
        "told": one.case.scores[0].replace(f" by {judge}", "") if one.case.scores else "not judged",
    }


def _in_script(text: str) -> Markup:
    """JSON that holds nothing which ends or opens a script element."""
    return Markup(text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e"))


def _packed(value: object) -> str:
    return base64.b64encode(zlib.compress(encode(value), 6)).decode()
