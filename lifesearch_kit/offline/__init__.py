"""The embedded default, without key or network: an invented web, baseline researchers and baseline judges.

Its members load on first use, so that the readers of dates and numbers in here come without httpx.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lifesearch_kit.offline.transport import BASELINES, http_client
    from lifesearch_kit.offline.web import Web, fetch_tool, search_tool

__all__ = ["BASELINES", "Web", "fetch_tool", "http_client", "search_tool"]
_HOMES = {"BASELINES": "transport", "http_client": "transport", "Web": "web", "fetch_tool": "web", "search_tool": "web"}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
