"""What a rewrite took away and what it added: by words for English, by characters for Chinese; as text and as HTML."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Literal, NamedTuple

from markupsafe import Markup
from rapidfuzz.distance import LCSseq

from lifesearch_kit.views.odd_text import reveal

Code = tuple[str, int, int, int, int]
Change = Literal["kept", "removed", "added"]
_CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_LETTER = rf"[^\W{_CJK}]"
# A number, a file name or an address is one word: half of it would be another one.
_TOKEN = re.compile(rf"[{_CJK}]|{_LETTER}+(?:(?:[.'’:@-]|(?<=\d),(?=\d)){_LETTER}+)*|\s+|.", re.DOTALL)
# The search for long common passages reads better, and takes too long beyond this many tokens.
_MOST_TOKENS = 2500


class Piece(NamedTuple):
    """A token and what became of it."""

    change: Change
    token: str

    @property
    def is_word(self) -> bool:
        """Whether it is a word, a number or a Chinese character: neither a mark nor a blank."""
        return self.token[0].isalnum() or self.token[0] == "_"


def tokens_of(text: str) -> list[str]:
    """Words, numbers, single Chinese characters, marks and runs of blanks, which together are the text."""
    return _TOKEN.findall(text)


def align(before: str, after: str) -> list[Piece]:
    """The pieces of both texts in their order. A word that differs in the case of its first letter alone is kept.

    As many tokens are kept as can be wherever the plain reading would call a word added that is none.
    """
    pieces = _by_passages(before, after)
    if any(piece.change == "added" and piece.is_word for piece in pieces):
        return _by_most_kept(before, after)
    return pieces


def _by_passages(before: str, after: str) -> list[Piece]:
    one, two = tokens_of(before), tokens_of(after)
    if len(one) + len(two) > _MOST_TOKENS:
        return _by_most_kept(before, after)
    matcher = difflib.SequenceMatcher(None, [_key(token) for token in one], [_key(token) for token in two], False)
    return list(_pieces(one, two, matcher.get_opcodes()))


def _by_most_kept(before: str, after: str) -> list[Piece]:
    """Words are matched first, so that no mark is kept at the cost of one; the marks between them follow."""
    one, two = tokens_of(before), tokens_of(after)
    places = [[at for at, token in enumerate(side) if Piece("kept", token).is_word] for side in (one, two)]
    keys = [[_key(side[at]) for at in found] for side, found in zip((one, two), places, strict=True)]
    matches = [
        (places[0][start + step], places[1][other + step])
        for tag, start, end, other, _ in _most_kept(*keys)
        if tag == "equal"
        for step in range(end - start)
    ]
    pieces: list[Piece] = []
    at = to = 0
    for place, other in [*matches, (len(one), len(two))]:
        pieces += _between(one[at:place], two[to:other])
        pieces += [Piece("kept", token) for token in two[other : other + 1]]
        at, to = place + 1, other + 1
    return pieces


def _between(one: list[str], two: list[str]) -> Iterator[Piece]:
    yield from _pieces(one, two, _most_kept([_key(token) for token in one], [_key(token) for token in two]))


def _most_kept(one: list[str], two: list[str]) -> list[Code]:
    codes = LCSseq.opcodes(one, two)
    return [(code.tag, code.src_start, code.src_end, code.dest_start, code.dest_end) for code in codes]


def _pieces(one: list[str], two: list[str], codes: Sequence[Code]) -> Iterator[Piece]:
    for tag, start, end, other, last in codes:
        if tag == "equal":
            yield from (Piece("kept", token) for token in two[other:last])
        else:
            yield from (Piece("removed", token) for token in one[start:end])
            yield from (Piece("added", token) for token in two[other:last])


def _key(token: str) -> str:
    return " " if token.isspace() else token[0].casefold() + token[1:]


def diff_text(before: str, after: str) -> str:
    """The change in one text: ``[-what went-]`` and ``{+what came+}``."""
    signs = {"kept": "{}", "removed": "[-{}-]", "added": "{{+{}+}}"}
    return "".join(signs[change].format(said) for change, said in _runs(before, after))


def diff_html(before: str, after: str) -> Markup:
    """The same as HTML with ``del`` and ``ins``, everything escaped and invisible characters shown."""
    signs = {"kept": Markup("{}"), "removed": Markup("<del>{}</del>"), "added": Markup("<ins>{}</ins>")}
    return Markup("").join(signs[change].format(reveal(said)) for change, said in _runs(before, after))


def _runs(before: str, after: str) -> Iterator[tuple[Change, str]]:
    for change, pieces in groupby(align(before, after), key=lambda piece: piece.change):
        yield change, "".join(piece.token for piece in pieces)
