"""From rankings of anonymous reports to ranks of systems, in the files that the notebook on human agreement reads."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import pandas as pd

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.labeling.answer_files import latest, people
from lifesearch_kit.labeling.blinding import report_code
from lifesearch_kit.labeling.ranking_sets import CRITERIA, RankingAnswer, ranking_file
from lifesearch_kit.records import Report, Task
from lifesearch_kit.tables import write_table

# Marks the tables that come from here: others of these names are never replaced.
SOURCE = "blinded ranking"


def read_rankings(folder: Path) -> list[RankingAnswer]:
    """The last answer of each person to each task and set of reports that they confirmed.

    Raises InputError as `AnswerFile.read`.
    """
    found: list[RankingAnswer] = []
    faults: list[str] = []
    for name in people(folder / "rankings"):
        try:
            found += latest(ranking_file(folder, name).read(), "task_id", "together").values()
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return [one for one in found if one.confirmed]


def unblind(rankings: Iterable[RankingAnswer], tasks: Iterable[Task], reports: Iterable[Report]) -> pd.DataFrame:
    """Say whose reports were ranked, for the rankings over one set of systems.

    Ranks within other sets do not compare with them, so only the set with most rankings counts (of equally many the
    larger one); the others are left aside with a warning. Of a person's rankings of one task and set the last counts.

    Returns
    -------
    DataFrame
        A row a ranked report and criterion: task_id, annotator, criterion, system, run, shown (its letter's number, 1
        for A), place (as given), rank (within the task, 1 the best, tied places sharing their mean rank).

    Raises
    ------
    InputError
        For places that no ranking can have, and where a ranked report or question is not there any more or has changed.
    """
    by_code = {report_code(one): one for one in reports}
    queries = {task.task_id: task.query for task in tasks}
    rows: list[tuple[object, ...]] = []
    faults: list[str] = []
    for one in _over_one_set(list(rankings), by_code):
        place = f"ranking of {one.annotator!r}, task {one.task_id!r}"
        faults += _faults(one, place)
        found = [by_code[code] for code in one.order if code in by_code]
        if len(found) < len(one.order) or one.task_id not in queries:
            faults.append(f"{place}: a report or the task is not among those given; give all that were ranked")
            continue
        if one.fingerprint != fingerprint(queries[one.task_id], *sorted(report.text for report in found)):
            faults.append(f"{place}: the question or a report has changed since; have it ranked again")
        for criterion, places in one.places.items():
            ranks = pd.Series(places, dtype=float).rank()
            rows += [
                (one.task_id, one.annotator, criterion, report.system, report.run, at, given, rank)
                for at, (report, given, rank) in enumerate(zip(found, places, ranks, strict=False), start=1)
            ]
    if faults:
        raise InputError(faults)
    columns = ["task_id", "annotator", "criterion", "system", "run", "shown", "place", "rank"]
    return pd.DataFrame(rows, columns=columns)


def task_rankings(ranks: pd.DataFrame) -> pd.DataFrame:
    """People's overall rank of each system within each task: that of its mean rank over the three criteria.

    Returns
    -------
    DataFrame
        A row a task, annotator and system: task_id, annotator, system, human_rank (1 the best, ties share their mean).
    """
    key = ["task_id", "annotator"]
    means = ranks.groupby([*key, "system"], as_index=False)["rank"].mean()
    human = means["rank"].round(9).groupby([means[name] for name in key]).rank()
    return means[[*key, "system"]].assign(human_rank=human)


def system_rankings(by_task: pd.DataFrame) -> pd.DataFrame:
    """People's rank of each system: that of its mean rank over tasks, annotators of one task counting as one.

    Returns
    -------
    DataFrame
        A row a system, the best first: system, human_rank, mean_rank, tasks.
    """
    within = by_task.groupby(["task_id", "system"], as_index=False)["human_rank"].mean()
    table = within.groupby("system")["human_rank"].agg(mean_rank="mean", tasks="size").reset_index()
    table.insert(1, "human_rank", table["mean_rank"].round(9).rank())
    return table.sort_values(["human_rank", "system"], ignore_index=True)


def write_rankings(by_task: pd.DataFrame, results: Path) -> list[Path]:
    """Write rankings.csv and task_rankings.csv into a results folder, with a column that says where they come from.

    Raises
    ------
    InputError
        Where there is a table of that name that does not come from here; nothing is written then.
    """
    tables = {"rankings.csv": system_rankings(by_task), "task_rankings.csv": by_task}
    faults = [
        f"{results / name}: comes from elsewhere and is not replaced; move it away"
        for name in tables
        if (results / name).exists() and not _is_ours(results / name)
    ]
    if faults:
        raise InputError(faults)
    return [write_table(table.assign(source=SOURCE), results / name) for name, table in tables.items()]


def _over_one_set(rankings: Sequence[RankingAnswer], by_code: Mapping[str, Report]) -> list[RankingAnswer]:
    """The rankings over the set of systems that counts, and those of which it cannot be told."""
    newest = {(one.annotator, one.task_id): one for one in rankings}
    by_set: dict[tuple[str, str, frozenset[str]], RankingAnswer] = {}
    untold = []
    for one in rankings:
        if one.together <= by_code.keys():
            systems = frozenset(by_code[code].system for code in one.order)
            by_set[one.annotator, one.task_id, systems] = one
        elif one is newest[one.annotator, one.task_id]:
            untold.append(one)
    counts = Counter(systems for _, _, systems in by_set)
    if not counts:
        return untold
    chosen = max(counts, key=lambda systems: (counts[systems], len(systems), sorted(systems)))
    if len(counts) > 1:
        aside = counts.total() - counts[chosen]
        told = f"{aside} ranking{'s' if aside > 1 else ''} over other sets of systems left aside"
        kept = f"the {counts[chosen]} over {', '.join(sorted(chosen))} count"
        warnings.warn(f"{told}: {kept}, as ranks within different sets do not compare", InputWarning, stacklevel=3)
    return [one for (_, _, systems), one in by_set.items() if systems == chosen] + untold


def _faults(one: RankingAnswer, place: str) -> list[str]:
    faults = [
        f"{place}: field 'places': there is no criterion {name!r}; they are {', '.join(CRITERIA)}"
        for name in one.places
        if name not in CRITERIA
    ]
    count = len(one.order)
    for name in CRITERIA:
        given = one.places.get(name, ())
        if len(given) != count or not all(value is not None and 1 <= value <= count for value in given):
            faults.append(f"{place}, {name}: field 'places': {list(given)} is not {count} places from 1 to {count}")
    return faults


def _is_ours(path: Path) -> bool:
    table = pd.read_csv(path, dtype=str)
    return "source" in table and bool((table["source"] == SOURCE).all())
