"""The values that records are made of: names, texts, dates, counts, and what is said of wrong ones."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Callable
from datetime import date
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, ValidationInfo

from lifesearch_kit.errors import InputWarning
from lifesearch_kit.text import replace_lone_surrogates, strip_invisible

_DIGITS = 16
_ENCODER = json.JSONEncoder(ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)


def fingerprint(*parts: Any) -> str:
    """Sixteen hexadecimal digits that change when any part's content changes."""
    return hashlib.sha256(_encoded(parts)).hexdigest()[:_DIGITS]


def begin_fingerprint(*parts: Any) -> Callable[..., str]:
    """The fingerprint of many things that begin alike: takes the parts that are left. The first ones are read once."""
    begun = hashlib.sha256(_encoded(parts)[:-1])

    def finish(*more: Any) -> str:
        whole = begun.copy()
        whole.update(b"," + _encoded(more)[1:])
        return whole.hexdigest()[:_DIGITS]

    return finish


def _encoded(parts: Any) -> bytes:
    return _ENCODER.encode(parts).encode()


def _as_name(value: Any, info: ValidationInfo) -> Any:
    """Names group tables: what cannot be seen must not split a group."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str):
        return value
    name = " ".join(strip_invisible(value).split())
    if name != value:
        warnings.warn(f"field '{info.field_name}': {value!r} was read as {name!r}", InputWarning, stacklevel=2)
    return name


def _not_blank(value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise ValueError("is blank; write the text")
    return value


def _as_date(value: Any) -> Any:
    if isinstance(value, str):
        try:
            return date.fromisoformat(value.strip())
        except ValueError:
            raise ValueError("is no date; write it as 2026-03-31") from None
    return value


def _whole(value: Any) -> Any:
    return replace_lone_surrogates(value)[0] if isinstance(value, str) else value


# What models and vendors say: always storable.
Said = Annotated[str, BeforeValidator(_whole)]
Text = Annotated[str, BeforeValidator(_not_blank)]
Id = Annotated[str, BeforeValidator(_not_blank), BeforeValidator(_as_name)]
Day = Annotated[date, BeforeValidator(_as_date)]
Count = Annotated[int, Field(ge=0)]
Amount = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Notes = Annotated[tuple[Said, ...], Field(strict=False)]
