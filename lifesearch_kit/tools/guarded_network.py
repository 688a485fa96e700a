"""Connections to the open internet alone: the address that was checked is the one that is connected to."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools.addresses import is_public

CONNECT_SECONDS = 10.0


async def resolve(host: str, port: int) -> Sequence[str]:
    """The IP addresses of a host, as this machine's resolver gives them.

    Raises
    ------
    ToolError
        When there are none; `service_failed` when the resolver itself did not answer.
    """
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        away = isinstance(error, socket.gaierror) and error.errno == socket.EAI_AGAIN
        told = "no name server answered" if away else f"there is no host {host[:200]}"
        raise ToolError(told, service_failed=away) from None
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


class GuardedNetwork(httpcore.AsyncNetworkBackend):
    """A network for httpcore that resolves a name once, refuses any answer with an inside address, and dials the rest.

    Parameters
    ----------
    resolver
        Gives the IP addresses of a host and port. Whatever it gives is checked.
    dial
        Makes the connection to an address that passed.
    """

    def __init__(
        self,
        resolver: Callable[[str, int], Awaitable[Sequence[str]]] = resolve,
        dial: httpcore.AsyncNetworkBackend | None = None,
    ) -> None:
        self._resolver = resolver
        self._dial = dial or httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to the first address of the host that answers.

        Raises
        ------
        ToolError
            When the host has no address, or one that is not on the public internet.
        httpcore.ConnectError, httpcore.ConnectTimeout
            When none answers.
        """
        addresses = [ipaddress.ip_address(one) for one in await self._resolver(host, port)]
        if not addresses:
            raise ToolError(f"there is no host {host[:200]}")
        if not all(is_public(address) for address in addresses):
            raise ToolError(f"the host {host[:200]!r} leads to an address that is not on the public internet")
        seconds = CONNECT_SECONDS if timeout is None else min(timeout, CONNECT_SECONDS)
        for address in addresses[:-1]:
            try:
                return await self._dial.connect_tcp(str(address), port, seconds, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return await self._dial.connect_tcp(str(addresses[-1]), port, seconds, local_address, socket_options)

    async def connect_unix_socket(self, *_: object, **__: object) -> httpcore.AsyncNetworkStream:
        """Refused: a socket file is never on the internet."""
        raise ToolError("only addresses of the public internet are connected to")

    async def sleep(self, seconds: float) -> None:
        """Wait, for httpcore."""
        await asyncio.sleep(seconds)
