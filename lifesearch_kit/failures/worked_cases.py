"""Which weights agree with a printed score and its counts: what the paper's worked cases say of theirs."""

from __future__ import annotations

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import WEIGHT_STEP


def consistent_weights(
    passed: int, rubrics: int, score_pct: float, *, step: float = WEIGHT_STEP, decimals: int = 2
) -> pd.DataFrame:
    """Sums of weights that give a printed score (equation 1 of the LifeSearch paper).

    Every weight is a multiple of `step` from one step to 1.0; rubrics without weight count nowhere. A score is given
    where 100 * earned / total lies within half a unit of the last printed decimal.

    Parameters
    ----------
    passed, rubrics
        How many rubrics were passed, of how many.
    score_pct
        The score as printed, percent.
    decimals
        How many decimals were printed.

    Returns
    -------
    DataFrame
        A row for each pair of sums, smaller totals first: earned and total (weights), passed_mean and failed_mean (mean
        weight of a passed and of a failed rubric; missing where there is none). Empty where no weights agree.

    Raises
    ------
    InputError
        When passed is not between 0 and rubrics, or there are no rubrics.
    """
    if not 0 <= passed <= rubrics or rubrics < 1:
        raise InputError(f"{passed} passed of {rubrics} rubrics cannot be; write how many of all were passed")
    highest, failed = round(1 / step), rubrics - passed
    half = 0.5 * 10.0**-decimals
    rows = [
        (earned * step, (earned + lost) * step, earned, lost)
        for earned in range(passed, passed * highest + 1)
        for lost in range(failed, failed * highest + 1)
        if abs(100 * earned / (earned + lost) - score_pct) <= half + 1e-9
    ]
    frame = pd.DataFrame(rows, columns=["earned", "total", "passed_steps", "failed_steps"], dtype=float)
    frame["passed_mean"] = frame["passed_steps"] * step / passed if passed else float("nan")
    frame["failed_mean"] = frame["failed_steps"] * step / failed if failed else float("nan")
    frame = frame[["earned", "total", "passed_mean", "failed_mean"]].round(10)
    return frame.sort_values(["total", "earned"], ignore_index=True)


def check_cases(cases: pd.DataFrame, *, step: float = WEIGHT_STEP, decimals: int = 2) -> pd.DataFrame:
    """Say in words which weights agree with each worked case's score.

    Parameters
    ----------
    cases
        Columns case, passed, rubrics and score_pct, as in a results folder's cases.csv.

    Returns
    -------
    DataFrame
        A row a case: case, passed, rubrics, score_pct, equal_pct (the score if all rubrics weighed the same), ways
        (pairs of sums that agree) and meaning.
    """
    rows = []
    for row in cases.itertuples():
        ways = consistent_weights(row.passed, row.rubrics, row.score_pct, step=step, decimals=decimals)
        equal = 100 * row.passed / row.rubrics
        meaning = _meaning(ways, row.score_pct, equal, step, decimals)
        rows.append((row.case, row.passed, row.rubrics, row.score_pct, equal, len(ways), meaning))
    columns = ["case", "passed", "rubrics", "score_pct", "equal_pct", "ways", "meaning"]
    return pd.DataFrame(rows, columns=columns)


def _meaning(ways: pd.DataFrame, score: float, equal: float, step: float, decimals: int) -> str:
    if ways.empty:
        return f"no weights that are multiples of {step:g} give {score:.{decimals}f}% with these counts"
    first, totals = ways.iloc[0], sorted(set(ways["total"]))
    shown = ", ".join(f"{one:.1f}" for one in totals[:4]) + (f" and {len(totals) - 4} more" if len(totals) > 4 else "")
    agreeing = f"agrees with passed weights of {first['earned']:.1f} of {first['total']:.1f}"
    agreeing += f" (possible totals: {shown})" if len(totals) > 1 else " and with no other"
    ratio = (ways["failed_mean"] / ways["passed_mean"]).dropna()
    if ratio.empty:
        return agreeing
    heavier = "the failed rubrics weigh" if score < equal else "the passed rubrics weigh"
    size = ratio if score < equal else 1 / ratio
    often = f"{size.min():.1f}" + (f" to {size.max():.1f}" if f"{size.min():.1f}" != f"{size.max():.1f}" else "")
    return f"{agreeing}; equal weights would give {equal:.2f}%, so {heavier} {often} times as much each on average"
