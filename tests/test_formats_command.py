"""The command that converts: what it writes, what it tells, what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest
from made_tasks import lines

from lifesearch_kit.files import read_tasks
from lifesearch_kit.formats.__main__ import READERS, WRITERS, main
from lifesearch_kit.formats.task_schema import task_schema
from lifesearch_kit.paths import ROOT

DEMO = ROOT / "data" / "demo" / "tasks.jsonl"
EXAMPLE = {
    "prompt_id": "p1",
    "prompt": [{"role": "user", "content": "Which ferry is older?"}],
    "example_tags": ["theme:ships"],
    "rubrics": [
        {"criterion": "Names the blue one.", "points": 9, "tags": []},
        {"criterion": "Invents a ferry.", "points": -5, "tags": []},
    ],
}


def convert(source: Path, target: Path, origin: str, form: str, *more: str) -> int:
    return main(["convert", str(source), str(target), "--from", origin, "--to", form, *more])


@pytest.mark.parametrize("form", [name for name in WRITERS if name != "lifesearch"])
def test_the_demo_goes_into_every_format_and_back(tmp_path: Path, form: str) -> None:
    name = {"csv": "out.csv", "deep-research-bench": "folder", "parquet": "out.parquet"}.get(form, "out.jsonl")
    assert convert(DEMO, tmp_path / name, "lifesearch", form) == 0
    assert convert(tmp_path / name, tmp_path / "back.jsonl", form, "lifesearch") == 0
    back = read_tasks(tmp_path / "back.jsonl", weight_step=None)
    demo = read_tasks(DEMO)
    assert [task.query for task in back] == [task.query for task in demo]
    assert (back == demo) is (form in ("csv", "parquet"))


def test_every_format_is_read_and_written() -> None:
    assert READERS.keys() == WRITERS.keys()


def test_what_does_not_fit_is_told_and_written_down(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = lines(tmp_path / "in.jsonl", [EXAMPLE]), tmp_path / "tasks.jsonl"
    assert convert(source, target, "healthbench", "lifesearch") == 2
    assert not target.exists()
    assert "in.jsonl:1, rubric 2: -5 for 'Invents a ferry.'; choose negative 'invert'" in capsys.readouterr().err
    misfits = tmp_path / "misfits.csv"
    more = ("--negative", "invert", "--misfits", str(misfits), "--domain", "Ships")
    assert convert(source, target, "healthbench", "lifesearch", *more) == 0
    told = capsys.readouterr().out
    assert "1 tasks, 2 rubrics" in told
    assert "changed: negative points of 1 tasks: inverted" in told
    frame = pd.read_csv(misfits)
    assert frame.loc[frame["field"] == "score", "value"].tolist() == ["T = 9, K = 5"]
    assert read_tasks(target)[0].domain == "Ships"


def test_weights_are_rounded_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{**EXAMPLE, "rubrics": [{"criterion": "A.", "points": 8.8}, {"criterion": "B.", "points": 4.4}]}]
    source = lines(tmp_path / "in.jsonl", rows)
    assert convert(source, tmp_path / "t.jsonl", "healthbench", "lifesearch", "--tenths") == 0
    assert [one.weight for one in read_tasks(tmp_path / "t.jsonl")[0].rubrics] == [1.0, 0.5]
    told = capsys.readouterr().out
    assert "rounded to tenths" in told
    assert "kept as they are" not in told


def test_nothing_is_overwritten_unless_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "tasks.parquet"
    target.write_text("mine", encoding="utf-8")
    assert convert(DEMO, target, "lifesearch", "parquet") == 2
    assert "tasks.parquet: is there already; name another file or add --replace" in capsys.readouterr().err
    assert target.read_text("utf-8") == "mine"
    assert convert(DEMO, target, "lifesearch", "parquet", "--replace") == 0
    assert convert(DEMO, tmp_path, "lifesearch", "parquet", "--replace") == 2
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "query.jsonl").write_text("mine", encoding="utf-8")
    assert convert(DEMO, tmp_path / "folder", "lifesearch", "deep-research-bench") == 2


def test_requests_that_cannot_be_met_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert convert(DEMO, tmp_path / "t", "lifesearch", "csv", "--negative", "drop") == 2
    assert (
        "--negative says nothing about lifesearch; it is for research-rubrics, healthbench" in capsys.readouterr().err
    )
    assert convert(tmp_path / "none.jsonl", tmp_path / "t", "healthbench", "csv") == 2
    assert "none.jsonl: there is no such file" in capsys.readouterr().err
    (tmp_path / "file").write_text("x", encoding="utf-8")
    assert convert(DEMO, tmp_path / "file" / "t.csv", "lifesearch", "csv") == 2
    assert "cannot be written" in capsys.readouterr().err
    with pytest.raises(SystemExit) as raised:
        convert(DEMO, tmp_path / "t", "lifesearch", "xml")
    assert raised.value.code == 2


def test_readings_that_are_not_as_written_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.csv"
    path.write_text("task_id,query,criterion,weight,priority\n1,q?,Is.,1,must have\n", encoding="utf-8")
    assert convert(path, tmp_path / "t.jsonl", "csv", "lifesearch") == 0
    assert "t.csv:2: field 'priority': 'must have' was read as 'Must Have'" in capsys.readouterr().err


def test_the_schema_is_written_from_the_command_line(tmp_path: Path) -> None:
    target = tmp_path / "tasks.schema.json"
    command = [sys.executable, "-m", "lifesearch_kit.formats", "schema", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str(target)
    assert json.loads(target.read_text("utf-8")) == task_schema()
    assert subprocess.run(command, capture_output=True, text=True, check=False).returncode == 2
    assert main(["schema", str(target), "--replace", "--any-weight"]) == 0
    assert json.loads(target.read_text("utf-8")) == task_schema(None)
