"""Verdicts of ResearchRubrics' grader: partly satisfied is chosen, what failed is no verdict, faults turn round."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from made_tasks import lines

from lifesearch_kit.errors import InputError
from lifesearch_kit.formats.research_rubrics import read_research_rubrics
from lifesearch_kit.formats.research_rubrics_verdicts import read_research_rubrics_verdicts
from lifesearch_kit.records import Task

GOOD, BAD = "Gives the fare.", "Cites a source that does not exist."


def tasks(path: Path, negative: str = "invert", second: str = "Names the season.") -> list[Task]:
    rubrics = [
        {"criterion": GOOD, "weight": 5.0, "axis": "Explicit Criteria"},
        {"criterion": second, "weight": 2.0, "axis": "Implicit Criteria"},
        {"criterion": BAD, "weight": -3.0, "axis": "References & Citation Quality"},
    ]
    row = {"prompt": "Which ferry?", "sample_id": "s1", "domain": "Transport", "rubrics": rubrics}
    return read_research_rubrics(lines(path / "data.jsonl", [row]), negative=negative).tasks


def verdict(title: str, word: str, **changed: Any) -> dict[str, Any]:
    row = {"sample_id": "s1", "rubric_title": title, "verdict": word, "score": 1.0, "reasoning": "why", "success": True}
    return row | changed


def read(path: Path, rows: list[dict[str, Any]], made: list[Task], **given: Any) -> Any:
    return read_research_rubrics_verdicts(lines(path / "v.jsonl", rows), made, system="walker", judge="theirs", **given)


def test_a_met_fault_fails_and_a_failed_call_is_unjudged(tmp_path: Path) -> None:
    rows = [
        verdict(BAD, "Satisfied"),
        verdict(GOOD, "Satisfied"),
        verdict("Names the season.", "Error", success=False, score=0.0),
    ]
    judgments, misfits = read(tmp_path, rows, tasks(tmp_path), run=2)
    assert [(one.rubric_id, one.satisfied, one.status, one.run) for one in judgments] == [
        ("R3", False, "ok", 2),
        ("R1", True, "ok", 2),
        ("R2", None, "error", 2),
    ]
    assert (judgments[0].reason, judgments[0].raw, judgments[0].judge) == ("why", "Satisfied", "theirs")
    assert misfits == []
    (one,), _ = read(tmp_path, [verdict(GOOD, "Unknown")], tasks(tmp_path))
    assert (one.satisfied, one.status, one.raw) == (None, "unparseable", "Unknown")
    (one,), _ = read(tmp_path, [verdict(BAD, "Not Satisfied")], tasks(tmp_path))
    assert one.satisfied is True


@pytest.mark.parametrize("title", [GOOD, BAD])
@pytest.mark.parametrize(("partial", "passes"), [("pass", True), ("fail", False)])
def test_partly_satisfied_is_neither_until_it_is_chosen(tmp_path: Path, title: str, partial: str, passes: bool) -> None:
    rows = [verdict(title, "Partially Satisfied")]
    with pytest.raises(InputError, match=r"v\.jsonl:1: field 'verdict': .*choose partial"):
        read(tmp_path, rows, tasks(tmp_path))
    (one,), (misfit,) = read(tmp_path, rows, tasks(tmp_path), partial=partial)
    assert one.satisfied is passes
    assert ("too many" in misfit.treatment) is passes


def test_verdicts_that_belong_nowhere_are_all_named(tmp_path: Path) -> None:
    rows = [
        verdict(GOOD, "Satisfied", sample_id="s2"),
        verdict("Another.", "Satisfied"),
        verdict(GOOD, "Satisfied"),
        verdict(GOOD, "Not Satisfied"),
    ]
    with pytest.raises(InputError) as raised:
        read(tmp_path, rows, tasks(tmp_path))
    assert len(raised.value.faults) == 3
    for number, part in ((1, "'s2' is no task"), (2, "none of the criteria"), (4, "R1 has a verdict already")):
        assert any(f":{number}: " in one and part in one for one in raised.value.faults)
    with pytest.raises(InputError, match="2 of the criteria"):
        read(tmp_path, [verdict(GOOD, "Satisfied")], tasks(tmp_path, second=GOOD))


def test_a_verdict_on_a_dropped_fault_is_passed_over(tmp_path: Path) -> None:
    judgments, misfits = read(tmp_path, [verdict(BAD, "Satisfied")], tasks(tmp_path, "drop"))
    assert judgments == []
    assert [(one.kind, one.rubric_id, one.field) for one in misfits] == [("lost", "R3", "verdict")]
