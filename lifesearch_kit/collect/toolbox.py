"""The tools of a run as a profile names them: live or offline, captured or replayed, kept from some addresses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from lifesearch_kit import offline
from lifesearch_kit.endpoint_addresses import Address
from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import resolve
from lifesearch_kit.records import Record, Task
from lifesearch_kit.rows import Row, fault
from lifesearch_kit.tools import Tool
from lifesearch_kit.tools.as_of import as_of_guard
from lifesearch_kit.tools.blocklist import Blocklist, blocking
from lifesearch_kit.tools.fetch import fetch_tool
from lifesearch_kit.tools.python import python_tool
from lifesearch_kit.tools.queries import with_queries
from lifesearch_kit.tools.search import MOST_QUERIES, MOST_RESULTS, search_tool
from lifesearch_kit.tools.searxng import searxng_search_tool
from lifesearch_kit.tools.snapshots import Snapshots

# A program's results follow from the program.
_FROM_THE_WEB = ("search", "fetch")


class ToolSettings(Record):
    """What a profile says of the agents' tools; all of it is part of what a system is.

    `search` names the engine: ``serper``, or ``searxng`` at `search_address`. `results`, `language` and `region` are
    those of `tools.search.search_tool`. With `queries` above 1 a call of the search tool holds a list of up to so many,
    see `tools.queries.with_queries`. `readers` are the ways to a page, in the order in which they are tried. `python`
    is the sandbox, see `tools.python.python_tool`; ``off`` leaves the tool out. `snapshots` is a folder in which every
    answer of the web is kept for all systems, and with `replay` nothing but it answers. `blocked` are addresses that
    agents must not read, `as_of` says what becomes of results and pages dated after a task's cutoff.
    """

    search: Literal["serper", "searxng"] = "serper"
    search_address: Address | None = None
    results: int = Field(default=10, ge=1, le=MOST_RESULTS)
    queries: int = Field(default=1, ge=1, le=MOST_QUERIES)
    language: str | None = "by query"
    region: str | None = "by query"
    readers: Annotated[tuple[Literal["jina", "direct"], ...], Field(strict=False, min_length=1)] = ("jina", "direct")
    python: Literal["monty", "bubblewrap", "none", "off"] = "monty"
    python_persistent: bool = False
    snapshots: str = ""
    replay: bool = False
    blocked: Annotated[tuple[str, ...], Field(strict=False)] = ()
    as_of: Literal["off", "drop", "mark"] = "off"

    @field_validator("python", "as_of", mode="before")
    @classmethod
    def _off_in_yaml(cls, value: Any) -> Any:
        return "off" if value is False else value

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.search == "searxng") != (self.search_address is not None):
            raise ValueError("search: searxng and search_address, the address of an instance, go together; set both")
        if self.replay and not self.snapshots:
            raise ValueError("replay needs snapshots, the folder that was filled before; name it")
        return self

    @property
    def needs_search_key(self) -> bool:
        """Whether the search engine will ask for its key."""
        return self.search == "serper" and not self.replay


def parse_tools(entry: dict[str, Any]) -> ToolSettings:
    """Read the tools of a profile.

    Raises
    ------
    InputError
        Listing every wrong or unknown field.
    """
    if not isinstance(entry, dict):
        raise InputError(f"tools of the profile: {entry!r} is no mapping; write search, python, snapshots and so on")
    try:
        return ToolSettings.model_validate(entry)
    except ValidationError as error:
        row = Row("tools of the profile", entry)
        raise InputError([fault(row, ToolSettings, one) for one in error.errors(include_url=False)]) from None


@dataclass(frozen=True)
class Toolbox:
    """The tools of a run; called with a task, those of its agents.

    Parameters
    ----------
    tools
        Shared by all tasks.
    as_of
        What becomes of what is dated after a task's cutoff.
    queries
        How many queries a call of the search tool may hold.
    snapshots, blocklist
        What stands between the tools and the web.
    """

    tools: Sequence[Tool] = ()
    as_of: Literal["off", "drop", "mark"] = "off"
    queries: int = 1
    snapshots: Snapshots | None = None
    blocklist: Blocklist = field(default_factory=lambda: Blocklist(()))

    def __call__(self, task: Task) -> list[Tool]:
        """The tools for a task: those from the web know its cutoff where that is asked for."""
        tools = list(self.tools)
        if self.as_of != "off":
            mode = self.as_of
            tools = [as_of_guard(one, task.cutoff, mode) if one.name in _FROM_THE_WEB else one for one in tools]
        return [with_queries(one, self.queries) if one.name == "search" else one for one in tools]

    def close(self) -> None:
        """Close the snapshots; what was captured stays."""
        if self.snapshots is not None:
            self.snapshots.close()


def open_toolbox(settings: ToolSettings, web: str = "") -> Toolbox:
    """Make the tools ready.

    Parameters
    ----------
    web
        File of an invented web that answers instead of the real one.

    Raises
    ------
    InputError
        When a key is missing, a file cannot be read, or a sandbox does not hold on this machine.
    """
    blocklist = Blocklist(settings.blocked)
    snapshots = Snapshots(resolve(settings.snapshots), replay=settings.replay) if settings.snapshots else None
    if snapshots is None:
        from_web = _from_web(settings, web)
    elif settings.replay:
        from_web = [snapshots.replayed(name) for name in _FROM_THE_WEB]
    else:
        from_web = [snapshots.of(tool) for tool in _from_web(settings, web)]
    tools = [blocking(tool, blocklist) for tool in from_web]
    if settings.python != "off":
        tools.append(python_tool(sandbox=settings.python, persistent=settings.python_persistent))
    return Toolbox(tools, settings.as_of, settings.queries, snapshots, blocklist)


def _from_web(settings: ToolSettings, web: str) -> list[Tool]:
    if web:
        pages = offline.Web.load(resolve(web))
        return [offline.search_tool(pages), offline.fetch_tool(pages)]
    fetch = fetch_tool(readers=settings.readers)
    results, language = settings.results, settings.language
    if settings.search_address is not None:
        return [searxng_search_tool(settings.search_address, results=results, language=language), fetch]
    queries = settings.queries
    return [search_tool(results=results, language=language, region=settings.region, queries=queries), fetch]
