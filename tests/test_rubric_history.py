"""A rubric's history: who may do what after whom, what stands now, and which judgments an edit makes stale."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import warnings
from collections import Counter
from datetime import UTC, datetime, timedelta

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import write_jsonl
from lifesearch_kit.judge.checks import check_of
from lifesearch_kit.records import JUDGMENT_KEY, Judgment, Report, Rubric, Task
from lifesearch_kit.rubric_history import (
    STATES,
    changes_table,
    current_tasks,
    read_history,
    record_change,
    record_edits,
    rubric_states,
    stale_judgments,
    work_list,
)
from lifesearch_kit.settings import JudgeSettings

DAY = datetime(2026, 3, 31, 14, 5, tzinfo=UTC)
RUBRICS = tuple(
    Rubric(rubric_id=name, criterion=f"The response should name {name}.", weight=0.5) for name in ("R1", "R2", "R3")
)
TASKS = [Task(task_id=name, language="en", domain="d", query="q", rubrics=RUBRICS) for name in ("t1", "t2")]


def edited(rubric_id, **fields):
    """The tasks with one rubric of t1 changed; without fields it is gone."""
    rubrics = [
        one.model_copy(update=fields) if one.rubric_id == rubric_id else one
        for one in RUBRICS
        if fields or one.rubric_id != rubric_id
    ]
    return [TASKS[0].model_copy(update={"rubrics": tuple(rubrics)}), TASKS[1]]


@pytest.fixture
def path(tmp_path):
    place = tmp_path / "rubric_history.jsonl"
    record_edits(place, TASKS, author="Ann", reason="first version", time=DAY)
    return place


def add(path, state, author="Ben", rubric="R1", reason="because", **after):
    return record_change(path, "t1", rubric, state, author=author, reason=reason, after=after, time=DAY)


def fault(path, *arguments, **after):
    before = path.read_bytes()
    with pytest.raises(InputError) as caught:
        add(path, *arguments, **after)
    assert path.read_bytes() == before, "a change that cannot be is not written"
    (told,) = caught.value.faults
    return told


# The cycle


def test_a_rubric_goes_from_hand_to_hand_until_it_is_accepted(path):
    add(path, "inspected", reason="names two ports")
    change = add(path, "revised", "Ann", criterion="The response should name Vessel Bay.")
    assert (change.version, change.before) == (2, {"criterion": "The response should name R1."})
    add(path, "inspected")
    add(path, "accepted")
    history = read_history(path)
    assert [(one.state, one.version, one.author) for one in history[6:]] == [
        ("inspected", 1, "Ben"),
        ("revised", 2, "Ann"),
        ("inspected", 2, "Ben"),
        ("accepted", 2, "Ben"),
    ]
    first = rubric_states(history).iloc[0].to_dict()
    assert first | {"last_time": DAY} == first
    assert {name: first[name] for name in ("version", "state", "writers", "changes", "last_author", "next_step")} == {
        "version": 2, "state": "accepted", "writers": "Ann", "changes": 5, "last_author": "Ben", "next_step": "",
    }  # fmt: skip
    assert rubric_states(history)["next_step"].tolist()[1:] == ["inspect"] * 5
    now = current_tasks(TASKS, history)
    assert now[0].rubrics[0].criterion == "The response should name Vessel Bay."
    assert (now[0].rubrics[1:], now[1]) == (RUBRICS[1:], TASKS[1])


def test_nobody_inspects_or_accepts_what_they_wrote(path):
    told = fault(path, "inspected", "Ann")
    assert told == (
        f"{path}: task 't1', rubric 'R1': field 'author': 'Ann' wrote what stands in criterion, type, necessity, "
        "priority, weight, dimension and cannot have it 'inspected'; let another person read it"
    )
    assert "'ＡＮＮ' wrote what stands" in fault(path, "inspected", "ＡＮＮ "), "another spelling is no other person"
    add(path, "inspected")
    assert "cannot have it 'accepted'" in fault(path, "accepted", "Ann")


def test_whoever_wrote_a_part_of_what_stands_does_not_pass_it(path):
    add(path, "revised", "Ben", weight=0.4)
    assert "'Ben' wrote what stands in weight and" in fault(path, "inspected", "Ben")
    assert "'Ann' wrote what stands in criterion, type" in fault(path, "inspected", "Ann"), (
        "the criterion is hers still"
    )
    add(path, "inspected", "Cem")
    assert "'Ann' wrote" in fault(path, "accepted", "Ann")
    add(path, "accepted", "Cem")
    assert rubric_states(read_history(path))["writers"].tolist()[:2] == ["Ann, Ben", "Ann"]


def test_whose_every_value_was_replaced_is_no_writer_any_more(path):
    others = {"type": "Subjective", "necessity": "Implicit", "priority": "Nice to Have", "dimension": "insight"}
    add(path, "revised", "Ben", criterion="The response should name a port.", weight=0.4, **others)
    add(path, "inspected", "Ann")
    # Her words come back by another hand: they are hers, and his too.
    add(path, "revised", "Cem", criterion="The response should name R1.")
    for author in ("Ann", "Cem"):
        assert f"'{author}' wrote what stands in criterion and" in fault(path, "inspected", author)


@pytest.mark.filterwarnings("error")
def test_blanks_around_names_do_not_count(path):
    change = record_change(path, "t1 ", " R1", "inspected", author="Ben ", reason="reads well", time=DAY)
    assert (change.task_id, change.rubric_id, change.author) == ("t1", "R1", "Ben")
    edits = record_edits(path, edited("R2", weight=0.3), author="Ben\u200b ", reason="less", time=DAY)
    assert [one.author for one in edits] == ["Ben"]
    assert "field 'author': \"\" is blank" in fault(path, "inspected", " ")


@pytest.mark.parametrize(
    ("state", "after", "told"),
    [
        ("accepted", {}, "field 'state': 'accepted' cannot follow 'annotated'; choose inspected, revised, rejected"),
        ("annotated", {}, "field 'state': 'annotated' cannot follow 'annotated'"),
        ("acepted", {}, "field 'state': \"acepted\" is not allowed; choose 'annotated', 'inspected', 'revised'"),
        ("revised", {}, "field 'after': changes nothing"),
        ("revised", {"weight": 0.5}, "field 'after': changes nothing"),
        ("revised", {"weigth": 0.4}, "field 'after.weigth': is no field of a rubric; did you mean 'weight'?"),
        ("revised", {"weight": 4}, "field 'after.weight': 4 lies outside 0.0 to 1.0"),
        ("revised", {"priority": "Must"}, "field 'after.priority': \"Must\" is not allowed; choose 'Must Have' or"),
        ("inspected", {"weight": 0.4}, "field 'after': 'inspected' changes nothing; record 'revised'"),
    ],
)
def test_a_change_that_cannot_be_is_told_with_its_field(path, state, after, told):
    assert told in fault(path, state, **after)


def test_an_unknown_rubric_gets_the_nearest_name(path):
    assert "rubric 'R11': field 'rubric_id': 'R11' has no history; did you mean t1/R1?" in fault(
        path, "inspected", "Ben", "R11"
    )


def test_a_rubric_can_be_annotated_alone(path):
    add(path, "annotated", "Ben", "R4", criterion="The response should name R4.", weight=0.2)
    assert current_tasks(TASKS, read_history(path))[0].rubrics[-1].weight == 0.2
    assert "field 'after.weight': is missing" in fault(path, "annotated", "Ben", "R5", criterion="Names R5.")
    now = current_tasks(TASKS, read_history(path))
    assert record_edits(path, now, author="Ben", reason="nothing") == [], "defaults are no edits"


# The file


def test_a_file_that_is_not_there_is_an_empty_history(tmp_path):
    assert read_history(tmp_path / "rubric_history.jsonl") == []
    assert changes_table([]).empty
    assert rubric_states([]).empty


def test_lines_are_only_added(path):
    before = path.read_bytes()
    add(path, "inspected")
    assert path.read_bytes().startswith(before)
    assert path.read_bytes().count(b"\n") == 7


def test_a_last_line_without_its_end_is_ended_first(path):
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    add(path, "inspected")
    assert len(read_history(path)) == 7


def test_a_torn_last_line_is_told_and_set_aside_and_nothing_before_it_is_lost(path):
    whole = path.read_bytes()
    add(path, "revised", weight=0.4)
    line = path.read_bytes()[len(whole) :]
    for cut in range(1, len(line) - 1):  # behind inner braces too
        path.write_bytes(whole + line[:cut])
        with pytest.warns(InputWarning, match="the last line is not whole, so it is left out"):
            assert len(read_history(path)) == 6
    with pytest.warns(InputWarning, match="the last line was cut off"):
        add(path, "inspected")
    assert path.with_suffix(".torn").read_bytes() == line[:cut] + b"\n"
    assert path.read_bytes().startswith(whole)
    assert [one.state for one in read_history(path)[6:]] == ["inspected"]


PROGRAM = """
import sys
from lifesearch_kit.rubric_history import record_change
path, author, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
for number in range(count):
    record_change(path, "t1", "R1", "revised", author=author, reason=f"{author} {number}",
                  after={"criterion": f"The response should name {author} {number}. " + "x" * 5000})
    print(number, flush=True)
"""


def recording(path, author, count):
    command = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(path), author, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


def test_processes_that_add_at_once_wait_for_each_other(path):
    started = [recording(path, author, 12) for author in ("Ben", "Cem", "Dan")]
    assert [one.wait(timeout=120) for one in started] == [0, 0, 0]
    history = read_history(path)
    # 6 rubrics, then 12 changes of each of three people, in a row of versions of one rubric.
    assert [one.version for one in history[6:]] == list(range(2, 38))
    assert Counter(one.author for one in history[6:]) == {"Ben": 12, "Cem": 12, "Dan": 12}


def test_what_a_killed_process_had_recorded_is_there_and_others_go_on(path):
    for author in ("Ben", "Cem", "Dan"):
        before = len(read_history(path))
        process, other = recording(path, author, 10_000), recording(path, "Eve", 5)
        told = [process.stdout.readline() for _ in range(4)]
        process.send_signal(signal.SIGKILL)
        told += process.communicate(timeout=60)[0].splitlines()
        assert other.wait(timeout=120) == 0, "the lock ends with the process that held it"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            since = Counter(one.author for one in read_history(path)[before:])
        assert since["Eve"] == 5
        # The last one may have been on disk before it was told.
        assert since[author] in (len(told), len(told) + 1)


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('"state": "inspected"', '"state": "inspectd"', ":7: task 't1', field 'state': \"inspectd\" is not allowed"),
        ('"author": "Ben"', '"author": "ann"', ":7: task 't1', rubric 'R1': field 'author': 'ann' wrote what stands"),
        ('"author": "Ben"', '"autor": "Ben"', "field 'autor': is no known field; did you mean 'author'?"),
        ('"reason": "because"', '"reason": ""', ":7: task 't1', field 'reason': \"\" is blank"),
        ('"rubric_id": "R1", "version": 1, "state": "i', '"rubric_id": "R9", "version": 1, "state": "i', "no history"),
        ('1, "state": "inspected"', '2, "state": "inspected"', ":7: task 't1', rubric 'R1': field 'version': 2 is not"),
        ("14:05:00Z", "noon", "field 'time': \"2026-03-31Tnoon\" is no time; write it as 2026-03-31T14:05:00+00:00"),
        ('"before": {"weight": 0.5}', '"before": {"weight": 0.7}', "field 'before.weight': 0.7 is not what stood"),
    ],
)  # fmt: skip
def test_a_typo_in_a_file_edited_by_hand_is_told_with_its_line(path, old, new, told):
    add(path, "inspected")
    add(path, "revised", weight=0.4)
    *lines, seventh, eighth = path.read_text("utf-8").splitlines()
    assert old in seventh or old in eighth
    text = "\n".join([*lines, seventh.replace(old, new), eighth if old in seventh else eighth.replace(old, new)])
    path.write_text(text + "\n", "utf-8")
    with pytest.raises(InputError) as caught:
        read_history(path)
    assert told in str(caught.value)


def test_a_history_of_an_unknown_task_is_told(path):
    with pytest.raises(InputError, match="history of task 't2', rubric 'R1': there is no such task"):
        current_tasks(TASKS[:1], read_history(path))


# Edits of the tasks


def test_edits_are_found_and_recorded_once(path):
    tasks = edited("R2", weight=0.3, criterion="The response should name Cape Nolan.")
    (change,) = record_edits(path, tasks, author="Ben", reason="clearer", time=DAY + timedelta(hours=1))
    assert (change.state, change.version, change.before) == (
        "revised", 2, {"criterion": "The response should name R2.", "weight": 0.5},
    )  # fmt: skip
    assert record_edits(path, tasks, author="Ben", reason="again") == []
    table = changes_table(read_history(path)).tail(2)
    assert list(table[["field", "before", "after"]].itertuples(index=False, name=None)) == [
        ("criterion", "The response should name R2.", "The response should name Cape Nolan."),
        ("weight", 0.5, 0.3),
    ]


def test_a_rubric_that_is_gone_is_rejected_and_can_come_back(path):
    (gone,) = record_edits(path, edited("R3"), author="Ben", reason="asks for R2 again")
    assert (gone.state, gone.version) == ("rejected", 1)
    assert [one.rubric_id for one in current_tasks(TASKS, read_history(path))[0].rubrics] == ["R1", "R2"]
    (back,) = record_edits(path, TASKS, author="Ann", reason="it does not")
    assert (back.state, back.version, back.after) == ("revised", 2, {})
    assert current_tasks(TASKS, read_history(path)) == TASKS


def test_what_stands_in_the_history_alone_is_not_undone_by_tasks_that_do_not_have_it(path):
    add(path, "revised", "Ben", weight=0.3, reason="weighs less")
    add(path, "annotated", "Ben", "R4", criterion="The response should name R4.", weight=0.2)
    add(path, "rejected", "Ben", "R3", reason="asks for R2 again")
    before = path.read_bytes()
    behind = edited("R2", weight=0.9)  # an edit of R2, while R1, R3 and R4 are as they were
    with pytest.raises(InputError) as caught:
        record_edits(path, behind, author="Ann", reason="R2 weighs more")
    assert path.read_bytes() == before
    first, second, third = caught.value.faults
    assert first == (
        f"{path}: task 't1', rubric 'R1', field 'weight': the history has 0.3 (version 2, Ben: weighs less), the tasks "
        "still 0.5; write the history's into the tasks (`current_tasks` does), or go back by `record_change`"
    )
    assert "rubric 'R3': the history rejects it (version 1, Ben: asks for R2 again), the tasks still have it" in second
    assert "rubric 'R4': the history has it (version 1, Ben: because), the tasks do not" in third
    now = current_tasks(TASKS, read_history(path))
    rubrics = [one.model_copy(update={"weight": 0.9}) if one.rubric_id == "R2" else one for one in now[0].rubrics]
    now[0] = now[0].model_copy(update={"rubrics": tuple(rubrics)})
    (change,) = record_edits(path, now, author="Ann", reason="R2 weighs more")
    assert (change.rubric_id, change.before, change.after) == ("R2", {"weight": 0.5}, {"weight": 0.9})


def test_an_edit_of_the_tasks_may_go_back_and_may_go_on_from_the_history(path):
    record_edits(path, edited("R1", weight=0.3), author="Ben", reason="less")
    (back,) = record_edits(path, TASKS, author="Ann", reason="no, as before")
    assert (back.version, back.after) == (3, {"weight": 0.5}), "the tasks had both values, so this is an edit"
    add(path, "revised", "Ben", weight=0.2)
    (on,) = record_edits(path, edited("R1", weight=0.1), author="Ann", reason="still less")
    assert (on.before, on.after) == ({"weight": 0.2}, {"weight": 0.1}), "neither's earlier value"
    add(path, "revised", "Ben", weight=0.5)
    assert record_edits(path, TASKS, author="Ann", reason="none") == []


steps = st.lists(
    st.tuples(st.sampled_from(STATES), st.sampled_from(["Ann", "Ben", "Cem"]), st.sampled_from([0.1, 0.2, 0.3])),
    max_size=12,
)


@given(steps)
def test_whatever_is_recorded_can_be_read_and_nothing_is_lost(tmp_path_factory, steps):
    place = tmp_path_factory.mktemp("history") / "rubric_history.jsonl"
    record_edits(place, TASKS[:1], author="Ann", reason="first")
    weight, made = 0.5, 3
    for state, author, new in steps:
        try:
            add(place, state, author, **({"weight": new} if state == "revised" else {}))
        except InputError:
            continue
        made += 1
        weight = new if state == "revised" else weight
    history = read_history(place)
    assert len(history) == made
    versions = [one.version for one in history if one.rubric_id == "R1"]
    assert versions == sorted(versions)
    first = rubric_states(history).iloc[0]
    assert first["version"] == 1 + sum(one.state == "revised" for one in history)
    if first["state"] != "rejected":
        assert current_tasks(TASKS[:1], history)[0].rubrics[0].weight == weight


# Stale judgments


JUDGE = JudgeSettings(name="strict", model="m", base_url="https://judge.example/v1")
REPORTS = [
    Report(system=name, task_id=task.task_id, text=f"{name} on {task.task_id}") for name in "ab" for task in TASKS
]


@pytest.fixture
def results(tmp_path):
    by_id = {task.task_id: task for task in TASKS}
    verdicts = [
        Judgment(
            system=report.system, task_id=report.task_id, rubric_id=rubric.rubric_id, judge="strict", satisfied=True,
            fingerprint=check_of(by_id[report.task_id], report, rubric, JUDGE).fingerprint,
        )
        for report in REPORTS
        for rubric in RUBRICS
    ]  # fmt: skip
    for name, records in (("tasks", TASKS), ("reports", REPORTS), ("judges", [JUDGE]), ("judgments", verdicts)):
        write_jsonl(tmp_path / f"{name}.jsonl", records)
    return tmp_path


def effects(results, tasks):
    table = stale_judgments(results, tasks)
    assert list(table.columns) == [*JUDGMENT_KEY, "effect", "why"]
    assert len(table) == 12  # 2 systems, 2 tasks, 3 rubrics
    changed = table[table["effect"] != "kept"]
    assert set(changed["task_id"]) <= {"t1"}
    return [tuple(row) for row in changed[["system", "rubric_id", "effect", "why"]].to_numpy()]


def test_without_an_edit_every_judgment_is_kept(results):
    assert effects(results, TASKS) == []


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"criterion": "The response should name Cape Nolan."}, "criterion"),
        ({"priority": "Nice to Have", "type": "Subjective"}, "type, priority"),
    ],
)
def test_what_a_judge_sees_makes_that_rubrics_judgments_stale(results, fields, why):
    assert effects(results, edited("R2", **fields)) == [
        ("a", "R2", "judged again", why),
        ("b", "R2", "judged again", why),
    ]


def test_a_weight_makes_no_judgment_stale_and_0_leaves_it_unused(results):
    assert effects(results, edited("R2", weight=0.1)) == []
    unused = "no longer used"
    assert effects(results, edited("R2", weight=0.0)) == [
        ("a", "R2", unused, "its weight is 0"),
        ("b", "R2", unused, "its weight is 0"),
    ]
    assert {row[2:] for row in effects(results, edited("R2"))} == {(unused, "the rubric is removed")}


def test_a_question_makes_all_judgments_of_its_task_stale(results):
    rows = effects(results, [TASKS[0].model_copy(update={"query": "another"}), TASKS[1]])
    assert len(rows) == 6
    assert {row[2:] for row in rows} == {("judged again", "question")}


def test_a_judge_or_report_that_is_not_there_is_told(results):
    write_jsonl(results / "reports.jsonl", REPORTS[1:])
    with pytest.raises(InputError, match="system 'a', task 't1', run 1: there is no such report in reports"):
        stale_judgments(results, TASKS)
    (results / "judges.jsonl").unlink()
    with pytest.raises(InputError, match="judges"):
        stale_judgments(results, TASKS)


# What to inspect next


def test_results_and_wording_make_the_list_most_signs_first(path):
    screening = pd.DataFrame(
        {"task_id": ["t1", "t2"], "finding": ["suspiciously hard", "too easy"], "reasons": ["Best 20%.", "Worst 95%."]}
    )
    columns = ["task_id", "rubric_id", "reports", "discrimination", "unstable", "never_passed", "always_passed"]
    items = pd.DataFrame(
        [
            ("t1", "R1", 4, -0.3, 1, False, False),  # two signs, and one of its wording
            ("t1", "R2", 4, None, 0, True, False),  # never passed in a hard task
            ("t1", "R3", 4, 0.4, 0, False, True),  # always passed, but the task is hard: no sign
            ("t2", "R1", 4, None, 0, False, True),  # always passed in an easy task
            ("t2", "R2", 4, None, 0, True, False),  # never passed, but the task is easy: no sign
            ("t2", "R3", 0, None, 0, False, False),  # never judged
        ],
        columns=columns,
    )
    findings = pd.DataFrame(
        {"task_id": ["t1", None], "rubric_id": ["R1", None], "check": ["vague_wording", "attribute_shares"],
         "message": ["'good' has no measure", "all are Must Have"]}
    )  # fmt: skip
    add(path, "inspected")
    listed = work_list(screening, items, findings, rubric_states(read_history(path)))
    assert list(listed[["task_id", "rubric_id", "signs", "sources", "state"]].itertuples(index=False, name=None)) == [
        ("t1", "R1", 3, "rubric, wording", "inspected"),
        ("t1", "", 1, "task", ""),
        ("t2", "", 1, "task", ""),
        ("t1", "R2", 1, "rubric", "annotated"),
        ("t2", "R1", 1, "rubric", "annotated"),
    ]
    assert listed["reasons"].iloc[0] == (
        "Reports that are better otherwise fail it. The judge decides it both ways in repeats. "
        "vague_wording: 'good' has no measure."
    )
    assert listed["reasons"].iloc[1] == "The task is suspiciously hard. Best 20%."


def test_a_line_of_a_history_holds_the_names_of_a_rubrics_fields(path):
    first = json.loads(path.read_text("utf-8").splitlines()[0])
    assert first["after"] == {
        "criterion": "The response should name R1.", "type": "Objective", "necessity": "Explicit",
        "priority": "Must Have", "weight": 0.5, "dimension": None,
    }  # fmt: skip
