"""How long offline grading of the real reports takes: ``taskset -c 0 python tests/bench/bench_grading.py``.

7,551 judgments of three systems' reports on DeepResearch Bench by the baseline judge, through the real client, stored
as they arrive. Target: under 60 s on one core. LIFESEARCH_REAL_DATA names the folder that holds the data.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from pathlib import Path

from lifesearch_kit.collect.collect import grade
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.collect.store import Store
from lifesearch_kit.endpoint_addresses import OFFLINE
from lifesearch_kit.formats.deep_research_bench import read_deep_research_bench
from lifesearch_kit.report_files import read_report_files
from lifesearch_kit.settings import JudgeSettings

sys.path.insert(0, str(Path(__file__).parents[1]))
from test_real_reports import BENCH, REPORTS

TARGET = 60.0


def main() -> None:
    tasks = read_deep_research_bench(BENCH / "criteria.jsonl", BENCH / "query.jsonl").tasks
    reports = read_report_files(REPORTS, tasks)
    judge = JudgeSettings(name="baseline-judge", model="baseline-judge", base_url=OFFLINE)
    with tempfile.TemporaryDirectory() as folder, Store(folder) as store:
        start = time.perf_counter()
        plan = plan_checks(tasks, reports, [judge])
        _, summary = asyncio.run(grade(plan, store))
        seconds = time.perf_counter() - start
        again = time.perf_counter()
        asyncio.run(grade(plan, store))
    each = f"{1000 * seconds / summary.done:.1f} ms each"
    print(f"{summary.done:,} judgments in {seconds:.1f} s ({each}), target: {'met' if seconds < TARGET else 'MISSED'}")
    print(f"the same again, nothing to do: {time.perf_counter() - again:.2f} s")


if __name__ == "__main__":
    main()
