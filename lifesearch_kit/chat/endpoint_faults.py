"""An endpoint's error in its vendor's words, read from whatever shape it comes in."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

# What some vendors say instead of an error where their own machines failed in the middle of a reply.
_BROKEN_OFF = ("error", "network_error", "insufficient_system_resource")


@dataclass(frozen=True)
class Fault:
    """An error in a vendor's words."""

    message: str
    code: str | None = None
    param: str | None = None

    def __str__(self) -> str:
        return f"{self.message} (code {self.code})" if self.code else self.message


def fault_of_body(payload: Any) -> Fault | None:
    """What makes a body that came with HTTP 200 unusable; None when it holds a choice with a message."""
    if not isinstance(payload, dict):
        return Fault("the body is no JSON object")
    if payload.get("error"):
        return read_fault(payload["error"])
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        usual = ("choices", "id", "object", "created", "model", "usage")
        other = {name: value for name, value in payload.items() if name not in usual}
        return read_fault(other, "the body holds no choice")
    if choices[0].get("error"):
        return read_fault(choices[0]["error"])
    if choices[0].get("finish_reason") in _BROKEN_OFF:
        return Fault("the provider broke off the reply")
    if not isinstance(choices[0].get("message"), dict):
        return Fault("the choice holds no message")
    return None


def read_fault(error: Any, otherwise: str = "") -> Fault:
    """Read an error in any of the common shapes: a string, or an object with a message and a code."""
    if not isinstance(error, dict):
        return Fault(str(error)[:500])
    if isinstance(error.get("error"), (dict, str)) and error["error"]:
        return read_fault(error["error"])
    said = next((error[name] for name in ("message", "msg", "detail", "error_msg", "reason") if error.get(name)), None)
    if said is None:
        said = " ".join(filter(None, (otherwise, json.dumps(error, ensure_ascii=False)[:300] if error else "")))
    metadata = error.get("metadata")
    upstream = metadata.get("raw") if isinstance(metadata, dict) else None
    message = str(said)[:500] + (f" [{str(upstream)[:300]}]" if upstream else "")
    codes = (error.get(name) for name in ("code", "status", "statusCode", "type"))
    code = next((code for code in codes if code not in (None, "")), None)
    param = error.get("param")
    return Fault(message, None if code is None else str(code), param if isinstance(param, str) else None)
