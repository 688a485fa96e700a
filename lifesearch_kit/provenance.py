"""What must be said beside every figure of results that no language model made."""

from __future__ import annotations

import pandas as pd

from lifesearch_kit.results import Results

BASELINES = "Invented demo data; rule-based baselines, not language models."
SOME_BASELINES = "Rule-based baselines on invented demo data among the systems; they are no language models."
BASELINE_JUDGE = "Graded by a rule-based baseline judge, not by a language model: no measure of these systems."


def provenance_notice(results: Results) -> str:
    """One sentence where built-in baselines wrote or graded the reports, empty otherwise.

    Baselines are known by the model that a record names, so that the notice follows the data, not a setting.
    """
    written = _made_by(results.reports, "baseline-researcher")
    if written.all() and len(written):
        return BASELINES
    if written.any():
        return SOME_BASELINES
    return BASELINE_JUDGE if _made_by(results.judgments, "baseline-judge").any() else ""


def _made_by(records: pd.DataFrame | None, prefix: str) -> pd.Series[bool]:
    if records is None:
        return pd.Series(dtype=bool)
    return records["model"].fillna("").str.startswith(prefix)
