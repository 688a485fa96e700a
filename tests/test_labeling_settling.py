"""Settling: nothing before all have finished, then both labels with notes, a verdict with its reason, a reference."""

from __future__ import annotations

from pathlib import Path

import pytest
from made_studies import label_all, made_items, made_reports, made_tasks

from lifesearch_kit.agreement.judge_summaries import judge_summary
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_labels, read_reports, write_jsonl
from lifesearch_kit.labeling.gathered import Study, study_of_answers, study_of_labels
from lifesearch_kit.labeling.labels import LabelSession
from lifesearch_kit.labeling.pages import Press
from lifesearch_kit.labeling.settlements import agreement_words, read_settlements, reference_labels, write_reference
from lifesearch_kit.labeling.settling import SettlingSession
from lifesearch_kit.records import Judgment, Label
from lifesearch_kit.results import load_results

TASKS = made_tasks(4, rubrics=5)
REPORTS = made_reports(TASKS, systems=("zephyr", "quill"))
ITEMS = made_items(TASKS, REPORTS)[:20]  # one system's report on each of 4 tasks


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    """Of 20 items ann fails the first four, bo the first and three others: they differ on six."""
    label_all(ITEMS, "ann", tmp_path, failed=ITEMS[:4])
    label_all(ITEMS, "bo", tmp_path, failed=[ITEMS[0], *ITEMS[10:13]])
    return tmp_path


def settle_all(session: SettlingSession, key: str = "f") -> None:
    while session.position < len(session.open):
        session.press(Press(key, ""))
        session.press(Press("Enter", f"reason {session.position}"))


def test_nothing_of_agreement_is_told_before_all_have_finished(tmp_path: Path) -> None:
    label_all(ITEMS, "ann", tmp_path, failed=ITEMS[:4])
    bo = LabelSession(ITEMS, "bo", tmp_path, 1)
    for _ in range(19):
        bo.press(Press("f", "secret"))
    study = study_of_answers(ITEMS, tmp_path)
    said = agreement_words(study)
    assert said == "Agreement is told when all have finished; labelled so far: ann 20 of 20, bo 19 of 20."
    page = SettlingSession(study, "cy", tmp_path).page()
    assert "kappa" not in page
    assert "secret" not in page
    assert "note of ann" not in page
    bo.press(Press("f", ""))
    assert "kappa" in agreement_words(study_of_answers(ITEMS, tmp_path))


def test_kappa_and_its_interval(labelled: Path) -> None:
    said = agreement_words(study_of_answers(ITEMS, labelled))
    # 14 of 20 alike; both fail 4 of 20, so chance agrees 0.2^2 + 0.8^2 = 0.68: kappa is (0.7 - 0.68) / 0.32 = 0.0625.
    assert said.startswith("ann, bo: the same label for 14 of 20 rubrics. Cohen's kappa is 0.062 (95% interval ")
    assert "over 4 tasks" in said


def test_both_labels_and_notes_are_shown_for_disagreements_alone(labelled: Path) -> None:
    session = SettlingSession(study_of_answers(ITEMS, labelled), "cy", labelled)
    assert [one.item.key for one in session.open] == [one.key for one in [*ITEMS[1:4], *ITEMS[10:13]]]
    page = session.page()
    assert "note of ann" in page
    assert "no note" in page
    assert page.index("<bdi>ann</bdi>") < page.index("<bdi>bo</bdi>")


def test_a_settlement_needs_a_verdict_and_a_reason(labelled: Path) -> None:
    session = SettlingSession(study_of_answers(ITEMS, labelled), "cy", labelled)
    session.press(Press("Enter", "a reason"))
    assert session.said == "Choose Pass or Fail first"
    session.press(Press("p", ""))
    session.press(Press("Enter", "  "))
    assert session.said == "Give the reason, then Enter"
    assert read_settlements(labelled) == []
    session.press(Press("Enter", "the table says so"))
    (found,) = read_settlements(labelled)
    assert (found.satisfied, found.reason, found.labels) == (True, "the table says so", {"ann": False, "bo": True})
    assert (session.position, session.answered, session.verdict) == (1, 1, None)
    session.close()
    again = SettlingSession(study_of_answers(ITEMS, labelled), "cy", labelled)
    assert (again.position, again.answered) == (1, 1)


def test_a_label_changed_afterwards_opens_its_settlement_again(labelled: Path) -> None:
    settle_all(SettlingSession(study_of_answers(ITEMS, labelled), "cy", labelled))
    ann = LabelSession(ITEMS, "ann", labelled, 1)
    ann.position = [one.key for one in ann.items].index(ITEMS[1].key)
    ann.press(Press("p", ""))
    study = study_of_answers(ITEMS, labelled)
    assert len(study.disagreements()) == 5
    ann.position = [one.key for one in ann.items].index(ITEMS[0].key)
    ann.press(Press("p", ""))
    with pytest.raises(InputError, match="1 of 6 disagreements are not settled"):
        reference_labels(study_of_answers(ITEMS, labelled), read_settlements(labelled))


def test_the_reference_is_what_they_agree_on_and_what_was_settled(labelled: Path) -> None:
    study = study_of_answers(ITEMS, labelled)
    with pytest.raises(InputError, match="6 of 6 disagreements are not settled"):
        reference_labels(study, [])
    settle_all(SettlingSession(study, "cy", labelled))
    reference = reference_labels(study, read_settlements(labelled))
    # Both failed the first; the six were settled as Fail.
    assert [one.satisfied for one in reference].count(False) == 7
    assert {one.annotator for one in reference} == {"reference"}
    assert [one.note for one in reference if one.note] == [f"reason {at}" for at in range(6)]


def test_an_unfinished_study_has_no_reference(tmp_path: Path) -> None:
    label_all(ITEMS, "ann", tmp_path)
    LabelSession(ITEMS, "bo", tmp_path, 1).press(Press("p", ""))
    with pytest.raises(InputError, match="annotator 'bo' has labelled 1 of 20 rubrics"):
        reference_labels(study_of_answers(ITEMS, tmp_path), [])


def test_notebook_03_reads_the_reference(labelled: Path, tmp_path: Path) -> None:
    study = study_of_answers(ITEMS, labelled)
    settle_all(SettlingSession(study, "cy", labelled))
    write_reference(study, read_settlements(labelled), labelled)
    written = read_labels(labelled / "labels.csv")
    assert len(written) == 60
    assert read_reports(labelled / "reports.jsonl") == [one for one in REPORTS if one.system == "zephyr"]
    write_jsonl(labelled / "tasks.jsonl", TASKS)
    verdicts = [
        Judgment(system="zephyr", task_id=one.task.task_id, rubric_id=one.rubric.rubric_id, judge="j", satisfied=True)
        for one in ITEMS
    ]
    write_jsonl(labelled / "judgments.jsonl", verdicts)
    data = load_results(labelled)
    assert data.labels is not None
    assert not data.labels["stale"].any()
    summary = judge_summary(data, "reference")
    assert summary is not None
    # All passed, 13 of 20 by the reference.
    assert summary.loc[0, "correct"] == 13


def test_a_labels_file_from_elsewhere_is_not_replaced(labelled: Path) -> None:
    (labelled / "labels.csv").write_text(
        "system,task_id,run,rubric_id,annotator,satisfied\nzephyr,t0,1,R0,somebody,Pass\n", encoding="utf-8"
    )
    study = study_of_answers(ITEMS, labelled)
    settle_all(SettlingSession(study, "cy", labelled))
    with pytest.raises(InputError, match="holds labels of somebody and is not replaced"):
        write_reference(study, read_settlements(labelled), labelled)


def test_three_annotators_differ_where_one_of_them_does(labelled: Path) -> None:
    label_all(ITEMS, "cy", labelled, failed=[ITEMS[0], ITEMS[19]])
    study = study_of_answers(ITEMS, labelled)
    assert len(study.disagreements()) == 7
    assert "ann, bo, cy: the same label for 13 of 20 rubrics. Mean pairwise Cohen's kappa is" in agreement_words(study)
    assert len(study_of_answers(ITEMS, labelled, ["ann", "bo"]).disagreements()) == 6


def test_full_agreement_has_nothing_to_settle(tmp_path: Path) -> None:
    for name in ("ann", "bo"):
        label_all(ITEMS, name, tmp_path)
    study = study_of_answers(ITEMS, tmp_path)
    assert "Cohen's kappa is undefined: " in agreement_words(study)
    assert "There is nothing to settle" in SettlingSession(study, "cy", tmp_path).page()
    assert len(reference_labels(study, [])) == 20


def test_labels_made_elsewhere_are_a_study_too() -> None:
    labels = [
        Label(system="zephyr", task_id="t0", rubric_id="R0", annotator=name, satisfied=name != "b")
        for name in ("a", "b", "reference")
    ]
    study = study_of_labels(labels, TASKS, REPORTS)
    assert (study.annotators, len(study.items), study.finished) == (["a", "b"], 1, True)
    assert study.disagreements()[0].verdicts == {"a": True, "b": False}
    assert not Study([], [], []).finished


def test_labels_that_both_changed_are_settled_anew(labelled: Path) -> None:
    settle_all(SettlingSession(study_of_answers(ITEMS, labelled), "cy", labelled))
    for name, key in {"ann": "p", "bo": "f"}.items():
        session = LabelSession(ITEMS, name, labelled, 1)
        session.position = [one.key for one in session.items].index(ITEMS[1].key)
        session.press(Press(key, ""))
    study = study_of_answers(ITEMS, labelled)
    assert len(study.disagreements()) == 6
    assert SettlingSession(study, "cy", labelled).answered == 5
    with pytest.raises(InputError, match="1 of 6 disagreements are not settled"):
        reference_labels(study, read_settlements(labelled))


def test_labels_of_an_earlier_text_do_not_count(labelled: Path) -> None:
    edited = [one.model_copy(update={"text": "Another."}) if one.task_id == "t0" else one for one in REPORTS]
    study = study_of_answers(made_items(TASKS, edited)[:20], labelled)
    assert list(study.progress()["labelled"]) == [15, 15]
    assert not study.finished
