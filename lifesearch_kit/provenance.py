"""What must be said beside every figure of results that no language model made."""

from __future__ import annotations

import pandas as pd

from lifesearch_kit.results import Results

INVENTED = "Invented demo tasks: no measure of any system."
BASELINES = "Invented demo data; the reports are those of rule-based baselines, not language models."
SOME_BASELINES = "Rule-based baselines on invented demo data among the systems; they are no language models."
BASELINE_JUDGE = (
    "Graded by a rule-based baseline judge, no language model; such judges fail on hard criteria: "
    "no measure of these systems."
)
SOME_BASELINE_JUDGES = (
    "Among the judges are rule-based baselines, which are no language models and fail on hard criteria."
)


def provenance_notice(results: Results) -> str:
    """Say where built-in baselines wrote or graded the reports, or the tasks are invented; empty where neither holds.

    Baselines are known by the model that a record names, so that the notice follows the data, not a setting. Where
    baselines wrote reports that other judges graded, these are named.
    """
    written = _made_by(results.reports, "baseline-researcher")
    graded = _made_by(results.judgments, "baseline-judge")
    parts = []
    if written.any():
        parts.append(BASELINES if written.all() else SOME_BASELINES)
    elif results.tasks is not None and results.tasks["invented"].any():
        parts.append(INVENTED)
    if graded.any():
        parts.append(BASELINE_JUDGE if graded.all() else SOME_BASELINE_JUDGES)
    elif parts and results.judgments is not None and len(graded):
        parts.append(f"Graded by {', '.join(sorted(results.judgments['judge'].unique()))}.")
    return " ".join(parts)


def baseline_judges(results: Results) -> dict[str, bool]:
    """Whether each judge is a built-in baseline, by the model that its judgments name; empty without judgments."""
    if results.judgments is None:
        return {}
    made = _made_by(results.judgments, "baseline-judge")
    return made.groupby(results.judgments["judge"], sort=False, observed=True).any().to_dict()


def _made_by(records: pd.DataFrame | None, prefix: str) -> pd.Series[bool]:
    if records is None:
        return pd.Series(dtype=bool)
    return records["model"].fillna("").str.startswith(prefix)
