"""How well judges agree with reference labels, and rankings with rankings, as tables and in words."""

from __future__ import annotations

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from lifesearch_kit.agreement.judge_agreement import judge_agreement
from lifesearch_kit.agreement.rank_measures import RankAgreement
from lifesearch_kit.reference_labels import reference_labels
from lifesearch_kit.results import Results

_COLUMNS = [
    *("judge", "reports", "rubrics", "repeats", "judged", "unjudged", "correct", "accuracy_pct", "low_pct", "high_pct"),
    *("constant_pct", "pass_recall_pct", "fail_recall_pct", "balanced_accuracy_pct", "passed_pct", "label_passed_pct"),
    *("complete", "consistent", "self_consistency_pct", "majority_correct", "majority_vote_pct", "undecided", "kappa"),
]
_UNKNOWN = (
    *("constant_pct", "pass_recall_pct", "fail_recall_pct", "balanced_accuracy_pct", "passed_pct", "label_passed_pct"),
    *("reports", "judged", "unjudged", "undecided", "kappa"),
)


def judge_summary(results: Results, reference: str = "", by: str | None = None) -> pd.DataFrame | None:
    """Accuracy of every judge against the reference labels (table 3 of the paper).

    Parameters
    ----------
    results
        With judgments and labels, or with a judges.csv.
    reference
        The annotator whose labels are the reference.
    by
        ``system``, or a column of the rubrics such as ``language``, to split by; needs judgments and labels.

    Returns
    -------
    DataFrame or None
        The most accurate first, verdicts that are lacking counted as wrong in this order only: judge (with its
        settings), *by*, reports and rubrics (labelled), repeats, judged and unjudged (of rubrics x repeats), correct
        (verdicts that equal the label), accuracy_pct (of what was judged, mean over repeats), low_pct and high_pct
        (95%, see `judge_interval_words`),
        constant_pct (what one verdict throughout would reach: the share of the more frequent label), pass_recall_pct,
        fail_recall_pct, balanced_accuracy_pct, passed_pct and label_passed_pct (see `judge_agreement`),
        complete (rubrics judged in all of several repeats), consistent (those with one verdict), self_consistency_pct,
        majority_correct, majority_vote_pct, undecided (even votes), kappa. From a judges.csv, what that does not say is
        missing; its percentages are shown with the whole counts that they are, of rubrics x repeats or of rubrics,
        where one rounds to them as printed.
    """
    if results.judgments is not None and results.labels is not None:
        labels = reference_labels(results.labels, reference)
        table = judge_agreement(results.judgments, labels, results.rubrics, by)
        nullable = table.select_dtypes("Float64").columns
        table = table.astype(dict.fromkeys(nullable, "float64"))
        table["constant_pct"] = _constant_pct(labels, results.rubrics, table, by)
    elif results.judges is not None and by is None:
        settings = results.judges[["judge", "reasoning", "temperature"]].astype(str).to_numpy()
        words = [f"{name}, reasoning {effort}, temp. {temperature}" for name, effort, temperature in settings]
        table = results.judges.assign(judge=words, **dict.fromkeys(_UNKNOWN, float("nan")))
        share = table["mean_accuracy_pct"].to_numpy(float) / 100
        low, high = proportion_confint(share * table["rubrics"], table["rubrics"], method="wilson")
        rubrics, decisions = table["rubrics"], table["rubrics"] * table["repeats"]
        table = table.assign(
            low_pct=100 * low,
            high_pct=100 * high,
            correct=_whole_counts(table["mean_accuracy_pct"], decisions),
            complete=rubrics,
            consistent=_whole_counts(table["self_consistency_pct"], rubrics),
            majority_correct=_whole_counts(table["majority_vote_pct"], rubrics),
        )
    else:
        return None
    table = table.rename(columns={"mean_accuracy_pct": "accuracy_pct"})
    sure = table["accuracy_pct"]
    if results.judgments is not None:
        sure = 100 * table["correct"] / (table["rubrics"] * table["repeats"])
    columns = [*_COLUMNS[:1], *([by] if by else []), *_COLUMNS[1:]]
    order = sure.sort_values(ascending=False, kind="stable").index
    return table.loc[order, columns].reset_index(drop=True)


def _whole_counts(percent: pd.Series[float], total: pd.Series[int]) -> pd.Series[float]:
    """The whole numbers that percentages stand for; missing where none rounds to the percentage as it is printed."""
    printed = percent.dropna().map(lambda value: len(str(value).partition(".")[2])).max()
    counts = (percent * total / 100).round()
    return counts.where((100 * counts / total - percent).abs() <= 0.5 * 10.0**-printed + 1e-9)


def _constant_pct(
    labels: pd.DataFrame, rubrics: pd.DataFrame | None, table: pd.DataFrame, by: str | None
) -> pd.Series[float] | float:
    """Share of the more frequent label, in percent; by the values of a column for each row of the table."""
    if by is None or (by not in labels and rubrics is None):
        passed = labels["satisfied"].astype(float).mean()
        return float(100 * max(passed, 1 - passed))
    named = labels
    if by not in labels and rubrics is not None:
        named = labels.merge(rubrics[["task_id", "rubric_id", by]], on=["task_id", "rubric_id"], validate="m:1")
    passed = named["satisfied"].astype(float).groupby(named[by], observed=True).mean()
    return table[by].map((100 * passed.where(passed >= 0.5, 1 - passed)).to_dict()).astype(float)


def judge_interval_words(results: Results) -> str:
    """Say what low_pct and high_pct of `judge_summary` are."""
    if results.judgments is not None and results.labels is not None:
        return "95% Wilson intervals that allow for rubrics of one report being judged alike"
    return "95% Wilson intervals that take rubrics as independent, as their reports are not known"


def rank_words(agreement: RankAgreement) -> str:
    """Both correlations of two rankings in a sentence's words, or why they are undefined, and who is left out."""
    parts = [
        f"{name} {measure.value:.3f}" if measure.value is not None else f"{name} undefined ({measure.reason})"
        for name, measure in (("Spearman", agreement.spearman), ("Kendall", agreement.kendall))
    ]
    text = f"{', '.join(parts)} over {len(agreement.systems)} systems"
    if agreement.left_out:
        text += f"; left out, for want of one of the two values: {', '.join(map(str, agreement.left_out))}"
    return f"{text}; {agreement.warning}" if agreement.warning else text
