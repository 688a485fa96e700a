"""A results folder in: what each table holds, and every fault of every file at once."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import write_jsonl
from lifesearch_kit.frames import judgments_frame, labels_frame, reports_frame, rubrics_frame, tasks_frame
from lifesearch_kit.records import Judgment, Label, Report, Rubric, Task, subject_fingerprint
from lifesearch_kit.results import load_results
from lifesearch_kit.tables import TABLES, read_table, write_table

TASK = Task(
    task_id="port-en",
    language="en",
    domain="Policy & government",
    query="How many berths did Selwick have as of 31 March 2026?",
    cutoff=date(2026, 3, 31),
    rubrics=(
        Rubric(rubric_id="R1", criterion="The response should state 14 berths.", weight=0.9, dimension="presentation"),
        Rubric(rubric_id="R2", criterion="The response should name the port authority.", weight=0.045),
    ),
)
REPORT = Report(
    system="walker",
    task_id="port-en",
    run=2,
    text="Selwick has 14 berths.",
    iterations=3,
    tool_calls={"search": 2, "fetch": 5},
    failed_tool_calls={"fetch": 1},
)


def judgment(rubric_id: str, satisfied: bool | None = True, **more: Any) -> Judgment:
    status = "ok" if satisfied is not None else "truncated"
    key = {"system": "walker", "task_id": "port-en", "run": 2, "judge": "J", "rubric_id": rubric_id}
    return Judgment(**(key | {"satisfied": satisfied, "status": status} | more))


def label(annotator: str, satisfied: bool, rubric_id: str = "R1", fingerprint: str = "") -> Label:
    return Label(
        system="walker",
        task_id="port-en",
        run=2,
        rubric_id=rubric_id,
        annotator=annotator,
        satisfied=satisfied,
        fingerprint=fingerprint,
    )


def write(folder: Path, **files: Any) -> Path:
    for name, records in files.items():
        write_jsonl(folder / f"{name}.jsonl", records)
    return folder


def test_records_become_tables(tmp_path: Path) -> None:
    folder = write(tmp_path, tasks=[TASK], reports=[REPORT], judgments=[judgment("R1"), judgment("R2", None)])
    results = load_results(folder)
    assert results.require("tasks").loc[0, "rubrics"] == 2
    assert results.require("tasks").loc[0, "cutoff"] == pd.Timestamp(2026, 3, 31)
    rubrics = results.require("rubrics")
    assert rubrics[["task_id", "rubric_id", "language", "weight"]].to_numpy().tolist() == [
        ["port-en", "R1", "en", 0.9],
        ["port-en", "R2", "en", 0.045],
    ]
    report = results.require("reports").iloc[0]
    assert (report["characters"], report["gradable"], report["iterations"]) == (22, True, 3)
    assert (report["tool_calls_total"], report["calls_search"], report["failed_tool_calls_total"]) == (7, 2, 1)
    assert report["output_tokens"] is pd.NA
    judgments = results.require("judgments")
    assert judgments["satisfied"].dtype == "boolean"
    assert judgments["satisfied"].isna().tolist() == [False, True]


def test_an_absent_table_is_said_to_be_absent(tmp_path: Path) -> None:
    results = load_results(write(tmp_path, tasks=[TASK]))
    assert results.judgments is None
    with pytest.raises(InputError, match=r"no table 'judgments'.*judgments\.jsonl"):
        results.require("judgments")


@pytest.mark.parametrize("there", [True, False])
def test_a_folder_without_results_is_refused(tmp_path: Path, there: bool) -> None:
    with pytest.raises(InputError, match=r"holds no results.*systems\.csv"):
        load_results(tmp_path if there else tmp_path / "nowhere")


def test_faults_of_all_files_come_together(tmp_path: Path) -> None:
    (tmp_path / "reports.jsonl").write_text('{"system": "walker", "task_id": "port-en"}\n', encoding="utf-8")
    (tmp_path / "systems.csv").write_text("system,score_pct\nwalker,high\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        load_results(tmp_path)
    places = [fault.split(": ")[0].rsplit("/")[-1] for fault in raised.value.faults]
    assert places == ["reports.jsonl:1", "systems.csv:2"]


def test_rows_that_belong_nowhere_are_all_named(tmp_path: Path) -> None:
    stray = REPORT.model_copy(update={"task_id": "harbour-en"})
    folder = write(tmp_path, tasks=[TASK], reports=[REPORT, stray], judgments=[judgment("R9"), judgment("R1", run=3)])
    (tmp_path / "labels.csv").write_text(
        "system,task_id,run,rubric_id,annotator,satisfied\nwalker,port-en,2,R8,H,Pass\n", encoding="utf-8"
    )
    with pytest.raises(InputError) as raised:
        load_results(folder)
    told = "\n".join(raised.value.faults)
    assert len(raised.value.faults) == 4
    for part in ("'harbour-en'", "judgments of task 'port-en': rubric 'R9'", "task 'port-en', run 3", "rubric 'R8'"):
        assert part in told


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: tasks_frame([TASK, TASK]), "task task_id 'port-en'"),
        (lambda: rubrics_frame([TASK, TASK]), "rubric_id 'R2' occurs 2 times"),
        (lambda: reports_frame([REPORT, REPORT]), "run 2 occurs 2 times"),
        (lambda: judgments_frame([judgment("R1"), judgment("R1", False)]), "rubric_id 'R1'"),
    ],
)
def test_records_that_share_a_key_are_refused(build: Any, named: str) -> None:
    with pytest.raises(InputError, match=named):
        build()


def test_no_records_make_empty_tables_with_their_columns() -> None:
    assert list(judgments_frame([]).columns[:6]) == ["system", "task_id", "run", "rubric_id", "judge", "repeat"]
    assert len(reports_frame([])) == len(labels_frame([])) == len(tasks_frame([])) == len(rubrics_frame([])) == 0


@pytest.mark.parametrize(
    "spelling", [" Hana", "Hana ", "hana", "Ha\u200bna", "\ufeffHana", "\uff28\uff41na", "\u202aHana\u202c"]
)
def test_spellings_of_one_annotator_are_one_annotator_and_said_so(spelling: str) -> None:
    with pytest.warns(InputWarning, match="was read as 'Hana'"):
        frame = labels_frame([label("Hana", True), label(spelling, False, "R2"), label("Gus", True)])
    assert sorted(frame["annotator"].unique()) == ["Gus", "Hana"]


def test_annotators_that_differ_visibly_stay_apart() -> None:
    assert labels_frame([label("Hana", True), label("Hanna", True), label("哈娜", True)])["annotator"].nunique() == 3


def test_two_labels_of_one_annotator_for_one_judgment_are_flagged() -> None:
    with (
        pytest.warns(InputWarning, match="read as 'H'"),
        pytest.raises(InputError, match="annotator 'H' occurs 2 times with satisfied True, False"),
    ):
        labels_frame([label("H", True), label(" H", False)])


def test_labels_of_a_text_that_has_changed_are_stale() -> None:
    now = subject_fingerprint(TASK, TASK.rubrics[0], REPORT)
    labels = [label("x", True, fingerprint=now), label("y", True, fingerprint="0" * 16), label("z", True)]
    assert labels_frame(labels, [TASK], [REPORT])["stale"].tolist() == [False, True, pd.NA]
    edited = REPORT.model_copy(update={"text": "Selwick has 15 berths."})
    assert labels_frame(labels[:1], [TASK], [edited])["stale"].tolist() == [True]
    assert labels_frame(labels, [], [])["stale"].isna().all()


def test_a_table_is_checked_cell_by_cell(tmp_path: Path) -> None:
    path = tmp_path / "systems.csv"
    path.write_text("system,score_pct,runs\na,61.5,3\nb,nan,3\na,,x\n", encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_table(path, TABLES["systems"])
    told = [fault.split("systems.csv:")[1][:22] for fault in raised.value.faults]
    assert told == [
        "3: field 'score_pct': ",
        "4: field 'runs': 'x' i",
        "4: field 'score_pct' i",
        "4: system 'a' stands a",
    ]


def test_missing_columns_are_named(tmp_path: Path) -> None:
    path = tmp_path / "domains.csv"
    path.write_text("system,points\na,3\n", encoding="utf-8")
    with pytest.raises(InputError, match="columns domain, score_pct missing"):
        read_table(path, TABLES["domains"])


def test_a_table_keeps_further_columns_and_lacks_none(tmp_path: Path) -> None:
    path = tmp_path / "systems.csv"
    path.write_text("\ufeffsystem,score_pct,vendor\n甲,61,x\n乙,58,\n", encoding="utf-8")
    frame = read_table(path, TABLES["systems"])
    assert frame["system"].tolist() == ["甲", "乙"]
    assert frame["score_pct"].dtype == np.int64
    assert frame["iterations"].isna().all()
    assert frame["vendor"].tolist()[0] == "x"


def test_undefined_values_are_written_as_words_and_read_back_as_missing(tmp_path: Path) -> None:
    frame = pd.DataFrame({"system": ["a", "b"], "score_pct": [50.0, 1.0], "score_sd_pct": [np.nan, 0.25]})
    csv = write_table(frame, tmp_path / "out" / "systems.csv")
    assert csv.read_text(encoding="utf-8").splitlines()[1] == "a,50.0,undefined"
    assert read_table(csv, TABLES["systems"])["score_sd_pct"].isna().tolist() == [True, False]
    written = write_table(frame, tmp_path / "systems.json").read_text(encoding="utf-8")
    rows = json.loads(written, parse_constant=pytest.fail)
    assert rows[0]["score_sd_pct"] is None


def test_infinite_values_and_unknown_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="infinite"):
        write_table(pd.DataFrame({"x": [np.inf]}), tmp_path / "x.json")
    with pytest.raises(InputError, match=r"'\.xlsx'"):
        write_table(pd.DataFrame({"x": [1.0]}), tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []
