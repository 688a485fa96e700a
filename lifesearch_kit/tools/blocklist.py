"""Addresses that agents must not read, such as the benchmark's own pages, in whatever spelling or wrapping they come.

An entry is one line of text:

- ``host`` blocks the host and its subdomains;
- ``host/path`` blocks that page and everything under it;
- ``*`` in a path stands for anything, so ``host/path*`` blocks whatever begins so.

Case, ``http://``, ``https://`` and a leading ``www.`` make no difference, nor does anything after ``#``.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import unquote

from lifesearch_kit.errors import InputError, ToolError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.text import strip_invisible
from lifesearch_kit.tools.shown import ShownResults, counted, note, page_head, read_results
from lifesearch_kit.tools.tool import Tool

_HOST = re.compile(r"(?:[\w-]+\.)+[\w-]+")
_ADDRESS = re.compile(r"https?://\S+", re.I)
_ADDRESS_ARGUMENTS = ("url", "urls", "uri", "link", "address")
_DETOUR = re.compile(r"(?<!\S)\S*/\.{1,2}/\S*")
_UNWRAPPINGS = 6
_EXCERPT = 80
# Translators, page caches and library proxies put the host, its dots as hyphens or as they are, before their own.
_CARRIER = r"\.(?:translate\.goog|cdn\.ampproject\.org|[a-z0-9-]*proxy[a-z0-9-]*(?:\.[a-z0-9-]+)+)"


class Mention(NamedTuple):
    """Where a text names a blocked address, and the words around it."""

    entry: str
    excerpt: str


class Blocklist:
    """Blocked hosts and paths.

    Parameters
    ----------
    entries
        As this module's description says, `host` or `host/path`.

    Raises
    ------
    InputError
        Naming each entry that is no host with a dot, optionally followed by a path.
    """

    def __init__(self, entries: Sequence[str]) -> None:
        read = [_entry(one) for one in entries]
        faults = [
            f"blocked: {one!r} is no host with or without a path; write it as example.org or example.org/path*"
            for one, entry in zip(entries, read, strict=True)
            if entry is None
        ]
        if faults:
            raise InputError(faults)
        self.entries = tuple(sorted({entry for entry in read if entry}))
        self.fingerprint = fingerprint(self.entries)[:8]
        self._patterns = [(re.split("[.-]", one)[0], one, re.compile(_pattern(one))) for one in self.entries]

    def entry_for(self, address: str) -> str | None:
        """The entry that blocks an address, None where it is free."""
        # The ideographic full stop is a dot in a host's name; in a Chinese text it ends the sentence after one.
        return next((found.entry for found in self.mentions(re.sub("[。｡]", ".", address))), None)

    def mentions(self, text: str) -> Iterator[Mention]:
        """Every place where a text names a blocked address, entry by entry; the excerpt is in plain spelling."""
        plain = plain_spelling(text)
        for start, entry, pattern in self._patterns:
            for match in pattern.finditer(plain) if start in plain else ():
                around = plain[max(0, match.start() - _EXCERPT) : match.end() + _EXCERPT]
                yield Mention(entry, " ".join(around.split()))


def plain_spelling(text: str) -> str:
    """A text with its addresses written plainly: lower case, no escapes, no detours in paths, readable host names."""
    text = strip_invisible(text)
    for _ in range(_UNWRAPPINGS):
        unescaped = unquote(text)
        if unescaped == text:
            break
        text = unescaped
    text = unicodedata.normalize("NFKC", strip_invisible(text)).casefold().replace("\\", "/")
    text = re.sub(r"xn--[a-z0-9-]+", _readable_label, text)
    return _DETOUR.sub(_straight, text)


def _straight(match: re.Match[str]) -> str:
    steps: list[str] = []
    for step in match[0].split("/"):
        if step == ".." and not _ends_with_host(steps):
            steps.pop()
        elif step not in (".", ".."):
            steps.append(step)
    return "/".join(steps)


def _ends_with_host(steps: Sequence[str]) -> bool:
    """Whether no detour leads out of the last step: the first one, and one after http:/ or http://, wherever."""
    scheme = [step for step in steps[-3:-1] if step]
    return len(steps) < 2 or (len(scheme) == 1 and scheme[0].endswith(":")) or steps[-2].endswith(":")


def _readable_label(match: re.Match[str]) -> str:
    try:
        return match[0].encode().decode("idna")
    except UnicodeError:
        return match[0]


def blocking(tool: Tool, blocklist: Blocklist) -> Tool:
    """A search or fetch tool that shows nothing from blocked addresses; the list is part of its backend.

    A call for a blocked address is a ToolError and reaches no tool; so is a page whose header shows that it came from
    one. Search results with a blocked address are left out and counted below the list. A page that merely links to a
    blocked address stays as it is. An empty list changes nothing.
    """
    if not blocklist.entries:
        return tool

    async def call(**arguments: Any) -> str:
        for address in _addresses(arguments):
            _refuse(blocklist, address, "the address")
        text = await tool.call(**arguments)
        results = read_results(text)
        if results is not None:
            return _without_blocked(text, results, blocklist)
        for line in page_head(text).splitlines():
            for address in [] if line.startswith("Title:") else _ADDRESS.findall(line):
                _refuse(blocklist, address, "the page's own address")
        return text

    return replace(tool, call=call, backend=f"{tool.backend}, blocklist {blocklist.fingerprint}")


def _refuse(blocklist: Blocklist, address: str, what: str) -> None:
    if blocklist.entry_for(address):
        # Unquoted, so that a scan of transcripts does not take a refusal for a leak.
        raise ToolError(f"{what} is blocked here; use another source")


def _without_blocked(text: str, results: ShownResults, blocklist: Blocklist) -> str:
    hits = tuple(hit for hit in results.hits if not blocklist.entry_for(hit.url))
    above = tuple(part for part in results.above if not blocklist.entry_for(part))
    gone = len(results.hits) - len(hits) + len(results.above) - len(above)
    if not gone:
        return text
    told = note([f"{counted(gone, 'result was', 'results were')} left out: blocked here"])
    return replace(results, above=above, hits=hits).show(told)


def _addresses(arguments: dict[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, str) and (name in _ADDRESS_ARGUMENTS or _ADDRESS.match(one.strip())):
                yield one


def _entry(text: object) -> str | None:
    if not isinstance(text, str):
        return None
    plain = plain_spelling(text.partition("#")[0].strip())
    host, slash, path = re.sub(r"^(?:https?:)?//", "", plain).partition("/")
    host = re.sub(r"^(?:\*\.)?(?:www\.)?", "", host.rstrip("."))
    if not _HOST.fullmatch(host) or re.search(r"\s", path):
        return None
    path = re.sub(r"/+", "/", path).strip("/")
    return f"{host}/{path}" if slash and path else host


def _pattern(entry: str) -> str:
    """The entry in plain spelling; ASCII bounds, as a Chinese text sets no blanks around an address."""
    host, _, path = entry.partition("/")
    dotted = re.escape(host)
    hyphened = "-".join(re.escape(label).replace(r"\-", "-{1,2}") for label in host.split("."))
    site = (
        rf"(?<![a-z0-9-])(?:(?:[a-z0-9]+-{{1,2}})*{hyphened}{_CARRIER}"
        rf"|{dotted}(?:{_CARRIER})?\.?(?![a-z0-9-]|\.[a-z0-9]))"
    )
    if not path:
        return site
    steps = re.escape(path).replace(r"\*", r"[^\s\"'<>]*?").replace("/", "/+")
    end = "" if path.endswith("*") else "(?![a-z0-9-])"
    return rf"{site}(?::\d*)?/+{steps}{end}"
