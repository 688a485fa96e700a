"""How reports fail (section 4.4 of the LifeSearch paper): each finding with its mode, its evidence and what it cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.evidence import closest_passage, passages
from lifesearch_kit.failures.handing_back import HandedBack, hands_back, refuses
from lifesearch_kit.failures.missing import missing_details
from lifesearch_kit.failures.temporal import admitted_later, asked_dates, is_about_cutoff, later_dates
from lifesearch_kit.records import REPORT_KEY
from lifesearch_kit.statistics.clustered_shares import clustered_interval
from lifesearch_kit.text import Span

MODES = ("premature_clarification", "no_report", "temporal_scope", "missing_details", "unmet_requirement")
_COLUMNS = (
    *(*REPORT_KEY, "language", "domain", "mode", "rubric_id", "dimension", "start", "end", "evidence", "detail"),
    "weight_lost",
    "missing",
)
_RATES = ("reports", "reports_affected", "rate_pct", "low_pct", "high_pct", "weight_lost_pct")


def failure_modes(rubrics: pd.DataFrame, reports: pd.DataFrame, judgments: pd.DataFrame | None = None) -> pd.DataFrame:
    """Find how each report fails.

    ``premature_clarification``: it asks the user back or hands the work back (status ``asked_back``, or such a text
    under another status); beside a partial report it costs nothing by itself, and the report's failed rubrics are found
    as well. ``no_report``: there is no text to grade for another reason, which `detail` names: the status, or
    ``refused`` where the text declines the task under another one. ``temporal_scope``: it reports something dated after
    the task's cutoff, or says that it used such; `detail` counts the sentences. A rubric that is failed for none of
    these is ``missing_details`` where the report lacks what the criterion asks for, of the kinds in `missing`; `detail`
    lists dates, values and names. Else it is an ``unmet_requirement``: the criterion asks for a statement, reasoning or
    a form without such details, or the report has them and says something else of them. The evidence of both is the
    passage nearest to the criterion.

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
        (share of the task's weight, 0 to 1), missing (kinds of `missing.KINDS`, joined by ", "; else empty). A wholly
        judged report's findings add up to 1 minus its score, the mean over repeats.

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
        later = _later(report.text, cutoff, asked[report.task_id]) if cutoff else []
        request = hands_back(report.text, task.query)
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
        low_pct and high_pct (95% Wilson interval of rate_pct, clustered over tasks), weight_lost_pct (mean over all
        reports of the share of weight lost to the mode).

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
    ends = _intervals(own, groups, by).reindex(index)
    return rates.join(ends)[[*_RATES]].reset_index()


def _intervals(findings: pd.DataFrame, reports: pd.DataFrame, by: str) -> pd.DataFrame:
    """Ends of each rate's interval: reports on one task, of several runs, resemble each other."""
    ends = {}
    for value, group in reports.groupby(by, observed=True):
        made = group.groupby("task_id").size()
        own = findings[findings[by] == value].drop_duplicates([*REPORT_KEY, "mode"])
        for mode in MODES:
            shown = own[own["mode"] == mode].groupby("task_id").size().reindex(made.index, fill_value=0)
            low, high = clustered_interval(shown.sum() / made.sum(), shown, made)
            ends[value, mode] = {"low_pct": 100 * low, "high_pct": 100 * high}
    frame = pd.DataFrame.from_dict(ends, orient="index", columns=["low_pct", "high_pct"])
    return frame.set_axis(pd.MultiIndex.from_tuples(list(ends), names=[by, "mode"]))


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


def _later(text: str, cutoff: date, asked: frozenset[Any]) -> list[Span]:
    """Sentences that report later data or admit to it, in the text's order."""
    return sorted({*later_dates(text, cutoff, asked), *admitted_later(text)})


def _findings(
    report: Any, request: HandedBack | None, cutoff: date | None, later: Sequence[Span], failed: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    """Yield mode, rubric_id, dimension, start, end, evidence, detail, weight_lost, missing."""
    # A text that was graded all the same lost what its failed rubrics weigh, not everything.
    lost = sum(rubric.share for rubric in failed) if report.gradable else 1.0
    if report.status == "asked_back" or (request and report.gradable and not request.partial):
        first = passages(report.text)[:1]
        span = request.span if request else first[0].span if first else (None, None, "")
        yield "premature_clarification", None, None, *span, "", lost, ""
        return
    refusal = refuses(report.text)
    if not report.gradable or refusal:
        status = "refused" if refusal else report.status if report.status != "answered" else "empty"
        yield "no_report", None, None, *(refusal or (None, None, "")), status, lost, ""
        return
    if request:
        yield "premature_clarification", None, None, *request.span, "beside a partial report", 0.0, ""
    yield from _of_rubrics(report.text, cutoff, later, failed)


def _of_rubrics(
    text: str, cutoff: date | None, later: Sequence[Span], failed: Sequence[Any]
) -> Iterator[tuple[Any, ...]]:
    scope = [rubric for rubric in failed if later and is_about_cutoff(rubric.criterion, cutoff)]
    detail = f"{len(later)} sentence{'s' if len(later) > 1 else ''} dated after {cutoff}"
    if later and not scope:
        yield "temporal_scope", None, None, *later[0], detail, 0.0, ""
    for rubric in scope:
        yield "temporal_scope", rubric.rubric_id, rubric.dimension, *later[0], detail, rubric.share, ""
    for rubric in failed:
        if rubric not in scope:
            span = closest_passage(text, rubric.criterion) or (None, None, "")
            absent = missing_details(text, rubric.criterion, rubric.query)
            words = "; ".join(dict.fromkeys(one.words for one in absent if one.words))
            kinds = ", ".join(dict.fromkeys(one.kind for one in absent))
            mode = "missing_details" if absent else "unmet_requirement"
            yield mode, rubric.rubric_id, rubric.dimension, *span, words, rubric.share, kinds
