"""The errors that users meet. Each message names what is wrong, where, and the remedy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal


class KitError(Exception):
    """Base of every error that the kit raises on purpose."""


class InputError(KitError):
    """Input that cannot be used: a file, a profile or an argument.

    Parameters
    ----------
    faults
        One sentence a fault, each with file, line, field, value and remedy where they apply.
    """

    def __init__(self, faults: Sequence[str] | str) -> None:
        self.faults = (faults,) if isinstance(faults, str) else tuple(faults)
        heading = "" if len(self.faults) == 1 else f"{len(self.faults)} faults:\n"
        super().__init__(heading + "\n".join(self.faults))


class InputWarning(UserWarning):
    """Input that was read, but not exactly as written."""


class UnjudgedError(KitError):
    """Scores were asked for while rubrics are unjudged and no treatment of them was chosen."""


ChatErrorKind = Literal["stop", "transient", "request"]
ChatErrorCause = Literal["too_long", "refused"]


class ChatError(KitError):
    """A chat endpoint gave no usable reply.

    Parameters
    ----------
    message
        What the endpoint said, with the configuration and the setting to change.
    kind
        ``stop``: every further call would fail alike (key, quota, unknown model, refused setting);
        ``transient``: worth another run later (overload, time-out, connection);
        ``request``: this one request is at fault (too long, malformed).
    status
        HTTP status, where there was one.
    cause
        For ``request`` alone, and only where the endpoint plainly says so: ``too_long``, the conversation does not fit
        into the model's context; ``refused``, a content filter or moderation turned it down.
    parameter
        The parameter of the request that the endpoint refused, where it names one.

    Attributes
    ----------
    cost
        What was paid before it, where that is known to be more than 0.
    """

    def __init__(
        self,
        message: str,
        kind: ChatErrorKind,
        status: int | None = None,
        cause: ChatErrorCause | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message)
        self.cost = 0.0
        self.parameter = parameter
        self.kind = kind
        self.status = status
        self.cause = cause


class ToolError(KitError):
    """A tool call failed in a way that the model is told about and that is counted.

    Parameters
    ----------
    message
        What the model is told.
    service_failed
        Whether the service behind the tool failed (network, key, quota, overload) rather than this one call.
    """

    def __init__(self, message: str, *, service_failed: bool = False) -> None:
        super().__init__(message)
        self.service_failed = service_failed
