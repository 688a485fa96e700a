"""A page straight from its server, under caps: size, time, redirects, compression. Nothing of it is parsed here."""

from __future__ import annotations

import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from ssl import SSLContext
from urllib.parse import urljoin

import httpcore
import httpx

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools.addresses import PORTS, Target, check_address, target_of
from lifesearch_kit.tools.guarded_network import GuardedNetwork

BODY_BYTES = 20_000_000
REDIRECTS = 5
# What is left after a member is copied for the next one: small pieces and few members keep that cheap.
_PIECE, _MEMBERS = 65_536, 1_000
_REDIRECTING = (301, 302, 303, 307, 308)
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (compatible; lifesearch-kit)",
    "Accept": "text/html,application/xhtml+xml,application/pdf,text/*;q=0.9,*/*;q=0.5",
    "Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8",
    "Accept-Encoding": "gzip",
    "Connection": "close",
}
_BROKEN = (httpcore.NetworkError, httpcore.TimeoutException, httpcore.ProtocolError, OSError)


@dataclass(frozen=True)
class Download:
    """What a server sent: the address that answered in the end, the declared content type, the body uncompressed."""

    url: str
    content_type: str
    data: bytes


async def download(url: str, network: GuardedNetwork) -> Download:
    """Get an address over HTTP, and what it redirects to.

    Each address is checked before it is asked, and each connection by `network`. Proxies of the environment are not
    used: they would resolve names by themselves.

    Raises
    ------
    ToolError
        For an address that may not be fetched, no answer, an HTTP error, too many redirects and a body beyond the caps.
    """
    async with httpcore.AsyncConnectionPool(ssl_context=_certificates(), network_backend=network) as pool:
        for _ in range(REDIRECTS + 1):
            async with _answer(pool, target_of(url)) as response:
                headers = {name.decode("latin-1").lower(): value for name, value in response.headers}
                if response.status not in _REDIRECTING:
                    return await _received(url, response, headers)
            url = _redirected(url, response.status, headers)
    raise ToolError(f"the page redirects more than {REDIRECTS} times")


@cache
def _certificates() -> SSLContext:
    return httpx.create_ssl_context()


@asynccontextmanager
async def _answer(pool: httpcore.AsyncConnectionPool, target: Target) -> AsyncIterator[httpcore.Response]:
    bracketed = f"[{target.host}]" if ":" in target.host else target.host
    standard = target.port == PORTS[target.scheme]
    headers = {"Host": bracketed if standard else f"{bracketed}:{target.port}", **_HEADERS}
    url = httpcore.URL(
        scheme=target.scheme.encode(), host=target.host.encode(), port=target.port, target=target.path.encode()
    )
    try:
        async with pool.stream("GET", url, headers=list(headers.items())) as response:
            yield response
    except _BROKEN as error:
        words = f": {str(error)[:200]}" if str(error) else ""
        raise ToolError(f"the connection failed ({type(error).__name__}{words})") from None


def _redirected(url: str, status: int, headers: dict[str, bytes]) -> str:
    location = headers.get("location", b"").decode("utf-8", "replace").strip().replace(" ", "%20")
    if not location:
        raise ToolError(f"the page answered HTTP {status} without saying where it went")
    try:
        return check_address(urljoin(url, location))
    except (ToolError, ValueError) as error:
        raise ToolError(f"the page redirects to an address that is not fetched: {error}") from None


async def _received(url: str, response: httpcore.Response, headers: dict[str, bytes]) -> Download:
    if response.status != httpx.codes.OK:
        raise ToolError(f"the page answered HTTP {response.status}")
    encoding = headers.get("content-encoding", b"identity").decode("latin-1").strip().lower()
    if encoding not in ("", "identity", "gzip", "x-gzip"):
        raise ToolError(f"the page came compressed as {encoding[:40]!r}, which was not asked for")
    length = headers.get("content-length", b"")
    if length.isdigit() and int(length) > BODY_BYTES:
        raise ToolError(f"the page is {_megabytes(int(length))}; at most {_megabytes(BODY_BYTES)} are read")
    body = bytearray()
    async for chunk in response.aiter_stream():
        body += chunk
        if len(body) > BODY_BYTES:
            raise ToolError(f"the page is larger than {_megabytes(BODY_BYTES)}, the most that is read")
    data = bytes(body) if encoding in ("", "identity") else inflate(bytes(body))
    return Download(url, headers.get("content-type", b"").decode("latin-1").strip(), data)


def inflate(data: bytes, limit: int = BODY_BYTES) -> bytes:
    """Uncompress gzip, all members of it.

    Raises
    ------
    ToolError
        When more than `limit` bytes come out, or the data is damaged, cut off or in more than 1,000 members.
    """
    plain, members, inflater = bytearray(), 0, None
    for start in range(0, len(data), _PIECE):
        rest = data[start : start + _PIECE]
        while rest := (rest if inflater else rest.lstrip(b"\0")):
            if inflater is None:
                inflater, members = zlib.decompressobj(zlib.MAX_WBITS | 16), members + 1
            try:
                plain += inflater.decompress(rest, limit + 1 - len(plain))
            except zlib.error:
                members = _MEMBERS + 1
            if members > _MEMBERS:
                raise ToolError("the page's compression is damaged")
            if len(plain) > limit:
                raise ToolError(f"the page is larger than {_megabytes(limit)} when uncompressed, the most that is read")
            rest, inflater = (inflater.unused_data, None) if inflater.eof else (b"", inflater)
    if inflater is not None:
        raise ToolError("the page's compressed body breaks off")
    return bytes(plain)


def _megabytes(count: int) -> str:
    return f"{count / 1e6:.1f} MB"
