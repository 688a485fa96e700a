"""Signs in transcripts that an agent met what it must not read: blocked addresses, and the rubrics that grade it.

For runs with a blocklist, to see that it held, and for runs that were made without one.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import Task
from lifesearch_kit.text import fold
from lifesearch_kit.tools.blocklist import Blocklist
from lifesearch_kit.transcripts import Transcript

CRITERION_WIDTH = 40
_EXCERPT = 80
_WIDE = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_LINK = re.compile(r"\[([^\[\]]*)\]\([^()\s]*\)")
_MARKS = re.compile(r"[*_`~#>|\\\"'“”‘’]")
_RUN = ["system", "task_id", "run", "step", "tool"]


def leaks(transcripts: Iterable[Transcript], blocklist: Blocklist) -> pd.DataFrame:
    """Where transcripts name a blocked address, in any spelling that the blocklist knows.

    Parameters
    ----------
    transcripts
        Of any systems, tasks and runs.
    blocklist
        What to look for. Whether the address was read, or was only linked to, is for the reader of the row to judge.

    Returns
    -------
    DataFrame
        One row a mention: system, task_id, run, step (the step's number), tool (missing in the report), where ("call":
        the arguments that the model wrote; "result"; "report": the last message), pattern (the blocklist's entry),
        excerpt (in plain spelling, lower case).
    """
    rows = [
        [*key, where, found.entry, found.excerpt]
        for key, where, text in _texts(transcripts)
        for found in blocklist.mentions(text)
    ]
    return pd.DataFrame(rows, columns=[*_RUN, "where", "pattern", "excerpt"])


def leaked_criteria(
    transcripts: Iterable[Transcript], tasks: Iterable[Task], *, at_least: int = CRITERION_WIDTH
) -> pd.DataFrame:
    """Where a tool's result quotes a criterion of the transcript's own task word for word: the answer key was read.

    Width, case and blanks do not count, and neither do Markdown's marks, JSON's and HTML's spellings of characters, or
    a full stop at the end of the criterion. Half of a criterion, as a page's end may leave it, is a quotation too where
    it is twice as long as `at_least`.

    Parameters
    ----------
    transcripts
        Those on tasks that are not given are passed over.
    tasks
        With their rubrics.
    at_least
        Shorter criteria are not looked for, as a page may well say the same by chance. In characters without blanks;
        a Chinese character counts as two.

    Returns
    -------
    DataFrame
        One row a criterion and result: system, task_id, run, step, tool, rubric_id, excerpt (around the quotation,
        blanks and marks removed).

    Raises
    ------
    InputError
        When `at_least` is no positive number.
    """
    if at_least < 1:
        raise InputError(f"at_least {at_least} would find every text; give 1 or more")
    wanted = {
        task.task_id: [
            (rubric.rubric_id, parts)
            for rubric in task.rubrics
            for parts in [_quotable(_bare(rubric.criterion), at_least)]
            if parts
        ]
        for task in tasks
    }
    rows = []
    for key, where, text in _texts(one for one in transcripts if wanted.get(one.task_id)):
        bare = _bare(text) if where == "result" else ""
        for rubric_id, parts in wanted[key[1]] if bare else ():
            found = next(((at, part) for part in parts if (at := bare.find(part)) >= 0), None)
            if found:
                at, part = found
                rows.append([*key, rubric_id, bare[max(0, at - _EXCERPT) : at + len(part) + _EXCERPT]])
    return pd.DataFrame(rows, columns=[*_RUN, "rubric_id", "excerpt"])


def _texts(transcripts: Iterable[Transcript]) -> Iterator[tuple[list[Any], str, str]]:
    for one in transcripts:
        key = [one.system, one.task_id, one.run]
        for step in one.steps:
            for result in step.results:
                yield [*key, step.number, result.tool], "call", _written(result.arguments)
                yield [*key, step.number, result.tool], "result", result.content
        # A run that was cut off ends with a step that called tools: its message is no report.
        if one.steps and not one.steps[-1].results:
            last = one.steps[-1]
            yield [*key, last.number, None], "report", _said(last.message.get("content"))


def _written(arguments: str) -> str:
    """The texts in the arguments, without JSON's own escapes, which would hide an address."""
    try:
        return "\n".join(_strings(json.loads(arguments)))
    except (ValueError, RecursionError):
        return arguments


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _strings(item)


def _said(content: Any) -> str:
    """A message's text; some endpoints send it in parts."""
    if isinstance(content, list):
        return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _quotable(criterion: str, at_least: int) -> list[str]:
    """The criterion where it is wide enough, and its halves where they are twice as wide, as pages share phrases."""
    whole = criterion.rstrip(".。")
    middle = len(whole) // 2
    parts = ((whole, at_least), (whole[:middle], 2 * at_least), (whole[middle:], 2 * at_least))
    return [part for part, least in parts if len(part) + len(_WIDE.findall(part)) >= least]


def _bare(text: str) -> str:
    text = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), html.unescape(text))
    return "".join(_MARKS.sub("", fold(_LINK.sub(r"\1", text))).split())
