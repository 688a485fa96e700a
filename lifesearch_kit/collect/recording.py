"""Put a run's results where they are shown beside others.

``python -m lifesearch_kit.collect.recording RUNS JUDGES TARGET`` does it from a shell.

The folder that is made is one of those that `lifesearch_kit.collect.recorded` reads.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from lifesearch_kit.collect.recorded_files import (
    JUDGES,
    JUDGMENTS,
    REPORTS,
    SYSTEMS,
    AnyRecord,
    AnySettings,
    read_judges,
    read_pair,
)
from lifesearch_kit.collect.store import read_transcript
from lifesearch_kit.errors import InputError
from lifesearch_kit.files import read_judgments, read_reports
from lifesearch_kit.own_agents import read_systems
from lifesearch_kit.paths import resolve
from lifesearch_kit.records import Judgment, Report

_OWN_ADDRESS = re.compile(r"https?://(?:127\.|localhost\b|0\.0\.0\.0|\[::)[^\s'\"]*")


def record_results(runs: Path, judges: Path, target: Path) -> list[str]:
    """Replace a folder of recorded results by those of a run.

    Parameters
    ----------
    runs
        Folder with systems.jsonl, reports.jsonl and the transcripts that its reports name.
    judges
        Folder with judges.jsonl and judgments.jsonl. One of the two folders may have no such results.
    target
        What it holds is replaced as a whole, once the new content is complete.

    Returns
    -------
    list of str
        The files that it holds now.

    Raises
    ------
    InputError
        When a file is missing or faulty, or when a setting or a note names an address of this machine; the old content
        stays then.
    """
    made = _pair((runs / SYSTEMS, runs / REPORTS), read_systems, read_reports)
    judged = _pair((judges / JUDGES, judges / JUDGMENTS), read_judges, read_judgments)
    if not made and not judged:
        raise InputError(f"neither {runs / REPORTS} nor {judges / JUDGMENTS} is there; make the results first")
    named = sorted({one.transcript for one in made if one.transcript})
    for name in named:
        read_transcript(runs / name)
    sources = {SYSTEMS: runs, REPORTS: runs, **dict.fromkeys(named, runs)} if made else {}
    sources |= {JUDGES: judges, JUDGMENTS: judges} if judged else {}
    _replace(target, sources)
    return list(sources)


def _pair(
    places: tuple[Path, Path],
    read_settings: Callable[[Path], list[AnySettings]],
    read: Callable[[Path], list[AnyRecord]],
) -> list[AnyRecord]:
    """The records of a folder that has both files, checked; none of a folder that has neither."""
    alone = "but the other file of its pair is; make the results again"
    settings, records = read_pair(places, read_settings, read, alone)
    told: list[tuple[Path, Any]] = [(places[0], one.model_dump()) for one in settings]
    told += [(places[1], (one.model, one.notes, _own_reason(one))) for one in records]
    faults = [
        f"{place}: names {found[0]}, an address of this machine; make the results again with base_url: local"
        for place, said in told
        if (found := _OWN_ADDRESS.search(str(said)))
    ]
    if faults:
        raise InputError(list(dict.fromkeys(faults)))
    return records


def _own_reason(record: Report | Judgment) -> str:
    """What the kit itself, and no judge, wrote as the reason."""
    return record.reason if isinstance(record, Judgment) and record.satisfied is None else ""


def _replace(target: Path, sources: dict[str, Path]) -> None:
    new, old = (target.with_name(f"{target.name}.{word}") for word in ("new.part", "old.part"))
    for leftover in (new, old):
        shutil.rmtree(leftover, ignore_errors=True)
    try:
        for name, folder in sources.items():
            (new / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / name, new / name)
        if target.exists():
            target.rename(old)
        new.rename(target)
    except OSError as error:
        raise InputError(
            f"{error.filename or target}: cannot be copied ({error.strerror}); correct that and run again"
        ) from None
    shutil.rmtree(old, ignore_errors=True)


def main(arguments: list[str] | None = None) -> int:
    """Command line. Returns 0, or 2 when the results cannot be used."""
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.collect.recording", description=__doc__)
    for name, word in {"runs": "agents' results", "judges": "judges' results", "target": "folder to replace"}.items():
        parser.add_argument(name, type=resolve, help=f"folder: {word}")
    chosen = parser.parse_args(arguments)
    try:
        copied = record_results(chosen.runs, chosen.judges, chosen.target)
    except InputError as fault:
        print(fault, file=sys.stderr)
        return 2
    print(f"{chosen.target}: {len(copied)} files")
    return 0


if __name__ == "__main__":
    sys.exit(main())
