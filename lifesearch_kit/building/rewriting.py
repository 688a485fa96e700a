"""The rules of a rewrite, each as a named check. It may take away, and mend the seam where something went.

The permitted edit at a seam is one punctuation mark put in or exchanged, blanks, and the case of a word's first
letter. Everything else of the result must stand in the query, in the same order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from lifesearch_kit.building.alignment import Piece, align
from lifesearch_kit.building.protected import lost_parts
from lifesearch_kit.building.queries import language_of
from lifesearch_kit.terms import words

Rule = Literal["language_changed", "added", "mark_added", "negation_lost", "protected_lost"]
RULES: dict[Rule, str] = {
    "language_changed": "the language stays what it was; of a mixed query either may go",
    "added": "no word, number or character that does not stand in the query at that place",
    "mark_added": "at most one new punctuation mark, and only where words went",
    "negation_lost": "no negation goes by itself",
    "protected_lost": "words of time, named sources, item counts, lengths and exclusions stay word for word",
}
_MARKS_AT_A_SEAM = 1
_NEGATIONS = words(
    "not no never without nor don't doesn't didn't isn't aren't won't can't cannot except excluding unless "
    "不 没 无 非 别 勿 未 莫 不要 没有 不是 不含 不得 除 除了"
)


class Breach(NamedTuple):
    """A rule that a rewrite breaks, and the words that break it."""

    rule: Rule
    words: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.words!r} ({RULES[self.rule]})"


def check_rewrite(before: str, after: str) -> list[Breach]:
    """The rules that a rewrite of a query breaks; none for a sound one."""
    pieces = align(before, after)
    breaches = [Breach("added", said) for said in _added_words(pieces)]
    was, now = language_of(before), language_of(after)
    if after.strip() and was not in ("mixed", now) and (breaches or now != "mixed"):
        breaches.insert(0, Breach("language_changed", f"{was} to {now}"))
    breaches += _breaches_at_seams(pieces)
    # Where the whole text is another one, its parts are not missed one by one.
    lost = [] if any(one.rule == "language_changed" for one in breaches) else lost_parts(before, after)
    negations = [one.words for one in breaches if one.rule == "negation_lost"]
    for part in lost:
        if part.kind != "exclusion" or not any(one in part.words for one in negations):
            breaches.append(Breach("protected_lost", part.words))
    return breaches


def _added_words(pieces: Sequence[Piece]) -> Iterator[str]:
    for is_added, run in groupby(pieces, key=lambda piece: piece.change == "added"):
        tokens = list(run)
        if is_added and any(piece.is_word for piece in tokens):
            yield "".join(piece.token for piece in tokens).strip()


def _breaches_at_seams(pieces: Sequence[Piece]) -> Iterator[Breach]:
    for is_fixed, run in groupby(pieces, key=lambda piece: piece.change == "kept" and piece.is_word):
        if is_fixed:
            continue
        seam = list(run)
        gone = [piece.token for piece in seam if piece.change == "removed" and piece.is_word]
        marks = [piece.token for piece in seam if piece.change == "added" and not piece.is_word and piece.token.strip()]
        if len(marks) > (_MARKS_AT_A_SEAM if gone else 0):
            yield Breach("mark_added", "".join(marks))
        if gone and ("".join(gone) if len(gone[0]) == 1 else " ".join(gone)).casefold() in _NEGATIONS:
            yield Breach("negation_lost", "".join(gone))
