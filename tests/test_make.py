"""What make does for a local model: it installs what is needed, runs nothing that it is given, and says what failed."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from lifesearch_kit.local.parts import packaged_model
from lifesearch_kit.paths import ROOT

pytestmark = pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
PLACE = "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
FAKE_PYTHON = """#!/bin/sh
printf '%s\\n' "$@" >>calls.txt
if [ -f said.txt ]; then cat said.txt; exit 1; fi
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder where make meets a python that writes down its arguments; where said.txt is, it says that and fails."""
    folder = tmp_path / "checkout"
    (folder / ".venv").mkdir(parents=True)
    for name in ("pyproject.toml", "constraints.txt", ".venv/ready"):
        (folder / name).touch()
    (folder / "bin").mkdir()
    (folder / "bin" / "python").write_text(FAKE_PYTHON)
    (folder / "bin" / "python").chmod(0o755)
    return folder


def make(folder: Path, *words: str, **environment: str) -> tuple[list[str], str]:
    """What make had python do, by word, and what it told of faults."""
    done = subprocess.run(
        ["make", "-f", str(ROOT / "Makefile"), "-o", ".venv/ready", "BIN=bin", *words],
        cwd=folder,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
    )
    calls = folder / "calls.txt"
    return calls.read_text().splitlines() if calls.is_file() else [], done.stderr


@pytest.mark.parametrize(
    ("given", "joined", "installed", "option"),
    [
        ([], False, "requirements.txt", []),
        ([], True, "requirements-server.txt", []),
        (["MODEL=own.gguf"], False, "requirements-server.txt", ["--model", "own.gguf"]),
        (["SERVER=address"], False, None, ["--server", "address"]),
    ],
    ids=["packaged model", "joined before", "own model", "own server"],
)
def test_make_installs_only_what_is_needed(
    checkout: Path, given: list[str], joined: bool, installed: str | None, option: list[str]
) -> None:
    if joined:
        (checkout / "data" / "external" / "models").mkdir(parents=True)
        (checkout / "data" / "external" / "models" / PLACE).touch()
    # Common names: what the environment holds under them is meant for something else.
    words, _ = make(checkout, "demo-local", *given, MODEL="other", SERVER="other")
    start = words.index("lifesearch_kit.local")
    assert words[start + 1 :] == ["params/local.yaml", *option]
    pip = words[: start - 1]
    assert (pip[:3] == ["-m", "pip", "install"]) == (installed is not None)
    assert installed is None or pip[-2:] == ["-r", f"lifesearch_kit/local/{installed}"]
    assert installed is None or {"--no-cache-dir", "--require-hashes", "--no-deps"} <= set(pip)


@pytest.mark.parametrize("name", ["MODEL", "SERVER"])
def test_nothing_that_is_given_to_make_is_run(checkout: Path, name: str) -> None:
    tricky = """a b"; touch run1; '`touch run2` $(touch run3) $(shell touch run4) ~/x"""
    words, _ = make(checkout, "demo-local", f"{name}={tricky}")
    assert words[-2:] == [f"--{name.lower()}", tricky]
    assert not list(checkout.glob("run*"))


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["demo-local", "MODEL=a", "SERVER=b"], "give MODEL or SERVER, not both"),
        (["recorded", "MODEL=a"], "make recorded takes the packaged model"),
        (["recorded", "SERVER=b"], "make recorded takes the packaged model"),
    ],
)
def test_what_does_not_go_together_is_refused_before_anything_runs(
    checkout: Path, words: list[str], fault: str
) -> None:
    called, told = make(checkout, *words)
    assert called == []
    assert fault in told


def test_make_recorded_runs_the_profile_and_copies_its_results(checkout: Path) -> None:
    (checkout / ".venv" / "ready-local").touch()
    words, _ = make(checkout, "-o", ".venv/ready-local", "recorded")
    folders = ["data/runs/recorded", "data/runs/recorded-judges", "data/demo/recorded"]
    assert words == [
        "-m",
        "lifesearch_kit.local",
        "params/recorded.yaml",
        "-m",
        "lifesearch_kit.collect.recording",
        *folders,
    ]


WHEELS = "The model server has wheels for Linux, macOS 13 and Windows"
MEND = "If the machine has no network or no room, mend that and run again"


@pytest.mark.parametrize(
    ("said", "shown", "remedy", "other"),
    [
        ("noise\nERROR: No matching distribution found for xllamacpp", "ERROR: No matching", WHEELS, MEND),
        ("WARNING: Retrying (1)\nERROR: No matching distribution found for x", "ERROR: No matching", MEND, WHEELS),
        ("noise\nERROR: THESE PACKAGES DO NOT MATCH\n  Expected abc", "  Expected abc", MEND, WHEELS),
    ],
    ids=["no wheel", "no network", "checksum"],
)
def test_a_failed_installation_is_told_in_pips_words(
    checkout: Path, said: str, shown: str, remedy: str, other: str
) -> None:
    (checkout / "said.txt").write_text(f"{said}\n")
    called, told = make(checkout, "demo-local")
    assert "lifesearch_kit.local" not in called
    assert shown in told
    assert "noise" not in told
    assert remedy in told
    assert other not in told
    assert not (checkout / ".venv" / "ready-local").exists()


def test_make_knows_the_joined_file() -> None:
    assert f"{packaged_model().name}.gguf" == PLACE
