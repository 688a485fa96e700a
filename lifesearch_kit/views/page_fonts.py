"""A font for a page's Chinese, cut to the characters that the page holds.

Pages load nothing, and a machine without a Chinese font would show boxes. The font comes from the package zhplot (Noto
Sans SC, SIL Open Font License 1.1); what a page names before it, such as the system's own fonts, is taken where it is.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import re
from collections.abc import Iterable
from pathlib import Path

from fontTools import subset  # type: ignore[import-untyped]
from fontTools.ttLib import TTFont  # type: ignore[import-untyped]
from markupsafe import Markup

_PACKAGE, _FILE = "zhplot", "fonts/NotoSansSC-Regular.ttf"
_WIDE = re.compile(
    "[\u2e80-\u303f\u3100-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff]"
)
_MARKS = "“”‘’—…·《》"
_LICENSE_NAMES = [0, 13, 14]  # copyright, license and its address stay in the file, as the license asks
_FACE = Markup(
    '@font-face {{ font-family: "Packaged Sans SC"; font-display: block;'
    ' src: url("data:font/woff;base64,{}") format("woff"); }}\n'
)


def embedded_font(characters: Iterable[str]) -> Markup:
    """Write the font face "Packaged Sans SC" as a rule of a style sheet; nothing where there is no Chinese, or no font.

    Parameters
    ----------
    characters
        Texts or single characters that the page may show.
    """
    wanted = set(_WIDE.findall("".join(characters)))
    path = _packaged()
    if not wanted or path is None:
        return Markup()
    options = subset.Options(
        flavor="woff", hinting=False, layout_features=["locl"], name_IDs=_LICENSE_NAMES, notdef_outline=True
    )
    options.drop_tables += ["GPOS", "BASE", "vhea", "vmtx"]
    with TTFont(path, lazy=True, recalcTimestamp=False) as font:
        cutter = subset.Subsetter(options)
        cutter.populate(text="".join(sorted(wanted)) + _MARKS)
        cutter.subset(font)
        content = io.BytesIO()
        font.flavor = "woff"
        font.save(content)
    return _FACE.format(base64.b64encode(content.getvalue()).decode())


def _packaged() -> Path | None:
    # Looked for and not imported: the package itself would load matplotlib.
    spec = importlib.util.find_spec(_PACKAGE)
    files = [Path(folder, _FILE) for folder in (spec.submodule_search_locations or ())] if spec else []
    return next((one for one in files if one.is_file()), None)
