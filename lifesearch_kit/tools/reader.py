"""Pages through Jina Reader (r.jina.ai), which returns one as Markdown under a few header lines."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace

import httpx

from lifesearch_kit.errors import ToolError
from lifesearch_kit.text import repair
from lifesearch_kit.tools.layout import FetchedPage
from lifesearch_kit.tools.service import Service, said_by

ENDPOINT = "https://r.jina.ai/"
SECONDS = 60.0
# Key, payment, rate (and a wrong endpoint): the reader's own. Other statuses speak of the page.
_OWN_FAILURES = (401, 402, 429)

_HEADER = re.compile(
    r"\A\s*(?:(?:Title|URL Source|Published Time|Number of Pages|Warning):[^\n]*\n\s*)*Markdown Content:[ \t]*\n?"
)
_FIELD = re.compile(r"^(Title|URL Source|Published Time|Warning):[ \t]*(.*)$", re.M)


@dataclass(frozen=True)
class JinaReader:
    """The reader at an address, with a key or, at the vendor's lower rate limit, without."""

    key: str = ""
    endpoint: str = ENDPOINT
    http_client: httpx.AsyncClient | None = None
    name: str = "Jina Reader"

    async def read(self, url: str) -> FetchedPage:
        """One page.

        Raises
        ------
        ToolError
            When the reader does not answer, or answers with an error.
        """
        headers = {"Accept": "text/plain"} | ({"Authorization": f"Bearer {self.key}"} if self.key else {})
        service = Service("the page reader", SECONDS, self.key, self.http_client)
        status, text = await service.ask("POST", self.endpoint, headers=headers, json={"url": url})
        if not httpx.codes.is_success(status):
            told = f"the page reader answered HTTP {status}: {_said(text)}"
            raise ToolError(told, service_failed=status in _OWN_FAILURES or httpx.codes.is_redirect(status))
        page = replace(read_page(text), source=self.name)
        moved = page.url and _plain(page.url) != _plain(url)
        return replace(page, warnings=(*page.warnings, f"the address redirects to {page.url}")) if moved else page


def read_page(reply: str) -> FetchedPage:
    """Split Jina Reader's text into its header lines and the page. Text without the header is all page."""
    reply = reply.replace("\r\n", "\n")
    header = _HEADER.match(reply)
    if not header:
        return FetchedPage("", reply.strip())
    fields = [(name, value.strip()) for name, value in _FIELD.findall(header[0])]
    first = dict(reversed(fields))
    warnings = tuple(value for name, value in fields if name == "Warning" and value)
    text = reply[header.end() :].strip()
    published = first.get("Published Time") or None
    return FetchedPage(first.get("Title", ""), text, published, warnings, url=first.get("URL Source", ""))


def _plain(url: str) -> str:
    """An address without what changes nothing about where it leads."""
    return re.sub(r"^https?://(?:www\.)?", "", url.strip(), flags=re.I).partition("#")[0].rstrip("/").casefold()


def _said(text: str) -> str:
    try:
        return said_by(repair(json.loads(text))[0])
    except (ValueError, RecursionError):
        return " ".join(re.sub(r"<[^<>]*>", " ", text).split())[:300]
