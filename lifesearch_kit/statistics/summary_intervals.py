"""What a table of means and standard deviations over runs allows, where there are no single scores.

The standard deviation of a system's score over runs holds the runs and the judge's repeats within them. So it says how
far another run of the same tasks would differ. It says nothing of other tasks: that needs the scores of each task.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import special, stats

from lifesearch_kit.errors import InputError
from lifesearch_kit.statistics.permutation import holm
from lifesearch_kit.statistics.resampling import check_resampling

# For captions and beside every table of this module.
SUMMARY_LIMITS = (
    "Intervals are over reruns of the same tasks alone. Means and standard deviations over runs say nothing about other"
    " tasks: no interval over tasks, no paired comparison of systems and no variance of tasks can be had from them; the"
    " score of each task in each run would be needed."
)


def run_intervals(systems: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Intervals over runs of each system's score, from its mean and standard deviation alone.

    Student's t with runs - 1 degrees of freedom: score +- t * sd / sqrt(runs), sd being the sample standard deviation
    (ddof = 1). Assumed: scores of runs are independent and about normal, which means over many tasks are.

    Parameters
    ----------
    systems
        A row a system: system, score_pct, score_sd_pct, runs, as `results.systems`.
    level
        Probability that an interval covers the mean of all reruns of these tasks.

    Returns
    -------
    DataFrame
        In the order of `systems`: system, runs, score_pct, score_sd_pct, standard_error_pct, low_pct, high_pct, note
        (why there is no interval: fewer than two runs, or no standard deviation told).

    Raises
    ------
    InputError
        For a level outside 0 to 1, a missing column, or a negative standard deviation.
    """
    table = _checked(systems, level)
    reach = special.stdtrit(table["runs"] - 1, (1 + level) / 2) * table["standard_error_pct"]
    table = table.assign(low_pct=table["score_pct"] - reach, high_pct=table["score_pct"] + reach)
    return table[[name for name in table if name != "note"] + ["note"]]


def run_differences(systems: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Differences of all pairs of systems over reruns of the same tasks, by Welch's t.

    It answers whether a difference is more than what reruns of these tasks bring about. Whether it would stand on other
    tasks it cannot say, and it is silent where it matters most: tasks vary more than runs.

    Parameters
    ----------
    systems, level
        As for `run_intervals`.

    Returns
    -------
    DataFrame
        A row a pair: system_a, system_b, difference_pct, low_pct, high_pct (Welch's interval), df (Welch and
        Satterthwaite), p_value, holm_p_value (Holm's correction over all pairs). All but the difference are missing
        where one has no standard deviation, or both have 0.

    Raises
    ------
    InputError
        As for `run_intervals`.
    """
    table = _checked(systems, level)
    pairs = list(combinations(range(len(table)), 2))
    first, second = (table.iloc[[pair[at] for pair in pairs]].reset_index(drop=True) for at in (0, 1))
    variances = [one["standard_error_pct"].to_numpy(float) ** 2 for one in (first, second)]
    total = variances[0] + variances[1]
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [v**2 / (one["runs"].to_numpy(float) - 1) for v, one in zip(variances, (first, second), strict=True)]
        df = np.where(total > 0, total**2 / (parts[0] + parts[1]), np.nan)
        difference = first["score_pct"].to_numpy(float) - second["score_pct"].to_numpy(float)
        p_value = 2 * stats.t.sf(np.abs(difference) / np.sqrt(total), df)
    reach = special.stdtrit(df, (1 + level) / 2) * np.sqrt(total)
    return pd.DataFrame(
        {
            "system_a": first["system"],
            "system_b": second["system"],
            "difference_pct": difference,
            "low_pct": difference - reach,
            "high_pct": difference + reach,
            "df": df,
            "p_value": p_value,
            "holm_p_value": holm(p_value),
        }
    )


def _checked(systems: pd.DataFrame, level: float) -> pd.DataFrame:
    """Check columns; return them as floats with the standard error over runs."""
    check_resampling(1, level)
    columns = ["system", "runs", "score_pct", "score_sd_pct"]
    absent = [f"the table of systems has no column {name!r}; add it" for name in columns if name not in systems]
    if absent:
        raise InputError(absent)
    table = systems[columns].astype(dict.fromkeys(columns[1:], "float64")).reset_index(drop=True)
    faults = [
        f"system {row.system!r}: score_sd_pct {row.score_sd_pct:g} is negative; correct it"
        for row in table[table["score_sd_pct"] < 0].itertuples()
    ]
    if faults:
        raise InputError(faults)
    few, silent = ~(table["runs"] > 1), table["score_sd_pct"].isna()
    note = np.where(few, "fewer than two runs: no interval", np.where(silent, "no standard deviation told", ""))
    error = (table["score_sd_pct"] / np.sqrt(table["runs"])).mask(few)
    return table.assign(standard_error_pct=error, note=note)
