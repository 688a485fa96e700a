"""Agents of one's own among the systems of a profile: what names one, and what is checked before anything runs."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import Field, TypeAdapter, ValidationError, field_validator, model_validator

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id, Text, fingerprint
from lifesearch_kit.files import repeats, validated
from lifesearch_kit.own_agents.functions import AgentFunction, load_function
from lifesearch_kit.own_agents.link import environment_of
from lifesearch_kit.paths import ROOT
from lifesearch_kit.records import Record
from lifesearch_kit.redaction import redact, redact_secrets
from lifesearch_kit.rows import PathLike, Row, read_rows
from lifesearch_kit.settings import SystemSettings, VariableName, parse_entries

_KINDS = ("function", "command")
_VARIABLE = TypeAdapter(VariableName)


class OwnAgent(Record):
    """A system under test that is no model in the kit's harness, but a program of its own with the same tools.

    Parameters
    ----------
    name
        As any system's.
    version
        Change it when the agent changes: the kit cannot see that, and keeps the reports of a version.
    function
        ``module:function`` or ``path/to/file.py:function`` (from the checkout's root): an async function that takes a
        Task and its tools, and `today` and `run` where it has parameters of these names, and returns a Report or its
        text. It runs inside this process, so it must not block: what blocks belongs in `asyncio.to_thread`, or in a
        `command`.
    command
        Instead of a function: a program and its arguments, started at the checkout's root for each run. It speaks the
        protocol of `lifesearch_kit.own_agents.process`. ``python`` is the Python that runs the kit. Never write a key
        here.
    max_seconds
        The limit of one run.
    environment
        Names of environment variables that the command sees, beside PATH, HOME, LANG and what Python needs to start.
    """

    name: Id
    version: Text
    function: Text | None = None
    command: Annotated[tuple[str, ...], Field(strict=False)] = ()
    max_seconds: float = Field(default=3600.0, gt=0)
    environment: Annotated[tuple[str, ...], Field(strict=False)] = ()
    # Neither a baseline nor a model on this machine: what asks for these is about models.
    is_offline: ClassVar[bool] = False
    is_local: ClassVar[bool] = False

    @property
    def runs_here(self) -> bool:
        """True: the kit needs no key for it and pays nothing; what it spends itself is outside any budget."""
        return True

    def identity(self) -> str:
        """Fingerprint of all that is known here to change what it would say."""
        return fingerprint(self.model_dump(exclude={"environment"}, exclude_defaults=True))

    def redact(self, text: str) -> str:
        """The text without keys, those that its environment names included; to be called before the text is cut."""
        text = redact_secrets(text)
        for name in self.environment:
            text = redact(text, os.environ.get(name, "").strip())
        return text

    @field_validator("function")
    @classmethod
    def _named_function(cls, value: str | None) -> str | None:
        place, _, name = (value or "").rpartition(":")
        if value is not None and not (place.strip() and name.isidentifier()):
            raise ValueError("names no function; write module:function or path/to/file.py:function")
        return value

    @field_validator("environment", mode="before")
    @classmethod
    def _variable_names(cls, value: Any) -> Any:
        # As a whole: a fault of one entry would show what is there instead of a name, which may be a key.
        for number, name in enumerate(value if isinstance(value, (list, tuple)) else (), start=1):
            try:
                _VARIABLE.validate_python(name, strict=True)
            except ValidationError:
                raise ValueError(
                    f"entry {number} is no name of an environment variable; write names, never what they hold"
                ) from None
        return value

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if (self.function is None) == (not self.command):
            raise ValueError("give exactly one of function and command")
        if self.command and not self.command[0].strip():
            raise ValueError("command names no program; write it first, then its arguments")
        if self.function is not None and self.environment:
            raise ValueError("environment is for a command; a function sees all that this process sees; leave it out")
        return self


def parse_systems(entries: Sequence[dict[str, Any]]) -> list[SystemSettings | OwnAgent]:
    """Read the systems of a profile: models in the harness, and agents of one's own (with `function` or `command`).

    Raises
    ------
    InputError
        Listing every wrong or unknown field by entry, and every name that two entries share.
    """
    return parse_entries(entries, "system", _model_of)


def _model_of(entry: dict[str, Any]) -> type[SystemSettings | OwnAgent]:
    return OwnAgent if _is_own(entry) else SystemSettings


def _is_own(entry: dict[str, Any]) -> bool:
    if any(kind in entry for kind in _KINDS):
        return True
    near = (difflib.get_close_matches(str(field), (*_KINDS, "version"), n=1, cutoff=0.75) for field in entry)
    return "model" not in entry and any(near)


def read_systems(path: PathLike) -> list[SystemSettings | OwnAgent]:
    """Read systems' settings from a file that a run left behind; no two may share a name. Raises InputError."""
    rows, faults = read_rows(path)
    read: list[tuple[Row, SystemSettings | OwnAgent]] = []
    for row in rows:
        read += validated([row], _model_of(row.data), None, faults)
    faults += repeats([(row.place, system) for row, system in read], ("name",))
    if faults:
        raise InputError(faults)
    return [system for _, system in read]


def require_agents(agents: Sequence[OwnAgent]) -> dict[str, AgentFunction]:
    """Check that each agent can be started, before anything runs.

    Returns
    -------
    dict
        The functions by their agent's name. A file is read anew each time, a module once as in any import.

    Raises
    ------
    InputError
        Naming each function that cannot be imported or called, each command that does not exist, and each variable of
        `environment` that is not set.
    """
    functions: dict[str, AgentFunction] = {}
    faults: list[str] = []
    for agent in agents:
        if agent.function is None:
            faults += _command_faults(agent)
            continue
        try:
            functions[agent.name] = load_function(agent.function)
        except InputError as error:
            faults += [f"system {agent.name!r}: {one}" for one in error.faults]
    if faults:
        raise InputError(faults)
    return functions


def _command_faults(agent: OwnAgent) -> list[str]:
    who, (program, *arguments) = f"system {agent.name!r}", agent.command
    place = str(ROOT / program) if "/" in program else program
    faults = []
    if shutil.which(place, path=environment_of(agent.environment)["PATH"]) is None:
        faults.append(f"{who}: there is no program {place} that can be run; paths start at the checkout's root")
    script = arguments[0] if arguments and Path(program).name.startswith("python") else ""
    if script.endswith(".py") and not (ROOT / script).is_file():
        faults.append(f"{who}: there is no file {ROOT / script}; paths start at the checkout's root")
    return faults + [
        f"{who}: set the environment variable {name}, which its environment names, or take it out there"
        for name in agent.environment
        if name not in os.environ
    ]
