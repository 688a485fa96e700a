"""Characters that cannot be seen, or turn others around: shown by their code, and counted."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from markupsafe import Markup, escape

# Controls, zero-width and bidirectional marks, line separators, fillers that look like blanks, tag characters. Joiners
# between parts of an emoji or letters of a script are among them: a reader of evidence must see those too.
_ODD = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e007f]"
)
_RUN = re.compile(f"{_ODD.pattern}+")
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_HTML = re.compile(r"<(?:!doctype|!--|!\[CDATA\[|/?[a-z][a-z0-9]*(?=[\s/>]))", re.I)
_NAMED = 3


def reveal(text: str) -> Markup:
    """Escape a text for HTML, with a badge of its code in place of each character that cannot be seen.

    A run of them is one badge, as "U+200B +4". Nothing is left that could turn the text around it.
    """
    parts: list[str] = []
    end = 0
    for run in _RUN.finditer(text):
        more = f" +{len(run[0]) - 1}" if len(run[0]) > 1 else ""
        parts += [
            str(escape(text[end : run.start()])),
            f'<span class="odd" title="{escape(_name(run[0][0]))}">{_code(run[0][0])}{more}</span>',
        ]
        end = run.end()
    # Nothing but escaped text and the badge above is marked as safe.
    return Markup("".join([*parts, str(escape(text[end:]))]))


def reveal_plain(text: str) -> str:
    """Put the code in place of each character that cannot be seen, for titles and lists: "[U+200B]"."""
    return _ODD.sub(lambda match: f"[{_code(match[0])}]", text)


def oddities(text: str) -> list[str]:
    """Say what about a text cannot be seen, or is no Markdown: "holds 3 invisible characters (U+200B)"."""
    found = Counter(_ODD.findall(text))
    told = []
    if found:
        count = sum(found.values())
        codes = ", ".join(_code(one) for one, _ in found.most_common(_NAMED))
        more = ", ..." if len(found) > _NAMED else ""
        told.append(f"holds {count:,} invisible character{'' if count == 1 else 's'} ({codes}{more})")
    if _TURNING.search(text):
        told.append("holds marks that turn the direction of writing; they are shown and have no effect")
    tags = len(_HTML.findall(text))
    if tags:
        told.append(f"holds {tags:,} HTML tag{'' if tags == 1 else 's'} or the like, shown as written")
    return told


def _code(character: str) -> str:
    return f"U+{ord(character):04X}"


def _name(character: str) -> str:
    return unicodedata.name(character, "control character")
