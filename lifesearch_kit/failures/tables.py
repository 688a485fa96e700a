"""Tables of failures: what is missing, how runs ended, and what failing took in iterations and tokens."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy import stats

from lifesearch_kit.failures.missing import KINDS
from lifesearch_kit.failures.modes import MODES, failure_rates
from lifesearch_kit.records import REPORT_KEY

ENDINGS = {
    "answered": "report",
    "truncated": "report cut off",
    "asked_back": "asked back",
    "empty": "empty",
    "refused": "refused",
    "step_limit": "cut off at the step limit",
    "token_limit": "cut off at the token limit",
    "time_limit": "cut off at the time limit",
    "cost_limit": "cut off at the cost limit",
}
LOST = "lost to infrastructure"
_EFFORT = ("iterations", "output_tokens")


def rates_by(findings: pd.DataFrame, reports: pd.DataFrame, tasks: pd.DataFrame, by: str) -> pd.DataFrame:
    """Write how often each mode occurs, in words for reading.

    Parameters
    ----------
    findings
        What `failures.modes.failure_modes` gave for these reports.
    tasks
        A row a task: task_id, and the column `by` where the reports have none (``language``, ``domain``).

    Returns
    -------
    DataFrame
        A row a value of `by`, a column a mode: "12.5% [3.2, 38.0]", the share of reports that show it and the interval
        of `failures.modes.failure_rates`; before them the column reports.
    """
    own = reports if by in reports else reports.merge(tasks[["task_id", by]], on="task_id", validate="m:1")
    rates = failure_rates(findings, own, by)
    words = [f"{row.rate_pct:.1f}% [{row.low_pct:.1f}, {row.high_pct:.1f}]" for row in rates.itertuples()]
    table = rates.assign(words=words).pivot(index=by, columns="mode", values="words")[[*MODES]]
    table.insert(0, "reports", rates.groupby(by)["reports"].first())
    return table


def matching(
    findings: pd.DataFrame, system: str = "any", domain: str = "any", language: str = "any", mode: str = "any"
) -> pd.DataFrame:
    """Pick findings, ``any`` meaning all, and the columns that are read; what cost most stands first."""
    wanted = {"system": system, "domain": domain, "language": language, "mode": mode}
    kept = findings
    for name, value in wanted.items():
        kept = kept if value == "any" else kept[kept[name] == value]
    table = kept.sort_values("weight_lost", ascending=False, kind="stable", ignore_index=True)
    return table[[*REPORT_KEY, "mode", "rubric_id", "missing", "detail", "weight_lost", "evidence"]]


def missing_kinds(findings: pd.DataFrame, reports: pd.DataFrame) -> pd.DataFrame:
    """Group failed rubrics by what the reports lack.

    Parameters
    ----------
    findings
        What `failures.modes.failure_modes` gave for these reports.

    Returns
    -------
    DataFrame
        A row for each system and kind of `missing.KINDS`, zeros included: system, kind, rubrics (failed ones that lack
        it; one may lack several kinds), reports_affected, weight_lost_pct (mean over the system's reports; a rubric
        that lacks several kinds counts in equal parts).
    """
    sizes = reports.groupby("system", observed=True).size()
    own = findings[findings["mode"] == "missing_details"]
    own = own.assign(kind=own["missing"].str.split(", "))
    own = own.assign(weight_lost=own["weight_lost"] / own["kind"].str.len()).explode("kind")
    index = pd.MultiIndex.from_product([sizes.index, KINDS], names=["system", "kind"])
    groups = own.groupby(["system", "kind"], observed=True)
    affected = own.drop_duplicates([*REPORT_KEY, "kind"]).groupby(["system", "kind"], observed=True).size()
    table = pd.DataFrame(
        {
            "rubrics": groups.size().reindex(index, fill_value=0),
            "reports_affected": affected.reindex(index, fill_value=0),
            "weight_lost_pct": 100 * groups["weight_lost"].sum().reindex(index, fill_value=0.0),
        },
        index=index,
    )
    table["weight_lost_pct"] /= sizes.reindex(index.get_level_values("system")).to_numpy()
    return table.reset_index()


def report_endings(reports: pd.DataFrame, lost: Iterable[tuple[str, str, int]] = ()) -> pd.DataFrame:
    """Count how runs ended: with a report, without one and why, or lost before anything could be graded.

    Parameters
    ----------
    reports
        A row a report: its key, text and status.
    lost
        Keys of runs that were planned and left no record, as `report_files.missing_reports` lists them: network, quota
        or machine failed. They are counted, and score nothing.

    Returns
    -------
    DataFrame
        A row for each system and ending that occurs: system, ending, runs. A run that met a limit and still has a text
        is a "report cut off"; one of status ``answered`` with a blank text is "empty".
    """
    written = reports["text"].str.strip().astype(bool)
    ending = reports["status"].map(ENDINGS).mask(~written & (reports["status"] == "answered"), "empty")
    ending = ending.mask(written & reports["status"].str.endswith("_limit"), ENDINGS["truncated"])
    rows = pd.concat(
        [
            pd.DataFrame({"system": reports["system"], "ending": ending}),
            pd.DataFrame([(system, LOST) for system, _, _ in lost], columns=["system", "ending"]),
        ]
    )
    order = pd.CategoricalDtype([*dict.fromkeys(ENDINGS.values()), LOST], ordered=True)
    counts = rows.astype({"ending": order}).groupby(["system", "ending"], observed=True).size().rename("runs")
    return counts.reset_index()


def failure_effort(findings: pd.DataFrame, reports: pd.DataFrame) -> pd.DataFrame:
    """Set what each mode costs against what the runs took.

    Parameters
    ----------
    findings
        What `failures.modes.failure_modes` gave for these reports.
    reports
        A row a report: its key, iterations and output_tokens (missing where unknown).

    Returns
    -------
    DataFrame
        A row for each mode and measure (``iterations``, ``output_tokens``): mode, measure, reports (that know the
        measure), affected, median_with and median_without (of reports that show the mode and that do not), spearman
        and p_value (of the weight lost to the mode with the measure, over reports; missing where either never varies).
        Reports on one task resemble each other, so the p-value is a lower bound.
    """
    key = [*REPORT_KEY]
    lost = findings.groupby([*key, "mode"], observed=True)["weight_lost"].sum().unstack("mode")
    table = reports[[*key, *_EFFORT]].merge(lost.reindex(columns=list(MODES)).reset_index(), on=key, how="left")
    rows = []
    for mode in MODES:
        for measure in _EFFORT:
            known = table[table[measure].notna()]
            taken, shows = known[measure].astype(float), known[mode].notna()
            share = known[mode].fillna(0.0)
            varies = taken.nunique() > 1 and share.nunique() > 1
            rho, p = stats.spearmanr(share, taken) if varies else (np.nan, np.nan)
            rows.append(
                (mode, measure, len(known), int(shows.sum()), taken[shows].median(), taken[~shows].median(), rho, p)
            )
    columns = ["mode", "measure", "reports", "affected", "median_with", "median_without", "spearman", "p_value"]
    return pd.DataFrame(rows, columns=columns)
