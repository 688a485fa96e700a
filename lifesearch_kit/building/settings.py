"""How the model that filters, classifies and rewrites is called."""

from __future__ import annotations

from typing import ClassVar

from pydantic import Field, ValidationError, field_validator

from lifesearch_kit.building.records import STEPS
from lifesearch_kit.errors import InputError
from lifesearch_kit.rows import Row, fault
from lifesearch_kit.settings import ModelSettings, Temperature

PROMPTS = tuple(f"{step}_{language}" for step in STEPS for language in ("en", "zh"))


class BuilderSettings(ModelSettings):
    """A model that decides on raw queries.

    `prompts` puts text files of one's own in the place of the kit's prompts, by name (`filter_zh`).
    `undecided_retries`: how often a reply that cannot be read, or a rewrite that breaks a rule, is asked for again at
    once. `max_query_characters`: longer queries are not asked about, and never cut.
    """

    temperature: Temperature = 0.0
    prompts: dict[str, str] = Field(default_factory=dict)
    undecided_retries: int = Field(default=1, ge=0)
    max_query_characters: int = Field(default=20_000, ge=1)
    # A prompt counts by its text, beside these settings.
    no_effect: ClassVar[frozenset[str]] = ModelSettings.no_effect | {
        *("prompts", "undecided_retries", "max_query_characters")
    }

    @field_validator("prompts")
    @classmethod
    def _of_a_step(cls, prompts: dict[str, str]) -> dict[str, str]:
        strangers = sorted(set(prompts) - set(PROMPTS))
        if strangers:
            raise ValueError(f"{strangers[0]!r} is the name of no prompt of a step; choose from {', '.join(PROMPTS)}")
        return prompts


def parse_builder(entry: dict[str, object]) -> BuilderSettings:
    """Read the builder of a profile.

    Raises
    ------
    InputError
        Listing every wrong or unknown field.
    """
    try:
        return BuilderSettings.model_validate(entry)
    except ValidationError as error:
        row = Row("the builder of the profile", dict(entry))
        raise InputError([fault(row, BuilderSettings, one) for one in error.errors(include_url=False)]) from None
