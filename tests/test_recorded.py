"""Recorded results come in beside those of a run, by what made them, and ask nobody."""

from __future__ import annotations

import json
import shutil
import warnings
from datetime import date
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit import offline
from lifesearch_kit.collect.plan import choose_tasks, plan_checks, plan_runs
from lifesearch_kit.collect.recorded import recorded_judgments, recorded_reports
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_judgments, read_records, read_reports, read_tasks, write_jsonl
from lifesearch_kit.own_agents import OwnAgent
from lifesearch_kit.records import Judgment, Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings, SystemSettings
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
    assert recorded_judgments(tmp_path, TASKS, REPORTS) == ([JUDGE], made)
    assert [one.satisfied for one in made].count(None) == 4, "two reports, one rubric each, two repeats"


def test_what_an_agent_of_ones_own_made_comes_back_with_its_settings(tmp_path):
    agent = OwnAgent(name="mine", version="1", command=("python", "no_longer_there.py"), environment=("NOT_SET",))
    folder = tmp_path / "runs"
    record_reports(folder)
    made = [
        Report(system="mine", task_id=run.task.task_id, run=1, text="t", fingerprint=run.fingerprint)
        for run in plan_runs(TASKS, [agent], (), runs=1, today=TODAY)
    ]
    write_jsonl(folder / "systems.jsonl", [SYSTEM, agent])
    write_jsonl(folder / "reports.jsonl", [*read_reports(folder / "reports.jsonl"), *made])
    with Store(tmp_path / "here") as store:
        found = recorded_reports(folder, store, TASKS, (), today=TODAY)
    assert found.systems == [SYSTEM, agent]
    # Two tasks, twice by the model and once by the agent.
    assert [one.system for one in found.reports] == ["agent"] * 4 + ["mine"] * 2
    # Another version of the agent is another system.
    write_jsonl(folder / "systems.jsonl", [SYSTEM, agent.model_copy(update={"version": "2"})])
    with Store(tmp_path / "later") as store, pytest.warns(InputWarning, match="2 reports were made with another"):
        assert recorded_reports(folder, store, TASKS, (), today=TODAY).systems == [SYSTEM]


def test_faults_of_both_kinds_of_systems_are_told_at_once(tmp_path):
    record_reports(tmp_path)
    lines = [{"name": "mine", "command": ["x"]}, {"name": "agent", "modle": "m"}, {"name": "f", "version": "1"}]
    (tmp_path / "systems.jsonl").write_text("\n".join(map(json.dumps, lines)))
    with Store(tmp_path / "here") as store, pytest.raises(InputError) as caught:
        recorded_reports(tmp_path, store, TASKS, (), today=TODAY)
    told = str(caught.value)
    for words in (
        "systems.jsonl:1: field 'version': is missing; add it",
        "systems.jsonl:2: field 'modle': is no known field; did you mean 'model'?",
        "systems.jsonl:3: give exactly one of function and command",
    ):
        assert words in told


@pytest.mark.parametrize("state", ["absent", "file", "empty"])
def test_a_folder_without_recorded_results_is_an_error_that_names_one_like_it(tmp_path, state):
    record_judgments(tmp_path / "recorded")
    (tmp_path / "recorder").mkdir()  # nearer by its name, but there is nothing in it
    wrong = tmp_path / "recordet"
    what = {
        "absent": "there is no such folder",
        "file": "is no folder",
        "empty": r"holds no recorded results, which are systems\.jsonl with reports\.jsonl, judges",
    }
    if state == "file":
        wrong.touch()
    if state == "empty":
        wrong.mkdir()
    told = rf"recordet: {what[state]}.*; did you mean .*recorded\?"
    with pytest.raises(InputError, match=told):
        recorded_judgments(wrong, TASKS, REPORTS)
    with Store(tmp_path / "run") as store, pytest.raises(InputError, match=told):
        recorded_reports(wrong, store, TASKS, [], today=TODAY)
    with pytest.raises(InputError, match="there is no such folder; correct `recorded`, or leave it empty"):
        recorded_judgments(tmp_path / "elsewhere" / "x", TASKS, REPORTS)


def test_a_folder_with_one_pair_holds_nothing_of_the_other(tmp_path):
    record_judgments(tmp_path / "judgments")
    record_reports(tmp_path / "reports")
    assert recorded_judgments(tmp_path / "reports", TASKS, REPORTS) == ([], [])
    with Store(tmp_path / "run") as store:
        assert recorded_reports(tmp_path / "judgments", store, TASKS, [], today=TODAY) == ([], [])
        assert store.reports() == {}


def test_what_judge_selection_leaves_behind_has_judgments_and_no_recorded_reports(tmp_path):
    made = record_judgments(tmp_path)
    write_jsonl(tmp_path / "tasks.jsonl", TASKS)
    write_jsonl(tmp_path / "reports.jsonl", REPORTS)
    assert recorded_judgments(tmp_path, TASKS, REPORTS).judgments == made
    with Store(tmp_path / "run") as store:
        assert recorded_reports(tmp_path, store, TASKS, [], today=TODAY) == ([], [])
    for name in ("judges.jsonl", "judgments.jsonl"):
        (tmp_path / name).unlink()
    with Store(tmp_path / "run") as store, pytest.raises(InputError, match=r"systems\.jsonl: is not there"):
        recorded_reports(tmp_path, store, TASKS, [], today=TODAY)


def test_a_judgment_of_an_edited_criterion_is_left_out_with_a_warning(tmp_path):
    record_judgments(tmp_path)
    edited = TASKS[0].rubrics[0].model_copy(update={"criterion": "Another."})
    tasks = [TASKS[0].model_copy(update={"rubrics": (edited, TASKS[0].rubrics[1])}), TASKS[1]]
    with pytest.warns(InputWarning, match="2 judgments were made with another") as caught:
        kept = recorded_judgments(tmp_path, tasks, REPORTS).judgments
    assert len(caught) == 1
    assert len(kept) == 8 - 2, "two tasks x two rubrics x two repeats, less the repeats of the one that was edited"


def test_another_setting_in_the_settings_file_leaves_everything_out(tmp_path):
    record_judgments(tmp_path)
    write_jsonl(tmp_path / "judges.jsonl", [JUDGE.model_copy(update={"temperature": 0.7})])
    with pytest.warns(InputWarning, match="8 judgments"):
        assert recorded_judgments(tmp_path, TASKS, REPORTS) == ([], []), "settings without a result are not written on"


def test_tasks_and_reports_that_the_run_does_not_have_are_passed_over_in_silence(tmp_path):
    record_judgments(tmp_path)
    record_reports(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for tasks in (TASKS[:1], TASKS):
            assert {one.task_id for one in recorded_judgments(tmp_path, tasks, REPORTS[:1]).judgments} == {"a"}
        second = [REPORTS[0].model_copy(update={"run": 2})]
        assert recorded_judgments(tmp_path, TASKS, second) == ([], []), "of the same task, but another report"
        with Store(tmp_path / "run") as store:
            kept = recorded_reports(tmp_path, store, TASKS[:1], [], today=TODAY).reports
    assert [(one.task_id, one.run) for one in kept] == [("a", 1), ("a", 2)]


def test_reports_and_transcripts_are_kept_in_the_run_from_then_on(tmp_path):
    made = record_reports(tmp_path / "earlier")
    with Store(tmp_path / "run") as store:
        systems, kept = recorded_reports(tmp_path / "earlier", store, TASKS, [], today=TODAY)
        assert systems == [SYSTEM]
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
                assert recorded_reports(tmp_path / "earlier", store, TASKS, tools, today=day) == ([], [])
        assert store.reports() == {}


def test_one_file_without_the_other_is_an_error_that_names_it(tmp_path):
    record_judgments(tmp_path)
    (tmp_path / "judges.jsonl").unlink()
    with pytest.raises(InputError, match=r"judges\.jsonl: is not there.*copy both"):
        recorded_judgments(tmp_path, TASKS, REPORTS)


def test_a_name_that_this_run_uses_too_is_an_error(tmp_path):
    record_judgments(tmp_path)
    with pytest.raises(InputError, match="the name 'earlier' is also that of a judge of this run"):
        recorded_judgments(tmp_path, TASKS, REPORTS, taken=["earlier"])
    record_reports(tmp_path)
    with Store(tmp_path / "run") as store, pytest.raises(InputError, match="'agent' is also that of a system of this"):
        recorded_reports(tmp_path, store, TASKS, [], today=TODAY, taken=["agent"])


def test_a_missing_or_wrong_transcript_is_an_error_before_anything_is_kept(tmp_path):
    made = record_reports(tmp_path / "earlier")
    (tmp_path / "earlier" / made[2].transcript).unlink()
    shutil.copy(tmp_path / "earlier" / made[0].transcript, tmp_path / "earlier" / made[3].transcript)
    with Store(tmp_path / "run") as store:
        with pytest.raises(InputError) as caught:
            recorded_reports(tmp_path / "earlier", store, TASKS, [], today=TODAY)
        assert store.reports() == {}
    assert not (tmp_path / "run" / "transcripts").exists()
    missing, wrong = caught.value.faults
    assert missing.startswith(str(tmp_path / "earlier" / made[2].transcript))
    assert "there is no such transcript" in missing
    assert wrong.startswith(str(tmp_path / "earlier" / made[3].transcript))
    assert (
        "of system 'agent', task_id 'a', run 1, not of system 'agent', task_id 'b', run 2; put the right file" in wrong
    )


def test_a_maker_that_the_settings_do_not_name_is_said_to_be_missing_there(tmp_path):
    judgments = record_judgments(tmp_path)
    write_jsonl(tmp_path / "judgments.jsonl", [judgments[0].model_copy(update={"judge": "other"}), *judgments[1:]])
    with pytest.raises(
        InputError, match=r"judgments\.jsonl: field 'judge': 'other' is not in .*judges\.jsonl; add its"
    ):
        recorded_judgments(tmp_path, TASKS, REPORTS)
    reports = record_reports(tmp_path)
    write_jsonl(tmp_path / "reports.jsonl", [*reports, reports[0].model_copy(update={"system": "other"})])
    with (
        Store(tmp_path / "run") as store,
        pytest.raises(InputError, match=r"reports\.jsonl: field 'system': 'other' is not in .*systems\.jsonl"),
    ):
        recorded_reports(tmp_path, store, TASKS, [], today=TODAY)


def test_reports_that_were_brought_along_are_left_out_with_a_warning(tmp_path):
    made = record_reports(tmp_path / "earlier")
    write_jsonl(tmp_path / "earlier" / "reports.jsonl", [*made, *REPORTS])
    with Store(tmp_path / "run") as store, pytest.warns(InputWarning, match="2 reports have no fingerprint"):
        kept = recorded_reports(tmp_path / "earlier", store, TASKS, [], today=TODAY).reports
    assert [one.system for one in kept] == ["agent"] * 4


def test_runs_beyond_those_of_this_run_are_passed_over(tmp_path):
    record_reports(tmp_path / "earlier", runs=3)
    taken = {}
    for runs in (1, 2, 9, None):
        with warnings.catch_warnings(), Store(tmp_path / f"run{runs}") as store:
            warnings.simplefilter("error")
            found = recorded_reports(tmp_path / "earlier", store, TASKS, [], today=TODAY, runs=runs).reports
            taken[runs] = [(one.task_id, one.run) for one in found]
    assert taken[1] == [("a", 1), ("b", 1)]
    assert taken[2] == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert taken[9] == taken[None] == [(task, run) for task in "ab" for run in (1, 2, 3)]


@settings(max_examples=25)
@given(st.lists(st.tuples(st.sampled_from("ab"), st.integers(1, 10**18)), unique=True, max_size=6))
def test_a_number_is_only_a_number_however_high_and_in_whatever_order(tmp_path_factory, keys):
    folder = tmp_path_factory.mktemp("earlier")
    (folder / "systems.jsonl").write_text(SYSTEM.model_dump_json(), encoding="utf-8")
    (folder / "judges.jsonl").write_text(JUDGE.model_dump_json(), encoding="utf-8")
    run = {one.task.task_id: one for one in plan_runs(TASKS, [SYSTEM], [], runs=1, today=TODAY)}
    reports = [
        Report(system="agent", task_id=task, run=number, text="t", fingerprint=run[task].fingerprint)
        for task, number in keys
    ]
    checks = {one.report.task_id: one for one in plan_checks(TASKS, REPORTS, [JUDGE])}
    judgments = [
        Judgment(
            system="s", task_id=task, rubric_id=checks[task].rubric.rubric_id, judge="earlier", repeat=number,
            satisfied=True, fingerprint=checks[task].fingerprint,
        )
        for task, number in keys
    ]  # fmt: skip
    write_jsonl(folder / "reports.jsonl", reports)
    write_jsonl(folder / "judgments.jsonl", judgments)
    with Store(folder / "run") as store:
        kept = recorded_reports(folder, store, TASKS, [], today=TODAY).reports
    assert [(one.task_id, one.run) for one in kept] == sorted(keys)
    found = recorded_judgments(folder, TASKS, REPORTS).judgments
    assert [(one.task_id, one.repeat) for one in found] == sorted(keys)


def test_a_judge_whose_prompt_is_not_here_is_left_out_with_a_warning_that_names_it(tmp_path):
    prompt = tmp_path / "own_prompt.txt"
    prompt.write_text("Judge. $nonce", encoding="utf-8")
    own = JUDGE.model_copy(update={"name": "own", "prompt_en": str(prompt)})
    others = record_judgments(tmp_path / "earlier", judge=own)
    made = record_judgments(tmp_path / "earlier")
    write_jsonl(tmp_path / "earlier" / "judges.jsonl", [own, JUDGE])
    write_jsonl(tmp_path / "earlier" / "judgments.jsonl", [*others, *made])
    assert len(recorded_judgments(tmp_path / "earlier", TASKS, REPORTS).judgments) == 16
    prompt.unlink()
    with pytest.warns(InputWarning, match=r"of 'own' are left out: prompt '.*own_prompt\.txt' is neither") as caught:
        assert recorded_judgments(tmp_path / "earlier", TASKS, REPORTS) == ([JUDGE], made)
    assert len(caught) == 1


def test_what_a_run_takes_over_can_be_taken_over_again(tmp_path):
    record_reports(tmp_path / "first")
    with Store(tmp_path / "second") as store:
        systems, reports = recorded_reports(tmp_path / "first", store, TASKS, [], today=TODAY)
    write_jsonl(tmp_path / "second" / "systems.jsonl", systems)
    write_jsonl(tmp_path / "second" / "reports.jsonl", reports)
    with Store(tmp_path / "third") as store:
        assert recorded_reports(tmp_path / "second", store, TASKS, [], today=TODAY) == (systems, reports)


def test_only_known_tasks_can_be_chosen():
    assert [one.task_id for one in choose_tasks(TASKS, ["b", "a"])] == ["a", "b"]
    assert choose_tasks(TASKS, []) == TASKS
    with pytest.raises(InputError, match="only_tasks: 'c' is no task; choose from a, b"):
        choose_tasks(TASKS, ["c"])


@pytest.mark.skipif(not (DEMO / "recorded").exists(), reason="nothing is recorded for the demo")
def test_what_is_committed_fits_the_demo_of_today(tmp_path):
    """An edit of a task, prompt, page or setting that would make the recordings another run's results shows here."""
    recorded, tasks = DEMO / "recorded", read_tasks(DEMO / "tasks.jsonl")
    pages = offline.Web.load(DEMO / "web" / "pages.jsonl")
    tools = [offline.search_tool(pages), offline.fetch_tool(pages), python_tool()]
    with warnings.catch_warnings(), Store(tmp_path) as store:
        warnings.simplefilter("error")
        systems, reports = recorded_reports(recorded, store, tasks, tools, today=date(2026, 10, 15))
        judges, judgments = recorded_judgments(recorded, tasks, read_reports(DEMO / "labelled" / "reports.jsonl"))
    assert reports or judgments
    if (recorded / "systems.jsonl").is_file():
        assert len(reports) == len(read_reports(recorded / "reports.jsonl")) > 0
        assert systems == read_records(recorded / "systems.jsonl", SystemSettings)
    if (recorded / "judges.jsonl").is_file():
        assert len(judgments) == len(read_judgments(recorded / "judgments.jsonl")) > 0
        assert judges == read_records(recorded / "judges.jsonl", JudgeSettings)
    for one in (*systems, *judges):
        assert one.base_url == "local", "a recording names no address of the machine that made it"
