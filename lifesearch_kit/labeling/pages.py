"""What the pages of labelling, settling and ranking share: keys, words said after an answer, a report's text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup

from lifesearch_kit.labeling.items import LabelItem, named_passages
from lifesearch_kit.records import Report, Task
from lifesearch_kit.views.html_templates import language_of
from lifesearch_kit.views.report_html import ReportHtml, report_html

# Headings of a report come below the page's own.
_REPORT_HEADING = 4


@dataclass(frozen=True)
class Press:
    """A key that a person pressed, or its button, and what stood in the text box then (None where there is none)."""

    key: str
    text: str | None = None


class Session(Protocol):
    """Somebody at work: what is on the screen now, and what a key does."""

    keys: tuple[str, ...]
    takes_answers: bool

    def page(self) -> str:
        """The page as an HTML fragment."""
        ...

    def press(self, press: Press) -> None:
        """Do what a key means; whatever it answers is on disk on return."""
        ...

    def close(self) -> None:
        """Take no more answers."""
        ...


def next_open(is_open: Sequence[bool], position: int) -> int:
    """The place of the next that is open behind a position, round the end; behind the last where none is."""
    count = len(is_open)
    after = ((position + step) % count for step in range(1, count + 1))
    return next((at for at in after if is_open[at]), count)


@dataclass(frozen=True)
class ShownReport:
    """A report on a page: its code, which names no system, its text as HTML, and how many passages are marked."""

    code: str
    html: ReportHtml
    lang: Markup
    is_empty: bool

    @property
    def passages(self) -> int:
        """How many of the closest passages could be marked."""
        return len(self.html.marked)


def shown_item(item: LabelItem) -> ShownReport:
    """An item's report with the passages marked that its criterion names."""
    html = report_html(item.report.text, named_passages(item.report.text, item.rubric.criterion), _REPORT_HEADING)
    return ShownReport(item.key[2], html, language_of(item.task.language), not item.report.text.strip())


def shown_plain(task: Task, report: Report, code: str) -> ShownReport:
    """A report with nothing marked."""
    return ShownReport(
        code, report_html(report.text, (), _REPORT_HEADING), language_of(task.language), not report.text.strip()
    )


def verdict_word(satisfied: bool | None) -> str:
    """Pass, Fail, or nothing."""
    return "" if satisfied is None else "Pass" if satisfied else "Fail"
