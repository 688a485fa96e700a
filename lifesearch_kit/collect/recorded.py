"""Results of an earlier run beside those of this one: nothing is asked again, so neither key nor model is needed.

A folder of recorded results holds systems.jsonl with reports.jsonl and its transcripts, judges.jsonl with
judgments.jsonl, or both pairs; what a run leaves behind is such a folder. The settings are what a result is recognised
by: as in a store, one that was made with another question, criterion, report, prompt or setting is another result, and
is left out with a warning. Results on tasks and reports that this run does not have are passed over.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from typing import Literal, NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.collect.plan import plan_checks, plan_runs
from lifesearch_kit.collect.recorded_files import (
    JUDGES,
    JUDGMENTS,
    REPORTS,
    SYSTEMS,
    AnyRecord,
    read_judgments_with_judges,
    read_reports_with_systems,
    require_results,
)
from lifesearch_kit.collect.store import Store, key_of, read_transcript
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.own_agents import OwnAgent
from lifesearch_kit.records import JUDGMENT_KEY, REPORT_KEY, Judgment, Key, Report, Task
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.tools import Tools
from lifesearch_kit.transcripts import Transcript


class RecordedReports(NamedTuple):
    """Reports of an earlier run, by system, task and run, and the settings of the systems that made them."""

    systems: list[SystemSettings | OwnAgent]
    reports: list[Report]


class RecordedJudgments(NamedTuple):
    """Judgments of an earlier run, by report, judge, rubric and repeat, and the settings of their judges."""

    judges: list[JudgeSettings]
    judgments: list[Judgment]


def recorded_reports(
    folder: Path,
    store: Store,
    tasks: Sequence[Task],
    tools: Tools,
    *,
    today: date,
    runs: int | None = None,
    taken: Sequence[str] = (),
) -> RecordedReports:
    """Take an earlier run's reports and transcripts into a store; all of them are read before the first is kept.

    Parameters
    ----------
    folder
        With systems.jsonl and reports.jsonl. There is nothing to take without both, nor without systems.jsonl where
        judges.jsonl says that the reports are only what was judged.
    store
        Where they are kept from now on, as if they had been made here.
    tasks, tools, today
        What this run's agents get. Reports that were made with anything else are left out.
    runs
        How often this run does each task; later runs are passed over. None takes all.
    taken
        Names of systems whose reports come from elsewhere.

    Returns
    -------
    RecordedReports
        The settings are those of the reports that fit.

    Raises
    ------
    InputError
        For a folder without recorded results, faults of the files, reports of a system that systems.jsonl does not
        name, a system's name that is taken, and a transcript that is missing or another report's.
    """
    require_results(folder)
    if not (folder / SYSTEMS).is_file() and (folder / JUDGES).is_file():
        return RecordedReports([], [])
    systems, found = read_reports_with_systems(folder, taken)
    ids = {task.task_id for task in tasks}
    here = [one for one in found if one.task_id in ids and (runs is None or one.run <= runs)]
    plan = plan_runs(tasks, systems, tools, runs=1, today=today)
    fitting = _fitting(here, REPORT_KEY, "run", [run.key for run in plan])
    _tell_left_out(folder / REPORTS, "reports", len(here) - len(fitting))
    transcripts = _transcripts(folder, fitting)
    kept = [store.add_report(*one) for one in zip(fitting, transcripts, strict=True)]
    names = {report.system for report in kept}
    return RecordedReports([one for one in systems if one.name in names], kept)


def recorded_judgments(
    folder: Path, tasks: Sequence[Task], reports: Sequence[Report], taken: Sequence[str] = ()
) -> RecordedJudgments:
    """Read an earlier run's judgments of these reports, the unjudged included.

    Parameters
    ----------
    folder
        With judges.jsonl and judgments.jsonl; without both there is nothing to take.
    tasks, reports
        What was judged. Judgments of other reports are passed over; those of these reports with another text, question
        or criterion are left out, and so are those of a judge whose prompt cannot be read here.
    taken
        Names of judges that judge here.

    Returns
    -------
    RecordedJudgments
        The settings are those of the judgments that fit.

    Raises
    ------
    InputError
        For a folder without recorded results, faults of the files, judgments of a judge that judges.jsonl does not
        name, and a judge's name that is taken.
    """
    require_results(folder)
    judges, found = read_judgments_with_judges(folder, taken)
    subjects = {(one.system, one.task_id, one.run) for one in reports}
    here = [one for one in found if (one.system, one.task_id, one.run) in subjects]
    names = {one.judge for one in here}
    able = _with_prompts([one for one in judges if one.name in names], folder / JUDGMENTS)
    names = {one.name for one in able}
    here = [one for one in here if one.judge in names]
    plan = plan_checks(tasks, reports, able)
    fitting = _fitting(here, JUDGMENT_KEY, "repeat", [check.key for check in plan])
    _tell_left_out(folder / JUDGMENTS, "judgments", len(here) - len(fitting))
    names = {one.judge for one in fitting}
    return RecordedJudgments([one for one in able if one.name in names], fitting)


def _fitting(
    records: Iterable[AnyRecord], key: tuple[str, ...], number: Literal["run", "repeat"], plan: Sequence[Key]
) -> list[AnyRecord]:
    """Records that a plan of first runs or repeats would make, whatever their number, in the plan's order."""
    places = {one: place for place, one in enumerate(plan)}
    firsts = [(key_of(one.model_copy(update={number: 1}), key), one) for one in records]
    known = [(places[first], one) for first, one in firsts if first in places]
    return [one for _, one in sorted(known, key=lambda entry: (entry[0], getattr(entry[1], number)))]


def _transcripts(folder: Path, reports: Sequence[Report]) -> list[Transcript | None]:
    faults: list[str] = []
    transcripts = []
    for report in reports:
        path = folder / (report.transcript or "")
        try:
            transcript = read_transcript(path) if report.transcript else None
        except InputError as error:
            faults += error.faults
            continue
        wanted, found = ([(name, getattr(one, name, None)) for name in REPORT_KEY] for one in (report, transcript))
        if transcript and found != wanted:
            its, owner = (", ".join(f"{name} {value!r}" for name, value in key) for key in (found, wanted))
            faults.append(f"{path}: is the transcript of {its}, not of {owner}; put the right file there")
        transcripts.append(transcript)
    if faults:
        raise InputError(faults)
    return transcripts


def _with_prompts(judges: Iterable[JudgeSettings], place: Path) -> list[JudgeSettings]:
    able = []
    for judge in judges:
        try:
            for name in (judge.prompt_en, judge.prompt_zh):
                prompts.render(name, nonce="")
            able.append(judge)
        except InputError as error:
            told = f"{place}: the judgments of {judge.name!r} are left out: {error}"
            warnings.warn(told, InputWarning, stacklevel=3)
    return able


def _tell_left_out(place: Path, what: str, count: int) -> None:
    if count:
        warnings.warn(
            f"{place}: {count} {what} were made with another question, report, prompt, tool or setting than today's and"
            " are left out; make them again",
            InputWarning,
            stacklevel=3,
        )
