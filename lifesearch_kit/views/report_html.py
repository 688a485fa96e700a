"""A report's Markdown as HTML that cannot run or load anything, with highlights marked by their place in the source."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markupsafe import Markup

from lifesearch_kit.views.odd_text import oddities, reveal

# Longer texts are shown as they were written: what a parser makes of them takes long, and no one reads it.
MARKDOWN_LIMIT = 100_000
_PLAIN_BLOCK = 20_000
_ADDRESS = re.compile(r"https?://[^\s/]", re.I)
_LINE_END = re.compile(r"\r\n?|\n")
_LINK_END = re.compile(r"\]\((?:[^()\s]|\([^()\s]*\))*\)")
# How far a character may lie from the one before it: beyond it, the text is no longer that of the source.
_REACH = 64
_DEEPEST_HEADING = 6


@dataclass(frozen=True)
class Highlight:
    """Characters of a text that a numbered finding points to."""

    start: int
    end: int
    number: int


@dataclass
class ReportHtml:
    """A text as HTML: its body, what is odd about it, and the numbers of the highlights that could be marked."""

    body: Markup
    notes: list[str]
    marked: set[int] = field(default_factory=set)


def report_html(text: str, highlights: Iterable[Highlight] = (), heading: int = 3) -> ReportHtml:
    """Render Markdown without raw HTML and images, with links to http and https alone.

    Parameters
    ----------
    text
        As a model wrote it. Invisible characters are shown by their code.
    highlights
        What to mark. The first piece of each has the id ``finding-<number>``.
    heading
        The level that the text's first-level headings get.
    """
    wanted = sorted(highlights, key=lambda one: (one.start, one.end))
    shown = ReportHtml(Markup(), oddities(text))
    if len(text) > MARKDOWN_LIMIT:
        shown.notes.append(f"is {len(text):,} characters long: shown as written, without headings, lists and tables")
        shown.body = _plain(text, wanted, shown.marked)
        return shown
    tokens = _markdown().parse(text)
    _Placed(text, wanted, shown.marked).fill(tokens)
    for token in tokens:
        _settle(token, heading)
    shown.notes += _broken_forms(tokens)
    # markdown-it escapes what it renders, and the rules below do.
    shown.body = Markup(_markdown().renderer.render(tokens, _markdown().options, {}))
    return shown


class _Placed:
    """Finds where the rendered pieces of a text stand in its source, in one pass from front to back."""

    def __init__(self, source: str, highlights: Sequence[Highlight], marked: set[int]) -> None:
        self.source = source
        self.highlights = highlights
        self.marked = marked
        self.starts = [0, *(match.end() for match in _LINE_END.finditer(source)), len(source)]
        self.at = 0

    def fill(self, tokens: Sequence[Token]) -> None:
        for token in tokens:
            if token.map:
                self.at = max(self.at, self.starts[token.map[0]])
                end = self.starts[min(token.map[1], len(self.starts) - 1)]
            if token.type in ("fence", "code_block"):
                self._take(token, end)
            for child in token.children or ():
                if child.type == "link_close":
                    closed = _LINK_END.match(self.source, self.at)
                    self.at = closed.end() if closed else self.at
                elif child.content:
                    self._take(child, end)

    def _take(self, token: Token, end: int) -> None:
        content = token.content
        found = self.source.find(content, self.at, min(end, self.at + len(content) + _REACH))
        if found >= 0:
            places: Sequence[int] = range(found, found + len(content))
            self.at = found + len(content)
        else:
            places = self._each(content, end)
        token.meta["html"] = _marked(content, places, self.highlights, self.marked)

    def _each(self, content: str, end: int) -> list[int]:
        places = []
        for character in content:
            found = self.source.find(character, self.at, min(end, self.at + _REACH))
            self.at = found + 1 if found >= 0 else self.at
            places.append(self.at - 1 if found >= 0 else self.at)
        return places


def _marked(content: str, places: Sequence[int], highlights: Sequence[Highlight], marked: set[int]) -> Markup:
    """Escape a piece of a text, with the parts that highlights cover in ``mark`` elements."""
    covered = [(bisect_left(places, one.start), bisect_left(places, one.end), one.number) for one in highlights]
    covered = [one for one in covered if one[0] < one[1]]
    if not covered:
        return reveal(content)
    cuts = sorted({0, len(content), *(cut for one in covered for cut in one[:2])})
    html = Markup()
    for start, end in pairwise(cuts):
        numbers = [number for first, last, number in covered if first <= start and end <= last]
        piece = reveal(content[start:end])
        for number in reversed([one for one in numbers if one not in marked]):
            marked.add(number)
            piece = Markup('<sup id="finding-{0}">{0}</sup>').format(number) + piece
        html += Markup("<mark>{}</mark>").format(piece) if numbers else piece
    return html


def _plain(text: str, highlights: Sequence[Highlight], marked: set[int]) -> Markup:
    """The text as it is, in blocks that a browser can lay out one by one."""
    html = Markup()
    start = 0
    while start < len(text):
        cut = text.find("\n", min(len(text), start + _PLAIN_BLOCK))
        end = len(text) if cut < 0 else cut + 1
        html += Markup('<pre class="plain">{}</pre>').format(
            _marked(text[start:end], range(start, end), highlights, marked)
        )
        start = end
    return html


def _settle(token: Token, heading: int) -> None:
    """Fit a token to the page: headings below the page's own, links that leave it, no style attributes."""
    if token.type in ("heading_open", "heading_close"):
        token.tag = f"h{min(_DEEPEST_HEADING, int(token.tag[1]) + heading - 1)}"
    style = str(token.attrs.pop("style", ""))
    if style:
        token.attrs["class"] = style.removeprefix("text-align:")
    for child in token.children or ():
        if child.type == "link_open":
            address = str(child.attrs["href"])
            child.attrs = {
                "href": address,
                "title": address,
                "rel": "noopener noreferrer nofollow",
                "target": "_blank",
            }


def _broken_forms(tokens: Sequence[Token]) -> list[str]:
    notes = []
    for before, token in zip([None, *tokens], tokens, strict=False):
        if token.type == "fence" and token.map:
            lines = len(_LINE_END.findall(token.content)) + bool(token.content and not token.content.endswith("\n"))
            if token.map[1] - token.map[0] < lines + 2:
                notes.append("holds a code block that is never closed")
        in_paragraph = token.type == "inline" and before is not None and before.type == "paragraph_open"
        if in_paragraph and sum(line.startswith("|") for line in token.content.split("\n")) > 1:
            notes.append("holds lines like a table's that form no table")
    return list(dict.fromkeys(notes))


@cache
def _markdown() -> MarkdownIt:
    # Images would be fetched from addresses that a model chose: shown as links instead.
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    markdown.validateLink = _is_web_address  # type: ignore[method-assign]
    for name, form in {
        "text": "{}",
        "code_inline": "<code>{}</code>",
        "fence": '<pre class="code"><code>{}</code></pre>\n',
        "code_block": '<pre class="code"><code>{}</code></pre>\n',
    }.items():
        markdown.add_render_rule(name, _rule(Markup(form)))
    return markdown


def _is_web_address(url: str) -> bool:
    return bool(_ADDRESS.match(url))


def _rule(form: Markup) -> Any:
    def render(renderer: Any, tokens: Sequence[Token], index: int, options: object, environment: object) -> str:
        return str(form.format(tokens[index].meta.get("html", reveal(tokens[index].content))))

    return render
