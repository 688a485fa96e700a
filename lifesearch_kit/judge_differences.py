"""How far two judges' agreement with the same labels differs, and whether that is more than chance.

The reports are taken as a sample of such reports and resampled with replacement, both judges on the same resample: what
is hard for both cancels, and rubrics of one report, which are judged alike, are drawn together. What is shown is the
spread over reports; the labels are taken as right.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

from lifesearch_kit.agreement import labelled_rubrics
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import LABEL_KEY, REPORT_KEY
from lifesearch_kit.statistics import check_resampling, expanded_percentiles

_SUBJECT = list(LABEL_KEY[:-1])
_COLUMNS = [
    *("judge_a", "judge_b", "reports", "rubrics", "accuracy_a_pct", "accuracy_b_pct"),
    *("difference_pct", "low_pct", "high_pct", "beyond_chance"),
]
# Percentage points: an end nearer to 0 than this is 0, as sums of thirds differ from whole numbers by rounding.
_ROUNDING = 1e-9


def judge_differences(
    judgments: pd.DataFrame, labels: pd.DataFrame, rng: np.random.Generator, resamples: int = 2000, level: float = 0.95
) -> pd.DataFrame:
    """Differences in accuracy between judges over the labelled rubrics that both judged, with bootstrap intervals.

    A rubric counts with the share of its verdicts that equal the label, over the repeats that reached one; a repeat
    without a verdict is neither right nor wrong. A resample's accuracy is its sum of these shares over its number of
    rubrics. The intervals are expanded percentile intervals (see `lifesearch_kit.statistics`) over reports.

    Parameters
    ----------
    judgments
        A row a judgment: its key and satisfied (missing = unjudged). Those of unlabelled rubrics are left out.
    labels
        The reference: one label a rubric of a report.
    rng
        The only source of randomness. All pairs that share the same reports see the same resamples.
    resamples
        How many times reports are drawn.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        A row a pair of judges, in order of first appearance; none for a single judge: judge_a, judge_b, reports and
        rubrics (labelled, and judged at least once by both), accuracy_a_pct and accuracy_b_pct (on those),
        difference_pct (a minus b, in percentage points), low_pct, high_pct (missing for a single report),
        beyond_chance (whether the interval leaves 0 outside; missing without one). A pair that shares no rubric has
        0 of them and no figures.

    Raises
    ------
    InputError
        When a rubric has several labels, a label is stale, no labelled rubric was judged, no two judges reached a
        verdict on the same one, the level lies outside 0 to 1, or there is less than one resample.
    """
    check_resampling(resamples, level)
    joined = judgments[[*_SUBJECT, "judge", "repeat", "satisfied"]].merge(
        labelled_rubrics(labels), on=_SUBJECT, validate="m:1"
    )
    if joined.empty:
        raise InputError("no judgment is of a labelled rubric; grade the reports that were labelled")
    ruled = joined[joined["satisfied"].notna()]
    right = (ruled["satisfied"].astype(bool) == ruled["label"].astype(bool)).astype(float)
    shares = right.groupby([ruled[name] for name in [*_SUBJECT, "judge"]], observed=True).mean().unstack("judge")
    pairs = list(combinations(joined["judge"].unique(), 2))
    seed = int(rng.integers(2**32))  # the same resamples for every pair, whatever the order of judges
    rows = [
        (a, b, *_difference(shares.reindex(columns=[a, b]).dropna(), np.random.default_rng(seed), resamples, level))
        for a, b in pairs
    ]
    table = pd.DataFrame(rows, columns=_COLUMNS).astype({"beyond_chance": "boolean"})
    if pairs and not table["rubrics"].any():
        names = ", ".join(map(repr, joined["judge"].unique()))
        raise InputError(
            f"judges {names}: no two of them reached a verdict on the same labelled rubric, so they cannot be compared;"
            " let them judge the same reports"
        )
    return table


def _difference(
    both: pd.DataFrame, rng: np.random.Generator, resamples: int, level: float
) -> tuple[int, int, float, float, float, float, float, bool | None]:
    """Columns of a pair from the shares of right verdicts on each rubric (rubrics x the two judges)."""
    missing = float("nan")
    if both.empty:
        return 0, 0, missing, missing, missing, missing, missing, None
    first, second = both.to_numpy().T
    report = both.groupby(level=list(REPORT_KEY), observed=True).ngroup().to_numpy()
    gain, rubrics = np.bincount(report, first - second), np.bincount(report)
    reports = len(rubrics)
    counts = rng.multinomial(reports, np.full(reports, 1 / reports), size=resamples).astype(float)
    low, high = expanded_percentiles(counts @ gain / (counts @ rubrics), level, reports)
    beyond = None if np.isnan(low) else bool(low > _ROUNDING or high < -_ROUNDING)
    a, b = 100 * first.mean(), 100 * second.mean()
    return reports, len(both), a, b, 100 * (first - second).mean(), low, high, beyond
