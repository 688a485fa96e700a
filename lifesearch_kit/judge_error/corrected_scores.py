"""Scores corrected for a judge's errors, from the rubrics that are labelled as well as judged.

A judge that errs moves every score. Where part of what it judged has labels, these show by how much, and the score can
be moved back: without bias, but at the price of a wider interval, as labels are few. The correction lies nearer to the
truth where the judge's mean error is larger than what the labels leave uncertain of it. Where the interval of
`change_pct` holds 0, no mean error beyond chance is seen, and the correction mostly adds noise; the combined score then
stays near the raw one. Labels are taken as right, and labelled rubrics as a random sample of those judged.

Fewer labelled tasks than `FEWEST_LABELLED_TASKS` give no number. The rule is simulated, see tests/test_judge_error.py:
from 8 labelled tasks on, 95% intervals of both estimators covered 92 to 97%, for scores of 8 to 50% and judges that err
on a twentieth to four tenths of their verdicts; with 3 or 4 tasks they covered 89 to 94%. Where a judge's errors
gather in a few tasks and a tenth of the tasks or less is labelled, 8 to 10 labelled tasks cover 90%.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy import special

from lifesearch_kit.judge_error.estimators import (
    Estimate,
    TaskSums,
    combined,
    prediction_powered,
    raw_score,
    rogan_gladen,
)
from lifesearch_kit.judge_error.sums import (
    ALL_SYSTEMS,
    COUNTS,
    Scope,
    counted,
    joined,
    judged_reports,
    scopes,
    task_sums,
)
from lifesearch_kit.statistics.resampling import check_resampling

FEWEST_LABELLED_TASKS = 8
RAW, PREDICTION_POWERED, ROGAN_GLADEN = "raw", "prediction-powered", "sensitivity and specificity"
COMBINED = "prediction-powered and raw combined"
# What a note says of a score that would leave 0 to 100.
HELD = "held to the scale"
# What low_pct and high_pct are, for captions.
CORRECTED_WORDS = (
    "95% intervals over tasks, with what the labels leave uncertain (Student's t; for sensitivity and specificity"
    " Fieller's)"
)

_ESTIMATORS: dict[str, Callable[[TaskSums, float], Estimate]] = {
    PREDICTION_POWERED: prediction_powered,
    COMBINED: combined,
    ROGAN_GLADEN: rogan_gladen,
}
_ASSUMED = {
    PREDICTION_POWERED: "the judge is taken to err by as many points on every system",
    COMBINED: "the judge is taken to err by as many points on every system",
    ROGAN_GLADEN: "the judge is taken to be as sensitive and as specific on every system",
}
_SAMPLED = "the labelled reports are taken as a sample of those scored"
_NUMBERS = ("score_pct", "low_pct", "high_pct", "change_pct", "change_low_pct", "change_high_pct", "all_labelled_pct")


def corrected_scores(
    rubrics: pd.DataFrame,
    judgments: pd.DataFrame,
    labels: pd.DataFrame,
    reports: pd.DataFrame | None = None,
    *,
    labelled_judgments: pd.DataFrame | None = None,
    level: float = 0.95,
) -> pd.DataFrame:
    """Give each system's score as judged and as corrected, each with its interval.

    *Prediction-powered* adds the mean of label minus verdict, weighted by rubrics' weights. *Combined* goes as far from
    the raw score to that one as the labels make sure of the judge's mean error. *Sensitivity and specificity* (Rogan
    and Gladen) undoes the judge's two error rates, shares of weight as well.
    `lifesearch_kit.judge_error.estimators` has all of them. A system's own labels are used where they are on
    `FEWEST_LABELLED_TASKS` tasks or more; else those of all systems, with the assumption that the note states.

    Parameters
    ----------
    rubrics, judgments, reports
        As for `report_scores`; judgments of one judge. Repeats are averaged.
    labels
        The reference: one label a rubric of a report, of the labelled part only.
    labelled_judgments
        The judge's verdicts on the labelled reports, where those are not among the scored ones (other reports of the
        same systems); other judges' rows are left out.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        Four rows a system, then four of the mean over systems (system ``all systems``, where there are several):

        - system, method (``raw``, ``prediction-powered``, ``prediction-powered and raw combined``, ``sensitivity and
          specificity``)
        - score_pct, low_pct, high_pct: held to 0 to 100, with a note where they would leave it; missing with a note.
          The combined score has the prediction-powered interval
        - change_pct, change_low_pct, change_high_pct: corrected minus raw, in percentage points, with its t interval
          (none for the combined score)
        - labels_from: ``own`` or ``all systems``; empty where no labels were used
        - tasks (scored), labelled_tasks, labelled_reports, labelled_rubrics (behind the row)
        - all_labelled_pct: about half the interval's width if all that was judged were labelled; what is left then is
          the sampling of tasks (missing where the labels show no error)
        - more_labels: labelled rubrics to add for an interval half as wide, if their part of the variance falls as
          their number rises, as on further tasks; missing where that cannot be, with a note
        - note: what is assumed, or why something is missing

    Raises
    ------
    InputError
        For several judges, a rubric with several labels, stale labels, labels of no judgment or of unknown rubrics, a
        level outside 0 to 1, and as `report_scores` does.
    """
    check_resampling(1, level)
    data = judged_reports(rubrics, judgments, labels, reports, labelled_judgments)
    rows = []
    for scope in scopes(data):
        rows.append(_raw_row(scope, level))
        rows += [_corrected_row(scope, method, level) for method in _ESTIMATORS]
    table = pd.DataFrame(rows)
    types = dict.fromkeys(_NUMBERS, "float64") | dict.fromkeys(COUNTS, "int64") | {"more_labels": "Int64"}
    columns = ["system", "method", *_NUMBERS[:6], "labels_from", *COUNTS, _NUMBERS[6], "more_labels", "note"]
    return table.reindex(columns=columns).astype(types)


def _raw_row(scope: Scope, level: float) -> dict[str, object]:
    if scope.unjudged:
        return scope.row(RAW, note=_unjudged_words(scope))
    estimate = raw_score(task_sums(scope.scores, scope.labels[ALL_SYSTEMS].head(0)), level)
    row = scope.row(RAW, note="the labels are not used")
    return row | _numbers(row, estimate)


def _corrected_row(scope: Scope, method: str, level: float) -> dict[str, object]:
    """Correct by the first of the scope's labels that allow it: its own, then those of all systems."""
    if scope.unjudged:
        return scope.row(method, note=_unjudged_words(scope))
    reasons = []
    for labels_from, labelled in scope.labels.items():
        tasks = labelled["task_id"].nunique()
        sums = task_sums(scope.scores, labelled)
        estimate = _ESTIMATORS[method](sums, level) if tasks >= FEWEST_LABELLED_TASKS else None
        if estimate is None:
            reasons.append(f"{labels_from} labels: on {counted(tasks, 'task')}, {FEWEST_LABELLED_TASKS} are needed")
        elif not np.isfinite(estimate.low):
            reasons.append(
                f"{labels_from} labels: the judge is not seen to tell Pass from Fail, so nothing can be undone"
            )
        elif estimate.high < 0 or estimate.low > 1:
            reasons.append(
                f"{labels_from} labels: the whole interval is off the scale, so the judge errs in another way here"
            )
        else:
            assumed = _SAMPLED if labels_from == "own" or scope.system == ALL_SYSTEMS else _ASSUMED[method]
            row = scope.row(method, labels_from, joined(*reasons, assumed))
            return _with_labels(row | _numbers(row, estimate), scope, sums, estimate, level)
    return scope.row(method, note=f"no number ({joined(*reasons)})")


def _numbers(row: dict[str, object], estimate: Estimate) -> dict[str, object]:
    """The score and its interval in percent, held to the scale, and the note with what that leaves to say."""
    ends = [100 * float(one) for one in (estimate.value, estimate.low, estimate.high)]
    held = [min(max(one, 0.0), 100.0) for one in ends]
    note = row["note"]
    if row["tasks"] == 1:
        held[1:] = [math.nan, math.nan]
        note = joined("one task, so no interval", str(note))
    if round(ends[0] - held[0], 9):
        note = joined(f"{ends[0]:.1f} before it was {HELD}", str(note))
    return dict(zip(_NUMBERS[:3], held, strict=True)) | {"note": note}


def _with_labels(
    row: dict[str, object], scope: Scope, sums: TaskSums, estimate: Estimate, level: float
) -> dict[str, object]:
    """Add how far the score was moved, and what more labels could do."""
    reach = float(special.stdtrit((sums.labelled > 0).sum() - 1, (1 + level) / 2))
    change, note = 100 * float(estimate.value - sums.score.sum()), str(row["note"])
    spread = 100 * reach * math.sqrt(estimate.change_variance)
    if row["method"] == COMBINED:
        spread = math.nan
    row |= dict(zip(_NUMBERS[3:6], (change, change - spread, change + spread), strict=True))
    if row["tasks"] == 1:
        return row
    if np.isclose([sums.judge, sums.both], sums.label).all():
        return row | {"note": joined("the judge erred on no label, and the interval foresees no error", note)}
    variance, by_labels = float(estimate.variance), float(estimate.label_variance)
    if variance == 0:
        return row | {"note": joined("all tasks are alike, in score and in error", note)}
    present, judged = len(scope.labels[str(row["labels_from"])]), scope.judged_rubrics[str(row["labels_from"])]
    rest = max(variance - by_labels, 0.0)
    least = min(rest + by_labels * present / judged, variance)
    row["all_labelled_pct"] = 100 * float(estimate.high - estimate.low) / 2 * math.sqrt(least / variance)
    if least <= variance / 4:
        return row | {"more_labels": math.ceil(present * by_labels / (variance / 4 - rest)) - present}
    return row | {"note": joined(note, "more labels cannot halve the interval, as tasks are a sample too")}


def _unjudged_words(scope: Scope) -> str:
    return f"no number ({counted(scope.unjudged, 'rubric')} unjudged; judge them first)"
