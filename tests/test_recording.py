"""A run's results become a folder of recorded ones as a whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from lifesearch_kit.collect.recording import main, record_results
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_judgments, read_reports, write_jsonl
from lifesearch_kit.own_agents import OwnAgent, read_systems
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.settings import JudgeSettings, SystemSettings
from lifesearch_kit.transcripts import Transcript

SYSTEM = SystemSettings(name="agent", model="m", base_url="local")
JUDGE = JudgeSettings(name="judge", model="m", base_url="local")
VERDICT = Judgment(system="s", task_id="a", rubric_id="R1", judge="judge", satisfied=True, reason="at http://localhost")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """Two reports with a transcript each, and the transcript of an earlier run that no report names."""
    folder = tmp_path / "runs"
    with Store(folder) as store:
        for number in (1, 2, 3):
            transcript = Transcript(
                system="agent", task_id="a", run=number, system_prompt="p", question=f"q{number}", steps=()
            )
            store.add_report(Report(system="agent", task_id="a", run=number, text="t"), transcript)
        reports = list(store.reports().values())
    write_jsonl(folder / "systems.jsonl", [SYSTEM])
    write_jsonl(folder / "reports.jsonl", reports[:2])
    # The first notebook after the runs grades them; that is not what is recorded here.
    write_jsonl(folder / "judges.jsonl", [JUDGE])
    return folder


@pytest.fixture
def judges(tmp_path: Path) -> Path:
    folder = tmp_path / "judges"
    write_jsonl(folder / "judges.jsonl", [JUDGE])
    write_jsonl(folder / "judgments.jsonl", [VERDICT])
    # The reports that were judged were made elsewhere.
    write_jsonl(folder / "reports.jsonl", [Report(system="s", task_id="a", text="t")])
    return folder


@pytest.fixture
def target(tmp_path: Path) -> Path:
    folder = tmp_path / "recorded"
    folder.mkdir()
    (folder / "of_before.txt").write_text("old")
    return folder


def files(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_only_what_the_reports_name_is_copied_and_the_old_goes(runs: Path, judges: Path, target: Path) -> None:
    copied = record_results(runs, judges, target)
    named = [one.transcript for one in read_reports(target / "reports.jsonl")]
    assert len(list((runs / "transcripts").rglob("*.gz"))) == 3
    assert files(target) == {"systems.jsonl", "reports.jsonl", "judges.jsonl", "judgments.jsonl", *named}
    assert set(copied) == files(target)
    assert [read_transcript(target / name).question for name in named] == ["q1", "q2"]
    assert read_judgments(target / "judgments.jsonl") == [VERDICT]
    assert sorted(path.name for path in target.parent.iterdir()) == ["judges", "recorded", "runs"]


@pytest.mark.parametrize(("kept", "count"), [("runs", 4), ("judges", 2)])
def test_one_of_the_two_folders_is_enough(runs: Path, judges: Path, target: Path, kept: str, count: int) -> None:
    absent = target.parent / "absent"
    record_results(runs if kept == "runs" else absent, judges if kept == "judges" else absent, target)
    # Two files of settings and records, and the transcripts of two reports.
    assert len(files(target)) == count


@pytest.mark.parametrize("name", ["systems.jsonl", "reports.jsonl"])
def test_half_a_pair_is_an_error_and_the_old_stays(runs: Path, judges: Path, target: Path, name: str) -> None:
    (runs / name).unlink()
    with pytest.raises(InputError, match=rf"{name}: is not there, but the other file of its pair is"):
        record_results(runs, judges, target)
    assert files(target) == {"of_before.txt"}


def test_nothing_to_record_is_an_error(tmp_path: Path, target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(tmp_path / "x"), str(tmp_path / "y"), str(target)]) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"neither {tmp_path / 'x' / 'reports.jsonl'} nor {tmp_path / 'y' / 'judgments.jsonl'}")
    assert files(target) == {"of_before.txt"}


def test_a_transcript_that_is_gone_is_an_error_and_the_old_stays(runs: Path, judges: Path, target: Path) -> None:
    (runs / str(read_reports(runs / "reports.jsonl")[1].transcript)).unlink()
    with pytest.raises(InputError, match="there is no such transcript"):
        record_results(runs, judges, target)
    assert files(target) == {"of_before.txt"}


def test_what_an_interrupted_copy_left_is_cleared_away(runs: Path, judges: Path, target: Path) -> None:
    for word in ("new.part", "old.part"):
        (target.parent / f"recorded.{word}").mkdir()
        (target.parent / f"recorded.{word}" / "half.jsonl").write_text("half")
    record_results(runs, judges, target)
    assert "half.jsonl" not in files(target)
    assert sorted(path.name for path in target.parent.iterdir()) == ["judges", "recorded", "runs"]


@pytest.mark.parametrize(
    ("file", "record"),
    [
        ("judges.jsonl", JUDGE.model_copy(update={"base_url": "http://127.0.0.1:8099/v1"})),
        (
            "judgments.jsonl",
            VERDICT.model_copy(
                update={"satisfied": None, "status": "error", "reason": "(at http://127.0.0.1:8099/v1)"}
            ),
        ),
        ("judgments.jsonl", VERDICT.model_copy(update={"notes": ("from http://localhost:8099/v1",)})),
    ],
    ids=["setting", "reason of the kit's", "note"],
)
def test_an_address_of_this_machine_is_refused(
    runs: Path, judges: Path, target: Path, file: str, record: JudgeSettings | Judgment
) -> None:
    write_jsonl(judges / file, [record])
    with pytest.raises(InputError, match=rf"{file}: names http://(127\.0\.0\.1|localhost):8099/v1"):
        record_results(runs, judges, target)
    assert files(target) == {"of_before.txt"}


def test_the_command_tells_how_many_files_there_are(
    runs: Path, judges: Path, target: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(runs), str(judges), str(target)]) == 0
    # Four files of settings and records, and two transcripts.
    assert capsys.readouterr().out == f"{target}: 6 files\n"


def test_an_agent_of_ones_own_is_recorded_unless_it_names_an_address_of_this_machine(
    runs: Path, judges: Path, target: Path
) -> None:
    agent = OwnAgent(name="agent", version="1", command=("python", "mine.py"))
    write_jsonl(runs / "systems.jsonl", [agent])
    record_results(runs, judges, target)
    assert read_systems(target / "systems.jsonl") == [agent]
    write_jsonl(runs / "systems.jsonl", [agent.model_copy(update={"command": ("curl", "http://127.0.0.1:8000/ask")})])
    with pytest.raises(InputError, match=r"systems\.jsonl: names http://127\.0\.0\.1:8000/ask, an address of this"):
        record_results(runs, judges, target)
