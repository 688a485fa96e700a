"""What to label: rubrics of few reports each, evenly over systems, domains and languages, with the benchmark's mix."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.frames import reports_frame, rubrics_frame
from lifesearch_kit.records import REPORT_KEY, Report, Task

FACTORS = ("system", "domain", "language")
ATTRIBUTES = ("type", "necessity", "priority")
_SUBJECT = [*REPORT_KEY, "rubric_id"]


def label_candidates(tasks: Iterable[Task], reports: Iterable[Report]) -> pd.DataFrame:
    """Everything that could be labelled: a row a rubric of a report that there is something to grade in.

    Returns
    -------
    DataFrame
        system, task_id, run, rubric_id, domain, language, type, necessity, priority.
    """
    rubrics = rubrics_frame(tasks)[["task_id", "rubric_id", "domain", "language", *ATTRIBUTES]]
    texts = reports_frame(reports).query("gradable")[list(REPORT_KEY)]
    return texts.merge(rubrics, on="task_id", validate="m:m")[[*_SUBJECT, "domain", "language", *ATTRIBUTES]]


def sample_rubrics(
    candidates: pd.DataFrame, n: int, rng: np.random.Generator, rubrics_per_report: int = 5
) -> pd.DataFrame:
    """Choose what to label.

    Reports are drawn one by one, each time of a system that has come least often so far, among these of the language
    that has, then of the domain; then rubrics in turn from each report, always of the kind that is furthest behind its
    share among all candidates. Several rubrics of one report cost an annotator little more than one.

    Parameters
    ----------
    candidates
        As `label_candidates` gives them.
    n
        How many rubrics.
    rng
        The only source of randomness; it breaks ties.
    rubrics_per_report
        The most that are taken from one report, unless there are too few reports for that.

    Returns
    -------
    DataFrame
        `n` rows of `candidates`, a report's rubrics together.

    Raises
    ------
    InputError
        For a number below 1, or more rubrics than there are.
    """
    for name, value in (("n", n), ("rubrics_per_report", rubrics_per_report)):
        if value < 1:
            raise InputError(f"{name}={value}: ask for at least one rubric")
    if n > len(candidates):
        raise InputError(f"n={n:,}: there are {len(candidates):,} rubrics of reports to label; ask for fewer")
    shuffled = candidates.iloc[rng.permutation(len(candidates))].reset_index(drop=True)
    chosen = _even_reports(shuffled, n, rubrics_per_report)
    taken = _even_kinds(shuffled, chosen, n)
    order = {report: at for at, report in enumerate(chosen)}
    rows = shuffled.loc[taken].sort_values("report", key=lambda reports: reports.map(order), kind="stable")
    return rows.drop(columns="report").reset_index(drop=True)


def even_rows(table: pd.DataFrame, columns: Sequence[str], count: int) -> list[int]:
    """Positions of rows chosen one by one, each the first of those whose values have come least often so far.

    Parameters
    ----------
    columns
        Whose values; a later one counts among rows that are equal by the earlier ones.
    """
    codes = np.column_stack([pd.factorize(table[name])[0] for name in columns])
    had = [np.zeros(levels, dtype=int) for levels in codes.max(axis=0) + 1]
    free = np.arange(len(table))
    chosen: list[int] = []
    for _ in range(min(count, len(table))):
        often = [counts[codes[free, at]] for at, counts in enumerate(had)]
        best = int(free[np.lexsort((free, *often[::-1]))[0]])
        chosen.append(best)
        free = free[free != best]
        for at, counts in enumerate(had):
            counts[codes[best, at]] += 1
    return chosen


def sample_balance(sample: pd.DataFrame, candidates: pd.DataFrame) -> pd.DataFrame:
    """How even a sample is.

    Returns
    -------
    DataFrame
        A row a system, domain, language, type, necessity and priority of the candidates: factor, level, sampled,
        target (the same for all systems, domains and languages; the candidates' share for attributes), available.
    """
    rows = []
    for name in (*FACTORS, *ATTRIBUTES):
        available = candidates[name].value_counts()
        sampled = sample[name].value_counts()
        for level in sorted(available.index):
            share = 1 / len(available) if name in FACTORS else available[level] / len(candidates)
            rows.append((name, level, int(sampled.get(level, 0)), share * len(sample), int(available[level])))
    return pd.DataFrame(rows, columns=["factor", "level", "sampled", "target", "available"])


def _even_reports(shuffled: pd.DataFrame, n: int, rubrics_per_report: int) -> list[int]:
    """Numbers the reports in a new column and chooses enough of them for `n` rubrics, at best so many of each."""
    shuffled["report"] = shuffled.groupby(list(REPORT_KEY), sort=False).ngroup()
    reports = shuffled.drop_duplicates("report").reset_index(drop=True)
    wanted = max(math.ceil(n / rubrics_per_report), 1)
    reports["system_in_language"] = list(zip(reports["system"], reports["language"], strict=True))
    order = even_rows(reports, ["system", "language", "domain", "system_in_language", "task_id"], len(reports))
    sizes = shuffled["report"].value_counts()
    enough = wanted
    while sum(min(sizes[one], math.ceil(n / enough)) for one in order[:enough]) < n and enough < len(order):
        enough += 1
    return order[:enough]


def _even_kinds(shuffled: pd.DataFrame, chosen: Sequence[int], n: int) -> list[int]:
    """Rows taken in turn from each chosen report, of the kind that is furthest behind its share, there and in all."""
    kinds = np.hstack([pd.get_dummies(shuffled[name]).to_numpy(float) for name in ATTRIBUTES])
    shares = kinds.mean(axis=0)
    report = shuffled["report"].to_numpy()
    left = {one: np.flatnonzero(report == one) for one in chosen}
    here = {one: np.zeros(len(shares)) for one in chosen}
    taken: list[int] = []
    while len(taken) < n:
        for one in [one for one in chosen if len(left[one])][: n - len(taken)]:
            behind = (
                shares * (len(taken) + 1)
                - sum(here.values())
                + shares * (here[one].sum() / len(ATTRIBUTES) + 1)
                - here[one]
            )
            # The first of several, in the shuffled order.
            best = int(left[one][np.argmax(kinds[left[one]] @ behind)])
            taken.append(best)
            left[one] = left[one][left[one] != best]
            here[one] += kinds[best]
    return taken
