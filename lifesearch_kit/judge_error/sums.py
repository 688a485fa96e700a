"""What a judge decided and what labels say of it, checked and added up by task."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pandas as pd

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.judge_error.estimators import TaskSums
from lifesearch_kit.records import LABEL_KEY, REPORT_KEY
from lifesearch_kit.reference_labels import labelled_rubrics
from lifesearch_kit.scoring.report_scores import SCORE_KEY, report_scores

_SUBJECT = list(LABEL_KEY[:-1])
_SHOWN = 10
ALL_SYSTEMS = "all systems"
COUNTS = ("tasks", "labelled_tasks", "labelled_reports", "labelled_rubrics")


@dataclass(frozen=True)
class JudgedReports:
    """One judge's scores, and its verdicts on labelled rubrics beside the labels.

    Attributes
    ----------
    scores
        A row a report that is there: system, task_id, run, score (0 to 1; missing where a rubric is unjudged), graded
        (false: a report without a text, which scores 0), rubrics and unjudged (counts), share (of its system's score).
    labelled
        A row a labelled and judged rubric: system, task_id, run, rubric_id, share (of its report's weight), label and
        verdict (0 to 1; the mean over repeats that reached one).
    missing
        How many reports each system lacks.
    unjudged_labels
        How many labelled rubrics the judge left undecided in all repeats.
    """

    scores: pd.DataFrame
    labelled: pd.DataFrame
    missing: pd.Series[int]
    unjudged_labels: int


@dataclass(frozen=True)
class Scope:
    """What one score is of: its reports, the labels that could serve it, the best first, and what to note of them.

    Attributes
    ----------
    system
        Its name, or `ALL_SYSTEMS` for the mean over systems.
    scores
        Rows of `JudgedReports.scores`.
    labels
        Rows of `JudgedReports.labelled` by where they are from: ``own`` or `ALL_SYSTEMS`.
    judged_rubrics
        How many rubrics could have labels, by where they are from.
    note
        What is left out.
    """

    system: str
    scores: pd.DataFrame
    labels: dict[str, pd.DataFrame]
    judged_rubrics: dict[str, int]
    note: str

    @property
    def unjudged(self) -> int:
        """How many rubrics are unjudged."""
        return int(self.scores["unjudged"].sum())

    def row(self, method: str, labels_from: str = "", note: str = "") -> dict[str, object]:
        """A table's row with names, counts and notes, without numbers."""
        used = self.labels[labels_from] if labels_from else self.labels[ALL_SYSTEMS].head(0)
        reports = len(used[[*REPORT_KEY]].drop_duplicates())
        counts = (self.scores["task_id"].nunique(), used["task_id"].nunique(), reports, len(used))
        texts = {"system": self.system, "method": method, "labels_from": labels_from}
        return texts | dict(zip(COUNTS, counts, strict=True)) | {"note": joined(note, self.note)}


def scopes(data: JudgedReports) -> list[Scope]:
    """One scope a system, and one of all where there are several."""
    by_system = dict(list(data.scores.groupby("system", sort=False)))
    judged = data.scores["rubrics"].where(data.scores["graded"], 0)
    everything = {ALL_SYSTEMS: data.labelled}, {ALL_SYSTEMS: int(judged.sum())}
    undecided = data.unjudged_labels
    left_out = (
        f"{counted(undecided, 'labelled rubric')} left out, as the judge decided none of them" if undecided else ""
    )
    found = []
    for system, scores in by_system.items():
        own = data.labelled[data.labelled["system"] == system]
        parts = {"own": own} | everything[0], {"own": int(judged[scores.index].sum())} | everything[1]
        found.append(Scope(system, scores, *parts, joined(_missing_words(data.missing.get(system, 0)), left_out)))
    if len(by_system) > 1:
        without = [repr(one) for one in by_system if one not in set(data.labelled["system"])]
        none_of = f"no label is of {', '.join(without)}" if without else ""
        note = joined(none_of, _missing_words(data.missing.sum()), left_out)
        found.append(Scope(ALL_SYSTEMS, data.scores, *everything, note))
    return found


def counted(number: int, what: str) -> str:
    """A number with its noun."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def joined(*parts: str) -> str:
    """The parts that say something, semicolons between them."""
    return "; ".join(part for part in parts if part)


def _missing_words(reports: int) -> str:
    return f"{counted(int(reports), 'missing report')} left out" if reports else ""


def judged_reports(
    rubrics: pd.DataFrame,
    judgments: pd.DataFrame,
    labels: pd.DataFrame,
    reports: pd.DataFrame | None = None,
    labelled_judgments: pd.DataFrame | None = None,
) -> JudgedReports:
    """Join scores, labels and verdicts; tables and errors are those of `corrected_scores.corrected_scores`."""
    judges = list(judgments["judge"].unique())
    if len(judges) != 1:
        named = ", ".join(map(repr, judges)) or "none"
        raise InputError(f"judgments are of {len(judges)} judges ({named}); give those of one judge")
    with warnings.catch_warnings():
        # What is unjudged stands in the table's notes.
        warnings.simplefilter("ignore", InputWarning)
        passes = report_scores(rubrics, judgments, reports, unjudged="bounds")
    absent = passes["missing"].astype(bool)
    missing = passes[absent].groupby("system").size()
    by_report = passes[~absent].assign(graded=~passes["no_report"].astype(bool)).groupby([*REPORT_KEY], sort=False)
    scores = by_report.agg(
        score=("score", lambda column: column.mean(skipna=False)),
        graded=("graded", "first"),
        rubrics=("rubrics", "first"),
        unjudged=("unjudged", "sum"),
    ).reset_index()
    runs = scores.groupby("system")["run"].transform("nunique")
    scores["share"] = 1 / (runs * scores.groupby(["system", "run"])["run"].transform("size"))
    own = judgments if labelled_judgments is None else labelled_judgments
    labelled, unjudged = _labelled(rubrics, own[own["judge"] == judges[0]], labels, judges[0])
    return JudgedReports(scores, labelled, missing, unjudged)


def task_sums(scores: pd.DataFrame, labelled: pd.DataFrame) -> TaskSums:
    """Add up by task, over all tasks that are scored or labelled.

    Parameters
    ----------
    scores, labelled
        Rows of `JudgedReports`. The scores of several systems count alike.
    """
    share = scores["share"] / scores["system"].nunique()
    label, verdict, weight = (labelled[name] for name in ("label", "verdict", "share"))
    scored = pd.DataFrame(
        {"weight": share, "score": share * scores["score"], "graded": share * scores["graded"]},
    )
    judged = pd.DataFrame(
        {
            "labelled": weight,
            "label": weight * label,
            "judge": weight * verdict,
            "both": weight * label * verdict,
            "neither": weight * (1 - label) * (1 - verdict),
        }
    )
    parts = [part.groupby(of["task_id"]).sum() for part, of in ((scored, scores), (judged, labelled))]
    table = parts[0].join(parts[1], how="outer").fillna(0.0)
    return TaskSums(**{str(name): column.to_numpy(float) for name, column in table.items()})


def _labelled(
    rubrics: pd.DataFrame, judgments: pd.DataFrame, labels: pd.DataFrame, judge: str
) -> tuple[pd.DataFrame, int]:
    """The labelled rubrics that the judge decided, and how many it did not."""
    twice = labels[labels.duplicated([*LABEL_KEY])]
    if not twice.empty:
        raise InputError(
            [
                f"{row.annotator!r} labelled system {row.system!r}, task {row.task_id!r}, run {row.run}, rubric"
                f" {row.rubric_id!r} more than once; keep one label"
                for row in twice.itertuples()
            ]
        )
    repeated = judgments[judgments.duplicated([*SCORE_KEY, "rubric_id"])]
    if not repeated.empty:
        named = [tuple(row) for row in repeated[[*SCORE_KEY, "rubric_id"]].to_numpy()]
        raise InputError([f"judgment {one} of a labelled report occurs more than once; keep one" for one in named])
    reference = labelled_rubrics(labels)
    weights = rubrics.assign(share=rubrics["weight"] / rubrics.groupby("task_id")["weight"].transform("sum"))
    reference = reference.merge(weights[["task_id", "rubric_id", "share"]], on=["task_id", "rubric_id"], how="left")
    verdicts = judgments[_SUBJECT].assign(verdict=judgments["satisfied"].astype("Float64"))
    verdicts = verdicts.groupby(_SUBJECT, sort=False)["verdict"].mean().reset_index()
    joined = reference.merge(verdicts, on=_SUBJECT, how="left", indicator="found")
    faults = _unmatched(joined[joined["share"].isna()], "there is no such rubric; add it or drop the labels")
    remedy = f"judge {judge!r} has no judgment of it; judge the report that was labelled, or drop the labels"
    faults += _unmatched(joined[joined["share"].notna() & (joined["found"] == "left_only")], remedy)
    if faults:
        raise InputError(faults)
    joined = joined[joined["share"] > 0].drop(columns="found")
    undecided = joined["verdict"].isna()
    return joined[~undecided].astype({"label": float, "verdict": float}), int(undecided.sum())


def _unmatched(rows: pd.DataFrame, remedy: str) -> list[str]:
    faults = [
        f"label of system {row.system!r}, task {row.task_id!r}, run {row.run}, rubric {row.rubric_id!r}: {remedy}"
        for row in rows.head(_SHOWN).itertuples()
    ]
    return faults + ([f"{len(rows) - _SHOWN} more labels like these"] if len(rows) > _SHOWN else [])
