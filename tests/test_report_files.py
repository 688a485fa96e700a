"""Other benchmarks' files and anybody's reports as records, each report on its own task or refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import write_jsonl
from lifesearch_kit.formats.deep_research_bench import read_deep_research_bench
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.report_files import missing_reports, read_report_files

REAL = ROOT.parent / "shared" / "real"
QUESTIONS = {"1": "澜亭港有几个泊位？", "2": "How long is the Selwick tramway?", "10": "Which ferry is older?"}


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def tasks() -> list[Task]:
    return [
        Task(
            task_id=name,
            language="zh" if name == "1" else "en",
            domain="Transport",
            query=question,
            rubrics=(Rubric(rubric_id="R1", criterion="The response should answer.", weight=1.0),),
        )
        for name, question in QUESTIONS.items()
    ]


def test_articles_find_their_task_by_id_whatever_the_order(tmp_path: Path, tasks: list[Task]) -> None:
    rows = [
        {"id": 10, "prompt": QUESTIONS["10"], "article": "The blue one."},
        {"id": 1, "prompt": QUESTIONS["1"], "article": " "},
    ]
    reports = read_report_files({"walker": lines(tmp_path / "w.jsonl", rows)}, tasks)
    assert [(one.task_id, one.status) for one in reports] == [("1", "empty"), ("10", "answered")]
    assert reports[1].text == "The blue one."
    assert missing_reports(reports, tasks, ["walker"]) == [("walker", "2", 1)]


def test_an_article_with_another_tasks_question_is_refused_and_not_moved(tmp_path: Path, tasks: list[Task]) -> None:
    rows = [
        {"id": 1, "prompt": QUESTIONS["2"], "article": "4 km."},
        {"id": 2, "prompt": "Who runs the ferries?", "article": "The port."},
        {"id": 3, "prompt": QUESTIONS["10"], "article": "The blue one."},
    ]
    with pytest.raises(InputError) as raised:
        read_report_files({"walker": lines(tmp_path / "w.jsonl", rows)}, tasks)
    told = "\n".join(raised.value.faults)
    assert len(raised.value.faults) == 3
    for part in ("id '1'", "question of task '2'", "id '2'", "question of no task", "'3' is no task"):
        assert part in told


def test_line_breaks_and_spacing_of_a_prompt_do_not_matter(tmp_path: Path, tasks: list[Task]) -> None:
    rows = [{"id": "2", "prompt": "How long is\r\nthe  Selwick tramway?\n", "article": "4 km."}]
    assert read_report_files({"walker": lines(tmp_path / "w.jsonl", rows)}, tasks)[0].task_id == "2"


def test_a_prompt_is_required_and_one_task_has_one_article(tmp_path: Path, tasks: list[Task]) -> None:
    with pytest.raises(InputError, match=r"'prompt'.*missing"):
        read_report_files({"walker": lines(tmp_path / "w.jsonl", [{"id": 1, "article": "7."}])}, tasks)
    row = {"id": 1, "prompt": QUESTIONS["1"], "article": "7."}
    with pytest.raises(InputError, match="stands already"):
        read_report_files({"walker": lines(tmp_path / "w.jsonl", [row, row])}, tasks)


def test_markdown_folders_with_runs(tmp_path: Path, tasks: list[Task]) -> None:
    flat, nested = tmp_path / "flat", tmp_path / "nested"
    for path in (flat / "1.md", flat / "1__run2.md", nested / "run1" / "2.md", nested / "run3" / "2.md"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"\ufeff{path.parent.name}", encoding="utf-8")
    reports = read_report_files({"nested": nested, "flat": flat}, tasks)
    assert [(one.system, one.task_id, one.run, one.text) for one in reports] == [
        ("nested", "2", 1, "run1"),
        ("nested", "2", 3, "run3"),
        ("flat", "1", 1, "flat"),
        ("flat", "1", 2, "flat"),
    ]
    assert len(missing_reports(reports, tasks, ["flat"], runs=2)) == 4


def test_markdown_files_that_fit_nowhere_are_all_named(tmp_path: Path, tasks: list[Task]) -> None:
    for name in ("1.md", "1__run1.md", "run1/1.md", "notes/2.md", "run2/2__run3.md", "20.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("text", encoding="utf-8")
    (tmp_path / "2.md").write_bytes("berth 泊位".encode("gbk"))
    with pytest.raises(InputError) as raised:
        read_report_files({"walker": tmp_path}, tasks)
    told = "\n".join(raised.value.faults)
    assert len(raised.value.faults) == 6
    for part in ("no run", "different runs", "no UTF-8", "'20' is no task", "did you mean '2'"):
        assert part in told
    assert told.count("stands already") == 2


def test_the_ending_of_a_markdown_file_may_be_written_large(tmp_path: Path, tasks: list[Task]) -> None:
    for name in ("1.md", "2.MD", "10__run2.Md"):
        (tmp_path / name).write_text("text", encoding="utf-8")
    reports = read_report_files({"walker": tmp_path}, tasks)
    assert [(one.task_id, one.run) for one in reports] == [("1", 1), ("2", 1), ("10", 2)]


def test_a_report_under_another_ending_is_named_and_not_passed_over(tmp_path: Path, tasks: list[Task]) -> None:
    for name in ("1.md", "1.json", "2.markdown", "10__run2.txt", "README.txt"):
        (tmp_path / name).write_text("text", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_report_files({"walker": tmp_path}, tasks)
    # 1.json lies beside the report 1.md, and README is no task.
    assert [fault.rpartition("save it as ")[2] for fault in raised.value.faults] == ["10__run2.md", "2.md"]


def test_a_name_that_is_taken_is_refused(tmp_path: Path, tasks: list[Task]) -> None:
    (tmp_path / "1.md").write_text("text", encoding="utf-8")
    with pytest.raises(InputError, match="'walker' is also the name"):
        read_report_files({"walker": tmp_path, "rider": tmp_path}, tasks, taken=["walker", "flyer"])


def test_all_systems_owe_the_highest_run_of_any(tasks: list[Task]) -> None:
    reports = [
        Report(system=system, task_id=task.task_id, run=run, text="text")
        for system, runs in (("walker", (1, 2)), ("rider", (1,)), ("flyer", (5,)))
        for run in runs
        for task in tasks
    ]
    lost = [("rider", task.task_id, 2) for task in tasks]
    assert missing_reports(reports, tasks, ["walker", "rider"]) == lost
    assert missing_reports(reports, tasks, ["walker"]) == []
    assert len(missing_reports(reports, tasks, ["walker"], runs=3)) == 3


def test_a_folder_without_reports_is_a_fault(tmp_path: Path, tasks: list[Task]) -> None:
    with pytest.raises(InputError, match="no Markdown file"):
        read_report_files({"walker": tmp_path}, tasks)


def test_own_reports_are_taken_by_system(tmp_path: Path, tasks: list[Task]) -> None:
    own = [Report(system=system, task_id="2", text="4 km.", iterations=3) for system in ("walker", "rider")]
    write_jsonl(tmp_path / "reports.jsonl", own)
    assert read_report_files({"rider": tmp_path / "reports.jsonl"}, tasks) == [own[1]]
    with pytest.raises(InputError, match="no report of 'flyer'; its systems are 'walker', 'rider'"):
        read_report_files({"flyer": tmp_path / "reports.jsonl"}, tasks)


@pytest.mark.skipif(not REAL.exists(), reason="the real reports are not beside the project (../shared/real)")
def test_three_real_systems_answer_all_hundred_tasks() -> None:
    bench, other = REAL / "deep_research_bench", REAL / "open_deep_research"
    real = read_deep_research_bench(bench / "criteria.jsonl", bench / "query.jsonl").tasks
    assert sum(len(task.rubrics) for task in real) == 2517
    assert all(sum(one.weight for one in task.rubrics) == pytest.approx(1.0) for task in real)
    paths = {
        "claude-3-7-sonnet": bench / "claude-3-7-sonnet-latest.jsonl",
        "gpt-4.1": other / "deep_research_bench_gpt-4.1.jsonl",
        "gpt-5": other / "deep_research_bench_gpt-5.jsonl",
    }
    reports = read_report_files(paths, real)
    assert len(reports) == 300
    assert missing_reports(reports, real, paths) == []
