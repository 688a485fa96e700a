"""An interrupt in a Jupyter kernel: it arrives while a reply is awaited, and says how to go on."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from queue import Empty
from typing import Any

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager, start_new_kernel
from jupyter_core.utils import ensure_event_loop
from loopback import Loopback

from lifesearch_kit.collect.collect import run_agents
from lifesearch_kit.collect.plan import plan_runs
from lifesearch_kit.collect.store import Store
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.settings import SystemSettings

PATIENCE_SECONDS = 15.0
CELL = """
import asyncio
from lifesearch_kit.collect.interrupts import interruptible

async with interruptible():
    print("waiting", flush=True)
    await asyncio.sleep(60)
"""


@pytest.fixture
def kernel() -> Iterator[tuple[KernelManager, BlockingKernelClient]]:
    manager, client = start_new_kernel(kernel_name="python3", cwd=str(ROOT))
    try:
        yield manager, client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        ensure_event_loop().close()  # the client's own


def messages(client: BlockingKernelClient, cell: str) -> Iterator[dict[str, Any]]:
    """What the kernel says of a cell, until it is done or the test's patience is over."""
    sent, started = client.execute(cell), time.monotonic()
    while time.monotonic() - started < PATIENCE_SECONDS:
        try:
            message = client.get_iopub_msg(timeout=0.2)
        except Empty:
            continue
        if message["parent_header"].get("msg_id") == sent:
            yield message
            if message["content"].get("execution_state") == "idle":
                return


def test_a_kernel_that_waits_for_a_reply_can_be_interrupted(kernel: tuple[KernelManager, BlockingKernelClient]) -> None:
    manager, client = kernel
    interrupted, told = None, ""
    for message in messages(client, CELL):
        if message["content"].get("text", "").startswith("waiting"):
            time.sleep(1.0)  # The loop has gone to sleep by now.
            interrupted = time.monotonic()
            manager.interrupt_kernel()
        if message["msg_type"] == "error":
            told = "\n".join(message["content"]["traceback"])
    assert interrupted is not None
    assert time.monotonic() - interrupted < 3
    assert "Stopped by hand: what was done is kept, and the same call goes on from there." in told


def test_a_collection_that_is_cancelled_says_how_to_go_on(loopback: Loopback, tmp_path: Path) -> None:
    def slow(_: dict[str, Any]) -> Any:
        time.sleep(0.5)
        return 500, {}

    loopback.script[:] = [slow]
    rubric = Rubric(rubric_id="R1", criterion="Names it.", weight=1.0)
    task = Task(task_id="t", language="en", domain="d", query="Q?", rubrics=(rubric,))
    system = SystemSettings(name="S", model="m", base_url=loopback.chat_url, max_retries=0)
    today = date(2026, 10, 15)

    async def cancelled(store: Store) -> asyncio.CancelledError:
        plan = plan_runs([task], [system], [], runs=1, today=today)
        work = asyncio.create_task(run_agents(plan, [], store, today=today))
        await asyncio.sleep(0.2)
        work.cancel()
        with pytest.raises(asyncio.CancelledError) as caught:
            await work
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        return caught.value

    with Store(tmp_path) as store:
        error = asyncio.run(cancelled(store))
    assert any("goes on from there" in note for note in error.__notes__)
