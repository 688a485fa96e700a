"""Collections are bounded, resumable and complete: nothing is made twice, nothing that failed is scored."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
import time
import uuid
from datetime import date
from pathlib import Path

import pytest
from loopback import completion

from lifesearch_kit.collect.collect import grade, require_keys, run_agents
from lifesearch_kit.collect.plan import day_told, plan_checks, plan_runs
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.own_agents import OwnAgent
from lifesearch_kit.records import Label, Report, Rubric, Task, subject_fingerprint
from lifesearch_kit.settings import JudgeSettings, SystemSettings, parse_settings
from lifesearch_kit.tools import Tool, function_schema

TODAY = date(2026, 9, 30)
RUBRICS = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Criterion {n}.", weight=n / 10) for n in range(5))
TASKS = [Task(task_id=name, language="en", domain="d", query=f"Query {name}?", rubrics=RUBRICS) for name in "ab"]
REPORTS = [Report(system="s", task_id=task.task_id, text=f"Report on {task.task_id}.") for task in TASKS]
YES = completion('{"satisfied": true, "reason": "r"}')
BUSY = (503, {"error": {"message": "busy"}})


def judge(loopback, **changes):
    fields = {"name": "j", "model": "m", "base_url": loopback.chat_url, "max_retries": 0, "unjudged_retries": 0}
    return JudgeSettings(**{**fields, **changes})


def graded(tmp_path, plan, **options):
    with Store(tmp_path) as store:
        summary = asyncio.run(grade(plan, store, **options))
        return list(store.select_judgments(check.key for check in plan)), summary


def test_each_rubric_with_a_weight_is_judged_once_and_never_again(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback)])
    assert len(plan) == 2 * 4, "the rubric of weight 0 is not asked"
    loopback.script[:] = [YES] * 8
    first, summary = graded(tmp_path, plan)
    assert (summary.planned, summary.done, summary.skipped) == (8, 8, 0)
    again, second = graded(tmp_path, plan)
    assert (second.done, second.skipped) == (0, 8)
    assert again == first
    assert len(loopback.requests) == 8


def test_repeats_are_calls_of_their_own(loopback, tmp_path):
    loopback.script[:] = [YES] * 24
    judgments, _ = graded(tmp_path, plan_checks(TASKS, REPORTS, [judge(loopback)], repeats=3))
    assert len(loopback.requests) == 24
    assert sorted({one.repeat for one in judgments}) == [1, 2, 3]


def test_what_arrived_while_the_disk_was_full_is_kept_when_it_no_longer_is(loopback, tmp_path, monkeypatch):
    kept = Store.add_judgments

    def full_once(store, judgments):
        monkeypatch.setattr(Store, "add_judgments", kept)
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(Store, "add_judgments", full_once)
    loopback.script[:] = [YES] * 8
    with pytest.raises(sqlite3.OperationalError, match="disk is full"):
        graded(tmp_path, plan_checks(TASKS, REPORTS, [judge(loopback)]), concurrency=1)
    assert len(loopback.requests) == 2, "no further call is begun"
    with Store(tmp_path) as store:
        assert len(store.judgments()) == 2


def test_what_arrived_is_kept_when_grading_is_cancelled(loopback, tmp_path):
    async def cancelled_by_a_reply():
        def reply(body):
            loop.call_soon_threadsafe(grading.cancel)
            return YES

        loop = asyncio.get_running_loop()
        loopback.script[:] = [YES, reply, *[YES] * 6]
        with Store(tmp_path) as store:
            plan = plan_checks(TASKS, REPORTS, [judge(loopback)])
            grading = asyncio.create_task(grade(plan, store, concurrency=1))
            with pytest.raises(asyncio.CancelledError):
                await grading
            return len(store.judgments())

    assert asyncio.run(cancelled_by_a_reply()) == 1


def test_an_edit_judges_only_itself_again(loopback, tmp_path):
    loopback.script[:] = [YES] * 9
    graded(tmp_path, plan_checks(TASKS, REPORTS, [judge(loopback)]))
    edited = RUBRICS[1].model_copy(update={"criterion": "Another criterion."})
    tasks = [TASKS[0].model_copy(update={"rubrics": (RUBRICS[0], edited, *RUBRICS[2:])}), TASKS[1]]
    judgments, summary = graded(tmp_path, plan_checks(tasks, REPORTS, [judge(loopback)]))
    assert (summary.done, summary.skipped, len(judgments)) == (1, 7, 8)
    assert "Another criterion." in str(loopback.requests[-1])


def test_what_is_unjudged_or_failed_is_counted_and_made_again(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback)])
    loopback.script[:] = [YES, completion("no verdict"), BUSY, YES, completion("", finish="length"), BUSY, YES, YES]
    judgments, summary = graded(tmp_path, plan, concurrency=1)
    assert (summary.done, summary.unjudged) == (6, {"unparseable": {"s": 1}, "truncated": {"s": 1}})
    assert "1 unjudged (truncated: s 1); 1 unjudged (unparseable: s 1)" in str(summary)
    assert sum(summary.failed.values()) == 2
    assert [one.satisfied for one in judgments] == [True, None, True, None, True, True]
    assert "2 failed" in str(summary)
    assert "busy" in str(summary)
    loopback.script[:] = [YES] * 4
    judgments, summary = graded(tmp_path, plan)
    assert (summary.done, summary.skipped, summary.failed) == (4, 4, {})
    assert [one.satisfied for one in judgments] == [True] * 8


def test_a_refused_key_stops_at_once_and_keeps_what_is_done(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback)])
    loopback.script[:] = [YES, YES, (401, {"error": {"message": "key revoked"}})]
    with pytest.raises(ChatError, match="key revoked"):
        graded(tmp_path, plan, concurrency=1)
    assert len(loopback.requests) == 3
    with Store(tmp_path) as store:
        assert len(store.judgments()) == 2


def test_a_refused_key_of_one_judge_leaves_the_others_their_work(loopback, tmp_path):
    def answer(body):
        return (401, {"error": {"message": "key revoked"}}) if body["model"] == "bad" else YES

    judges = [judge(loopback, name="refused", model="bad"), judge(loopback)]
    loopback.script[:] = [answer] * 16
    with pytest.raises(ChatError, match="key revoked") as caught:
        graded(tmp_path, plan_checks(TASKS, REPORTS, judges), concurrency=2)
    assert "8 done" in str(caught.value)
    assert "run again to go on" in str(caught.value)
    with Store(tmp_path) as store:
        assert {one.judge for one in store.judgments().values()} == {"j"}
        assert len(store.judgments()) == 8
    assert sum(body["model"] == "bad" for body in loopback.requests) <= 2


def test_other_errors_come_out_as_they_are(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback)])
    with pytest.raises(InputError, match="concurrency 0 runs nothing"):
        graded(tmp_path, plan, concurrency=0)
    with Store(tmp_path) as store:
        store.add_judgments = lambda _: 1 / 0
        loopback.script[:] = [YES] * 8
        with pytest.raises(ZeroDivisionError):
            asyncio.run(grade(plan, store))


def test_a_prompt_that_asks_for_too_much_is_refused_before_any_call(loopback, tmp_path):
    (tmp_path / "mine.txt").write_text("Weight $weight.", "utf-8")
    with pytest.raises(InputError, match=r"asks for \$weight"):
        plan_checks(TASKS, REPORTS, [judge(loopback, prompt_en=str(tmp_path / "mine.txt"))])


def test_equal_causes_are_counted_together(loopback, tmp_path):
    def busy(_):
        return 503, {"error": {"message": f"busy, request {uuid.uuid4().hex}"}}

    loopback.script[:] = [busy] * 8
    with pytest.raises(ChatError, match=r"busy, request .* 8 failed \(.*busy, request \.\.\.\)"):
        graded(tmp_path, plan_checks(TASKS, REPORTS, [judge(loopback)]))


def test_an_endpoint_that_has_gone_is_given_up(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback)], repeats=20)
    loopback.script[:] = [YES] * 5 + [BUSY] * 155
    with pytest.raises(ChatError, match="busy"):
        graded(tmp_path, plan, concurrency=2)
    assert len(loopback.requests) < 25
    loopback.script[:] = ([YES] * 3 + [BUSY] * 10) * 12
    _, summary = graded(tmp_path, plan, concurrency=2)
    assert summary.done > 20, "failures with successes between them are no reason to give up"


def test_a_configuration_for_which_nothing_could_be_done_is_named(loopback, tmp_path):
    def answer(body):
        return BUSY if body["model"] == "dead" else YES

    plan = plan_checks(TASKS, REPORTS, [judge(loopback, name="dead", model="dead"), judge(loopback)])
    loopback.script[:] = [answer] * 16
    with pytest.raises(ChatError, match=r"take 'dead' out, and run again to go on.* 8 done"):
        graded(tmp_path, plan)


def test_two_processes_do_not_pay_for_one_run(loopback, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(loopback)])
    with Store(tmp_path) as other, other.claim(), pytest.raises(InputError, match="another process is at work"):
        graded(tmp_path, plan)
    assert loopback.requests == []
    loopback.script[:] = [YES] * 8
    assert graded(tmp_path, plan)[1].done == 8


def test_all_missing_keys_are_named_at_once(loopback, monkeypatch):
    for name in ("SERPER_API_KEY", "ABSENT_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError) as caught:
        require_keys([judge(loopback), judge(loopback, name="k", api_key_env="ABSENT_KEY")], live_tools=True)
    serper, absent = caught.value.faults
    assert "SERPER_API_KEY, which web search needs" in serper
    assert "ABSENT_KEY, which k needs" in absent


def test_a_plan_of_nothing_is_refused(loopback):
    with pytest.raises(InputError, match="repeats 0"):
        plan_checks(TASKS, REPORTS, [judge(loopback)], repeats=0)
    with pytest.raises(InputError, match="runs 0"):
        plan_runs(TASKS, [], [], runs=0, today=TODAY)


def test_the_day_is_as_given_or_that_of_the_start(tmp_path):
    with Store(tmp_path) as store:
        assert day_told("2026-03-31", store) == date(2026, 3, 31)
        assert day_told("", store) == store.started()
        with pytest.raises(InputError, match=r"'31\.3\.2026' is no date"):
            day_told("31.3.2026", store)


def test_no_more_requests_at_once_than_allowed(loopback, tmp_path):
    lock, now, most = threading.Lock(), [0], [0]

    def slow(_):
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.2)
        with lock:
            now[0] -= 1
        return YES

    loopback.script[:] = [slow] * 24
    graded(tmp_path, plan_checks(TASKS, REPORTS, [judge(loopback)], repeats=3), concurrency=4)
    assert most[0] == 4


def test_every_missing_key_is_named_before_anything_runs(loopback, tmp_path, monkeypatch):
    judges = [judge(loopback, name=name, api_key_env=f"ABSENT_{name.upper()}") for name in ("x", "y")]
    for one in judges:
        monkeypatch.delenv(one.api_key_env, raising=False)
    with pytest.raises(InputError) as caught:
        graded(tmp_path, plan_checks(TASKS, REPORTS, [judge(loopback), *judges]))
    assert [one.api_key_env in fault for one, fault in zip(judges, caught.value.faults, strict=True)] == [True, True]
    assert loopback.requests == []


def test_a_report_without_text_is_not_sent_to_the_judge(loopback):
    reports = [REPORTS[0], REPORTS[1].model_copy(update={"status": "asked_back"})]
    assert {check.report.task_id for check in plan_checks(TASKS, reports, [judge(loopback)])} == {"a"}


def test_a_report_on_an_unknown_task_is_named(loopback):
    with pytest.raises(InputError, match="report of system 's', run 1: task 'z' is unknown"):
        plan_checks(TASKS, [REPORTS[0].model_copy(update={"task_id": "z"})], [judge(loopback)])


def test_agent_runs_are_stored_with_transcripts_and_lost_ones_made_again(loopback, tmp_path):
    system = SystemSettings(name="s", model="m", base_url=loopback.chat_url, max_retries=0, output_price=2.0)
    plan = plan_runs(TASKS, [system], [], runs=2, today=TODAY)
    loopback.script[:] = [completion("First report."), BUSY, completion("Third report."), completion("Fourth report.")]
    with Store(tmp_path) as store:
        reports, summary = asyncio.run(run_agents(plan, [], store, today=TODAY, concurrency=1))
        assert [(one.task_id, one.run) for one in reports] == [("a", 1), ("b", 1), ("b", 2)]
        assert (summary.done, sum(summary.failed.values()), summary.output_tokens) == (3, 1, 15)
        transcript = read_transcript(tmp_path / reports[0].transcript)
        assert transcript.steps[0].message["content"] == "First report."
        loopback.script[:] = [completion("Second report.")]
        reports, summary = asyncio.run(run_agents(plan, [], store, today=TODAY))
    assert [one.text for one in reports] == ["First report.", "Second report.", "Third report.", "Fourth report."]
    assert (summary.done, summary.skipped) == (1, 3)


def test_a_changed_system_runs_again_under_its_name(loopback):
    def key(**changes):
        fields = {"name": "s", "model": "m", "base_url": loopback.chat_url, **changes}
        return plan_runs(TASKS[:1], [SystemSettings(**fields)], [], runs=1, today=TODAY)[0].key

    keys = [key(), key(model="n"), key(reasoning_effort="high"), key(max_steps=3), key(extra_body={"top_p": 1})]
    assert len(set(keys)) == len(keys)
    assert key(api_key_env="OTHER", max_retries=9) == key()


@pytest.mark.parametrize(
    ("field", "value", "complaint"),
    [
        ("api_key_env", "sk-proj-1234567890", "this is no name of an environment variable"),
        ("base_url", "https://user:word@vendor.example/v1", "may hold no user name"),
        ("temperature", "Default", '"Default" is no temperature'),
        ("max_output_tokens", -5, "greater than or equal to 1"),
        ("max_seconds", 0, "greater than 0"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused_and_no_secret_repeated(field, value, complaint):
    with pytest.raises(InputError) as caught:
        parse_settings([{"name": "a", "model": "m", field: value}, "b"], SystemSettings)
    wrong, no_mapping = caught.value.faults
    assert f"field '{field}'" in wrong
    assert complaint in wrong
    assert "sk-proj" not in wrong
    assert "word@" not in wrong
    assert "'b' is no mapping" in no_mapping


def test_wrong_settings_are_all_named():
    entries = [
        {"name": "a", "model": "m", "modle": "x"},
        {"model": "m"},
        {"name": "b", "model": "m"},
        {"name": "b", "model": "n"},
    ]
    with pytest.raises(InputError) as caught:
        parse_settings(entries, SystemSettings)
    unknown, nameless, twice = caught.value.faults
    assert "system 1 of the profile (a): field 'modle': is no known field; did you mean 'model'?" in unknown
    assert "field 'name': is missing" in nameless
    assert "the name 'b' stands for 2 systems" in twice


GRADER = """
import asyncio, sys
from test_collect import REPORTS, TASKS, JudgeSettings, Store, grade, plan_checks
judge = JudgeSettings(name="baseline-judge", model="baseline-judge", base_url="offline")
store = Store(sys.argv[1])
asyncio.run(grade(plan_checks(TASKS, REPORTS, [judge], repeats=int(sys.argv[2])), store, concurrency=4))
"""


def test_a_killed_collection_goes_on_to_the_same_tables(tmp_path):
    def collect(folder, wait=None):
        command = [sys.executable, "-c", GRADER, str(tmp_path / folder), "300"]
        process = subprocess.Popen(command, cwd=Path(__file__).parent, stderr=subprocess.DEVNULL)
        if wait is None:
            assert process.wait() == 0
        else:
            while not stored(folder) and process.poll() is None:
                time.sleep(0.02)
            time.sleep(wait)
            process.kill()
            process.wait()

    def stored(folder):
        with Store(tmp_path / folder) as store:
            return [one.model_copy(update={"seconds": 0.0}) for one in store.judgments().values()]

    collect("killed", wait=0.1)
    part = len(stored("killed"))
    collect("killed", wait=0.2)
    assert 0 < part <= len(stored("killed"))
    collect("killed")
    collect("whole")
    assert len(stored("killed")) == 2 * 4 * 300
    assert part < 2 * 4 * 300
    assert stored("killed") == stored("whole")


def test_wrong_keys_are_told_together_before_anything_is_planned():
    judges = [JudgeSettings(name="j", model="m"), JudgeSettings(name="j", model="n")]
    reports = [*REPORTS, REPORTS[0], Report(system="s", task_id="zzz", text="x")]
    label = Label(system="s", task_id="a", rubric_id="R9", annotator="x", satisfied=True)
    with pytest.raises(InputError) as caught:
        plan_checks(TASKS, reports, judges, labels=[label])
    assert caught.value.faults == (
        "report of system 's', run 1: task 'zzz' is unknown; add or drop it",
        "labels of task 'a': rubric 'R9' is not in the tasks; add it or drop them",
        "system 's' has 2 reports on task 'a', run 1; keep one, or number the runs",
        "the name 'j' stands for 2 judges; give each configuration its own",
    )


def test_an_endpoint_that_refuses_every_request_stops_its_judge(loopback, tmp_path):
    tasks = [TASKS[0].model_copy(update={"task_id": f"t{number}"}) for number in range(8)]
    reports = [Report(system="s", task_id=task.task_id, text="Report.") for task in tasks]
    refused = (400, {"error": {"message": "Invalid request parameters"}})
    loopback.script[:] = [refused] * 32
    plan = plan_checks(tasks, reports, [judge(loopback)])
    with pytest.raises(ChatError, match="Invalid request parameters"):
        graded(tmp_path, plan, concurrency=2)
    assert 12 <= len(loopback.requests) <= 14
    # A single report that is refused, as one beyond the model's context, is that report's own affair.
    loopback.requests.clear()
    loopback.script[:] = [refused] * 4 + [YES] * 28
    judgments, _ = graded(tmp_path / "one", plan, concurrency=1)
    assert [one.status for one in judgments] == ["error"] * 4 + ["ok"] * 28


def test_a_label_of_another_text_is_told_before_anything_is_planned():
    fields = {"system": "s", "task_id": "a", "rubric_id": "R1", "annotator": "x", "satisfied": True}
    fresh = subject_fingerprint(TASKS[0], RUBRICS[1], REPORTS[0])
    judges = [JudgeSettings(name="j", model="m")]
    assert plan_checks(TASKS, REPORTS, judges, labels=[Label(**fields, fingerprint=fresh), Label(**fields)])
    with pytest.raises(InputError, match=r"'x' for system 's', task 'a', run 1, rubric 'R1': .* has changed since"):
        plan_checks(TASKS, REPORTS, judges, labels=[Label(**fields, fingerprint="another")])


def test_agents_of_ones_own_are_collected_beside_models(loopback, tmp_path):
    (tmp_path / "mine.py").write_text(
        "async def answer(task, tools):\n"
        "    found = await tools[0].run({'query': task.query})\n"
        "    return f'# {found}'\n"
    )
    own = OwnAgent(name="mine", version="1", function=f"{tmp_path / 'mine.py'}:answer")
    model = SystemSettings(name="model", model="m", base_url=loopback.chat_url, max_retries=0)

    async def search(query: str) -> str:
        return f"results for {query}"

    tools = [Tool("search", function_schema("search"), search)]

    def made(agent):
        with Store(tmp_path / "run") as store:
            plan = plan_runs(TASKS, [agent, model], tools, runs=1, today=TODAY)
            return asyncio.run(run_agents(plan, tools, store, today=TODAY))

    loopback.script[:] = [completion("# Report")] * 2
    reports, summary = made(own)
    assert [(one.system, one.text) for one in reports] == [
        ("mine", "# results for Query a?"),
        ("mine", "# results for Query b?"),
        ("model", "# Report"),
        ("model", "# Report"),
    ]
    assert reports[0].tool_calls == {"search": 1}
    assert summary.done == 4
    assert made(own)[1].skipped == 4
    assert made(own.model_copy(update={"version": "2"}))[1].done == 2
    with pytest.raises(InputError, match="nowhere"):
        made(own.model_copy(update={"function": "nowhere:answer"}))
