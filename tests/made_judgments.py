"""A large invented study on disk, and what loading it takes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

RUBRICS_A_TASK = 20
_REASONS = (
    "The report states {} berths for the northern quay, as required.",
    "The report names no figure for the year {}; the requirement is not met.",
    "报告写明了第{}号条款的生效日期，符合要求。",
    "It gives {} km instead of the distance that was asked for, without a source.",
)
# The most memory that a process had is read from /proc: what `resource` says of a child includes its parent's.
_LOADING = """
import re, sys, time
from pathlib import Path
wall = time.perf_counter()
from lifesearch_kit.results import load_results
judgments = load_results(sys.argv[1]).require("judgments")
wall = time.perf_counter() - wall
peak = re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())
print(len(judgments), time.process_time(), wall, int(peak[1]) * 1024)
"""


class Loading(NamedTuple):
    """What one process took to import the kit and load a folder: seconds of CPU and by the clock, most bytes held."""

    judgments: int
    cpu_seconds: float
    seconds: float
    peak_bytes: int


def loading(folder: Path) -> Loading:
    """Load a folder in a process of its own. Linux only."""
    program = [sys.executable, "-c", _LOADING, str(folder)]
    judgments, *took, peak = subprocess.run(program, capture_output=True, text=True, check=True).stdout.split()
    return Loading(int(judgments), *map(float, took), int(peak))


def write_study(folder: Path, systems: int, runs: int, tasks: int, seed: int = 0) -> None:
    """Write tasks.jsonl and judgments.jsonl: a judgment for each of a task's 20 rubrics, every system and run."""
    rng = np.random.default_rng(seed)
    names = [f"invented-task-{number:04d}" for number in range(tasks)]
    with (folder / "tasks.jsonl").open("w", encoding="utf-8") as file:
        for name in names:
            weights = rng.integers(1, 11, RUBRICS_A_TASK) / 10
            rubrics = [
                {"criterion": f"The response should state fact {weight}.", "weight": weight} for weight in weights
            ]
            task = {"task_id": name, "language": "en", "domain": "Invented", "query": f"{name}?", "rubrics": rubrics}
            file.write(json.dumps(task) + "\n")
    with (folder / "judgments.jsonl").open("w", encoding="utf-8") as file:
        for system in range(systems):
            for run in range(1, runs + 1):
                for name in names:
                    key = {"system": f"invented-agent-{system:02d}", "task_id": name, "run": run}
                    file.writelines(_lines(key, rng))


def _lines(key: dict[str, object], rng: np.random.Generator) -> list[str]:
    """The judgments of a report: one in ten passes lacks a token count, one in a thousand a verdict."""
    draws = rng.integers(0, 1000, (RUBRICS_A_TASK, 4)).tolist()
    seconds = rng.random(RUBRICS_A_TASK).tolist()
    lines = []
    for number, (verdict, cached, reason, noted) in enumerate(draws, start=1):
        said = _REASONS[reason % len(_REASONS)].format(reason)
        judged = {"satisfied": verdict < 600, "reason": said}
        row = {
            **(key | {"rubric_id": f"R{number}", "judge": "invented-judge", "repeat": 1}),
            **(judged if verdict else {"satisfied": None, "reason": ""}),
            "status": "ok" if verdict else "truncated",
            "raw": json.dumps(judged, ensure_ascii=False),
            "finish_reason": "stop" if verdict else "length",
            "model": "invented-judge-1",
            "input_tokens": 3000 + cached,
            "cached_tokens": None if cached < 100 else 2048,
            "output_tokens": 20 + reason % 40,
            "reasoning_tokens": None,
            "seconds": seconds[number - 1],
            "cost": seconds[number - 1] / 1000,
            "fingerprint": f"{hash((verdict, cached, reason)) & 0xFFFFFFFFFFFFFFFF:016x}",
            "notes": ["the verdict was asked for once more"] if noted < 10 else [],
        }
        lines.append(json.dumps(row, ensure_ascii=False) + "\n")
    return lines
