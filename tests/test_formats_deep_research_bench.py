"""DeepResearch Bench: weights in two levels in, and the same files out again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from made_tasks import benchmarks, lines

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks
from lifesearch_kit.formats.deep_research_bench import read_deep_research_bench
from lifesearch_kit.formats.deep_research_bench_folder import write_deep_research_bench
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Rubric, Task

REAL = Path(os.environ.get("LIFESEARCH_REAL_DATA", ROOT.parent / "shared" / "real")) / "deep_research_bench"
QUESTIONS = {"1": "澜亭港有几个泊位？", "2": "How long is the Selwick tramway?"}


def criteria_row(number: int, **changed: Any) -> dict[str, Any]:
    criterion = {"criterion": "Length", "explanation": "The length is given in km.", "weight": 0.15}
    row = {
        "id": number,
        "prompt": QUESTIONS[str(number)],
        "dimension_weight": {"insight": 0.3, "readability": 0.7},
        "criterions": {
            "insight": [criterion, {**criterion, "weight": 0.85}],
            "readability": [{**criterion, "weight": 1.0, "comment": "further fields are no fault"}],
        },
    }
    return row | changed


def query_row(number: int, **changed: Any) -> dict[str, Any]:
    language = "zh" if number == 1 else "en"
    return {"id": number, "topic": "Transport", "language": language, "prompt": QUESTIONS[str(number)]} | changed


def test_deep_research_bench_weights_are_products_not_rounded(tmp_path: Path) -> None:
    criteria = lines(tmp_path / "criteria.jsonl", [criteria_row(2), criteria_row(1)])
    queries = lines(tmp_path / "query.jsonl", [query_row(1), query_row(2)])
    first, second = read_deep_research_bench(criteria, queries).tasks
    assert (first.task_id, first.language, first.domain, first.query) == ("2", "en", "Transport", QUESTIONS["2"])
    assert {one.rubric_id: one.weight for one in first.rubrics} == pytest.approx(
        {"insight-1": 0.045, "insight-2": 0.255, "readability-1": 0.7}
    )
    assert first.rubrics[0].criterion == "Length: The length is given in km."
    assert second.rubrics[0].criterion.startswith("Length：")


@pytest.mark.parametrize(
    ("criteria", "queries", "named"),
    [
        ([criteria_row(1)], [query_row(1), query_row(2)], r"query\.jsonl: id '2' has no criteria"),
        ([criteria_row(1), criteria_row(2)], [query_row(1)], r"id '2' is not in"),
        ([criteria_row(1)], [query_row(1, prompt="另一个问题")], "another prompt"),
        ([criteria_row(1, dimension_weight={"insight": 1.0})], [query_row(1)], "dimension readability"),
        ([criteria_row(1), criteria_row(1)], [query_row(1)], "stands already"),
        ([criteria_row(1, dimension_weight={"insight": 30.0, "readability": 0.7})], [query_row(1)], "dimension_weight"),
    ],
)
def test_deep_research_bench_files_that_do_not_fit_are_refused(
    tmp_path: Path, criteria: list[dict[str, Any]], queries: list[dict[str, Any]], named: str
) -> None:
    with pytest.raises(InputError, match=named):
        read_deep_research_bench(lines(tmp_path / "criteria.jsonl", criteria), lines(tmp_path / "query.jsonl", queries))


def test_what_the_files_do_not_say_is_assumed_and_named(tmp_path: Path) -> None:
    criteria = lines(tmp_path / "criteria.jsonl", [criteria_row(2)])
    (task,), misfits = read_deep_research_bench(criteria, lines(tmp_path / "query.jsonl", [query_row(2)]))
    assert [one.field for one in misfits if one.kind == "assumed"] == ["type", "necessity", "priority"]
    assert task.metadata["converted_from"]["assumed"] == ["type", "necessity", "priority"]
    # 0.3 x 0.15 = 0.045 is no tenth
    assert any(
        one.field == "weight" and "0.045" in one.value and "weight_step=None" in one.treatment for one in misfits
    )


def test_a_criterion_without_explanation_stands_alone(tmp_path: Path) -> None:
    row = criteria_row(2)
    row["criterions"]["readability"][0]["explanation"] = " "
    criteria = lines(tmp_path / "criteria.jsonl", [row])
    (task,), _ = read_deep_research_bench(criteria, lines(tmp_path / "query.jsonl", [query_row(2)]))
    assert task.rubrics[-1].criterion == "Length"
    assert write_deep_research_bench([task], tmp_path / "out") == []
    assert (tmp_path / "out" / "criteria.jsonl").read_text("utf-8") == criteria.read_text("utf-8")


def test_in_and_out_gives_the_same_files_further_fields_and_number_ids_too(tmp_path: Path) -> None:
    criteria = lines(tmp_path / "criteria.jsonl", [criteria_row(2, source="city"), criteria_row(1)])
    prompt = "How  long is the Selwick\ntramway?"
    queries = lines(tmp_path / "query.jsonl", [query_row(2, prompt=prompt), query_row(1, level=3)])
    tasks, _ = read_deep_research_bench(criteria, queries)
    assert write_deep_research_bench(tasks, tmp_path / "out") == []
    for name in ("criteria.jsonl", "query.jsonl"):
        assert (tmp_path / "out" / name).read_text("utf-8") == (tmp_path / name).read_text("utf-8")


def test_an_edited_weight_splits_the_task_anew(tmp_path: Path) -> None:
    criteria = lines(tmp_path / "criteria.jsonl", [criteria_row(2)])
    (task,), _ = read_deep_research_bench(criteria, lines(tmp_path / "query.jsonl", [query_row(2)]))
    rubrics = list(task.rubrics)
    rubrics[0] = rubrics[0].model_copy(update={"weight": 0.345, "criterion": "The length is in metres."})
    misfits = write_deep_research_bench([task.model_copy(update={"rubrics": tuple(rubrics)})], tmp_path / "out")
    assert [(one.kind, one.field, one.value) for one in misfits] == [("changed", "weight", "sum 1.3")]
    (again,), _ = read_deep_research_bench(tmp_path / "out" / "criteria.jsonl", tmp_path / "out" / "query.jsonl")
    assert again.rubrics[0].criterion == "The length is in metres."
    # (0.345, 0.255, 0.7) / 1.3
    assert [one.weight for one in again.rubrics] == pytest.approx([0.345 / 1.3, 0.255 / 1.3, 0.7 / 1.3])


def test_the_demo_benchmark_goes_out_with_its_losses_named(tmp_path: Path) -> None:
    tasks = read_tasks(ROOT / "data" / "demo" / "tasks.jsonl")
    misfits = write_deep_research_bench(tasks, tmp_path)
    lost = {one.field for one in misfits if one.kind == "lost"}
    assert lost == {"cutoff", "metadata", "type", "necessity", "priority"}
    assert next(one for one in misfits if one.field == "metadata").value == "invented"
    again, _ = read_deep_research_bench(tmp_path / "criteria.jsonl", tmp_path / "query.jsonl")
    for before, after in zip(tasks, again, strict=True):
        assert (before.task_id, before.language, before.domain) == (after.task_id, after.language, after.domain)
        shares = {one.criterion: one.weight / sum(other.weight for other in before.rubrics) for one in before.rubrics}
        assert {one.criterion: one.weight for one in after.rubrics} == pytest.approx(shares)
        assert {one.criterion: one.dimension for one in after.rubrics} == {
            one.criterion: one.dimension for one in before.rubrics
        }


@pytest.mark.filterwarnings("ignore::lifesearch_kit.errors.InputWarning")
@settings(max_examples=40)
@given(benchmarks(numbered=True))
def test_whatever_comes_back_otherwise_was_named(made: list[Task]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        misfits = write_deep_research_bench(made, folder)
        again, _ = read_deep_research_bench(Path(folder) / "criteria.jsonl", Path(folder) / "query.jsonl")
    for before, after in zip(made, again, strict=True):
        named = {one.field for one in misfits if one.task_id == before.task_id}
        assert (after.task_id, after.language, after.domain, after.query) == (
            before.task_id,
            before.language,
            before.domain,
            before.query,
        )
        assert after.cutoff == before.cutoff or "cutoff" in named
        # Rubrics stand by dimension there.
        total = sum(one.weight for one in before.rubrics)
        assert sorted((one.criterion, round(one.weight, 6)) for one in after.rubrics) == sorted(
            (one.criterion, round(one.weight / total, 6)) for one in before.rubrics
        )
        for name in ("type", "necessity", "priority", "dimension"):
            same = sorted((one.criterion, str(getattr(one, name))) for one in before.rubrics) == sorted(
                (one.criterion, str(getattr(one, name))) for one in after.rubrics
            )
            assert same or name in named


def test_rubrics_without_a_dimension_have_a_place_of_their_own(tmp_path: Path) -> None:
    rubrics = tuple(
        Rubric(rubric_id=f"R{n}", criterion=f"It should say {n}.", weight=w) for n, w in ((1, 0.0), (2, 0.5))
    )
    task = Task(task_id="t", language="en", domain="d", query="q?", rubrics=rubrics)
    misfits = write_deep_research_bench([task], tmp_path)
    assert [one.value for one in misfits if (one.kind, one.field) == ("lost", "dimension")] == ["None"]
    (again,), _ = read_deep_research_bench(tmp_path / "criteria.jsonl", tmp_path / "query.jsonl")
    assert [(one.dimension, one.weight) for one in again.rubrics] == [("criteria", 0.0), ("criteria", 1.0)]


@pytest.mark.skipif(not REAL.exists(), reason="set LIFESEARCH_REAL_DATA to a folder that holds deep_research_bench/")
def test_the_real_files_come_out_byte_for_byte(tmp_path: Path) -> None:
    tasks, _ = read_deep_research_bench(REAL / "criteria.jsonl", REAL / "query.jsonl")
    assert write_deep_research_bench(tasks, tmp_path) == []
    for name in ("criteria.jsonl", "query.jsonl"):
        assert (tmp_path / name).read_bytes() == (REAL / name).read_bytes()
