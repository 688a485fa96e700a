"""JupyterLab on a port of its own, and a browser's page with one of its notebooks."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page

PATIENCE = 60_000


@contextmanager
def lab(folder: Path, theme: str = "JupyterLab Light") -> Iterator[str]:
    """Serve a folder; yields the address."""
    own = folder / "jupyter"
    chosen = {
        "apputils-extension/notification": '{"fetchNews": "false", "checkForUpdates": false}',
        "apputils-extension/themes": f'{{"theme": "{theme}"}}',
        # Cells that are out of sight are cells too.
        "notebook-extension/tracker": '{"windowingMode": "none"}',
    }
    for name, content in chosen.items():
        path = own / "jupyterlab_settings_dir" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    places = (
        "JUPYTER_CONFIG_DIR",
        "JUPYTER_DATA_DIR",
        "JUPYTER_RUNTIME_DIR",
        "JUPYTERLAB_WORKSPACES_DIR",
        "IPYTHONDIR",
    )
    places += ("JUPYTERLAB_SETTINGS_DIR",)
    command = [
        *(sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--ServerApp.port={port}"),
        *("--ServerApp.ip=127.0.0.1", "--IdentityProvider.token=", "--ServerApp.port_retries=0"),
        f"--ServerApp.root_dir={folder}",
    ]
    with (folder / "lab.log").open("wb") as log:
        server = subprocess.Popen(
            command,
            stdout=log,
            stderr=log,
            env={**os.environ, **{name: str(own / name.lower()) for name in places}},
        )
        address = f"http://127.0.0.1:{port}"
        try:
            _wait(f"{address}/api/status", server)
            yield address
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


def open_notebook(browser: Browser, address: str, name: str, width: int = 1500, height: int = 1000) -> Page:
    """A page with the notebook alone, its kernel ready."""
    page = browser.new_context(viewport={"width": width, "height": height}).new_page()
    page.set_default_timeout(PATIENCE)
    # A cell that is run before the notebook has its kernel is asked which one.
    question = page.get_by_role("dialog").filter(has_text="Select kernel for")
    page.add_locator_handler(question, lambda dialog: dialog.locator(".jp-mod-accept").click())
    page.goto(f"{address}/doc/tree/{name}")
    page.wait_for_selector(".jp-Notebook .jp-CodeCell")
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", state="attached")
    return page


def run_cell(page: Page, number: int) -> None:
    """Run one cell, as a person does, and wait until the kernel has finished it."""
    cell = page.locator(".jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt").first
    before = prompt.inner_text()
    give_up = time.monotonic() + PATIENCE / 1000
    while (now := prompt.inner_text()) == before or not re.search(r"\d", now):
        assert time.monotonic() < give_up, f"the cell shows {now!r}"
        # A kernel that is still being connected to forgets the cell.
        if "*" not in now:
            cell.locator(".cm-content").click()
            page.keyboard.press("Control+Enter")
        page.wait_for_timeout(700)


def _wait(address: str, server: subprocess.Popen[bytes]) -> None:
    give_up = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < give_up:
        if server.poll() is not None:
            raise RuntimeError(f"JupyterLab ended with code {server.returncode}")
        try:
            urllib.request.urlopen(address, timeout=2).close()
        except OSError:
            time.sleep(0.2)
        else:
            return
    raise RuntimeError("JupyterLab did not answer")
