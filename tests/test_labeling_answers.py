"""Labelling: each answer is on disk at once, a kill loses none, and a person goes on where they were."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_studies import label_all, made_items, made_reports, made_tasks

from lifesearch_kit import durable_lines
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.labeling.answer_files import people
from lifesearch_kit.labeling.desk import Desk, show
from lifesearch_kit.labeling.gathered import labels_of, read_answers
from lifesearch_kit.labeling.labels import LabelSession, answer_file
from lifesearch_kit.labeling.pages import Press
from lifesearch_kit.paths import ROOT

TASKS = made_tasks(2)
REPORTS = made_reports(TASKS)
ITEMS = made_items(TASKS, REPORTS)  # 8 reports x 4 rubrics


def begun(folder: Path, annotator: str = "ann") -> LabelSession:
    return LabelSession(ITEMS, annotator, folder, seed=1)


def lines(folder: Path, annotator: str = "ann") -> list[dict[str, object]]:
    path = folder / "answers" / f"{annotator}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_each_answer_is_a_line_as_soon_as_it_is_given(tmp_path: Path) -> None:
    session = begun(tmp_path)
    session.press(Press("p", ""))
    assert [(one["satisfied"], one["note"], one["annotator"]) for one in lines(tmp_path)] == [(True, "", "ann")]
    session.press(Press("f", " 票价\n不对 "))
    assert lines(tmp_path)[1]["satisfied"] is False
    assert lines(tmp_path)[1]["note"] == "票价\n不对"
    assert session.answered == 2
    assert session.said == "Stored: Fail"
    (label,) = labels_of(read_answers(tmp_path)["ann"][:1], ITEMS)
    assert (label.system, label.run, label.satisfied) == (session.items[0].report.system, 1, True)
    assert label.fingerprint == session.items[0].fingerprint


def test_back_skip_and_a_changed_mind(tmp_path: Path) -> None:
    session = begun(tmp_path)
    session.press(Press("p", ""))
    session.press(Press("ArrowRight", ""))
    assert (session.position, session.answered) == (2, 1)
    session.press(Press("Backspace", ""))
    session.press(Press("ArrowLeft", ""))
    assert session.position == 0
    session.press(Press("f", "on second thoughts"))
    # The skipped item comes next; nothing was written for the moves.
    assert session.position == 1
    assert [one["satisfied"] for one in lines(tmp_path)] == [True, False]
    assert session.answered == 1
    (answer,) = read_answers(tmp_path)["ann"]
    assert (answer.satisfied, answer.note) == (False, "on second thoughts")


def test_skipped_items_come_again_and_the_end_says_so(tmp_path: Path) -> None:
    session = begun(tmp_path)
    session.press(Press("ArrowRight", ""))
    for _ in ITEMS[1:]:
        session.press(Press("p", ""))
    assert session.position == 0
    session.press(Press("p", ""))
    assert session.position == len(ITEMS)
    assert f"All {len(ITEMS)} are labelled" in session.page()
    session.press(Press("ArrowLeft", ""))
    assert session.position == 0


def test_a_note_alone_is_kept_and_is_no_verdict(tmp_path: Path) -> None:
    session = begun(tmp_path)
    session.press(Press("Enter", "look again"))
    session.press(Press("Enter", "look again"))
    assert [(one["satisfied"], one["note"]) for one in lines(tmp_path)] == [(None, "look again")]
    assert session.answered == 0
    session.close()
    again = begun(tmp_path)
    assert ">look again</textarea>" in again.page()
    assert labels_of(read_answers(tmp_path)["ann"], ITEMS) == []


def test_a_person_goes_on_where_they_were(tmp_path: Path) -> None:
    first = begun(tmp_path)
    for key in ("p", "f", "ArrowRight", "p"):
        first.press(Press(key, ""))
    first.close()
    second = begun(tmp_path)
    assert (second.position, second.answered) == (4, 3)
    assert f"Going on as <strong>ann</strong>, begun {second.begun[:10]}" in second.page()
    second.press(Press("ArrowLeft", ""))
    assert second.position == 3


def test_an_answer_to_an_earlier_text_is_asked_for_again(tmp_path: Path) -> None:
    first = begun(tmp_path)
    first.press(Press("p", "seen"))
    first.close()
    item = first.items[0]
    edited = [one.model_copy(update={"text": f"{one.text} Edited."}) if one == item.report else one for one in REPORTS]
    again = LabelSession(made_items(TASKS, edited), "ann", tmp_path, seed=1)
    assert again.answered == 0
    again.position = [one.key for one in again.items].index(item.key)
    assert "has changed since you labelled it" in again.page()


@given(st.binary(min_size=1, max_size=200).filter(lambda torn: b"\n" not in torn and not torn.rstrip().endswith(b"}")))
def test_a_line_cut_off_by_a_kill_is_set_aside_and_nothing_else_is_lost(
    tmp_path_factory: pytest.TempPathFactory, torn: bytes
) -> None:
    folder = tmp_path_factory.mktemp("torn")
    first = begun(folder)
    first.press(Press("p", ""))
    first.close()
    path = folder / "answers" / "ann.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + torn)
    second = begun(folder)
    assert second.answered == 1
    assert path.read_bytes() == whole + torn
    with pytest.warns(InputWarning, match="was cut off"):
        second.press(Press("f", ""))
    assert [one["satisfied"] for one in lines(folder)] == [True, False]
    assert path.with_suffix(".torn").read_bytes() == torn + b"\n"


def test_a_whole_line_without_its_end_counts(tmp_path: Path) -> None:
    first = begun(tmp_path)
    first.press(Press("p", ""))
    first.close()
    path = tmp_path / "answers" / "ann.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    second = begun(tmp_path)
    assert second.answered == 1
    second.press(Press("p", ""))
    assert len(lines(tmp_path)) == 2


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"satisfied": true', '"satisfied": "Psas"', "field 'satisfied': \"Psas\" is no verdict; write true"),
        ('"satisfied": true', '"satisfeid": true', "field 'satisfeid': is no known field; did you mean 'satisfied'?"),
        ('"satisfied": true', '"satisfied": yes', "is no JSON at character"),
        ('"annotator": "ann"', '"annotator": "bo"', "field 'annotator': 'bo' is another name than the file's"),
        ('"rubric_id": ', '"rubric_id": "", "x": ', "field 'rubric_id'"),
    ],
)
def test_a_typo_is_told_with_its_place_and_remedy_and_nothing_is_lost(
    tmp_path: Path, right: str, wrong: str, said: str
) -> None:
    first = begun(tmp_path)
    for _ in range(3):
        first.press(Press("p", ""))
    first.close()
    path = tmp_path / "answers" / "ann.jsonl"
    content = path.read_text(encoding="utf-8").split("\n")
    content[1] = content[1].replace(right, wrong)
    path.write_text("\n".join(content), encoding="utf-8")
    edited = path.read_bytes()
    with pytest.raises(InputError) as caught:
        begun(tmp_path)
    assert said in str(caught.value)
    assert f"{path}:2: " in str(caught.value)
    assert path.read_bytes() == edited
    # Put right, it goes on; the fault has left no lock behind.
    path.write_text("\n".join([content[0], content[1].replace(wrong, right), *content[2:]]), encoding="utf-8")
    assert begun(tmp_path).answered == 3


def test_verdicts_may_be_written_as_words(tmp_path: Path) -> None:
    first = begun(tmp_path)
    first.press(Press("p", ""))
    first.close()
    path = tmp_path / "answers" / "ann.jsonl"
    path.write_text(path.read_text(encoding="utf-8").replace("true", '" ＦＡＩＬ"'), encoding="utf-8")
    assert [one.satisfied for one in read_answers(tmp_path)["ann"]] == [False]


def test_a_full_disk_is_told_and_the_item_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    session = begun(tmp_path)
    session.press(Press("p", ""))
    before = (tmp_path / "answers" / "ann.jsonl").read_bytes()
    desk = show(session)
    assert isinstance(desk, Desk)
    write = os.write

    def full(descriptor: int, content: bytes) -> int:
        write(descriptor, content[:20])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(durable_lines.os, "write", full)
    desk._receive(None, {"key": "f", "text": "n", "turn": desk.turn, "number": 7}, None)
    monkeypatch.undo()
    assert "Not stored" in desk.alarm
    assert "No space left" in desk.alarm
    assert (desk.done, session.position) == (7, 1)
    assert (tmp_path / "answers" / "ann.jsonl").read_bytes() == before
    desk._receive(None, {"key": "f", "text": "n", "turn": desk.turn, "number": 8}, None)
    assert (desk.alarm, session.answered) == ("", 2)


def test_a_key_of_an_earlier_page_answers_nothing(tmp_path: Path) -> None:
    session = begun(tmp_path)
    desk = show(session)
    assert isinstance(desk, Desk)
    for number in (1, 2):
        desk._receive(None, {"key": "p", "text": "", "turn": 0, "number": number}, None)
    assert (session.answered, desk.done) == (1, 2)


def test_nobody_named_writes_nothing(tmp_path: Path) -> None:
    session = begun(tmp_path, annotator="")
    for key in ("p", "f", "ArrowRight", "Enter"):
        session.press(Press(key, "text"))
    assert session.position == 0
    assert not list(tmp_path.iterdir())
    still = show(session)
    assert not isinstance(still, Desk)
    assert "Nobody is named" in still.data
    assert "<script" not in still.data


def test_a_cell_that_is_run_again_takes_over(tmp_path: Path) -> None:
    first = begun(tmp_path)
    first.press(Press("p", ""))
    second = begun(tmp_path)
    assert second.answered == 1
    with pytest.raises(InputError, match="replaced by a newer one"):
        first.press(Press("p", ""))
    second.press(Press("p", ""))
    assert len(lines(tmp_path)) == 2


PROGRAM = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from made_studies import made_items, made_reports, made_tasks
from lifesearch_kit.labeling.labels import LabelSession
from lifesearch_kit.labeling.pages import Press
tasks = made_tasks(2, rubrics=400)
session = LabelSession(made_items(tasks, made_reports(tasks)), "ann", Path({folder!r}), seed=1)
print("ready", flush=True)
while True:
    session.press(Press("p", "a note " * 30))
    print(session.answered, flush=True)
"""


def started(folder: Path) -> subprocess.Popen[str]:
    program = PROGRAM.format(tests=str(ROOT / "tests"), folder=str(folder))
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_second_person_of_the_same_name_is_refused_while_the_first_works(tmp_path: Path) -> None:
    process = started(tmp_path)
    try:
        with pytest.raises(InputError, match=r"annotator 'ann' is at work in another notebook.*choose another name"):
            begun(tmp_path)
        begun(tmp_path, "bo").press(Press("p", ""))
    finally:
        process.kill()
        process.wait()
    assert begun(tmp_path).begun


def test_every_answer_told_as_stored_survives_a_kill(tmp_path: Path) -> None:
    told = 0
    for _ in range(3):
        process = started(tmp_path)
        time.sleep(0.3)
        os.kill(process.pid, signal.SIGKILL)
        assert process.stdout is not None
        said = [line for line in process.stdout.read().splitlines() if line]
        process.wait()
        told = max(told, int(said[-1]) if said else told)
        answers = read_answers(tmp_path)["ann"]
        assert told <= len(answers) <= told + 1
    assert told > 3


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("reference", "settled labels have this name"),
        ("Reference", "settled labels have this name"),
        ("a/b", "becomes a file's name"),
        ("../ann", "becomes a file's name"),
        ("Li Wei", "becomes a file's name"),
        ("ANN", "'ann' has begun already, and both read as one name"),
        ("ａｎｎ", "'ann' has begun already, and both read as one name"),
    ],
)
def test_names_that_cannot_be_a_persons_own(tmp_path: Path, name: str, said: str) -> None:
    begun(tmp_path).press(Press("p", ""))
    with pytest.raises(InputError, match=said):
        begun(tmp_path, name)
    assert people(tmp_path / "answers") == ["ann"]


def test_chinese_names_are_names(tmp_path: Path) -> None:
    begun(tmp_path, "王芳").press(Press("p", ""))
    assert list(read_answers(tmp_path)) == ["王芳"]


def test_one_file_each_and_nobody_reads_anothers(tmp_path: Path) -> None:
    label_all(ITEMS, "ann", tmp_path)
    session = begun(tmp_path, "bo")
    assert session.answered == 0
    assert answer_file(tmp_path, "bo").read() == []
