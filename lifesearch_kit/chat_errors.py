"""What an endpoint's error means: whether it is worth another try, and what its user can change."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from lifesearch_kit.errors import ChatError, ChatErrorKind
from lifesearch_kit.settings import ModelSettings

UNKNOWN_FAULT_STATUS = 502
_CONTEXT = re.compile(
    r"context.{0,20}(length|window|limit|size)|maximum.{0,30}token|token.{0,20}(limit|maximum)|too long|too large"
    r"|reduce the length|input length|超(过|出|长).{0,16}(长度|上限|限制|token)|长度超",
    re.I,
)
_MODERATION = re.compile(r"moderat|flagged|content.{0,10}(policy|filter)|safety|敏感|违规", re.I)
_QUOTA = re.compile(r"quota|billing|credit|balance|payment|insufficient|exceeded your current|余额|欠费|额度", re.I)
# Every further call would fail alike.
_HOPELESS = (
    r"model.{0,40}(not found|not exist|unknown|no access|decommissioned|deprecated)|(no such|unknown|invalid) model"
    r"|model_not_found|api.?key|unauthori[sz]ed|authenticat|permission|forbidden|insufficient_quota"
    r"|(model|endpoint|tool).{0,60}(not support|unsupported)|(unsupported|not support).{0,60}(model|tool)"
    r"|模型不存在|无权|鉴权|密钥"
)
_STOP = re.compile(_HOPELESS, re.I)
# The same request would fail again.
_PERMANENT = re.compile(
    _HOPELESS + r"|not exist|not allowed|unsupported|not supported|invalid.{0,20}(request|param|value|argument)", re.I
)
_REASONING = re.compile(r"reasoning_(?:content|details)|thought.?signature|thinking|\breasoning(?![ _]?effort)", re.I)
_REMEDIES = {
    "temperature": "set temperature: default, or choose another model",
    "reasoning_effort": "set reasoning_effort: default, or a level that the model offers",
    "seed": "set seed_by_run: false",
    "max_completion_tokens": "set output_limit_field: max_tokens, or lower max_output_tokens",
    "max_tokens": "set output_limit_field: max_completion_tokens, or lower max_output_tokens",
    "tools": "choose a model that can call tools",
    "tool_choice": "choose a model that can call tools",
}


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
    if choices[0].get("finish_reason") == "error":
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


def status_of_fault(fault: Fault) -> int:
    """The HTTP status that a faulty body with HTTP 200 should have had: the vendor's code, else by its words.

    Words that no further try would change give 400; all else counts as the gateway's trouble and may be tried again.
    """
    if fault.code and re.fullmatch(r"[45]\d\d", fault.code):
        return int(fault.code)
    words = f"{fault.message} {fault.code or ''}"
    return 400 if _PERMANENT.search(words) or _CONTEXT.search(words) else UNKNOWN_FAULT_STATUS


def explain(fault: Fault, status: int | None, shown: str, settings: ModelSettings, body: dict[str, Any]) -> ChatError:
    """The error that the user reads.

    Parameters
    ----------
    fault, status
        What the endpoint said, and the HTTP status it stands for; None for no answer at all.
    shown
        How the answer came ("HTTP 400").
    body
        The request, to name the setting that was refused.
    """
    kind = _kind(fault, status)
    remedy = ""
    if status in (400, 404, 415, 422) and not _CONTEXT.search(fault.message):
        kind, remedy = _refused_setting(fault, settings, body) or (kind, "")
    where = f"configuration {settings.name!r} (model {settings.model!r} at {endpoint(settings)})"
    return ChatError(f"{where}: {shown}: {fault}" + (f"; {remedy}" if remedy else ""), kind, status)


def endpoint(settings: ModelSettings) -> str:
    """The endpoint's address as it may be shown: without user name, password and query."""
    return re.sub(r"//[^/@]*@", "//", (settings.base_url or "the openai client's own address").partition("?")[0])


def _kind(fault: Fault, status: int | None) -> ChatErrorKind:
    words = f"{fault.message} {fault.code or ''}"
    if status is None or status in (408, 409) or status >= 500:
        return "transient"
    if status == 429:
        return "stop" if _QUOTA.search(words) else "transient"
    if status == 403 and _MODERATION.search(words):
        return "request"
    if status in (401, 402, 403, 404):
        return "stop"
    if _CONTEXT.search(words) or _MODERATION.search(words):
        return "request"
    return "stop" if _STOP.search(words) or _QUOTA.search(words) else "request"


def _refused_setting(fault: Fault, settings: ModelSettings, body: dict[str, Any]) -> tuple[ChatErrorKind, str] | None:
    """The remedy where the endpoint refuses a parameter that was sent, or reasoning text in the history."""
    name = _refused_parameter(fault, body)
    if name:
        remedy = _REMEDIES.get(name, "change it")
        if name in settings.extra_body:
            remedy = "change or remove it in extra_body"
        sent = json.dumps(body[name], ensure_ascii=False)[:80]
        return "stop", f"the parameter {name}={sent} was refused and is never dropped silently: {remedy}"
    echo = getattr(settings, "echo_reasoning", None)
    has_history = any(message.get("role") == "assistant" for message in body["messages"])
    if echo is not None and has_history and _REASONING.search(f"{fault.message} {fault.param or ''}"):
        switch = str(not echo).lower()
        remedy = f"set echo_reasoning: {switch} (now {str(echo).lower()})"
        return "stop", f"it is about reasoning text in the history: {remedy}"
    return None


def _refused_parameter(fault: Fault, body: dict[str, Any]) -> str | None:
    sent = [name for name in body if name not in ("model", "messages")]
    if fault.param:
        root = re.split(r"[.\[]", fault.param)[0]
        if root in sent:
            return root
    spoken = [name for name in sent if name not in ("tools", "tool_choice")]
    return next((name for name in spoken if re.search(rf"(?<![\w.\]]){re.escape(name)}(?!\w)", fault.message)), None)
