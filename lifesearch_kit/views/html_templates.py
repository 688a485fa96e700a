"""The kit's HTML templates: everything filled into them is escaped."""

from __future__ import annotations

import re
from functools import cache

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from lifesearch_kit.views.odd_text import reveal

_CHINESE = re.compile("[\u3007\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")


def fill(template: str, **values: object) -> str:
    """Render one of the templates; a value that is missing is an error, never an empty place."""
    return _templates().get_template(template).render(**values)


@cache
def _templates() -> Environment:
    templates = Environment(
        loader=PackageLoader("lifesearch_kit"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters["lang"] = language_attribute
    templates.filters["reveal"] = reveal
    return templates


def language_of(code: str) -> Markup:
    """Mark text of a task's language, ``zh`` or ``en``."""
    return Markup(' lang="zh-Hans"' if code == "zh" else ' lang="en"')


def language_attribute(text: str) -> Markup:
    """Mark text that is mostly Chinese, for fonts, line breaks and screen readers."""
    mostly = 2 * len(_CHINESE.findall(text)) > len(text)
    return Markup(' lang="zh-Hans"') if mostly else Markup("")
