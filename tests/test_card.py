"""The dataset card: every number counted, nothing invented, the demo's one up to date."""

from __future__ import annotations

import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest
import yaml
from markdown_it import MarkdownIt

from lifesearch_kit.dataset_about import About, read_about
from lifesearch_kit.dataset_card import dataset_card, main
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks, write_jsonl
from lifesearch_kit.formats.parquet import write_parquet
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Rubric, Task

DEMO = ROOT / "data" / "demo"


def rubric(number: int, **changed: object) -> Rubric:
    return Rubric.model_validate({"rubric_id": f"R{number}", "criterion": "Says so.", "weight": 0.5} | changed)


@pytest.fixture
def tasks() -> list[Task]:
    return [
        Task(
            task_id="1",
            language="zh",
            domain="Ships | [x](y) <b>",
            query="四个汉字",
            cutoff=date(2026, 3, 31),
            rubrics=(rubric(1), rubric(2, priority="Nice to Have", weight=1.0)),
        ),
        Task(task_id="2", language="en", domain="Rail", query="Which?", rubrics=(rubric(1, dimension="insight"),)),
        Task(task_id="3", language="en", domain="Rail", query="Where?", rubrics=(rubric(1, type="Subjective"),)),
    ]


def front_matter(card: str) -> dict[str, object]:
    found: dict[str, object] = yaml.safe_load(card.split("---\n")[1])
    return found


def test_numbers_are_counted_from_the_data(tasks: list[Task]) -> None:
    card = dataset_card(tasks)
    for line in (
        "| tasks | 3 |",
        "| rubrics | 4 |",
        "| rubrics in a task | mean 1.33, median 1, 1 to 2 |",
        "| tasks with a cutoff date | 1 |",
        "| characters of a question | median 6, 4 to 6 |",
        "| weight of a task | median 0.5, 0.5 to 1.5 |",
        "| Rail | 2 | 66.7% |",
        "| English | 2 | 66.7% |",
        "| Must Have | 3 | 75.0% |",
        "| Subjective | 1 | 25.0% |",
        "| 0.5 | 3 | 75.0% |",
        "| insight | 1 | 25.0% |",
        "| not stated | 3 | 75.0% |",
        "| 2 | 1 |",
    ):
        assert line in card.splitlines(), line


def test_front_matter_is_what_hubs_read(tasks: list[Task]) -> None:
    assert front_matter(dataset_card(tasks)) == {
        "language": ["en", "zh"],
        "license": "unknown",
        "size_categories": ["n<1K"],
        "tags": ["deep-research", "rubrics", "evaluation"],
    }
    about = About(pretty_name="Ferries: a test", license="cc-by-4.0", annotations_creators=["crowdsourced"], tags=["x"])
    stated = front_matter(dataset_card(tasks, about))
    assert stated["pretty_name"] == "Ferries: a test"
    assert (stated["license"], stated["annotations_creators"], stated["tags"]) == ("cc-by-4.0", ["crowdsourced"], ["x"])


@pytest.mark.parametrize(("count", "size"), [(999, "n<1K"), (1000, "1K<n<10K"), (10_000, "10K<n<100K")])
def test_size_categories(tasks: list[Task], count: int, size: str) -> None:
    many = [tasks[1].model_copy(update={"task_id": str(number)}) for number in range(count)]
    assert front_matter(dataset_card(many))["size_categories"] == [size]


def test_what_nobody_says_is_not_stated(tasks: list[Task]) -> None:
    card = dataset_card(tasks)
    for name in ("questions", "rubrics", "quality control", "licence", "licence text", "citation", "contact"):
        assert f"| {name} | not stated |" in card.splitlines()
    assert "Demo data" not in card
    stated = dataset_card(tasks, About(questions_from="a port's log", license="mit", limits="Few ferries."))
    assert "| questions | a port's log |" in stated.splitlines()
    assert "| licence | mit |" in stated.splitlines()
    assert stated.endswith("## Known limits\n\nFew ferries.\n")


def test_names_from_the_data_are_shown_as_text(tasks: list[Task]) -> None:
    page = MarkdownIt("commonmark", {"html": True}).enable("table").render(dataset_card(tasks).split("---\n", 2)[2])
    assert "<td>Ships | [x](y) &lt;b&gt;</td>" in page


def test_invented_and_assumed_things_are_warned_of(tasks: list[Task]) -> None:
    origin = {"converted_from": {"format": "healthbench", "assumed": ["priority"]}}
    made = [tasks[0].model_copy(update={"metadata": origin}), tasks[1].model_copy(update={"metadata": {"invented": 1}})]
    card = dataset_card([*made, tasks[2]])
    assert "**Demo data.** 1 of 3 tasks are marked as invented" in card
    assert "**Assumed attributes.**" in card
    assert "priority (1 tasks)" in card
    assert "| converted from | healthbench (1 tasks) |" in card
    # Of four rubrics the first task's two are not known.
    assert "| Must Have | 2 | 50.0% |" in card
    assert "| not stated | 2 | 50.0% |" in card


def test_the_demo_card_is_up_to_date() -> None:
    made = dataset_card(read_tasks(DEMO / "tasks.jsonl"), read_about(DEMO / "card.yaml"))
    assert (DEMO / "CARD.md").read_text("utf-8") == made, "write it again as data/demo/card.yaml says"
    assert "14 of 14 tasks are marked as invented" in made


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("licence: mit", r"about\.yaml: field 'licence': is no known field; did you mean 'license'\?"),
        ("license: no", r"field 'license': false is no text"),
        ("annotations_creators: [robots]", r"field 'annotations_creators.0': \"robots\" is not allowed; choose"),
        ("- a", "holds no fields"),
        ("a: [", "cannot be read as YAML"),
        ("license: ' '", "is blank"),
    ],
)
def test_faults_of_what_is_told_are_named(tmp_path: Path, text: str, named: str) -> None:
    (tmp_path / "about.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=named):
        read_about(tmp_path / "about.yaml")
    with pytest.raises(InputError, match="no such file"):
        read_about(tmp_path / "none.yaml")


def test_the_command_line(tmp_path: Path, tasks: list[Task], capsys: pytest.CaptureFixture[str]) -> None:
    write_jsonl(tmp_path / "t.jsonl", tasks)
    write_parquet(tasks, tmp_path / "t.parquet")
    assert main([str(tmp_path / "t.jsonl")]) == 0
    printed = capsys.readouterr().out
    assert printed == dataset_card(tasks)
    assert main([str(tmp_path / "t.parquet"), "--out", str(tmp_path / "CARD.md")]) == 0
    assert (tmp_path / "CARD.md").read_text("utf-8") == printed
    assert main([str(tmp_path / "t.jsonl"), "--out", str(tmp_path / "CARD.md")]) == 2
    assert "is there already" in capsys.readouterr().err
    assert main([str(tmp_path / "t.jsonl"), "--out", str(tmp_path / "CARD.md"), "--replace"]) == 0
    assert main([str(tmp_path / "none.jsonl")]) == 2
    assert "no such file" in capsys.readouterr().err
    with pytest.raises(InputError, match="needs tasks"):
        dataset_card([])


def test_a_place_where_no_card_can_be_is_one_sentence(tmp_path: Path, tasks: list[Task]) -> None:
    source, about = tmp_path / "t.jsonl", tmp_path / "about.yaml"
    write_jsonl(source, tasks)
    about.write_text("license: mit\n", "utf-8")
    (tmp_path / "file").write_text("", "utf-8")
    before = source.read_bytes()
    for out, told in (
        (tmp_path / "none" / "CARD.md", f"there is no folder {tmp_path / 'none'}; make it, or name a file in another"),
        (tmp_path, "is a folder; name a file"),
        (tmp_path / "file" / "CARD.md", f"there is no folder {tmp_path / 'file'}; make it"),
        (source, "is what the card is made from; name another file"),
        (about, "is what the card is made from; name another file"),
    ):
        command = [sys.executable, "-m", "lifesearch_kit.dataset_card", str(source), "--about", str(about)]
        done = subprocess.run(
            [*command, "--out", str(out), "--replace"], capture_output=True, text=True, cwd=ROOT, check=False
        )
        assert done.returncode == 2
        assert done.stderr.startswith(f"{out}: {told}")
        assert done.stderr.count("\n") == 1
    assert source.read_bytes() == before


def test_a_full_disk_leaves_the_card_as_it_was(
    tmp_path: Path, tasks: list[Task], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_jsonl(tmp_path / "t.jsonl", tasks)
    (tmp_path / "CARD.md").write_text("earlier", "utf-8")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    assert main([str(tmp_path / "t.jsonl"), "--out", str(tmp_path / "CARD.md"), "--replace"]) == 2
    assert "CARD.md: cannot be written (No space left on device); name another file" in capsys.readouterr().err
    assert (tmp_path / "CARD.md").read_text("utf-8") == "earlier"
