"""Real reports that the kit did not make: 100 tasks of DeepResearch Bench, three systems, one call of the batch."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml

from lifesearch_kit import batch
from lifesearch_kit.formats.deep_research_bench import read_deep_research_bench
from lifesearch_kit.paths import FIGURES, ROOT
from lifesearch_kit.report_files import missing_reports, read_report_files

REAL = Path(os.environ.get("LIFESEARCH_REAL_DATA", ROOT.parent / "shared" / "real"))
BENCH = REAL / "deep_research_bench"
REPORTS = {
    "claude-3-7-sonnet": BENCH / "claude-3-7-sonnet-latest.jsonl",
    "open-deep-research gpt-4.1": REAL / "open_deep_research" / "deep_research_bench_gpt-4.1.jsonl",
    "open-deep-research gpt-5": REAL / "open_deep_research" / "deep_research_bench_gpt-5.jsonl",
}
PROFILE = "real-reports-test"
pytestmark = pytest.mark.skipif(
    not all(path.is_file() for path in REPORTS.values()),
    reason="set LIFESEARCH_REAL_DATA to a folder that holds deep_research_bench/ and open_deep_research/",
)


@pytest.fixture(scope="module")
def tasks():
    return read_deep_research_bench(BENCH / "criteria.jsonl", BENCH / "query.jsonl").tasks


def test_weights_are_dimension_times_criterion(tasks):
    assert (len(tasks), sum(len(task.rubrics) for task in tasks)) == (100, 2517)
    assert {task.language for task in tasks} == {"zh", "en"}
    first = tasks[0]
    # comprehensiveness 0.3 x 0.15, the first criterion of the first task
    assert first.rubrics[0].weight == pytest.approx(0.045)
    assert all(sum(rubric.weight for rubric in task.rubrics) == pytest.approx(1.0, abs=0.02) for task in tasks)


def test_an_absent_report_is_missing_and_moves_no_other(tasks, tmp_path):
    lines = REPORTS["claude-3-7-sonnet"].read_text("utf-8").splitlines()
    (tmp_path / "part.jsonl").write_text("\n".join(lines[:2] + lines[3:]), "utf-8")
    whole = {one.task_id: one.text for one in read_report_files({"s": REPORTS["claude-3-7-sonnet"]}, tasks)}
    part = read_report_files({"s": tmp_path / "part.jsonl"}, tasks)
    ((system, gone, run),) = missing_reports(part, tasks, ["s"])
    assert (system, run) == ("s", 1)
    assert {one.task_id: one.text for one in part} == {task: text for task, text in whole.items() if task != gone}


@pytest.mark.slow
def test_three_systems_are_graded_and_drawn_by_one_call(tmp_path):
    profile = yaml.safe_load((ROOT / "params" / "deep_research_bench.example.yaml").read_text("utf-8"))
    profile |= {"profile": PROFILE, "results": str(tmp_path / "run"), "tasks": str(BENCH)}
    profile["reports"] = {name: str(path) for name, path in REPORTS.items()}
    path = tmp_path / "real.yaml"
    path.write_text(yaml.safe_dump(profile), "utf-8")
    try:
        assert batch.main([str(path)]) == 0
        overall = pd.read_csv(FIGURES / PROFILE / "05_1_overall.csv").set_index("system")
        drawn = {figure.stem for figure in (FIGURES / PROFILE).glob("*.png")}
    finally:
        shutil.rmtree(FIGURES / PROFILE, ignore_errors=True)
    assert set(overall.index) == set(REPORTS)
    assert (overall[["tasks", "missing", "unjudged"]] == [100, 0, 0]).all(axis=None)
    assert overall["score_pct"].between(20, 80).all(), "a rule-based judge that passes or fails all would show here"
    assert {"01_1_dataset", "05_1_overall", "05_2_domains", "06_3_report_characters", "07_2_most_missed"} <= drawn
