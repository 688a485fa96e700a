"""Rubrics as the items of a test: how often each is passed, and whether it goes with the rest of its task."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.records import JUDGMENT_KEY, REPORT_KEY
from lifesearch_kit.reference_labels import labelled_rubrics

# Two reports always lie on a line, so that their correlation is 1 or -1 whatever they are.
FEWEST_REPORTS = 3
_RUBRIC = ["task_id", "rubric_id"]
_COUNTS = ["reports", "repeated", "unstable", "unjudged", "labelled", "agreeing"]


def rubric_items(rubrics: pd.DataFrame, judgments: pd.DataFrame, labels: pd.DataFrame | None = None) -> pd.DataFrame:
    """Pass rate, discrimination and stability of each rubric over the reports of its task.

    A report's value on a rubric is the share of the judge's repeats that pass it. Discrimination is the item-rest
    correlation of classical test theory: Pearson's, over reports, between the rubric and the score that the *other*
    rubrics of its task give (equation 1 without it, over what was judged), so that no rubric correlates with itself
    (Henrysson 1963). It takes reports as independent, although runs of one system are alike, and is rough for few
    of them: a sign to read the rubric, no verdict on it. Below zero, reports that are better otherwise fail it.

    Parameters
    ----------
    rubrics
        A row a rubric: task_id, rubric_id, criterion, weight.
    judgments
        A row a judgment of one judge: its key and satisfied (missing = unjudged).
    labels
        One reference label a rubric of a report, if there are any.

    Returns
    -------
    DataFrame
        A row a rubric, in the order of `rubrics`: task_id, rubric_id, criterion, weight, reports (with a verdict),
        pass_pct (mean over them; missing without any), discrimination (missing where undefined),
        discrimination_reason, never_passed and always_passed (by any verdict; false without one), repeated (reports
        with two verdicts or more), unstable (of these, where verdicts differ), unjudged (judgments), labelled (verdicts
        with a label), agreeing (of these, equal to it), agreement_pct.

    Raises
    ------
    InputError
        For judgments of several judges, repeated judgments or ones of unknown rubrics, or several labels of a rubric.
    """
    _check(rubrics, judgments)
    ruled = judgments[judgments["satisfied"].notna()].astype({"satisfied": "float"})
    values = ruled.groupby([*_RUBRIC, "system", "run"], observed=True)["satisfied"].agg(["mean", "size"]).reset_index()
    values["open"] = ~values["mean"].isin([0.0, 1.0])
    own = values.groupby(_RUBRIC).agg(
        reports=("mean", "size"),
        pass_pct=("mean", "mean"),
        least=("mean", "min"),
        most=("mean", "max"),
        repeated=("size", lambda sizes: int((sizes > 1).sum())),
        unstable=("open", "sum"),
    )
    table = rubrics[[*_RUBRIC, "criterion", "weight"]].merge(own, on=_RUBRIC, how="left", validate="1:1")
    table["pass_pct"] *= 100
    table = table.assign(never_passed=table.pop("most") == 0, always_passed=table.pop("least") == 1)
    table = table.merge(_discriminations(rubrics, values), on=_RUBRIC, how="left", validate="1:1")
    unjudged = judgments[judgments["satisfied"].isna()].groupby(_RUBRIC, observed=True).size()
    table = table.merge(unjudged.rename("unjudged").reset_index(), on=_RUBRIC, how="left", validate="1:1")
    table = table.merge(_against_labels(ruled, labels), on=_RUBRIC, how="left", validate="1:1")
    table[_COUNTS] = table[_COUNTS].fillna(0).astype("int64")
    table["agreement_pct"] = (100 * table["agreeing"] / table["labelled"].where(table["labelled"] > 0)).astype(float)
    columns = ["reports", "pass_pct", "discrimination", "discrimination_reason", "never_passed", "always_passed"]
    columns += ["repeated", "unstable", "unjudged", "labelled", "agreeing", "agreement_pct"]
    return table[[*_RUBRIC, "criterion", "weight", *columns]]


def item_words(items: pd.DataFrame) -> str:
    """Say how many rubrics are passed by none or all, go against the rest of their task, or are judged both ways."""
    judged = items[items["reports"] > 0]
    if judged.empty:
        return "No rubric has a verdict."
    defined = judged["discrimination"].dropna()
    parts = [
        f"{int(judged['never_passed'].sum())} are passed by no report",
        f"{int(judged['always_passed'].sum())} by every one",
        f"{int((defined < 0).sum())} of the {len(defined)} with a discrimination go against the rest of their task"
        if len(defined)
        else "none has a discrimination",
    ]
    if (judged["repeated"] > 0).any():
        parts.append(f"{int((judged['unstable'] > 0).sum())} are judged both ways in repeats of the same report")
    return f"Of {len(judged)} judged rubrics {', '.join(parts)}."


def _discriminations(rubrics: pd.DataFrame, values: pd.DataFrame) -> pd.DataFrame:
    """Item-rest correlation of each rubric that has a verdict, or why there is none."""
    weights = rubrics.set_index(_RUBRIC)["weight"].astype(float)
    rows = []
    for task, own in values.groupby("task_id", sort=False):
        table = own.pivot(index=["system", "run"], columns="rubric_id", values="mean")
        weight = weights.loc[task].reindex(table.columns).to_numpy()
        passes = table.to_numpy(float)
        there = np.isfinite(passes)
        points, total = np.where(there, passes, 0) * weight, there * weight
        rest_total = total.sum(axis=1, keepdims=True) - total
        rest = np.divide(
            points.sum(axis=1, keepdims=True) - points,
            rest_total,
            out=np.full(passes.shape, np.nan),
            where=rest_total > 1e-9,
        )
        rows += [(task, name, *_correlation(passes[:, at], rest[:, at])) for at, name in enumerate(table.columns)]
    columns = [*_RUBRIC, "discrimination", "discrimination_reason"]
    return pd.DataFrame(rows, columns=columns).astype({"discrimination": float})


def _correlation(item: np.ndarray, rest: np.ndarray) -> tuple[float | None, str]:
    both = np.isfinite(item) & np.isfinite(rest)
    # Rounded: sums of the same weights in another order are one value.
    item, rest = item[both], rest[both].round(9)
    if not both.any():
        return None, "no other rubric of its task that counts has a verdict on the same report"
    if len(item) < FEWEST_REPORTS:
        return None, f"{len(item)} reports; a correlation needs {FEWEST_REPORTS}"
    if np.ptp(item) == 0:
        word = {0.0: "no report passes it", 1.0: "every report passes it"}
        return None, word.get(float(item[0]), "all reports pass it in the same share of repeats")
    if np.ptp(rest) == 0:
        return None, "the rest of its task scores every report alike"
    return float(np.corrcoef(item, rest)[0, 1]), ""


def _against_labels(ruled: pd.DataFrame, labels: pd.DataFrame | None) -> pd.DataFrame:
    """How many verdicts of each rubric have a label, and how many equal it."""
    if labels is None:
        return pd.DataFrame(columns=[*_RUBRIC, "labelled", "agreeing"]).astype({"task_id": str, "rubric_id": str})
    reference = labelled_rubrics(labels)
    joined = ruled.merge(reference, on=[*REPORT_KEY, "rubric_id"], validate="m:1")
    joined["equal"] = joined["satisfied"] == joined["label"].astype(float)
    return joined.groupby(_RUBRIC, observed=True)["equal"].agg(labelled="size", agreeing="sum").reset_index()


def _check(rubrics: pd.DataFrame, judgments: pd.DataFrame) -> None:
    judges = judgments["judge"].unique()
    faults = []
    if len(judges) > 1:
        faults.append(f"judgments of {len(judges)} judges ({', '.join(map(repr, judges))}); choose one")
    repeated = int(judgments.duplicated([*JUDGMENT_KEY]).sum())
    if repeated:
        faults.append(f"{repeated} judgments occur more than once; keep one each")
    known = set(zip(rubrics["task_id"], rubrics["rubric_id"], strict=True))
    seen = judgments[_RUBRIC].drop_duplicates().itertuples(index=False, name=None)
    faults += [
        f"judgments of task {one[0]!r}: rubric {one[1]!r} is unknown; add or drop it"
        for one in seen
        if one not in known
    ]
    if faults:
        raise InputError(faults)
