"""A benchmark's card, computed from its tasks: ``python -m lifesearch_kit.dataset_card TASKS --out CARD.md``."""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from lifesearch_kit.dataset_about import About, read_about
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_tasks
from lifesearch_kit.formats.misfits import ATTRIBUTES, origin_of
from lifesearch_kit.formats.parquet import read_parquet
from lifesearch_kit.formats.task_schema import task_schema
from lifesearch_kit.frames import rubrics_frame, tasks_frame
from lifesearch_kit.paths import replacing
from lifesearch_kit.plots.dataset import describe_dataset
from lifesearch_kit.records import Rubric, Task

NOT_STATED = "not stated"
_SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "n>10M")
_LANGUAGES = {"zh": "Chinese", "en": "English"}
_MARKDOWN = re.compile(r"[\\`*{}\[\]<>|]|(?<!\w)_|_(?!\w)|^[#>~+-]")


def dataset_card(tasks: Sequence[Task], about: About | None = None) -> str:
    """Describe a benchmark in Markdown, with the front matter that data hubs read.

    Parameters
    ----------
    tasks
        The benchmark; every number is counted from it.
    about
        What cannot be counted.

    Returns
    -------
    str
        The card. It says which tasks are marked as invented, and which attributes were only assumed when tasks were
        converted from another format.

    Raises
    ------
    InputError
        When there are no tasks.
    """
    if not tasks:
        raise InputError("a card needs tasks; there are none")
    about = about or About()
    head = yaml.safe_dump(_front_matter(tasks, about), allow_unicode=True, sort_keys=False)
    parts = [
        f"---\n{head}---",
        f"# {_plain(about.pretty_name or 'A benchmark without a name')}",
        *_warnings(tasks),
        _plain(about.description or f"Description: {NOT_STATED}."),
        *_counts(tasks),
        *_structure(),
        *_provenance(tasks, about),
    ]
    return "\n\n".join(parts) + "\n"


def _front_matter(tasks: Sequence[Task], about: About) -> dict[str, Any]:
    languages = [name for name, _ in Counter(task.language for task in tasks).most_common()]
    size = next((n for n in range(len(_SIZES) - 1) if len(tasks) < 10 ** (n + 3)), len(_SIZES) - 1)
    stated: dict[str, Any] = {
        "pretty_name": about.pretty_name,
        "language": languages,
        "license": about.license or "unknown",
        "license_link": about.license_link,
        "language_creators": about.language_creators,
        "annotations_creators": about.annotations_creators,
        "size_categories": [_SIZES[size]],
        "tags": about.tags or ["deep-research", "rubrics", "evaluation"],
    }
    return {name: value for name, value in stated.items() if value is not None}


def _warnings(tasks: Sequence[Task]) -> list[str]:
    invented = sum(bool(task.metadata.get("invented")) for task in tasks)
    found = []
    if invented:
        found.append(
            f"> **Demo data.** {invented} of {len(tasks)} tasks are marked as invented: made up for trying things. "
            "Scores on them measure nothing, and nothing in them may be cited as a fact."
        )
    silent = {name: sum(name in origin_of(task).get("assumed", ()) for task in tasks) for name in ATTRIBUTES}
    told = ", ".join(f"{name} ({count} tasks)" for name, count in silent.items() if count)
    if told:
        found.append(
            f"> **Assumed attributes.** The files that tasks were converted from do not say: {told}. The defaults "
            f"({', '.join(str(Rubric.model_fields[name].default) for name in ATTRIBUTES)}) are what a judge is shown; "
            "below they count as not stated."
        )
    return found


def _counts(tasks: Sequence[Task]) -> list[str]:
    frame, rubrics = tasks_frame(tasks), rubrics_frame(tasks)
    counted = describe_dataset(frame, rubrics)
    groups = {str(name): rows.set_index("name")["value"] for name, rows in counted.groupby("group", sort=False)}
    sizes = groups["rubrics_per_task"]
    with_cutoff = int(frame["cutoff"].notna().sum())
    rows = [
        ("tasks", f"{len(tasks):,}"),
        ("rubrics", f"{len(rubrics):,}"),
        (
            "rubrics in a task",
            f"mean {sizes['mean']:.2f}, median {sizes['median']:g}, {sizes['min']:g} to {sizes['max']:g}",
        ),
        ("tasks with a cutoff date", f"{with_cutoff:,}"),
        ("characters of a question", _spread(frame["query"].str.len())),
        ("characters of a criterion", _spread(rubrics["criterion"].str.len())),
        ("weight of a task", _spread(rubrics.groupby("task_id")["weight"].sum())),
    ]
    languages = groups["language"].rename(index=_LANGUAGES)
    parts = ["## Counts", _table(("", ""), rows), "## Distributions"]
    for title, values in (("domain", groups["domain"]), ("language", languages)):
        shares = [(name, f"{value:g}", f"{100 * value / len(tasks):.1f}%") for name, value in values.items()]
        parts.append(_table((title, "tasks", "share"), shares))
    for name in ATTRIBUTES:
        assumed = [task.task_id for task in tasks if name in origin_of(task).get("assumed", ())]
        rubrics[name] = rubrics[name].mask(rubrics["task_id"].isin(assumed))
    for title in ("priority", "necessity", "type", "dimension", "weight"):
        parts.append(_shares(rubrics[title], title))
    parts.append(_table(("rubrics in a task", "tasks"), [(n, f"{v:g}") for n, v in groups["rubrics_in_task"].items()]))
    return [part for part in parts if part]


def _spread(values: pd.Series[float]) -> str:
    return f"median {values.median():,.6g}, {values.min():,.6g} to {values.max():,.6g}"


def _shares(values: pd.Series[Any], title: str) -> str:
    """A table of a rubric attribute's values; the few weights of a scale in steps, but no table of any others."""
    counts = values.value_counts()
    if title == "weight":
        counts = counts.sort_index(ascending=False)
        if len(counts) > 11:
            return f"Weights take {len(counts)} values, {values.min():.4g} to {values.max():.4g}."
    missing = int(values.isna().sum())
    rows = [(name, f"{n:,}", f"{100 * n / len(values):.1f}%") for name, n in counts.items()]
    rows += [(NOT_STATED, f"{missing:,}", f"{100 * missing / len(values):.1f}%")] if missing else []
    return _table((title, "rubrics", "share"), rows)


def _structure() -> list[str]:
    schema = task_schema()
    rubric = schema["$defs"][Rubric.__name__]
    fields = {name: name in schema["required"] for name in schema["properties"]}
    fields |= {f"rubrics[].{name}": name in rubric["required"] for name in rubric["properties"]}
    needed, free = (", ".join(f"`{name}`" for name in fields if fields[name] is sign) for sign in (True, False))
    told = (
        "A task a line, its rubrics inside. Each rubric is passed or failed by itself; a report's score on a task is "
        "its passed weight over all weight."
    )
    where = "`python -m lifesearch_kit.formats schema` writes the JSON Schema."
    return ["## Structure", told, f"Required: {needed}. Optional: {free}. {where}"]


def _provenance(tasks: Sequence[Task], about: About) -> list[str]:
    origins = Counter(str(origin_of(task)["format"]) for task in tasks if origin_of(task).get("format"))
    rows = [
        (
            "converted from",
            ", ".join(f"{name} ({count} tasks)" for name, count in origins.items()) or "no other format",
        ),
        ("questions", about.questions_from),
        ("rubrics", about.rubrics_from),
        ("quality control", about.quality_control),
        ("licence", about.license),
        ("licence text", about.license_link),
        ("citation", about.citation),
        ("contact", about.contact),
    ]
    stated = [(name, value or NOT_STATED) for name, value in rows]
    limits = _plain(about.limits or NOT_STATED.capitalize() + ".")
    return ["## Provenance and licence", _table(("", ""), stated), "## Known limits", limits]


def _table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    lines = [heads, ["---"] * len(heads), *([_plain(str(cell)) for cell in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _plain(text: str) -> str:
    """A text as it is, not as Markdown, on one line."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(text.split()))


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line.

    Returns
    -------
    int
        0 when the card was written, 2 when the tasks, what is told about them or the card's place cannot be used.
    """
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.dataset_card", description=__doc__)
    parser.add_argument("tasks", type=Path, help="tasks.jsonl or .parquet")
    parser.add_argument("--about", type=Path, help="a YAML file: license, questions_from, limits ...")
    parser.add_argument("--out", type=Path, help="the card; without it, it is printed")
    parser.add_argument("--replace", action="store_true", help="overwrite the card")
    given = parser.parse_args(arguments)
    try:
        _require_writable(given)
        read = read_parquet if given.tasks.suffix == ".parquet" else lambda path: read_tasks(path, weight_step=None)
        card = dataset_card(read(given.tasks), read_about(given.about) if given.about else None)
        if given.out:
            _write(given.out, card)
        else:
            print(card, end="")
    except InputError as fault:
        print(fault, file=sys.stderr)
        return 2
    return 0


def _require_writable(given: argparse.Namespace) -> None:
    """Refuse a place for the card where none can be, before anything is read."""
    out: Path | None = given.out
    if out is None:
        return
    if out.is_dir():
        raise InputError(f"{out}: is a folder; name a file")
    if not out.parent.is_dir():
        raise InputError(f"{out}: there is no folder {out.parent}; make it, or name a file in another one")
    if not out.exists():
        return
    if any(source is not None and source.exists() and out.samefile(source) for source in (given.tasks, given.about)):
        raise InputError(f"{out}: is what the card is made from; name another file")
    if not given.replace:
        raise InputError(f"{out}: is there already; name another file or add --replace")


def _write(out: Path, card: str) -> None:
    try:
        with replacing(out) as temporary:
            temporary.write_text(card, encoding="utf-8")
    except OSError as error:
        raise InputError(f"{out}: cannot be written ({error.strerror}); name another file") from None


if __name__ == "__main__":
    sys.exit(main())
