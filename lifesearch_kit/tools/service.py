"""One request to a service behind a tool: bounded in time, size and patience, its key kept out of all that it says."""

from __future__ import annotations

import asyncio
import json
import os
import re
import ssl
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

import httpx

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.redaction import add_key_variable, redact
from lifesearch_kit.text import repair, replace_lone_surrogates

REPLY_BYTES = 20_000_000
# How often, and at most for how many seconds each time, a service that says "too many requests" is waited for.
WAITS = 2
WAIT_SECONDS = 10.0


def key_of(variable: str) -> str:
    """The key that an environment variable holds; empty where it is not set.

    Raises
    ------
    InputError
        When it holds what no request can carry. What it holds is not shown.
    """
    add_key_variable(variable)
    key = os.environ.get(variable, "").strip()
    if not re.fullmatch(r"[!-~]*", key):
        raise InputError(f"the environment variable {variable} holds no key: it has a space or characters beyond ASCII")
    return key


@dataclass(frozen=True)
class Service:
    """A service as its tool speaks of it.

    `http_client` is used as it is, and left open; without one each request has its own.
    """

    name: str
    seconds: float
    key: str = ""
    http_client: httpx.AsyncClient | None = None

    async def ask(self, method: str, url: str, **request: Any) -> tuple[int, str]:
        """Send a request, waiting and asking again where the service says how long.

        Returns
        -------
        tuple of int and str
            The status and the reply's text, without the key.

        Raises
        ------
        ToolError
            With `service_failed`, when no answer came; without, when the answer is too large.
        """
        client = self.http_client or httpx.AsyncClient(verify=_certificates())
        try:
            async with asyncio.timeout(self.seconds + WAITS * WAIT_SECONDS):
                for wait in range(WAITS + 1):
                    response, body = await self._once(client, method, url, request)
                    pause = _pause(response) if wait < WAITS else None
                    if pause is None:
                        break
                    await asyncio.sleep(pause)
        except (httpx.HTTPError, TimeoutError) as error:
            told = f"{self.name} did not answer ({type(error).__name__}); try again"
            raise ToolError(told, service_failed=True) from None
        finally:
            if self.http_client is None:
                await client.aclose()
        text = body.decode(response.charset_encoding or "utf-8", "replace")
        return response.status_code, replace_lone_surrogates(redact(text, self.key))[0]

    async def _once(
        self, client: httpx.AsyncClient, method: str, url: str, request: dict[str, Any]
    ) -> tuple[httpx.Response, bytes]:
        body = bytearray()
        async with (
            asyncio.timeout(self.seconds),
            client.stream(method, url, timeout=self.seconds, **request) as response,
        ):
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > REPLY_BYTES:
                    raise ToolError(f"{self.name} sent more than {REPLY_BYTES / 1e6:.0f} MB, the most that is read")
        return response, bytes(body)

    async def ask_json(self, method: str, url: str, **request: Any) -> tuple[int, Any]:
        """As `ask`, with the reply read as JSON.

        Raises
        ------
        ToolError
            As `ask`, and with `service_failed` when the reply is no JSON.
        """
        status, text = await self.ask(method, url, **request)
        try:
            return status, repair(json.loads(text))[0]
        except (ValueError, RecursionError):
            raise ToolError(f"{self.name} answered HTTP {status} without JSON", service_failed=True) from None


@cache
def _certificates() -> ssl.SSLContext:
    # To read them anew for each request takes longer than the request.
    return httpx.create_ssl_context()


def _pause(response: httpx.Response) -> float | None:
    """The seconds to wait before asking again; None where that is not asked for, or for too long."""
    if response.status_code != httpx.codes.TOO_MANY_REQUESTS:
        return None
    said = response.headers.get("Retry-After", "").strip()
    if re.fullmatch(r"\d{1,9}(\.\d{1,9})?", said):
        pause = float(said)
    else:
        try:
            pause = (parsedate_to_datetime(said).astimezone(UTC) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(pause, 0.0) if pause <= WAIT_SECONDS else None


def said_by(payload: Any) -> str:
    """What a service's error object says, on one line and not at length."""
    if isinstance(payload, dict):
        names = ("readableMessage", "message", "error")
        payload = next((text for text in (plain(payload.get(name)) for name in names) if text), payload)
    return str(payload)[:300]


def plain(value: Any) -> str:
    """A text or a number of a reply on one line; anything else is empty."""
    return " ".join(str(value).split()) if isinstance(value, (str, int, float)) and not isinstance(value, bool) else ""


def shape(value: Any) -> str:
    """What kind of JSON value a service sent, in words."""
    names = {dict: "an object", list: "a list", str: "a string", bool: "a truth value", type(None): "null"}
    return names.get(type(value), "a number")
