"""The batch: profiles are checked before anything runs, failures are named, old figures never pass for new ones."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest

from lifesearch_kit.batch import main
from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import ROOT, plain_name, resolve
from lifesearch_kit.profiles import declared_parameters, read_profile

PARAMETERS = """count: int = 3  # how many
share: float = 0.5
name: str = "somebody"
strict: bool = True
items: list = [
    {"name": "a"},  # with a remark
]
anything = None"""
FIGURE = """import matplotlib.pyplot as plt
import pandas as pd
from lifesearch_kit import plots

figure, ax = plt.subplots()
ax.bar(["甲", "B"], [1, count])
plots.save_figure(
    figure, pd.DataFrame({"系统": ["甲", "<b>B</b>"], "n": [1, count]}), profile=profile, slug="10_1_bars",
    caption=f"Bars of <i>{name}</i>", notice=notice, figures=figures,
);"""


def write_notebook(path: Path, *sources: str, parameters: str | None = None) -> Path:
    cells = [nbformat.v4.new_markdown_cell("# A title with <b>marks</b> 标题")]
    if parameters is not None:
        cells.append(nbformat.v4.new_code_cell(parameters, metadata={"tags": ["parameters"]}))
    cells += [nbformat.v4.new_code_cell(source) for source in sources]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    path.parent.mkdir(parents=True, exist_ok=True)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel}), path)
    return path


def write_profile(folder: Path, text: str) -> Path:
    path = folder / "trial.yaml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def books(tmp_path: Path) -> Path:
    write_notebook(tmp_path / "books" / "10_first.ipynb", "print(count, name)", parameters=PARAMETERS)
    write_notebook(tmp_path / "books" / "20_second.ipynb", "print(other)", parameters="other: str = ''\ncount: int = 1")
    return tmp_path / "books"


def faults_of(folder: Path, books: Path, text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read_profile(write_profile(folder, text), books)
    return list(caught.value.faults)


def test_a_profile_passes_to_each_notebook_what_it_declares(tmp_path: Path, books: Path) -> None:
    text = (
        "notebooks: [20_second, 10_first.ipynb]\ncount: 7\nname: 张三\nshare: 1\nanything: [1]\nprofile: other-name\n"
    )
    profile = read_profile(write_profile(tmp_path, text), books)
    assert profile.name == "other-name"
    assert [(path.stem, values) for path, values in profile.parameters.items()] == [
        ("20_second", {"count": 7}),
        ("10_first", {"count": 7, "share": 1, "name": "张三", "anything": [1]}),
    ]


def test_a_profile_without_a_name_has_its_files(tmp_path: Path, books: Path) -> None:
    assert read_profile(write_profile(tmp_path, "notebooks: [10_first]\n"), books).name == "trial"


def test_declared_parameters_have_their_defaults(books: Path) -> None:
    assert declared_parameters(books / "10_first.ipynb") == {
        "count": 3, "share": 0.5, "name": "somebody", "strict": True, "items": [{"name": "a"}], "anything": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("key", "nearest"), [("cuont", "count"), ("nme", "name"), ("share_", "share"), ("notebook", "notebooks")]
)
def test_a_misspelt_key_names_the_nearest_right_one(tmp_path: Path, books: Path, key: str, nearest: str) -> None:
    (fault,) = faults_of(tmp_path, books, f"notebooks: [10_first]\n{key}: 1\n")
    assert repr(key) in fault
    assert f"did you mean {nearest!r}" in fault


def test_a_key_like_no_other_lists_the_known_ones(tmp_path: Path, books: Path) -> None:
    (fault,) = faults_of(tmp_path, books, "notebooks: [20_second]\nzzzzzz: 1\n")
    assert "known are count, notebooks, other, profile" in fault


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ('count: "7"', "a whole number"),
        ("count: 7.5", "a whole number"),
        ("count: true", "a whole number"),
        ("count:", "a whole number"),
        ("share: half", "a number"),
        ("share: false", "a number"),
        ("name: 2026-01-31", "text"),
        ("name: 5", "text"),
        ("strict: 1", "true or false"),
        ('strict: "yes"', "true or false"),
        ("items: a", "a list"),
        ("items: {a: 1}", "a list"),
    ],
)
def test_a_value_of_another_type_is_named_with_what_is_wanted(
    tmp_path: Path, books: Path, line: str, wanted: str
) -> None:
    (fault,) = faults_of(tmp_path, books, f"notebooks: [20_second, 10_first]\n{line}\n")
    assert repr(line.split(":")[0]) in fault
    assert f"wants {wanted}" in fault
    assert "10_first" in fault or "20_second" in fault


def test_all_faults_of_a_profile_come_at_once(tmp_path: Path, books: Path) -> None:
    faults = faults_of(tmp_path, books, "notebooks: [10_first]\ncount: x\nnmae: y\nstrict: z\n")
    assert len(faults) == 3


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("notebooks: [10_frist]\n", "did you mean '10_first'"),
        ("notebooks: []\n", "at least one notebook"),
        ("count: 1\n", "at least one notebook"),
        ("- a\n", "mapping"),
        ("notebooks: [10_first]\ncount: 1\ncount: 2\n", "given twice"),
        ("notebooks: [10_first\n", "cannot be read as YAML"),
        ("notebooks: [10_first]\nprofile: ../elsewhere\n", "becomes a file name"),
        ("notebooks: [10_first]\nno key: 1\n", "use a plain name"),
        ("notebooks: [10_first]\nname: !!python/object/apply:os.getcwd []\n", "cannot be read as YAML"),
    ],
)
def test_what_is_no_profile_is_said_to_be_none(tmp_path: Path, books: Path, text: str, part: str) -> None:
    assert part in "\n".join(faults_of(tmp_path, books, text))


def test_a_profile_that_is_not_there_names_its_neighbour(tmp_path: Path) -> None:
    write_profile(tmp_path, "")
    with pytest.raises(InputError, match=r"did you mean .*trial\.yaml"):
        read_profile(tmp_path / "trail.yaml")


def test_nothing_runs_under_a_faulty_profile(tmp_path: Path, books: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = write_profile(tmp_path, "notebooks: [10_first]\ncuont: 1\n")
    assert main([str(profile)], notebooks=books, figures=tmp_path / "figures") == 2
    assert "did you mean 'count'" in capsys.readouterr().err
    assert not (tmp_path / "figures").exists()


def test_a_file_in_the_place_of_the_figures_is_named(
    tmp_path: Path, books: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "figures").write_text("in the way")
    profile = write_profile(tmp_path, "notebooks: [10_first]\n")
    assert main([str(profile)], notebooks=books, figures=tmp_path / "figures") == 2
    assert "figures is a file); correct `profile`" in capsys.readouterr().err


def test_figures_pages_and_the_executed_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, elsewhere = tmp_path / "figures", tmp_path / "elsewhere"
    parameters = "count: int = 3\nname: str = ''\nprofile: str = 'x'\nfigures: str = ''\nnotice: str = ''"
    write_notebook(tmp_path / "10_first.ipynb", "import os\nprint(os.getcwd())", FIGURE, parameters=parameters)
    profile = write_profile(
        tmp_path,
        f"notebooks: [10_first]\ncount: 5\nname: '<script>alert(1)</script>'\nfigures: {figures}\n"
        "notice: Invented & <u>marked</u>\n",
    )
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    assert main([str(profile)], notebooks=tmp_path, figures=figures) == 0
    printed = capsys.readouterr().out
    assert "10_first" in printed
    assert "ok" in printed
    assert str(figures / "trial" / "index.html") in printed
    executed = (figures / "trial" / "notebooks" / "10_first.ipynb").read_text()
    assert f"{ROOT}\\n" in executed  # the working directory is the checkout's root, whatever the caller's is
    assert (figures / "trial" / "10_1_bars.png").read_bytes().startswith(b"\x89PNG")
    page = (figures / "trial" / "index.html").read_text(encoding="utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page
    assert '<p class="notice" role="note">Invented &amp; &lt;u&gt;marked&lt;/u&gt;</p>' in page
    assert '<th scope="col" lang="zh-Hans">系统</th>' in page
    assert "&lt;b&gt;B&lt;/b&gt;" in page
    assert 'src="10_1_bars.png"' in page
    assert 'href="notebooks/10_first.html"' in page
    for text in (page, (figures / "trial" / "notebooks" / "10_first.html").read_text(encoding="utf-8")):
        assert "http:" not in text
        assert "https:" not in text


def test_the_page_of_cases_is_linked_and_never_outlives_its_run(tmp_path: Path) -> None:
    figures = tmp_path / "figures"
    page = "import pathlib\nfolder = pathlib.Path(figures, 'trial')\nfolder.mkdir(parents=True, exist_ok=True)\n"
    parameters = "figures: str = ''"
    profile = write_profile(tmp_path, f"notebooks: [10_first]\nfigures: {figures}\n")
    for source, there in [("(folder / 'cases.html').write_text('cases')", True), ("raise ValueError('x')", False)]:
        write_notebook(tmp_path / "10_first.ipynb", page + source, parameters=parameters)
        assert main([str(profile)], notebooks=tmp_path, figures=figures) == (not there)
        assert (figures / "trial" / "cases.html").exists() is there
        assert ('<a href="cases.html">' in (figures / "trial" / "index.html").read_text("utf-8")) is there


def test_a_failing_notebook_is_named_with_its_cell_and_the_others_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_notebook(
        tmp_path / "10_bad.ipynb", "print('before', count)", "[][count]", "print('never')", parameters="count: int = 3"
    )
    write_notebook(tmp_path / "20_good.ipynb", "print('all is well')")
    profile = write_profile(tmp_path, "notebooks: [10_bad, 20_good]\ncount: 4\n")
    assert main([str(profile)], notebooks=tmp_path, figures=tmp_path) == 1
    error = capsys.readouterr().err
    # Title, parameters, print, then the failing one: cell 4 as written; papermill's own cells do not count.
    assert "10_bad.ipynb, cell 4: IndexError: list index out of range" in error
    assert "1 of 2 notebooks failed" in error
    assert "before 4" in (tmp_path / "trial" / "notebooks" / "10_bad.ipynb").read_text()
    assert "all is well" in (tmp_path / "trial" / "notebooks" / "20_good.ipynb").read_text()
    page = (tmp_path / "trial" / "index.html").read_text(encoding="utf-8")
    assert "1 of 2 notebooks failed: 10_bad" in page
    assert "cell 4: IndexError" in page


def test_what_reads_the_results_of_a_failed_notebook_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_notebook(tmp_path / "10_makes.ipynb", "1 / 0", parameters="results: str = 'x'")
    maker = nbformat.read(tmp_path / "10_makes.ipynb", as_version=4)
    maker.metadata["lifesearch_kit"] = {"makes": ["results"]}
    nbformat.write(maker, tmp_path / "10_makes.ipynb")
    write_notebook(tmp_path / "20_reads.ipynb", "print('old results')", parameters="results: str = 'x'")
    write_notebook(tmp_path / "30_other.ipynb", "print('all is well')")
    profile = write_profile(tmp_path, "notebooks: [10_makes, 20_reads, 30_other]\nresults: y\n")
    assert main([str(profile)], notebooks=tmp_path, figures=tmp_path) == 1
    told = capsys.readouterr()
    assert "20_reads.ipynb: not run: 10_makes failed to make its 'results'" in told.err
    assert "SKIPPED" in told.out
    executed = tmp_path / "trial" / "notebooks"
    assert not (executed / "20_reads.ipynb").exists()
    assert "all is well" in (executed / "30_other.ipynb").read_text()
    assert "20_reads.ipynb: not run" in (tmp_path / "trial" / "index.html").read_text(encoding="utf-8")


def test_a_date_without_quotes_is_told_to_have_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_notebook(tmp_path / "10_day.ipynb", "print(today)", parameters="today: str = ''")
    profile = write_profile(tmp_path, "notebooks: [10_day]\ntoday: 2026-03-31\n")
    assert main([str(profile)], notebooks=tmp_path, figures=tmp_path) == 2
    assert "put it in quotes" in capsys.readouterr().err


@pytest.mark.parametrize(
    "death",
    [
        "import os\nprint('nearly', flush=True)\nos._exit(3)",
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
        "import ctypes\nctypes.string_at(0)",
    ],
    ids=["exit", "killed", "segmentation"],
)
def test_the_death_of_a_kernel_is_a_failure_with_its_cell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], death: str
) -> None:
    stale = tmp_path / "trial"
    stale.mkdir()
    for name in ("10_1_old.png", "10_1_old.csv"):
        (stale / name).write_text("of an older run")
    (stale / "10_1_old.json").write_text(json.dumps({"caption": "an old figure", "notice": ""}))
    (stale / "my-notes.png").write_text("not the batch's own")
    write_notebook(tmp_path / "10_dies.ipynb", "print('read 5 rows', flush=True)", death, "print('never')")
    profile = write_profile(tmp_path, "notebooks: [10_dies]\n")
    started = time.monotonic()
    assert main([str(profile)], notebooks=tmp_path, figures=tmp_path) == 1
    assert time.monotonic() - started < 60
    error = capsys.readouterr().err
    assert "10_dies.ipynb, cell 3: the kernel died" in error
    assert "memory" in error
    copy = nbformat.read(stale / "notebooks" / "10_dies.ipynb", as_version=4)
    assert copy.metadata.papermill.exception is True
    assert "Failed" in copy.cells[0].source
    assert copy.cells[2].outputs[0].text == "read 5 rows\n"
    assert [cell.metadata.papermill.status for cell in copy.cells[2:]] == ["completed", "failed", "pending"]
    page = (stale / "index.html").read_text(encoding="utf-8")
    assert "the kernel died" in page
    assert "an old figure" not in page
    assert sorted(path.name for path in stale.glob("*.png")) == ["my-notes.png"]
    # The notebook is mended: a rerun needs no clearing by hand.
    write_notebook(tmp_path / "10_dies.ipynb", "print('read 5 rows')")
    assert main([str(profile)], notebooks=tmp_path, figures=tmp_path) == 0
    assert "failed" not in (stale / "index.html").read_text(encoding="utf-8").split("</style>")[1]


def test_ctrl_c_stops_at_once_with_a_sentence(tmp_path: Path) -> None:
    write_notebook(tmp_path / "10_slow.ipynb", "import time\ntime.sleep(120)")
    profile = write_profile(tmp_path, "notebooks: [10_slow]\n")
    code = (
        "import sys; from pathlib import Path; from lifesearch_kit.batch import main\n"
        f"sys.exit(main([{str(profile)!r}], notebooks=Path({str(tmp_path)!r}), figures=Path({str(tmp_path)!r})))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
    )  # fmt: skip
    executed = tmp_path / "trial" / "notebooks" / "10_slow.ipynb"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (executed.is_file() and '"running"' in executed.read_text()):
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    started = time.monotonic()
    _, error = process.communicate(timeout=30)
    assert time.monotonic() - started < 10
    assert process.returncode == 130
    assert "stopped" in error
    assert "the same command goes on from there" in error
    assert "Traceback" not in error


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a\\b", ".hidden", "a b", "-x"])
def test_names_that_would_lead_elsewhere_are_refused(name: str) -> None:
    with pytest.raises(InputError, match="becomes a file name"):
        plain_name(name, "profile")


def test_relative_paths_start_at_the_checkout() -> None:
    assert resolve("data/demo") == ROOT / "data" / "demo"
    assert resolve("/elsewhere/x") == Path("/elsewhere/x")
