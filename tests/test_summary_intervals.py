"""What means and standard deviations over runs allow."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import ttest_ind_from_stats

from lifesearch_kit.errors import InputError
from lifesearch_kit.statistics.summary_intervals import SUMMARY_LIMITS, run_differences, run_intervals

SYSTEMS = pd.DataFrame(
    {
        "system": ["a", "b", "once", "silent"],
        "runs": [3, 3, 1, 3],
        "score_pct": [63.44, 56.10, 50.0, 40.0],
        "score_sd_pct": [0.27, 0.28, np.nan, np.nan],
    }
)


def test_an_interval_over_three_runs_by_hand() -> None:
    table = run_intervals(SYSTEMS).set_index("system")
    # t of 2 degrees of freedom 4.3027; 0.27 / sqrt(3) = 0.1559; 4.3027 * 0.1559 = 0.6707.
    assert table.loc["a", "standard_error_pct"] == pytest.approx(0.27 / np.sqrt(3))
    assert table.loc["a", ["low_pct", "high_pct"]].tolist() == pytest.approx([63.44 - 0.6707, 63.44 + 0.6707], abs=1e-4)
    assert table.loc[["once", "silent"], ["standard_error_pct", "low_pct", "high_pct"]].isna().all(axis=None)
    assert table["note"].tolist() == ["", "", "fewer than two runs: no interval", "no standard deviation told"]


def test_differences_are_those_of_welch() -> None:
    table = run_differences(SYSTEMS)
    assert len(table) == 6
    row = table.iloc[0]
    theirs = ttest_ind_from_stats(63.44, 0.27, 3, 56.10, 0.28, 3, equal_var=False)
    assert row["p_value"] == pytest.approx(theirs.pvalue)
    # v = 0.0243 and 0.026133; (v1 + v2)^2 / (v1^2 / 2 + v2^2 / 2) = 3.9947.
    assert row["df"] == pytest.approx(3.9947, abs=1e-3)
    assert row["difference_pct"] == pytest.approx(7.34)
    assert row["low_pct"] + row["high_pct"] == pytest.approx(2 * 7.34)
    assert row["holm_p_value"] == row["p_value"]  # the only pair that can be tested
    assert table.iloc[1:][["low_pct", "p_value", "holm_p_value"]].isna().all(axis=None)
    assert table["difference_pct"].notna().all()


def test_three_runs_of_many_systems_are_covered() -> None:
    runs = np.random.default_rng(1).normal(50, 2, (4000, 3))
    systems = pd.DataFrame({"system": range(4000), "runs": 3, "score_pct": runs.mean(axis=1)})
    table = run_intervals(systems.assign(score_sd_pct=runs.std(axis=1, ddof=1)))
    assert ((table["low_pct"] <= 50) & (table["high_pct"] >= 50)).mean() == pytest.approx(0.95, abs=0.01)


def test_equal_runs_give_no_test_and_bad_tables_are_refused() -> None:
    still = SYSTEMS.head(2).assign(score_sd_pct=0.0)
    assert run_differences(still)[["df", "p_value"]].isna().all(axis=None)
    with pytest.raises(InputError, match="no column 'runs'"):
        run_intervals(SYSTEMS.drop(columns="runs"))
    with pytest.raises(InputError, match=r"'a': score_sd_pct -1 is negative"):
        run_intervals(SYSTEMS.assign(score_sd_pct=[-1, 0.2, 0.1, 0.1]))
    with pytest.raises(InputError, match="95"):
        run_intervals(SYSTEMS, level=95)
    assert "nothing about other tasks" in SUMMARY_LIMITS
