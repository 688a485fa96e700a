"""Recorded results come in beside those of a run, by what made them, and ask nobody."""

from __future__ import annotations

import json
import shutil
import warnings
from datetime import date
from pathlib import Path

import pytest

from lifesearch_kit import offline
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_judgments, read_reports, read_tasks, write_jsonl
from lifesearch_kit.plan import choose_tasks, plan_checks, plan_runs
from lifesearch_kit.recorded import recorded_judgments, recorded_reports
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.store import Store, read_transcript
from lifesearch_kit.tools import Tool
from lifesearch_kit.tools.python import python_tool
from lifesearch_kit.transcripts import Transcript

ROOT = Path(__file__).parent.parent
DEMO = ROOT / "data" / "demo"
TODAY = date(2026, 9, 30)
TASKS = [
    Task(
        task_id=name,
        language="en",
        domain="d",
        query=f"Query {name}?",
        rubrics=(
            Rubric(rubric_id="R1", criterion="One.", weight=0.5),
            Rubric(rubric_id="R2", criterion="Two.", weight=1),
        ),
    )
    for name in "ab"
]
REPORTS = [Report(system="s", task_id=task.task_id, text=f"Report on {task.task_id}.") for task in TASKS]
JUDGE = JudgeSettings(name="earlier", model="m", base_url="local")
SYSTEM = SystemSettings(name="agent", model="m", base_url="local")


@pytest.fixture(autouse=True)
def no_model(monkeypatch):
    """Nobody may be asked: there is no address and no key."""
    monkeypatch.delenv("LOCAL_MODEL_URL", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def record_judgments(folder, reports=REPORTS, judge=JUDGE, repeats=2):
    checks = plan_checks(TASKS, reports, [judge], repeats=repeats)
    judgments = [
        Judgment(
            system=check.report.system,
            task_id=check.report.task_id,
            rubric_id=check.rubric.rubric_id,
            judge=judge.name,
            repeat=check.repeat,
            satisfied=None if check.rubric.rubric_id == "R2" else True,
            status="unparseable" if check.rubric.rubric_id == "R2" else "ok",
            fingerprint=check.fingerprint,
        )
        for check in checks
    ]
    folder.mkdir(exist_ok=True)
    write_jsonl(folder / "judges.jsonl", [judge])
    write_jsonl(folder / "judgments.jsonl", judgments)
    return judgments


def record_reports(folder, runs=2, tools=()):
    """What a run leaves behind: two tasks, each run with a transcript."""
    with Store(folder) as store:
        reports = [
            store.add_report(
                Report(system="agent", task_id=run.task.task_id, run=run.number, text="t", fingerprint=run.fingerprint),
                Transcript(
                    system="agent",
                    task_id=run.task.task_id,
                    run=run.number,
                    system_prompt="p",
                    question=run.task.query,
                    steps=(),
                ),
            )
            for run in plan_runs(TASKS, [SYSTEM], tools, runs=runs, today=TODAY)
        ]
    write_jsonl(folder / "systems.jsonl", [SYSTEM])
    write_jsonl(folder / "reports.jsonl", reports)
    return reports


def test_judgments_of_the_same_reports_come_back_with_the_unjudged(tmp_path):
    made = record_judgments(tmp_path)
    assert recorded_judgments(tmp_path, TASKS, REPORTS) == made
    assert [one.satisfied for one in made].count(None) == 4, "two reports, one rubric each, two repeats"


def test_a_folder_without_such_files_holds_nothing(tmp_path):
    assert recorded_judgments(tmp_path, TASKS, REPORTS) == []
    with Store(tmp_path / "run") as store:
        assert recorded_reports(tmp_path, store, TASKS, [], today=TODAY) == []


def test_a_judgment_of_an_edited_criterion_is_left_out_with_a_warning(tmp_path):
    record_judgments(tmp_path)
    edited = TASKS[0].rubrics[0].model_copy(update={"criterion": "Another."})
    tasks = [TASKS[0].model_copy(update={"rubrics": (edited, TASKS[0].rubrics[1])}), TASKS[1]]
    with pytest.warns(InputWarning, match="2 judgments were made with another") as caught:
        kept = recorded_judgments(tmp_path, tasks, REPORTS)
    assert len(caught) == 1
    assert len(kept) == 8 - 2, "two tasks x two rubrics x two repeats, less the repeats of the one that was edited"


def test_another_setting_in_the_settings_file_leaves_everything_out(tmp_path):
    record_judgments(tmp_path)
    write_jsonl(tmp_path / "judges.jsonl", [JUDGE.model_copy(update={"temperature": 0.7})])
    with pytest.warns(InputWarning, match="8 judgments"):
        assert recorded_judgments(tmp_path, TASKS, REPORTS) == []


def test_tasks_that_the_run_does_not_have_are_passed_over_in_silence(tmp_path):
    record_judgments(tmp_path)
    record_reports(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert {one.task_id for one in recorded_judgments(tmp_path, TASKS[:1], REPORTS[:1])} == {"a"}
        with Store(tmp_path / "run") as store:
            kept = recorded_reports(tmp_path, store, TASKS[:1], [], today=TODAY)
    assert [(one.task_id, one.run) for one in kept] == [("a", 1), ("a", 2)]


def test_reports_and_transcripts_are_kept_in_the_run_from_then_on(tmp_path):
    made = record_reports(tmp_path / "earlier")
    with Store(tmp_path / "run") as store:
        kept = recorded_reports(tmp_path / "earlier", store, TASKS, [], today=TODAY)
        assert [one.text for one in kept] == [one.text for one in made]
        assert sorted(store.reports()) == sorted((*("agent", one.task_id, one.run), one.fingerprint) for one in made)
        shutil.rmtree(tmp_path / "earlier")
        assert [read_transcript(store.folder / one.transcript).question for one in kept] == [
            "Query a?",
            "Query a?",
            "Query b?",
            "Query b?",
        ]


def test_reports_that_were_made_with_other_tools_or_another_day_are_left_out(tmp_path):
    async def call(query: str) -> str:
        return query

    schema = {"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}
    record_reports(tmp_path / "earlier")
    with Store(tmp_path / "run") as store:
        for tools, day in (([Tool("search", schema, call)], TODAY), ([], date(2026, 10, 1))):
            with pytest.warns(InputWarning, match="4 reports were made with another"):
                assert recorded_reports(tmp_path / "earlier", store, TASKS, tools, today=day) == []
        assert store.reports() == {}


def test_one_file_without_the_other_is_an_error_that_names_it(tmp_path):
    record_judgments(tmp_path)
    (tmp_path / "judges.jsonl").unlink()
    with pytest.raises(InputError, match=r"judges\.jsonl: is not there.*copy both"):
        recorded_judgments(tmp_path, TASKS, REPORTS)


def test_a_name_that_this_run_uses_too_is_an_error(tmp_path):
    record_judgments(tmp_path)
    with pytest.raises(InputError, match="the name 'earlier' is also used in this run's settings"):
        recorded_judgments(tmp_path, TASKS, REPORTS, taken=["earlier"])


def test_a_missing_transcript_is_an_error_that_names_it(tmp_path):
    made = record_reports(tmp_path / "earlier")
    (tmp_path / "earlier" / made[2].transcript).unlink()
    with Store(tmp_path / "run") as store, pytest.raises(InputError, match="there is no such transcript"):
        recorded_reports(tmp_path / "earlier", store, TASKS, [], today=TODAY)


def test_only_known_tasks_can_be_chosen():
    assert [one.task_id for one in choose_tasks(TASKS, ["b", "a"])] == ["a", "b"]
    assert choose_tasks(TASKS, []) == TASKS
    with pytest.raises(InputError, match="only_tasks: 'c' is no task; choose from a, b"):
        choose_tasks(TASKS, ["c"])


def test_what_is_committed_fits_the_demo_of_today(tmp_path):
    """An edit of a task, prompt, page or setting that would make the recordings another run's results shows here."""
    recorded, tasks = DEMO / "recorded", read_tasks(DEMO / "tasks.jsonl")
    pages = offline.Web.load(DEMO / "web" / "pages.jsonl")
    tools = [offline.search_tool(pages), offline.fetch_tool(pages), python_tool()]
    with warnings.catch_warnings(), Store(tmp_path) as store:
        warnings.simplefilter("error")
        reports = recorded_reports(recorded, store, tasks, tools, today=date(2026, 10, 15))
        judgments = recorded_judgments(recorded, tasks, read_reports(DEMO / "labelled" / "reports.jsonl"))
    assert len(reports) == len(read_reports(recorded / "reports.jsonl")) == 3 * len(tasks)
    there = recorded / "judgments.jsonl"
    assert len(judgments) == (len(read_judgments(there)) if there.is_file() else 0)
    for line in (recorded / "systems.jsonl").read_text(encoding="utf-8").splitlines():
        assert json.loads(line)["base_url"] == "local", "a recording names no address of the machine that made it"
