"""Reading, scoring and comparing results needs no client library, and no two rooms import each other."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import defaultdict
from graphlib import TopologicalSorter

import pytest

from lifesearch_kit.paths import ROOT

ROOMS = (
    "results",
    "tables",
    "frames",
    "report_files",
    "formats.parquet",
    "formats.healthbench",
    "scoring.scores",
    "scoring.summaries",
    "statistics.hierarchical",
    "judge_error.corrected_scores",
    "agreement.judge_agreement",
    "failures.modes",
)


@pytest.mark.parametrize("room", ROOMS)
def test_the_room_imports_no_client(room: str) -> None:
    clients = ("openai", "httpx", "matplotlib")
    program = f"import sys, lifesearch_kit.{room}; print([name for name in {clients} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_package_itself_loads_nothing_heavy() -> None:
    program = "import sys, lifesearch_kit; print([n for n in ('pandas', 'matplotlib', 'openai') if n in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_rooms_import_in_one_direction() -> None:
    """A room is a folder of the package, or a module that lies beside the folders."""
    package = ROOT / "lifesearch_kit"
    below: defaultdict[str, set[str]] = defaultdict(set)
    for path in package.rglob("*.py"):
        room = path.relative_to(package).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == package.name:
                parts = (node.module or "").split(".")
                below[room] |= {parts[1]} if len(parts) > 1 else {one.name for one in node.names}
        below[room].discard(room)
    assert len(below) > 30
    TopologicalSorter(below).prepare()  # raises CycleError, which names the rooms
