"""The child process that serves a model; ``lifesearch_kit.local.server`` starts it.

It tells its address in one line on standard output and ends when its standard input does: that is when whoever started
it stops it or dies, however that happens.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Any

_CACHE_MEBIBYTES = 1024


def serve(model: Path, *, threads: int, slots: int, context: int, port: int) -> Any:
    """Load the model and answer requests on loopback, in threads of the server's own.

    Parameters
    ----------
    slots
        Requests that are answered at once.
    context
        Tokens that one request may have, prompt and reply together.
    port
        0 takes a free one.

    Returns
    -------
    xllamacpp.Server
        It serves for as long as it is kept, at its `listening_address`.
    """
    import xllamacpp

    settings = xllamacpp.CommonParams()
    settings.model.path = str(model)
    settings.model_alias = {model.stem}
    settings.n_parallel = slots
    settings.n_ctx = slots * context
    settings.kv_unified = False
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    # Judgments of one report begin alike: what was read of it is not read again.
    settings.cache_prompt = True
    settings.cache_ram_mib = _CACHE_MEBIBYTES
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    # No page in a browser may ask the model, and nobody may read the slots' prompts.
    settings.cors_origins = "http://127.0.0.1"
    settings.ui = False
    settings.endpoint_slots = False
    return xllamacpp.Server(settings)


def _end_with_input() -> None:
    # Not through sys.stdin: its lock would be held while a failed start ends the interpreter.
    while os.read(0, 1024):
        pass
    os._exit(0)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.local.serve", description=__doc__)
    parser.add_argument("model", type=Path)
    for name in ("threads", "slots", "context", "port"):
        parser.add_argument(f"--{name}", type=int, required=True)
    chosen = parser.parse_args()
    # Ctrl-C reaches the whole group of processes; the one that started this decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What the server's own code prints goes to the log, so that the one line stays alone.
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    watcher = threading.Thread(target=_end_with_input, daemon=True)
    watcher.start()
    try:
        server = serve(
            chosen.model, threads=chosen.threads, slots=chosen.slots, context=chosen.context, port=chosen.port
        )
    except (ImportError, RuntimeError, OSError) as fault:
        # The server's own last lines say why; a traceback would push them out of sight.
        sys.exit(f"{chosen.model}: cannot be served: {fault}")
    print(server.listening_address, file=said, flush=True)
    watcher.join()


if __name__ == "__main__":
    main()
