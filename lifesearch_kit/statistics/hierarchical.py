"""How far a score depends on its tasks, its agent runs and its judge's repeats: one model, three questions.

A score is taken as overall mean + task + run within the task + repeat within the run, each a random draw. `over` is
the highest level at which something new is drawn; all below it is drawn anew with it, all above stays:

- ``tasks``: other tasks of this kind, run and judged anew. This is the interval for "how good is the system".
- ``runs``: the same tasks, run and judged anew. For "what would a rerun of this benchmark give".
- ``repeats``: the same reports, judged anew.

What is drawn with replacement is that level alone; what lies below comes along whole (drawn without replacement). The
mean of a drawn task varies by task variance + run variance / runs + repeat variance / (runs * repeats), so the draws of
tasks hold all three already. Drawing runs with replacement within drawn tasks would count run variance a second time,
by (runs - 1) / runs of it (Davison and Hinkley 1997, section 3.8, strategy 1 against 2; Ren et al. 2010; consistent
under this model: Field and Welsh 2007). Survey sampling knows it as the ultimate cluster: the factor of lower stages is
0 once the first stage is a sample of infinitely many, that of the first stage where all of it was taken (Preston 2009).
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from lifesearch_kit.errors import InputError
from lifesearch_kit.statistics.resampling import (
    Deviations,
    check_resampling,
    deviations,
    resampled,
    t_percentiles,
    too_few,
)
from lifesearch_kit.statistics.score_levels import UNITS, Over, Unjudged, level_means, reports_present

_COLUMNS = [
    *("score_pct", "low_pct", "high_pct", "standard_error_pct", "df", "t_low_pct", "t_high_pct", "note"),
]
_DRAWN = {
    "tasks": "other tasks, run and judged anew",
    "runs": "the same tasks, run and judged anew",
    "repeats": "the same reports, judged anew",
}


def hierarchical_intervals(
    scores: pd.DataFrame,
    rng: np.random.Generator,
    over: Over = "tasks",
    by: str = "",
    strata: str = "",
    resamples: int = 2000,
    level: float = 0.95,
    unjudged: Unjudged = "refuse",
) -> pd.DataFrame:
    """Intervals of systems' scores by bootstrap, and beside them by the cluster-robust variance and Student's t.

    The score is the mean over tasks of each task's mean over its runs, of each run's mean over its repeats. It equals
    that of `scoring.scores.system_scores` where every task has as many reports; a missing report counts in no mean.

    The bootstrap draws units within strata (see `resampling`): tasks from all tasks, from those of a domain (`by`) or
    of each domain (`strata`); runs within each task; repeats within each report. The analytic interval has the variance
    of the same means, s^2 / n for tasks, and n - 1 degrees of freedom, which is what the CR2 estimator with the degrees
    of freedom of Bell and McCaffrey (2002) gives for a mean of cluster means; with several strata the degrees of
    freedom are Welch's (1947). Assumed: tasks are exchangeable (within strata), runs within a task and repeats within a
    report too. A judge's systematic errors are in the scores unchanged.

    Parameters
    ----------
    scores
        What `report_scores` gave.
    rng
        The only source of randomness.
    over
        What is drawn anew, see the module.
    by
        A task's column, such as ``domain``: a row for each of its values, resampled from its own tasks.
    strata
        A task's column whose numbers of tasks are held as they are: for a benchmark whose mix of domains is by design.
        For ``over="tasks"`` alone. A stratum with one task is taken to vary as the others do on average.
    resamples
        How many times units are drawn.
    level
        Probability that an interval covers.
    unjudged
        ``refuse`` raises where rubrics are unjudged. ``bounds`` takes the lower end with all of them failed and the
        upper end with all passed, leaves score_pct missing, and gives the larger standard error.

    Returns
    -------
    DataFrame
        A row a judge, system (and value of `by`): judge, system, *by*, over, tasks, runs (reports), repeats (passes of
        the judge over reports), score_pct, low_pct, high_pct (bootstrap), standard_error_pct, df, t_low_pct, t_high_pct
        (analytic; not cut at 0 or 100), note: why an end is missing. With one unit to draw from there is no interval,
        with fewer than 6 (at 95%), or several strata with fewer than 14 degrees of freedom in all, no bootstrap one,
        and none at all where these few are alike. More that are alike have an interval of width 0, with a note.

    Raises
    ------
    UnjudgedError
        When rubrics are unjudged and `unjudged` is ``refuse``.
    InputError
        For an unknown argument or column, a level outside 0 to 1, fewer than one resample, no report at all.
    """
    check_resampling(resamples, level)
    if over not in UNITS:
        raise InputError(f"over={over!r} is not known; choose from {', '.join(UNITS)}")
    if strata and over != "tasks":
        raise InputError(f"strata={strata!r} is of no use with over={over!r}: its tasks stay as they are; leave it out")
    for name in filter(None, (by, strata)):
        if name not in scores:
            raise InputError(f"the scores have no column {name!r}; choose from {', '.join(scores.columns)}")
    present = reports_present(scores, unjudged)
    seed = int(rng.integers(2**32))
    tables = []
    for (judge, *group), own in present.groupby(["judge", *([by] if by else [])], sort=False, observed=True):
        ends = [
            _intervals(own, end, over, strata, np.random.default_rng(seed), resamples, level)
            for end in (("lower", "upper") if unjudged == "bounds" else ("score",))
        ]
        table = _sizes(own).join(_joined(ends[0], ends[-1], own))
        tables.append(table.reset_index().assign(judge=judge, over=over, **{by: group[0]} if by else {}))
    key = ["judge", "system", *([by] if by else []), "over", "tasks", "runs", "repeats"]
    return pd.concat(tables, ignore_index=True)[[*key, *_COLUMNS]]


def interval_words(over: Over = "tasks", level: float = 0.95) -> str:
    """Say what low_pct and high_pct of `hierarchical_intervals` are, for captions."""
    return f"{100 * level:g}% bootstrap intervals over {over} ({_DRAWN[over]}), widened for few as Student's t is"


def _intervals(
    own: pd.DataFrame, value: str, over: Over, strata: str, rng: np.random.Generator, resamples: int, level: float
) -> pd.DataFrame:
    """Both intervals of each system of one judge, of one column of the scores."""
    table = level_means(own, over, value)
    units = table.index.to_frame(index=False)
    if over == "tasks":
        groups = own.drop_duplicates("task_id").set_index("task_id")[strata] if strata else None
        stratum = np.zeros(len(units), int) if groups is None else pd.factorize(units["task_id"].map(groups))[0]
    else:
        stratum = units.groupby(UNITS[over][:-1], sort=False).ngroup().to_numpy()
    weights = _weights(table, stratum, over)
    if over == "repeats":
        # A report without a text scores 0 whoever judges it.
        empty = own.groupby(["task_id", "run", "system"], sort=False, observed=True)["no_report"].max()
        keys = pd.MultiIndex.from_frame(units.drop_duplicates(["task_id", "run"])[["task_id", "run"]])
        weights = weights * ~empty.unstack("system", fill_value=False).reindex(keys)[table.columns].to_numpy(bool)
    spread = deviations(table.to_numpy(), stratum, weights)
    point = level_means(own, "tasks", value).mean().to_numpy()[:, None]
    drawn = point.T + resampled(spread.coefficients, stratum, rng, resamples)
    low, high = t_percentiles(drawn, spread.df, level)
    error = np.sqrt(spread.variance)
    reach = special.stdtrit(spread.df, (1 + level) / 2) * error
    # Units that are alike by chance are no sign that others would be, where they are few.
    few = too_few(spread, level)
    low[few], high[few] = np.nan, np.nan
    reach[(error == 0) & few] = np.nan
    center = point[:, 0]
    numbers = [center, low, high, error, spread.df, center - reach, center + reach]
    frame = pd.DataFrame(dict(zip(_COLUMNS, numbers, strict=False)), index=table.columns)
    frame[[name for name in frame if name != "df"]] *= 100
    return frame.assign(note=_notes(spread, over, level))


def _weights(table: pd.DataFrame, stratum: np.ndarray, over: Over) -> np.ndarray:
    """Weight of each stratum's mean in each system's score: strata x systems."""
    present = table.notna()
    if over == "tasks":
        counts = present.groupby(stratum).sum().to_numpy(float)
        return counts / counts.sum(axis=0)
    task = present.groupby("task_id", sort=False).any()
    if over == "runs":
        return task.to_numpy(float) / task.sum().to_numpy()
    report = present.groupby(["task_id", "run"], sort=False).any()
    runs = report.groupby("task_id", sort=False).transform("sum").clip(lower=1)
    return (report / runs / task.sum()).to_numpy(float)


def _notes(spread: Deviations, over: Over, level: float) -> list[str]:
    what = {"tasks": "task", "runs": "run of each task", "repeats": "repeat of each judgment"}[over]
    notes = []
    for variance, few in zip(spread.variance, too_few(spread, level), strict=True):
        if np.isnan(variance):
            notes.append(f"one {what}: how far others would differ cannot be told")
        elif variance == 0:
            seen = f"no spread over {over} was seen"
            notes.append(f"{seen}, and few {over}: no interval" if few else seen)
        else:
            notes.append(f"few {over}: no bootstrap interval, read the t interval" if few else "")
    return notes


def _joined(worst: pd.DataFrame, best: pd.DataFrame, own: pd.DataFrame) -> pd.DataFrame:
    """Lower ends of the one, upper ends of the other; no score where rubrics are unjudged."""
    table = worst.assign(high_pct=best["high_pct"], t_high_pct=best["t_high_pct"])
    table["standard_error_pct"] = np.maximum(worst["standard_error_pct"], best["standard_error_pct"])
    opened = own.groupby("system", observed=True)["unjudged"].sum().reindex(table.index) > 0
    table["score_pct"] = table["score_pct"].mask(opened)
    return table


def _sizes(own: pd.DataFrame) -> pd.DataFrame:
    grouped = own.groupby("system", sort=False, observed=True)
    reports = own.drop_duplicates(["system", "task_id", "run"]).groupby("system", observed=True).size()
    sizes = pd.DataFrame({"tasks": grouped["task_id"].nunique(), "runs": reports, "repeats": grouped.size()})
    return sizes.reindex(own["system"].unique()).rename_axis("system")
