"""What a profile says of models, systems and judges."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text, fingerprint
from lifesearch_kit.records import Record
from lifesearch_kit.rows import Row, fault

OFFLINE = "offline"
LOCAL = "local"
LOCAL_ADDRESS = "LOCAL_MODEL_URL"


def _as_temperature(value: Any) -> Any:
    if value == "default" or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0):
        return value
    raise ValueError("is no temperature; write a number from 0 up, or default")


def _as_address(value: Any) -> Any:
    if not isinstance(value, str) or value in (OFFLINE, LOCAL):
        return value
    if "@" in value.partition("://")[2].partition("/")[0]:
        raise ValueError("an address may hold no user name or password; put the key into an environment variable")
    if not value.startswith(("http://", "https://")):
        near = difflib.get_close_matches(value.strip().lower(), (OFFLINE, LOCAL), n=1)
        raise ValueError(
            f"does not start with http:// or https://, and is neither {OFFLINE} nor {LOCAL}; "
            + (f"did you mean {near[0]!r}?" if near else "write the whole address")
        )
    return value


def _as_variable_name(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value):
        raise ValueError("this is no name of an environment variable; write its name here, never the key itself")
    return value


Temperature = Annotated[float | Literal["default"], BeforeValidator(_as_temperature)]
Address = Annotated[str, BeforeValidator(_as_address)]
VariableName = Annotated[str, BeforeValidator(_as_variable_name)]


@cache
def _baseline_code() -> str:
    folder = Path(__file__).parent
    sources = [folder / "dates.py", folder / "terms.py", *sorted((folder / "offline").glob("*.py"))]
    return fingerprint([source.read_text(encoding="utf-8") for source in sources])


class ModelSettings(Record):
    """How one model is called. ``default`` leaves a setting to the endpoint and says so in tables.

    `base_url` is an OpenAI-compatible address, None for the openai client's own, ``offline`` for the built-in
    baselines, or ``local`` for a model on this machine: its address changes from start to start, so the environment
    variable LOCAL_MODEL_URL holds it, and it asks for no key. `api_key_env` names the environment variable that holds
    the key; a key itself is never written down.
    Prices are per million tokens, in one currency of the user's choice; without `cached_input_price`, input from a
    cache is charged like other input.
    """

    name: Id
    model: Text
    base_url: Address | None = None
    api_key_env: VariableName = "OPENAI_API_KEY"
    temperature: Temperature = "default"
    reasoning_effort: str = "default"
    max_output_tokens: int | None = Field(default=None, ge=1)
    output_limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    extra_body: dict[str, Any] = Field(default_factory=dict)
    timeout_seconds: float = Field(default=600.0, gt=0)
    max_retries: int = Field(default=4, ge=0)
    input_price: float | None = Field(default=None, ge=0)
    cached_input_price: float | None = Field(default=None, ge=0)
    output_price: float | None = Field(default=None, ge=0)
    no_effect: ClassVar[frozenset[str]] = frozenset(
        {"api_key_env", "timeout_seconds", "max_retries", "input_price", "cached_input_price", "output_price"}
    )

    @property
    def is_offline(self) -> bool:
        """Whether a built-in baseline answers instead of a language model."""
        return self.base_url == OFFLINE

    @property
    def is_local(self) -> bool:
        """Whether the model runs on this machine, at the address that LOCAL_MODEL_URL holds."""
        return self.base_url == LOCAL

    @property
    def runs_here(self) -> bool:
        """Whether it answers on this machine, so that it asks for no key and costs nothing."""
        return self.is_offline or self.is_local

    def identity(self) -> str:
        """Fingerprint of all that changes what the model would say; for a baseline, also of its program."""
        # Without defaults, so that results made before a setting existed still count as made with its default.
        said = self.model_dump(exclude=set(self.no_effect), exclude_defaults=True)
        return fingerprint(said, _baseline_code() if self.is_offline else None)


class SystemSettings(ModelSettings):
    """A system under test: a model in the harness, with its limits.

    `echo_reasoning` sends a vendor's reasoning text back with the message that it came with. `seed_by_run` sends the
    run number as the request's seed. Limits at which one last turn without tools is granted: `max_steps` (model
    decisions), `max_output_tokens_total`, `max_seconds`, `max_cost` (of one run, in the currency of the prices).

    `protocol` says how tools are called: ``tool_calls`` in the endpoint's own field for them; ``text`` as JSON in the
    text of messages, for an endpoint or a model without that field; ``constrained_text`` the same, where the server can
    hold each reply to a JSON Schema (`response_format`).
    """

    echo_reasoning: bool = True
    seed_by_run: bool = False
    protocol: Literal["tool_calls", "text", "constrained_text"] = "tool_calls"
    max_steps: int = Field(default=100, ge=1)
    max_output_tokens_total: int | None = Field(default=None, ge=1)
    max_seconds: float = Field(default=3600.0, gt=0)
    max_cost: float | None = Field(default=None, gt=0)

    @model_validator(mode="after")
    def _tells_its_cost(self) -> Self:
        if self.max_cost is not None and (self.input_price is None or self.output_price is None):
            raise ValueError("max_cost needs prices; set input_price and output_price, per million tokens")
        return self


class JudgeSettings(ModelSettings):
    """A judge configuration.

    `structured_output` holds each reply to a JSON Schema where the endpoint can; where it refuses, the judge is asked
    without, which is told once and noted in the judgments. `max_report_characters`: longer reports are unjudged, never
    cut. `unjudged_retries`: how often a reply without a readable verdict is asked for again at once.
    """

    temperature: Temperature = 0.0
    structured_output: bool = True
    unjudged_retries: int = Field(default=1, ge=0)
    max_report_characters: int | None = Field(default=None, ge=1)
    prompt_en: str = "judge_en"
    prompt_zh: str = "judge_zh"
    # A prompt counts by its text, beside these settings; a report beyond the limit has no verdict to keep.
    no_effect: ClassVar[frozenset[str]] = ModelSettings.no_effect | {
        *("max_report_characters", "unjudged_retries", "prompt_en", "prompt_zh")
    }


AnySettings = TypeVar("AnySettings", bound=ModelSettings)


def local_address(names: Sequence[str]) -> str:
    """The address of the server on this machine, as the environment holds it.

    Parameters
    ----------
    names
        The configurations that need it.

    Raises
    ------
    InputError
        When the variable is not set, or holds no address.
    """
    address = os.environ.get(LOCAL_ADDRESS, "").strip()
    if address.startswith(("http://", "https://")):
        return address
    # What is there instead may be a key, so it is not shown.
    wrong = f"{LOCAL_ADDRESS} {'does not start with http:// or https://' if address else 'is not set'}"
    raise InputError(
        f"{', '.join(names)}: base_url {LOCAL} wants a model on this machine, and {wrong}; run the profile with make "
        f"demo-local LOCAL_PROFILE=..., or (in JupyterLab) set {LOCAL_ADDRESS} to the address of a server that runs, "
        "such as http://127.0.0.1:8080/v1"
    )


def parse_settings(entries: Sequence[dict[str, Any]], model: type[AnySettings]) -> list[AnySettings]:
    """Read the systems or judges of a profile.

    Raises
    ------
    InputError
        Listing every wrong or unknown field by entry, and every name that two entries share.
    """
    kind = "judge" if model is JudgeSettings else "system"
    settings: list[AnySettings] = []
    faults: list[str] = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            faults.append(f"{kind} {number} of the profile: {entry!r} is no mapping; write name, model and so on")
            continue
        place = f"{kind} {number} of the profile ({entry.get('name', 'without name')})"
        try:
            settings.append(model.model_validate(entry))
        except ValidationError as error:
            faults += [fault(Row(place, entry), model, one) for one in error.errors(include_url=False)]
    names = [one.name for one in settings]
    faults += [
        f"the name {name!r} stands for {names.count(name)} {kind}s of the profile; give each configuration its own"
        for name in sorted({name for name in names if names.count(name) > 1})
    ]
    if faults:
        raise InputError(faults)
    return settings
