"""Nothing that a person sees while labelling, settling or ranking says whose report it is, nor what a judge thought."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from lxml.html import fragment_fromstring
from made_cases import HOSTILE
from made_studies import SYSTEMS, label_all, made_items, made_reports, made_tasks

from lifesearch_kit.labeling.blinding import (
    identity_mentions,
    identity_names,
    names_shown,
    report_code,
    without_mentions,
)
from lifesearch_kit.labeling.desk import Desk, show
from lifesearch_kit.labeling.gathered import study_of_answers
from lifesearch_kit.labeling.labels import LabelSession
from lifesearch_kit.labeling.pages import Press
from lifesearch_kit.labeling.ranking import RankingSession
from lifesearch_kit.labeling.ranking_sets import ranking_sets
from lifesearch_kit.labeling.settling import SettlingSession
from lifesearch_kit.records import Report
from lifesearch_kit.views.html_trees import html_tree

TASKS = made_tasks(2)
REPORTS = [
    one.model_copy(
        update={
            "model": f"served-{one.system}",
            "transcript": f"transcripts/{one.system}/x.json.gz",
            "notes": (one.system,),
        }
    )
    for one in made_reports(TASKS)
]
NAMES = identity_names(REPORTS, ["Vendor Labs"])


def test_names_are_systems_served_models_and_aliases() -> None:
    assert set(NAMES) == {*SYSTEMS, *(f"served-{one}" for one in SYSTEMS), "Vendor Labs"}
    # Two letters are in any text.
    assert identity_names([Report(system="ai", task_id="t", text="x")]) == []


@pytest.mark.parametrize(
    "text",
    [
        "As zephyr-large, I think",
        "ZEPHYR LARGE wrote this",
        "zephyr**Large**",
        "ze\u200bphyr-large",
        "ｚｅｐｈｙｒ－ｌａｒｇｅ".replace("－", "-").translate(
            {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
        ),
        "由团队甲撰写的报告",
        "made by vendor_labs.",
        "Quill 3.1 says",
        "quill-3-1 says",
    ],
)
def test_a_report_that_names_its_author_in_any_spelling_is_flagged(text: str) -> None:
    report = Report(system="x1y2z3", task_id="t", text=f"Before. {text} after.")
    found = identity_mentions([report], NAMES)
    assert len(found) == 1
    assert found.loc[0, "times"] == 1
    assert found.loc[0, "excerpt"]
    assert without_mentions([report, *REPORTS], found) == REPORTS


@pytest.mark.parametrize("text", ["a zephyr, large", "zephyr-larger", "quill 3.12", "vendor laboratories"])
def test_other_words_are_no_names(text: str) -> None:
    text = text.replace("zephyr, large", "zephyr; it was large")
    assert identity_mentions([Report(system="x1y2z3", task_id="t", text=text)], NAMES).empty


def test_the_search_finds_names_split_by_markup_and_in_attributes() -> None:
    assert names_shown("<p>ze<b>phyr</b>-large</p>", NAMES) == ["zephyr-large"]
    assert names_shown(html_tree("<p>ze<b>phyr</b>-large</p>"), NAMES) == ["zephyr-large"]
    assert names_shown(html_tree('<p title="osprey mini">x</p>'), NAMES) == ["osprey_mini"]
    assert names_shown("<p>nobody</p>", NAMES) == []


def test_nothing_sent_to_the_screen_or_written_for_a_person_names_a_system(tmp_path: Path) -> None:
    items = made_items(TASKS, REPORTS)
    label_all(items, "ann", tmp_path)
    label_all(items, "bo", tmp_path, failed=items[:3])
    sessions = [
        LabelSession(items, "cy", tmp_path, 1),
        SettlingSession(study_of_answers(items, tmp_path, ["ann", "bo"]), "dee", tmp_path),
        RankingSession(ranking_sets(TASKS, REPORTS, 2, np.random.default_rng(1)), "cy", tmp_path, 1),
    ]
    for session in sessions:
        desk = show(session)
        assert isinstance(desk, Desk)
        for key in ("p", "1", "b", "2", "ArrowRight", "ArrowLeft"):
            session.press(Press(key, "text"))
            state = json.dumps(desk.get_state(["page", "turn", "done", "alarm", "known_keys"]), ensure_ascii=False)
            assert names_shown(state, NAMES) == []
            assert names_shown(html_tree(session.page()), NAMES) == []
    written = "".join(path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl"))
    assert report_code(REPORTS[0]) in written
    assert names_shown(written, NAMES) == []


def test_an_annotator_sees_neither_weight_nor_others_labels(tmp_path: Path) -> None:
    items = made_items(TASKS, REPORTS)
    label_all(items, "bo", tmp_path, failed=items)
    page = LabelSession(items, "ann", tmp_path, 1).page()
    assert "note of bo" not in page
    assert "bo" not in page.split()
    assert "0.5" not in page
    assert 'aria-pressed="true"' not in page


def test_hostile_text_stays_text(tmp_path: Path) -> None:
    report = Report(system="s1s", task_id="t0", text=HOSTILE)
    page = fragment_fromstring(
        LabelSession(made_items(TASKS, [report]), "ann", tmp_path, 1).page(), create_parent="div"
    )
    tags = {one.tag for one in page.iter()}
    assert tags.isdisjoint({"script", "img", "svg", "iframe", "style", "base", "meta", "form"})
    assert "button" in tags
    attributes = [(name, value) for one in page.iter() for name, value in one.attrib.items()]
    assert not [name for name, _ in attributes if name.startswith("on") or name in ("style", "src", "srcdoc")]
    assert {value.split(":")[0] for name, value in attributes if name == "href"} == {"https"}


def test_the_order_of_reports_says_nothing_of_their_systems(tmp_path: Path) -> None:
    tasks = made_tasks(200, rubrics=1)
    sets = RankingSession(
        ranking_sets(tasks, made_reports(tasks), 200, np.random.default_rng(1)), "ann", tmp_path, 1
    ).sets
    first = [one.reports[0].system for one in sets]
    # 50 of 200 are expected for each of four; six standard deviations are 37.
    assert all(13 <= first.count(system) <= 87 for system in SYSTEMS)


def test_names_of_two_characters_are_looked_for() -> None:
    report = Report(system="o3", task_id="t", text="As o3, I am sure; so3 is a gas.")
    chinese = Report(system="豆包", task_id="t", text="本报告由豆包生成。")
    names = identity_names([report, chinese])
    found = identity_mentions([report, chinese], names)
    assert list(found[["system", "name", "times"]].itertuples(index=False, name=None)) == [
        ("o3", "o3", 1),
        ("豆包", "豆包", 1),
    ]
