"""Notebooks on results that leave something open: they explain it and do not break."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import nbformat
import papermill
import pytest
from papermill.iorw import load_notebook_node
from papermill.parameterize import parameterize_notebook

from lifesearch_kit.files import write_jsonl
from lifesearch_kit.paths import FIGURES, NOTEBOOKS, ROOT
from lifesearch_kit.records import Judgment, Report, Rubric, Task

PROFILE = "notebook-states-test"
BOOKS = (
    "01_tasks_and_rubrics",
    "05_main_results",
    "06_tokens_vs_score",
    "07_failure_cases",
    "08_human_agreement",
    "09_how_sure",
)
RUBRICS = tuple(
    Rubric(
        rubric_id=name,
        criterion=f"The response should state {name}<script>bad()</script>.",
        weight=0.5,
        dimension="facts",
    )
    for name in ("R1", "R2")
)
TASKS = [
    Task(task_id=f"t{number}", language=("zh", "en")[number % 2], domain=f"D{number % 2}", query="q", rubrics=RUBRICS)
    for number in range(4)
]
# Passed rubrics of each task, R1 then R2. "steady" scores 6 of 8, "partial" 5 of 8.
PASSED = {"steady": ("11", "11", "10", "10"), "partial": ("11", "10", "10", "10")}


def reports(status: str = "answered") -> list[Report]:
    return [
        Report(system=system, task_id=task.task_id, text="R1 is 5 km.", status=status, iterations=3, output_tokens=900)
        for system in PASSED
        for task in TASKS
    ]


def judgments() -> list[Judgment]:
    return [
        Judgment(system=system, task_id=task.task_id, rubric_id=name, judge="strict", satisfied=mark == "1")
        for system, rows in PASSED.items()
        for task, marks in zip(TASKS, rows, strict=True)
        for name, mark in zip(("R1", "R2"), marks, strict=True)
    ]


def unjudged(one: Judgment) -> Judgment:
    return one.model_copy(update={"satisfied": None, "status": "refused"})


@pytest.fixture(autouse=True)
def _without_leftovers() -> Iterator[None]:
    yield
    shutil.rmtree(FIGURES / PROFILE, ignore_errors=True)


def run(folder: Path, texts: list[Report], verdicts: list[Judgment], judge_results: str = "") -> dict[str, str]:
    """Run the notebooks one after the other in one kernel, emptied in between; what each printed or showed."""
    for name, records in (("tasks", TASKS), ("reports", texts), ("judgments", verdicts)):
        write_jsonl(folder / f"{name}.jsonl", records)
    (folder / "rankings.csv").write_text("system,human_rank\npartial,1\nsteady,2\nunseen,3\n", encoding="utf-8")
    cells, owners = [], []
    for book in BOOKS:
        one = load_notebook_node(str(NOTEBOOKS / f"{book}.ipynb"))
        one = parameterize_notebook(one, {"results": str(folder), "profile": PROFILE, "judge_results": judge_results})
        own = [*[cell for cell in one.cells if cell.cell_type == "code"], nbformat.v4.new_code_cell("%reset -f")]
        for cell in own:
            cell.metadata["tags"] = []  # the parameters are set already
        cells += own
        owners += [book] * len(own)
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), folder / "all.ipynb")
    done = papermill.execute_notebook(folder / "all.ipynb", folder / "done.ipynb", cwd=ROOT, progress_bar=False)
    shown = dict.fromkeys(BOOKS, "")
    for owner, cell in zip(owners, done.cells, strict=True):
        shown[owner] += "".join(
            one.get("text", "") or one.get("data", {}).get("text/plain", "") for one in cell.outputs
        )
    return shown


def test_where_every_rubric_is_unjudged_nothing_is_ranked(tmp_path: Path) -> None:
    shown = run(tmp_path, reports(), [unjudged(one) for one in judgments()])
    assert "could change the order of steady and partial" in shown["05_main_results"]
    assert "2 of 2 systems have no score" in shown["06_tokens_vs_score"]
    assert "No rubric has a verdict" in shown["07_failure_cases"]


def test_where_every_report_asks_back_all_scores_are_0(tmp_path: Path) -> None:
    shown = run(tmp_path, reports("asked_back"), [])
    assert "No unjudged rubric and no missing report" in shown["05_main_results"]
    table = shown["05_main_results"].split("score_pct", 1)[1]
    assert "0.0" in table
    assert "premature_clarification" in shown["07_failure_cases"]
    assert "100.0" in shown["07_failure_cases"]


def test_one_unjudged_rubric_leaves_the_others_their_scores(tmp_path: Path) -> None:
    first, *others = judgments()
    shown = run(tmp_path, reports(), [unjudged(first), *others])
    assert "62.5" in shown["05_main_results"]  # partial: 5 of 8
    assert "could change the order of" in shown["05_main_results"]  # steady: 5 or 6 of 8
    assert "<script>bad" not in (tmp_path / "done.ipynb").read_text(encoding="utf-8")
    caption = (FIGURES / PROFILE / "05_1_overall.json").read_text(encoding="utf-8")
    assert "steady" in caption
    assert "graded by strict" in caption


def test_a_system_with_missing_reports_is_marked(tmp_path: Path) -> None:
    texts = [one for one in reports() if (one.system, one.task_id) not in {("partial", "t1"), ("partial", "t2")}]
    there = {(one.system, one.task_id) for one in texts}
    shown = run(tmp_path, texts, [one for one in judgments() if (one.system, one.task_id) in there])
    # partial passes 3 of 4 rubrics of two tasks; with the two others between 3 and 7 of 8, steady 6 of 8.
    assert "could change the order of steady and partial" in shown["05_main_results"]
    assert "2 missing" in (FIGURES / PROFILE / "05_1_overall.json").read_text(encoding="utf-8")
    assert "unseen" in shown["08_human_agreement"]
    assert "0 systems" not in shown["08_human_agreement"]


def test_a_judge_without_verdicts_beside_labels_is_told_and_corrects_nothing(tmp_path: Path) -> None:
    labelled = tmp_path / "labelled"
    labelled.mkdir()
    write_jsonl(labelled / "tasks.jsonl", TASKS)
    write_jsonl(labelled / "judgments.jsonl", [one.model_copy(update={"judge": "other"}) for one in judgments()])
    label = "system,task_id,run,rubric_id,annotator,satisfied\nsteady,t0,1,R1,reference,Pass\n"
    (labelled / "labels.csv").write_text(label, encoding="utf-8")
    shown = run(tmp_path, reports(), judgments(), str(labelled))
    assert "holds no verdicts of strict beside labels" in shown["09_how_sure"]
    assert "holds no verdicts of both baseline-judge and baseline-judge-strict" in shown["09_how_sure"]
    # Four tasks: no interval, and no order that is more than chance.
    assert "few shared tasks: no interval" in shown["09_how_sure"]
