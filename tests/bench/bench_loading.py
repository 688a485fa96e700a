"""What loading judgments takes: ``python tests/bench/bench_loading.py``, a minute and 2 GB of temporary files.

Invented studies of 144,000 judgments (12 systems, 3 runs, 200 tasks, 20 rubrics each) and 1.5 million (25, 5, 600, 20),
in folders of tasks and judgments. Every load is a process of its own, imports included. Target: with the copy that the
first load leaves, under 3 s of CPU and 1 GB at 1.5 million. Linux only.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
from made_judgments import loading, write_study

STUDIES = {"144,000": (12, 3, 200), "1,500,000": (25, 5, 600)}
TARGET_SECONDS, TARGET_BYTES = 3.0, 1e9


def main() -> None:
    titles = ["judgments", "load", "CPU s", "wall s", "peak MB", "judgments.jsonl MB", "copy MB"]
    print(f"| {' | '.join(titles)} |\n|{'---|' * len(titles)}")
    for size, shape in STUDIES.items():
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            write_study(folder, *shape)
            for load in ("first", "with copy"):
                took = loading(folder)
                sizes = [f"{path.stat().st_size / 1e6:.0f}" for path in sorted(folder.glob("judgments.*"))]
                cells = [size, load, f"{took.cpu_seconds:.2f}", f"{took.seconds:.2f}", f"{took.peak_bytes / 1e6:.0f}"]
                print(f"| {' | '.join([*cells, *sizes])} |", flush=True)
    met = took.cpu_seconds < TARGET_SECONDS and took.peak_bytes < TARGET_BYTES
    print(f"\nTarget at {size} with the copy, {TARGET_SECONDS} s and 1 GB: {'met' if met else 'MISSED'}")


if __name__ == "__main__":
    main()
