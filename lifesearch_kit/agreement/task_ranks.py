"""People's ranks task by task: how well they agree with each task's scores, and over all tasks with the systems' means.

Ranks by task say more than one overall ranking: tasks can be resampled, so that an interval is about other tasks for
the same systems, which no interval over systems is.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from lifesearch_kit.agreement.rank_inference import KENDALL, SPEARMAN
from lifesearch_kit.agreement.rank_measures import rank_agreement
from lifesearch_kit.errors import InputError
from lifesearch_kit.statistics.resampling import check_resampling, expanded_percentiles
from lifesearch_kit.tables import TableShape

# A file of people's ranks by task, to be read with `tables.read_table`.
TASK_RANKINGS = TableShape(("task_id", "annotator", "system"), ("human_rank",))
# What low and high of `agreement_over_tasks` are, for captions.
INTERVAL_WORDS = "95% bootstrap intervals over tasks, the systems and annotators as they are"


def task_rank_agreement(task_ranks: pd.DataFrame, scores: pd.DataFrame) -> pd.DataFrame:
    """Agreement of people's order with the score's order within each task that people ranked.

    Parameters
    ----------
    task_ranks
        A row a task, annotator (optional) and system: task_id, system, human_rank, 1 the best. Several annotators of a
        task are averaged.
    scores
        What `report_scores` gave, of one judge: the task's score is the mean over runs and repeats; a system with an
        unjudged rubric in the task has none.

    Returns
    -------
    DataFrame
        A row a task: task_id, annotators, systems (with rank and score), left_out (names of those with only one of
        them), spearman, kendall (missing where undefined), reason.

    Raises
    ------
    InputError
        Where an annotator ranks a system twice within a task, a rank is missing or below 1, the scores are of several
        judges, or no ranked task has scores.
    """
    people, score = _tables(task_ranks, scores)
    annotators = task_ranks.groupby("task_id")["annotator"].nunique() if "annotator" in task_ranks else None
    rows = []
    for task in people.index:
        found = rank_agreement(people.loc[task].dropna(), score.loc[task].dropna(), x_best="lowest")
        left_out = ", ".join(map(str, found.left_out))
        count = 1 if annotators is None else int(annotators[task])
        values = (found.spearman.value, found.kendall.value, found.spearman.reason)
        rows.append((task, count, found.spearman.n, left_out, *values))
    columns = ["task_id", "annotators", "systems", "left_out", "spearman", "kendall", "reason"]
    return pd.DataFrame(rows, columns=columns).astype({"spearman": "Float64", "kendall": "Float64"})


def agreement_over_tasks(
    task_ranks: pd.DataFrame,
    scores: pd.DataFrame,
    rng: np.random.Generator,
    resamples: int = 2000,
    level: float = 0.95,
) -> pd.DataFrame:
    """Overall agreement of people with the score over the tasks that people ranked, with intervals over these tasks.

    Parameters
    ----------
    task_ranks, scores
        As for `task_rank_agreement`.
    rng
        The only source of randomness.
    resamples
        How many times tasks are drawn.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        Four rows, rho and tau of each: of (what is compared): ``systems`` (mean rank of each system against its mean
        score) and ``mean of tasks`` (mean of the tasks' own values); measure; systems; tasks (that count);
        tasks_left_out (for ``systems``: those that lack a rank or score of one of the systems; for ``mean of tasks``:
        those without a value); value; low, high (expanded percentile bootstrap over tasks, see
        `statistics.resampling`, missing for fewer than 6 of them at 95%; resampled orders of close systems
        change places more than the orders themselves would, so the interval of ``systems`` lies rather too low
        than too high); reason (why something is missing).

    Raises
    ------
    InputError
        As `task_rank_agreement`; also for a level outside 0 to 1 or fewer than one resample.
    """
    check_resampling(resamples, level)
    people, score = _tables(task_ranks, scores)
    single = task_rank_agreement(task_ranks, scores)
    ranked = [one for one in people.columns if people[one].notna().any() and one in score and score[one].notna().any()]
    whole = people[ranked].notna().all(axis=1) & score[ranked].notna().all(axis=1)
    ranks, points = (one.loc[whole, ranked] for one in (people, score))
    drawn = rng.integers(len(ranks), size=(resamples, len(ranks))) if len(ranks) else np.empty((0, 0), dtype=int)
    overall = [rank_agreement(ranks.mean(), points.mean(), x_best="lowest")] if len(ranks) else []
    spread = _resampled(ranks, points, drawn)
    rows: list[tuple[object, ...]] = []
    for number, name in enumerate((SPEARMAN, KENDALL)):
        value = (overall[0].spearman, overall[0].kendall)[number] if overall else None
        reason = "no task has ranks and scores of all systems" if value is None else value.reason
        counts = (len(ranked), int(whole.sum()), int((~whole).sum()))
        ends = _ends(spread[:, number], level, len(ranks))
        rows.append(("systems", name, *counts, value.value if value else None, *ends, reason))
    for column, name in (("spearman", SPEARMAN), ("kendall", KENDALL)):
        values = single[column].dropna().to_numpy(float)
        means = values[rng.integers(len(values), size=(resamples, len(values)))].mean(axis=1) if len(values) else values
        counts = (len(ranked), len(values), len(single) - len(values))
        mean = float(values.mean()) if len(values) else None
        ends = _ends(means, level, len(values))
        rows.append(("mean of tasks", name, *counts, mean, *ends, "" if len(values) else "no task has a value"))
    columns = ["of", "measure", "systems", "tasks", "tasks_left_out", "value", "low", "high", "reason"]
    table = pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(["value", "low", "high"], "Float64"))
    alone = table["low"].isna() & (table["reason"] == "")
    few = table["tasks"].map(lambda tasks: f"{tasks} task{'' if tasks == 1 else 's'}: too few for an interval")
    return table.assign(reason=table["reason"].mask(alone, few))


def _tables(task_ranks: pd.DataFrame, scores: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """People's mean rank and the mean score, (tasks, systems) each, of the ranked tasks."""
    key = ["task_id", *(["annotator"] if "annotator" in task_ranks else []), "system"]
    repeated = task_ranks[task_ranks.duplicated(key)]
    faults = [
        f"ranking of task {row['task_id']!r}: system {row['system']!r} stands in it more than once; keep one"
        for row in repeated.to_dict("records")
    ]
    unsound = task_ranks[~(task_ranks["human_rank"].astype(float) >= 1)]
    faults += [
        f"ranking of task {row['task_id']!r}, system {row['system']!r}: human_rank is {row['human_rank']}; ranks begin"
        " at 1, the best; leave out the row of a system without one"
        for row in unsound.to_dict("records")
    ]
    judges = scores["judge"].unique()
    if len(judges) > 1:
        faults.append(f"scores of {len(judges)} judges ({', '.join(map(repr, judges))}); choose one")
    strangers = [task for task in task_ranks["task_id"].unique() if task not in set(scores["task_id"])]
    if strangers and len(strangers) == task_ranks["task_id"].nunique():
        faults.append(f"none of the ranked tasks ({', '.join(map(repr, strangers[:5]))}) has scores; check their ids")
    if faults:
        raise InputError(faults)
    people = task_ranks.pivot_table(index="task_id", columns="system", values="human_rank", aggfunc="mean", sort=False)
    by_task = scores[~scores["missing"].astype(bool)].groupby(["task_id", "system"], observed=True)
    means = by_task["score"].mean().where(by_task["unjudged"].sum() == 0).unstack("system")
    return people, means.reindex(people.index)


def _resampled(ranks: pd.DataFrame, points: pd.DataFrame, drawn: np.ndarray) -> np.ndarray:
    """Rho and tau of each resample of tasks: (resamples, 2), missing where a resample ties all systems."""
    if drawn.size == 0:
        return np.empty((0, 2))
    # Rounded: means that are equal but for the order of a sum are tied.
    people, score = (one.to_numpy(float)[drawn].mean(axis=1).round(9) for one in (-ranks, points))
    first, second = np.triu_indices(people.shape[1], 1)
    by_rank = [stats.rankdata(one, axis=1) - (people.shape[1] + 1) / 2 for one in (people, score)]
    by_pair = [np.sign(one[:, first] - one[:, second]) for one in (people, score)]
    return np.column_stack([_cosine(*by_rank), _cosine(*by_pair)])


def _cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Cosine of each row's pair of vectors: of centred ranks it is rho, of the signs of pairs tau-b."""
    lengths = np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))
    return np.divide((a * b).sum(axis=1), lengths, out=np.full(len(a), np.nan), where=lengths > 0)


def _ends(values: np.ndarray, level: float, tasks: int) -> tuple[float | None, float | None]:
    low, high = expanded_percentiles(values, level, tasks)
    return (None, None) if np.isnan(low) else (low, high)
