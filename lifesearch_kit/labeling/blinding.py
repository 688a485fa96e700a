"""Who wrote a report stays hidden from the people who label or rank it: codes for reports, and a search for names."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from lifesearch_kit.fields import fingerprint
from lifesearch_kit.records import REPORT_KEY, Report
from lifesearch_kit.text import fold, strip_invisible

# A single character, or two Latin letters, stand in ordinary text; they are not looked for. "o3" and two Chinese are.
_TOO_COMMON = re.compile(r".?|[a-z]{2}")
_CHUNK = re.compile(r"[a-z]+|\d+|[^\W\d_a-z]+", re.I)
# What may stand between the parts of a name: "GPT-5", "gpt 5", "GPT5" and "**GPT**-5" are one.
_BETWEEN = r"[\s\-_.*`~/:\u2010-\u2015]*"
_EXCERPT = 40


def report_code(report: Report) -> str:
    """Name a report without naming its system: sixteen hexadecimal digits of its key."""
    return fingerprint("report", *(getattr(report, name) for name in REPORT_KEY))


def identity_names(reports: Iterable[Report], aliases: Iterable[str] = ()) -> list[str]:
    """What would give a report's author away: names of systems, of served models, and the aliases given.

    Parameters
    ----------
    aliases
        Names of models and vendors that the records do not hold.
    """
    records = list(reports)
    found = [*(one.system for one in records), *(one.model or "" for one in records), *aliases]
    names = {fold(one): one for one in reversed(found) if not _TOO_COMMON.fullmatch(fold(one))}
    return sorted(names.values())


def identity_mentions(reports: Iterable[Report], names: Sequence[str]) -> pd.DataFrame:
    """Reports whose text holds a name that would give an author away, be it as author or as subject.

    Returns
    -------
    DataFrame
        A row a report and name: system, task_id, run, name, times, excerpt (around the first). Width, case, invisible
        characters, and blanks, hyphens or marks between the parts of a name do not count.
    """
    patterns = {name: _pattern(name) for name in names}
    rows = []
    for report in reports:
        text = strip_invisible(report.text)
        for name, pattern in patterns.items():
            found = list(pattern.finditer(text))
            if found:
                start, end = found[0].span()
                excerpt = " ".join(text[max(0, start - _EXCERPT) : end + _EXCERPT].split())
                rows.append((*(getattr(report, part) for part in REPORT_KEY), name, len(found), excerpt))
    return pd.DataFrame(rows, columns=[*REPORT_KEY, "name", "times", "excerpt"])


def without_mentions(reports: Iterable[Report], mentions: pd.DataFrame) -> list[Report]:
    """The reports that `identity_mentions` found no name in."""
    named = set(mentions[list(REPORT_KEY)].itertuples(index=False, name=None))
    return [one for one in reports if (one.system, one.task_id, one.run) not in named]


def names_shown(shown: Any, names: Sequence[str]) -> list[str]:
    """The names that stand in what is sent to a person's screen: in its text, or in anything else of it.

    Parameters
    ----------
    shown
        HTML, or a JSON value that holds trees of it.
    """
    whole = strip_invisible(shown if isinstance(shown, str) else json.dumps(shown, ensure_ascii=False))
    text = re.sub(r"<[^>]*>", "", whole) if isinstance(shown, str) else "".join(_texts(shown))
    return [name for name in names if _pattern(name).search(whole) or _pattern(name).search(strip_invisible(text))]


def _texts(node: Any) -> Iterable[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, dict):
        for one in node.values():
            yield from _texts(one)
    elif isinstance(node, (list, tuple)):
        is_element = len(node) > 1 and isinstance(node[0], str) and isinstance(node[1], dict)
        for one in node[2:] if is_element else node:
            yield from _texts(one)


def _pattern(name: str) -> re.Pattern[str]:
    parts = _CHUNK.findall(fold(name)) or [fold(name)]
    body = _BETWEEN.join(re.escape(one) for one in parts)
    # Chinese has no blanks between words, so only Latin letters and digits keep a name from starting or ending.
    before = r"(?<![a-z0-9])" if parts[0][0].isascii() else ""
    after = r"(?![a-z0-9])" if parts[-1][-1].isascii() else ""
    return re.compile(before + body + after, re.I)
