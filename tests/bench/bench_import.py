"""How long imports take and what they load: ``python tests/bench/bench_import.py``. Target for the package: 0.3 s."""

from __future__ import annotations

import subprocess
import sys

MODULES = ("lifesearch_kit", *(f"lifesearch_kit.{room}" for room in ("records", "results", "scoring", "agreement")))
HEAVY = ("pandas", "matplotlib", "openai", "httpx", "scipy", "statsmodels")
PROGRAM = """
import sys, time
start = time.perf_counter()
import {module}
print(time.perf_counter() - start, *(name for name in {heavy} if name in sys.modules))
"""


def main() -> None:
    for module in MODULES:
        program = PROGRAM.format(module=module, heavy=HEAVY)
        runs = [
            subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
            for _ in range(5)
        ]
        seconds, *loaded = min(runs, key=lambda run: float(run[0]))
        print(f"{module:28} {1000 * float(seconds):7.1f} ms  loads {', '.join(loaded) or 'none of the heavy ones'}")


if __name__ == "__main__":
    main()
