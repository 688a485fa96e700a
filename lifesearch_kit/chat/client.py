"""The one client for language models: an OpenAI-compatible chat-completions endpoint, one request a call."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import Any, Self

import httpx
import openai

from lifesearch_kit.chat.connection_errors import explain_silence
from lifesearch_kit.chat.endpoint_errors import UNKNOWN_FAULT_STATUS, endpoint, explain, status_of_fault
from lifesearch_kit.chat.endpoint_faults import Fault, fault_of_body, read_fault
from lifesearch_kit.chat.event_stream import is_stream, read_stream
from lifesearch_kit.chat.reply import Reply, read_reply
from lifesearch_kit.endpoint_addresses import local_address
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.redaction import add_key_variable, redact
from lifesearch_kit.settings import ModelSettings
from lifesearch_kit.text import encode

_PATH = "/chat/completions"
_HEADERS: dict[str, str | openai.Omit] = {
    "Content-Type": "application/json",
    # What the openai client tells of this machine is no endpoint's business, and takes its time on every call.
    **dict.fromkeys(
        [
            *(
                f"X-Stainless-{name}"
                for name in ("Lang", "Package-Version", "OS", "Arch", "Runtime", "Runtime-Version")
            ),
            *(f"X-Stainless-{name}" for name in ("Async", "Retry-Count", "Read-Timeout")),
        ],
        openai.Omit(),
    ),
}
_NO_KEY = "no-key"
_PAYLOAD = "lifesearch_kit.payload"
_FIRST_STATUS = "lifesearch_kit.status"


class Chat:
    """A client for one model.

    Retries and back-off are the openai client's own, `settings.max_retries` times. A reply with HTTP 200 that carries
    an error instead of a message is given the error status that it should have had, so it is retried alike.

    Parameters
    ----------
    settings
        Which model, where, and how.
    http_client
        An httpx or httpx2 AsyncClient of one's own, which stays open; None for openai's client over aiohttp.

    Attributes
    ----------
    client
        The openai client, for calls other than `complete`.
    key
        To be taken out of an endpoint's words; empty where none is needed.
    refuses_response_format
        Whether the endpoint was seen to refuse `response_format`.

    Raises
    ------
    InputError
        When a key is needed and not set, or when no address of a local model is known.
    """

    def __init__(self, settings: ModelSettings, http_client: Any | None = None) -> None:
        self.settings = settings
        if settings.is_offline and http_client is None:
            raise InputError(f"configuration {settings.name!r} is offline; pass the client of the built-in baselines")
        add_key_variable(settings.api_key_env)
        self.key = "" if settings.runs_here else os.environ.get(settings.api_key_env, "").strip()
        if not self.key and not settings.runs_here and http_client is None:
            raise InputError(
                f"configuration {settings.name!r} needs a key: set the environment variable {settings.api_key_env} "
                "(to any word where the endpoint asks for none)"
            )
        base_url = _address(settings)
        self._owned = http_client is None
        # What a model on this machine is asked is none of a proxy's business.
        self._http_client = http_client or openai.DefaultAioHttpClient(trust_env=not settings.is_local)
        _install(self._http_client)
        self.refuses_response_format = False
        self.client = openai.AsyncOpenAI(
            api_key=self.key or _NO_KEY,
            base_url=base_url,
            timeout=settings.timeout_seconds,
            max_retries=settings.max_retries,
            http_client=self._http_client,
        )
        # The whole address: to join it anew takes its time on every call.
        self._url = str(self.client.base_url.join(_PATH.lstrip("/")))

    def __repr__(self) -> str:
        return f"Chat({self.settings.name!r}, model={self.settings.model!r}, endpoint={endpoint(self.settings)!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections; a client that was passed in stays open."""
        if self._owned:
            await self.client.close()

    async def complete(
        self,
        messages: Sequence[dict[str, Any] | bytes],
        *,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: str | None = None,
        seed: int | None = None,
        response_format: dict[str, Any] | None = None,
    ) -> Reply:
        """Ask for one completion.

        Parameters
        ----------
        messages
            Each as it is, or encoded already (`lifesearch_kit.text.encode`), which saves the time to do it again.

        Raises
        ------
        ChatError
            When there is no usable reply after the retries. Nothing that was sent is ever dropped for another try.
        """
        body = self._body(tools, tool_choice, seed, response_format)
        started = time.perf_counter()
        try:
            response = await self.client.post(
                self._url,
                cast_to=httpx.Response,
                content=_encode(body, messages),
                options={"headers": _HEADERS},
            )
        except openai.APIError as error:
            raised = self.explain(error, {**body, "messages": messages})
            self.refuses_response_format |= raised.parameter == "response_format"
            raise raised from None
        return read_reply(response.extensions[_PAYLOAD], time.perf_counter() - started)

    def _body(
        self,
        tools: list[dict[str, Any]] | None,
        tool_choice: str | None,
        seed: int | None,
        response_format: dict[str, Any] | None,
    ) -> dict[str, Any]:
        settings = self.settings
        optional = {
            "tools": tools or None,
            "tool_choice": tool_choice,
            "seed": seed,
            "response_format": response_format,
            "temperature": None if settings.temperature == "default" else settings.temperature,
            "reasoning_effort": None if settings.reasoning_effort == "default" else settings.reasoning_effort,
            settings.output_limit_field: settings.max_output_tokens,
        }
        sent = {name: value for name, value in optional.items() if value is not None}
        return {"model": settings.model, **sent, **settings.extra_body}

    def explain(self, error: openai.APIError, body: dict[str, Any]) -> ChatError:
        """The error that the user reads for one of `client`; `body` is the request, to name a setting refused."""
        if not isinstance(error, openai.APIStatusError):
            return explain_silence(error, self.settings, self.key)
        text = redact(error.response.text, self.key)
        content = text.encode()
        payload = read_stream(content) if is_stream(content) else _parse(text)
        first_status = error.response.extensions.get(_FIRST_STATUS)
        if first_status is not None:
            said, shown = (
                fault_of_body(payload) or Fault("the body is no UTF-8"),
                f"HTTP {first_status} with an error body",
            )
        else:
            said, shown = read_fault(payload) if payload else Fault("no message"), f"HTTP {error.status_code}"
        if not isinstance(payload, dict):
            said = Fault(f"{said.message}: {' '.join(text.split())[:300]}")
        return explain(said, error.status_code, shown, self.settings, body)


def _address(settings: ModelSettings) -> str | None:
    if settings.is_offline:
        return "http://offline.invalid/v1"
    return local_address([settings.name]) if settings.is_local else settings.base_url


def _install(http_client: Any) -> None:
    hooks = http_client.event_hooks
    if _mark_faulty not in hooks["response"]:
        http_client.event_hooks = {**hooks, "response": [*hooks["response"], _mark_faulty]}


async def _mark_faulty(response: httpx.Response) -> None:
    """Give a faulty body that came with success the status that it should have had; keep what was parsed."""
    if not response.is_success or not response.request.url.path.endswith(_PATH):
        return
    await response.aread()
    content = response.content
    payload = read_stream(content) if is_stream(content) else _parse(content)
    response.extensions[_PAYLOAD] = payload
    fault = fault_of_body(payload)
    if fault is not None:
        response.extensions[_FIRST_STATUS] = response.status_code
        response.status_code = status_of_fault(fault) if isinstance(payload, dict) else UNKNOWN_FAULT_STATUS


def _parse(content: bytes | str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return None


def _encode(body: dict[str, Any], messages: Sequence[dict[str, Any] | bytes]) -> bytes:
    each = b",".join(one if isinstance(one, bytes) else encode(one) for one in messages)
    return encode(body)[:-1] + b',"messages":[' + each + b"]}"
