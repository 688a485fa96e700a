"""The font of a page's Chinese: its characters and no others, and a page that shows them without a network."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

from fontTools.ttLib import TTFont
from made_cases import make_report, make_task

from lifesearch_kit.views import page_fonts
from lifesearch_kit.views.case_pages import write_case_page
from lifesearch_kit.views.page_fonts import embedded_font


def characters_of(rule: str) -> set[str]:
    content = base64.b64decode(re.search(r"base64,([^\"]+)\"", rule)[1])
    return {chr(code) for code in TTFont(io.BytesIO(content)).getBestCmap()}


def test_the_font_holds_the_characters_of_the_text() -> None:
    held = characters_of(embedded_font(["截至2025年，", "abc 苏"]))
    assert set("截至年，苏") <= held
    assert "abc"[0] not in held
    assert len(held) < 30  # five of the text, and quotation marks


def test_text_without_chinese_or_a_machine_without_the_package_has_none(monkeypatch) -> None:
    assert embedded_font(["plain “text” é"]) == ""
    monkeypatch.setattr(page_fonts, "_PACKAGE", "no_such_package")
    assert embedded_font(["苏"]) == ""


def test_a_case_page_holds_every_chinese_character_that_it_shows(tmp_path: Path) -> None:
    task = make_task(1.0, query="吞吐量是多少？", language="zh", criterion="应给出数据。")
    page = write_case_page(tmp_path / "case.html", task, make_report("约四百八十二万箱"), []).read_text("utf-8")
    assert set("吞吐量是多少应给出数据约四百八十二万箱") <= characters_of(page)
    assert "font-src data:" in page
