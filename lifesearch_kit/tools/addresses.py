"""Which addresses may be fetched: public http(s) ones, nothing that points back inside."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, quote, urlsplit

import idna

from lifesearch_kit.errors import ToolError

# What the kit itself connects to. An outside reader connects from its own network, to any port.
PORTS = {"http": 80, "https": 443}

_INSIDE_SUFFIXES = tuple(
    f".{name}"
    for name in ("localhost", "local", "localdomain", "internal", "intranet", "lan", "corp", "home.arpa", "svc")
)
Address = ipaddress.IPv4Address | ipaddress.IPv6Address

# From IANA's special-purpose registries, written out because `is_global` knows them only in part, and differently from
# one release of Python to the next. 168.63.129.16 is a cloud's service for its own machines at a public number.
_CLOSED_4 = [
    ipaddress.IPv4Network(one)
    for one in (
        *("0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "168.63.129.16/32"),
        *("169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24"),
        *("192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/3"),
    )
]
_GLOBAL_6 = ipaddress.IPv6Network("2000::/3")
# Protocol assignments with Teredo and ORCHID, documentation, 6to4, documentation.
_CLOSED_6 = [ipaddress.IPv6Network(one) for one in ("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")]
# Here the last 32 bits are an IPv4 address that is reached: mapped, and NAT64 as IPv6-only networks use it.
_CARRYING_6 = [ipaddress.IPv6Network(one) for one in ("::ffff:0:0/96", "64:ff9b::/96")]


@dataclass(frozen=True)
class Target:
    """An address as a direct request needs it: host in ASCII, path and query percent-encoded."""

    scheme: str
    host: str
    port: int
    path: str


def check_address(url: str) -> str:
    """The address, trimmed, when it may be fetched.

    Names are not resolved here: an outside reader resolves them in its own network, and the direct way checks what
    they resolve to as it connects (guarded_network).

    Raises
    ------
    ToolError
        For another scheme than http(s), a user name or password, and hosts that are private, loopback or unqualified.
    """
    url = url.strip()
    _split(url)
    return url


def target_of(url: str) -> Target:
    """What to request for an address.

    Raises
    ------
    ToolError
        As `check_address`, and for ports other than 80 for http and 443 for https.
    """
    parts, host = _split(url.strip())
    port = PORTS[parts.scheme] if parts.port is None else parts.port
    if port not in PORTS.values():
        raise ToolError(
            f"{url[:200]!r} names port {port}; only {' and '.join(map(str, PORTS.values()))} are fetched from"
        )
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~")
    query = quote(parts.query, safe="/%:@!$&'()*+,;=~?[]|")
    return Target(parts.scheme, host, port, f"{path}?{query}" if query else path)


def _split(url: str) -> tuple[SplitResult, str]:
    """The parts of an address that passes, and its host in the form in which it is looked up."""
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
    if "[" in parts.netloc and not re.fullmatch(r"\[[0-9a-fA-F:.]+\](:\d*)?", parts.netloc):
        raise ToolError(f"{host[:200]!r} is no host")
    name = _looked_up(host)
    if _is_inside(name):
        raise ToolError(f"the host {host[:200]!r} is not on the public internet; it cannot be fetched")
    return parts, name


def _looked_up(host: str) -> str:
    """The host as a resolver is asked for it: width, case and the dots of other scripts do not count."""
    if ":" in host:
        return host
    if not host.isascii():
        try:
            host = idna.encode(host, uts46=True).decode("ascii")
        except (idna.IDNAError, UnicodeError):
            raise ToolError(f"{host[:200]!r} is no host name") from None
    host = host.rstrip(".").lower()
    if not re.fullmatch(r"[a-z0-9_.-]+", host):
        raise ToolError(f"{host[:200]!r} is no host name")
    return host


def _is_inside(host: str) -> bool:
    address = _literal(host)
    if address is not None:
        return not is_public(address)
    # A last label that is a number makes an IPv4 address to some readers: what none of them can read is refused.
    numeric = re.search(r"(?:^|\.)(?:\d+|0x[0-9a-f]*)$", host)
    return bool(numeric) or "." not in host or host.endswith(_INSIDE_SUFFIXES)


def _literal(host: str) -> Address | None:
    if ":" in host:
        try:
            return ipaddress.IPv6Address(host)
        except ValueError:
            return ipaddress.IPv6Address("::")
    try:
        # inet_aton also reads the short, octal and hexadecimal spellings that many fetchers accept.
        return ipaddress.IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


def is_public(address: Address) -> bool:
    """Whether an IP address is one of the open internet, and so is the IPv4 address that it may carry."""
    if isinstance(address, ipaddress.IPv4Address):
        return not any(address in network for network in _CLOSED_4)
    last = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    if any(address in network for network in _CARRYING_6):
        return is_public(last)
    isatap = (int(address) >> 32) & 0xFDFFFFFF == 0x5EFE
    closed = address not in _GLOBAL_6 or any(address in network for network in _CLOSED_6)
    return not closed and address.scope_id is None and (not isatap or is_public(last))
