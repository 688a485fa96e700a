"""Which addresses may be handed on for fetching: public http(s) ones, nothing that points back inside."""

from __future__ import annotations

import ipaddress
import re
import socket
import unicodedata
from urllib.parse import urlsplit

from lifesearch_kit.errors import ToolError

_INSIDE_SUFFIXES = (".localhost", ".local", ".internal", ".intranet", ".lan", ".home.arpa")
Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def check_address(url: str) -> str:
    """The address, trimmed, when it may be fetched.

    Names are not resolved: this guards what is handed to an outside reader, which resolves them in its own network.

    Raises
    ------
    ToolError
        For another scheme than http(s), a user name or password, and hosts that are private, loopback or unqualified.
    """
    url = url.strip()
    if re.search(r"[\s\\\x00-\x1f\x7f]", url):
        raise ToolError(f"{url[:200]!r} holds a space, a backslash or a control character; write a plain address")
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise ToolError(f"{url[:200]!r} is no address: {error}") from None
    if parts.scheme not in ("http", "https"):
        raise ToolError(f"{url[:200]!r} does not start with http:// or https://; only web pages can be fetched")
    if "@" in parts.netloc:
        raise ToolError("the address holds a user name or password; leave them out")
    if not host:
        raise ToolError(f"{url[:200]!r} names no host")
    if _is_inside(unicodedata.normalize("NFKC", host).rstrip(".").lower()):
        raise ToolError(f"the host {host!r} is not on the public internet; it cannot be fetched")
    return url


def _is_inside(host: str) -> bool:
    address = _literal(host)
    if address is not None:
        return not all(one.is_global and not one.is_multicast for one in _reached(address))
    return "." not in host or "%" in host or host.endswith(_INSIDE_SUFFIXES)


def _literal(host: str) -> Address | None:
    if ":" in host:
        try:
            return ipaddress.IPv6Address(host.partition("%")[0])
        except ValueError:
            return ipaddress.IPv6Address("::")
    try:
        # inet_aton also reads the short, octal and hexadecimal spellings that many fetchers accept.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def _reached(address: Address) -> list[Address]:
    """The address and the IPv4 address that it may lead to by mapping or translation."""
    if isinstance(address, ipaddress.IPv4Address):
        return [address]
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if address in _NAT64 or int(address) >> 32 == 0:
        return [last]
    if address.ipv4_mapped:
        return [address.ipv4_mapped]
    return [address, *([address.sixtofour] if address.sixtofour else [])]
