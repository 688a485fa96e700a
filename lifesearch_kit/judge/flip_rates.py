"""How often a judge's verdict changes with a change of the report that must not change it.

A judge that does not repeat itself flips without any cause, so the row of `SAME_AGAIN` stands beside the others: its
verdicts on the same report against each other. Only what goes beyond that row speaks of the change.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from lifesearch_kit.errors import InputError
from lifesearch_kit.judge.robustness import split_system
from lifesearch_kit.judge.transformations import TRANSFORMATIONS
from lifesearch_kit.records import JUDGMENT_KEY, LABEL_KEY
from lifesearch_kit.statistics.clustered_shares import clustered_interval

SAME_AGAIN = "same report again"
# What low_pct and high_pct of `flip_rates` are, for captions.
INTERVAL_WORDS = "95% Wilson intervals that allow for the rubrics of one task being judged alike"
_SUBJECT = list(LABEL_KEY[:-1])
_OWN = [*_SUBJECT, "judge"]
_COMPARED = ["judge", "kind", *_SUBJECT, "repeat_before", "repeat_after", "before", "after"]
_COUNTS = ["tasks", "reports", "rubrics", "comparisons", "flips", "to_true", "to_false", "false_before", "unjudged"]
_PERCENT = ["flip_pct", "low_pct", "high_pct"]
_COLUMNS = ["judge", "kind", *_COUNTS[:5], *_PERCENT, *_COUNTS[5:], "reason"]


def flip_rates(judgments: pd.DataFrame, transformed: pd.DataFrame) -> pd.DataFrame:
    """Count the verdicts that changed, by judge and kind of change.

    Every verdict on a changed report is compared with every verdict of the same judge on the same rubric of the
    original; for the same report again, every verdict with every later one. So both rows have the same expectation
    where the change has no effect. What is unjudged on either side is compared with nothing and is no flip.

    Parameters
    ----------
    judgments
        Of the untransformed reports, a row a judgment: its key and satisfied (missing = unjudged). Those of judges and
        rubrics that `transformed` does not hold are left out.
    transformed
        Of the reports that `transformed_reports` made, likewise.

    Returns
    -------
    DataFrame
        A row a judge (in order of first appearance in `transformed`) and kind (the same report again first, where the
        judge made several passes; then in the order of `TRANSFORMATIONS`); none where `transformed` is empty. Columns:
        judge, kind; tasks, reports, rubrics (with a verdict on both sides); comparisons; flips; flip_pct (flips of the
        comparisons); low_pct and high_pct (95% `clustered_interval`, a task a cluster: rubrics of one task flip
        together, and several comparisons of a rubric count as one decision; with one task, or where nothing or all
        flipped, each task as one); to_true and to_false (flips by what they led to); false_before (comparisons that
        could flip to true); unjudged (of the transformed judgments; for the same report again, of the original ones);
        reason (why the percentages are missing, where there is nothing to compare; else empty).

    Raises
    ------
    InputError
        As `compared_verdicts`.
    """
    compared = compared_verdicts(judgments, transformed)
    changed = _with_kind(transformed)
    again = judgments.merge(changed[_OWN].drop_duplicates(), on=_OWN) if len(changed) else judgments[:0]
    rows = []
    for judge in changed["judge"].unique():
        asked = dict(iter(changed[changed["judge"] == judge].groupby("kind")))
        original = again[again["judge"] == judge]
        if original["repeat"].nunique() > 1:
            asked[SAME_AGAIN] = original
        for kind in (SAME_AGAIN, *TRANSFORMATIONS):
            if kind in asked:
                pairs = compared[(compared["judge"] == judge) & (compared["kind"] == kind)]
                rows.append({"judge": judge, "kind": kind} | _rates(pairs, asked[kind]["satisfied"]))
    types = dict.fromkeys(_COUNTS, "int64") | dict.fromkeys(_PERCENT, "Float64")
    return pd.DataFrame(rows, columns=_COLUMNS).astype(types)


def compared_verdicts(judgments: pd.DataFrame, transformed: pd.DataFrame) -> pd.DataFrame:
    """The comparisons that `flip_rates` counts, to be read one by one.

    Parameters
    ----------
    judgments, transformed
        As for `flip_rates`.

    Returns
    -------
    DataFrame
        A row a comparison: judge, kind, system (the original's), task_id, run, rubric_id, repeat_before and
        repeat_after (passes), before and after (verdicts; of the same report again: of the earlier and later pass).

    Raises
    ------
    InputError
        When a system in `transformed` is named for no kind, a judgment occurs more than once, or there is no judgment
        of a judge on any of the untransformed reports.
    """
    changed = _with_kind(transformed)
    _refuse_repeated(judgments, "judgments")
    _refuse_repeated(transformed, "transformed")
    if changed.empty:
        return pd.DataFrame(columns=_COMPARED).astype({"before": "bool", "after": "bool"})
    covered = judgments.merge(changed[_OWN].drop_duplicates(), on=_OWN, validate="m:1")
    strangers = [judge for judge in changed["judge"].unique() if judge not in set(covered["judge"])]
    if strangers:
        raise InputError(
            [
                f"judge {one!r} judged transformed reports but none of their originals; grade those too"
                for one in strangers
            ]
        )
    before = _verdicts(covered, "before", _OWN)
    pairs = _verdicts(changed, "after", [*_OWN, "kind"]).merge(before, on=_OWN)
    later = before.rename(columns={"repeat_before": "repeat_after", "before": "after"}).assign(kind=SAME_AGAIN)
    same = before.merge(later, on=_OWN)
    same = same[same["repeat_before"] < same["repeat_after"]]
    return pd.concat([same[_COMPARED], pairs[_COMPARED]], ignore_index=True)


def _rates(pairs: pd.DataFrame, asked: pd.Series) -> dict[str, object]:
    """Figures of a judge and kind from its comparisons, and from all verdicts that were asked for."""
    unjudged = int(asked.isna().sum())
    if pairs.empty:
        lacking = "no verdict was reached" if unjudged == len(asked) else "no rubric has two verdicts to compare"
        return dict.fromkeys(_COUNTS, 0) | dict.fromkeys(_PERCENT) | {"unjudged": unjudged, "reason": lacking}
    before, after = pairs["before"].to_numpy(bool), pairs["after"].to_numpy(bool)
    flipped = before != after
    task = pairs.groupby("task_id").ngroup().to_numpy()
    rubrics = pairs.groupby(_SUBJECT).ngroups
    # Several comparisons of a rubric are one decision, made several times.
    share, times = flipped.mean(), len(pairs) / rubrics
    low, high = clustered_interval(share, np.bincount(task, flipped) / times, np.bincount(task) / times)
    return {
        "tasks": task.max() + 1,
        "reports": pairs.groupby(_SUBJECT[:-1]).ngroups,
        "rubrics": rubrics,
        "comparisons": len(pairs),
        "flips": flipped.sum(),
        "flip_pct": 100 * share,
        "low_pct": 100 * low,
        "high_pct": 100 * high,
        "to_true": (flipped & after).sum(),
        "to_false": (flipped & before).sum(),
        "false_before": (~before).sum(),
        "unjudged": unjudged,
        "reason": "",
    }


def _with_kind(transformed: pd.DataFrame) -> pd.DataFrame:
    """Judgments of transformed reports under their original's system, with the kind beside it."""
    names = {name: split_system(name) for name in transformed["system"].unique()}
    faults = [
        f"transformed: system {name!r} is named for no kind of change; give judgments of `transformed_reports` alone"
        for name, (_, kind) in names.items()
        if kind is None
    ]
    if faults:
        raise InputError(faults)
    system, kind = ([names[name][at] for name in transformed["system"]] for at in (0, 1))
    return transformed.assign(system=system, kind=kind)


def _verdicts(judgments: pd.DataFrame, side: str, key: list[str]) -> pd.DataFrame:
    """Key, pass and verdict of what was judged, the last two named for their side of the comparison."""
    ruled = judgments[judgments["satisfied"].notna()].astype({"satisfied": "bool"})
    return ruled[[*key, "repeat", "satisfied"]].rename(columns={"repeat": f"repeat_{side}", "satisfied": side})


def _refuse_repeated(judgments: pd.DataFrame, name: str) -> None:
    repeated = judgments.loc[judgments.duplicated([*JUDGMENT_KEY]), [*JUDGMENT_KEY]]
    if not repeated.empty:
        key = ", ".join(f"{one} {value!r}" for one, value in repeated.iloc[0].to_dict().items())
        raise InputError(f"{name}: {len(repeated)} judgments occur more than once, the first of {key}; keep one each")
