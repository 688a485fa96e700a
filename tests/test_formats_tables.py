"""Parquet, JSON Lines and CSV give the same records back; pandas, Arrow and others read them."""

from __future__ import annotations

import datetime
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from made_tasks import HALVES, TEXTS, benchmarks

from lifesearch_kit import __version__
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks, write_jsonl
from lifesearch_kit.formats.flat_csv import COLUMNS, read_flat_csv, write_flat_csv
from lifesearch_kit.formats.parquet import SCHEMA, read_parquet, write_parquet
from lifesearch_kit.formats.tenths import weights_in_tenths
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Rubric, Task

DEMO = ROOT / "data" / "demo" / "tasks.jsonl"


@pytest.fixture
def demo() -> list[Task]:
    return read_tasks(DEMO)


def through(write: Callable[[Path], Any], read: Callable[[Path], list[Task]], name: str) -> tuple[Any, list[Task]]:
    with tempfile.TemporaryDirectory() as folder:
        return write(Path(folder) / name), read(Path(folder) / name)


@settings(max_examples=60)
@given(benchmarks())
def test_parquet_gives_the_same_records_back(made: list[Task]) -> None:
    misfits, again = through(lambda path: write_parquet(made, path), read_parquet, "t.parquet")
    assert again == made
    assert misfits == []


@settings(max_examples=60)
@given(benchmarks())
def test_json_lines_give_the_same_records_back(made: list[Task]) -> None:
    _, again = through(lambda path: write_jsonl(path, made), lambda path: read_tasks(path, weight_step=None), "t.jsonl")
    assert again == made


@settings(max_examples=60)
@given(benchmarks())
def test_csv_gives_the_same_records_back_but_for_blank_dimensions_which_it_names(made: list[Task]) -> None:
    misfits, (again, _) = through(lambda path: write_flat_csv(made, path), read_flat_csv, "t.csv")
    blank = {
        (task.task_id, one.rubric_id)
        for task in made
        for one in task.rubrics
        if one.dimension is not None and not one.dimension.strip()
    }
    assert {(one.task_id, one.rubric_id) for one in misfits} == blank
    expected = [
        task.model_copy(
            update={
                "rubrics": tuple(
                    one.model_copy(update={"dimension": None}) if (task.task_id, one.rubric_id) in blank else one
                    for one in task.rubrics
                )
            }
        )
        for task in made
    ]
    assert again == expected


@settings(max_examples=30)
@given(benchmarks(texts=HALVES.filter(str.strip)))
def test_half_characters_are_replaced_alike_everywhere_and_named(made: list[Task]) -> None:
    misfits, parquet = through(lambda path: write_parquet(made, path), read_parquet, "t.parquet")
    _, lines = through(lambda path: write_jsonl(path, made), lambda path: read_tasks(path, weight_step=None), "t.jsonl")
    _, (csv, _) = through(lambda path: write_flat_csv(made, path), read_flat_csv, "t.csv")
    assert [one.query for one in parquet] == [one.query for one in lines] == [one.query for one in csv]
    assert {one.task_id for one in misfits} == {one.task_id for one in parquet if "\ufffd" in "".join(texts_of(one))}


def texts_of(task: Task) -> list[str]:
    return [task.query, *(one.criterion for one in task.rubrics)]


def test_pandas_and_arrow_load_the_parquet(tmp_path: Path, demo: list[Task]) -> None:
    path = tmp_path / "tasks.parquet"
    write_parquet(demo, path)
    frame = pd.read_parquet(path)
    assert list(frame.columns) == list(Task.model_fields)
    assert frame["cutoff"][0] == datetime.date(2026, 3, 31)
    assert frame["query"][0] == demo[0].query
    rubrics = pd.json_normalize([one for row in frame["rubrics"] for one in row])
    assert rubrics["weight"].sum() == pytest.approx(sum(one.weight for task in demo for one in task.rubrics))
    schema = pq.read_schema(path)
    assert schema.equals(SCHEMA)
    assert schema.metadata[b"lifesearch_kit.version"] == __version__.encode()
    assert schema.metadata[b"lifesearch_kit.schema_version"] == b"1"
    # Written again by pandas, without the kit's schema, it is the same benchmark.
    frame.to_parquet(tmp_path / "again.parquet")
    assert read_parquet(tmp_path / "again.parquet") == demo
    frame.assign(cutoff=pd.to_datetime(frame["cutoff"])).to_parquet(tmp_path / "dated.parquet")
    assert read_parquet(tmp_path / "dated.parquet") == demo


def edited(path: Path, demo: list[Task], edit: Callable[[pa.Table], pa.Table]) -> Path:
    write_parquet(demo, path)
    pq.write_table(edit(pq.read_table(path)), path)
    return path


@pytest.mark.parametrize(
    ("edit", "named"),
    [
        (lambda table: table.drop_columns(["query"]), r"column query is missing"),
        (lambda table: table.append_column("note", [["x"] * 14]), r"row 1: .*field 'note'.*remove it"),
        (
            lambda table: table.set_column(1, "language", [["fr"] * 14]),
            r"row 1: task 'company-zh', field 'language': \"fr\" is not allowed",
        ),
        (lambda table: table.set_column(6, "metadata", [["{"] * 14]), r"row 1: field 'metadata': is no JSON"),
        (lambda table: pa.concat_tables([table, table]), r"row 15: task_id 'company-zh' stands already"),
        (
            lambda table: table.replace_schema_metadata({"lifesearch_kit.schema_version": "2"}),
            r"schema version 2, and this kit reads 1; update",
        ),
    ],
)
def test_parquet_that_does_not_fit_is_refused(
    tmp_path: Path, demo: list[Task], edit: Callable[[pa.Table], pa.Table], named: str
) -> None:
    with pytest.raises(InputError, match=r"t\.parquet.*" + named):
        read_parquet(edited(tmp_path / "t.parquet", demo, edit))


def test_what_is_no_parquet_is_told(tmp_path: Path) -> None:
    (tmp_path / "t.parquet").write_text("task_id", encoding="utf-8")
    with pytest.raises(InputError, match=r"t\.parquet: is no readable Parquet file"):
        read_parquet(tmp_path / "t.parquet")
    with pytest.raises(InputError, match="no such file"):
        read_parquet(tmp_path / "none.parquet")


@pytest.mark.parametrize("write", [write_parquet, write_flat_csv])
def test_metadata_that_are_no_json_are_refused_and_the_file_stays(
    tmp_path: Path, demo: list[Task], write: Callable[[list[Task], Path], Any]
) -> None:
    path = tmp_path / "file"
    path.write_text("earlier", encoding="utf-8")
    odd = demo[0].model_copy(update={"metadata": {"score": object()}})
    with pytest.raises(InputError, match=r"task 'company-zh': field 'metadata': cannot be written as JSON"):
        write([odd], path)
    assert path.read_text("utf-8") == "earlier"


def test_numbers_that_json_has_not_are_null_in_every_file(tmp_path: Path, demo: list[Task]) -> None:
    odd = [demo[0].model_copy(update={"metadata": {"score": float("nan")}})]
    write_jsonl(tmp_path / "t.jsonl", odd)
    write_parquet(odd, tmp_path / "t.parquet")
    write_flat_csv(odd, tmp_path / "t.csv")
    (lines,), (parquet,) = read_tasks(tmp_path / "t.jsonl"), read_parquet(tmp_path / "t.parquet")
    assert lines.metadata == parquet.metadata == read_flat_csv(tmp_path / "t.csv").tasks[0].metadata == {"score": None}


HEADER = "task_id,query,criterion,weight"


def written(path: Path, *rows: str) -> Path:
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_a_small_csv_is_enough_and_what_it_leaves_out_is_named(tmp_path: Path) -> None:
    path = written(
        tmp_path / "t.csv",
        "task_id,query,criterion,weight,priority",
        "1,有几个泊位？,回复应给出泊位数。,0.8,must have",
        '2,"How long, in km?",Gives 4 km.,1,',
        "1,,回复应给出来源。,0.25,Nice to Have",
    )
    with pytest.warns(UserWarning, match="'must have' was read as 'Must Have'"):
        tasks, misfits = read_flat_csv(path)
    assert [(task.task_id, task.language, task.domain, len(task.rubrics)) for task in tasks] == [
        ("1", "zh", "not stated", 2),
        ("2", "en", "not stated", 1),
    ]
    assert [one.weight for one in tasks[0].rubrics] == [0.8, 0.25]
    told = {(one.task_id, one.kind, one.field) for one in misfits}
    both = {(name, "assumed", field) for name in "12" for field in ("type", "necessity", "language", "domain")}
    # 0.25 is no tenth; the second task does not say its priority
    assert told == both | {("2", "assumed", "priority"), ("1", "changed", "weight")}
    assert tasks[1].metadata["converted_from"]["assumed"] == ["type", "necessity", "priority", "language", "domain"]
    (one, two), misfits = read_flat_csv(
        written(tmp_path / "u.csv", HEADER, "1,a?,Is.,1", "2,b?,Is.,1"), language="zh", domain="Ships"
    )
    assert (one.language, two.domain) == ("zh", "Ships")
    assert {one.field for one in misfits} == {"type", "necessity", "priority"}


def test_spreadsheets_find_the_mark_and_columns_in_one_order(tmp_path: Path, demo: list[Task]) -> None:
    write_flat_csv(demo, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_bytes().startswith(b"\xef\xbb\xbftask_id,")
    frame = pd.read_csv(tmp_path / "t.csv")
    assert list(frame.columns) == list(COLUMNS)
    assert len(frame) == 237
    assert read_flat_csv(tmp_path / "t.csv") == (demo, [])


@pytest.mark.parametrize(
    ("rows", "named"),
    [
        ([HEADER.replace("weight", "weigth"), "1,q?,c,1"], r"t\.csv:1: column 'weigth'.*did you mean 'weight'"),
        ([HEADER, "1,q?,c,1", "1,r?,d,1"], r"t\.csv:3: field 'query': .*t\.csv:2 says another one"),
        ([HEADER, "1,q?,c,-4"], r"t\.csv:2: .*field 'weight'.*outside 0.0 to 1.0"),
        ([HEADER, "1,q?,c,much"], r"t\.csv:2: field 'weight': \"much\" is no number"),
        ([HEADER, "1,q?,c,0"], r"t\.csv:2: .*add up to 0"),
        ([HEADER, "1,q?,,1"], r"t\.csv:2: field 'criterion': is missing"),
        ([HEADER, ",q?,c,1"], r"t\.csv:2: field 'task_id' is missing"),
        ([HEADER, "1,,c,1"], r"t\.csv:2: .*field 'query': is missing"),
        ([HEADER + ",metadata", "1,q?,c,1,[1]"], r"t\.csv:2: field 'metadata': is no JSON object"),
        ([HEADER], "holds no tasks"),
    ],
)
def test_faults_of_a_csv_are_named(tmp_path: Path, rows: list[str], named: str) -> None:
    with pytest.raises(InputError, match=named):
        read_flat_csv(written(tmp_path / "t.csv", *rows))


def weighing(*weights: float) -> Task:
    rubrics = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Says {n}.", weight=w) for n, w in enumerate(weights, start=1))
    return Task(task_id="t", language="en", domain="d", query="q?", rubrics=rubrics)


def test_weights_become_tenths_and_the_largest_change_of_a_score_is_told() -> None:
    (kept,), none = weights_in_tenths([weighing(0.3, 0.7)])
    assert ([one.weight for one in kept.rubrics], none) == ([0.3, 0.7], [])
    (task,), (misfit,) = weights_in_tenths([weighing(0.16, 0.04)])
    # 0.16 / 0.16 = 1.0 and 0.04 / 0.16 = 0.25, to the even tenth 0.2
    assert [one.weight for one in task.rubrics] == [1.0, 0.2]
    # shares 0.8 and 0.2 become 1/1.2 = 0.8333 and 0.1667: passing the first alone gains 3.33 points
    assert misfit.value == "3.33 points"
    (task,), (_, gone) = weights_in_tenths([weighing(0.5, 0.01)])
    assert [one.weight for one in task.rubrics] == [1.0, 0.0]
    assert (gone.kind, gone.rubric_id, gone.value) == ("lost", "R2", "0.01")


@settings(max_examples=60)
@given(benchmarks(texts=TEXTS))
def test_no_score_changes_by_more_than_is_told(made: list[Task]) -> None:
    done, misfits = weights_in_tenths(made)
    bounds = {one.task_id: float(one.value.split()[0]) for one in misfits if one.value.endswith("points")}
    for before, after in zip(made, done, strict=True):
        pairs = [(one.weight, other.weight) for one, other in zip(before.rubrics, after.rubrics, strict=True)]
        totals = [sum(one) for one in zip(*pairs, strict=True)]
        worst = 0.0
        for passed in range(2 ** len(pairs)):
            chosen = [pair for n, pair in enumerate(pairs) if passed >> n & 1]
            scores = [sum(pair[side] for pair in chosen) / totals[side] for side in (0, 1)]
            worst = max(worst, abs(scores[0] - scores[1]))
        assert worst * 100 == pytest.approx(bounds.get(before.task_id, 0.0), abs=0.006)
        assert all(round(10 * one.weight) / 10 == pytest.approx(one.weight) for one in after.rubrics)
