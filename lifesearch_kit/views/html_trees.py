"""HTML as a tree of plain lists, for a page that builds its elements one by one and parses nothing."""

from __future__ import annotations

from typing import Any

from lxml import etree, html

from lifesearch_kit.text import replace_lone_surrogates

# What a template writes between elements to be readable itself.
_LAYOUT = frozenset(("table", "thead", "tbody", "tr", "ul", "ol", "dl", "div", "details"))


def html_tree(fragment: str) -> list[Any]:
    """Turn a fragment of rendered HTML into ``[tag, attributes, *children]``, a child being a text or such a list."""
    parser = html.HTMLParser(huge_tree=True, remove_comments=True, remove_pis=True)
    return _node(html.fragment_fromstring(replace_lone_surrogates(fragment)[0], create_parent="div", parser=parser))


def _node(element: etree._Element) -> list[Any]:
    node: list[Any] = [element.tag, dict(element.attrib)]
    _add_text(node, element.text)
    for child in element:
        node.append(_node(child))
        _add_text(node, child.tail)
    return node


def _add_text(node: list[Any], text: str | None) -> None:
    if text and (node[0] not in _LAYOUT or text.strip()):
        node.append(text)
