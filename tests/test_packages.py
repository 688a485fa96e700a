"""The set of packages is the same in pyproject.toml, environment.yml and the pins."""

from __future__ import annotations

import ast
import re
import sys
import tomllib

import yaml

from lifesearch_kit.local.parts import packaged_model
from lifesearch_kit.paths import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DECLARED = {*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["test"]}
# 1.1 GB that only `make demo-local` needs: pinned where it is declared, and in no environment by default.
LOCAL = PROJECT["optional-dependencies"]["local"]


def plain(requirement):
    return re.split(r"[\[=<>~ ]", requirement)[0].lower().replace("_", "-")


def pins():
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return dict(line.split("==") for line in lines if line and not line.startswith("#"))


def test_environment_yml_names_the_packages_of_pyproject():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
    (through_pip,) = (part["pip"] for part in environment["dependencies"] if isinstance(part, dict))
    assert {"-c constraints.txt", "-e ."} <= set(through_pip)
    assert {one for one in through_pip if not one.startswith("-")} == DECLARED


def test_every_package_is_pinned_once_to_one_version():
    names = [plain(name) for name in pins()]
    assert {plain(one) for one in DECLARED} <= set(names)
    assert len(names) == len(set(names))
    assert all(re.fullmatch(r"[\w.+!]+", version) for version in pins().values())


def test_the_packages_that_the_project_is_built_on_are_there():
    card = {"jupyterlab", "papermill", "pandas", "matplotlib", "seaborn", "openai", "httpx", "nbval"}
    assert card <= {plain(one) for one in DECLARED}


def test_what_is_imported_is_declared():
    modules = {path.stem for path in (ROOT / "lifesearch_kit").glob("*")} | {"lifesearch_kit"}
    imported = set()
    for path in (ROOT / "lifesearch_kit").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
            imported |= {name.partition(".")[0] for name in names}
    renamed = {"yaml": "pyyaml", "markdown_it": "markdown-it-py", "rank_bm25": "rank-bm25", "IPython": "ipython"}
    renamed |= {"charset_normalizer": "charset-normalizer", "pydantic_core": "pydantic-core", "fontTools": "fonttools"}
    outside = imported - set(sys.stdlib_module_names) - modules
    assert {renamed.get(name, name) for name in outside} <= {plain(one) for one in [*DECLARED, *LOCAL]}


def hashed(name):
    """Requirements of a file with checksums, and how many checksums each has."""
    text = (ROOT / "lifesearch_kit" / "local" / name).read_text("utf-8").replace("\\\n", " ")
    rows = [line.split() for line in text.splitlines() if line and not line.startswith(("#", "-r"))]
    assert all(re.fullmatch(r"--hash=sha256:[0-9a-f]{64}", word) for _, *words in rows for word in words)
    return {requirement: len(set(words)) for requirement, *words in rows}


def test_the_local_extra_is_pinned_and_apart_from_the_rest():
    assert all(re.fullmatch(r"[\w-]+==[\w.]+", one) for one in LOCAL)
    assert not {plain(one) for one in LOCAL} & ({plain(one) for one in DECLARED} | {plain(name) for name in pins()})


def test_the_local_extra_has_a_checksum_for_every_wheel():
    server, parts = hashed("requirements-server.txt"), hashed("requirements.txt")
    assert "\n-r requirements-server.txt\n" in (ROOT / "lifesearch_kit/local/requirements.txt").read_text("utf-8")
    assert [*server, *parts] == LOCAL
    assert list(parts) == [f"{part.package}=={part.version}" for part in packaged_model().parts]
    # A part has one wheel for all machines; the server has one for each of five, with and without the global lock.
    assert set(parts.values()) == {1}
    assert list(server.values()) == [2 * 5]
