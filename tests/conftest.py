"""Fixtures that several test files use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import settings
from loopback import Loopback, serve

# How long an example takes is the machine's business: a busy one must not fail a test.
settings.register_profile("kit", deadline=None)
settings.load_profile("kit")


@pytest.fixture
def loopback(monkeypatch: pytest.MonkeyPatch) -> Iterator[Loopback]:
    """A scripted endpoint on loopback, with stand-in keys in the environment."""
    for name in ("OPENAI_API_KEY", "SERPER_API_KEY", "JINA_API_KEY"):
        monkeypatch.setenv(name, f"stand-in-{name.lower()}")
    with serve() as server:
        yield server
