"""Fonts for Chinese and English: every character drawn, or replaced by something that can be read."""

from __future__ import annotations

import importlib.util
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from matplotlib import font_manager
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.text import Text

from lifesearch_kit.errors import InputWarning

LATIN = "DejaVu Sans"  # comes with matplotlib, so figures look alike everywhere
_PACKAGED = ("zhplot", "fonts/NotoSansSC-Regular.ttf")
_INSTALLED = (
    "Noto Sans SC",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "PingFang SC",
    "Hiragino Sans GB",
    "Heiti SC",
    "Microsoft YaHei",
    "SimHei",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Arial Unicode MS",
)
_CHINESE = re.compile("[\u2e80-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]")
_MATH = "$\\mathdefault{"  # how matplotlib's own tick formatters write numbers

_keys: WeakKeyDictionary[Figure, dict[str, str]] = WeakKeyDictionary()


@cache
def chinese_font() -> str | None:
    """Name of a font with Chinese characters: the packaged one, else an installed one, else None."""
    package, file = _PACKAGED
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / file
        if path.is_file():
            font_manager.fontManager.addfont(path)
            return font_manager.FontProperties(fname=path).get_name()
    installed = set(font_manager.get_font_names())
    return next((name for name in _INSTALLED if name in installed), None)


def families() -> list[str]:
    """Font families in the order in which a character is looked for."""
    found = chinese_font()
    return [LATIN, found] if found else [LATIN]


def label_key(figure: Figure) -> dict[str, str]:
    """Numbers that stand for labels which no font here can draw, and the labels' full texts."""
    return dict(_keys.get(figure, {}))


def make_drawable(figure: Figure) -> None:
    """Give every text of a figure fonts that hold its characters, whatever a theme has set.

    Without a Chinese font, a Chinese label becomes a number (see `label_key`). A single character that no font holds
    (emoji, rare characters) becomes its code point. Both are said in a warning.
    """
    found = families()
    unknown: set[str] = set()

    def readable(text: str) -> str:
        return _readable(text, figure, unknown)

    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            _rewrite_ticks(axis, readable)
    for text in figure.findobj(Text):
        assert isinstance(text, Text)  # findobj is typed wider than it is
        text.set_fontfamily(found)
        if text.get_fontweight() not in ("normal", "regular", 400):
            # A Chinese font comes in one weight here, and asking it for another is a warning.
            text.set(fontfamily=LATIN) if _is_latin(text.get_text()) else text.set(fontweight="normal")
        if not text.get_text().startswith(_MATH):
            text.set_parse_math(False)
            new = readable(text.get_text())
            if new != text.get_text():
                text.set_text(new)
    if unknown:
        named = ", ".join(f"{one} (U+{ord(one):04X})" for one in sorted(unknown))
        warnings.warn(f"no font here draws {named}; figures show the code point", InputWarning, stacklevel=3)


def _is_latin(text: str) -> bool:
    return all(ord(one) in _covered((LATIN,)) for one in text if not one.isspace())


def _rewrite_ticks(axis: Axis, readable: Callable[[str], str]) -> None:
    texts = [label.get_text() for label in axis.get_ticklabels()]
    new = [text if text.startswith(_MATH) else readable(text) for text in texts]
    if new != texts:
        axis.set_ticks(axis.get_ticklocs(), labels=new)


def _readable(text: str, figure: Figure, unknown: set[str]) -> str:
    lacking = {one for one in text if ord(one) > 126 and ord(one) not in _covered(tuple(families()))}
    if not lacking:
        return text
    if _CHINESE.search(text) and chinese_font() is None:
        _warn_no_chinese_font()
        return _number(text, figure)
    for one in lacking:
        invisible = unicodedata.category(one) in ("Mn", "Me", "Cf")
        text = text.replace(one, "" if invisible else f"U+{ord(one):04X}")
        if not invisible:
            unknown.add(one)
    return text


def _number(text: str, figure: Figure) -> str:
    key = _keys.setdefault(figure, {})
    full = "".join(text.split("\n"))
    return next((number for number, known in key.items() if known == full), None) or _add(key, full)


def _add(key: dict[str, str], full: str) -> str:
    number = f"[{len(key) + 1}]"
    key[number] = full
    return number


@cache
def _covered(names: tuple[str, ...]) -> frozenset[int]:
    return frozenset(code for name in names for code in _codes(font_manager.findfont(name)))


def _codes(path: str) -> Iterable[int]:
    return font_manager.get_font(path).get_charmap()


@cache
def _warn_no_chinese_font() -> None:
    warnings.warn(
        "no font with Chinese characters: figures show numbers, their captions the key. Install the Python package "
        f"{_PACKAGED[0]}, or one of these fonts: {', '.join(_INSTALLED)}",
        InputWarning,
        stacklevel=2,
    )
