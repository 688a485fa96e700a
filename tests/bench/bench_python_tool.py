"""How long the python tool takes in its sandboxes: ``python tests/bench/bench_python_tool.py``.

Targets for bubblewrap: a call in an interpreter of its own under 300 ms, a later call of a run under 30 ms.
"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable

from lifesearch_kit.errors import InputError
from lifesearch_kit.tools import Tool
from lifesearch_kit.tools.python import python_tool

ONE_SHOT, LATER = 300.0, 30.0
REPEATS = 20


async def timed(action: Callable[[], Awaitable[object]], repeats: int = REPEATS) -> list[float]:
    """Milliseconds of each repeat."""
    taken = []
    for _ in range(repeats):
        start = time.perf_counter()
        await action()
        taken.append(1000 * (time.perf_counter() - start))
    return taken


def show(name: str, taken: list[float], target: float | None = None) -> None:
    met = "" if target is None else f"  target {target:g} ms: {'met' if max(taken) < target else 'MISSED'}"
    print(f"{name:48} median {statistics.median(taken):8.1f} ms  slowest {max(taken):8.1f} ms{met}")


async def one_shot(tool: Tool) -> list[float]:
    return await timed(lambda: tool.run({"code": "1 + 1"}))


async def bubblewrap() -> None:
    start = time.perf_counter()
    kept = python_tool(sandbox="bubblewrap", persistent=True, seconds=60)
    print(f"{'bubblewrap: the probe, once a process':48}        {1000 * (time.perf_counter() - start):8.1f} ms")
    once = python_tool(sandbox="bubblewrap", seconds=60)
    show("bubblewrap: a call in its own interpreter", await one_shot(once), ONE_SHOT)
    imports = {"code": "import numpy, pandas"}
    show("bubblewrap: the same with numpy and pandas", await timed(lambda: once.run(imports), 3))
    assert kept.open is not None
    async with kept.open() as own:
        show("bubblewrap: first call of a run", await timed(lambda: own.run({"code": "1 + 1"}), 1), ONE_SHOT)
        show("bubblewrap: later calls of a run", await timed(lambda: own.run({"code": "1 + 1"})), LATER)
    fifty = [once.run({"code": "1 + 1"}) for _ in range(50)]
    show("bubblewrap: 50 calls at once, all of them", await timed(lambda: asyncio.gather(*fifty), 1))
    fifty = [once.run(imports) for _ in range(50)]
    show("bubblewrap: the same with numpy and pandas", await timed(lambda: asyncio.gather(*fifty), 1))


async def main() -> None:
    show("Monty: a call", await one_shot(python_tool()))
    show("no sandbox: a call in its own interpreter", await one_shot(python_tool(sandbox="none")))
    try:
        await bubblewrap()
    except InputError as error:
        print(error)


if __name__ == "__main__":
    asyncio.run(main())
