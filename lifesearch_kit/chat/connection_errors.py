"""What it means that no answer came: which address, why, and what its user can change."""

from __future__ import annotations

import errno
import re
import socket
from collections.abc import Iterator

from lifesearch_kit.chat.endpoint_errors import configuration, endpoint
from lifesearch_kit.endpoint_addresses import LOCAL_ADDRESS
from lifesearch_kit.errors import ChatError, ChatErrorKind
from lifesearch_kit.redaction import redact
from lifesearch_kit.settings import ModelSettings
from lifesearch_kit.text import replace_lone_surrogates


def explain_silence(error: BaseException, settings: ModelSettings, key: str) -> ChatError:
    """The error that the user reads where no answer came, by what `error` was raised from.

    Its own words may mislead: over aiohttp, the openai client calls every lost connection a time-out.

    Parameters
    ----------
    key
        To be taken out of what is told.
    """
    causes = list(_causes(error))
    place = next((f"{one.host}:{one.port}" for one in causes if hasattr(one, "host") and hasattr(one, "port")), "")
    if place and place.rpartition(":")[0] not in endpoint(settings):
        place, setting = f"the proxy {place}", "the proxy's environment variable (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY)"
    else:
        place, setting = place or "it", LOCAL_ADDRESS if settings.is_local else "base_url"
    kind: ChatErrorKind = "transient"
    said = redact(next((str(one) for one in causes[1:] if str(one)), str(error)), key)
    said = re.sub(r"\?\S*", "", said)  # an address's query may hold a key too
    if any(getattr(one, "errno", None) == errno.ECONNREFUSED for one in causes):
        kind = "stop"
        told = f"connection refused, nothing listens at {place}; start the server, or correct {setting}"
    elif any(isinstance(one, socket.gaierror) for one in causes):
        told = f"the address is not known here ({said}); correct {setting}, or mend the network"
    elif any(isinstance(one, TimeoutError) for one in causes):
        told = f"no answer in time ({said}); try again, or raise timeout_seconds (now {settings.timeout_seconds:g})"
    else:
        told = f"no answer, the connection was lost ({said}); try again"
    return ChatError(replace_lone_surrogates(f"{configuration(settings, endpoint(settings))}: {told}")[0], kind)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An error and those that it was raised from, the outermost first."""
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__
