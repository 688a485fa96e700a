"""Run a profile's notebooks and gather their figures: ``python -m lifesearch_kit.batch params/demo.yaml``."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path

from lifesearch_kit.errors import InputError
from lifesearch_kit.execution import Outcome, not_run, run_notebook, slugs
from lifesearch_kit.index_page import CASES_PAGE, render_notebook, write_index
from lifesearch_kit.paths import FIGURES, NOTEBOOKS, make_folder
from lifesearch_kit.profiles import declared_parameters, folders_made, read_profile


def run_profile(path: Path, *, notebooks: Path = NOTEBOOKS, figures: Path = FIGURES) -> list[Outcome]:
    """Run every notebook of a profile and write the index page of its figures.

    Figures of an earlier run are removed first, so that none of them can pass for a new one. A notebook that fails
    does not keep the others from running, unless they read what it was to make: a notebook's metadata name the folder
    parameters that it fills, as ``{"lifesearch_kit": {"makes": ["results"]}}``.

    Parameters
    ----------
    path
        The profile.
    notebooks, figures
        Folders to read notebooks from and to write ``<profile>/`` to.

    Raises
    ------
    InputError
        When the profile does not fit its notebooks, or its figures have no place; nothing has run then.
    """
    profile = read_profile(path, notebooks)
    folder = figures / profile.name
    make_folder(folder, "profile")
    _remove_earlier(folder)
    outcomes: list[Outcome] = []
    unmade: dict[str, str] = {}
    for notebook, values in profile.parameters.items():
        print(f"{notebook.stem:<24} ", end="", flush=True)
        without = sorted(unmade.keys() & declared_parameters(notebook).keys())
        if without:
            outcome = not_run(notebook, folder, f"not run: {unmade[without[0]]} failed to make its '{without[0]}'")
        else:
            outcome = run_notebook(notebook, values, folder)
        if outcome.error and not without:
            unmade |= dict.fromkeys(folders_made(notebook), notebook.stem)
        if outcome.executed.is_file():
            render_notebook(outcome.executed)
        word = "ok" if outcome.error is None else "SKIPPED" if without else "FAILED"
        print(f"{word:<7} {outcome.seconds:6.1f} s", flush=True)
        if outcome.error:
            print(outcome.error, file=sys.stderr, flush=True)
        outcomes.append(outcome)
    write_index(folder, profile.name, sorted(outcomes, key=lambda one: one.notebook.stem))
    return outcomes


def _remove_earlier(folder: Path) -> None:
    made = [folder / f"{slug}{suffix}" for slug in slugs(folder) for suffix in (".png", ".csv", ".json")]
    copies = [path for suffix in ("ipynb", "html") for path in (folder / "notebooks").glob(f"*.{suffix}")]
    for path in (folder / "index.html", folder / CASES_PAGE, *made, *copies):
        path.unlink(missing_ok=True)


def _shown(path: Path) -> str:
    return os.path.relpath(path) if path.is_relative_to(Path.cwd()) else str(path)


def _quiet() -> None:
    """Silence remarks of the notebook machinery that a reader can do nothing about."""
    logging.getLogger("papermill").setLevel(logging.CRITICAL)
    logging.getLogger("traitlets").setLevel(logging.CRITICAL)
    warnings.filterwarnings("ignore", module=r"(papermill|nbclient|nbformat|nbconvert|jupyter_client|zmq|traitlets)\b")
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")


def main(arguments: list[str] | None = None, *, notebooks: Path = NOTEBOOKS, figures: Path = FIGURES) -> int:
    """Command line.

    Returns
    -------
    int
        0 when every notebook ran, 1 when one failed, 2 when the profile cannot be used.
    """
    parser = argparse.ArgumentParser(prog="python -m lifesearch_kit.batch", description=__doc__)
    parser.add_argument("profile", type=Path, help="a YAML file that names notebooks and gives their parameters")
    path = parser.parse_args(arguments).profile
    _quiet()
    try:
        outcomes = _interruptible(lambda: run_profile(path, notebooks=notebooks, figures=figures))
    except InputError as fault:
        print(fault, file=sys.stderr)
        return 2
    folder = outcomes[0].executed.parent.parent
    print(f"figures and tables: {_shown(folder)}\nexecuted notebooks: {_shown(folder / 'notebooks')}")
    print(f"index page:         {_shown(folder / 'index.html')}")
    failed = sum(outcome.error is not None for outcome in outcomes)
    if failed:
        print(f"{failed} of {len(outcomes)} notebooks failed; the index page marks them", file=sys.stderr)
    return 1 if failed else 0


def _interruptible(work: Callable[[], list[Outcome]]) -> list[Outcome]:
    """Do the work beside the main thread, which stays free for Ctrl-C.

    In the main thread the notebook client would take the signal for a kernel that died.
    """
    future = ThreadPoolExecutor(1).submit(work)
    try:
        while not future.done():
            wait([future], timeout=0.2)
    except KeyboardInterrupt:
        kept = "what agents and judges had finished is kept, and the same command goes on from there"
        print(
            f"\nstopped: {kept}. Figures made so far stay, the index page was not written", file=sys.stderr, flush=True
        )
        os._exit(130)  # an orderly exit would wait for the notebook; kernels end once their parent is gone
    return future.result()


if __name__ == "__main__":
    sys.exit(main())
