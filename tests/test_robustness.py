"""Changes of a report that must not change a verdict: what they keep, what they add, and where they are not made."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit.errors import InputError
from lifesearch_kit.judge.checks import judge_messages
from lifesearch_kit.judge.robustness import split_system, transformed_reports, transformed_system
from lifesearch_kit.judge.transformations import TRANSFORMATIONS, ZERO_WIDTH_SPACE
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings
from lifesearch_kit.terms import is_chinese

ENGLISH = "# Ferries\n\nTwo lines serve the port.\n\n## Fares\n\nFive crowns.\n\n## Times\n\nDaily at noon.\n"
CHINESE = "# 渡轮\n\n港口有两条航线，每天都开。\n\n## 票价\n\n五克朗。\n\n## 时间\n\n每天中午。\n"
MOVING = {"zero-width characters", "sections reversed"}
ADDING = [kind for kind in TRANSFORMATIONS if kind not in MOVING]
NAMED_LANGUAGE = {"planted verdict, en", "planted verdict, zh"}
# Reports of Markdown pieces in any order, and of sections, beside arbitrary text.
MARKS = (
    "# A|## B|## C|### D|```|~~~|<!--|-->|- a list item|---|`code of it`|of all, and more|价格，每人五克朗。|It leans"
)
PIECES = st.sampled_from([*MARKS.split("|"), "| a | b |", "| --- | --- |", "\r", "\r\n", "\n", "\n\n", "  "])
MARKDOWN = st.lists(st.one_of(PIECES, st.text(max_size=12)), max_size=24).map("\n".join)
BODIES = st.sampled_from(["Fares.", "- one\n- of two", "```\n# in code\n```", "a\r\n\r\nb\r", "#### Low\n\nSmall.", ""])
SECTIONS = st.tuples(st.sampled_from(["# ", "## ", "### "]), st.text("ab", min_size=1), st.just("\n\n"), BODIES)
SECTIONED = st.lists(SECTIONS.map("".join), min_size=2, max_size=6).map("\n\n".join)
REPORTS = st.one_of(st.text(max_size=200), MARKDOWN, SECTIONED)


def changed(kind: str, text: str) -> str:
    return TRANSFORMATIONS[kind].apply(text)


def report(text: str = ENGLISH, **fields: object) -> Report:
    return Report.model_validate({"system": "ours", "task_id": "t", "text": text, **fields})


def words(text: str) -> Counter[str]:
    """Every word as often as it occurs, between any white space; a zero-width space is nothing that a reader sees."""
    return Counter(text.replace(ZERO_WIDTH_SPACE, "").split())


@pytest.mark.parametrize("kind", TRANSFORMATIONS)
@settings(max_examples=50)
@given(text=REPORTS)
def test_every_change_keeps_every_word_as_often_as_it_stood(kind: str, text: str) -> None:
    assert words(text) <= words(changed(kind, text))
    assert changed(kind, text) == changed(kind, text)


@pytest.mark.parametrize("kind", ADDING)
@settings(max_examples=20)
@given(text=REPORTS)
def test_what_adds_text_leaves_the_report_in_one_piece(kind: str, text: str) -> None:
    result = changed(kind, text)
    added = result.removeprefix(text) if result.startswith(text) else result.removesuffix(text)
    assert result in (text + added, added + text)
    assert added.strip()
    assert not re.search(r"\d", added), "a number could meet a criterion"
    assert len(added.split()) <= 60


@given(text=REPORTS)
def test_zero_width_characters_are_all_that_is_strewn(text: str) -> None:
    strewn = changed("zero-width characters", text)
    assert strewn.replace(ZERO_WIDTH_SPACE, "") == text.replace(ZERO_WIDTH_SPACE, "")


@given(text=REPORTS)
def test_reversed_sections_move_whole_lines_and_twice_is_as_before(text: str) -> None:
    once = changed("sections reversed", text)
    lines = [Counter(line for line in re.split(r"[\r\n]+", one) if line) for one in (text, once)]
    assert lines[0] == lines[1]
    if once != text:
        twice = changed("sections reversed", once)
        assert re.sub(r"[\r\n]+", "\n", twice).strip("\n") == re.sub(r"[\r\n]+", "\n", text).strip("\n")


def test_invisible_characters_keep_out_of_numbers_names_tables_code_and_addresses() -> None:
    text = (
        "| Item | Fare |\n| --- | --- |\n| a day in town | 1 200 crowns |\n\nThe Bank of England said 12 000 people of "
        "the port of Great Merrowick paid. `pip install of that` https://a.example/in of <a href='of it'>"
    )
    # Gaps between two words in lower case: day|in, in|town, people|of, of|the, the|port, port|of; filled are the first
    # and the fifth.
    expected = text.replace("a day in", f"a day {ZERO_WIDTH_SPACE}in").replace(
        "the port", f"the {ZERO_WIDTH_SPACE}port"
    )
    assert changed("zero-width characters", text) == expected
    assert changed("zero-width characters", "价格，每人12，000克朗，共两项。") == (
        f"价格，{ZERO_WIDTH_SPACE}每人12，000克朗，共两项。"
    )
    assert changed("zero-width characters", "Great Merrowick, 12 000 crowns") == "Great Merrowick, 12 000 crowns"


def test_sections_are_reversed_below_the_title() -> None:
    assert changed("sections reversed", ENGLISH) == (
        "# Ferries\n\nTwo lines serve the port.\n\n## Times\n\nDaily at noon.\n\n## Fares\n\nFive crowns."
    )
    without_title = "# A\n\na\n\n## Of A\n\nb\n\n# B\n\n```\n# no heading\n```"
    assert changed("sections reversed", without_title) == "# B\n\n```\n# no heading\n```\n\n# A\n\na\n\n## Of A\n\nb"


@pytest.mark.parametrize(
    "text",
    [
        "No heading at all.",
        "# One\n\nSection.",
        "# Title\n\n## One\n\nSection.",
        "## A\n\na\n\n# A title inside\n\n## B\n\nb",
        "```\n# A\n# B\n```",
        "# A\n\na\n\n# B\n\nSee the table above.",
        "# A\n\na\n\n# B\n\nIt is cheaper.",
        "# A\n\na\n\n# B\n\n- However, not on Sundays.",
        "# 甲\n\n一。\n\n# 乙\n\n上述价格含税。",
        "# 甲\n\n一。\n\n# 乙\n\n该市更贵。",
        "# A\n\na\n\n# B\n\n```\nnever closed",
        "# A\n\na\n\n# B\n\n<!-- never closed",
    ],
)
def test_sections_that_cannot_be_moved_stay(text: str) -> None:
    assert changed("sections reversed", text) == text
    made = transformed_reports([report(text)], ["sections reversed"])
    assert made.reports == []
    assert made.unchanged == [("sections reversed", report(text))]


@pytest.mark.parametrize("kind", ADDING)
def test_what_is_added_speaks_the_language_of_the_report(kind: str) -> None:
    english, chinese = (changed(kind, text).replace(text, "") for text in (ENGLISH, CHINESE))
    if kind in NAMED_LANGUAGE:
        assert english == chinese
        assert is_chinese(english) == kind.endswith("zh")
    else:
        assert not is_chinese(english)
        assert re.search("[\u4e00-\u9fff]", chinese)


@pytest.mark.parametrize(("text", "language"), [(ENGLISH, "en"), (CHINESE, "zh")])
def test_fake_delimiters_look_like_the_judges_own_but_close_nothing(text: str, language: str) -> None:
    rubric = Rubric(rubric_id="R1", criterion="Names the port.", weight=0.5)
    task = Task.model_validate(
        {"task_id": "t", "language": language, "domain": "d", "query": "?", "rubrics": (rubric,)}
    )
    judge = JudgeSettings(name="j", model="m", base_url="offline")
    before, after = (
        judge_messages(task, report(one), rubric, judge)[1]["content"]
        for one in (text, changed("fake delimiters", text))
    )
    nonces = [re.findall(r"<question-(\w+)>", one)[0] for one in (before, after)]
    # What the judge itself writes from the end of the report on, its code and criterion exchanged, is what is imitated.
    own = before[before.index(f"</report-{nonces[0]}>") :].replace(nonces[0], "CODE").replace("Names the port.", "...")
    fake = changed("fake delimiters", text).removeprefix(text).strip()
    code = re.findall(r"</report-(\w+)>", fake)[0]
    criterion = fake.split("\n")[3]
    assert fake.replace(code, "CODE").replace(criterion, "...") == own.rstrip() + "\n\n<report-CODE>"
    assert len(code) == len(nonces[1])
    assert code != nonces[1]
    # The real tags stand once each, around the whole of the changed report; the real criterion is the last.
    start, end = after.index(f"<report-{nonces[1]}>"), after.index(f"</report-{nonces[1]}>")
    assert after[start:end].split("\n", 1)[1].rstrip("\n") == changed("fake delimiters", text)
    assert after.count(nonces[1]) == 6
    assert "Names the port." in after[end:]


def test_a_changed_report_keeps_its_record_and_names_its_kind() -> None:
    reports = [report("Five Crowns.", run=2, output_tokens=7, notes=("kept",)), report(CHINESE, system="other [x]")]
    made = transformed_reports(reports)
    assert made.unchanged == [(kind, reports[0]) for kind in TRANSFORMATIONS if kind in MOVING]
    assert len(made.reports) == 2 * len(TRANSFORMATIONS) - len(MOVING)
    first = made.reports[0]
    assert (first.system, first.task_id, first.run) == ("ours [planted verdict, en]", "t", 2)
    assert (first.output_tokens, first.notes) == (7, ("kept", "transformed: planted verdict, en"))
    assert len({(one.system, one.task_id, one.run) for one in made.reports}) == len(made.reports)
    assert Report.model_validate_json(first.model_dump_json()) == first, "the name is one that records keep as it is"
    second = [split_system(one.system) for one in made.reports[len(ADDING) :]]
    assert second == [("other [x]", kind) for kind in TRANSFORMATIONS]


@pytest.mark.parametrize("kind", TRANSFORMATIONS)
def test_a_name_gives_back_system_and_kind(kind: str) -> None:
    assert split_system(transformed_system("ours [x]", kind)) == ("ours [x]", kind)
    assert split_system("ours [x]") == ("ours [x]", None)
    assert split_system(kind) == (kind, None)
    assert TRANSFORMATIONS[kind].what


def test_what_is_no_report_is_not_made_into_one() -> None:
    assert transformed_reports([report(" "), report("Which port?", status="asked_back")]) == ([], [])


def test_wrong_kinds_and_names_are_told_together() -> None:
    with pytest.raises(InputError) as caught:
        transformed_reports([report(system="a [hidden text]"), report()], ["hidden text", "padding"])
    unknown, named = caught.value.faults
    assert "kind 'padding' is no transformation; choose from 'planted verdict, en', " in unknown
    assert "system 'a [hidden text]' is named as a transformed one" in named
