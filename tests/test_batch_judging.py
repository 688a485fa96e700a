"""Judging by batch: the records of live calls, no batch paid for twice, nothing that failed is a judgment."""

from __future__ import annotations

import asyncio
import itertools
import json
import multiprocessing
import os
import re
import signal

import pytest
from batch_server import YES, serve_batches
from hypothesis import given
from hypothesis import strategies as st
from loopback import completion

from lifesearch_kit.collect.collect import grade
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.collect.store import Store
from lifesearch_kit.errors import ChatError, InputError, InputWarning
from lifesearch_kit.judge_batches import batches as judge_batches
from lifesearch_kit.judge_batches.answers import BY_BATCH, read_answers
from lifesearch_kit.judge_batches.files import Line, Notes, Packer, custom_id, request_line
from lifesearch_kit.judge_batches.judging import grade_in_batches
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

RUBRICS = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Criterion {n}.", weight=n / 10) for n in range(1, 5))
TASKS = [Task(task_id=name, language="en", domain="d", query=f"Query {name}?", rubrics=RUBRICS) for name in "ab"]
REPORTS = [
    Report(system="s", task_id=task.task_id, text=f"Report \u2028 \u597d \ud83d on {task.task_id}.") for task in TASKS
]
NOTES = "batches/*"


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "stand-in-key-of-the-test")
    with serve_batches() as one:
        yield one


def judge(server, **changes):
    return JudgeSettings(**{"name": "j", "model": "m", "base_url": server.chat_url, "max_retries": 0, **changes})


def plan_of(server, tasks=TASKS, **changes):
    return plan_checks(tasks, REPORTS, [judge(server, **changes)])


def graded(folder, plan, **options):
    with Store(folder) as store:
        summary = asyncio.run(grade_in_batches(plan, store, **{"interval": 0.01, **options}))
        return list(store.select_judgments(check.key for check in plan)), summary


def about(body):
    """The number of the criterion that a request asks about."""
    return int(re.search(r"Criterion (\d)", body["messages"][1]["content"])[1])


def answering(**replies):
    """Replies by criterion number, as R1=..., and a plain yes for the others."""
    return lambda body: replies.get(f"R{about(body)}", (200, YES))


def without_what_differs(judgment):
    notes = tuple(note for note in judgment.notes if note != BY_BATCH)
    return judgment.model_copy(update={"seconds": None, "notes": notes})


VARIETY = {
    "R1": (200, completion('{"satisfied": false, "reason": "no \ud83d"}', usage={
        "prompt_tokens": 1000, "completion_tokens": 50, "prompt_tokens_details": {"cached_tokens": 640},
        "completion_tokens_details": {"reasoning_tokens": 20}})),
    "R2": (400, {"error": {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}}),
    "R3": (200, completion("cut \u2028 off", finish="length")),
    "R4": (200, {"error": {"message": "the prompt was flagged by moderation", "code": 400}}),
}  # fmt: skip


def test_the_records_are_those_of_live_calls(server, tmp_path):
    server.answer = answering(**VARIETY)
    plan = plan_of(server, input_price=2.0, output_price=4.0, extra_body={"top_p": 0.5}, unjudged_retries=0)
    long = plan_checks(TASKS, [Report(system="long", task_id="a", text="x" * 99)], [
        judge(server, max_report_characters=98)])  # fmt: skip
    judgments, summary = graded(tmp_path / "batch", plan + long)
    with Store(tmp_path / "live") as store:
        live_summary = asyncio.run(grade(plan + long, store))
        live = list(store.select_judgments(check.key for check in plan + long))
    assert [without_what_differs(one) for one in judgments] == [without_what_differs(one) for one in live]
    assert [one.status for one in judgments[:4]] == ["ok", "error", "truncated", "refused"]
    # 1000 input tokens at 2 and 50 output tokens at 4 the million.
    assert judgments[0].cost == pytest.approx((1000 * 2 + 50 * 4) / 1e6)
    assert (judgments[0].cached_tokens, judgments[0].reasoning_tokens) == (640, 20)
    assert all(one.seconds is None and BY_BATCH in one.notes for one in judgments[:8])
    assert [one.notes for one in judgments[8:]] == [()] * 4, "a report beyond the limit was in no batch"
    summary.seconds = live_summary.seconds = 0.0
    assert summary == live_summary
    assert list((tmp_path / "batch").glob(NOTES)) == []


def test_the_requests_are_those_of_live_calls_in_the_order_of_the_plan(server, tmp_path):
    plan = plan_of(server, extra_body={"top_p": 0.5}, reasoning_effort="low", max_output_tokens=9)
    graded(tmp_path / "batch", plan)
    with Store(tmp_path / "live") as store:
        asyncio.run(grade(plan, store, concurrency=1))
    (lines,) = server.uploaded
    (content,) = (server.files[one["input_file_id"]] for one in server.batches.values())
    bodies = [line.partition(b'"body": ')[2][:-1] for line in content.split(b"\n")[:-1]]
    assert sorted(bodies) == sorted(server.live)
    assert [json.loads(body) for body in bodies] == [line["body"] for line in lines]
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert [line["custom_id"] for line in lines] == [custom_id(check.key) for check in plan]
    assert max(len(line["custom_id"]) for line in lines) <= 64


def test_what_is_judged_is_not_submitted_again_and_what_is_unjudged_is(server, tmp_path):
    server.answer = answering(R2=(200, completion("no verdict")))
    _, summary = graded(tmp_path, plan_of(server))
    assert (summary.done, summary.unjudged) == (8, {"unparseable": {"s": 2}})
    server.answer = answering()
    judgments, summary = graded(tmp_path, plan_of(server))
    assert (summary.done, summary.skipped, [one.satisfied for one in judgments]) == (2, 6, [True] * 8)
    assert [len(lines) for lines in server.uploaded] == [8, 2]
    graded(tmp_path, plan_of(server))
    assert len(server.batches) == 2


def test_an_unjudged_answer_counts_its_tokens_once(server, tmp_path):
    server.answer = answering(R1=(200, completion("no verdict")))
    judgments, summary = graded(tmp_path, plan_of(server, unjudged_retries=2)[:1])
    assert (judgments[0].input_tokens, judgments[0].output_tokens, summary.input_tokens) == (10, 5, 10)


def test_a_refused_response_format_is_told_with_the_setting_to_change(server, tmp_path):
    refused = (400, {"error": {"message": "response_format is not supported", "param": "response_format"}})
    server.answer = lambda body: refused if "response_format" in body else (200, YES)
    with pytest.raises(ChatError, match=r"response_format.*set structured_output: false") as caught:
        graded(tmp_path, plan_of(server))
    assert (caught.value.kind, "8 failed" in str(caught.value)) == ("stop", True)
    judgments, _ = graded(tmp_path, plan_of(server, structured_output=False))
    assert [one.notes for one in judgments] == [(BY_BATCH,)] * 8


def test_each_judge_has_a_batch_of_its_own(server, tmp_path):
    plan = plan_checks(TASKS, REPORTS, [judge(server), judge(server, name="k", model="other")])
    judgments, summary = graded(tmp_path, plan)
    assert sorted({line["body"]["model"] for line in lines} == {"m"} for lines in server.uploaded) == [False, True]
    assert {line["body"]["model"] for lines in server.uploaded for line in lines} == {"m", "other"}
    assert [len(lines) for lines in server.uploaded] == [8, 8]
    assert (summary.done, len(judgments)) == (16, 16)


def stopped(folder, plan, arm, **options):
    """Grade until `arm`ed hook cancels, as Ctrl-C does; what the process would have done next is not done."""

    async def main():
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        arm(lambda: loop.call_soon_threadsafe(task.cancel))
        with Store(folder) as store:
            await grade_in_batches(plan, store, **{"interval": 0.01, **options})

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(main())


PLACES = ["POST files", "POST batches", "GET batches one", "GET files one content"]


@pytest.mark.parametrize("place", PLACES)
def test_stopped_at_any_call_it_goes_on_with_the_same_batches(server, tmp_path, place):
    stopped(tmp_path, plan_of(server), lambda cancel: server.after.update({place: cancel}))
    assert place in server.asked
    judgments, summary = graded(tmp_path, plan_of(server))
    assert [one.satisfied for one in judgments] == [True] * 8
    assert (summary.done, len(server.batches), len(server.paid)) == (8, 1, 8)
    assert list(tmp_path.glob(NOTES)) == []


def test_killed_after_the_batch_was_made_it_is_found_in_the_list(server, tmp_path):
    # A fork has all libraries already; a new interpreter would load them for longer than everything else takes.
    process = multiprocessing.get_context("fork").Process(target=graded, args=(tmp_path, plan_of(server)))
    server.after["POST batches"] = lambda: os.kill(process.pid, signal.SIGKILL)
    process.start()
    process.join(timeout=300)
    assert process.exitcode == -signal.SIGKILL
    assert len(list(tmp_path.glob(NOTES))) == 1, "the note without the batch's id"
    # A later batch of somebody else's stands before ours in the list.
    ours = server.batches["batch_1"]
    server.batches["batch_2"] = {**ours, "id": "batch_2", "input_file_id": "file-other", "metadata": {}}
    server.files["file-other"] = b""
    judgments, _ = graded(tmp_path, plan_of(server))
    assert len(judgments) == 8
    assert server.asked.count("POST batches") == 1
    assert server.asked.count("GET batches") == 2, "two pages of one batch each"


def failing(work, number, after):
    """Work whose call of that number fails, as on a full disk, before or after it is done."""
    calls = itertools.count(1)

    def call(*arguments):
        fails = next(calls) == number
        if fails and not after:
            raise OSError("disk full")
        result = work(*arguments)
        if fails:
            raise OSError("disk full")
        return result

    return call


# All that is written, in order: the request file, the note without and with the batch's id, the judgments, no note.
WRITING = [(Notes, "write_requests", 1), (Notes, "keep", 1), (Notes, "keep", 2), (Store, "add_judgments", 1)]


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize(("room", "name", "number"), [*WRITING, (Notes, "drop", 1)])
def test_stopped_at_any_writing_nothing_is_paid_twice(server, tmp_path, monkeypatch, room, name, number, after):
    with monkeypatch.context() as patch:
        patch.setattr(room, name, failing(getattr(room, name), number, after))
        with pytest.raises(OSError, match="disk full"):
            graded(tmp_path, plan_of(server))
    judgments, summary = graded(tmp_path, plan_of(server))
    assert [one.satisfied for one in judgments] == [True] * 8
    assert (summary.done + summary.skipped, len(server.paid)) == (8, 8)
    assert list(tmp_path.glob(NOTES)) == []


def test_the_list_of_another_key_does_not_make_a_lost_batch_one_that_was_never_made(server, tmp_path):
    server.after["POST batches"] = lambda: (_ for _ in ()).throw(ConnectionResetError())
    with pytest.raises(ChatError, match="no answer"):
        graded(tmp_path, plan_of(server))
    batches, files = dict(server.batches), dict(server.files)
    server.batches.clear()
    server.files.clear()
    with pytest.raises(InputError, match=r"use the key and base_url that file file-1 was uploaded with, or see .*json"):
        graded(tmp_path, plan_of(server))
    assert server.asked.count("POST batches") == 1
    server.batches |= batches
    server.files |= files
    assert len(graded(tmp_path, plan_of(server))[0]) == 8
    assert len(server.paid) == 8


NO_ANSWERS = [{}, [], "text", None, b"<html>sign in</html>"]


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_a_batch_whose_answer_was_garbled_is_found(server, tmp_path, answer):
    server.garble["POST batches"] = (200, answer)
    with pytest.raises(ChatError, match=r"no file, batch or list.*check base_url") as caught:
        graded(tmp_path, plan_of(server))
    assert caught.value.kind == "transient"
    assert len(graded(tmp_path, plan_of(server))[0]) == 8
    assert len(server.batches) == 1


@pytest.mark.parametrize("place", ["GET batches", "GET files one"])
@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_a_garbled_list_is_not_one_without_our_batch(server, tmp_path, place, answer):
    server.refuse["POST batches"] = [(503, {"error": {"message": "upstream gone"}})]
    server.garble[place] = (200, answer)
    with pytest.raises(ChatError, match="upstream gone"):
        graded(tmp_path, plan_of(server))
    with pytest.raises(ChatError, match=r"no file, batch or list.*check base_url"):
        graded(tmp_path, plan_of(server))
    assert server.asked.count("POST batches") == 1
    assert len(list(tmp_path.glob(NOTES))) == 1


def test_a_batch_that_was_never_made_is_submitted_anew(server, tmp_path):
    server.refuse["POST batches"] = [(503, {"error": {"message": "upstream gone"}})]
    with pytest.raises(ChatError, match=r"upstream gone.*run\s+again") as caught:
        graded(tmp_path, plan_of(server, max_retries=3))
    assert caught.value.kind == "transient"
    assert server.asked.count("POST batches") == 1, "whose answer is lost is not asked for again at once"
    assert len(list(tmp_path.glob(NOTES))) == 1
    judgments, _ = graded(tmp_path, plan_of(server))
    assert (len(judgments), len(server.paid), server.asked.count("GET batches")) == (8, 8, 2)


def test_a_batch_that_was_made_though_its_answer_was_lost_is_found(server, tmp_path):
    server.after["POST batches"] = lambda: (_ for _ in ()).throw(ConnectionResetError())
    with pytest.raises(ChatError, match="no answer"):
        graded(tmp_path, plan_of(server, max_retries=3))
    judgments, _ = graded(tmp_path, plan_of(server))
    assert (len(judgments), len(server.batches)) == (8, 1)


def test_without_a_list_of_batches_nothing_is_submitted_again_unasked(server, tmp_path):
    server.refuse["POST batches"] = [(503, {"error": {"message": "upstream gone"}})]
    server.refuse["GET batches"] = [(404, {"error": {"message": "no list"}})]
    with pytest.raises(ChatError, match="upstream gone"):
        graded(tmp_path, plan_of(server))
    with pytest.raises(
        InputError, match=r"no list.*whether file file-1 has a batch; if not, remove .*\.json to submit"
    ):
        graded(tmp_path, plan_of(server))
    assert server.asked.count("POST batches") == 1


def test_an_edited_rubric_submits_only_itself_while_the_rest_is_under_way(server, tmp_path):
    server.looks = 99
    stopped(tmp_path, plan_of(server), lambda cancel: server.after.update({"GET batches one": cancel}))
    server.looks = 1
    edited = RUBRICS[1].model_copy(update={"criterion": "Criterion 9, edited."})
    tasks = [TASKS[0].model_copy(update={"rubrics": (RUBRICS[0], edited, *RUBRICS[2:])}), TASKS[1]]
    judgments, summary = graded(tmp_path, plan_of(server, tasks))
    assert [len(lines) for lines in server.uploaded] == [8, 1]
    assert "Criterion 9, edited." in str(server.uploaded[1])
    assert (summary.done, len(judgments)) == (8, 8)
    assert len(list(tmp_path.glob(NOTES))) == 1, "the answer on the old rubric is paid for and still to be had"
    judgments, summary = graded(tmp_path, plan_of(server))
    assert (summary.done, summary.skipped, len(judgments)) == (1, 7, 8)
    assert len(server.batches) == 2
    assert list(tmp_path.glob(NOTES)) == []


def test_a_plan_of_other_rubrics_leaves_a_batch_under_way_alone(server, tmp_path):
    server.looks = 99
    stopped(tmp_path, plan_of(server)[:4], lambda cancel: server.after.update({"GET batches one": cancel}))
    server.looks = 1
    judgments, _ = graded(tmp_path, plan_of(server)[4:])
    assert [one.task_id for one in judgments] == ["b"] * 4
    assert server.batches["batch_1"]["looks"] == 1
    assert len(list(tmp_path.glob(NOTES))) == 1


def test_what_failed_for_want_of_capacity_is_no_judgment(server, tmp_path):
    server.answer = answering(
        R1=(429, {"error": {"message": "rate limit"}}),
        R2=(500, {"error": {"message": "internal"}}),
        R3=(400, {"error": {"message": "prompt is too long", "code": "context_length_exceeded"}}),
    )
    judgments, summary = graded(tmp_path, plan_of(server))
    assert [(one.rubric_id, one.status) for one in judgments] == [("R3", "error"), ("R4", "ok")] * 2
    assert (summary.done, sorted(summary.failed.values()), summary.unjudged) == (4, [2, 2], {"error": {"s": 2}})
    assert "rate limit" in str(summary)
    server.answer = answering()
    judgments, summary = graded(tmp_path, plan_of(server))
    assert (summary.done, summary.skipped, len(judgments), summary.failed) == (6, 2, 8, {})


@pytest.mark.parametrize("status", ["expired", "cancelled"])
def test_what_was_done_before_a_batch_ended_early_is_kept(server, tmp_path, status):
    server.status, server.finished = status, 3
    judgments, summary = graded(tmp_path, plan_of(server))
    assert (len(judgments), summary.done, sum(summary.failed.values())) == (3, 3, 5)
    assert "could not be executed before the window expired" in str(summary)
    server.status, server.finished = "completed", None
    judgments, summary = graded(tmp_path, plan_of(server))
    assert (len(judgments), summary.done, summary.skipped) == (8, 5, 3)
    assert len(server.paid) == 8 + 5


def test_where_nothing_was_done_it_is_an_error(server, tmp_path):
    server.status, server.finished = "expired", 0
    with pytest.raises(ChatError, match=r"batch_expired.*8 failed") as caught:
        graded(tmp_path, plan_of(server))
    assert caught.value.kind == "transient"
    assert list(tmp_path.glob(NOTES)) == []


def test_a_batch_without_any_file_fails_each_of_its_requests(server, tmp_path):
    graded(tmp_path, plan_of(server)[:1])
    server.status, server.finished, server._run = "cancelled", 0, lambda *_: None
    _, summary = graded(tmp_path, plan_of(server))
    (cause,) = summary.failed
    assert summary.failed[cause] == 7
    assert "a batch that is cancelled holds no answer to it" in cause


def test_a_batch_refused_whole_is_one_error_in_the_endpoints_words(server, tmp_path):
    server.status = "failed"
    server.errors = [{"code": "model_not_found", "message": f"no batch model m, line {n}", "line": n} for n in (1, 2)]
    with pytest.raises(ChatError, match=r"batch_1 failed as a whole: no batch model m, line 1.*line 2") as caught:
        graded(tmp_path, plan_of(server))
    assert caught.value.kind == "stop"
    assert "0 done" in str(caught.value)
    server.status = "completed"
    judgments, _ = graded(tmp_path, plan_of(server))
    assert (len(judgments), len(server.batches)) == (8, 2)


def test_a_judge_that_is_refused_leaves_the_others_their_work(server, tmp_path):
    server.answer = lambda body: (401, {"error": {"message": "revoked"}}) if body["model"] == "bad" else (200, YES)
    plan = plan_checks(TASKS, REPORTS, [judge(server, name="refused", model="bad"), judge(server)])
    with pytest.raises(ChatError, match=r"revoked.*'refused'.*8 done.*8 failed"):
        graded(tmp_path, plan)
    with Store(tmp_path) as store:
        assert {one.judge for one in store.judgments().values()} == {"j"}


def test_a_refused_later_batch_does_not_keep_the_first_from_being_read(server, tmp_path):
    server.after["POST batches"] = lambda: server.refuse.update(
        {"POST batches": [(429, {"error": {"message": "batch queue is full"}})]}
    )
    with pytest.raises(ChatError, match=r"queue is full.*4 done"):
        graded(tmp_path, plan_of(server), max_requests=4)
    judgments, summary = graded(tmp_path, plan_of(server), max_requests=4)
    assert (summary.done, summary.skipped, len(judgments), len(server.paid)) == (4, 4, 8, 8)


def test_answers_that_cannot_be_told_apart_are_not_guessed(server, tmp_path):
    def spoil(lines):
        nameless = {name: value for name, value in lines[2].items() if name != "custom_id"}
        stranger = {**lines[3], "custom_id": "judgment-0"}
        return [lines[0], lines[0], '{"custom_id": "half', nameless, stranger, *lines[4:]]

    server.spoil = spoil
    with pytest.warns(InputWarning, match="were not used") as caught:
        judgments, summary = graded(tmp_path, plan_of(server))
    told = str(caught[0].message)
    assert "line 3: is no JSON object" in told
    assert "line 4: custom_id None is none that was sent" in told
    assert "line 5: custom_id 'judgment-0' is none that was sent" in told
    # Of 8 the first came twice, and the second, third and fourth not at all.
    assert [one.rubric_id for one in judgments] == ["R1", "R2", "R3", "R4"]
    assert [count for _, count in sorted(summary.failed.items())] == [3, 1]
    assert "answers it 2 times" in str(summary)


def test_the_key_is_not_shown_where_an_endpoint_repeats_it(server, tmp_path):
    key = os.environ["OPENAI_API_KEY"]
    server.answer = answering(
        R1=(400, {"error": {"message": f"bad request by {key}"}}), R2=(500, {"error": {"message": f"{key} lost"}})
    )
    server.spoil = lambda lines: [{**line, "response": None, "error": {"message": f"{key} fell"}} for line in lines]
    server.garble["POST files"] = (200, f"<html>signed in with {key}</html>".encode())
    with pytest.raises(ChatError, match=r"signed in with \[key\]"):
        graded(tmp_path, plan_of(server))
    judgments, summary = graded(tmp_path, plan_of(server))
    assert "bad request by [key]" in judgments[0].reason
    assert key not in f"{judgments} {summary}"
    assert "[key] fell" in str(summary)


@pytest.mark.parametrize("place", ["POST files", "POST batches"])
def test_an_endpoint_without_batches_is_told_with_the_setting_to_change(server, tmp_path, place):
    server.refuse[place] = [(404, {"error": {"message": "no route"}})]
    with pytest.raises(InputError, match=r"'j'.*no route.*set base_url of 'j'.*live calls"):
        graded(tmp_path, plan_of(server))
    assert list(tmp_path.glob(NOTES)) == []


def test_a_batch_that_is_gone_is_never_submitted_again_unasked(server, tmp_path):
    stopped(tmp_path, plan_of(server), lambda cancel: server.after.update({"GET batches one": cancel}))
    kept = server.batches.pop("batch_1")
    with pytest.raises(InputError, match=r"batch_1 was made with, or remove .*\.json to submit"):
        graded(tmp_path, plan_of(server))
    assert server.asked.count("POST batches") == 1
    server.batches["batch_1"] = kept
    assert len(graded(tmp_path, plan_of(server))[0]) == 8


def test_a_passing_fault_of_a_look_ends_nothing(server, tmp_path, monkeypatch):
    monkeypatch.setattr(judge_batches, "_ROUNDS_IN_VAIN", 3)
    server.refuse["GET batches one"] = [(503, {"error": {"message": "busy"}})] * 2
    assert len(graded(tmp_path, plan_of(server))[0]) == 8
    server.refuse["GET batches one"] = [(503, {"error": {"message": "busy"}})] * 3
    with pytest.raises(ChatError, match="busy"):
        graded(tmp_path, plan_of(server, model="other"))
    assert len(graded(tmp_path, plan_of(server, model="other"))[0]) == 8
    assert len(server.batches) == 2


def test_a_round_of_failed_looks_counts_once_however_many_batches_there_are(server, tmp_path, monkeypatch):
    monkeypatch.setattr(judge_batches, "_ROUNDS_IN_VAIN", 2)
    server.refuse["GET batches one"] = [(503, {"error": {"message": "busy"}})] * 8
    judgments, _ = graded(tmp_path, plan_of(server), max_requests=1)
    assert (len(judgments), len(server.batches), server.asked.count("GET batches one")) == (8, 8, 16)


def test_answers_that_are_counted_and_not_yet_named_are_waited_for(server, tmp_path, monkeypatch):
    server.late = 2
    assert len(graded(tmp_path, plan_of(server))[0]) == 8
    assert server.asked.count("GET batches one") == 3
    monkeypatch.setattr(judge_batches, "_ROUNDS_IN_VAIN", 2)
    with pytest.raises(ChatError, match=r"completed with 8 requests completed, and names no file.* remove .*\.json"):
        graded(tmp_path, plan_of(server, model="other"))
    assert len(graded(tmp_path, plan_of(server, model="other"))[0]) == 8
    assert len(server.batches) == 2


@pytest.mark.parametrize("counts", [None, {}, {"total": 8}, {"completed": "8", "failed": None}, 3])
def test_counts_in_another_form_end_nothing(server, tmp_path, counts):
    look, server.looks = server._look, 2
    server._look = lambda batch: {**look(batch), "request_counts": counts}
    assert len(graded(tmp_path, plan_of(server))[0]) == 8


@pytest.mark.parametrize("status", ["FAILED", "Completed"])
def test_a_status_in_capitals_ends_a_batch_too(server, tmp_path, status):
    look = server._look
    server.status = status.lower()
    server.errors = [{"code": "invalid_model", "message": "no batch model m"}]
    server._look = lambda batch: {**look(batch), "status": status}
    if status == "FAILED":
        with pytest.raises(ChatError, match="failed as a whole: no batch model m"):
            graded(tmp_path, plan_of(server))
    else:
        assert len(graded(tmp_path, plan_of(server))[0]) == 8


def test_a_batch_that_failed_halfway_is_told_in_the_endpoints_words(server, tmp_path):
    look, server.status = server._look, "failed"
    server.errors = [{"code": "server_error", "message": "the batch broke off"}]
    server._look = lambda batch: {**look(batch), "request_counts": {"total": 8, "completed": 3, "failed": 0}}
    with pytest.raises(ChatError, match="failed as a whole: the batch broke off"):
        graded(tmp_path, plan_of(server))
    assert list(tmp_path.glob(NOTES)) == []


def test_an_answer_of_half_characters_is_read(server, tmp_path):
    server.answer = answering(R1=(400, "half \ud83d"))
    judgments, _ = graded(tmp_path, plan_of(server))
    assert [one.status for one in judgments[:2]] == ["error", "ok"]
    assert "half \ufffd" in judgments[0].reason


def test_judges_without_a_vendor_are_told_before_anything_is_sent(server, tmp_path):
    judges = [judge(server), *(judge(server, name=name, base_url=name) for name in ("offline", "local"))]
    with pytest.raises(InputError, match="vendor's endpoint") as caught:
        graded(tmp_path, plan_checks(TASKS, REPORTS, judges))
    assert len(caught.value.faults) == 2
    assert server.asked == []


def test_a_missing_key_and_limits_of_nothing_are_told(server, tmp_path, monkeypatch):
    with pytest.raises(InputError, match="interval 0") as caught:
        graded(tmp_path, plan_of(server), interval=0, max_requests=0)
    assert len(caught.value.faults) == 2
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(InputError, match="OPENAI_API_KEY"):
        graded(tmp_path, plan_of(server))
    assert server.asked == []


def test_a_damaged_note_stops_before_anything_is_paid_for(server, tmp_path):
    (tmp_path / "batches").mkdir()
    (tmp_path / "batches" / "x.json").write_text('{"token": ')
    with pytest.raises(InputError, match=r"x\.json: is no readable note"):
        graded(tmp_path, plan_of(server))
    assert server.asked == []


def test_files_are_split_at_the_limits_and_between_reports(server, tmp_path):
    # 2 reports of 4 requests: 6 to a file would cut the second report in two.
    judgments, _ = graded(tmp_path / "requests", plan_of(server), max_requests=6)
    assert [len(lines) for lines in server.uploaded] == [4, 4]
    assert len(judgments) == 8
    size = max(len(server.files[one["input_file_id"]]) for one in server.batches.values())
    graded(tmp_path / "bytes", plan_of(server), max_bytes=size)
    assert [len(lines) for lines in server.uploaded[2:]] == [4, 4]
    # A report of 4 that does not fit into a file of 3 has to be cut.
    graded(tmp_path / "small", plan_of(server), max_requests=3)
    assert [len(lines) for lines in server.uploaded[4:]] == [3, 1, 3, 1]


def test_a_request_beyond_a_whole_file_is_told(server, tmp_path):
    with pytest.raises(InputError, match=r"task 'a', run 1, rubric 'R1': .* max_bytes is 99; give 'j' a max_report"):
        graded(tmp_path, plan_of(server), max_bytes=99)
    assert server.asked == []


@given(st.lists(st.lists(st.integers(1, 9), max_size=6)), st.integers(1, 7), st.integers(9, 30))
def test_packing_keeps_every_line_in_order_within_the_limits(groups, most, size):
    packer, files, numbers = Packer(most, size), [], iter(range(999))
    named = [[Line(str(next(numbers)), b"x" * length) for length in group] for group in groups]
    for group in named:
        files += packer.add(group)
    files.append(packer.rest)
    assert [line for file in files for line in file] == [line for group in named for line in group]
    assert all(len(file) <= most and sum(len(line.content) for line in file) <= size for file in files)
    for group in named:
        if len(group) <= most and sum(len(line.content) for line in group) <= size:
            assert sum(any(line in file for line in group) for file in files) <= 1, "what fits is not cut"


def test_a_request_line_holds_the_body_byte_by_byte():
    line = request_line("judgment-1", '{"a":"\u2028\u597d"}'.encode())
    assert json.loads(line.content)["body"] == {"a": "\u2028\u597d"}
    assert line.content.endswith('"body": {"a":"\u2028\u597d"}}\n'.encode())


def test_a_line_whose_custom_id_is_no_text_is_told():
    answers, faults = read_answers({"file f": b'{"custom_id": ["a"]}\n[]\n\n\xff\n{"custom_id": "a"}'}, ["a"])
    assert answers == {"a": [{"custom_id": "a"}]}
    assert [fault.partition(":")[0] for fault in faults] == ["file f, line 1", "file f, line 2", "file f, line 4"]
