"""What two rankings of few systems can show: permutation tests, intervals, and how much hangs on one system.

Three different doubts. The permutation test asks whether people's order could have met the score's by chance. The
interval takes the systems as a sample of such systems. Leaving one out asks nothing of chance: it shows which system
the agreement rests on.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy import stats

from lifesearch_kit.agreement.rank_measures import FEW_SYSTEMS, End, paired_places, rank_agreement
from lifesearch_kit.statistics.resampling import check_resampling

SPEARMAN, KENDALL = "Spearman's rho", "Kendall's tau-b"
# All orders of so many systems are gone through; of more of them, a sample.
EXACT_UP_TO = 9
# What low and high of `rank_tests` are, for captions.
INTERVAL_WORDS = "95% intervals by Fisher's z, which take the systems as a sample of such systems"


def rank_tests(
    x: Mapping[str, float] | pd.Series,
    y: Mapping[str, float] | pd.Series,
    rng: np.random.Generator,
    *,
    x_best: End = "lowest",
    y_best: End = "lowest",
    resamples: int = 9999,
    level: float = 0.95,
) -> pd.DataFrame:
    """Spearman's rho and Kendall's tau-b of two rankings with p-value, interval and leave-one-out range.

    Parameters
    ----------
    x, y
        As for `rank_agreement`, here ranks with 1 as the best unless told otherwise.
    rng
        The only source of randomness, used for more than 9 systems.
    resamples
        Random orders drawn for more than 9 systems.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        Two rows: measure; systems; value; low and high (Fisher's z with the variance (1 + rho^2 / 2) / (n - 3) for rho,
        Bonett and Wright 2000, and 0.437 / (n - 4) for tau, Fieller, Hartley and Pearson 1957; it takes the systems as
        a random sample of such systems and is rough for ten or fewer, for many ties and for values beyond 0.8); p_value
        (two-sided: twice the smaller tail of the value over all pairings of the two lists, each as likely as another if
        they had nothing to do with each other); orders (pairings looked at); exact (whether these are all);
        without_one_low and without_one_high (least and greatest value with any one system left out); least_without (the
        systems whose absence gives the least); reason (why something is missing; else empty).

    Raises
    ------
    InputError
        As `rank_agreement`; also for a level outside 0 to 1 or fewer than one resample.
    """
    check_resampling(resamples, level)
    agreement = rank_agreement(x, y, x_best=x_best, y_best=y_best)
    _, _, a, b = paired_places(x, y, x_best=x_best, y_best=y_best)
    without = leave_one_out(x, y, x_best=x_best, y_best=y_best)
    rows = []
    for name, column, measure in (
        (SPEARMAN, "spearman", agreement.spearman),
        (KENDALL, "kendall", agreement.kendall),
    ):
        row = {"measure": name, "systems": measure.n, "value": measure.value, "reason": measure.reason}
        if measure.value is not None:
            low, high, reason = _fisher(measure.value, measure.n, name, level)
            p_value, orders = _permuted(a, b, name, rng, resamples)
            row |= {"low": low, "high": high, "p_value": p_value, "orders": orders, "reason": reason}
            row["exact"] = measure.n <= EXACT_UP_TO
            row |= _range(without, column)
        rows.append(row)
    columns = ["measure", "systems", "value", "low", "high", "p_value", "orders", "exact", "without_one_low"]
    columns += ["without_one_high", "least_without", "reason"]
    numbers = ["value", "low", "high", "p_value", "without_one_low", "without_one_high"]
    types = dict.fromkeys(numbers, "Float64") | {"orders": "Int64", "exact": "boolean"}
    return pd.DataFrame(rows, columns=columns).astype(types)


def leave_one_out(
    x: Mapping[str, float] | pd.Series,
    y: Mapping[str, float] | pd.Series,
    *,
    x_best: End = "lowest",
    y_best: End = "lowest",
) -> pd.DataFrame:
    """Agreement of two rankings with each system left out in turn, the others keeping their order.

    Parameters
    ----------
    x, y, x_best, y_best
        As for `rank_tests`.

    Returns
    -------
    DataFrame
        A row a system of both lists: left_out, spearman, kendall (missing where undefined), reason.
    """
    systems, _, a, b = paired_places(x, y, x_best=x_best, y_best=y_best)
    first, second = (pd.Series(one, index=systems, dtype=float) for one in (a, b))
    rows = []
    for system in systems:
        rest = rank_agreement(first.drop(system), second.drop(system))
        rows.append((system, rest.spearman.value, rest.kendall.value, rest.spearman.reason))
    table = pd.DataFrame(rows, columns=["left_out", "spearman", "kendall", "reason"])
    return table.astype({"spearman": "Float64", "kendall": "Float64"})


def rank_test_words(tests: pd.DataFrame) -> str:
    """Say value, interval and p-value of each measure of `rank_tests`, or why there is none."""
    parts = []
    for row in tests.itertuples():
        if pd.isna(row.value):
            parts.append(f"{row.measure}: undefined ({row.reason})")
            continue
        interval = f"no interval, as {row.reason}" if pd.isna(row.low) else f"interval {row.low:.2f} to {row.high:.2f}"
        orders = f"{'all' if row.exact else 'a sample of'} {row.orders:,} orders"
        parts.append(f"{row.measure}: {row.value:.3f}, {interval}; p = {row.p_value:.2g} over {orders}")
    return "\n".join(parts)


def correlation_words(tests: pd.DataFrame) -> str:
    """Say values and intervals of `rank_tests` in a caption's words, or why there are none; without a full stop."""
    parts: list[str] = []
    for row in tests.itertuples():
        ends = "" if pd.isna(row.low) else f" ({'' if parts else '95%: '}{row.low:.2f} to {row.high:.2f})"
        value = f"undefined ({row.reason})" if pd.isna(row.value) else f"{row.value:.3f}{ends}"
        parts.append(f"{row.measure} {value}")
    return f"{', '.join(parts)} over {tests['systems'].iloc[0]} systems"


def survival_words(tests: pd.DataFrame) -> str:
    """Say within what the agreement of `rank_tests` stays when any one system is left out."""
    parts = [
        f"{row.measure} stays {row.without_one_low:.2f}"
        if row.without_one_low == row.without_one_high
        else f"{row.measure} lies within {row.without_one_low:.2f} and {row.without_one_high:.2f} (the least without"
        f" {row.least_without})"
        for row in tests[tests["without_one_low"].notna()].itertuples()
    ]
    if not parts:
        return f"No agreement is left to look at without one system: {tests['reason'].iloc[0] or 'too few systems'}."
    return f"With any one system left out, {'; '.join(parts)}."


def _range(without: pd.DataFrame, column: str) -> dict[str, object]:
    values = without.set_index("left_out")[column].dropna().astype(float).round(12)
    if values.empty:
        return {}
    least = " or ".join(map(str, values.index[values == values.min()]))
    return {"without_one_low": values.min(), "without_one_high": values.max(), "least_without": least}


def _fisher(value: float, n: int, name: str, level: float) -> tuple[float | None, float | None, str]:
    if n < FEW_SYSTEMS:
        return None, None, f"{n} systems are too few for an interval, which needs {FEW_SYSTEMS}"
    if abs(value) > 1 - 1e-9:
        return (
            None,
            None,
            "the orders are the same (or opposite) throughout, so nothing tells how far the truth may lie",
        )
    variance = (1 + value**2 / 2) / (n - 3) if name == SPEARMAN else 0.437 / (n - 4)
    reach = stats.norm.ppf((1 + level) / 2) * math.sqrt(variance)
    return math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach), ""


def _permuted(a: np.ndarray, b: np.ndarray, name: str, rng: np.random.Generator, resamples: int) -> tuple[float, int]:
    """Two-sided p-value over pairings of two lists, and how many pairings were looked at."""
    exact = len(a) <= EXACT_UP_TO
    statistic = _rank_products(a) if name == SPEARMAN else _concordance(a)
    values = stats.rankdata(b) if name == SPEARMAN else np.asarray(b, dtype=float)
    found = stats.permutation_test(
        (values,),
        statistic,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=math.factorial(len(a)) if exact else resamples,
        batch=20_000,
        rng=rng,
    )
    return float(found.pvalue), len(found.null_distribution)


def _rank_products(a: np.ndarray) -> Callable[..., np.ndarray]:
    """Sum of products of ranks: it orders pairings as Spearman's rho does, since the ranks of both lists stay."""
    ranks = stats.rankdata(a) - (len(a) + 1) / 2
    return lambda values, axis=-1: np.asarray(values @ ranks)


def _concordance(a: np.ndarray) -> Callable[..., np.ndarray]:
    """Concordant minus discordant pairs: it orders pairings as Kendall's tau-b does, since the ties of both stay."""
    first, second = np.triu_indices(len(a), 1)
    signs = np.sign(a[first] - a[second])
    return lambda values, axis=-1: np.asarray(np.sign(values[..., first] - values[..., second]) @ signs)
