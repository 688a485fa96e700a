"""What is to be run and graded: one entry a unit, each with the key under which its result is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from lifesearch_kit import prompts
from lifesearch_kit.agent.agent import prompt_names
from lifesearch_kit.collect.store import Store
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.frames import stale_labels, unknown_keys
from lifesearch_kit.judge.checks import Check, check_of, prompt_name
from lifesearch_kit.own_agents import OwnAgent
from lifesearch_kit.records import Key, Label, Report, Task
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.tools import Tools, tools_for


class Run(NamedTuple):
    """One agent run to be made."""

    task: Task
    system: SystemSettings | OwnAgent
    number: int
    fingerprint: str

    @property
    def key(self) -> Key:
        """The report's key, fingerprint last."""
        return (self.system.name, self.task.task_id, self.number, self.fingerprint)


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
    tasks: Sequence[Task], systems: Sequence[SystemSettings | OwnAgent], tools: Tools, *, runs: int, today: date
) -> list[Run]:
    """Every system on every task, `runs` times; the fingerprint changes with anything that could change the report.

    Raises
    ------
    InputError
        When there is no run to plan.
    """
    if runs < 1:
        raise InputError(f"runs {runs} plans nothing; give 1 or more")
    texts = {
        one.name: [prompts.load(name).template for name in prompt_names(one)]
        for one in systems
        if isinstance(one, SystemSettings)
    }
    means = {one.task_id: [(tool.schema, tool.backend) for tool in tools_for(tools, one)] for one in tasks}
    return [
        Run(task, system, number, made_with)
        for system in systems
        for task in tasks
        for made_with in [
            # An agent of one's own is handed more of the task than its question.
            fingerprint(task.query, system.identity(), task.language, task.cutoff, means[task.task_id], today)
            if isinstance(system, OwnAgent)
            else fingerprint(task.query, system.identity(), texts[system.name], means[task.task_id], today)
        ]
        for number in range(1, runs + 1)
    ]


def plan_checks(
    tasks: Sequence[Task],
    reports: Sequence[Report],
    judges: Sequence[JudgeSettings],
    *,
    repeats: int = 1,
    labels: Sequence[Label] = (),
) -> list[Check]:
    """Every rubric of every gradable report by every judge; rubrics of weight 0 are not asked.

    All that shares its beginning follows one another, so that a server's prompt cache reads a report once: the rubrics
    of one report, and the repeats of one rubric.

    Parameters
    ----------
    labels
        What the verdicts will be compared with: checked here, before anything is paid for.

    Raises
    ------
    InputError
        Naming each report whose task is unknown, each label whose rubric or report is unknown or has changed since, a
        report or a judge's name that stands twice, and a prompt that asks for what a judge is not given.
    """
    if repeats < 1:
        raise InputError(f"repeats {repeats} plans nothing; give 1 or more")
    faults = unknown_keys(tasks, reports, None, labels) + _repeated(reports, judges)
    faults += stale_labels(labels, tasks, reports)
    if faults:
        raise InputError(faults)
    names = {name for judge in judges for name in (judge.prompt_en, judge.prompt_zh)}
    for name in sorted(names):
        prompts.render(name, nonce="")
    texts = {name: prompts.load(name).template for name in names}
    by_id = {task.task_id: task for task in tasks}
    return [
        check._replace(repeat=repeat)
        for report in reports
        if report.is_gradable
        for task in [by_id[report.task_id]]
        for judge in judges
        for rubric in task.rubrics
        if rubric.weight > 0
        for check in [check_of(task, report, rubric, judge, prompt=texts[prompt_name(task, judge)])]
        for repeat in range(1, repeats + 1)
    ]


def _repeated(reports: Sequence[Report], judges: Sequence[JudgeSettings]) -> list[str]:
    """Faults for keys that stand twice: the judgments of one would pass for those of the other."""
    keys = Counter((one.system, one.task_id, one.run) for one in reports)
    names = Counter(one.name for one in judges)
    return [
        f"system {system!r} has {count} reports on task {task!r}, run {run}; keep one, or number the runs"
        for (system, task, run), count in keys.items()
        if count > 1
    ] + [
        f"the name {name!r} stands for {count} judges; give each configuration its own"
        for name, count in names.items()
        if count > 1
    ]
