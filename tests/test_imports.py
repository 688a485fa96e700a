"""Reading, scoring and comparing results needs no client library."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
    "agreement.agreement",
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
