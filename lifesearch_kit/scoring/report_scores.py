"""Equation 1 of the LifeSearch paper: the score of each report, with rubrics that no judge decided kept apart."""

from __future__ import annotations

import warnings
from typing import Literal

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError, InputWarning, UnjudgedError
from lifesearch_kit.records import REPORT_KEY

SCORE_KEY = (*REPORT_KEY, "judge", "repeat")
# Weights are summed as whole numbers of this unit: such sums are exact, whatever the order of the rows, so that a
# report which passes everything scores exactly 1.
_UNITS = 1e12
_COLUMNS = (
    *(*SCORE_KEY, "language", "domain", "score", "lower", "upper", "graded_only"),
    *("passed", "rubrics", "unjudged", "no_report", "missing"),
)


def report_scores(
    rubrics: pd.DataFrame,
    judgments: pd.DataFrame,
    reports: pd.DataFrame | None = None,
    unjudged: Literal["refuse", "bounds"] = "refuse",
) -> pd.DataFrame:
    """Score each report: passed weight over total weight (equation 1).

    Rubrics of weight zero count nowhere. A report without a text to grade (`gradable` false: asked back, empty,
    refused) scores 0 and needs no judgments. Every system owes a report on each task in each run that any system made:
    one that is not there is a row with `missing` true, no score, and 0 and 1 as its bounds.

    Parameters
    ----------
    rubrics
        A row a rubric: task_id, rubric_id, weight (finite, not negative); language and domain are passed on.
    judgments
        A row a judgment: system, task_id, run, rubric_id, judge, repeat, satisfied (missing = unjudged), status.
    reports
        A row a report: system, task_id, run, gradable. Without it, reports are those that have judgments. With it,
        each judge owes every gradable report one whole pass at least.
    unjudged
        ``refuse`` raises where any rubric is unjudged; ``bounds`` leaves such a report's score missing and gives what
        it could lie between, with a warning.

    Returns
    -------
    DataFrame
        A row for each system, task_id, run, judge and repeat with language, domain, score, lower, upper (0 to 1),
        graded_only (over the judged rubrics alone), passed, rubrics, unjudged (counts), no_report, missing.

    Raises
    ------
    UnjudgedError
        Where rubrics are unjudged and `unjudged` is ``refuse``, with systems, judges, counts and causes.
    InputError
        For repeated judgments, judgments of unknown rubrics or reports, reports of unknown tasks, unsound weights,
        tasks whose weights add up to 0.
    """
    if unjudged not in ("refuse", "bounds"):
        raise InputError(f"unjudged={unjudged!r} is not known; choose 'refuse' or 'bounds'")
    tasks, units = _tasks(rubrics)
    sums = _sums(rubrics, units, judgments)
    scores = _score(_passes(tasks, sums, reports))
    if (scores["unjudged"] > 0).any():
        told = _unjudged_message(scores, judgments, rubrics.loc[units > 0, ["task_id", "rubric_id"]])
        if unjudged == "refuse":
            raise UnjudgedError(f"{told}\nJudge them, or ask for bounds (unjudged='bounds').")
        warnings.warn(f"{told}\nThese reports have bounds and no score.", InputWarning, stacklevel=2)
    return scores


def _tasks(rubrics: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray]:
    """Check weights; return a row a task (total units, rubrics that count) and each rubric's weight in units."""
    weights = rubrics["weight"].to_numpy(dtype=float, na_value=np.nan)
    unsound = rubrics[~(np.isfinite(weights) & (weights >= 0))]
    faults = [
        f"task {row.task_id!r}, rubric {row.rubric_id!r}: weight {row.weight} is no finite number from 0 up; correct it"
        for row in unsound.itertuples()
    ]
    repeated = rubrics[rubrics.duplicated(["task_id", "rubric_id"])]
    faults += [
        f"task {row.task_id!r}: rubric {row.rubric_id!r} occurs twice; keep one" for row in repeated.itertuples()
    ]
    if faults:
        raise InputError(faults)
    units = np.rint(weights * _UNITS)
    passed_on = {name: (name, "first") for name in ("language", "domain") if name in rubrics}
    tasks = (
        rubrics.assign(total=units, rubrics=units > 0)
        .groupby("task_id", sort=False, as_index=False)
        .agg(**passed_on, total=("total", "sum"), rubrics=("rubrics", "sum"))
    )
    weightless = tasks["task_id"][tasks["total"] == 0]
    if not weightless.empty:
        raise InputError([f"task {one!r}: its weights add up to 0; give a rubric a positive one" for one in weightless])
    return tasks, units


def _sums(rubrics: pd.DataFrame, units: np.ndarray, judgments: pd.DataFrame) -> pd.DataFrame:
    """Sum what was passed and judged: one row a (system, task, run, judge, repeat), weights in units."""
    tasks, names = (pd.Index(rubrics[name].unique(), dtype=object) for name in ("task_id", "rubric_id"))
    place = pd.Index(_codes(rubrics["task_id"], tasks) * len(names) + _codes(rubrics["rubric_id"], names))
    task, name = _codes(judgments["task_id"], tasks), _codes(judgments["rubric_id"], names)
    rubric = np.where((task < 0) | (name < 0), -1, place.get_indexer(task * len(names) + name))
    if (rubric < 0).any():
        unknown = judgments.loc[rubric < 0, ["task_id", "rubric_id"]].drop_duplicates()
        raise InputError(
            [
                f"judgments of task {row.task_id!r}, rubric {row.rubric_id!r}: there is no such rubric; "
                "add it or drop them"
                for row in unknown.itertuples()
            ]
        )
    group, first = _groups(judgments, task)
    # A pass holds each rubric once: count the rows of each (pass, rubric within its task).
    within = rubrics.groupby("task_id").cumcount().to_numpy()
    if np.bincount(group * (within.max(initial=0) + 1) + within[rubric]).max(initial=0) > 1:
        twice = judgments.loc[judgments.duplicated([*SCORE_KEY, "rubric_id"]), [*SCORE_KEY, "rubric_id"]]
        raise InputError([f"judgment {tuple(row)} occurs more than once; keep one" for row in twice.to_numpy()])
    verdict = judgments["satisfied"].astype("boolean").to_numpy(dtype=float, na_value=np.nan)
    weight = units[rubric]
    judged = np.isfinite(verdict) & (weight > 0)
    passed = judged & (verdict == 1)
    sums = judgments[[*SCORE_KEY]].iloc[first].reset_index(drop=True)
    return sums.assign(
        passed_units=np.bincount(group, weight * passed, len(first)),
        judged_units=np.bincount(group, weight * judged, len(first)),
        passed=np.bincount(group[passed], minlength=len(first)),
        judged=np.bincount(group[judged], minlength=len(first)),
    )


def _codes(values: pd.Series, known: pd.Index | None = None) -> np.ndarray:
    """Give each value's place in `known` (-1 where absent), or a number by appearance.

    Equal neighbours are looked up once: stored judgments come in long runs of one system and task.
    """
    plain = values.to_numpy()
    starts = np.flatnonzero(np.append(True, plain[1:] != plain[:-1])) if len(plain) else np.arange(0)
    # Strings as objects: their hashes are kept, which halves the look-up.
    different = pd.Index(plain[starts], dtype=plain.dtype)
    codes = pd.factorize(different)[0] if known is None else known.get_indexer(different)
    return np.repeat(codes, np.diff(np.append(starts, len(plain)))).astype(np.int64)


def _groups(judgments: pd.DataFrame, task: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Number the passes by their key; return each row's number and the first row of each pass."""
    code = task
    for name in ("system", "judge", "run", "repeat"):
        part = _codes(judgments[name])
        code = code * (part.max(initial=0) + 1) + part
    group, values = pd.factorize(code)
    first = np.full(len(values), len(code), dtype=np.int64)
    np.minimum.at(first, group, np.arange(len(code)))
    return group, first


def _passes(tasks: pd.DataFrame, sums: pd.DataFrame, reports: pd.DataFrame | None) -> pd.DataFrame:
    """Lay the sums out over every task of every system's run and every judge."""
    if reports is None:
        reports = sums[[*REPORT_KEY]].drop_duplicates().assign(gradable=True)
    else:
        reports = reports[[*REPORT_KEY, "gradable"]]
        _refuse_strays(tasks, sums, reports)
    judges = sums.groupby("judge", as_index=False, sort=False).agg(first_repeat=("repeat", "min"))
    if judges.empty:
        judges = pd.DataFrame({"judge": ["none"], "first_repeat": [1]})
    # A run that one system lost whole shows only in the runs of the others.
    runs = reports[["run"]].drop_duplicates().sort_values("run")
    grid = reports[["system"]].drop_duplicates().merge(runs, how="cross").merge(tasks, how="cross")
    grid = grid.merge(judges, how="cross")
    grid = grid.merge(reports, on=[*REPORT_KEY], how="left", validate="many_to_one")
    passes = grid.merge(sums, on=[*REPORT_KEY, "judge"], how="left", validate="one_to_many")
    passes["repeat"] = passes["repeat"].fillna(passes["first_repeat"]).astype("int64")
    return passes


def _refuse_strays(tasks: pd.DataFrame, sums: pd.DataFrame, reports: pd.DataFrame) -> None:
    faults = [
        f"reports of task {task!r}: there is no such task; add it or drop them"
        for task in reports.loc[~reports["task_id"].isin(tasks["task_id"]), "task_id"].unique()
    ]
    faults += [
        f"report of system {row.system!r}, task {row.task_id!r}, run {row.run} occurs more than once; keep one"
        for row in reports[reports.duplicated([*REPORT_KEY])].itertuples()
    ]
    known = pd.MultiIndex.from_frame(reports[[*REPORT_KEY]])
    judged = sums[[*REPORT_KEY]].drop_duplicates()
    faults += [
        f"judgments of system {row.system!r}, task {row.task_id!r}, run {row.run}: there is no such report; add it or"
        " drop them"
        for row in judged[~pd.MultiIndex.from_frame(judged).isin(known)].itertuples()
    ]
    if faults:
        raise InputError(faults)


def _score(passes: pd.DataFrame) -> pd.DataFrame:
    gradable = passes["gradable"].astype("boolean")
    missing = gradable.isna().to_numpy(dtype=bool)
    graded = gradable.fillna(False).to_numpy(dtype=bool)
    total = passes["total"].to_numpy(dtype=float)
    passed = np.where(graded, passes["passed_units"].fillna(0.0), 0.0)
    judged = np.where(graded, passes["judged_units"].fillna(0.0), np.where(missing, 0.0, total))
    unjudged = np.where(graded, passes["rubrics"] - passes["judged"].fillna(0), 0).astype(int)
    lower = passed / total
    scores = passes.assign(
        score=np.where(missing | (unjudged > 0), np.nan, lower),
        lower=lower,
        upper=(passed + total - judged) / total,
        graded_only=np.where(judged == 0, np.nan, passed / np.maximum(judged, 1.0)),
        passed=np.where(graded, passes["passed"].fillna(0), 0).astype(int),
        unjudged=unjudged,
        no_report=~missing & ~graded,
        missing=missing,
    )
    return scores[[name for name in _COLUMNS if name in scores]]


def _unjudged_message(scores: pd.DataFrame, judgments: pd.DataFrame, counted: pd.DataFrame) -> str:
    """Say for each system and judge how many rubrics are unjudged, and why."""
    open_passes = scores[scores["unjudged"] > 0]
    without = judgments[judgments["satisfied"].isna()].merge(counted).merge(open_passes[[*SCORE_KEY]])
    lines = []
    for (system, judge), rows in scores[~scores["missing"]].groupby(["system", "judge"], sort=False, observed=True):
        count = rows["unjudged"].sum()
        if count == 0:
            continue
        status = without.loc[(without["system"] == system) & (without["judge"] == judge), "status"]
        causes = [f"{number} {cause}" for cause, number in status.value_counts().items()]
        if count > len(status):
            causes.append(f"{count - len(status)} not judged yet")
        told = f"{count} of {rows['rubrics'].sum()} rubrics unjudged ({', '.join(causes)})"
        lines.append(f"system {system!r}, judge {judge!r}: {told}")
    return "\n".join(lines)
