"""What was stored stays: once, under its whole key, through kills, for several processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import date

import pytest

from lifesearch_kit.collect import store as store_module
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import Judgment, Report
from lifesearch_kit.transcripts import Step, Transcript


def judgment(**changes):
    fields = {"system": "s", "task_id": "t", "rubric_id": "R1", "judge": "j", "satisfied": True, "fingerprint": "f"}
    return Judgment(**{**fields, **changes})


def test_a_stored_verdict_is_never_replaced(tmp_path):
    with Store(tmp_path) as store:
        store.add_judgments([judgment(reason="first")])
        store.add_judgments([judgment(reason="second", satisfied=False)])
        assert [one.reason for one in store.judgments().values()] == ["first"]


def test_an_unjudged_row_gives_way_to_a_verdict(tmp_path):
    with Store(tmp_path) as store:
        store.add_judgments([judgment(satisfied=None, status="truncated")])
        assert store.judged() == set()
        store.add_judgments([judgment(satisfied=False)])
        assert [one.satisfied for one in store.judgments().values()] == [False]
        assert store.judged() == {("s", "t", 1, "R1", "j", 1, "f")}


def test_every_part_of_the_key_and_the_content_counts(tmp_path):
    changes = [{}, {"system": "x"}, {"task_id": "x"}, {"run": 2}, {"rubric_id": "x"}, {"judge": "x"}, {"repeat": 2}]
    rows = [judgment(**change) for change in [*changes, {"fingerprint": "x"}]]
    with Store(tmp_path) as store:
        store.add_judgments(rows)
        assert sorted(map(str, store.judgments().values())) == sorted(map(str, rows))


def test_a_failing_batch_leaves_nothing_half_done(tmp_path):
    def rows():
        yield judgment()
        raise RuntimeError("stopped")

    with Store(tmp_path) as store:
        with pytest.raises(RuntimeError):
            store.add_judgments(rows())
        assert store.judgments() == {}
        store.add_judgments([judgment()])
        assert len(store.judgments()) == 1


def test_reports_come_back_with_their_transcripts(tmp_path):
    report = Report(system="组/a b", task_id="t:1", text="正文 𠮷", fingerprint="f", notes=("n",))
    transcript = Transcript(
        system=report.system,
        task_id=report.task_id,
        run=1,
        system_prompt="p",
        question="q",
        steps=(Step(number=1, message={"role": "assistant", "content": "正文", "reasoning_content": "r"}),),
    )
    with Store(tmp_path) as store:
        stored = store.add_report(report, transcript)
        assert stored.transcript is not None
        assert read_transcript(tmp_path / stored.transcript) == transcript
        assert list(store.reports().values()) == [stored]
        assert list((tmp_path / "transcripts").rglob("*.part")) == []


def test_the_first_report_stays_with_its_own_transcript(tmp_path):
    def made(text):
        report = Report(system="s", task_id="t", text=text, fingerprint="f")
        step = Step(number=1, message={"content": text})
        return report, Transcript(system="s", task_id="t", run=1, system_prompt="p", question="q", steps=(step,))

    with Store(tmp_path) as one, Store(tmp_path) as other:
        first, second = one.add_report(*made("first")), other.add_report(*made("second"))
        assert first == second == next(iter(other.reports().values()))
        assert read_transcript(tmp_path / first.transcript).steps[0].message["content"] == "first"
        assert len(list((tmp_path / "transcripts").rglob("*.gz"))) == 1


def test_a_run_keeps_the_day_it_was_started_on(tmp_path, monkeypatch):
    class Later(date):
        @classmethod
        def today(cls):
            return cls(2030, 1, 1)

    with Store(tmp_path) as store:
        day = store.started()
    monkeypatch.setattr(store_module, "date", Later)
    with Store(tmp_path) as store:
        assert store.started() == day
    with Store(tmp_path / "new") as store:
        assert store.started() == date(2030, 1, 1)


def test_a_folder_that_cannot_be_made_or_written_is_named_with_its_setting(tmp_path):
    (tmp_path / "file").write_text("in the way")
    for folder in (tmp_path / "file", tmp_path / "file" / "runs"):
        with pytest.raises(InputError) as caught:
            Store(folder)
        told = f"{folder}: no folder can be made there ({tmp_path / 'file'} is a file); correct `results`"
        assert str(caught.value) == told
    (tmp_path / "run.sqlite").mkdir()
    with pytest.raises(InputError, match=r"run\.sqlite: cannot be written \(.*\); correct `results`, or the folder's"):
        Store(tmp_path)
    with pytest.raises(InputError, match="no folder can be made there"):
        Store(tmp_path / ("x" * 300))


def test_damaged_files_are_named(tmp_path):
    (tmp_path / "run.sqlite").write_bytes(b"not a database, surely" * 99)
    with pytest.raises(InputError, match=r"run\.sqlite: is no readable run"):
        Store(tmp_path)
    torn = tmp_path / "torn.json.gz"
    torn.write_bytes(b"\x1f\x8b\x08")
    with pytest.raises(InputError, match="is no readable transcript"):
        read_transcript(torn)
    with pytest.raises(InputError, match="no such transcript"):
        read_transcript(tmp_path / "absent.json.gz")


WRITER = """
import sys
from lifesearch_kit.records import Judgment
from lifesearch_kit.collect.store import Store
store = Store(sys.argv[1])
for number in range(100_000):
    store.add_judgments([Judgment(system=sys.argv[2], task_id="t", rubric_id=str(number), judge="j", satisfied=True)])
    print(number, flush=True)
"""


def test_nothing_acknowledged_is_lost_when_processes_are_killed(tmp_path):
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path), name], stdout=subprocess.PIPE, text=True)
        for name in ("a", "b")
    ]
    time.sleep(2.5)
    for writer in writers:
        os.kill(writer.pid, signal.SIGKILL)
    acknowledged = {name: len(w.communicate()[0].splitlines()) for name, w in zip("ab", writers, strict=True)}
    assert min(acknowledged.values()) > 10
    with Store(tmp_path) as store:
        stored = [one.system for one in store.judgments().values()]
    for name, count in acknowledged.items():
        # The line of the last write may have been cut off after the write itself.
        assert stored.count(name) in (count, count + 1)
