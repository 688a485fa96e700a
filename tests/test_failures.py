"""Failure modes: what is found, with which evidence, at what cost."""

from __future__ import annotations

from datetime import date

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.evidence import closest_passage, passages
from lifesearch_kit.failures.missing import absent_details
from lifesearch_kit.failures.modes import MODES, failure_modes, failure_rates
from lifesearch_kit.failures.temporal import asked_dates, is_about_cutoff, later_dates
from lifesearch_kit.scoring.report_scores import report_scores

CUTOFF = date(2026, 3, 31)
CRITERIA = {
    "R1": ("The response should state that Selwick handled 4.82 million TEU in 2025.", 0.5, "factual accuracy"),
    "R2": ("The response should not present the figure of May 2026 as current.", 0.3, "instruction following"),
    "R3": ("The response should name the Port Authority of Selwick.", 0.2, "evidence and citation quality"),
    "R4": ("The response should use a table.", 0.0, "presentation"),
}
RUBRICS = pd.DataFrame(
    [
        ("T", name, "en", "Policy", "How much did the port handle?", pd.Timestamp(CUTOFF), *rest)
        for name, rest in CRITERIA.items()
    ],
    columns=["task_id", "rubric_id", "language", "domain", "query", "cutoff", "criterion", "weight", "dimension"],
)
QUESTION_BACK = "Which of the two ports do you mean? Please tell me before I start."


def report(text: str, status: str = "answered", system: str = "A", gradable: bool | None = None) -> pd.DataFrame:
    usable = bool(text.strip()) and status not in ("asked_back", "empty", "refused")
    row = {"system": system, "task_id": "T", "run": 1, "text": text, "status": status}
    return pd.DataFrame([row | {"gradable": usable if gradable is None else gradable}])


def verdicts(signs: str, repeat: int = 1, judge: str = "J") -> pd.DataFrame:
    meaning = {"+": True, "-": False, "?": None}
    rows = [("A", "T", 1, f"R{at}", judge, repeat, meaning[sign], "ok") for at, sign in enumerate(signs, start=1)]
    columns = ["system", "task_id", "run", "rubric_id", "judge", "repeat", "satisfied", "status"]
    return pd.DataFrame(rows, columns=columns).astype({"satisfied": "boolean"})


def found(findings: pd.DataFrame) -> list[tuple[str, str | None, float]]:
    return [
        (row.mode, row.rubric_id if pd.notna(row.rubric_id) else None, round(row.weight_lost, 6))
        for row in findings.itertuples()
    ]


@pytest.mark.parametrize(
    "dated",
    [
        "Throughput rose to 5.1 million TEU by 2 May 2026.",
        "Selwick handled 1.3 million TEU in May 2026.",
        "As of 2026-04-01 there are 15 berths.",
        "The second quarter of 2026 brought 1.3 million TEU.",
        "截至2026年5月，泊位为15个。",
        "２０２６年４月１日的数据为15个。",
        "2026年第二季度吞吐量为130万标箱。",
        "# Port report, May 2026",
        "| Berths | 15 | [Port bulletin](https://port.selwick.example/b) | 2 May 2026 |",
        "| 泊位 | 15 | 港口公报 | 2026年5月2日 |",
        "Fifteen berths (Port Authority, May 2026).",
        "At the end of June 2026 there were 15 berths.",
        "The fifteenth berth opened on 2 May 2026.",
        "The share closed at 31 on 2 May 2026.",
        "截止2026年5月，泊位为15个。",
    ],
)
def test_something_dated_after_the_cutoff_is_found_with_its_sentence(dated: str) -> None:
    text = f"# Port\n\nThere were 14 berths in 2025.\n{dated}\nSources below."
    spans = later_dates(text, CUTOFF)
    assert len(spans) == 1
    assert spans[0].quote == dated
    assert text[spans[0].start : spans[0].end] == spans[0].quote


@pytest.mark.parametrize(
    "sound",
    [
        "On 31 March 2026 there were 14 berths.",
        "In March 2026 there were 14 berths.",
        "2026年3月的数据为14个。",
        "The year 2026 began with 14 berths.",
        "A fifteenth berth will open in September 2026.",
        "The authority expects 15 berths by June 2026.",
        "预计2026年9月建成第15个泊位。",
        "Bulletin of the port, accessed 3 June 2026.",
        "Figures published in May 2026 were excluded.",
        "2026年5月公布的数据晚于截止日，未采用。",
        "The new tariff is effective from 1 July 2026.",
        "标准于2025年9月12日发布，自2026年7月1日起实施。",
        "二期从2025年12月推迟到2026年6月。",
        "Ferries run from 1 May to 30 September 2026 on Saturdays.",
        "| 2026年6月1日起 | 按新标准。 | 港口公报 | 2026年2月2日 |",
        "| Fri 29 May 2026 | High water 05:02 | Tide table | 12 January 2026 |",
        "| Release 2.14 | Released: 2 February 2026; Support ends: 30 September 2026 | 14 February 2026 |",
        "It cost 2026.05 million and 5/6 of it was paid.",
        "Ends: 30 September 2026",
        "**Expiry date**: 30 September 2026",
        "# Support ends 30 September 2026",
        "Release 2.14, released 2 February 2026, support ends 30 September 2026.",
        "The scheme was opened in 2025 and closes on 30 September 2026.",
        "Sales started in 2025; the offers end on 1 May 2026.",
        "Published in 2025; valid through 30 September 2026.",
        "报名截止：2026年9月30日",
        "申请截止日期为2026年9月30日，数据已公布。",
        "支持结束日期：2026年9月30日",
        "申报已于2025年开始，2026年9月30日截止。",
        "",
    ],
)
def test_earlier_days_forecasts_and_what_was_left_out_are_no_breach(sound: str) -> None:
    assert later_dates(sound, CUTOFF) == []


def test_dates_that_the_task_asks_for_are_no_breach() -> None:
    criteria = [
        "The response should say that high water on 29 May 2026 is at 05:02.",
        "The response should not use the bulletin of 2 June 2026.",
    ]
    asked = asked_dates(criteria, CUTOFF)
    text = "High water on 29 May 2026 was given as 05:02.\nThe bulletin of 2 June 2026 reported 15 berths."
    breaches = [one.quote for one in later_dates(text, CUTOFF, asked)]
    assert breaches == ["The bulletin of 2 June 2026 reported 15 berths."]
    findings = failure_modes(RUBRICS.assign(criterion=[*criteria, "x", "y"]), report(text))
    assert findings["detail"].tolist() == ["1 sentence dated after 2026-03-31"]


def test_a_date_in_an_address_counts_only_where_there_is_no_other() -> None:
    address = "See https://news.selwick.example/2026/05/03/port for more."
    words = "Selwick had 15 berths on 3 May 2026."
    assert [one.quote for one in later_dates(address, CUTOFF)] == [address]
    assert [one.quote for one in later_dates(f"{address}\n{words}", CUTOFF)] == [words]


@pytest.mark.parametrize(
    ("criterion", "about"),
    [
        ("The response should not present the figure of May 2026 as current.", True),
        ("The response should use nothing published after the cutoff.", True),
        ("回复不应采用2026年5月公布的数据。", True),
        ("回复应遵守截止日期。", True),
        ("The response should give the figure of 31 March 2026.", False),
        ("The response should give the figure of 2025.", False),
    ],
)
def test_criteria_about_the_cutoff_are_told_apart(criterion: str, about: bool) -> None:
    assert is_about_cutoff(criterion, CUTOFF) is about
    assert is_about_cutoff(criterion, None) is False


@pytest.mark.parametrize(
    ("text", "criterion", "absent"),
    [
        ("It has 14 berths.", "The response should state 14 berths and 3 cranes.", ["3"]),
        ("It has 4,820,000 boxes, 12.50 each.", "The response should state 4820000 boxes at 12.5.", []),
        ("Opened on 3 May 2025.", "The response should date it to 2025-05-03.", []),
        ("Opened in 2025.", "The response should date it to 3 May 2025.", ["3 May 2025"]),
        ("按《澜亭港章程》，共１４个泊位。", "回复应引用《澜亭港章程》并写明14个泊位。", []),
        ("共14个泊位。", "回复应引用《澜亭港章程》。", ["澜亭港章程"]),
        ("The port authority says so.", "The response should name the Port Authority.", []),
        ("It says so.", "The response should name the Port Authority.", ["Port Authority"]),
        ("Too long.", "The response should keep it within 150 words (up to 165 accepted).", []),
        ("太长了。", "回复应把全文长度控制在800至1200字之间（720至1320字视为合格）。", []),
        ("It grew.", "The response should give growth of 20% (19% to 21% accepted).", ["20"]),
        ("有所增长。", "回复应给出增幅约30%（29%至31%均可）。", ["30"]),
        ("It has 9.", "The response should say 7, not the 12 first reported in May 2026.", ["7"]),
        ("It has 9.", "The response should not say 12 but 7.", ["7"]),
        ("共９个。", "回复应给出9个泊位和约12.5%的增幅。", ["12.5"]),
        ("共9个。", "回复应给出7个，不采用2026年5月修订的12个。", ["7"]),
        ("It has 9.", "The response should leave out the 12 berths of Port Selwick.", []),
        ("It has 9.", "The response should keep the 36 ships of August 2026 out of the comparison.", []),
    ],
)
def test_details_that_a_text_lacks_are_listed(text: str, criterion: str, absent: list[str]) -> None:
    assert absent_details(text, criterion) == absent


def test_passages_are_the_text_and_the_closest_one_shares_its_subject() -> None:
    text = "# Selwick berths\n\nThe tram is 4.5 km long. Selwick has 14 berths!\n- 泊位共14个。港口位于澜亭市。\n"
    quotes = [one.span.quote for one in passages(text)]
    assert quotes == [
        "# Selwick berths",
        "The tram is 4.5 km long.",
        "Selwick has 14 berths!",
        "- 泊位共14个。",
        "港口位于澜亭市。",
    ]
    assert all(text[one.span.start : one.span.end] == one.span.quote for one in passages(text))
    nearest = closest_passage(text, "The response should state how many berths Selwick has.")
    assert nearest is not None
    assert nearest.quote == "Selwick has 14 berths!"
    assert closest_passage(text, "The response should compare ferries.") is None


def test_asking_back_and_silence_lose_everything() -> None:
    asked = failure_modes(RUBRICS, report(QUESTION_BACK, "asked_back"))
    assert found(asked) == [("premature_clarification", None, 1.0)]
    assert asked.loc[0, "evidence"] in QUESTION_BACK
    assert len(asked.loc[0, "evidence"]) > 20
    for status, text in (("empty", ""), ("refused", "I cannot help."), ("step_limit", ""), ("token_limit", " ")):
        silent = failure_modes(RUBRICS, report(text, status))
        assert found(silent) == [("no_report", None, 1.0)]
        assert silent.loc[0, "detail"] == status


def test_a_text_that_asks_back_but_was_graded_loses_what_it_failed() -> None:
    findings = failure_modes(RUBRICS, report(QUESTION_BACK), verdicts("--+-"))
    assert found(findings) == [("premature_clarification", None, 0.8)]


def test_failed_rubrics_are_missing_details_unless_the_cutoff_was_broken() -> None:
    text = "Selwick handled 5.10 million TEU up to 2 May 2026. There are 14 berths."
    findings = failure_modes(RUBRICS, report(text), verdicts("----"))
    assert found(findings) == [
        ("temporal_scope", "R2", 0.3),
        ("missing_details", "R1", 0.5),
        ("missing_details", "R3", 0.2),
    ]
    scope, value, name = findings.itertuples()
    assert scope.evidence == "Selwick handled 5.10 million TEU up to 2 May 2026."
    assert (scope.dimension, value.detail, name.detail) == ("instruction following", "2025; 4.82", "Port Authority")
    assert text[value.start : value.end] == value.evidence
    sound = failure_modes(RUBRICS, report("There are 14 berths in Selwick."), verdicts("-+++"))
    assert found(sound) == [("missing_details", "R1", 0.5)]


def test_a_breach_that_cost_nothing_is_still_found() -> None:
    findings = failure_modes(RUBRICS, report("There were 15 berths in May 2026."), verdicts("++++"))
    assert found(findings) == [("temporal_scope", None, 0.0)]
    assert findings.loc[0, "detail"] == "1 sentence dated after 2026-03-31"


def test_a_task_without_a_cutoff_has_no_temporal_scope() -> None:
    open_end = RUBRICS.assign(cutoff=pd.NaT)
    assert failure_modes(open_end, report("There were 15 berths in May 2026.")).empty


def test_a_rubric_weighs_the_share_of_its_decided_repeats_that_fail_it() -> None:
    assert failure_modes(RUBRICS, report("14 berths."), verdicts("?+++")).empty
    repeats = pd.concat([verdicts("-+++"), verdicts("+-++", 2), verdicts("?-++", 3)])
    # R1 fails 1 of 2 decided repeats, R2 fails 2 of 3: 0.5 / 2 and 0.3 * 2 / 3.
    assert found(failure_modes(RUBRICS, report("14 berths."), repeats)) == [
        ("missing_details", "R1", 0.25),
        ("unmet_requirement", "R2", 0.2),
    ]


def test_a_failed_rubric_whose_details_are_all_there_is_an_unmet_requirement() -> None:
    text = "In 2025 Selwick missed 4.82 million TEU, writes the Port Authority of Selwick in its own long report."
    findings = failure_modes(RUBRICS, report(text), verdicts("-+-+"))
    assert found(findings) == [("unmet_requirement", "R1", 0.5), ("unmet_requirement", "R3", 0.2)]
    assert findings["detail"].tolist() == ["", ""]
    assert findings["evidence"].tolist() == [text, text]


def test_several_judges_or_unknown_tasks_are_refused() -> None:
    with pytest.raises(InputError, match="'J', 'K'"):
        failure_modes(RUBRICS, report("14 berths."), pd.concat([verdicts("++++"), verdicts("++++", judge="K")]))
    with pytest.raises(InputError, match="'X'"):
        failure_modes(RUBRICS, report("14 berths.").assign(task_id="X"))


def test_rates_count_reports_and_hold_zeros() -> None:
    reports = pd.concat([report("14 berths."), report("", "empty", "B")], ignore_index=True)
    findings = failure_modes(RUBRICS, reports, verdicts("-+-+"))
    rates = failure_rates(findings, reports).set_index(["system", "mode"])
    assert len(rates) == 2 * len(MODES)
    # A lost R1 and R3, two findings in one report.
    columns = ["reports", "reports_affected", "rate_pct", "weight_lost_pct"]
    assert list(rates.loc[("A", "missing_details"), columns]) == pytest.approx([1, 1, 100.0, 70.0])
    assert list(rates.loc[("B", "no_report"), columns]) == [1, 1, 100.0, 100.0]
    assert list(rates.loc[("B", "missing_details"), columns]) == [1, 0, 0.0, 0.0]
    # One report of one: Wilson's lower end is 1 / (1 + z^2) = 1 / 4.8415; of none, the upper end is z^2 / (1 + z^2).
    ends = ["low_pct", "high_pct"]
    assert list(rates.loc[("B", "no_report"), ends]) == pytest.approx([100 / 4.8415, 100], abs=0.01)
    assert list(rates.loc[("B", "missing_details"), ends]) == pytest.approx([0, 100 * 3.8415 / 4.8415], abs=0.01)
    by_domain = failure_rates(findings, reports.assign(domain="Policy"), by="domain").set_index("mode")
    assert by_domain.loc["missing_details", "rate_pct"] == 50.0
    with pytest.raises(InputError, match="'domain'"):
        failure_rates(findings, reports, by="domain")


TEXTS = ("14 berths.", "15 berths in May 2026. See 2026-04-02.", QUESTION_BACK, "", "2026年5月有15个泊位。")


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.text("+-", min_size=4, max_size=4), min_size=1, max_size=4),
    st.sampled_from(TEXTS),
    st.sampled_from(["answered", "asked_back"]),
)
def test_what_the_findings_cost_adds_up_to_what_the_score_lacks(repeats: list[str], text: str, status: str) -> None:
    reports = report(text, status)
    judgments = pd.concat([verdicts(signs, repeat) for repeat, signs in enumerate(repeats, 1)], ignore_index=True)
    lost = failure_modes(RUBRICS, reports, judgments)["weight_lost"].sum()
    score = report_scores(RUBRICS, judgments, reports)["score"].mean()
    assert lost == pytest.approx(1 - score)
