"""Notebooks: what is committed is clean, and the comparison of their outputs still bites."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from lifesearch_kit.execution import INJECTED_TAG
from lifesearch_kit.paths import NOTEBOOKS, ROOT
from lifesearch_kit.profiles import declared_parameters, read_profile

BOOKS = sorted(NOTEBOOKS.glob("*.ipynb"))
SANITIZER = ROOT / "tests" / "nbval_sanitize.cfg"
every_notebook = pytest.mark.parametrize("path", BOOKS, ids=lambda path: path.stem)


def code_cells(path: Path) -> list[nbformat.NotebookNode]:
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


def parameters_cell(path: Path) -> nbformat.NotebookNode:
    (cell,) = [cell for cell in code_cells(path) if "parameters" in cell.metadata.get("tags", [])]
    return cell


def test_there_are_notebooks() -> None:
    assert len(BOOKS) >= 8


@every_notebook
def test_format_kernel_and_heading(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert notebook.metadata.kernelspec.name == "python3"
    assert notebook.cells[0].cell_type == "markdown"
    assert notebook.cells[0].source.startswith("# ")


@every_notebook
def test_parameters_are_typed_literals_with_a_remark(path: Path) -> None:
    cell = parameters_cell(path)
    assert code_cells(path)[0] is not None
    assert code_cells(path)[0].id == cell.id
    statements = ast.parse(cell.source).body
    assert all(isinstance(one, ast.AnnAssign) and one.value is not None for one in statements)
    for statement in statements:
        assert isinstance(statement, ast.AnnAssign)
        assert statement.value is not None
        value = ast.literal_eval(statement.value)
        assert type(value).__name__ == ast.unparse(statement.annotation)
        assert "  # " in cell.source.splitlines()[(statement.end_lineno or 1) - 1]
    # Papermill reads parameters line by line; what it cannot read, a profile cannot set.
    names = [ast.unparse(statement.target) for statement in statements if isinstance(statement, ast.AnnAssign)]
    assert list(declared_parameters(path)) == names


@every_notebook
def test_notebooks_are_short_and_hold_no_functions(path: Path) -> None:
    cells = code_cells(path)
    assert len(cells) <= 12
    for cell in cells:
        nodes = ast.walk(ast.parse(cell.source, type_comments=False, mode="exec"))
        assert not [one for one in nodes if isinstance(one, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))]
        assert not cell.source.rstrip().endswith(";")
        assert all(len(line) <= 150 for line in cell.source.splitlines())


@every_notebook
def test_every_cell_has_run_in_order_without_an_error(path: Path) -> None:
    cells = code_cells(path)
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    assert not [one for cell in cells for one in cell.outputs if one.output_type == "error"]
    assert any(cell.outputs for cell in cells)


@every_notebook
def test_outputs_are_compared_except_where_a_progress_bar_stands(path: Path) -> None:
    checked = [cell for cell in code_cells(path) if "nbval-check-output" in cell.metadata.get("tags", [])]
    assert checked
    assert all(cell.outputs for cell in checked)
    assert not [cell for cell in checked if "await " in cell.source], (
        "a first run shows a bar that a second one does not"
    )


@every_notebook
def test_no_picture_time_or_machine_is_committed(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert "image/png" not in text
    assert "data:image" not in text
    assert not re.search(r"/(?:home|root|Users|work|tmp|var|private)/", text)
    assert str(ROOT) not in text
    assert "iopub.status" not in text
    assert '"papermill"' not in text
    assert INJECTED_TAG not in text
    assert not [one for cell in code_cells(path) for one in cell.outputs if one.get("name") == "stderr"]


@pytest.mark.parametrize("path", sorted((ROOT / "params").glob("*.yaml")), ids=lambda path: path.stem)
def test_every_profile_fits_its_notebooks(path: Path) -> None:
    assert read_profile(path).parameters


def figure_notebook(path: Path, rows: str) -> None:
    """A notebook as it is committed: picture dropped, figure's text and size from another machine."""
    sources = [
        ("import matplotlib.pyplot as plt", []),
        (
            "figure, ax = plt.subplots(figsize=(4, 3))\nax.plot([1, 2])\nplt.show()",
            [nbformat.v4.new_output("display_data", {"text/plain": "<Figure size 333x222 with 1 Axes>"})],
        ),
        ("print('rows', 2)", [nbformat.v4.new_output("stream", text=f"{rows}\n")]),
        (
            "import time\nprint(f'took {time.process_time():.3f} s, read /elsewhere/x/data/y')",
            [nbformat.v4.new_output("stream", text="took 0.4 s, read /home/somebody/data/y\n")],
        ),
    ]
    cells = [
        nbformat.v4.new_code_cell(source, execution_count=number, outputs=outputs)
        for number, (source, outputs) in enumerate(sources, start=1)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)


def test_the_comparison_passes_what_machines_change_and_catches_what_they_do_not(tmp_path: Path) -> None:
    figure_notebook(tmp_path / "as_it_was.ipynb", "rows 2")
    figure_notebook(tmp_path / "tampered.ipynb", "rows 3")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--nbval",
        "--nbval-sanitize-with",
        str(SANITIZER),
        "-rA",
        "--rootdir",
        ".",
        ".",
    ]
    run = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": str(ROOT)}, timeout=120
    )
    passed, failed = (
        set(re.findall(rf"^{word} (\S+ Cell \d|\S+::Cell \d)", run.stdout, re.M)) for word in ("PASSED", "FAILED")
    )
    assert failed == {"tampered.ipynb::Cell 2"}, run.stdout
    assert len(passed) == 7
