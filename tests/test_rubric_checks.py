"""The checks of rubrics: measured on made rubrics whose faults are known, and rule by rule."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks
from lifesearch_kit.frames import rubrics_frame
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.rubric_checks import CHECKS, FINDING_COLUMNS, SEVERITIES, check_rubrics
from lifesearch_kit.rubric_checks.quality import check_quality

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "rubric_checks.jsonl").read_text("utf-8").splitlines()
]
UNSEEN = [one for one in CASES if not one["seen"]]
OF_TASKS = ["rubric_count", "task_weight", "missing_dimension", "attribute_shares"]


def frame(*criteria, query="Which port is cheaper?", cutoff=None, **fields):
    rubrics = [
        one if isinstance(one, Rubric) else Rubric(rubric_id=f"R{n}", criterion=one, **({"weight": 0.5} | fields))
        for n, one in enumerate(criteria, start=1)
    ]
    task = Task(task_id="t", language="en", domain="d", query=query, cutoff=cutoff, rubrics=tuple(rubrics))
    return rubrics_frame([task])


def found(*criteria, ignore=OF_TASKS, **fields):
    return check_rubrics(frame(*criteria, **fields), ignore=ignore)


def named(*criteria, **fields):
    return set(found(*criteria, **fields)["check"])


# How well they do


def test_the_made_rubrics_are_many_half_good_in_both_languages_and_nearly_half_unseen():
    good = sum(not one["fault"] for one in CASES)
    assert len(CASES) >= 150
    assert 0.45 <= good / len(CASES) <= 0.55
    assert len(UNSEEN) >= 0.4 * len(CASES)
    for language in ("en", "zh"):
        own = [one for one in CASES if one["language"] == language]
        assert len(own) >= 0.45 * len(CASES)
    of_criteria = [one for one in CHECKS if one not in (*OF_TASKS, "weight_step", "zero_weight")]
    assert {(one["fault"], one["language"]) for one in UNSEEN if one["fault"]} == {
        (check, language) for check in of_criteria for language in ("en", "zh")
    }


@pytest.mark.parametrize("cases", [CASES, UNSEEN], ids=["all", "unseen"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_precision_and_recall_reach_what_was_measured(cases, language):
    table = check_quality(cases)
    own = table[table["language"] == language]
    assert own["hits"].sum() / own["found"].sum() >= 0.95
    assert own["hits"].sum() / own["true"].sum() >= 0.95
    assert own["precision"].min() >= 0.75
    assert own["recall"].min() >= 0.66
    assert own["placed"].min() >= 0.75


def test_counts_of_quality_are_hits_over_found_and_over_true():
    case = {
        "task_id": "t",
        "language": "en",
        "query": "q",
        "cutoff": None,
        "type": "Objective",
        "priority": "Must Have",
    }
    rows = [
        ("The response should give good reasons.", "vague_wording", "good"),
        ("The response should give fine reasons.", "vague_wording", "fine"),
        ("The response should give a relevant example.", "", ""),
    ]
    cases = [case | {"rubric_id": str(n), "criterion": c, "fault": f, "shows": s} for n, (c, f, s) in enumerate(rows)]
    (row,) = check_quality(cases).to_dict("records")
    # "good" and "relevant" are found, "good" and "fine" are true: one hit.
    assert (row["true"], row["found"], row["hits"], row["precision"], row["recall"]) == (2, 2, 1, 0.5, 0.5)
    assert (row["missed"], row["false_alarms"]) == ("t 1", "t 2")
    with pytest.raises(InputError, match="case 1: field 'shows' is missing"):
        check_quality([{name: value for name, value in cases[0].items() if name != "shows"}])
    with pytest.raises(InputError, match="'vague' is no check"):
        check_quality([cases[0] | {"fault": "vague"}])


def test_the_benchmark_of_the_paper_takes_less_than_five_seconds():
    demo = rubrics_frame(read_tasks(ROOT / "data" / "demo" / "tasks.jsonl"))
    many = pd.concat([demo.assign(task_id=demo["task_id"] + f"-{n}") for n in range(17)], ignore_index=True)
    assert len(many) >= 4014
    begun = time.process_time()
    check_rubrics(many)
    assert time.process_time() - begun < 5


# Each rule


@pytest.mark.parametrize(
    ("criterion", "check", "span"),
    [
        ("The response should state the port's name and explain why it is cheaper.", "two_requirements", "explain"),
        ("回复应说明港口名称，并解释更便宜的原因。", "two_requirements", "解释"),
        ("The response should state that the former is a free port.", "not_self_contained", "the former"),
        ("回复应说明目前的费用。", "not_self_contained", "目前"),
        ("The response should give the correct price of a berth.", "missing_fact", "correct price"),
        ("The response should keep to about 100 words.", "missing_tolerance", "about 100"),
        ("回复应为100字左右。", "missing_tolerance", "100字左右"),
        ("The response should state that the fee was 214 in 2025.", "missing_unit", "214"),
        ("回复应写明2025年费用为214。", "missing_unit", "214"),
        ("The response should state that sales rose by 9%.", "missing_date", "sales"),
        ("The response should not name a third port.", "negative_wording", "not name"),
        ("回复不得提到第三个港口。", "negative_wording", "不得"),
        ("The response should give good reasons.", "vague_wording", "good"),
        ("The cheaper port is named.", "not_operational", "The cheaper port is name"),
        ("The response should recommend the Harbour Inn.", "single_recommendation", "Harbour Inn"),
    ],
)
def test_a_fault_is_found_alone_with_its_place_and_a_remedy(criterion, check, span):
    table = found(criterion)
    assert list(table["check"]) == [check]
    (row,) = table.to_dict("records")
    assert row["span"] == span == criterion[row["start"] : row["end"]]
    assert row["severity"] == SEVERITIES[check]
    assert row["remedy"]


@pytest.mark.parametrize(
    "criterion",
    [
        "The response should state that exports fell by 6% in 2025.",
        'The response should reject the claim that "it is currently the best and most comprehensive port".',
        "The response should state that the terminal does not take ships of more than 400 m.",
        "The response should use the revised fee of 214 crowns and not the estimate of 230 crowns of January 2025.",
        "The response should state that Vessel Bay and Cape Nolan differ in fees, the former being cheaper.",
        "The response should recommend a port, such as Vessel Bay or another with a depth of 16 m.",
        "The response should set out Great Merrowick fares in a table.",
        "The response should give a price of about 40 crowns (36 to 44 accepted) in 2025.",
        "回复应指出“目前最好”的说法没有出处。",
        "回复应说明诺兰角港不接纳400米以上的船。",
        "回复应以2025年修订的费率为准，不采用2025年1月的估计。",
        "回复应给出2025年费用约40元（36至44元均可）。",
    ],
)
def test_what_only_looks_like_a_fault_is_none(criterion):
    assert named(criterion) == set()


def test_a_cutoff_dates_a_level_and_not_a_change():
    level = "The response should state that the population of Vessel Bay is 61,000 people."
    change = "The response should state that the population of Vessel Bay grew by 3%."
    assert named(level) == named(change) == {"missing_date"}
    assert named(level, cutoff="2025-12-31") == set()
    assert named(change, cutoff="2025-12-31") == {"missing_date"}


def test_a_preference_that_is_required_is_an_error():
    text = "The response should read like a letter."
    assert named(text, type="Subjective", priority="Nice to Have") == set()
    (row,) = found(text, type="Subjective").to_dict("records")
    assert (row["check"], row["severity"]) == ("subjective_must_have", "error")


def test_a_recommendation_that_the_question_names_or_that_is_optional_may_stand():
    text = "The response should recommend the Harbour Inn."
    assert named(text, query="Harbour Inn or Sea Hotel?") == set()
    assert named(text, priority="Nice to Have") == set()


def test_near_duplicates_are_told_from_rubrics_that_are_built_alike():
    alike = [
        "The response should give the 2025 fee of Vessel Bay as 214 crowns.",
        "The response should give the 2025 fee of Cape Nolan as 230 crowns.",
        "The response should state that fees rose at Vessel Bay in 2025.",
        "The response should state that fees fell at Vessel Bay in 2025.",
    ]
    assert named(*alike) == set()
    again = "The response should state the fee of Vessel Bay in 2025 to be 214 crowns."
    table = found(*alike, again)
    assert list(table[["rubric_id", "check"]].itertuples(index=False, name=None)) == [("R5", "near_duplicate")]
    assert "R1" in table["message"].iloc[0]
    parts = ["回复应说明帆湾港在夜间不装卸集装箱船。", "回复应说明诺兰港在夜间不装卸集装箱船。"]
    assert named(*parts, query="比较帆湾港和诺兰港。") == set(), "parts of the question have a rubric each"
    other = frame(again).assign(task_id="other")
    apart = check_rubrics(pd.concat([frame(*alike), other]), ignore=OF_TASKS)
    assert apart.empty, "two tasks may ask for the same"


# Weights, counts, shares


def test_weights_that_are_no_tenths_or_zero_are_errors():
    weights = {"R1": 0.25, "R2": 0.0, "R3": 0.3, "R4": 0.1 + 0.2}
    rubrics = [Rubric(rubric_id=name, criterion=f"The response should name port {name}.", weight=weight)
               for name, weight in weights.items()]  # fmt: skip
    table = found(*rubrics)
    assert list(table[["rubric_id", "check", "severity"]].itertuples(index=False, name=None)) == [
        ("R1", "weight_step", "error"),
        ("R2", "zero_weight", "error"),
    ]
    assert table["remedy"].iloc[0] == "write 0.2 or 0.3"
    assert table["span"].eq("").all()
    assert table["start"].isna().all()


def test_a_task_hangs_on_no_single_rubric():
    # 1.0 of 1.0 + 4 * 0.5 = 3.0 is 33%; 0.6 of 0.6 + 4 * 0.5 = 2.6 is 23%.
    for heaviest, expected in ((1.0, ["33%"]), (0.6, [])):
        rubrics = [
            Rubric(
                rubric_id=f"R{n}", criterion=f"The response should name port {n}.", weight=heaviest if n == 2 else 0.5
            )
            for n in range(5)
        ]
        table = found(*rubrics, ignore=[one for one in CHECKS if one != "task_weight"])
        assert [message.split()[1] for message in table["message"]] == expected
    nothing = check_rubrics(frame("The response should name a port.").assign(weight=0.0))
    assert "the weights add up to 0" in " ".join(nothing["message"])


@pytest.mark.parametrize(("count", "expected"), [(10, True), (11, False), (34, False), (35, True)])
def test_a_task_has_11_to_34_rubrics(count, expected):
    table = check_rubrics(frame(*(f"The response should name port {n}." for n in range(count))))
    assert ("rubric_count" in set(table["check"])) == expected


def test_dimensions_without_a_rubric_are_told_where_rubrics_have_the_benchmarks():
    table = check_rubrics(frame("The response should name a port.", dimension="presentation"))
    (told,) = table.loc[table["check"] == "missing_dimension", "message"]
    assert told == (
        "no rubric on instruction following, information coverage, factual accuracy, evidence and citation quality, "
        "reasoning and analysis, task success"
    )
    assert "missing_dimension" not in set(check_rubrics(frame("The response should name a port."))["check"])


def test_shares_are_compared_with_the_benchmarks_where_chance_does_not_explain_them():
    ignore = [one for one in CHECKS if one != "attribute_shares"]
    one = frame(*(f"The response should name port {n}." for n in range(10)))
    tasks = [one.assign(task_id=f"t{n}", query=f"q{n}") for n in range(24)]
    # Each task: 8 of 10 Must Have (benchmark 81.3), 6 Explicit (62.0), all Objective (98.0): nothing stands out.
    like = [
        task.assign(priority=["Must Have"] * 8 + ["Nice to Have"] * 2, necessity=["Explicit"] * 6 + ["Implicit"] * 4)
        for task in tasks
    ]
    assert check_rubrics(pd.concat(like), ignore).empty
    # All Must Have is 18.7 points more, in 24 tasks alike (Wilson on 24 of 24: from 86.2).
    table = check_rubrics(pd.concat([task.assign(priority="Must Have") for task in like]), ignore)
    assert list(table["message"].str.split(" are ").str[0]) == ["100.0% of the rubrics"]
    assert table["task_id"].isna().all()
    # One task shows nothing of the kind: its interval is as wide as chance.
    assert check_rubrics(like[0].assign(priority="Must Have"), ignore).empty


# The table


def test_findings_come_in_the_order_of_the_rubrics_and_tasks_behind_theirs():
    table = check_rubrics(pd.concat([frame("Good port."), frame("Nice berth.").assign(task_id="u")]))
    keys = [
        (task, "" if pd.isna(rubric) else rubric)
        for task, rubric in zip(table["task_id"], table["rubric_id"], strict=True)
    ]
    assert [key for n, key in enumerate(keys) if key not in keys[:n]] == [
        ("t", "R1"),
        ("t", ""),
        ("u", "R1"),
        ("u", ""),
    ]


def test_checks_can_be_left_out_and_unknown_ones_are_told():
    assert named("Good port.") == {"vague_wording", "not_operational"}
    assert named("Good port.", ignore=[*OF_TASKS, "vague_wording"]) == {"not_operational"}
    with pytest.raises(InputError, match="check 'vague' is unknown; choose from two_requirements"):
        check_rubrics(frame("Good port."), ["vague"])


def test_without_rubrics_there_is_an_empty_table():
    table = check_rubrics(rubrics_frame([]))
    assert table.empty
    assert tuple(table.columns) == FINDING_COLUMNS


ENGLISH = "The response should state and explain about 100 good currently it the former % 12.5 2025 “quoted ” ‘ \" ' `"
CHINESE = "回复应 给出 并 说明 约 上述 不得 清晰 营业收入 增长 １２ ，。；"
words = st.sampled_from([*ENGLISH.split(), *CHINESE.split(), "\x00", "\u200b", "𠮷"])


@given(st.lists(words, min_size=1, max_size=25).map(" ".join).filter(str.strip), st.booleans())
def test_every_span_is_that_part_of_the_criterion(criterion, has_cutoff):
    table = found(criterion, cutoff="2025-12-31" if has_cutoff else None)
    for row in table.dropna(subset=["start"]).to_dict("records"):
        assert 0 <= row["start"] < row["end"] <= len(criterion)
        assert row["span"] == criterion[row["start"] : row["end"]]


def test_the_demo_has_no_error_but_a_preference_that_is_required():
    table = check_rubrics(rubrics_frame(read_tasks(ROOT / "data" / "demo" / "tasks.jsonl")))
    errors = table[table["severity"] == "error"]
    assert list(zip(errors["task_id"], errors["rubric_id"], errors["check"], strict=True)) == [
        ("industry-zh", "R16", "subjective_must_have")
    ]
    assert not set(table["check"]) & {"near_duplicate", "not_self_contained", "missing_fact", "missing_unit"}
