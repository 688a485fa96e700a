"""Execute the notebooks with their defaults and keep what is committed: text outputs, no pictures or progress bars.

``make notebooks`` calls it after a change that the committed outputs should show. What earlier runs of the
defaults left in data/runs is removed first, so that the outputs are those of a fresh start.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
from nbclient import NotebookClient

from lifesearch_kit.paths import NOTEBOOKS, ROOT

# The run comes first: the others read what it leaves behind.
FIRST = "04_run_and_grade"
LEFT_BEHIND = ("demo", "demo-judges", "demo-building", "start")
WIDGET = "application/vnd.jupyter.widget-view+json"


def refresh(path: Path) -> None:
    """Execute one notebook in place."""
    notebook = nbformat.read(path, as_version=4)
    client = NotebookClient(
        notebook, resources={"metadata": {"path": str(NOTEBOOKS)}}, extra_arguments=["--IPKernelApp.log_level=50"]
    )
    client.execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        if cell.cell_type == "code":
            cell.outputs = [
                one for one in cell.outputs if one.get("name") != "stderr" and WIDGET not in one.get("data", {})
            ]
            for output in cell.outputs:
                output.get("data", {}).pop("image/png", None)
                if "metadata" in output:
                    output["metadata"] = {}
    notebook.metadata.pop("widgets", None)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.validate(notebook)
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in LEFT_BEHIND:
        shutil.rmtree(ROOT / "data" / "runs" / name, ignore_errors=True)
    for book in sorted(NOTEBOOKS.glob("*.ipynb"), key=lambda path: (path.stem != FIRST, path.stem)):
        refresh(book)
        print(book.stem)
