"""What a profile says of models, systems and judges."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self, TypeVar

from pydantic import BeforeValidator, Field, ValidationError, model_validator

from lifesearch_kit.endpoint_addresses import LOCAL, OFFLINE, Address
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text, fingerprint
from lifesearch_kit.records import Record
from lifesearch_kit.rows import Row, fault


def _as_temperature(value: Any) -> Any:
    if value == "default" or (isinstance(value, (int, float)) and not isinstance(value, bool) and value >= 0):
        return value
    raise ValueError("is no temperature; write a number from 0 up, or default")


def _as_variable_name(value: Any) -> Any:
    if isinstance(value, str) and not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]{0,63}", value):
        raise ValueError("this is no name of an environment variable; write its name here, never the key itself")
    return value


Temperature = Annotated[float | Literal["default"], BeforeValidator(_as_temperature)]
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
AnyEntry = TypeVar("AnyEntry", bound=Record)


def parse_settings(entries: Sequence[dict[str, Any]], model: type[AnySettings]) -> list[AnySettings]:
    """Read the systems or judges of a profile.

    Raises
    ------
    InputError
        Listing every wrong or unknown field by entry, and every name that two entries share.
    """
    kind: Literal["judge", "system"] = "judge" if model is JudgeSettings else "system"
    return parse_entries(entries, kind, lambda _: model)


def parse_entries(
    entries: Sequence[dict[str, Any]],
    kind: Literal["judge", "system"],
    model_of: Callable[[dict[str, Any]], type[AnyEntry]],
) -> list[AnyEntry]:
    """As `parse_settings`, where each entry may be of a class of its own."""
    settings: list[AnyEntry] = []
    faults: list[str] = []
    for number, entry in enumerate(entries, start=1):
        if not isinstance(entry, dict):
            faults.append(f"{kind} {number} of the profile: {entry!r} is no mapping; write name, model and so on")
            continue
        row, model = (
            Row(f"{kind} {number} of the profile ({entry.get('name', 'without name')})", entry),
            model_of(entry),
        )
        try:
            settings.append(model.model_validate(entry))
        except ValidationError as error:
            faults += [fault(row, model, one) for one in error.errors(include_url=False)]
    names = Counter(str(getattr(one, "name", "")) for one in settings)
    faults += [
        f"the name {name!r} stands for {count} {kind}s of the profile; give each configuration its own"
        for name, count in sorted(names.items())
        if count > 1
    ]
    if faults:
        raise InputError(faults)
    return settings
