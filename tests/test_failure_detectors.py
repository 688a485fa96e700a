"""The detectors of failure modes, measured on made reports whose truth is known: tests/data/failure_cases.jsonl.

All places and organisations in them are invented. `written` says when a case came to be: ``before`` the detectors' code
was read, ``after`` it was, ``round 2`` to ``round 6`` new to the detectors when they were tried and then used to
improve them, ``unseen`` after that: nothing was fitted to those, so they show what to expect of other wording.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.dates import Moment, date_mentions
from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.date_context import dates_in_context
from lifesearch_kit.failures.detector_quality import detector_quality
from lifesearch_kit.failures.evidence import closest_passage, passages
from lifesearch_kit.failures.handing_back import hands_back, refuses
from lifesearch_kit.failures.missing import Missing, missing_details
from lifesearch_kit.failures.temporal import admitted_later, later_dates

CASES = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "failure_cases.jsonl").read_text("utf-8").splitlines()
]
CUTOFF = date(2025, 6, 30)
# Lowest precision and recall of any mode in either language, pooled over kinds: fitted cases, then unseen ones.
FITTED = {"precision": 0.95, "recall": 0.85}
UNSEEN = {"precision": 0.8, "recall": 0.3}


def pooled(cases: list[dict]) -> pd.DataFrame:
    counts = detector_quality(cases).groupby(["mode", "language"])[["true", "found", "hits"]].sum()
    return counts.assign(precision=counts["hits"] / counts["found"], recall=counts["hits"] / counts["true"])


def test_the_cases_are_enough_and_cover_both_languages_and_every_kind_of_truth() -> None:
    table = pd.DataFrame(CASES)
    assert (table.groupby("language").size() >= 60).all()
    assert (table["written"] == "before").sum() >= 40
    assert table["case_id"].is_unique
    for case in CASES:
        assert all(words in case["text"] for words in case["shows"].values()), case["case_id"]
        assert set(case["shows"]) <= set(case["modes"]), case["case_id"]
    harmless = table[table["modes"].str.len() == 0].groupby("language").size()
    assert (harmless >= 25).all(), "hard negatives in each language"


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("mode", ["premature_clarification", "temporal_scope", "no_report", "missing_details"])
@pytest.mark.parametrize(("unseen", "floors"), [(False, FITTED), (True, UNSEEN)])
def test_detectors_hold_their_floors(mode: str, language: str, unseen: bool, floors: dict[str, float]) -> None:
    row = pooled([case for case in CASES if (case["written"] == "unseen") is unseen]).loc[(mode, language)]
    assert row["true"] >= 1
    # Of the one unseen report that declines, any other wording is allowed to be missed; a false alarm is not.
    assert row["hits"] >= floors["precision"] * row["found"]
    if not (unseen and mode == "no_report"):
        assert row["recall"] >= floors["recall"]


def test_evidence_shows_the_words_that_a_case_names() -> None:
    table = detector_quality(CASES).dropna(subset="placed")
    assert len(table) == 6
    assert (table["placed"] * table["hits"]).sum() / table["hits"].sum() >= 0.9


def test_quality_is_counted_by_hand() -> None:
    kept = {"language": "en", "query": "How many?", "cutoff": "2025-06-30", "status": "answered", "no_report": ""}
    cases = [
        kept
        | {
            "case_id": "a",
            "text": "It had 7 on 1 July 2025.",
            "modes": ["temporal_scope"],
            "shows": {},
            "criteria": [],
        },
        kept | {"case_id": "b", "text": "It had 8 on 2 July 2025.", "modes": [], "shows": {}, "criteria": []},
        kept | {"case_id": "c", "text": "It had 9.", "modes": ["temporal_scope"], "shows": {}, "criteria": []},
    ]
    row = detector_quality(cases).set_index("mode").loc["temporal_scope"]
    # Found are a and b, true are a and c: one hit of two found, one of two true.
    assert (row["units"], row["true"], row["found"], row["hits"]) == (3, 2, 2, 1)
    assert (row["precision"], row["recall"], row["missed"], row["false_alarms"]) == (0.5, 0.5, "c", "b")
    with pytest.raises(InputError, match="case 'a': field 'text' is missing"):
        detector_quality([{name: value for name, value in cases[0].items() if name != "text"}])


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("二〇二五年八月十四日", Moment(2025, 8, 14)),
        ("二○二五年十二月", Moment(2025, 12)),
        ("2025年下半年", Moment(2025, half=2)),
        ("H1 2025", Moment(2025, half=1)),
        ("2025H2", Moment(2025, half=2)),
        ("the second half of 2025", Moment(2025, half=2)),
        ("2025年Q3", Moment(2025, quarter=3)),
    ],
)
def test_more_forms_of_dates_are_read(text: str, moment: Moment) -> None:
    assert [one.moment for one in date_mentions(text)] == [moment]


def test_a_half_year_allows_its_months_and_ends_with_them() -> None:
    half = Moment(2025, half=2)
    within = [half.allows(one) for one in (Moment(2025, 8), Moment(2025, quarter=4), Moment(2025, 6))]
    assert within == [True, True, False]
    assert (half.first_day(), half.last_day()) == (date(2025, 7, 1), date(2025, 12, 31))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("15.07.2025", Moment(2025, 7, 15)),
        ("07/15/2025", Moment(2025, 7, 15)),
        ("15/07/2025", Moment(2025, 7, 15)),
        ("03/04/2025", Moment(2025)),  # either way round
        ("3Q25", Moment(2025, quarter=3)),
        ("25年7月", Moment(2025, 7)),
    ],
)
def test_dates_in_numbers_are_read_as_far_as_they_are_plain(text: str, moment: Moment) -> None:
    assert [one.moment for one in date_mentions(text)] == [moment]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("4,100 in May 2025 and 6,200 in August.", Moment(2025, 8)),
        ("2025年5月4100人次，8月6200人次。", Moment(2025, 8)),
        ("In Q1 2025 it was 3, in the third quarter 4.", Moment(2025, quarter=3)),
        ("2024年12月为410元，次年2月为455元。", Moment(2025, 2)),
        ("In late 2025 it fell.", Moment(2025, half=2)),
        ("2025年底为3。", Moment(2025, half=2)),
        # Not known to be of the same year: before the other date, over two years, or on another line.
        ("410 in December 2024 and 455 in February.", Moment(month=2)),
        ("In the year to June 2025 it peaked in August.", Moment(month=8)),
        ("It was 3 in May 2025.\nIt was 4 in August.", Moment(month=8)),
    ],
)
def test_months_alone_take_the_year_of_their_line(text: str, last: Moment) -> None:
    assert dates_in_context(text)[-1].moment == last


@pytest.mark.parametrize(
    ("text", "admits"),
    [
        ("These figures were read after the cutoff, as no others exist.", True),
        ("The dashboard shows today's count and not the one at the cutoff.", True),
        ("部分数字来自截止日期之后发布的公报。", True),
        ("Figures published after the cutoff were not used.", False),
        ("Nothing later than the stated date was included.", False),
        ("截止日期之后发布的数字一律没有采用。", False),
        ("Applications must be in before the deadline.", False),
    ],
)
def test_a_report_that_admits_later_data_is_told_from_one_that_leaves_it_out(text: str, admits: bool) -> None:
    assert bool(admitted_later(text)) is admits


def test_a_partial_report_is_told_from_a_bare_request() -> None:
    request = "Please tell me which year you mean; I will finish the rest after you reply."
    assert hands_back(request).partial is False
    beside = hands_back(f"The harvest was 21,300 tonnes in 2023. {request}")
    assert (beside.partial, beside.span.quote) == (True, request)


@pytest.mark.parametrize(
    ("criterion", "missing"),
    [
        ("The response should state 1.2 billion crowns.", []),
        ("The response should state 1,200,000,000 crowns.", []),
        ("回复应给出12亿克朗。", []),
        ("The response should state 1.3 billion crowns.", [Missing("value", "1.3")]),
        ("The response should compare it with Port Oriel.", [Missing("comparison", "Port Oriel")]),
        ("The response should cite the Harbour Gazette.", [Missing("source", "Harbour Gazette")]),
        ("The response should note the exception for fishing boats.", [Missing("edge_case", "")]),
        ("The response should name cranes (e.g. Liftwell).", []),
        ("Depth of Port Analysis: Assesses whether the response explains the cost.", []),
        ("The response should say that line 4 exists.", []),
    ],
)
def test_what_is_missing_has_a_kind(criterion: str, missing: list[Missing]) -> None:
    assert missing_details("Selwick cost 1.2 billion crowns and has many cranes.", criterion) == missing


def test_a_phrase_quoted_from_the_question_names_nothing() -> None:
    criterion, question = "回复应回答“多大程度”这一问题。", "多大程度上依赖进口？"
    assert missing_details("依赖进口。", criterion, question) == []
    assert missing_details("依赖进口。", criterion) == [Missing("entity", "多大程度")]


@given(st.text(st.sampled_from("请您确认后我再 you reply I will once.?\n3年月日2025"), max_size=300))
def test_spans_lie_in_the_text(text: str) -> None:
    handed = hands_back(text)
    spans = [*later_dates(text, CUTOFF), *admitted_later(text), *([handed.span] if handed else [])]
    assert all(text[span.start : span.end] == span.quote for span in spans)


UNITS = {
    "one sentence": "On 3 August 2025 the port had 4,100 visits and 3 cranes, ",
    "many lines": "On 3 May 2025 it had 4,100, in August 6,200. 8月升至4100人次。\n",
    "addresses": "https://a.example/2025/09/02/x ",
    "requests": "please tell me you now today not rather than ",
    "chinese": "请您把截止日期当前而不是",
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(
    "detect",
    [
        hands_back,
        refuses,
        lambda text: later_dates(text, CUTOFF),
        admitted_later,
        lambda text: (passages.cache_clear(), closest_passage(text, "The response should state 4,100 visits.")),
        lambda text: missing_details(text, "The response should compare “X Y” 77 in 2031, with a source of Foo Bar."),
    ],
    ids=["hands_back", "refuses", "later_dates", "admitted_later", "closest_passage", "missing_details"],
)
def test_time_grows_with_length_and_not_its_square(detect: Callable[[str], object], unit: str) -> None:
    def seconds(length: int) -> float:
        text = UNITS[unit] * (length // len(UNITS[unit]))
        started = time.process_time()
        detect(text)
        return time.process_time() - started

    # Eight times the text may take eight times as long; its square would take 64 times.
    assert seconds(160_000) < 24 * max(seconds(20_000), 0.02)
