"""Two systems side by side: on which tasks they differ most, and on one task rubric by rubric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pandas as pd
from IPython.display import HTML

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import REPORT_KEY, Judgment, Report, Task
from lifesearch_kit.statistics.score_levels import Unjudged, end_means, reports_present
from lifesearch_kit.views.html_templates import language_of
from lifesearch_kit.views.notebook_views import notebook_view
from lifesearch_kit.views.rubric_rows import RubricRow, rubric_row, score_lines

_PASSED_ON = ("language", "domain")


@dataclass(frozen=True)
class _Pair:
    rows: tuple[RubricRow, RubricRow]

    @property
    def differs(self) -> bool:
        return self.rows[0].look != self.rows[1].look or self.rows[0].lost != self.rows[1].lost

    @property
    def order(self) -> tuple[bool, float, float]:
        first, second = self.rows
        return not self.differs, -abs(first.lost - second.lost), -first.rubric.weight


def task_differences(scores: pd.DataFrame, system_a: str, system_b: str, unjudged: Unjudged = "refuse") -> pd.DataFrame:
    """List the tasks of two systems, those on which they differ most first.

    Parameters
    ----------
    scores
        What `report_scores` gave.
    system_a, system_b
        The difference is that of `system_a` minus `system_b`. A system's score on a task is the mean over its runs, of
        each run's mean over its judge's repeats.
    unjudged
        ``refuse`` raises where rubrics of these systems are unjudged. ``bounds`` leaves scores and differences missing
        that depend on them, says what they could be, and puts these tasks by the middle of that.

    Returns
    -------
    DataFrame
        A row a judge and task that both have a report on: judge, task_id, language and domain (where the scores have
        them), score_a_pct, score_b_pct, difference_pct (percentage points), low_pct, high_pct (what open rubrics could
        make of the difference; equal to it where none is open), runs_a, runs_b (with a report).

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged and `unjudged` is ``refuse``.
    InputError
        For a system without scores, twice the same system, or where the two share no task.
    """
    known = sorted(scores["system"].unique())
    faults = [
        f"system {name!r} has no scores here; choose from {', '.join(known)}"
        for name in (system_a, system_b)
        if name not in known
    ]
    if system_a == system_b:
        faults.append(f"system {system_a!r} cannot be compared with itself; name another one")
    if faults:
        raise InputError(faults)
    present = reports_present(scores[scores["system"].isin([system_a, system_b])], unjudged)
    tables = [
        _judge_differences(own, system_a, system_b, unjudged).assign(judge=judge)
        for judge, own in present.groupby("judge", sort=False, observed=True)
        if own["system"].nunique() > 1
    ]
    table = pd.concat(tables) if tables else pd.DataFrame()
    if table.empty:
        raise InputError(f"systems {system_a!r} and {system_b!r} have reports on no common task, so none can differ")
    facts = present.drop_duplicates("task_id")[["task_id", *(name for name in _PASSED_ON if name in present)]]
    table = table.merge(facts, on="task_id", validate="many_to_one")
    distance = (table["low_pct"] + table["high_pct"]).abs().round(9)
    order = table.assign(distance=-distance).sort_values(["judge", "distance", "task_id"], kind="stable").index
    columns = ["judge", *facts.columns, "score_a_pct", "score_b_pct", "difference_pct", "low_pct", "high_pct"]
    return table.loc[order, [*columns, "runs_a", "runs_b"]].reset_index(drop=True)


def compare_view(task: Task, report_a: Report, report_b: Report, judgments: Iterable[Judgment]) -> HTML:
    """Show two reports on one task side by side, rubric by rubric: where their verdicts differ comes first.

    Parameters
    ----------
    task, report_a, report_b
        Both must be on the task; they may be of one system's runs.
    judgments
        Those of other reports are left out.

    Raises
    ------
    InputError
        When a report belongs to another task.
    """
    reports = (report_a, report_b)
    faults = [
        f"the report of {one.system!r}, run {one.run} is on task {one.task_id!r}, not on {task.task_id!r}; pass another"
        for one in reports
        if one.task_id != task.task_id
    ]
    if faults:
        raise InputError(faults)
    given = list(judgments)
    own = [[one for one in given if _key(one) == _key(report)] for report in reports]
    pairs = [
        _Pair((_row(task, report_a, own[0], number), _row(task, report_b, own[1], number)))
        for number in range(len(task.rubrics))
    ]
    return notebook_view(
        "compare_view.html.j2",
        task=task,
        reports=reports,
        scores=[score_lines(task, report, verdicts) for report, verdicts in zip(reports, own, strict=True)],
        pairs=sorted(pairs, key=lambda pair: pair.order),
        differing=sum(pair.differs for pair in pairs),
        lang=language_of(task.language),
    )


def _judge_differences(own: pd.DataFrame, system_a: str, system_b: str, unjudged: Unjudged) -> pd.DataFrame:
    low, high = (one.dropna(subset=[system_a, system_b]) for one in end_means(own, unjudged))
    runs = own.drop_duplicates([*REPORT_KEY]).groupby(["task_id", "system"], observed=True).size().unstack()
    table = pd.DataFrame(
        {
            "low_pct": 100 * (low[system_a] - high[system_b]),
            "high_pct": 100 * (high[system_a] - low[system_b]),
            "score_a_pct": 100 * low[system_a].where(low[system_a] == high[system_a]),
            "score_b_pct": 100 * low[system_b].where(low[system_b] == high[system_b]),
            "runs_a": runs[system_a].reindex(low.index).astype(int),
            "runs_b": runs[system_b].reindex(low.index).astype(int),
        }
    )
    table["difference_pct"] = table["score_a_pct"] - table["score_b_pct"]
    return table.rename_axis("task_id").reset_index()


def _row(task: Task, report: Report, judgments: Sequence[Judgment], number: int) -> RubricRow:
    rubric = task.rubrics[number]
    return rubric_row(report, rubric, [one for one in judgments if one.rubric_id == rubric.rubric_id])


def _key(record: Report | Judgment) -> tuple[str, str, int]:
    return record.system, record.task_id, record.run
