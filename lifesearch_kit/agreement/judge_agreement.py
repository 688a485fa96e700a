"""Agreement of judges with reference labels: accuracy, majority vote, consistency over repeats.

A value that is undefined is None with the reason in words, never 0, 1 or NaN.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.agreement.measures import Agreement, accuracy, cohen_kappa, mean_defined
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import LABEL_KEY, REPORT_KEY
from lifesearch_kit.reference_labels import labelled_rubrics
from lifesearch_kit.statistics.clustered_shares import clustered_interval

_SUBJECT = list(LABEL_KEY[:-1])


def judge_agreement(
    judgments: pd.DataFrame, labels: pd.DataFrame, rubrics: pd.DataFrame | None = None, by: str | None = None
) -> pd.DataFrame:
    """Compare judges with reference labels (section 5 and table 3 of the LifeSearch paper).

    The majority vote is taken over the repeats that reached a verdict; an even split is undecided and counted apart,
    neither right nor wrong. Unjudged rubrics are shown beside and never folded into a figure.

    Parameters
    ----------
    judgments
        A row a judgment: its key and satisfied (missing = unjudged). Those of unlabelled rubrics are left out.
    labels
        The reference: one label a rubric of a report.
    rubrics
        A row a rubric, needed for `by`.
    by
        What to split by: ``system``, where a judge may favour one, or a column of `rubrics`: language, domain, type,
        necessity, priority, dimension.

    Returns
    -------
    DataFrame
        A row a judge (and value of `by`): reports and rubrics (labelled), repeats, judged and unjudged (of rubrics x
        repeats), correct, mean_accuracy_pct (mean over repeats of the share of judged rubrics that agree), low_pct and
        high_pct (its 95% `clustered_interval`, a report a cluster; missing without verdicts), pass_recall_pct and
        fail_recall_pct (share of agreeing verdicts on rubrics labelled Pass and labelled Fail, all repeats together;
        missing without any), balanced_accuracy_pct (the mean of the two, which no constant verdict raises over 50),
        passed_pct (what the judge passes, of what it judged), label_passed_pct (what the label passes, of the same),
        complete (rubrics judged in all repeats, where there are several), consistent and self_consistency_pct (those of
        them with one verdict in all repeats; missing for one repeat),
        majority_correct, undecided, majority_vote_pct (of decided ones), kappa of the majority vote (missing where
        undefined), kappa_reason.

    Raises
    ------
    InputError
        When a rubric has several labels, a label is stale, no labelled rubric was judged, or `by` is no column of
        `rubrics`.
    """
    reference = labelled_rubrics(labels)
    if by is not None and by not in _SUBJECT:
        if rubrics is None or by not in rubrics:
            raise InputError(f"by={by!r} is no column of the rubrics; give the rubrics and one of their columns")
        reference = reference.merge(rubrics[["task_id", "rubric_id", by]], on=["task_id", "rubric_id"], validate="m:1")
    joined = judgments[[*_SUBJECT, "judge", "repeat", "satisfied"]].merge(reference, on=_SUBJECT, validate="m:1")
    if joined.empty:
        raise InputError("no judgment is of a labelled rubric; grade the reports that were labelled")
    rows = []
    for judge, own in joined.groupby("judge", sort=False, observed=True):
        passes = sorted(own["repeat"].unique())
        verdicts = own.pivot(index=_SUBJECT, columns="repeat", values="satisfied")
        frame = reference.set_index(_SUBJECT).join(verdicts.reindex(columns=passes))
        groups = [(None, frame)] if by is None else frame.groupby(by, sort=False, observed=True)
        rows += [
            {"judge": judge} | ({} if by is None else {by: value}) | _compare(part["label"], part[passes])
            for value, part in groups
        ]
    shares = [name for name in rows[0] if name.endswith("_pct")]
    types = dict.fromkeys([*shares, "kappa"], "Float64") | {"consistent": "Int64"}
    return pd.DataFrame(rows).astype(types)


def _compare(label: pd.Series, verdicts: pd.DataFrame) -> dict[str, object]:
    """Compare labels (rubrics) with verdicts (rubrics x repeats)."""
    truth = label.to_numpy(dtype=float)
    given = verdicts.astype("boolean").to_numpy(dtype=float, na_value=np.nan)
    judged = np.isfinite(given)
    correct = judged & (given == truth[:, None])
    shares = [accuracy(truth[ruled], column[ruled]) for column, ruled in zip(given.T, judged.T, strict=True)]
    complete = judged.all(axis=1) if given.shape[1] > 1 else np.zeros(len(given), dtype=bool)
    consistent = complete & (given == given[:, :1]).all(axis=1)
    votes = np.where(judged, 2 * given - 1, 0).sum(axis=1)
    decided = votes != 0
    majority = votes[decided] > 0
    kappa = cohen_kappa(truth[decided] == 1, majority)
    mean_accuracy = mean_defined(shares)
    report = label.groupby(list(REPORT_KEY), sort=False).ngroup().to_numpy()
    low, high = _interval(mean_accuracy, report, correct, judged)
    of_pass, of_fail = (_share(correct[truth == value], judged[truth == value]) for value in (1, 0))
    return {
        "reports": len(set(report)),
        "rubrics": len(truth),
        "repeats": given.shape[1],
        "judged": int(judged.sum()),
        "unjudged": int((~judged).sum()),
        "correct": int(correct.sum()),
        "mean_accuracy_pct": _percent(mean_accuracy),
        "low_pct": low,
        "high_pct": high,
        "pass_recall_pct": of_pass,
        "fail_recall_pct": of_fail,
        "balanced_accuracy_pct": None if of_pass is None or of_fail is None else (of_pass + of_fail) / 2,
        "passed_pct": _share(judged & (given == 1), judged),
        "label_passed_pct": _share(judged & (truth[:, None] == 1), judged),
        "complete": int(complete.sum()),
        "consistent": int(consistent.sum()) if complete.any() else None,
        "self_consistency_pct": 100 * consistent.sum() / complete.sum() if complete.any() else None,
        "majority_correct": int((majority == (truth[decided] == 1)).sum()),
        "undecided": int((judged.any(axis=1) & ~decided).sum()),
        "majority_vote_pct": _percent(accuracy(truth[decided] == 1, majority)),
        "kappa": kappa.value,
        "kappa_reason": kappa.reason,
    }


def _interval(
    measure: Agreement, report: np.ndarray, correct: np.ndarray, judged: np.ndarray
) -> tuple[float | None, float | None]:
    """Interval in percent of an accuracy over rubrics x repeats, each rubric of the report with the given number."""
    if measure.value is None:
        return None, None
    right, made = (np.bincount(report, one.mean(axis=1)) for one in (correct, judged))
    low, high = clustered_interval(measure.value, right, made)
    return 100 * low, 100 * high


def _share(counted: np.ndarray, among: np.ndarray) -> float | None:
    return 100 * float(counted.sum() / among.sum()) if among.any() else None


def _percent(measure: Agreement) -> float | None:
    return None if measure.value is None else 100 * measure.value
