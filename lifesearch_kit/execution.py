"""Run one notebook; whatever ends it early is named with its cell, and what ran before stays readable."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import papermill
from nbclient.exceptions import DeadKernelError
from papermill.exceptions import PapermillExecutionError
from papermill.execute import ERROR_MARKER_TAG

from lifesearch_kit.paths import ROOT

INJECTED_TAG = "injected-parameters"  # papermill's own cell
_LINES_SHOWN = 12


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


def run_notebook(notebook: Path, values: Mapping[str, Any], folder: Path) -> Outcome:
    """Execute one notebook into ``folder/notebooks/``."""
    executed = folder / "notebooks" / notebook.name
    executed.parent.mkdir(parents=True, exist_ok=True)
    before = slugs(folder)
    start = time.monotonic()
    error = None
    try:
        papermill.execute_notebook(
            notebook,
            executed,
            parameters=dict(values),
            cwd=ROOT,
            progress_bar=False,
            extra_arguments=["--IPKernelApp.log_level=50"],
        )
    except PapermillExecutionError as fault:
        number = _cell_number(_without_markers(executed).cells, fault.cell_index)
        error = f"{notebook.name}, cell {number}: {fault.ename}: {_shortened(str(fault.evalue))}"
    except DeadKernelError:
        error = _record_death(notebook, executed)
    except Exception as fault:  # whatever else goes wrong with one notebook must not keep the others from running
        error = f"{notebook.name}: could not be run: {type(fault).__name__}: {fault}"
    seconds = time.monotonic() - start
    return Outcome(notebook, executed, seconds, error, tuple(sorted(slugs(folder) - before)))


def not_run(notebook: Path, folder: Path, reason: str) -> Outcome:
    """The outcome of a notebook that was left out."""
    return Outcome(notebook, folder / "notebooks" / notebook.name, 0.0, f"{notebook.name}: {reason}", ())


def slugs(folder: Path) -> set[str]:
    """Figures that a profile's folder holds, by name."""
    return {sidecar.stem for sidecar in folder.glob("*.json")}


def _shortened(message: str) -> str:
    lines = message.splitlines()
    more = len(lines) - _LINES_SHOWN
    return "\n".join(lines[:_LINES_SHOWN]) + (f"\n... and {more} more lines, in the executed copy" if more > 0 else "")


def _without_markers(executed: Path) -> nbformat.NotebookNode:
    notebook = nbformat.read(executed, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if ERROR_MARKER_TAG not in cell.metadata.get("tags", [])]
    return notebook


def _cell_number(cells: list[nbformat.NotebookNode], index: int) -> int:
    """Position, from 1, among the cells of the notebook as written, without the one that papermill adds."""
    return index + 1 - sum(INJECTED_TAG in cell.metadata.get("tags", []) for cell in cells[:index])


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
    note = nbformat.v4.new_output("error", ename="DeadKernelError", evalue=error, traceback=[error])
    copy.cells[last].outputs.append(note)
    marker = nbformat.v4.new_markdown_cell(f"**Failed: {error}.**", metadata={"tags": [ERROR_MARKER_TAG]})
    copy.cells.insert(0, marker)
    nbformat.write(copy, executed)
    return error
