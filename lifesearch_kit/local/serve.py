"""The child process that serves a model; ``lifesearch_kit.local.server`` starts it.

It tells its address in one line on standard output and ends when its standard input does: that is when whoever started
it stops it or dies, however that happens. While the model loads nothing in this process can look at its input; on Linux
the kernel ends it then, elsewhere it ends once the model is loaded.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import select
import signal
import sys
import threading
from pathlib import Path
from typing import Any

CONTEXT_TOKENS = 16384
_CACHE_MEBIBYTES = 1024
_PR_SET_PDEATHSIG = 1


def serve(model: Path, *, name: str, threads: int, slots: int, port: int) -> Any:
    """Load the model and answer requests on loopback, in threads of the server's own.

    Parameters
    ----------
    name
        What requests call the model.
    slots
        Requests that are answered at once; each may have 16384 tokens, prompt and reply together.
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
    settings.model_alias = {name}
    settings.n_parallel = slots
    settings.n_ctx = slots * CONTEXT_TOKENS
    settings.kv_unified = False
    settings.cpuparams.n_threads = threads
    settings.cpuparams_batch.n_threads = threads
    # Judgments of one report begin alike: what was read of it is not read again.
    settings.cache_prompt = True
    settings.cache_ram_mib = _CACHE_MEBIBYTES
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    # A page in a browser may still ask the model, but not read its answer, and nobody may read the slots' prompts.
    settings.cors_origins = "http://127.0.0.1"
    settings.ui = False
    settings.endpoint_slots = False
    return xllamacpp.Server(settings)


def _die_with_parent() -> None:
    if sys.platform != "linux":
        return
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    # A parent that died before that sends no signal; but nobody ever writes to the input, so it can only have ended.
    if select.select([0], [], [], 0)[0]:
        os._exit(0)


def _end_with_input() -> None:
    # Not through sys.stdin: its lock would be held while a failed start ends the interpreter.
    while os.read(0, 1024):
        pass
    os._exit(0)


def main() -> None:
    """Command line."""
    _die_with_parent()
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.local.serve", description=__doc__)
    parser.add_argument("model", type=Path)
    parser.add_argument("--name", required=True)
    for number in ("threads", "slots", "port"):
        parser.add_argument(f"--{number}", type=int, required=True)
    chosen = parser.parse_args()
    # Ctrl-C reaches the whole group of processes; the one that started this decides what it means.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What the server's own code prints goes to the log, so that the one line stays alone.
    said = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    watcher = threading.Thread(target=_end_with_input, daemon=True)
    watcher.start()
    try:
        server = serve(chosen.model, name=chosen.name, threads=chosen.threads, slots=chosen.slots, port=chosen.port)
    except (ImportError, RuntimeError, OSError) as fault:
        # The server's own last lines say why; a traceback would push them out of sight.
        sys.exit(f"{chosen.model}: cannot be served: {fault}")
    print(server.listening_address, file=said, flush=True)
    watcher.join()


if __name__ == "__main__":
    main()
