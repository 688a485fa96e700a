"""Notebook 08 where people did rank: the paper's study, and a folder with ranks by task."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import papermill
import pytest

from lifesearch_kit.files import write_jsonl
from lifesearch_kit.paths import FIGURES, NOTEBOOKS, ROOT
from lifesearch_kit.records import Judgment, Report, Rubric, Task

PROFILE = "people-notebook-test"


@pytest.fixture(autouse=True)
def _without_leftovers() -> Iterator[None]:
    yield
    shutil.rmtree(FIGURES / PROFILE, ignore_errors=True)


def shown(results: Path, folder: Path) -> str:
    """What the notebook prints and shows of a results folder."""
    done = papermill.execute_notebook(
        NOTEBOOKS / "08_human_agreement.ipynb",
        folder / "done.ipynb",
        {"results": str(results), "profile": PROFILE, "resamples": 200},
        cwd=ROOT,
        progress_bar=False,
    )
    outputs = [one for cell in nbformat.from_dict(done).cells if cell.cell_type == "code" for one in cell.outputs]
    return "\n".join(one.get("text", "") or one.get("data", {}).get("text/plain", "") for one in outputs)


def test_the_papers_study_is_recomputed_and_its_other_value_explained(tmp_path: Path) -> None:
    text = shown(ROOT / "data" / "paper", tmp_path)
    assert "Spearman 0.893, Kendall 0.810 over 7 systems" in text
    assert "p = 0.011 over all 5,040 orders" in text
    assert "Hy3 2 places higher" in text
    assert "Spearman 0.929 and Kendall 0.810, not Spearman 0.893 and Kendall 0.810" in text
    assert "holds no task_rankings.csv" in text
    assert (FIGURES / PROFILE / "08_1_human_ranks.png").is_file()


def test_ranks_by_task_are_compared_with_each_tasks_scores(tmp_path: Path) -> None:
    rubrics = tuple(Rubric(rubric_id=f"R{at}", criterion="c", weight=0.5) for at in range(3))
    tasks = [Task(task_id=one, language="zh", domain="D", query="q", rubrics=rubrics) for one in ("t1", "t2", "t3")]
    # Passed rubrics of 3 in each task; people rank 甲 before B before C, in t3 the other way round.
    passed = {"甲": (3, 3, 3), "B": (2, 2, 2), "C": (1, 1, 1)}
    keys = [(system, task.task_id, own[at]) for system, own in passed.items() for at, task in enumerate(tasks)]
    write_jsonl(tmp_path / "tasks.jsonl", tasks)
    write_jsonl(tmp_path / "reports.jsonl", [Report(system=one, task_id=task, text="x") for one, task, _ in keys])
    verdicts = [
        Judgment(system=system, task_id=task, rubric_id=f"R{at}", judge="j", satisfied=at < count)
        for system, task, count in keys
        for at in range(3)
    ]
    write_jsonl(tmp_path / "judgments.jsonl", verdicts)
    (tmp_path / "rankings.csv").write_text("system,human_rank\n甲,1\nB,2\nC,3\n", encoding="utf-8")
    ranks = [f"{task},x,{system},{rank}" for task in ("t1", "t2") for rank, system in enumerate(passed, 1)]
    ranks += [f"t3,x,{system},{rank}" for rank, system in enumerate(reversed(passed), 1)]
    head = "task_id,annotator,system,human_rank\n"
    (tmp_path / "task_rankings.csv").write_text(head + "\n".join(ranks) + "\n", encoding="utf-8")
    text = shown(tmp_path, tmp_path)
    assert "The score keeps 3 of 3 systems in people's place" in text
    assert "The score ranks are those of the overall scores." in text
    # Of the tasks' own 1, 1 and -1 the mean is a third; mean ranks 5/3, 2 and 7/3 are the score's order.
    assert "0.333" in text.split("mean of tasks", 1)[1].splitlines()[0]
    assert "-1.0" in text
