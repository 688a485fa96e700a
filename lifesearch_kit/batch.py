"""Run a profile's notebooks and gather their figures: ``python -m lifesearch_kit.batch params/demo.yaml``."""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
import warnings
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from papermill.execute import ERROR_MARKER_TAG

from lifesearch_kit.errors import InputError
from lifesearch_kit.index_page import render_notebook, write_index
from lifesearch_kit.paths import FIGURES, NOTEBOOKS, ROOT
from lifesearch_kit.profiles import read_profile

_INJECTED = "injected-parameters"


@dataclass(frozen=True)
class Outcome:
    """What became of one notebook.

    Attributes
    ----------
    executed
        The executed copy; what ran before a failure is in it.
    error
        One sentence that names notebook, cell and error; None when all went well.
    figures
        Slugs of the figures that it made, in the order of their names.
    """

    notebook: Path
    executed: Path
    seconds: float
    error: str | None
    figures: tuple[str, ...]


def run_profile(path: Path, *, notebooks: Path = NOTEBOOKS, figures: Path = FIGURES) -> list[Outcome]:
    """Run every notebook of a profile and write the index page of its figures.

    Figures of an earlier run are removed first, so that none of them can pass for a new one. A notebook that fails
    does not keep the others from running.

    Parameters
    ----------
    path
        The profile.
    notebooks, figures
        Folders to read notebooks from and to write ``<profile>/`` to.

    Raises
    ------
    InputError
        When the profile does not fit its notebooks; nothing has run then.
    """
    profile = read_profile(path, notebooks)
    folder = figures / profile.name
    _remove_earlier(folder)
    outcomes = []
    for notebook, values in profile.parameters.items():
        print(f"{notebook.stem:<24} ", end="", flush=True)
        outcome = run_notebook(notebook, values, folder)
        print(f"{'ok' if outcome.error is None else 'FAILED':<6} {outcome.seconds:6.1f} s", flush=True)
        if outcome.error:
            print(outcome.error, file=sys.stderr, flush=True)
        outcomes.append(outcome)
    write_index(folder, profile.name, outcomes)
    return outcomes


def run_notebook(notebook: Path, values: Mapping[str, Any], folder: Path) -> Outcome:
    """Execute one notebook into ``folder/notebooks/``, with an HTML rendering beside the executed copy."""
    executed = folder / "notebooks" / notebook.name
    executed.parent.mkdir(parents=True, exist_ok=True)
    before = _slugs(folder)
    start = time.monotonic()
    error = None
    try:
        papermill.execute_notebook(
            notebook, executed, parameters=dict(values), cwd=ROOT, progress_bar=False,
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
    except PapermillExecutionError as fault:
        number = _cell_number(_without_markers(executed).cells, fault.cell_index)
        error = f"{notebook.name}, cell {number}: {fault.ename}: {fault.evalue}"
    except DeadKernelError:
        error = _record_death(notebook, executed)
    except Exception as fault:  # whatever else goes wrong with one notebook must not keep the others from running
        error = f"{notebook.name}: could not be run: {type(fault).__name__}: {fault}"
    seconds = time.monotonic() - start
    if executed.is_file():
        render_notebook(executed)
    return Outcome(notebook, executed, seconds, error, tuple(sorted(_slugs(folder) - before)))


def _slugs(folder: Path) -> set[str]:
    return {sidecar.stem for sidecar in folder.glob("*.json")}


def _remove_earlier(folder: Path) -> None:
    made = [folder / f"{slug}{suffix}" for slug in _slugs(folder) for suffix in (".png", ".csv", ".json")]
    copies = [path for suffix in ("ipynb", "html") for path in (folder / "notebooks").glob(f"*.{suffix}")]
    for path in (folder / "index.html", *made, *copies):
        path.unlink(missing_ok=True)


def _without_markers(executed: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(executed, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if ERROR_MARKER_TAG not in cell.metadata.get("tags", [])]
    return notebook


def _cell_number(cells: list[nbformat.NotebookNode], index: int) -> int:
    """Position, from 1, among the cells of the notebook as written, without the one that papermill adds."""
    return index + 1 - sum(_INJECTED in cell.metadata.get("tags", []) for cell in cells[:index])


def _record_death(notebook: Path, executed: Path) -> str:
    """Mark an executed copy whose kernel died as failed: papermill itself leaves it looking complete."""
    copy = _without_markers(executed)
    started = [index for index, cell in enumerate(copy.cells) if cell.metadata.get("papermill", {}).get("start_time")]
    if not started:
        return f"{notebook.name}: the kernel died before the first cell"
    last = started[-1]
    error = (
        f"{notebook.name}, cell {_cell_number(copy.cells, last)}: the kernel died. Running out of memory is the "
        "likely cause: free some, or give the notebook less data"
    )
    for index, cell in enumerate(copy.cells[last:]):
        cell.metadata.setdefault("papermill", {}).update(
            {"exception": index == 0, "status": "failed" if index == 0 else "pending"}
        )
    copy.metadata.setdefault("papermill", {})["exception"] = True
    copy.cells[last].outputs.append(nbformat.v4.new_output("error", ename="DeadKernelError", evalue=error, traceback=[error]))
    marker = nbformat.v4.new_markdown_cell(f"**Failed: {error}.**", metadata={"tags": [ERROR_MARKER_TAG]})
    copy.cells.insert(0, marker)
    nbformat.write(copy, executed)
    return error


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
        print("\nstopped; figures made so far stay, the index page was not written", file=sys.stderr, flush=True)
        os._exit(130)  # an orderly exit would wait for the notebook; kernels end once their parent is gone
    return future.result()


if __name__ == "__main__":
    sys.exit(main())
