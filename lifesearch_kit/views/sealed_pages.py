"""Pages in one file that load nothing and run no script but their own: a policy says so, and browsers hold to it."""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from markupsafe import Markup

from lifesearch_kit.paths import replacing
from lifesearch_kit.text import replace_lone_surrogates
from lifesearch_kit.views.html_templates import fill
from lifesearch_kit.views.page_fonts import embedded_font


def write_sealed_page(
    path: str | os.PathLike[str],
    template: str,
    styles: Sequence[str],
    scripts: Sequence[str] = (),
    *,
    characters: Iterable[str],
    **values: object,
) -> Path:
    """Fill a page's template and write it with a strict Content-Security-Policy, replaced in one step.

    Parameters
    ----------
    path
        Where the page goes; its folder is made.
    template
        Extends ``sealed.html.j2``.
    styles, scripts
        Templates of what the page may apply and run, in their order. The policy names both by their hashes, so that
        nothing else is applied or run: neither what text would bring in, nor handlers or styles in attributes. Trusted
        Types forbid the script itself to turn text into markup.
    characters
        Texts or single characters that the page may show: Chinese ones get a font that is part of the page.
    """
    css, code = (Markup("".join(fill(one) + "\n" for one in several)) for several in (styles, scripts))
    css = embedded_font(characters) + css
    policy = [
        "default-src 'none'",
        f"style-src {_source(css)}",
        "font-src data:",
        f"script-src {_source(code)}" if code else "script-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    ]
    text = fill(template, policy="; ".join(policy), css=css, script=code, **values)
    with replacing(path) as temporary:
        temporary.write_bytes(replace_lone_surrogates(text)[0].encode())
    return Path(path)


def _source(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"'sha256-{digest}'"
