"""An interrupt by hand: noticed while replies are awaited, and told with the way to go on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

_TURN_SECONDS = 0.5


@asynccontextmanager
async def interruptible() -> AsyncIterator[None]:
    """Work that keeps each result as it arrives, so that it can be interrupted at any time.

    Raises
    ------
    CancelledError
        When it is interrupted, with a note that says how to go on.
    """
    turning = asyncio.create_task(_keep_turning())
    try:
        yield
    except asyncio.CancelledError as error:
        error.add_note("Stopped by hand: what was done is kept, and the same call goes on from there.")
        raise
    finally:
        turning.cancel()


async def _keep_turning() -> None:
    """Let the event loop turn now and then.

    A Jupyter kernel cancels the cell from a signal handler, which by itself does not wake a loop that waits.
    """
    while True:
        await asyncio.sleep(_TURN_SECONDS)
