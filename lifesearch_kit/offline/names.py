"""Names, as far as a text marks them itself; no list of names is used."""

from __future__ import annotations

import re

from lifesearch_kit.dates import date_mentions
from lifesearch_kit.terms import is_stop, sentences, words

_NAME = re.compile(r"\b[A-Z][\w&.-]*(?:(?:\s+(?:of|for|the|&))*\s+[A-Z0-9][\w&.-]*)*", re.ASCII)
_OPENERS = words(
    "compare using tell give say list state report explain describe check please end finish put "
    "cite include show if our url pdf as"
)
_QUOTED = re.compile(r"[“「『《]([^”」』》]{2,40})[”」』》]|(?<!\w)\"([^\"]{2,60})\"(?!\w)")


def names_in(text: str) -> tuple[str, ...]:
    """Names of a text: those that it marks, and Chinese strings that it repeats."""
    return tuple(dict.fromkeys([*marked_names(text), *_repeated(text)]))


def marked_names(text: str) -> tuple[str, ...]:
    """Names that a text marks itself, by capital letters inside a sentence or quotation marks; dates are none."""
    found = [next(filter(None, match.groups())) for match in _QUOTED.finditer(text)]
    dated = " ".join(text[one.start : one.end] for one in date_mentions(text)).split()
    for sentence in sentences(text):
        for match in _NAME.finditer(sentence):
            words = [word.rstrip(".") for word in match.group().split() if word.rstrip(".") not in dated]
            opens = match.start() == 0
            while words and (is_stop(words[0].casefold()) or words[0].casefold() in _OPENERS):
                words, opens = words[1:], False
            if words and not (opens and len(words) == 1) and not words[0].isdigit() and len(" ".join(words)) > 1:
                found.append(" ".join(words))
    return tuple(dict.fromkeys(found))


def _repeated(text: str) -> list[str]:
    runs = re.findall(r"[\u4e00-\u9fff]+", text)
    found: list[str] = []
    for size in range(10, 2, -1):
        pieces = [run[at : at + size] for run in runs for at in range(len(run) - size + 1)]
        for piece in dict.fromkeys(pieces):
            clean = not any(is_stop(piece[at : at + 2]) for at in range(size - 1))
            if clean and pieces.count(piece) > 1 and not any(piece in longer for longer in found):
                found.append(piece)
    return found


def shared_names(question: str, titles: list[str]) -> list[str]:
    """Chinese names that a question shares with page titles: the longest common strings of three characters or more."""
    found: dict[str, None] = {}
    for title in titles:
        for run in re.findall(r"[\u4e00-\u9fff]+", title):
            at = 0
            while at < len(run) - 2:
                end = at + 3
                while end <= len(run) and run[at:end] in question:
                    end += 1
                if run[at : end - 1] in question and end - 1 - at >= 3:
                    found[run[at : end - 1]] = None
                    at = end - 1
                else:
                    at += 1
    return [name for name in found if not any(name != other and name in other for other in found)]
