"""What is ranked: a task's reports without their systems' names, in random order, by three criteria."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import pandas as pd
from pydantic import Field

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, fingerprint
from lifesearch_kit.labeling.answer_files import Answer, AnswerFile
from lifesearch_kit.labeling.blinding import report_code
from lifesearch_kit.labeling.items import personal_generator
from lifesearch_kit.labeling.sampling import even_rows
from lifesearch_kit.records import Report, Task

CRITERIA = {
    "factual accuracy": "Which one states fewer things that are wrong or unsupported?",
    "completeness": "Which one answers more of what the question asks?",
    "formatting": "Which one is easier to read and to use?",
}
LETTERS = "ABCDEFGHI"
Places = Annotated[tuple[int | None, ...], Field(strict=False)]


@dataclass(frozen=True)
class RankingSet:
    """A task and the reports on it that are ranked together, one a system, in the order in which they are shown."""

    task: Task
    reports: tuple[Report, ...]

    @property
    def codes(self) -> tuple[str, ...]:
        """The reports' codes, which name no system."""
        return tuple(report_code(one) for one in self.reports)

    @property
    def fingerprint(self) -> str:
        """Of what a person sees, whatever the order."""
        return fingerprint(self.task.query, *sorted(one.text for one in self.reports))


class RankingAnswer(Answer):
    """How one person ranked a task's reports so far.

    `order` holds the reports' codes as they were shown, A first; `seed` is that of the order. `places` has, for each
    criterion, the place of each report in that order, 1 the best, equal ones tied, None where none was given yet.
    """

    task_id: Id
    seed: int
    order: Annotated[tuple[str, ...], Field(strict=False)]
    places: dict[str, Places]
    confirmed: bool = False
    fingerprint: str = ""

    @property
    def together(self) -> frozenset[str]:
        """The codes of the reports that were ranked together, whatever the order."""
        return frozenset(self.order)


def ranking_sets(
    tasks: Iterable[Task], reports: Iterable[Report], n: int, rng: np.random.Generator
) -> list[RankingSet]:
    """Choose tasks whose reports are to be ranked, evenly over domains and languages, and one run of each system.

    Only tasks on which every system wrote a report are taken: mean ranks over tasks with other systems in them do not
    compare.

    Raises
    ------
    InputError
        For a number below 1, fewer tasks than that, fewer than two systems, or more than can be shown.
    """
    gradable = [one for one in reports if one.is_gradable]
    systems = sorted({one.system for one in gradable})
    if not 2 <= len(systems) <= len(LETTERS):
        raise InputError(f"{len(systems)} systems with reports: 2 to {len(LETTERS)} can be ranked; choose among them")
    own: dict[tuple[str, str], list[Report]] = {}
    for one in gradable:
        own.setdefault((one.task_id, one.system), []).append(one)
    whole = [task for task in tasks if all((task.task_id, system) in own for system in systems)]
    if not 1 <= n <= len(whole):
        raise InputError(
            f"n={n}: {len(whole)} tasks have a report of each of the {len(systems)} systems; ask for 1 to {len(whole)}"
        )
    shuffled = [whole[at] for at in rng.permutation(len(whole))]
    table = pd.DataFrame([(task.domain, task.language) for task in shuffled], columns=["domain", "language"])
    chosen = [shuffled[at] for at in even_rows(table, ["domain", "language"], n)]
    return [RankingSet(task, tuple(_draw(own[task.task_id, system], rng) for system in systems)) for task in chosen]


def ranking_file(folder: Path, annotator: str) -> AnswerFile[RankingAnswer]:
    """The file of a person's rankings in a folder of labels."""
    return AnswerFile(folder / "rankings", annotator, RankingAnswer)


def personal_sets(sets: Sequence[RankingSet], annotator: str, seed: int) -> list[RankingSet]:
    """The tasks and each task's reports in a person's own order, which nothing in their systems' names decides."""
    rng = personal_generator(annotator, seed)
    ordered = [sets[at] for at in rng.permutation(len(sets))]
    return [replace(one, reports=tuple(one.reports[at] for at in rng.permutation(len(one.reports)))) for one in ordered]


def _draw(reports: Sequence[Report], rng: np.random.Generator) -> Report:
    return sorted(reports, key=lambda one: one.run)[int(rng.integers(len(reports)))]
