"""Check a benchmark's rubrics from a shell: ``python -m lifesearch_kit.rubric_checks tasks.jsonl``.

Prints a line a finding, ``file:line: task/rubric: check: message (remedy)``, or with ``--format jsonl`` an object.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_tasks
from lifesearch_kit.frames import rubrics_frame
from lifesearch_kit.rows import read_rows
from lifesearch_kit.rubric_checks.accepted import read_accepted, without_accepted
from lifesearch_kit.rubric_checks.checking import CHECKS, check_rubrics


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line.

    Returns
    -------
    int
        0 without findings, 1 with findings, 2 when a file or an argument cannot be used.
    """
    options = _parsed(arguments)
    try:
        findings = _findings(options)
        places = _places(options.tasks, options.rubrics)
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    for row in findings.to_dict("records"):
        place = places.get((row["task_id"], row["rubric_id"])) or places.get((row["task_id"], None)) or options.tasks
        print(_json(row, place) if options.format == "jsonl" else _line(row, place))
    rubrics = findings.drop_duplicates(["task_id", "rubric_id"])
    print(f"{len(findings)} findings in {len(rubrics)} places" if len(findings) else "no findings", file=sys.stderr)
    return 1 if len(findings) else 0


def _parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m lifesearch_kit.rubric_checks",
        description="Check a benchmark's rubrics against the writing rules.",
        epilog=f"Checks: {', '.join(CHECKS)}.",
    )
    parser.add_argument("tasks", help="tasks as JSON Lines or JSON")
    parser.add_argument("--rubrics", metavar="FILE", help="rubrics in a file of their own (.jsonl, .json, .csv)")
    parser.add_argument("--ignore", metavar="CHECK", nargs="+", action="extend", default=[], help="leave checks out")
    parser.add_argument("--accepted", metavar="FILE", help="findings that may stand, with reasons (.jsonl)")
    parser.add_argument("--format", choices=("text", "jsonl"), default="text")
    return parser.parse_args(arguments)


def _findings(options: argparse.Namespace) -> pd.DataFrame:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        # A weight that is no tenth is a finding here, beside the others.
        tasks = read_tasks(options.tasks, options.rubrics, weight_step=None)
    if not tasks:
        raise InputError(f"{options.tasks}: holds no task; name the file of a benchmark")
    check_rubrics(rubrics_frame([]), options.ignore)
    findings = check_rubrics(rubrics_frame(tasks))
    if options.accepted:
        findings = without_accepted(findings, read_accepted(options.accepted), options.accepted)
    return findings[~findings["check"].isin(options.ignore)]


def _places(tasks: str, rubrics: str | None) -> dict[tuple[str, str | None], str]:
    """Where each task and, in a file of their own, each rubric stands."""
    places: dict[tuple[str, str | None], str] = {
        (str(row.data.get("task_id")), None): row.place for row in read_rows(tasks)[0]
    }
    counts: dict[str, int] = {}
    for row in read_rows(rubrics)[0] if rubrics else ():
        task = str(row.data.get("task_id"))
        counts[task] = counts.get(task, 0) + 1
        places[task, str(row.data.get("rubric_id", f"R{counts[task]}"))] = row.place
    return places


def _line(row: dict[Any, Any], place: str) -> str:
    name = "/".join(str(row[key]) for key in ("task_id", "rubric_id") if not pd.isna(row[key])) or "all tasks"
    return f"{place}: {name}: {row['check']}: {row['message']} ({row['remedy']})"


def _json(row: dict[Any, Any], place: str) -> str:
    plain = {name: None if pd.isna(value) else value for name, value in row.items()}
    return json.dumps({"place": place, **plain}, ensure_ascii=False)


if __name__ == "__main__":
    sys.exit(main())
