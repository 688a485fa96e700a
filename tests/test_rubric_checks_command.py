"""The checks as a command: what it prints, how it ends, and findings that a person accepts."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import ROOT
from lifesearch_kit.rubric_checks.__main__ import main
from lifesearch_kit.rubric_checks.accepted import read_accepted

IGNORED = ["--ignore", "rubric_count", "attribute_shares"]


def task(name="t1", *criteria, **fields):
    rubrics = [{"criterion": one, "weight": 0.5} | fields for one in criteria]
    return {"task_id": name, "language": "en", "domain": "d", "query": "Which port?", "rubrics": rubrics}


GOOD = "The response should name Vessel Bay."
VAGUE = "The response should give good reasons."


@pytest.fixture
def write(tmp_path):
    def lines(name, *rows):
        path = tmp_path / name
        text = (row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
        path.write_text("".join(f"{one}\n" for one in text), "utf-8")
        return str(path)

    return lines


def test_clean_rubrics_end_with_0(write, capsys):
    assert main([write("tasks.jsonl", task("t1", GOOD)), *IGNORED]) == 0
    assert capsys.readouterr() == ("", "no findings\n")


def test_findings_end_with_1_a_line_each_with_file_and_line(write, capsys):
    path = write("tasks.jsonl", task("t1", GOOD), "", task("t2", GOOD + " ", VAGUE))
    assert main([path, *IGNORED]) == 1
    shown = capsys.readouterr()
    assert shown.out == (
        f"{path}:3: t2/R2: vague_wording: 'good' has no measure: two judges may decide differently "
        "(drop 'good', or say what shows it: a number, a list of what must be there, an example that is accepted)\n"
    )
    assert shown.err == "1 findings in 1 places\n"


def test_findings_as_objects_carry_everything(write, capsys):
    path = write("tasks.jsonl", task("t1", VAGUE, weight=0.25))
    assert main([path, "--format", "jsonl"]) == 1
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["check"], row["rubric_id"]) for row in rows] == [
        ("vague_wording", "R1"),
        ("weight_step", "R1"),
        ("rubric_count", None),
    ]
    assert rows[0]["place"] == f"{path}:1"
    assert (rows[0]["start"], rows[0]["end"], rows[0]["span"]) == (25, 29, "good")
    assert rows[1]["start"] is None


def test_rubrics_in_a_file_of_their_own_are_named_by_its_lines(write, capsys):
    tasks = write("tasks.jsonl", {name: value for name, value in task("t1").items() if name != "rubrics"})
    rubrics = write("rubrics.csv", "task_id,criterion,weight", f"t1,{GOOD},0.5", f"t1,{VAGUE},0.5")
    assert main([tasks, "--rubrics", rubrics, *IGNORED]) == 1
    assert capsys.readouterr().out.startswith(f"{rubrics}:3: t1/R2: vague_wording: ")


@pytest.mark.parametrize(
    ("rows", "arguments", "told"),
    [
        (['{"task_id": "t1", "lang'], [], ":1: is no JSON"),
        ([task("t1", VAGUE, weight="0.5")], [], "field 'weight': \"0.5\" is no number"),
        ([task("t1", VAGUE)], ["--ignore", "vague"], "check 'vague' is unknown; choose from two_requirements"),
        ([task("t1", VAGUE)], ["--accepted", "absent.jsonl"], "absent.jsonl: there is no such file"),
    ],
)
def test_what_cannot_be_used_ends_with_2(write, capsys, rows, arguments, told):
    assert main([write("tasks.jsonl", *rows), *arguments]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""


def test_it_runs_from_any_folder(write, tmp_path):
    path = Path(write("tasks.jsonl", task("t1", VAGUE))).name
    command = [sys.executable, "-m", "lifesearch_kit.rubric_checks", path, *IGNORED]
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"}
    )
    assert (done.returncode, done.stderr) == (1, "1 findings in 1 places\n")
    assert done.stdout.startswith("tasks.jsonl:1: t1/R1: vague_wording: ")


# Findings that may stand


ACCEPTED = {"task_id": "t1", "rubric_id": "R1", "check": "vague_wording", "span": "good", "reason": "quoted standard"}


def test_an_accepted_finding_is_not_told_again(write, capsys):
    path = write("tasks.jsonl", task("t1", VAGUE))
    of_the_task = {"task_id": "t1", "check": "rubric_count", "reason": "a short task"}
    accepted = write("accepted.jsonl", ACCEPTED, of_the_task)
    assert main([path, "--accepted", accepted]) == 0
    assert main([path, "--accepted", write("one.jsonl", ACCEPTED)]) == 1
    assert "rubric_count" in capsys.readouterr().out


def test_an_acceptance_lapses_with_the_words_that_it_was_given_for(write, capsys):
    path = write("tasks.jsonl", task("t1", "The response should give excellent reasons."))
    accepted = write("accepted.jsonl", ACCEPTED)
    assert main([path, "--accepted", accepted]) == 2
    assert (
        "task 't1', rubric 'R1', check 'vague_wording', span 'good': is not found any more; remove the line"
        in capsys.readouterr().err
    )


def test_ignoring_a_check_does_not_make_its_acceptances_lapse(write):
    path = write("tasks.jsonl", task("t1", VAGUE))
    assert main([path, "--accepted", write("accepted.jsonl", ACCEPTED), *IGNORED, "--ignore", "vague_wording"]) == 0


def test_faults_of_an_accepted_file_are_told_with_their_lines(write):
    path = write("accepted.jsonl", ACCEPTED, ACCEPTED, ACCEPTED | {"check": "vague_word"}, ACCEPTED | {"reason": " "})
    with pytest.raises(InputError) as caught:
        read_accepted(path)
    typo, blank, twice = caught.value.faults
    assert typo == f"{path}:3: task 't1', field 'check': \"vague_word\" is no check; did you mean 'vague_wording'?"
    assert "field 'reason': \" \" is blank" in blank
    assert "stands already" in twice


def test_a_benchmark_without_a_task_is_not_clean(tmp_path, capsys):
    (tmp_path / "tasks.jsonl").write_text("")
    assert main([str(tmp_path / "tasks.jsonl")]) == 2
    assert "tasks.jsonl: holds no task" in capsys.readouterr().err
