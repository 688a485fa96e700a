"""The tables that figures are drawn from: computed where a folder holds judgments, read where it holds summaries only.

A table that neither gives is None; nothing is put in its place.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.results import Results
from lifesearch_kit.scoring.report_scores import SCORE_KEY, report_scores
from lifesearch_kit.scoring.scores import group_scores, run_scores, system_scores
from lifesearch_kit.statistics.hierarchical import hierarchical_intervals
from lifesearch_kit.statistics.resampling import few_units

# What low_pct and high_pct of this module's tables are, and which are missing, for captions.
TASK_INTERVALS = "95% bootstrap intervals over tasks, widened where these are few"
NO_INTERVAL = "none for fewer than 6 tasks"
NO_JUDGE = "none"  # as `report_scores` names it
_EFFORT = {"iterations": "iterations", "output_tokens": "output_tokens_k", "characters": "report_characters"}


def choose_judge(judgments: pd.DataFrame, judge: str = "") -> str:
    """Name the judge whose verdicts count: the one asked for, else the one with most verdicts.

    A judgment without a verdict (unjudged) does not count for its judge. Where nothing was judged, as when no report
    could be, the name is ``none``, whoever was asked for.

    Raises
    ------
    InputError
        When there are judgments and none of this judge.
    """
    if judgments.empty:
        return NO_JUDGE
    verdicts = judgments["satisfied"].notna().groupby(judgments["judge"], observed=True).sum()
    if judge and judge not in verdicts:
        raise InputError(f"judge {judge!r} made no judgments here; choose from {', '.join(sorted(verdicts.index))}")
    return judge or min(verdicts.index, key=lambda name: (-verdicts[name], name))


def graded_reports(results: Results, judge: str = "") -> pd.DataFrame | None:
    """Score every report by one judge's verdicts, as `report_scores`; None where there are no judgments.

    Unjudged rubrics leave bounds instead of a score.
    """
    if results.judgments is None:
        return None
    verdicts = _verdicts(results.judgments, judge)
    return report_scores(results.require("rubrics"), verdicts, results.reports, unjudged="bounds")


def system_summary(
    results: Results, scores: pd.DataFrame | None, rng: np.random.Generator, resamples: int = 2000
) -> pd.DataFrame | None:
    """Overall scores with intervals, and what they took.

    Returns
    -------
    DataFrame or None
        A row a system, best first: system, runs, tasks (with a report), score_pct (over those; missing where rubrics
        are unjudged), score_sd_pct (ddof = 1 over runs), lower_pct and upper_pct (what unjudged rubrics and missing
        reports could make of the score), low_pct and high_pct (see `open_intervals`), iterations, output_tokens_k and
        report_characters (means over the system's reports), no_report, missing, unjudged. From a folder of summaries:
        the columns of its systems.csv.
    """
    if scores is None:
        return None if results.systems is None else results.systems.sort_values("score_pct", ascending=False)
    table = system_scores(scores).merge(open_intervals(scores, rng, resamples), on="system", validate="one_to_one")
    if results.reports is not None:
        effort = results.reports.groupby("system")[list(_EFFORT)].mean().rename(columns=_EFFORT)
        effort["output_tokens_k"] /= 1000
        table = table.merge(effort.reset_index(), on="system", how="left", validate="one_to_one")
    return _plain(table.drop(columns=["judge", "graded_only_pct"]))


def open_intervals(scores: pd.DataFrame, rng: np.random.Generator, resamples: int = 2000) -> pd.DataFrame:
    """Intervals over tasks that hold whatever unjudged rubrics and missing reports would have been.

    Each system's is decided by its own rows. The lower end is that of the 95% interval with every unjudged rubric
    failed and every missing report worth 0; the upper end with all of them passed. Without any, that is the interval
    of `hierarchical_intervals` over tasks. Fewer than 6 tasks have none.

    Parameters
    ----------
    scores
        What `report_scores` gave, of one judge.

    Returns
    -------
    DataFrame
        A row a system: system, low_pct, high_pct (percent).
    """
    seed = int(rng.integers(2**32))  # the same resamples for both ends
    worst, best = (
        hierarchical_intervals(settled(scores, end), np.random.default_rng(seed), resamples=resamples)
        for end in ("lower", "upper")
    )
    return worst[["system", "low_pct"]].assign(high_pct=best["high_pct"])


def settled(scores: pd.DataFrame, end: str) -> pd.DataFrame:
    """Scores with all that is open at one end: ``lower`` takes unjudged rubrics as failed, missing reports as 0."""
    return scores.assign(score=scores[end], unjudged=0, missing=False)


def interval_words(scores: pd.DataFrame | None) -> str:
    """Say what low_pct and high_pct of `system_summary` are and whose are widened; without scores, of systems.csv."""
    if scores is None:
        return "error bars: plus and minus one sample standard deviation over runs"
    words = f"error bars: {TASK_INTERVALS}"
    fewest = scores.groupby(["system", "language"], observed=True)["task_id"].nunique().min()
    words += f"; {NO_INTERVAL}" if few_units(fewest - 1, 0.95) else ""
    counts = scores.groupby("system", sort=False, observed=True)[["unjudged", "missing"]].sum()
    wide = [
        f"{system} ({' and '.join(f'{count:,.0f} {what}' for what, count in row.items() if count)})"
        for system, row in counts.iterrows()
        if row.any()
    ]
    return f"{words}; including what is open for: {', '.join(wide)}" if wide else words


def judge_words(scores: pd.DataFrame | None) -> str:
    """Say whose verdicts the scores rest on."""
    if scores is None:
        return "scores as the folder's tables give them"
    judge = scores["judge"].iloc[0]
    return "no report could be graded" if judge == NO_JUDGE else f"graded by {judge}"


def size_words(systems: pd.DataFrame) -> str:
    """Say how many systems, runs and tasks a table of `system_summary` rests on: "7 systems, 3 runs of 15 tasks"."""
    words = [f"{len(systems)} systems"]
    for name in ("runs", "tasks"):
        if name in systems and systems[name].notna().any():
            count = span(systems[name])
            words.append(f"{count} {name if count != '1' else name[:-1]}")
    return words[0] + (", " + " of ".join(words[1:]) if words[1:] else "")


def span(values: pd.Series) -> str:
    """Smallest and largest of some counts in words: "42", or "15 to 18"."""
    low, high = values.min(), values.max()
    return f"{low:,.0f}" if low == high else f"{low:,.0f} to {high:,.0f}"


def run_summary(scores: pd.DataFrame | None) -> pd.DataFrame | None:
    """Score of each run: system, run, score_pct; None without judgments."""
    if scores is None:
        return None
    runs = run_scores(scores)
    return _plain(runs.assign(score_pct=100 * runs["score"])[["system", "run", "score_pct"]])


def domain_summary(
    results: Results, scores: pd.DataFrame | None, rng: np.random.Generator, resamples: int = 2000
) -> pd.DataFrame | None:
    """Score of each system in each domain, in the tasks' order of domains.

    Returns
    -------
    DataFrame or None
        system, domain, tasks, score_pct, low_pct, high_pct (over the domain's tasks, as for systems); from a folder of
        summaries the columns of its domains.csv.
    """
    if scores is None or "domain" not in scores:
        return results.domains
    table = _group_summary(scores, "domain", rng, resamples)
    place = {domain: number for number, domain in enumerate(scores["domain"].unique())}
    return _plain(table.sort_values("domain", key=lambda column: column.map(place), kind="stable"))


def language_summary(
    scores: pd.DataFrame | None, rng: np.random.Generator, resamples: int = 2000
) -> pd.DataFrame | None:
    """Score of each system in each language: system, language, tasks, score_pct, low_pct, high_pct as for systems."""
    if scores is None or "language" not in scores:
        return None
    return _plain(_group_summary(scores, "language", rng, resamples))


def _group_summary(scores: pd.DataFrame, by: str, rng: np.random.Generator, resamples: int) -> pd.DataFrame:
    parts = [
        open_intervals(part, rng, resamples).assign(**{by: group})
        for group, part in scores.groupby(by, sort=True, observed=True)
    ]
    table = group_scores(scores, by).merge(pd.concat(parts), on=["system", by], how="left", validate="one_to_one")
    return table[["system", by, "tasks", "score_pct", "low_pct", "high_pct"]]


def rubric_summary(results: Results, judge: str = "") -> pd.DataFrame | None:
    """How often each rubric is passed, the least passed first, heavier ones first among equals.

    Returns
    -------
    DataFrame or None
        task_id, rubric_id, criterion, weight, dimension, judged (verdicts over all systems, runs and repeats) and
        pass_pct (percent of them). Reports that could not be graded count nowhere.
    """
    if results.judgments is None:
        return None
    ruled = _verdicts(results.judgments, judge).dropna(subset="satisfied")
    rates = ruled.groupby(["task_id", "rubric_id"], observed=True)["satisfied"].agg(judged="size", pass_pct="mean")
    rates["pass_pct"] = 100 * rates["pass_pct"].astype(float)
    columns = ["task_id", "rubric_id", "criterion", "weight", "dimension"]
    table = results.require("rubrics")[columns].merge(
        rates.reset_index(), on=["task_id", "rubric_id"], validate="one_to_one"
    )
    return table.sort_values(["pass_pct", "weight"], ascending=[True, False], kind="stable", ignore_index=True)


def _verdicts(judgments: pd.DataFrame, judge: str) -> pd.DataFrame:
    """One judge's judgments without their texts, which a choice of rows would copy."""
    chosen = judgments["judge"] == choose_judge(judgments, judge)
    return judgments.loc[chosen, [*SCORE_KEY, "rubric_id", "satisfied", "status"]]


def _plain(table: pd.DataFrame) -> pd.DataFrame:
    """Nullable numbers as ordinary floats, which every plotting call takes."""
    nullable = [name for name in table if isinstance(table[name].dtype, (pd.Float64Dtype, pd.Int64Dtype))]
    return table.astype(dict.fromkeys(nullable, "float64")).reset_index(drop=True)
