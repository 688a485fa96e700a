"""Python functions that are agents: found by their name in a profile, and what they are called with."""

from __future__ import annotations

import difflib
import importlib
import inspect
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import ModuleType

from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.paths import resolve
from lifesearch_kit.records import Report

AgentFunction = Callable[..., Awaitable[Report | str]]
# What a function is told beside task and tools, where it has a parameter of that name.
_TOLD = ("today", "run")


def load_function(named: str) -> AgentFunction:
    """Import an agent's function; a file is read anew each time, a module once, as in any import.

    Parameters
    ----------
    named
        ``module:function`` or ``path/to/file.py:function``, the path from the checkout's root.

    Raises
    ------
    InputError
        When it cannot be imported, or is no async function that takes a task and its tools.
    """
    place, _, name = named.rpartition(":")
    try:
        module = _module_of(resolve(place)) if place.endswith(".py") else importlib.import_module(place)
    except (Exception, SystemExit) as error:  # Somebody's own code may fail in any way.
        raise InputError(f"{place} cannot be imported ({type(error).__name__}: {error})") from error
    function = getattr(module, name, None)
    if function is None:
        near = difflib.get_close_matches(name, [one for one in vars(module) if callable(getattr(module, one))], n=1)
        raise InputError(f"{place} has no function {name!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    if not callable(function) or not _is_async(inspect.unwrap(function)):
        raise InputError(f"{named} is no async function; write async def, or run it as a command")
    try:
        inspect.signature(function).bind(None, None, **dict.fromkeys(told_to(function)))
    except TypeError as error:
        raise InputError(f"{named} must take a task and its tools: {error}") from None
    return function


def told_to(function: AgentFunction) -> list[str]:
    """What a function asks to be told beside task and tools: `today`, `run`."""
    return [name for name in _TOLD if name in inspect.signature(function).parameters]


def _is_async(function: object) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _module_of(path: Path) -> ModuleType:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}; paths start at the checkout's root")
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # What lies beside it can be imported, now and later.
    name = f"own_agent_{fingerprint(str(path))}"
    module = sys.modules[name] = ModuleType(name)
    module.__file__ = str(path)
    # Not by an import's loader, whose cache takes an edit within the same second for none.
    exec(compile(path.read_bytes(), str(path), "exec"), module.__dict__)
    return module
