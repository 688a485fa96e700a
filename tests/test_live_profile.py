"""A profile of real models, run by the batch against a real HTTP server: the whole protocol, tool calls included."""

from __future__ import annotations

import json
import shutil

import pytest
import yaml
from loopback import call, completion

from lifesearch_kit import batch
from lifesearch_kit.collect.store import read_transcript
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_judgments, read_reports, read_tasks
from lifesearch_kit.paths import FIGURES, ROOT

PROFILE = "loopback-test"


def answer(body):
    """Search once, then report, as an agent; pass every criterion as a judge."""
    if "tools" not in body:
        return completion('{"satisfied": true, "reason": "It says so."}')
    if body["messages"][-1]["role"] == "tool":
        found = body["messages"][-1]["content"]
        return completion(f"Report on what was found. {found[:60]}", reasoning_content="Enough.")
    return completion(None, call("search", {"query": body["messages"][1]["content"][:80]}))


def write_profile(folder, loopback, **changes):
    source = yaml.safe_load((ROOT / "params" / "live.example.yaml").read_text("utf-8"))
    model = {"base_url": loopback.chat_url, "api_key_env": "OPENAI_API_KEY"}
    wanted = {
        "notebooks": ["04_run_and_grade"],
        "profile": PROFILE,
        "results": str(folder / "run"),
        "runs": 1,
        "tasks": str(folder / "tasks.jsonl"),
        "web": "data/demo/web/pages.jsonl",
        "systems": [{**one, **model} for one in source["systems"]],
        "judges": [{**one, **model} for one in source["judges"]],
    }
    path = folder / "live.yaml"
    del source["judge_results"]  # of notebook 09
    path.write_text(yaml.safe_dump({**source, **wanted, **changes}), "utf-8")
    lines = (ROOT / "data" / "demo" / "tasks.jsonl").read_text("utf-8").splitlines()[:2]
    (folder / "tasks.jsonl").write_text("\n".join(lines), "utf-8")
    return path


@pytest.fixture(autouse=True)
def _without_leftovers():
    yield
    shutil.rmtree(FIGURES / PROFILE, ignore_errors=True)


def test_the_example_profile_runs_against_an_endpoint(loopback, tmp_path):
    loopback.script[:] = [answer] * 500
    assert batch.main([str(write_profile(tmp_path, loopback))]) == 0
    tasks, reports = read_tasks(tmp_path / "tasks.jsonl"), read_reports(tmp_path / "run" / "reports.jsonl")
    judgments = read_judgments(tmp_path / "run" / "judgments.jsonl")
    assert [(one.system, one.status, one.iterations, one.tool_calls) for one in reports] == [
        (name, "answered", 2, {"search": 1}) for name in ("my-model high", "local model") for _ in tasks
    ]
    assert all(one.text.startswith("Report on what was found. [1] ") for one in reports)
    assert len(judgments) == 2 * sum(len(task.rubrics) for task in tasks)
    assert {(one.judge, one.satisfied, one.model) for one in judgments} == {("my-judge low t0", True, "served-model")}
    first = next(body for body in loopback.requests if "tools" in body)
    assert {"reasoning_effort", "temperature"} & set(first) <= {"reasoning_effort"}, (
        "default means that nothing is sent"
    )
    judged = next(body for body in loopback.requests if "tools" not in body)
    assert (judged["temperature"], judged["reasoning_effort"]) == (0, "low")
    steps = read_transcript(tmp_path / "run" / reports[0].transcript).steps
    assert steps[0].results[0].tool == "search"
    # 2 x 10 input tokens at 1.25 and 2 x 5 output tokens at 10 per million
    assert reports[0].cost == pytest.approx((20 * 1.25 + 10 * 10) / 1e6)


def test_a_second_call_pays_for_nothing(loopback, tmp_path):
    loopback.script[:] = [answer] * 500
    profile = write_profile(tmp_path, loopback)
    assert batch.main([str(profile)]) == 0
    asked = len(loopback.requests)
    tables = [(tmp_path / "run" / f"{name}.jsonl").read_bytes() for name in ("reports", "judgments")]
    assert batch.main([str(profile)]) == 0
    assert len(loopback.requests) == asked
    assert [(tmp_path / "run" / f"{name}.jsonl").read_bytes() for name in ("reports", "judgments")] == tables


def test_a_system_that_is_refused_leaves_the_others_their_grades(loopback, tmp_path, capfd):
    def reply(body):
        if body["model"] == "local-model":
            return 401, {"error": {"message": "key revoked"}}
        return answer(body)

    loopback.script[:] = [reply] * 500
    assert batch.main([str(write_profile(tmp_path, loopback))]) != 0
    assert "key revoked" in "".join(capfd.readouterr())
    judgments = [json.loads(line) for line in (tmp_path / "run" / "judgments.jsonl").read_text("utf-8").splitlines()]
    assert {one["system"] for one in judgments} == {"my-model high"}
    assert all(one["satisfied"] is not None for one in judgments)


def test_a_missing_key_is_one_sentence_before_anything_runs(loopback, tmp_path, monkeypatch, capfd):
    monkeypatch.delenv("OPENAI_API_KEY")
    loopback.script[:] = [answer] * 500
    assert batch.main([str(write_profile(tmp_path, loopback))]) != 0
    assert loopback.requests == []
    said = "".join(capfd.readouterr())
    assert "set the environment variable OPENAI_API_KEY" in said
    executed = json.loads((FIGURES / PROFILE / "notebooks" / "04_run_and_grade.ipynb").read_text("utf-8"))
    assert "stand-in" not in json.dumps(executed), "no key in a notebook"


def test_a_misspelt_key_of_a_system_stops_at_the_settings(loopback, tmp_path, capfd):
    systems = [{"name": "a", "model": "m", "base_urll": "x"}]
    assert batch.main([str(write_profile(tmp_path, loopback, systems=systems))]) != 0
    assert "did you mean 'base_url'?" in "".join(capfd.readouterr())
    assert loopback.requests == []


def test_a_misspelt_parameter_gets_the_nearest_name(loopback, tmp_path, capfd):
    assert batch.main([str(write_profile(tmp_path, loopback, concurency=2))]) != 0
    said = "".join(capfd.readouterr())
    assert "'concurency'" in said
    assert "'concurrency'" in said
    assert InputError.__name__ not in said.splitlines()[0]
