"""How reports fail (section 4.4 of the LifeSearch paper): each finding with its mode, its evidence and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import pandas as pd

from lifesearch_kit.clarification import Span, asks_back
from lifesearch_kit.errors import InputError
from lifesearch_kit.evidence import absent_details, asked_dates, closest_passage, is_about_cutoff, later_dates, passages
from lifesearch_kit.records import REPORT_KEY

MODES = ("premature_clarification", "no_report", "temporal_scope", "missing_details", "unmet_requirement")
_COLUMNS = (
    *(*REPORT_KEY, "language", "domain", "mode", "rubric_id", "dimension", "start", "end", "evidence", "detail"),
    "weight_lost",
)


def failure_modes(rubrics: pd.DataFrame, reports: pd.DataFrame, judgments: pd.DataFrame | None = None) -> pd.DataFrame:
    """Find how each report fails.

    ``premature_clarification``: it asks the user back (status ``asked_back``, or such a text under another status).
    ``no_report``: there is no text to grade for another reason, which `detail` names. ``temporal_scope``: it reports
    something dated after the task's cutoff; `detail` counts such sentences. A rubric that is failed for none of these
    is ``missing_details`` where the report lacks dates, numbers or names of the criterion, which `detail` lists. Else
    it is an ``unmet_requirement``: the criterion asks for a statement, reasoning or a form without such details, or the
    report has them and says something else of them. The evidence of both is the passage nearest to the criterion.

    Parameters
    ----------
    rubrics
        A row a rubric: task_id, rubric_id, language, domain, query, cutoff, criterion, dimension, weight.
    reports
        A row a report: its key, text, status, gradable.
    judgments
        Of one judge. A rubric is failed where any of the judge's repeats fails it, and weighs the share of its decided
        repeats that do; an unjudged one is not failed. Without judgments, only what the text and status show is found.

    Returns
    -------
    DataFrame
        A row a finding: system, task_id, run, language, domain, mode, rubric_id and dimension (missing where no rubric
        is at stake), start and end (characters of the report; missing without evidence), evidence, detail, weight_lost
        (share of the task's weight, 0 to 1). A wholly judged report's findings add up to 1 minus its score, the mean
        over repeats.

    Raises
    ------
    InputError
        When the judgments are of several judges, or a report's task has no rubrics.
    """
    counted = rubrics[rubrics["weight"] > 0]
    total = counted.groupby("task_id")["weight"].transform("sum")
    counted = counted.assign(share=counted["weight"] / total)
    tasks = {row.task_id: row for row in counted.drop_duplicates("task_id").itertuples()}
    unknown = sorted(set(reports["task_id"]) - tasks.keys())
    if unknown:
        raise InputError([f"reports of task {task!r}: it has no rubrics; add or drop them" for task in unknown])
    dated = counted.dropna(subset="cutoff")
    cutoffs: dict[str, date] = dict(zip(dated["task_id"], pd.to_datetime(dated["cutoff"]).dt.date, strict=True))
    asked = {task: asked_dates(dated["criterion"][dated["task_id"] == task], day) for task, day in cutoffs.items()}
    failed = _failed(counted, judgments)
    rows = []
    report: Any
    for report in reports.itertuples():
        key = (report.system, report.task_id, report.run)
        task = tasks[report.task_id]
        cutoff = cutoffs.get(report.task_id)
        later = later_dates(report.text, cutoff, asked[report.task_id]) if cutoff else []
        request = asks_back(report.text, task.query)
        for finding in _findings(report, request, cutoff, later, failed.get(key, [])):
            rows.append((*key, task.language, task.domain, *finding))
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    return frame.astype({"start": "Int64", "end": "Int64", "weight_lost": "float64"})


def failure_rates(findings: pd.DataFrame, reports: pd.DataFrame, by: str = "system") -> pd.DataFrame:
    """Count how often each mode occurs.

    Parameters
    ----------
    findings
        What `failure_modes` gave for these reports.
    reports
        A row a report: its key and the column `by` (merge a task's domain or language in for those).
    by
        The column to split by.

    Returns
    -------
    DataFrame
        A row for each value of `by` and each mode, zeros included: reports, reports_affected, rate_pct (of reports),
        weight_lost_pct (mean over all reports of the share of weight lost to the mode).

    Raises
    ------
    InputError
        When the reports have no column `by`.
    """
    if by not in reports:
        raise InputError(f"by={by!r} is no column of the reports; merge it in from the tasks first")
    key = [*REPORT_KEY]
    groups = reports[[*dict.fromkeys([*key, by])]]
    own = findings[[*key, "mode", "weight_lost"]].merge(groups, on=key, validate="m:1")
    index = pd.MultiIndex.from_product([groups[by].unique(), MODES], names=[by, "mode"])
    affected = own.drop_duplicates([*key, "mode"]).groupby([by, "mode"], observed=True).size()
    lost = own.groupby([by, "mode"], observed=True)["weight_lost"].sum()
    rates = pd.DataFrame(
        {
            "reports": groups.groupby(by, observed=True).size().reindex(index.get_level_values(by)).to_numpy(),
            "reports_affected": affected.reindex(index, fill_value=0).to_numpy(),
            "weight_lost_pct": lost.reindex(index, fill_value=0.0).to_numpy(),
        },
        index=index,
    )
    rates["rate_pct"] = 100 * rates["reports_affected"] / rates["reports"]
    rates["weight_lost_pct"] = 100 * rates["weight_lost_pct"] / rates["reports"]
    return rates[["reports", "reports_affected", "rate_pct", "weight_lost_pct"]].reset_index()


def _failed(rubrics: pd.DataFrame, judgments: pd.DataFrame | None) -> Mapping[tuple[Any, ...], list[Any]]:
    """Failed rubrics of each report, their share of the weight times the share of decided repeats that fail them."""
    if judgments is None:
        return {}
    judges = judgments["judge"].unique()
    if len(judges) > 1:
        raise InputError(f"judgments of {len(judges)} judges ({', '.join(map(repr, judges))}); choose one")
    decided = judgments[judgments["satisfied"].notna()]
    decided = decided.assign(fails=~decided["satisfied"].astype(bool))
    rates = decided.groupby([*REPORT_KEY, "rubric_id"], as_index=False, observed=True)["fails"].mean()
    lost = rates[rates["fails"] > 0].merge(rubrics, on=["task_id", "rubric_id"], validate="m:1")
    lost = lost.assign(share=lost["share"] * lost["fails"])
    failed: dict[tuple[Any, ...], list[Any]] = {}
    for row in lost.itertuples():
        failed.setdefault((row.system, row.task_id, row.run), []).append(row)
    return failed


def _findings(
    report: Any, request: Span | None, cutoff: date | None, later: Sequence[Span], failed: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield mode, rubric_id, dimension, start, end, evidence, detail, weight_lost."""
    if report.status == "asked_back" or (request and report.gradable):
        first = passages(report.text)[:1]
        span = request or (first[0].span if first else (None, None, ""))
        # A text that was graded all the same lost what its failed rubrics weigh, not everything.
        lost = sum(rubric.share for rubric in failed) if report.gradable else 1.0
        yield "premature_clarification", None, None, *span, "", lost
        return
    if not report.gradable:
        yield "no_report", None, None, None, None, "", report.status, 1.0
        return
    scope = [rubric for rubric in failed if later and is_about_cutoff(rubric.criterion, cutoff)]
    detail = f"{len(later)} sentence{'s' if len(later) > 1 else ''} dated after {cutoff}"
    if later and not scope:
        yield "temporal_scope", None, None, *later[0], detail, 0.0
    for rubric in scope:
        yield "temporal_scope", rubric.rubric_id, rubric.dimension, *later[0], detail, rubric.share
    for rubric in failed:
        if rubric not in scope:
            span = closest_passage(report.text, rubric.criterion) or (None, None, "")
            absent = "; ".join(absent_details(report.text, rubric.criterion))
            mode = "missing_details" if absent else "unmet_requirement"
            yield mode, rubric.rubric_id, rubric.dimension, *span, absent, rubric.share
