"""What is to be run and graded: one entry a unit, each with the key under which its result is stored."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.agent import prompt_names
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.judge import judgment_fingerprint, prompt_name
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.store import Key, Store
from lifesearch_kit.tools import Tool


class Run(NamedTuple):
    """One agent run to be made."""

    task: Task
    system: SystemSettings
    number: int
    fingerprint: str

    @property
    def key(self) -> Key:
        """The report's key, fingerprint last."""
        return (self.system.name, self.task.task_id, self.number, self.fingerprint)


class Check(NamedTuple):
    """One judgment to be made."""

    task: Task
    report: Report
    rubric: Rubric
    judge: JudgeSettings
    repeat: int
    fingerprint: str

    @property
    def key(self) -> Key:
        """The judgment's key, fingerprint last."""
        report, rubric = self.report, self.rubric
        return (
            *(report.system, report.task_id, report.run),
            *(rubric.rubric_id, self.judge.name, self.repeat, self.fingerprint),
        )

    @property
    def prefix(self) -> Key:
        """What stands for the beginning of its request, which an endpoint's prompt cache can hold."""
        report, judge = self.report, self.judge
        return (report.system, report.task_id, report.run, judge.base_url, judge.model, prompt_name(self.task, judge))


def day_told(today: str, store: Store) -> date:
    """The date that agents are told: `today`, or where it is empty the day on which the store's run was started.

    Raises
    ------
    InputError
        When `today` is no date.
    """
    if not today:
        return store.started()
    try:
        return date.fromisoformat(today)
    except ValueError:
        raise InputError(f"today {today!r} is no date; write it as 2026-03-31") from None


def choose_tasks(tasks: Sequence[Task], ids: Sequence[str]) -> list[Task]:
    """The tasks with the given ids, in their own order; all of them where there are no ids.

    Raises
    ------
    InputError
        Naming each id that is no task's.
    """
    known = [task.task_id for task in tasks]
    strangers = [one for one in ids if one not in known]
    if strangers:
        raise InputError([f"only_tasks: {one!r} is no task; choose from {', '.join(known)}" for one in strangers])
    return [task for task in tasks if not ids or task.task_id in ids]


def plan_runs(
    tasks: Sequence[Task], systems: Sequence[SystemSettings], tools: Sequence[Tool], *, runs: int, today: date
) -> list[Run]:
    """Every system on every task, `runs` times; the fingerprint changes with anything that could change the report.

    Raises
    ------
    InputError
        When there is no run to plan.
    """
    if runs < 1:
        raise InputError(f"runs {runs} plans nothing; give 1 or more")
    texts = {one.name: [prompts.load(name).template for name in prompt_names(one)] for one in systems}
    means = [(tool.schema, tool.backend) for tool in tools]
    return [
        Run(task, system, number, made_with)
        for system in systems
        for task in tasks
        for made_with in [fingerprint(task.query, system.identity(), texts[system.name], means, today)]
        for number in range(1, runs + 1)
    ]


def plan_checks(
    tasks: Sequence[Task], reports: Sequence[Report], judges: Sequence[JudgeSettings], *, repeats: int = 1
) -> list[Check]:
    """Every rubric of every gradable report by every judge; rubrics of weight 0 are not asked.

    All that shares its beginning follows one another, so that a server's prompt cache reads a report once: the rubrics
    of one report, and the repeats of one rubric.

    Raises
    ------
    InputError
        Naming each report whose task is unknown, and a prompt that asks for what a judge is not given.
    """
    if repeats < 1:
        raise InputError(f"repeats {repeats} plans nothing; give 1 or more")
    for judge in judges:
        for name in (judge.prompt_en, judge.prompt_zh):
            prompts.render(name, nonce="")
    by_id = {task.task_id: task for task in tasks}
    strangers = sorted({(one.system, one.task_id) for one in reports if one.task_id not in by_id})
    if strangers:
        raise InputError(
            [f"system {system!r} has a report on task {task!r}, which is no task here" for system, task in strangers]
        )
    return [
        Check(task, report, rubric, judge, repeat, judged_with)
        for report in reports
        if report.is_gradable
        for task in [by_id[report.task_id]]
        for judge in judges
        for rubric in task.rubrics
        if rubric.weight > 0
        for judged_with in [judgment_fingerprint(task, report, rubric, judge)]
        for repeat in range(1, repeats + 1)
    ]
