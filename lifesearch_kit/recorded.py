"""Results of an earlier run beside those of this one: nothing is asked again, so neither key nor model is needed.

A folder of recorded results holds systems.jsonl with reports.jsonl and its transcripts, judges.jsonl with
judgments.jsonl, or both pairs. The settings are what a result is recognised by: as in a store, one that was made with
another question, criterion, report, prompt or setting is another result, and is left out with a warning. Results on
tasks that this run does not have are passed over.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path
from typing import TypeVar

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_judgments, read_records, read_reports
from lifesearch_kit.plan import plan_checks, plan_runs
from lifesearch_kit.records import JUDGMENT_KEY, REPORT_KEY, Judgment, Report, Task
from lifesearch_kit.settings import JudgeSettings, ModelSettings, SystemSettings
from lifesearch_kit.store import Store, key_of, read_transcript, select
from lifesearch_kit.tools import Tool

AnySettings = TypeVar("AnySettings", bound=ModelSettings)
AnyRecord = TypeVar("AnyRecord", Report, Judgment)


def recorded_reports(
    folder: Path, store: Store, tasks: Sequence[Task], tools: Sequence[Tool], *, today: date, taken: Sequence[str] = ()
) -> list[Report]:
    """Take an earlier run's reports and transcripts into a store.

    Parameters
    ----------
    folder
        With systems.jsonl and reports.jsonl; without them there is nothing to take.
    store
        Where they are kept from now on, as if they had been made here.
    tasks, tools, today
        What this run's agents get. Reports that were made with anything else are left out.
    taken
        Names of systems that make their reports here.

    Returns
    -------
    list of Report
        By system, task and run.

    Raises
    ------
    InputError
        For faults of the files, a missing transcript, and a system's name that is taken.
    """
    systems, found = _pair(folder, "systems.jsonl", SystemSettings, "reports.jsonl", read_reports, taken)
    ids = {task.task_id for task in tasks}
    reports = [one for one in found if one.task_id in ids]
    if not reports:
        return []
    plan = plan_runs(tasks, systems, tools, runs=max(one.run for one in reports), today=today)
    fitting = select({key_of(one, REPORT_KEY): one for one in reports}, [run.key for run in plan])
    _tell_left_out(folder / "reports.jsonl", "reports", len(reports) - len(fitting))
    kept = []
    for report in fitting:
        transcript = read_transcript(folder / report.transcript) if report.transcript else None
        kept.append(store.add_report(report, transcript))
    return kept


def recorded_judgments(
    folder: Path, tasks: Sequence[Task], reports: Sequence[Report], taken: Sequence[str] = ()
) -> list[Judgment]:
    """Read an earlier run's judgments of these reports, the unjudged included.

    Parameters
    ----------
    folder
        With judges.jsonl and judgments.jsonl; without them there is nothing to take.
    tasks, reports
        What was judged. Judgments of anything else are left out.
    taken
        Names of judges that judge here.

    Returns
    -------
    list of Judgment
        By report, judge, rubric and repeat.

    Raises
    ------
    InputError
        For faults of the files, and a judge's name that is taken.
    """
    judges, found = _pair(folder, "judges.jsonl", JudgeSettings, "judgments.jsonl", read_judgments, taken)
    ids = {report.task_id for report in reports}
    judgments = [one for one in found if one.task_id in ids]
    if not judgments:
        return []
    plan = plan_checks(tasks, reports, judges, repeats=max(one.repeat for one in judgments))
    fitting = select({key_of(one, JUDGMENT_KEY): one for one in judgments}, [check.key for check in plan])
    _tell_left_out(folder / "judgments.jsonl", "judgments", len(judgments) - len(fitting))
    return fitting


def _pair(
    folder: Path,
    settings_file: str,
    model: type[AnySettings],
    records_file: str,
    read: Callable[[Path], list[AnyRecord]],
    taken: Sequence[str],
) -> tuple[list[AnySettings], list[AnyRecord]]:
    """The settings and the records of a folder, which has both or neither."""
    places = (folder / settings_file, folder / records_file)
    absent = [place for place in places if not place.is_file()]
    if len(absent) == 2:
        return [], []
    if absent:
        raise InputError(f"{absent[0]}: is not there, and without it the other file cannot be used; copy both")
    settings = read_records(places[0], model, key=("name",))
    twice = sorted({one.name for one in settings} & set(taken))
    if twice:
        raise InputError(
            [f"{places[0]}: the name {name!r} is also used in this run's settings; rename it there" for name in twice]
        )
    return settings, read(places[1])


def _tell_left_out(place: Path, what: str, count: int) -> None:
    if count:
        warnings.warn(
            f"{place}: {count} {what} were made with another question, report, prompt, tool or setting than today's and"
            " are left out; make them again",
            InputWarning,
            stacklevel=3,
        )
