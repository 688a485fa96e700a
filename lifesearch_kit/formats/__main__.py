"""Convert benchmarks between formats, and write the schema of the kit's own."""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, get_args

from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.files import read_tasks, write_jsonl
from lifesearch_kit.formats.deep_research_bench import CRITERIA, QUERIES, read_deep_research_bench
from lifesearch_kit.formats.deep_research_bench_folder import write_deep_research_bench
from lifesearch_kit.formats.flat_csv import read_flat_csv, write_flat_csv
from lifesearch_kit.formats.healthbench import read_healthbench, write_healthbench
from lifesearch_kit.formats.misfits import NO_TENTHS, Conversion, Misfit, misfits_frame, summarise_misfits
from lifesearch_kit.formats.parquet import read_parquet, write_parquet
from lifesearch_kit.formats.points import Negative
from lifesearch_kit.formats.research_rubrics import read_research_rubrics, write_research_rubrics
from lifesearch_kit.formats.task_schema import task_schema
from lifesearch_kit.formats.tenths import weights_in_tenths
from lifesearch_kit.records import Language, Task

Reader = Callable[..., Conversion]
Writer = Callable[[Sequence[Task], Path], list[Misfit]]


def _write_lifesearch(tasks: Sequence[Task], path: Path) -> list[Misfit]:
    write_jsonl(path, tasks)
    return []


READERS: Mapping[str, Reader] = {
    "lifesearch": lambda path: Conversion(read_tasks(path, weight_step=None), []),
    "parquet": lambda path: Conversion(read_parquet(path), []),
    "csv": read_flat_csv,
    "deep-research-bench": lambda path: read_deep_research_bench(path / CRITERIA, path / QUERIES),
    "research-rubrics": read_research_rubrics,
    "healthbench": read_healthbench,
}
WRITERS: Mapping[str, Writer] = {
    "lifesearch": _write_lifesearch,
    "parquet": write_parquet,
    "csv": write_flat_csv,
    "deep-research-bench": write_deep_research_bench,
    "research-rubrics": write_research_rubrics,
    "healthbench": write_healthbench,
}
_OPTIONS = {
    "negative": ("research-rubrics", "healthbench"),
    "language": ("csv", "research-rubrics", "healthbench"),
    "domain": ("csv", "research-rubrics", "healthbench"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Command line.

    Returns
    -------
    int
        0 when the file was written, 2 when the input or the request cannot be used; then nothing is written.
    """
    given = _parser().parse_args(arguments)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", InputWarning)
        try:
            given.work(given)
        except InputError as fault:
            print(fault, file=sys.stderr)
            return 2
        except OSError as fault:
            print(f"{fault.filename}: cannot be written ({fault.strerror}); name another file", file=sys.stderr)
            return 2
        finally:
            for told in dict.fromkeys(str(one.message) for one in caught):
                print(told, file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.formats", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    convert = commands.add_parser("convert", help="from one format to another; what does not fit is told")
    convert.add_argument("source", type=Path, help="a file, or the folder of deep-research-bench")
    convert.add_argument("target", type=Path)
    convert.add_argument("--from", dest="origin", required=True, choices=READERS)
    convert.add_argument("--to", dest="form", required=True, choices=WRITERS)
    convert.add_argument("--negative", choices=get_args(Negative), help="what becomes of negative points")
    convert.add_argument("--language", choices=get_args(Language), help="of tasks whose file does not say")
    convert.add_argument("--domain", help="of tasks whose file does not say")
    convert.add_argument("--tenths", action="store_true", help="round weights to tenths, and tell by how much")
    convert.add_argument("--misfits", type=Path, help="a CSV for all that does not fit, a row each")
    convert.set_defaults(work=_convert)
    schema = commands.add_parser("schema", help="the JSON Schema of a line of tasks.jsonl")
    schema.add_argument("target", type=Path)
    schema.add_argument("--any-weight", action="store_true", help="admit weights that are no tenths")
    schema.set_defaults(work=_schema)
    for command in (convert, schema):
        command.add_argument("--replace", action="store_true", help="overwrite the target")
    return parser


def _convert(given: argparse.Namespace) -> None:
    options = _options(given)
    targets = _targets(given)
    tasks, misfits = READERS[given.origin](given.source, **options)
    if given.tenths:
        tasks, rounded = weights_in_tenths(tasks)
        misfits = [*(one for one in misfits if one.treatment != NO_TENTHS), *rounded]
    misfits = [*misfits, *WRITERS[given.form](tasks, given.target)]
    if given.misfits:
        misfits_frame(misfits).to_csv(given.misfits, index=False)
    rubrics = sum(len(task.rubrics) for task in tasks)
    print(f"{', '.join(map(str, targets))}: {len(tasks)} tasks, {rubrics} rubrics")
    for row in summarise_misfits(misfits).itertuples():
        print(f"{row.kind}: {row.field} of {row.tasks} tasks: {row.treatment}")


def _options(given: argparse.Namespace) -> dict[str, Any]:
    chosen = {name: getattr(given, name) for name in _OPTIONS if getattr(given, name) is not None}
    for name in chosen:
        if given.origin not in _OPTIONS[name]:
            raise InputError(f"--{name} says nothing about {given.origin}; it is for {', '.join(_OPTIONS[name])}")
    return chosen


def _targets(given: argparse.Namespace) -> list[Path]:
    """What will be written; refused where it is there already and may not be overwritten."""
    is_folder = given.form == "deep-research-bench"
    targets = [given.target / CRITERIA, given.target / QUERIES] if is_folder else [given.target]
    for path in (*targets, *([given.misfits] if given.misfits else [])):
        _require_free(path, given.replace)
    return targets


def _require_free(path: Path, replace: bool) -> None:
    if path.is_dir():
        raise InputError(f"{path}: is a folder; name a file")
    if path.exists() and not replace:
        raise InputError(f"{path}: is there already; name another file or add --replace")


def _schema(given: argparse.Namespace) -> None:
    _require_free(given.target, given.replace)
    schema = task_schema(None) if given.any_weight else task_schema()
    given.target.parent.mkdir(parents=True, exist_ok=True)
    given.target.write_text(json.dumps(schema, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    print(given.target)


if __name__ == "__main__":
    sys.exit(main())
