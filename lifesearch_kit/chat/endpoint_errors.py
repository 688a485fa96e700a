"""What an endpoint's error means: whether it is worth another try, and what its user can change."""

from __future__ import annotations

import json
import os
import re
from typing import Any

from lifesearch_kit.chat.endpoint_faults import Fault
from lifesearch_kit.endpoint_addresses import LOCAL, LOCAL_ADDRESS
from lifesearch_kit.errors import ChatError, ChatErrorCause, ChatErrorKind
from lifesearch_kit.settings import ModelSettings
from lifesearch_kit.text import replace_lone_surrogates

UNKNOWN_FAULT_STATUS = 502
# The conversation is too long for the model; a refused output limit or a text field that is too long is not that.
_TOO_LONG = re.compile(
    r"context.{0,3}(length|window|limit|size)|(maximum|max) (context|prompt|input|message)\b"
    r"|\b(prompt|inputs?|messages?|request|payload|conversation)\b.{0,40}((?<!string )too (long|large)|exceed)"
    r"|exceed.{0,40}\b(context|prompt|input)\b|(input|prompt|request).{0,12}(length|token count|token limit)"
    r"|too many (input |prompt )?tokens|model token limit|reduce the length|inputs?\W{0,3} tokens \+"
    r"|(输入|上下文|提示词|prompt|消息).{0,12}(超|过长)|超(过|出|长).{0,16}(上下文|输入|长度|token)",
    re.I,
)
_PER_TIME = re.compile(r"per (min|minute|day|hour)\b|\b[tr]p[md]\b|rate.?limit|每(分钟|天|日|小时)", re.I)
_MODERATION = re.compile(
    r"moderation|\bflagged\b|content.{0,24}(polic(y|ies)|filter)|content exists risk|data.?inspection"
    r"|usage (polic|guideline)|safety.{0,10}(system|check|polic|filter|setting)|high risk"
    r"|(blocked|rejected|refused).{0,20}safety"
    r"|\b(prompt|inputs?|outputs?|text|content|request)\b.{0,40}(inappropriate|unsafe|sensitive)|sensitive.?content"
    r"|敏感(内容|信息|词)|违规|不安全",
    re.I,
)
# No money or no quota left on the account. A mere rate limit speaks of quota, plan and billing too.
_SPENT = (
    r"insufficient.?(account )?(quota|balance|credit|fund)|(out of|not enough|no( more| remaining)?) (credits?|funds)\b"
    r"|credit balance|arrearage|billing.{0,10}(hard limit|not active)|exceeded_current_quota_error"
    r"|account.{0,60}(suspended|deactivated|not active|in arrears)|余额不足|欠费"
)
_SPENT_PATTERN = re.compile(_SPENT, re.I)
# Words that promise another outcome later. "Try again" alone does not: it also follows a wrong key.
_LATER = re.compile(
    r"temporar|time[ds]?[ -]?out\b|overload|\bbusy\b|service (is )?(currently )?unavailable|\blater\b|right now"
    r"|(retry|try again|wait)( (in|after|for|again in))? ?~?\d|please retry\W*$|retry.?(after|delay)|concurren"
    r"|稍后|稍候|超时|繁忙|暂时",
    re.I,
)
# Every further call would fail alike.
_HOPELESS = (
    r"model.{0,40}(not found|not exist|unknown|no access|decommissioned|deprecated)|(no such|unknown|invalid) model"
    r"|model_not_found|api.?key|unauthori[sz]ed|authenticat|permission|forbidden"
    r"|(model|endpoint|tool).{0,60}(not support|unsupported)|(unsupported|not support).{0,60}(model|tool)"
    rf"|模型不存在|无权|鉴权|密钥|{_SPENT}"
)
_STOP = re.compile(_HOPELESS, re.I)
# The same request would fail again.
_PERMANENT = re.compile(
    _HOPELESS + r"|not exist|not allowed|unsupported|not supported|invalid.{0,20}(request|param|value|argument)", re.I
)
_REASONING = re.compile(r"reasoning_(?:content|details)|thought.?signature|thinking|\breasoning(?![ _]?effort)", re.I)
_WANTED = re.compile(r"missing|must (have|include|contain|be (passed|sent|provided|present|included))|缺少", re.I)
_STRUCTURED = re.compile(r"response.?format|json.?schema|json.?object|structured.?output|guided.?(json|decoding)", re.I)
_REMEDIES = {
    "response_format": "set structured_output: false for a judge, protocol: text for a system",
    "temperature": "set temperature: default, or choose another model",
    "reasoning_effort": "set reasoning_effort: default, or a level that the model offers",
    "seed": "set seed_by_run: false",
    "max_completion_tokens": "set output_limit_field: max_tokens, or lower max_output_tokens",
    "max_tokens": "set output_limit_field: max_completion_tokens, or lower max_output_tokens",
    "tools": "choose a model that can call tools",
    "tool_choice": "choose a model that can call tools",
}
_STREAM_ONLY = re.compile(
    r"(only|must|require|enable|set).{0,20}(?<![a-z])stream|(?<![a-z])stream.{0,20}(required|must|only|=\s?false)"
    r"|non.?stream|[仅只]支持\s?(流|stream)|非流式",
    re.I,
)
_STREAM_REMEDY = "set extra_body: {stream: true, stream_options: {include_usage: true}}"


def status_of_fault(fault: Fault) -> int:
    """The HTTP status that a faulty body with HTTP 200 should have had: the vendor's code, else by its words.

    Words that no further try would change give 400, unless others promise a better time; all else counts as the
    gateway's trouble and may be tried again.
    """
    if fault.code and re.fullmatch(r"[45]\d\d", fault.code):
        return int(fault.code)
    words = _words(fault)
    if _LATER.search(words):
        return UNKNOWN_FAULT_STATUS
    hopeless = _PERMANENT.search(words) or _TOO_LONG.search(words) or _MODERATION.search(words)
    return 400 if hopeless else UNKNOWN_FAULT_STATUS


def explain(fault: Fault, status: int | None, shown: str, settings: ModelSettings, body: dict[str, Any]) -> ChatError:
    """The error that the user reads where an endpoint told one.

    Parameters
    ----------
    fault, status
        What the endpoint said, and the HTTP status that it stands for, where there is one.
    shown
        How the answer came ("HTTP 400").
    body
        The request, to name the setting that was refused.
    """
    kind, cause = _kind(fault, status), _cause(fault, status)
    remedy, parameter = "", None
    if status in (400, 404, 415, 422) and cause is None:
        parameter = _refused_parameter(fault, body)
        kind, remedy = _refused_setting(fault, settings, body, parameter) or (kind, "")
    # A request at fault is told in the record, which no address of this machine may enter.
    place = LOCAL if settings.is_local and kind == "request" else endpoint(settings)
    message = f"{configuration(settings, place)}: {shown}: {fault}" + (f"; {remedy}" if remedy else "")
    cause = cause if kind == "request" else None
    return ChatError(replace_lone_surrogates(message)[0], kind, status, cause, parameter)


def configuration(settings: ModelSettings, place: str) -> str:
    """A configuration as an error names it."""
    return f"configuration {settings.name!r} (model {settings.model!r} at {place})"


def endpoint(settings: ModelSettings) -> str:
    """The endpoint's address as it may be shown: without user name, password and query."""
    address = os.environ.get(LOCAL_ADDRESS, LOCAL) if settings.is_local else settings.base_url
    return re.sub(r"//[^/@]*@", "//", (address or "the openai client's own address").partition("?")[0])


def _words(fault: Fault) -> str:
    return f"{fault.message} {fault.code or ''}"


def _kind(fault: Fault, status: int | None) -> ChatErrorKind:
    words = _words(fault)
    if status is None or status in (408, 409) or status >= 500:
        return "transient"
    promised = bool(_LATER.search(words))
    if status == 429:
        return "stop" if _SPENT_PATTERN.search(words) and not promised else "transient"
    if status == 403 and _MODERATION.search(words):
        return "request"
    if status in (401, 402, 403, 404):
        return "stop"
    if _cause(fault, status) or not _STOP.search(words):
        return "request"
    return "transient" if promised else "stop"


def _cause(fault: Fault, status: int | None) -> ChatErrorCause | None:
    """Whether the endpoint plainly says that a request was too long or turned down for its content."""
    words = _words(fault)
    if (status == 413 or _TOO_LONG.search(words)) and not _PER_TIME.search(words):
        return "too_long"
    return "refused" if _MODERATION.search(words) else None


def _refused_setting(
    fault: Fault, settings: ModelSettings, body: dict[str, Any], name: str | None
) -> tuple[ChatErrorKind, str] | None:
    """The remedy where the endpoint refuses a parameter that was sent, or reasoning text in the history."""
    if name:
        remedy = _REMEDIES.get(name, "change it")
        if name in settings.extra_body:
            remedy = "change or remove it in extra_body"
        sent = json.dumps(body[name], ensure_ascii=False)[:80]
        return "stop", f"the parameter {name}={sent} was refused and is never dropped silently: {remedy}"
    if not body.get("stream") and _STREAM_ONLY.search(fault.message):
        return "stop", f"it answers only by stream: {_STREAM_REMEDY}"
    echo = getattr(settings, "echo_reasoning", None)
    has_history = len(body["messages"]) > len(("system", "user"))
    if echo is not None and has_history and _REASONING.search(f"{fault.message} {fault.param or ''}"):
        about = "it is about reasoning text in the history"
        if echo and _WANTED.search(fault.message):
            return "stop", f"{about}, which went back as it came: something on the way to the model drops it"
        switch = str(not echo).lower()
        remedy = f"set echo_reasoning: {switch} (now {str(echo).lower()})"
        return "stop", f"{about}: {remedy}"
    return None


def _refused_parameter(fault: Fault, body: dict[str, Any]) -> str | None:
    sent = [name for name in body if name not in ("model", "messages")]
    if fault.param:
        root = re.split(r"[.\[]", fault.param)[0]
        if root in sent:
            return root
    if "response_format" in sent and _STRUCTURED.search(fault.message):
        return "response_format"
    spoken = [name for name in sent if name not in ("tools", "tool_choice")]
    return next((name for name in spoken if re.search(rf"(?<![\w.\]]){re.escape(name)}(?!\w)", fault.message)), None)
