"""What people look at: rewrites as diffs, and the trail of one query."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import pandas as pd
from markupsafe import Markup

from lifesearch_kit.building.alignment import diff_html, diff_text
from lifesearch_kit.building.outcomes import Outcome
from lifesearch_kit.building.records import STEPS, Decision
from lifesearch_kit.views.html_templates import language_attribute

_STYLE = "<style>.rewrites del{background:#ffdce0;color:#86181d}.rewrites ins{background:#cdffd8;color:#165c26}</style>"


def changed(found: Iterable[Outcome]) -> list[Outcome]:
    """The queries that a rewrite changed: those whose rewrite breaks a rule first."""
    touched = [one for one in found if (left := _left(one)) is not None and left != one.query.strip()]
    return sorted(touched, key=lambda one: one.breached is None)


def _left(outcome: Outcome) -> str | None:
    return outcome.rewritten if outcome.breached is None else outcome.breached


def rewrites_html(found: Sequence[Outcome]) -> str:
    """A table of rewrites with what went and what came, by word in English and by character in Chinese."""
    row = Markup("<tr><td>{}</td><td style='text-align:left'{}>{}{}</td></tr>")
    rows = [
        row.format(
            one.query_id,
            language_attribute(one.query),
            diff_html(one.query, _left(one) or ""),
            Markup("<br><b>{}</b>").format(one.reason) if one.breached is not None else "",
        )
        for one in found
    ]
    return Markup("{}<table class='rewrites'>{}</table>").format(Markup(_STYLE), Markup("").join(rows))


def rewrites_text(found: Sequence[Outcome]) -> str:
    """The same as plain text, a line a query: ``[-what went-]`` and ``{+what came+}``."""
    return "\n".join(f"{one.query_id}: {diff_text(one.query, _left(one) or '')}" for one in found)


def trail_of(query_id: str, decisions: Iterable[Decision]) -> pd.DataFrame:
    """Every reply on one query, a row each: step, attempt, status, reason, raw, model, tokens and fingerprint."""
    rows = [one.model_dump() for one in decisions if one.query_id == query_id]
    columns = ["step", "attempt", "status", "reason", "raw", "model", "input_tokens", "output_tokens", "fingerprint"]
    frame = pd.DataFrame(rows, columns=columns)
    order = {"step": {step: place for place, step in enumerate(STEPS)}}
    return frame.sort_values(
        ["step", "attempt"],
        key=lambda column: column.map(order.get(str(column.name), {})) if column.name in order else column,
        ignore_index=True,
    )
