"""HealthBench and ResearchRubrics: points into weights, faults inverted on a stated scale, the same files out again."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_tasks import JSON_VALUES, NAMES, TEXTS, benchmarks, lines

from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks, write_jsonl
from lifesearch_kit.formats.healthbench import read_healthbench, write_healthbench
from lifesearch_kit.formats.misfits import Conversion, Misfit
from lifesearch_kit.formats.points import original_score
from lifesearch_kit.formats.research_rubrics import read_research_rubrics, write_research_rubrics
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Rubric, Task


class Form(NamedTuple):
    read: Callable[..., Conversion]
    write: Callable[[list[Task], Path], list[Misfit]]
    points: str
    largest: int


HEALTHBENCH = Form(read_healthbench, write_healthbench, "points", 10)
RESEARCH_RUBRICS = Form(read_research_rubrics, write_research_rubrics, "weight", 5)
FORMS = pytest.mark.parametrize("form", [HEALTHBENCH, RESEARCH_RUBRICS], ids=["healthbench", "research-rubrics"])


def example(**changed: Any) -> dict[str, Any]:
    row = {
        "example_tags": ["theme:travel_health", "physician_agreed_category:enough"],
        "ideal_completions_data": None,
        "prompt": [{"content": "Is the water of Selwick safe to drink?", "role": "user"}],
        "prompt_id": "aa-1",
        "rubrics": [
            {"criterion": "States that the water is safe.", "points": 7, "tags": ["level:example", "axis:accuracy"]},
            {"criterion": "Names the waterworks.", "points": 3.0, "tags": ["axis:completeness"]},
            {"criterion": "Gives a wrong dose.", "points": -4, "tags": ["level:example", "axis:accuracy"]},
        ],
        "canary": "invented",
    }
    return row | changed


def sample(**changed: Any) -> dict[str, Any]:
    row = {
        "prompt": "比较两家渡轮公司。",
        "sample_id": "s1",
        "domain": "Transport",
        "conceptual_breadth": "Simple",
        "logical_nesting": "Shallow",
        "exploration": "Low",
        "rubrics": [
            {"criterion": "回复应给出票价。", "weight": 5.0, "axis": "Explicit Criteria"},
            {"criterion": "回复应说明季节。", "weight": 2.0, "axis": "Implicit Criteria"},
            {"criterion": "引用了不存在的来源。", "weight": -3.0, "axis": "References & Citation Quality"},
        ],
    }
    return row | changed


def of(form: Form, **changed: Any) -> dict[str, Any]:
    return (example if form is HEALTHBENCH else sample)(**changed)


def test_points_over_ten_are_the_weights_and_tags_say_the_rest(tmp_path: Path) -> None:
    (task,), misfits = read_healthbench(lines(tmp_path / "h.jsonl", [example()]), negative="invert")
    assert (task.task_id, task.language, task.domain) == ("aa-1", "en", "travel_health")
    assert task.query == "Is the water of Selwick safe to drink?"
    # 7/10, 3/10, 4/10
    assert [(one.rubric_id, one.weight, one.dimension) for one in task.rubrics] == [
        ("R1", 0.7, "accuracy"),
        ("R2", 0.3, "completeness"),
        ("R3", 0.4, "accuracy"),
    ]
    assert task.rubrics[2].criterion.endswith("(its absence passes): Gives a wrong dose.")
    assert {(one.kind, one.field) for one in misfits} == {
        ("assumed", "language"),
        ("assumed", "type"),
        ("assumed", "necessity"),
        ("assumed", "priority"),
        ("kept", "ideal_completions_data"),
        ("kept", "canary"),
        ("changed", "points"),
        ("changed", "score"),
        ("changed", "negative points"),
    }
    # 7 + 3 positive, 4 inverted
    assert next(one.value for one in misfits if one.field == "score") == "T = 10, K = 4"
    assert task.metadata["converted_from"]["assumed"] == ["type", "necessity", "priority", "language"]


def test_axes_say_the_necessity_where_they_do(tmp_path: Path) -> None:
    (task,), misfits = read_research_rubrics(lines(tmp_path / "r.jsonl", [sample()]), negative="invert")
    assert (task.task_id, task.language, task.domain) == ("s1", "zh", "Transport")
    # 5/5, 2/5, 3/5
    assert [(one.weight, one.necessity, one.dimension) for one in task.rubrics] == [
        (1.0, "Explicit", "Explicit Criteria"),
        (0.4, "Implicit", "Implicit Criteria"),
        (0.6, "Explicit", "References & Citation Quality"),
    ]
    assert task.rubrics[2].criterion == "回复不应出现以下情形（未出现即为通过）：引用了不存在的来源。"
    assert [one.field for one in misfits if one.kind == "assumed"] == ["language", "type", "priority", "necessity"]
    assert [one.field for one in misfits if one.kind == "kept"] == [
        "conceptual_breadth",
        "logical_nesting",
        "exploration",
    ]


@FORMS
def test_negative_points_are_refused_until_something_is_chosen(tmp_path: Path, form: Form) -> None:
    path = lines(tmp_path / "f.jsonl", [of(form)])
    with pytest.raises(InputError) as raised:
        form.read(path)
    told = str(raised.value)
    assert len(raised.value.faults) == 1
    for part in ("1 criteria of 1 tasks", "f.jsonl:1, rubric 3", "'invert'", "'drop'", "original_score"):
        assert part in told
    tasks, misfits = form.read(path, negative="drop")
    assert [one.rubric_id for one in tasks[0].rubrics] == ["R1", "R2"]
    (lost,) = [one for one in misfits if one.kind == "lost"]
    assert (lost.rubric_id, lost.field) == ("R3", "negative points")
    assert of(form)["rubrics"][2]["criterion"] in lost.value


@FORMS
def test_a_task_of_faults_alone_cannot_drop_them(tmp_path: Path, form: Form) -> None:
    rows = [of(form, rubrics=of(form)["rubrics"][2:])]
    with pytest.raises(InputError, match=r"f\.jsonl:1: task '.*': there are no rubrics"):
        form.read(lines(tmp_path / "f.jsonl", rows), negative="drop")


@pytest.mark.parametrize(
    ("form", "points"),
    [
        (HEALTHBENCH, [7, 3, -4]),
        (HEALTHBENCH, [1, -10, -9]),
        (HEALTHBENCH, [12, -2.5, 0.5]),
        (RESEARCH_RUBRICS, [5.0, 2.0, -3.0]),
    ],
)
def test_inverted_scores_go_back_to_the_points_scale_for_every_report(
    tmp_path: Path, form: Form, points: list[float]
) -> None:
    rubrics = [{"criterion": f"Says {n}.", form.points: value} for n, value in enumerate(points)]
    (task,), _ = form.read(lines(tmp_path / "f.jsonl", [of(form, rubrics=rubrics)]), negative="invert")
    total = sum(one.weight for one in task.rubrics)
    for met in product([True, False], repeat=3):
        theirs = sum(value for value, is_met in zip(points, met, strict=True) if is_met) / sum(
            value for value in points if value > 0
        )
        passed = [is_met is (value > 0) for value, is_met in zip(points, met, strict=True)]
        ours = sum(one.weight for one, ok in zip(task.rubrics, passed, strict=True) if ok) / total
        assert original_score(task, ours) == pytest.approx(theirs)


def test_the_stated_limit_means_over_tasks_may_order_systems_otherwise(tmp_path: Path) -> None:
    def criteria(faults: float) -> list[dict[str, Any]]:
        return [{"criterion": "Good.", "points": 10}] + [{"criterion": "Bad.", "points": -10}] * int(faults / 10)

    rows = [example(prompt_id=name, rubrics=criteria(faults)) for name, faults in (("a", 0), ("b", 90))]
    tasks, _ = read_healthbench(lines(tmp_path / "h.jsonl", rows), negative="invert")
    # On the inverted scale: 1 and 90/100 for one system, 0.4 and 97/100 for the other.
    first, second = (1.0, 0.90), (0.4, 0.97)
    assert sum(first) > sum(second)
    back = [sum(original_score(task, one) for task, one in zip(tasks, s, strict=True)) for s in (first, second)]
    # (100 x 0.90 - 90) / 10 = 0 and (97 - 90) / 10 = 0.7
    assert back == pytest.approx([1.0 + 0.0, 0.4 + 0.7])


def test_a_task_without_merits_has_no_score_there(tmp_path: Path) -> None:
    rows = [example(rubrics=example()["rubrics"][2:])]
    (task,), _ = read_healthbench(lines(tmp_path / "h.jsonl", rows), negative="invert")
    with pytest.raises(InputError, match="no criterion has positive points"):
        original_score(task, 1.0)


@FORMS
@pytest.mark.parametrize("negative", ["invert", "drop"])
def test_in_and_out_gives_the_same_file_also_through_the_kits_own(tmp_path: Path, form: Form, negative: str) -> None:
    path = lines(tmp_path / "in.jsonl", [of(form)])
    tasks, _ = form.read(path, negative=negative)
    write_jsonl(tmp_path / "tasks.jsonl", tasks)
    assert form.write(read_tasks(tmp_path / "tasks.jsonl"), tmp_path / "out.jsonl") == []
    assert (tmp_path / "out.jsonl").read_text("utf-8") == path.read_text("utf-8")


@FORMS
def test_edits_are_written_and_the_rest_stays(tmp_path: Path, form: Form) -> None:
    (task,), _ = form.read(lines(tmp_path / "in.jsonl", [of(form)]), negative="invert")
    one, two, fault = task.rubrics
    edited = [
        two.model_copy(update={"weight": 0.8}),
        one.model_copy(update={"criterion": "Says more."}),
        fault.model_copy(update={"criterion": "The response should give no wrong value."}),
        Rubric(rubric_id="R9", criterion="New.", weight=0.2),
    ]
    query = "Another question?"
    task = task.model_copy(update={"rubrics": tuple(edited), "query": query, "task_id": "other"})
    form.write([task], tmp_path / "out.jsonl")
    row = json.loads((tmp_path / "out.jsonl").read_text("utf-8"))
    before = of(form)["rubrics"]
    unit = form.largest
    assert [(item["criterion"], item[form.points]) for item in row["rubrics"]] == [
        ("Says more.", before[0][form.points]),
        (before[1]["criterion"], unit * 0.8),
        # It is no longer the inversion of the fault, so its points are what it is worth.
        ("The response should give no wrong value.", -before[2][form.points]),
        ("New.", unit * 0.2),
    ]
    assert query in json.dumps(row["prompt"])
    assert "other" in row.values()


@FORMS
@pytest.mark.parametrize(
    ("place", "value", "named"),
    [
        (("rubrics", 0, "points"), "7", r"rubric 1, field 'points'.*is no number"),
        (("rubrics", 0, "points"), float("nan"), "rubric 1, field 'points'"),
        (("rubrics", 1, "criterion"), " ", r"rubric 2, field 'criterion'.*is blank"),
        (("rubrics",), [], "rubrics"),
        (("prompt",), None, "prompt"),
        (("id",), " ", "is blank"),
    ],
)
def test_bad_fields_are_named_with_file_line_and_remedy(
    tmp_path: Path, form: Form, place: tuple[Any, ...], value: Any, named: str
) -> None:
    names = {"points": form.points, "id": "prompt_id" if form is HEALTHBENCH else "sample_id"}
    row = of(form)
    inner: Any = row
    for step in place[:-1]:
        inner = inner[step]
    inner[names.get(place[-1], place[-1])] = value
    path = tmp_path / "f.jsonl"
    path.write_text("\n" + json.dumps(row) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"f\.jsonl:2: .*" + named.replace("points", names["points"])):
        form.read(path, negative="invert")


@FORMS
def test_what_json_cannot_say_is_not_written_and_the_file_stays(tmp_path: Path, form: Form) -> None:
    tasks, _ = form.read(lines(tmp_path / "f.jsonl", [of(form, level=float("inf"))]), negative="drop")
    (tmp_path / "out.jsonl").write_text("earlier", encoding="utf-8")
    with pytest.raises(InputError, match=r"out\.jsonl:1: cannot be written as JSON"):
        form.write(tasks, tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text("utf-8") == "earlier"


@FORMS
def test_repeated_ids_and_empty_files_are_refused(tmp_path: Path, form: Form) -> None:
    with pytest.raises(InputError, match="stands already"):
        form.read(lines(tmp_path / "f.jsonl", [of(form), of(form)]), negative="invert")
    with pytest.raises(InputError, match="holds no tasks"):
        form.read(lines(tmp_path / "f.jsonl", []))


def test_a_conversation_becomes_one_query_and_comes_back_as_it_was(tmp_path: Path) -> None:
    prompt = [
        {"role": "user", "content": "Is it safe?"},
        {"role": "assistant", "content": "What?"},
        {"role": "user", "content": "The water."},
    ]
    path = lines(tmp_path / "in.jsonl", [example(prompt=prompt)])
    (task,), misfits = read_healthbench(path, negative="drop")
    assert task.query == "user: Is it safe?\n\nassistant: What?\n\nuser: The water."
    assert [one.value for one in misfits if one.field == "prompt"] == ["3 messages"]
    write_healthbench([task], tmp_path / "out.jsonl")
    assert (tmp_path / "out.jsonl").read_text("utf-8") == path.read_text("utf-8")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("请比较 TensorFlow 和 PyTorch 的性能", "zh"),
        ("What does 你好 mean in English?", "en"),
        ("渡轮の料金はいくらですか", "en"),
        ("Сколько стоит паром?", "en"),
    ],
)
def test_languages_are_guessed_from_the_script_unless_given(tmp_path: Path, text: str, language: str) -> None:
    path = lines(tmp_path / "in.jsonl", [example(prompt=[{"role": "user", "content": text}])])
    (task,), misfits = read_healthbench(path, negative="drop")
    assert task.language == language
    assert [one.value for one in misfits if one.field == "language"] == [language]
    (task,), misfits = read_healthbench(path, negative="drop", language="zh", domain="Health")
    assert (task.language, task.domain) == ("zh", "Health")
    assert not [one for one in misfits if one.field in ("language", "domain")]
    (lost,) = [one for one in write_healthbench([task], tmp_path / "out.jsonl") if one.field == "domain"]
    assert lost.value == "Health"


def test_a_missing_domain_is_not_stated(tmp_path: Path) -> None:
    path = lines(tmp_path / "in.jsonl", [example(example_tags=[])])
    (task,), misfits = read_healthbench(path, negative="drop")
    assert task.domain == "not stated"
    assert [one.value for one in misfits if one.field == "domain"] == ["not stated"]


@FORMS
def test_the_demo_benchmark_goes_out_with_its_losses_named(tmp_path: Path, form: Form) -> None:
    tasks = read_tasks(ROOT / "data" / "demo" / "tasks.jsonl")
    misfits = form.write(tasks, tmp_path / "out.jsonl")
    lost = {one.field for one in misfits}
    often = {"language", "cutoff", "metadata", "type", "priority"}
    assert lost == often | ({"necessity"} if form is HEALTHBENCH else {"dimension"})
    again, _ = form.read(tmp_path / "out.jsonl")
    for before, after in zip(tasks, again, strict=True):
        assert (before.task_id, before.query, before.domain) == (after.task_id, after.query, after.domain)
        assert [(one.criterion, one.weight) for one in before.rubrics] == [
            (one.criterion, one.weight) for one in after.rubrics
        ]


@FORMS
@settings(max_examples=40)
@given(made=benchmarks(numbered=True))
def test_whatever_comes_back_otherwise_was_named(form: Form, made: list[Task]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        misfits = form.write(made, Path(folder) / "out.jsonl")
        again, more = form.read(Path(folder) / "out.jsonl")
    for before, after in zip(made, again, strict=True):
        named = {one.field for one in (*misfits, *more) if one.task_id == before.task_id}
        assert (after.task_id, after.query) == (before.task_id, before.query)
        for name in ("language", "domain", "cutoff"):
            assert getattr(after, name) == getattr(before, name) or name in named
        for one, other in zip(before.rubrics, after.rubrics, strict=True):
            assert (one.rubric_id, one.criterion) == (other.rubric_id, other.criterion)
            assert one.weight == pytest.approx(other.weight, rel=1e-12)
            for name in ("type", "necessity", "priority", "dimension"):
                # What a rubric does not say at all, the format's axis may add.
                assert getattr(one, name) in (None, getattr(other, name)) or name in named


@st.composite
def foreign_rows(draw: st.DrawFn, form: Form) -> list[dict[str, Any]]:
    number = st.one_of(st.integers(-form.largest, form.largest), st.floats(-100, 100).filter(lambda x: abs(x) > 1e-6))
    extra = st.dictionaries(st.sampled_from(["canary", "note", "level"]), JSON_VALUES, max_size=2)
    rows = []
    for name in draw(st.lists(st.one_of(NAMES, st.integers(0, 99)), min_size=1, max_size=3, unique_by=str)):
        points = draw(st.lists(number, min_size=1, max_size=4).filter(lambda values: any(one > 0 for one in values)))
        items = [draw(st.permutations([(form.points, value), *draw(extra).items()])) for value in points]
        rubrics = [{"criterion": draw(TEXTS), **dict(item)} for item in items]
        if form is HEALTHBENCH:
            turns = draw(st.lists(TEXTS, min_size=1, max_size=3))
            prompt: Any = [{"role": "user" if n % 2 == 0 else "assistant", "content": x} for n, x in enumerate(turns)]
            row = {"prompt": prompt, "prompt_id": name, "rubrics": rubrics}
        else:
            row = {"prompt": draw(TEXTS), "sample_id": name, "rubrics": rubrics}
        rows.append(dict(draw(st.permutations([*row.items(), *draw(extra).items()]))))
    return rows


@FORMS
@pytest.mark.parametrize("negative", ["invert", "drop"])
@settings(max_examples=40)
@given(data=st.data())
def test_any_foreign_file_comes_out_as_it_was(form: Form, negative: str, data: st.DataObject) -> None:
    rows = data.draw(foreign_rows(form))
    with tempfile.TemporaryDirectory() as folder:
        path = lines(Path(folder) / "in.jsonl", rows)
        tasks, _ = form.read(path, negative=negative)
        assert form.write(tasks, Path(folder) / "out.jsonl") == []
        assert (Path(folder) / "out.jsonl").read_text("utf-8") == path.read_text("utf-8")
