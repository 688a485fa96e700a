"""Tasks, reports and items for tests of labelling and ranking."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lifesearch_kit.labeling.items import LabelItem
from lifesearch_kit.labeling.labels import LabelSession
from lifesearch_kit.labeling.pages import Press
from lifesearch_kit.records import Report, Rubric, Task

SYSTEMS = ("zephyr-large", "quill 3.1", "osprey_mini", "团队甲")
LANGUAGES = ("zh", "en")


def made_tasks(count: int = 4, rubrics: int = 4) -> list[Task]:
    """Tasks in turn Chinese and English, of two domains; criteria in turn Explicit and Implicit."""
    return [
        Task(
            task_id=f"t{number}",
            language=LANGUAGES[number % 2],
            domain=f"D{number // 2 % 2}",
            query=f"Which ferries ran in year {number}?",
            rubrics=tuple(
                Rubric(
                    rubric_id=f"R{at}",
                    criterion=f"The response should state that ferry {at} ran {at} times.",
                    necessity="Implicit" if at % 2 else "Explicit",
                    weight=0.5,
                )
                for at in range(rubrics)
            ),
        )
        for number in range(count)
    ]


def made_reports(tasks: Sequence[Task], systems: Sequence[str] = SYSTEMS, runs: int = 1) -> list[Report]:
    """A report of each system on each task, whose text differs and names nobody."""
    return [
        Report(
            system=system,
            task_id=task.task_id,
            run=run,
            text=f"# Ferries\n\nIn {task.task_id}, {at} ferries ran {run}.",
        )
        for at, system in enumerate(systems)
        for task in tasks
        for run in range(1, runs + 1)
    ]


def made_items(tasks: Sequence[Task], reports: Sequence[Report]) -> list[LabelItem]:
    """Every rubric of every report."""
    by_id = {task.task_id: task for task in tasks}
    return [LabelItem(by_id[one.task_id], rubric, one) for one in reports for rubric in by_id[one.task_id].rubrics]


def label_all(items: Sequence[LabelItem], annotator: str, folder: Path, failed: Sequence[LabelItem] = ()) -> None:
    """Have a person label every item: Fail for those named, Pass for the others."""
    session = LabelSession(items, annotator, folder, seed=1)
    while session.position < len(items):
        item = session.items[session.position]
        session.press(Press("f" if item in failed else "p", f"note of {annotator}" if item in failed else ""))
    session.close()
