"""Annotators: what each of them gave, and how well they agree with each other beyond chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import pandas as pd

from lifesearch_kit.agreement.measures import accuracy, cohen_kappa, label_word
from lifesearch_kit.agreement.rater_measures import (
    fleiss_kappa,
    jackknife_interval,
    krippendorff_alpha,
    mean_pairwise_kappa,
)
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import LABEL_KEY
from lifesearch_kit.reference_labels import refuse_stale

PAIR, MEAN_PAIRWISE, FLEISS, ALPHA = (
    "Cohen's kappa",
    "mean pairwise Cohen's kappa",
    "Fleiss' kappa",
    "Krippendorff's alpha",
)
NO_LABEL = "no label"
_MEASURES = {MEAN_PAIRWISE: mean_pairwise_kappa, FLEISS: fleiss_kappa, ALPHA: krippendorff_alpha}
_SUBJECT = list(LABEL_KEY[:-1])


def annotator_agreement(labels: pd.DataFrame) -> pd.DataFrame:
    """Compare annotators with each other, pair by pair.

    Parameters
    ----------
    labels
        A row a label: system, task_id, run, rubric_id, annotator, satisfied.

    Returns
    -------
    DataFrame
        A row a pair: annotator_a, annotator_b, rubrics (labelled by both), agreeing, accuracy_pct, kappa (missing
        where undefined), kappa_reason.

    Raises
    ------
    InputError
        For repeated or stale labels.
    """
    wide = _by_annotator(labels)
    rows = []
    for first, second in combinations(wide.columns, 2):
        both = wide[[first, second]].dropna()
        a, b = both[first].to_numpy(), both[second].to_numpy()
        kappa, share = cohen_kappa(a, b), accuracy(a, b).value
        percent = None if share is None else 100 * share
        rows.append((first, second, len(both), int((a == b).sum()), percent, kappa.value, kappa.reason))
    columns = ["annotator_a", "annotator_b", "rubrics", "agreeing", "accuracy_pct", "kappa", "kappa_reason"]
    return pd.DataFrame(rows, columns=columns).astype({"accuracy_pct": "Float64", "kappa": "Float64"})


def annotator_summary(labels: pd.DataFrame, cluster: Sequence[str] = ("task_id",), level: float = 0.95) -> pd.DataFrame:
    """How well annotators agree beyond chance: each pair, and all of them by three measures, with intervals.

    Parameters
    ----------
    labels
        A row a label: system, task_id, run, rubric_id, annotator, satisfied. `satisfied` may hold any nominal labels; a
        missing one (a reply that could not be read) is no label.
    cluster
        Columns whose values name what was labelled together: the task, or system, task_id and run for the report.
        Rubrics of one cluster are labelled alike, so clusters count, not rubrics.
    level
        Probability that an interval covers.

    Returns
    -------
    DataFrame
        A row for Cohen's kappa of each pair, then one each for their mean, Fleiss' kappa and Krippendorff's alpha, as
        `lifesearch_kit.agreement.rater_measures` defines them: measure, annotators (names), rubrics (that the value is
        of), clusters, value, low, high (`jackknife_interval`), reason (why there is no value, or what was left out),
        interval_reason (why there is no interval). A single annotator has no pair, and three undefined rows.

    Raises
    ------
    InputError
        For repeated or stale labels, no label at all, a cluster that is no column of the labels' key, or a level
        outside 0 to 1.
    """
    unknown = [name for name in cluster if name not in _SUBJECT]
    if unknown or not cluster:
        raise InputError(f"cluster={list(cluster)!r}: choose from {', '.join(_SUBJECT)}")
    wide = _by_annotator(labels)
    if wide.notna().sum().sum() == 0:
        raise InputError("there is no label, so there are no annotators to compare; add labels to labels.csv")
    groups = wide.index.to_frame(index=False).groupby(list(cluster), sort=False).ngroup().to_numpy()
    chosen = [(PAIR, list(pair)) for pair in combinations(wide.columns, 2)]
    rows = []
    for name, annotators in [*chosen, *((name, list(wide.columns)) for name in _MEASURES)]:
        table = wide[annotators].to_numpy(dtype=object)
        measure = _MEASURES.get(name, mean_pairwise_kappa)
        found = measure(table)
        low, high, interval_reason = jackknife_interval(measure, table, groups, level)
        held = (~pd.isna(table)).sum(axis=1) >= (len(annotators) if name == FLEISS else 2)
        counts = (found.n, len(set(groups[held])))
        rows.append((name, ", ".join(annotators), *counts, found.value, low, high, found.reason, interval_reason))
    columns = ["measure", "annotators", "rubrics", "clusters", "value", "low", "high", "reason", "interval_reason"]
    return pd.DataFrame(rows, columns=columns).astype(dict.fromkeys(["value", "low", "high"], "Float64"))


def label_counts(labels: pd.DataFrame) -> pd.DataFrame:
    """How often each annotator gave each label. A missing one is counted apart: it is neither of them, and no tie.

    Returns
    -------
    DataFrame
        A row an annotator: annotator, rubrics (with a row in `labels`), a column for each label that anybody gave
        (Pass and Fail, or what they are called), and ``no label``.

    Raises
    ------
    InputError
        For repeated or stale labels.
    """
    _check(labels)
    there = labels["satisfied"].notna()
    words = labels["satisfied"].where(there, None).map(label_name, na_action="ignore").where(there, NO_LABEL)
    names = sorted(set(words) - {NO_LABEL}, key=lambda word: (word != "Pass", word))
    counts = pd.crosstab(labels["annotator"], words).reindex(columns=[*names, NO_LABEL], fill_value=0)
    counts.insert(0, "rubrics", counts.sum(axis=1))
    return counts.rename_axis(columns=None).reset_index()


def label_name(label: object) -> str:
    """Pass or Fail for a verdict, any other label's own text."""
    return label if isinstance(label, str) else label_word(label)


def _check(labels: pd.DataFrame) -> None:
    refuse_stale(labels)
    repeated = labels[labels.duplicated([*LABEL_KEY])]
    if not repeated.empty:
        first = repeated.iloc[:1].to_dict("records")[0]
        named = ", ".join(f"{name} {first[name]!r}" for name in _SUBJECT)
        raise InputError(
            f"annotator {first['annotator']!r} labelled {named} more than once ({len(repeated)} such labels in all);"
            " keep one label"
        )


def _by_annotator(labels: pd.DataFrame) -> pd.DataFrame:
    """Labels as a table: a row a rubric of a report, a column an annotator."""
    _check(labels)
    return labels.pivot(index=_SUBJECT, columns="annotator", values="satisfied")
