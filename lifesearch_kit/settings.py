"""What a profile says of models, systems and judges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, TypeVar

from pydantic import Field, ValidationError

from lifesearch_kit import __version__
from lifesearch_kit.errors import InputError
from lifesearch_kit.records import Id, Record, Text, fingerprint
from lifesearch_kit.rows import Row, fault

OFFLINE = "offline"


class ModelSettings(Record):
    """How one model is called. ``default`` leaves a setting to the endpoint and says so in tables.

    `base_url` is an OpenAI-compatible address, None for the openai client's own, or ``offline`` for the built-in
    baselines. `api_key_env` names the environment variable that holds the key; a key itself is never written down.
    Prices are per million tokens, in one currency of the user's choice.
    """

    name: Id
    model: Text
    base_url: str | None = None
    api_key_env: str = "OPENAI_API_KEY"
    temperature: float | Literal["default"] = "default"
    reasoning_effort: str = "default"
    max_output_tokens: int | None = None
    output_limit_field: Literal["max_completion_tokens", "max_tokens"] = "max_completion_tokens"
    extra_body: dict[str, Any] = Field(default_factory=dict)
    timeout_seconds: float = 600.0
    max_retries: int = Field(default=4, ge=0)
    input_price: float | None = None
    output_price: float | None = None

    @property
    def is_offline(self) -> bool:
        """Whether a built-in baseline answers instead of a language model."""
        return self.base_url == OFFLINE

    def identity(self) -> str:
        """Fingerprint of all that changes what the model would say; a baseline changes with the kit's version."""
        accounting = {"api_key_env", "timeout_seconds", "max_retries", "input_price", "output_price"}
        return fingerprint(self.model_dump(exclude=accounting), __version__ if self.is_offline else None)


class SystemSettings(ModelSettings):
    """A system under test: a model in the harness, with its limits.

    `echo_reasoning` sends a vendor's reasoning text back with the message that it came with. `seed_by_run` sends the
    run number as the request's seed. Limits at which one last turn without tools is granted: `max_steps` (model
    decisions), `max_output_tokens_total`, `max_seconds`.
    """

    echo_reasoning: bool = True
    seed_by_run: bool = False
    max_steps: int = Field(default=100, ge=1)
    max_output_tokens_total: int | None = None
    max_seconds: float = 3600.0


class JudgeSettings(ModelSettings):
    """A judge configuration. `max_report_characters`: longer reports are unjudged, never cut."""

    temperature: float | Literal["default"] = 0.0
    max_report_characters: int | None = None
    prompt_en: str = "judge_en"
    prompt_zh: str = "judge_zh"


AnySettings = TypeVar("AnySettings", bound=ModelSettings)


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
