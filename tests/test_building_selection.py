"""Selection by hand, refinement, drafts: every fault in a hand-written file is one sentence with its place."""

from __future__ import annotations

import json

import pytest

from lifesearch_kit.building.difficulty import demands, difficulty_of
from lifesearch_kit.building.drafts import draft_tasks
from lifesearch_kit.building.outcomes import Outcome
from lifesearch_kit.building.queries import read_queries
from lifesearch_kit.building.refinement import (
    Refinement,
    Subtask,
    begin_refinements,
    check_refinement,
    check_refinements,
    read_refinements,
    refinement_counts,
)
from lifesearch_kit.building.selection import (
    Choice,
    balance,
    begin_selection,
    read_selection,
    selection_table,
    with_choice,
    write_selection,
)
from lifesearch_kit.building.selection_widget import PAGE, selection_widget, store_choice
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks, write_jsonl
from lifesearch_kit.records import DOMAINS


def outcome(name, fate="kept", domain="Technical tools", rewritten="Compare tools A and B", **more):
    values = {"language": "en", "query": "Compare tools A and B, save it", **more}
    return Outcome(query_id=name, fate=fate, domain=domain, rewritten=rewritten, **values)


FOUND = [
    outcome("q1"),
    outcome("q2", rewritten="比较甲和乙的价格", language="zh", domain="Everyday facts", query="比较甲和乙的价格"),
    outcome("q3", "undecided", None, step="classify", reason="unparseable: none"),
    outcome("q4", "dropped", None, None, step="filter", reason="quality is low"),
    outcome("q5", "undecided", rewritten=None, breached="Compare A with B", step="rewrite", reason="breached: added"),
]
HEADER = "query_id,decision,reason,domain,query\n"


def test_a_missing_file_holds_no_decisions(tmp_path):
    assert read_selection(tmp_path / "none.csv", FOUND) == []


@pytest.mark.parametrize("name", ["selection.csv", "selection.jsonl"])
def test_decisions_come_back_as_they_were_written(tmp_path, name):
    choices = [
        Choice(query_id="q1", decision="keep", reason='clear, and "checkable"'),
        Choice(query_id="q3", decision="keep", reason="理由，带逗号", domain="Policy & government", query="New\ntext"),
        Choice(query_id="q4", decision="drop", reason="low"),
    ]
    write_selection(tmp_path / name, choices)
    assert read_selection(tmp_path / name, FOUND) == choices


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("q1,kep,clear,,", "selection.csv:2: field 'decision': \"kep\" is not allowed; choose 'keep' or 'drop'"),
        ("q1,keep,,,", "selection.csv:2: field 'reason': is missing; add it"),
        ("q9,keep,clear,,", "selection.csv:2: field 'query_id': 'q9' is no query's id"),
        ("q1,keep,clear,Gardening,", "selection.csv:2: field 'domain': \"Gardening\" is not allowed; choose"),
        ("q3,keep,clear,,", "selection.csv:2: field 'domain' is empty, and the steps left query 'q3' without one"),
        ("q5,keep,clear,,", "selection.csv:2: field 'query' is empty, and the steps left query 'q5' without one"),
        ("q4,keep,clear,Everyday facts,", "selection.csv:2: field 'query' is empty"),
        ("q1,keep,clear,,\nq1,drop,clear,,", "selection.csv:3: query_id 'q1' stands already at"),
        ("q1,keep,clear, but no quotes,,", "selection.csv:2: has another number of columns"),
    ],
)
def test_a_typo_is_one_sentence_with_its_place(tmp_path, row, message):
    path = tmp_path / "selection.csv"
    path.write_text(f"{HEADER}{row}\n", "utf-8")
    with pytest.raises(InputError) as caught:
        read_selection(path, FOUND)
    assert message in str(caught.value)
    assert len(caught.value.faults) == 1


def test_the_table_holds_what_can_be_chosen():
    chosen = [
        Choice(query_id="q1", decision="drop", reason="too easy"),
        Choice(query_id="q4", decision="keep", reason="fine after all", domain="Everyday facts", query="What is x?"),
    ]
    table = selection_table(FOUND, chosen).set_index("query_id")
    assert table.index.tolist() == ["q1", "q2", "q3", "q4", "q5"]
    assert table["decision"].tolist() == ["drop", "open", "open", "keep", "open"]
    assert "q4" not in selection_table(FOUND, [])["query_id"].tolist(), "dropped by a step, and nobody took it back"
    assert table.loc["q4", "query"] == "What is x?"
    assert table.loc["q5", "query"] == "Compare tools A and B, save it", "never a rewrite that breaks a rule"
    assert table.loc["q2", "language"] == "zh"


def test_balance_counts_by_hand():
    chosen = [
        Choice(query_id="q1", decision="keep", reason="r"),
        Choice(query_id="q2", decision="drop", reason="r"),
    ]
    counted = balance(selection_table(FOUND, chosen)).set_index(["by", "group"])
    # q1, q3 and q5 are candidates, all English; q3 has no domain, q2 is dropped.
    assert counted.loc[("language", "en")].tolist() == [3, 1]
    assert counted.loc[("language", "zh")].tolist() == [0, 0]
    assert counted.loc[("domain", "Technical tools")].tolist() == [2, 1]
    assert counted.loc["domain", :]["candidates"].sum() == 2
    assert [group for by, group in counted.index if by == "domain"] == list(DOMAINS)
    assert counted.loc["difficulty", :]["kept"].sum() == 1


def test_difficulty_counts_parts_and_limits():
    # Three parts (Compare tea, price, origin), a count and a word of time.
    assert demands("Compare the latest tea, its price and origin of 5 brands") == 3 + 2
    assert difficulty_of("What is tea?") == "easy"
    assert difficulty_of("Compare the latest tea, its price and origin of 5 brands") == "medium"
    assert (
        difficulty_of("列出近三年5家公司的收入、利润、员工、客户和价格，1000字以内，按年份排序，并注明来源") == "hard"
    )


def test_with_choice_replaces_in_place():
    first, second = (Choice(query_id=name, decision="keep", reason="r") for name in ("q1", "q2"))
    other = Choice(query_id="q1", decision="drop", reason="s")
    assert with_choice([first, second], other) == [other, second]
    assert with_choice([second], first) == [second, first]


@pytest.fixture
def begun(tmp_path):
    """Where a selection will be in force, and one to begin with: q1 kept."""
    source = tmp_path / "mine.csv"
    source.write_text(f"{HEADER}q1,keep,clear,,\n", "utf-8")
    return tmp_path / "run" / "selection.csv", source


def test_a_selection_begins_with_a_copy_and_it_is_said_which_is_in_force(begun, tmp_path):
    target, source = begun
    first = begin_selection(target, source, FOUND)
    assert first == (target, f"{target} is in force, begun now with a copy of {source}")
    assert target.read_bytes() == source.read_bytes()
    again = begin_selection(target, source, FOUND)
    assert again.told == f"{target} is in force; {source}, with which it was begun, is as it was"
    assert begin_selection(target, None, FOUND).told == f"{target} is in force"
    assert begin_selection(target, target, FOUND).told == f"{target} is in force"
    nothing = begin_selection(tmp_path / "none.csv", None, FOUND)
    assert nothing.told.endswith("none.csv is in force once something is written there")
    assert not nothing.path.exists()
    with pytest.raises(InputError, match="no such file to begin with"):
        begin_selection(tmp_path / "none.csv", tmp_path / "absent.csv", FOUND)
    assert "mine.csv, which is named to begin with, is not there" in (
        begin_selection(target, source.rename(tmp_path / "gone.csv").with_name("mine.csv"), FOUND).told
    )


def test_what_was_decided_by_hand_stays_when_the_source_changes_and_it_is_said_how_to_take_it(begun):
    target, source = begun
    begin_selection(target, source, FOUND)
    assert store_choice(FOUND, target, "q2", "drop", "dull") == "stored"
    mine = target.read_bytes()
    assert "is as it was" in begin_selection(target, source, FOUND).told
    source.write_text(f"{HEADER}q1,drop,too easy,,\n", "utf-8")
    for _ in range(2):
        told = begin_selection(target, source, FOUND).told
        assert f"{source} is another than this was begun with, and is NOT read" in told
        assert f"To take it, move {target} away and run again" in told
        assert target.read_bytes() == mine
    target.rename(target.with_name("mine.csv"))
    assert read_selection(begin_selection(target, source, FOUND).path, FOUND)[0].decision == "drop"


def test_a_changed_source_is_copied_anew_where_nobody_wrote_into_the_copy(begun):
    target, source = begun
    begin_selection(target, source, FOUND)
    source.write_text(f"{HEADER}q1,drop,too easy,,\n", "utf-8")
    assert "nothing was written here since, so it was copied anew" in begin_selection(target, source, FOUND).told
    assert [one.decision for one in read_selection(target, FOUND)] == ["drop"]
    assert "is as it was" in begin_selection(target, source, FOUND).told


def test_a_copy_of_unknown_origin_is_never_replaced(begun):
    target, source = begun
    target.parent.mkdir()
    target.write_text(f"{HEADER}q2,drop,dull,,\n", "utf-8")
    assert "is NOT read" in begin_selection(target, source, FOUND).told
    assert [one.query_id for one in read_selection(target, FOUND)] == ["q2"]


@pytest.mark.parametrize("name", ["mine.jsonl", "mine.json"])
def test_a_selection_in_another_format_is_read_and_written_as_what_it_becomes(tmp_path, name):
    choices = [
        Choice(query_id="q3", decision="keep", reason="fine, if short", domain="Policy & government", query="Q?")
    ]
    write_jsonl(tmp_path / name, choices)
    target = tmp_path / "run" / "selection.csv"
    begin_selection(target, tmp_path / name, FOUND)
    assert target.read_text("utf-8").startswith("query_id,decision,reason,domain,query")
    assert read_selection(target, FOUND) == choices
    assert "is as it was" in begin_selection(target, tmp_path / name, FOUND).told


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("mine.csv", f"{HEADER}q1,kep,clear,,\n", "mine.csv:2: field 'decision'"),
        ("mine.csv", f"{HEADER}q9,keep,clear,,\n", "mine.csv:2: field 'query_id': 'q9' is no query's id"),
        ("mine.jsonl", f"{HEADER}q1,keep,clear,,\n", "mine.jsonl:1: is no JSON"),
        ("mine.xlsx", "PK", "mine.xlsx: the ending '.xlsx' is not known; use .jsonl, .json or .csv"),
    ],
)
def test_a_source_with_a_fault_is_told_by_its_own_name_and_not_copied(tmp_path, name, text, message):
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(InputError) as caught:
        begin_selection(tmp_path / "run" / "selection.csv", tmp_path / name, FOUND)
    assert message in str(caught.value)
    assert not (tmp_path / "run").exists()


def test_refinements_begin_with_lines_and_not_with_a_table(tmp_path):
    write_jsonl(tmp_path / "mine.jsonl", [SOUND])
    begun = begin_refinements(tmp_path / "run" / "refinements.jsonl", tmp_path / "mine.jsonl")
    assert read_refinements(begun.path) == [SOUND]
    (tmp_path / "mine.csv").write_text("query_id,query\nq1,Q\n", "utf-8")
    with pytest.raises(InputError, match=r"mine\.csv: refinements hold lists of subtasks"):
        begin_refinements(tmp_path / "other" / "refinements.jsonl", tmp_path / "mine.csv")


def widget_rows(widget):
    return {
        row.children[0].value.partition(" ·")[0].removeprefix("<small>"): row for row in widget.children[1].children
    }


def test_the_widget_writes_each_decision_at_once(tmp_path):
    path = tmp_path / "selection.csv"
    widget = selection_widget(FOUND, path)
    _, decision, reason, told = widget_rows(widget)["q1"].children
    decision.value = "keep"
    assert told.value == "not stored yet: it needs a decision and a reason"
    assert not path.exists()
    reason.value = "clear"
    assert told.value == "stored"
    assert read_selection(path, FOUND) == [Choice(query_id="q1", decision="keep", reason="clear")]
    assert "1 keep, 0 drop, 3 open" in widget.children[0].children[0].value
    decision.value = "drop"
    assert read_selection(path, FOUND)[0].decision == "drop"
    _, decision, reason, told = widget_rows(widget)["q3"].children
    reason.value, decision.value = "interesting", "keep"
    assert "without domain or text" in told.value
    assert len(read_selection(path, FOUND)) == 1
    again = widget_rows(selection_widget(FOUND, path))["q1"].children
    assert (again[1].value, again[2].value) == ("drop", "clear")


def test_the_widget_keeps_what_was_written_by_hand_meanwhile(tmp_path):
    path = tmp_path / "selection.csv"
    selection_widget(FOUND, path)
    path.write_text(f"{HEADER}q3,keep,good,Policy & government,\n", "utf-8")
    assert store_choice(FOUND, path, "q2", "drop", "dull") == "stored"
    assert store_choice(FOUND, path, "q3", "keep", "better reason") == "stored"
    first, second = read_selection(path, FOUND)
    assert (first.domain, first.reason, second.query_id) == ("Policy & government", "better reason", "q2")
    path.write_text(f"{HEADER}q3,kep,good,,\n", "utf-8")
    assert "selection.csv:2: field 'decision'" in store_choice(FOUND, path, "q2", "drop", "dull")
    assert "kep" in path.read_text("utf-8"), "a file with a fault is left as it is"


def test_the_widget_shows_a_page_at_a_time(tmp_path):
    many = [outcome(f"q{number}", query="<b>bold</b>", rewritten="<b>bold</b>") for number in range(2 * PAGE + 1)]
    widget = selection_widget(many, tmp_path / "s.csv")
    assert len(widget.children[1].children) == PAGE
    widget.children[0].children[1].value = 3
    assert list(widget_rows(widget)) == [f"q{2 * PAGE}"]
    assert "<b>bold" not in widget_rows(widget)[f"q{2 * PAGE}"].children[0].value


SUBTASKS = (Subtask(description="Find A and B", type="Lookup"), Subtask(description="Compare them", type="Compare"))
SOUND = Refinement(query_id="q1", query="Compare tools A and B by price", subtasks=SUBTASKS, capabilities=("SP", "IS"))
TABLE = selection_table(
    FOUND,
    [
        Choice(query_id="q1", decision="keep", reason="clear"),
        Choice(query_id="q2", decision="keep", reason="clear"),
        Choice(query_id="q4", decision="drop", reason="low"),
    ],
)


def test_a_sound_refinement_has_no_finding():
    assert check_refinement(SOUND, TABLE) == []


@pytest.mark.parametrize(
    ("changes", "check", "must", "value"),
    [
        ({"subtasks": SUBTASKS[:1]}, "subtask_count", True, "1 subtasks"),
        (
            {"subtasks": tuple(Subtask(description=f"Find {n}", type="Lookup") for n in range(5))},
            "subtask_count",
            True,
            "5 subtasks",
        ),
        ({"subtasks": (SUBTASKS[0], SUBTASKS[0])}, "subtask_repeated", True, "Find A and B"),
        ({"capabilities": ()}, "capability_count", True, "none"),
        ({"capabilities": ("SP", "SP")}, "capability_repeated", True, "SP, SP"),
        ({"capabilities": ("SP", "IS", "CR")}, "capability_count", False, "SP, IS, CR"),
        ({"query_id": "q3"}, "not_selected", True, "q3"),
        ({"query_id": "q4"}, "not_selected", True, "q4"),
        ({"query": "比较工具A和B"}, "query_language", True, "比较工具A和B"),
        ({"query": "Which cheeses melt well?"}, "intent_kept", False, "0 of 2 terms left; gone: compare, tool"),
        ({"query": "Compare tools A and B:\n1. find\n2. compare"}, "one_natural_query", False, "2 list items"),
    ],
)
def test_each_check_names_field_value_and_remedy(changes, check, must, value):
    (finding,) = check_refinement(SOUND.model_copy(update=changes), TABLE)
    assert (finding.check, finding.must, finding.value) == (check, must, value)
    assert finding.field
    assert finding.remedy


def test_the_same_final_query_twice_is_told_and_gives_one_draft(tmp_path):
    table = selection_table(
        FOUND,
        [
            Choice(query_id="q1", decision="keep", reason="clear"),
            Choice(query_id="q5", decision="keep", reason="clear", query="Compare tools A and B at home"),
        ],
    )
    twice = [SOUND, SOUND.model_copy(update={"query_id": "q5", "query": "compare  tools A and B by PRICE"})]
    (finding,) = check_refinements(twice, table).itertuples(index=False)
    assert (finding.query_id, finding.check, finding.must, finding.field) == ("q5", "query_repeated", True, "query")
    assert finding.remedy.startswith("'q1' has the same final query: write one that differs")
    (tmp_path / "q.jsonl").write_text(
        "".join(json.dumps({"query_id": name, "query": f"Compare {name}"}) + "\n" for name in ("q1", "q5")), "utf-8"
    )
    drafts, held = draft_tasks(twice, table, read_queries(tmp_path / "q.jsonl"))
    assert ([one.task_id for one in drafts], held) == (["q1"], ["q5"])


def test_findings_that_must_be_mended_come_first():
    refinements = [
        SOUND.model_copy(update={"capabilities": ("SP",)}),
        SOUND.model_copy(update={"query_id": "q2", "query": "比较甲和乙", "subtasks": ()}),
    ]
    frame = check_refinements(refinements, TABLE)
    assert frame["must"].tolist() == sorted(frame["must"], reverse=True)
    assert frame["check"].iloc[-1] == "capability_count"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"subtasks": [{"description": "x", "type": "Look up"}]},
            "refinements.jsonl:1: field 'subtasks.0.type': \"Look up\"",
        ),
        ({"capabilities": ["SP", "XX"]}, "refinements.jsonl:1: field 'capabilities.1': \"XX\" is not allowed"),
        ({"query": " "}, "refinements.jsonl:1: field 'query': \" \" is blank"),
        (
            {"capabilites": []},
            "refinements.jsonl:1: field 'capabilites': is no known field; did you mean 'capabilities'?",
        ),
        ({"cutoff": "soon"}, "field 'cutoff': \"soon\" is no date"),
    ],
)
def test_a_fault_in_the_file_has_its_place(tmp_path, change, message):
    path = tmp_path / "refinements.jsonl"
    path.write_text(json.dumps({**SOUND.model_dump(mode="json"), **change}) + "\n", "utf-8")
    with pytest.raises(InputError) as caught:
        read_refinements(path)
    assert message in str(caught.value)


def test_counts_of_types_and_capabilities():
    counts = refinement_counts([SOUND, SOUND.model_copy(update={"subtasks": (*SUBTASKS, *SUBTASKS)})])
    rows = {row.name: (row.refinements, row.total) for row in counts.itertuples(index=False)}
    assert rows["Lookup"] == (2, 3)
    assert rows["SP"] == (2, 2)
    assert rows["UH"] == (0, 0)


def test_drafts_lack_rubrics_and_become_tasks_with_them(tmp_path):
    (tmp_path / "q.jsonl").write_text(
        "".join(
            json.dumps({"query_id": name, "query": "Compare tools A and B, save it"}) + "\n" for name in ("q1", "q2")
        ),
        "utf-8",
    )
    broken = SOUND.model_copy(update={"query_id": "q2", "subtasks": ()})
    drafts, held = draft_tasks([SOUND, broken], TABLE, read_queries(tmp_path / "q.jsonl"))
    assert held == ["q2"]
    assert [one.task_id for one in drafts] == ["q1"]
    assert drafts[0].metadata["raw_query"] == "Compare tools A and B, save it"
    assert drafts[0].metadata["selected_because"] == "clear"
    write_jsonl(tmp_path / "draft_tasks.jsonl", drafts)
    with pytest.raises(InputError, match="field 'rubrics': is missing"):
        read_tasks(tmp_path / "draft_tasks.jsonl")
    (tmp_path / "rubrics.csv").write_text("task_id,criterion,weight\nq1,The response should name A.,0.5\n", "utf-8")
    (task,) = read_tasks(tmp_path / "draft_tasks.jsonl", tmp_path / "rubrics.csv")
    assert (task.query, task.language, len(task.rubrics)) == ("Compare tools A and B by price", "en", 1)
    assert [one["type"] for one in task.metadata["subtasks"]] == ["Lookup", "Compare"]
