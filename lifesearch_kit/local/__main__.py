"""Run a profile against a language model on this machine: ``python -m lifesearch_kit.local params/local.yaml``.

Without --model or --server the packaged model is joined, checked and served for as long as the profile runs. A file of
one's own is offered as its name with the first digits of its checksum.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from lifesearch_kit import batch
from lifesearch_kit.endpoint_addresses import LOCAL_ADDRESS
from lifesearch_kit.errors import InputError, KitError
from lifesearch_kit.local.claim import claim
from lifesearch_kit.local.install import EVERYTHING, SERVER_ALONE
from lifesearch_kit.local.model import MODELS, ensure_model, own_model
from lifesearch_kit.local.offers import local_models, offered_models, require_models
from lifesearch_kit.local.parts import packaged_model
from lifesearch_kit.local.server import (
    LocalServerError,
    RunningServer,
    require_free_port,
    require_server_package,
    running_server,
    serve_command,
    usable_cores,
)
from lifesearch_kit.profiles import Profile, read_profile

_SLOTS = 1
Batch = Callable[[list[str]], int]


def run_with_server(server: RunningServer, profile: Profile, wanted: Sequence[str], run: Batch = batch.main) -> int:
    """Run a profile against a server that this process started, and say so if it died meanwhile.

    Returns
    -------
    int
        The batch's exit code; at least 1 when the server died.
    """
    code = run_against(server.address, profile, wanted, run)
    death = server.death()
    if death is None:
        return code
    print(
        f"the model server {death} before the profile was through; its log is {server.log}; what was judged is kept: "
        "run the same command again to go on",
        file=sys.stderr,
    )
    return code or 1


def run_against(address: str, profile: Profile, wanted: Sequence[str], run: Batch = batch.main) -> int:
    """Run a profile against a server that answers at an address, once it is known to offer the wanted models."""
    require_models(profile, wanted, offered_models(address), address)
    os.environ[LOCAL_ADDRESS] = address
    return run([str(profile.path)])


def main(arguments: list[str] | None = None, *, models: Path = MODELS) -> int:
    """Command line.

    Parameters
    ----------
    models
        Folder of the joined model, the server's log and the claims on profiles.

    Returns
    -------
    int
        As `lifesearch_kit.batch`: 0 when every notebook ran, 1 when one failed or the server died, 2 when the profile,
        the model or the server cannot be used, or another process runs the profile; 130 after Ctrl-C.
    """
    options = _parsed(arguments)
    try:
        profile = read_profile(options.profile)
        wanted = local_models(profile)
        with claim(profile.name, models):
            if options.server:
                return run_against(_address(options.server), profile, wanted)
            return _serve_and_run(options, profile, wanted, models)
    except LocalServerError as fault:
        print(fault, file=sys.stderr)
        return 1
    except KitError as fault:
        print(fault, file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("\nstopped before anything ran", file=sys.stderr)
        return 130


def _serve_and_run(options: argparse.Namespace, profile: Profile, wanted: Sequence[str], models: Path) -> int:
    packaged = packaged_model()
    own, name = own_model(options.model, _say) if options.model else (None, packaged.name)
    require_models(profile, wanted, [name], str(own or "the packaged model"))
    if options.port:
        require_free_port(options.port)
    require_server_package(SERVER_ALONE if own else EVERYTHING)
    model = own or ensure_model(packaged, models, _say)
    _say(f"starting {name}: threads {options.threads}, requests at a time {options.slots}")
    command = serve_command(model, name=name, threads=options.threads, slots=options.slots, port=options.port)
    with running_server(command, models / f"{profile.name}.server.log") as server:
        _say(f"serving at {server.address}, for this machine only")
        _say("a judgment takes seconds to minutes of all these threads; Ctrl-C loses what is under way, nothing else")
        return run_with_server(server, profile, wanted)


def _say(line: str) -> None:
    print(line, flush=True)


def _address(text: str) -> str:
    if not text.startswith(("http://", "https://")):
        raise InputError(f"--server {text!r} does not start with http:// or https://; give the server's base address")
    if "@" in text:
        raise InputError("--server: an address may hold no user name or password")
    return text.rstrip("/")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} must be a whole number from 1 up")
    return int(text)


def _port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} must be a port from 1 to 65535, or 0 for a free one")
    return int(text)


def _parsed(arguments: list[str] | None) -> argparse.Namespace:
    first, _, _ = (__doc__ or "").partition("\n")
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.local", description=first)
    parser.add_argument("profile", type=Path, help="a YAML file some of whose models have base_url: local")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--model", type=Path, metavar="FILE.gguf", help="serve this model instead of the packaged one")
    which.add_argument("--server", metavar="ADDRESS", help="a server that runs already; nothing is started")
    parser.add_argument(
        "--threads", type=_positive, default=usable_cores(), help="default: all cores, %(default)s here"
    )
    parser.add_argument("--slots", type=_positive, default=_SLOTS, help="requests at a time (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=0, help="default: a free one")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
