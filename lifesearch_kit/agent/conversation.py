"""The messages of one run: encoded once each, and shortened by one rule where they outgrow the model's context."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from lifesearch_kit.text import encode

TAKEN_OUT = "(This result was taken out to make room. Call the tool again if you still need it.)"


class Conversation:
    """Messages as the endpoint gets them.

    Parameters
    ----------
    messages
        What it begins with, never shortened.
    """

    def __init__(self, messages: Iterable[dict[str, Any]]) -> None:
        self.messages: list[dict[str, Any]] = []
        self._encoded: dict[int, bytes] = {}
        self._results: list[int] = []
        self.add(messages)

    def add(self, messages: Iterable[dict[str, Any]], *, results: bool = False) -> None:
        """Append messages; `results` says that they hold what tools brought, which may be taken out later."""
        for message in messages:
            if results:
                self._results.append(len(self.messages))
            self.messages.append(message)
            self._encoded[id(message)] = encode(message)

    def encoded(self, messages: Sequence[dict[str, Any]]) -> list[dict[str, Any] | bytes]:
        """Messages as they are to be sent: those of this conversation as they were encoded when they came."""
        return list(map(self._encoded.get, map(id, messages), messages))

    def shorten(self) -> int:
        """Make room by the rule: of the results' characters the older half, at least one result, is taken out.

        A result is taken out whole, and says so in its place. The newest one stays.

        Returns
        -------
        int
            How many were taken out; 0 where there is nothing left to take.
        """
        left = [at for at in self._results if not self.messages[at]["content"].endswith(TAKEN_OUT)][:-1]
        sizes = [len(self.messages[at]["content"]) for at in left]
        room, taken = sum(sizes) / 2, 0
        while taken < len(left) and (not taken or sum(sizes[:taken]) < room):
            self._take_out(left[taken])
            taken += 1
        return taken

    def _take_out(self, place: int) -> None:
        before = self.messages[place]
        # The text protocol's first line says which tool's result it is.
        heading = "" if before["role"] == "tool" else before["content"].partition("\n")[0] + "\n"
        after = {**before, "content": heading + TAKEN_OUT}
        self.messages[place] = after
        del self._encoded[id(before)]
        self._encoded[id(after)] = encode(after)
