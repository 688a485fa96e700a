"""The embedded default, without key or network: an invented web, baseline researchers and baseline judges."""

from lifesearch_kit.offline.transport import BASELINES, http_client
from lifesearch_kit.offline.web import Web, fetch_tool, search_tool

__all__ = ["BASELINES", "Web", "fetch_tool", "http_client", "search_tool"]
