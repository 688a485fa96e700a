"""Reading records: every fault of a file is told, with place, value and remedy; nothing is changed in silence."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_labels, read_records, read_reports, read_tasks, write_jsonl
from lifesearch_kit.records import Judgment, Report, Task


def rubric(**changes):
    fields = {"criterion": "The response should name the port.", "type": "Objective", "necessity": "Explicit"}
    return {**fields, "priority": "Must Have", "weight": 0.5, **changes}


def task(**changes):
    fields = {"task_id": "t1", "language": "en", "domain": "Everyday facts", "query": "Which port?"}
    return {**fields, "rubrics": [rubric()], **changes}


@pytest.fixture
def write(tmp_path):
    def write_lines(*rows, name="tasks.jsonl"):
        path = tmp_path / name
        path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), "utf-8")
        return path

    return write_lines


def faults_of(read, *arguments):
    with pytest.raises(InputError) as caught:
        read(*arguments)
    return caught.value.faults


def test_lines_end_at_line_feeds_only(tmp_path):
    queries = ["a\u2028b", "c\u2029d", "e\u0085f", "last, without a line end"]
    lines = [json.dumps(task(task_id=n, query=query), ensure_ascii=False) for n, query in enumerate(queries)]
    path = tmp_path / "tasks.jsonl"
    path.write_bytes(("\ufeff" + lines[0] + "\r\n\n \t\n" + "\n".join(lines[1:])).encode())
    tasks = read_tasks(path)
    assert [one.query for one in tasks] == queries
    assert [one.task_id for one in tasks] == ["0", "1", "2", "3"], "ids are text, whatever the file has"


def test_a_torn_line_is_named_and_the_rest_is_checked_too(write):
    path = write(task(), "", '{"task_id": "t2", "language": "en', task(task_id="t3", language="fr"))
    torn, french = faults_of(read_tasks, path)
    assert torn.startswith(f"{path}:3: is no JSON")
    assert french == f"{path}:4: task 't3', field 'language': \"fr\" is not allowed; choose 'zh' or 'en'"


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ("0.25", "0.25 is no multiple of 0.1"),
        ("NaN", "NaN is no finite number"),
        ("-Infinity", "-Infinity is no finite number"),
        ("-0.2", "-0.2 lies outside"),
        ("1.1", "1.1 lies outside"),
        ('"0.5"', '"0.5" is no number'),
        ("false", "false is no number"),
        ("null", "null is no number"),
        ("[0.5]", "is no number"),
    ],
)
def test_a_bad_weight_is_shown_as_written(write, written, complaint):
    row = json.dumps(task(rubrics=[rubric(), rubric(weight="HERE")])).replace('"HERE"', written)
    (fault,) = faults_of(read_tasks, write(row))
    assert f":1: task 't1', rubric 2, field 'weight': {complaint}" in fault


def test_all_bad_weights_are_listed_at_once(write):
    rubrics = [rubric(weight=weight) for weight in (0.4, 0.05, 7, -1)]
    assert len(faults_of(read_tasks, write(task(rubrics=rubrics)))) == 3


@given(tenths=st.integers(1, 10), noise=st.floats(-1e-12, 1e-12))
def test_weights_are_read_as_the_tenths_they_mean(tenths, noise):
    weight = min(1.0, tenths / 10 + noise)
    read = Task.model_validate(task(rubrics=[rubric(weight=weight)]), context={"weight_step": 0.1})
    assert read.rubrics[0].weight == tenths / 10


def test_any_weight_is_admitted_on_request(write):
    path = write(task(rubrics=[rubric(weight=0.045)]))
    assert read_tasks(path, weight_step=None)[0].rubrics[0].weight == 0.045


def test_a_task_without_weight_is_refused(write):
    path = write(task(rubrics=[rubric(weight=0), rubric(weight=0.0)]), task(task_id="t2", rubrics=[]))
    nothing, empty = faults_of(read_tasks, path)
    assert "task 't1'" in nothing
    assert "add up to 0" in nothing
    assert "task 't2': there are no rubrics" in empty


def test_odd_spellings_of_fixed_words_are_mapped_and_said(write):
    path = write(
        task(rubrics=[rubric(type="ＯＢＪＥＣＴＩＶＥ", necessity="implicit ", priority="nice\u200b to  have")])
    )
    with pytest.warns(InputWarning) as warned:
        read = read_tasks(path)[0].rubrics[0]
    assert (read.type, read.necessity, read.priority) == ("Objective", "Implicit", "Nice to Have")
    assert len(warned) == 3
    assert all(str(one.message).startswith(f"{path}:1: field ") for one in warned)


def test_unknown_words_are_refused_by_rubric_and_field(write):
    path = write(
        task(rubrics=[rubric(type="Opinion"), rubric(necessity="", priority="Should Have"), rubric(criterion=" ")])
    )
    faults = faults_of(read_tasks, path)
    assert [fault.split(": ")[1] for fault in faults] == [
        "task 't1', rubric 1, field 'type'",
        "task 't1', rubric 2, field 'necessity'",
        "task 't1', rubric 2, field 'priority'",
        "task 't1', rubric 3, field 'criterion'",
    ]


def test_criteria_are_kept_to_the_letter(write):
    text = "回复应写出「１２％」  及 𠮷\u3000"
    assert read_tasks(write(task(rubrics=[rubric(criterion=text)])))[0].rubrics[0].criterion == text


def test_a_misspelt_field_gets_the_nearest_name(write):
    faults = faults_of(read_tasks, write(task(rubrics=[{**rubric(), "wieght": 0.5}])))
    assert len(faults) == 1
    assert "task 't1', rubric 1, field 'wieght': is no known field; did you mean 'weight'?" in faults[0]


def test_repeated_names_ids_and_keys_are_faults(write):
    twice_named = '{"task_id": "t9", "task_id": "t8"}'
    path = write(
        task(), task(), twice_named, task(task_id="t3", rubrics=[rubric(rubric_id="a"), rubric(rubric_id="a")])
    )
    named, rubric_ids, ids = faults_of(read_tasks, path)
    assert "field 'task_id' stands twice" in named
    assert "rubric_id a occurs more than once" in rubric_ids
    assert ids == f"{path}:2: task_id 't1' stands already at {path}:1; keep one"


def test_rubrics_may_stand_in_a_csv(write):
    tasks = write({**task(), "rubrics": None} | {}, name="tasks.jsonl")
    tasks.write_text(json.dumps({name: value for name, value in task().items() if name != "rubrics"}), "utf-8")
    header = "task_id,rubric_id,criterion,type,necessity,priority,weight"
    rubrics = write(header, 't1,a,"Names the port, and its year.",Objective,Explicit,Must Have,0.7', name="r.csv")
    (read,) = read_tasks(tasks, rubrics)
    assert (read.rubrics[0].criterion, read.rubrics[0].weight) == ("Names the port, and its year.", 0.7)
    bad = write(
        header,
        "t1,a,Port.,Objective,Explicit,Must Have,0.75",
        "t7,b,Port.,Objective,Explicit,Must Have,heavy",
        name="b.csv",
    )
    faults = faults_of(read_tasks, tasks, bad)
    assert sorted(fault.split(": ")[0] for fault in faults) == [f"{bad}:2", f"{bad}:3", f"{bad}:3"]
    assert "no task of" in faults[0]
    both = write(task(), name="both.jsonl")
    assert "field 'rubrics': they are in" in faults_of(read_tasks, both, rubrics)[0]
    unnumbered = write("task_id,criterion,weight", "t1,First.,0.1", "t1,Second.,0.2", name="u.csv")
    assert [one.rubric_id for one in read_tasks(tasks, unnumbered)[0].rubrics] == ["R1", "R2"]
    twice = write("task_id,weight,weight", "t1,0.1,0.2", name="w.csv")
    assert "column weight stands twice" in faults_of(read_tasks, tasks, twice)[0]
    underscored = write(header, "t1,a,Port.,Objective,Explicit,Must Have,0_1", name="n.csv")
    assert '"0_1" is no number' in faults_of(read_tasks, tasks, underscored)[0]


def test_a_name_is_read_without_what_cannot_be_seen(write):
    path = write(task(task_id=" t1", domain="Everyday\u200b  facts"))
    with pytest.warns(InputWarning, match="was read as 'Everyday facts'"):
        assert (read_tasks(path)[0].task_id, read_tasks(path)[0].domain) == ("t1", "Everyday facts")


def test_half_a_character_is_replaced_and_said(write):
    path = write(task(query="Half \ud83d and whole 😀?"))
    with pytest.warns(InputWarning, match=f"{path}:1: 1 half characters were replaced"):
        assert read_tasks(path)[0].query == "Half \ufffd and whole 😀?"


def test_costs_and_times_are_finite(write):
    path = write('{"system": "s", "task_id": "t", "text": "x", "cost": NaN}', name="reports.jsonl")
    assert "field 'cost'" in faults_of(read_reports, path)[0]


def test_json_lists_are_read_by_item(write):
    path = write(json.dumps([task(), task(task_id="t2", query=" ")]), name="tasks.json")
    assert faults_of(read_tasks, path) == (f"{path}: item 2: task 't2', field 'query': \" \" is blank; write the text",)


def test_labels_say_pass_or_fail(write):
    header = "system,task_id,run,rubric_id,annotator,satisfied"
    path = write(header, "s,t1,1,R1,a,Pass", "s,t1,1,R2,a,ＦＡＩＬ", "s,t1,1,R3,a,perhaps", name="labels.csv")
    assert "field 'satisfied': \"perhaps\" is neither true nor false" in faults_of(read_labels, path)[0]
    path.write_text(path.read_text("utf-8").replace("perhaps", "true"), "utf-8")
    assert [label.satisfied for label in read_labels(path)] == [True, False, True]


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("absent.jsonl", None, "there is no such file"),
        ("tasks.txt", b"", "use .jsonl, .json or .csv"),
        ("tasks.jsonl", b'{"task_id":\n"\xff"}', ":2: byte 0xff is no UTF-8"),
        ("tasks.jsonl", b"[" * 100_000, "nested too deeply"),
    ],
)
def test_unreadable_files(tmp_path, name, content, complaint):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert complaint in faults_of(read_tasks, path)[0]


@given(text=st.text(st.characters(codec=None), max_size=40))
def test_what_is_written_reads_back_as_valid_text(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("reports") / "reports.jsonl"
    write_jsonl(path, [Report(system="s", task_id="t", text=text)])
    path.read_bytes().decode("utf-8")
    (read,) = read_reports(path)
    assert len(read.text) <= len(text)
    if not any("\ud800" <= character <= "\udfff" for character in text):
        assert read.text == text


def test_an_unjudged_judgment_cannot_hold_a_verdict(write):
    key = {"system": "s", "task_id": "t", "rubric_id": "R1", "judge": "j"}
    path = write({**key, "satisfied": False, "status": "truncated"}, {**key, "satisfied": None}, name="judgments.jsonl")
    assert len(faults_of(read_records, path, Judgment)) == 2


def test_a_place_without_a_file_is_told_before_its_ending(tmp_path):
    with pytest.raises(InputError, match="no: there is no such file"):
        read_reports(tmp_path / "no")
    with pytest.raises(InputError, match="is a folder; name a file"):
        read_reports(tmp_path)
