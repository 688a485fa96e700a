"""What no count can tell of a benchmark: where it comes from, under which licence, what it is not good for."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import yaml

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Text
from lifesearch_kit.files import validated
from lifesearch_kit.records import Record
from lifesearch_kit.rows import PathLike, Row

Creator = Literal["crowdsourced", "found", "expert-generated", "machine-generated", "no-annotation", "other"]


class About(Record):
    """What no count can tell of a benchmark. Whatever is None is said to be not stated.

    `license` is an identifier of data hubs, such as ``cc-by-4.0``. The two lists of creators have the hubs' own words.
    """

    pretty_name: Text | None = None
    description: Text | None = None
    license: Text | None = None
    license_link: Text | None = None
    questions_from: Text | None = None
    rubrics_from: Text | None = None
    quality_control: Text | None = None
    limits: Text | None = None
    citation: Text | None = None
    contact: Text | None = None
    language_creators: list[Creator] | None = None
    annotations_creators: list[Creator] | None = None
    tags: list[Text] | None = None


def read_about(path: PathLike) -> About:
    """Read what a card says beside its numbers from a flat YAML file.

    Raises
    ------
    InputError
        When there is no such file, or listing its faults: no YAML, unknown keys, values of the wrong type.
    """
    try:
        data = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: there is no such file; check the path") from None
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise InputError(f"{path}: cannot be read as YAML ({error}); write key: value lines in UTF-8") from None
    if not isinstance(data, dict):
        raise InputError(f"{path}: holds no fields; write lines such as license: cc-by-4.0")
    faults: list[str] = []
    found = list(validated([Row(str(path), data)], About, None, faults))
    if faults:
        raise InputError(faults)
    return found[0][1]
