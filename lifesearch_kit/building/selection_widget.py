"""The selection as a table in the notebook: keep or drop by hand, with a reason; every decision is on disk at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import ipywidgets as widgets  # type: ignore[import-untyped]
import pandas as pd
from markupsafe import escape

from lifesearch_kit.building.outcomes import Outcome
from lifesearch_kit.building.selection import (
    Choice,
    read_selection,
    selection_table,
    with_choice,
    write_selection,
)
from lifesearch_kit.errors import InputError
from lifesearch_kit.views.odd_text import reveal

PAGE = 15
_STORED = "stored"
_WORDS = ("keep", "drop")
Store = Callable[[str, str, str], str]


def selection_widget(found: Sequence[Outcome], path: str | os.PathLike[str]) -> widgets.VBox:
    """Show what there is to choose from, a page at a time, and write each decision to the file as it is made.

    A decision counts once it has a reason: pick keep or drop, write why, and press Enter or leave the field. The file
    is read again before each write, so that rows added by hand meanwhile stay. Open queries come first.

    Parameters
    ----------
    found
        What the queries came to.
    path
        ``.csv`` or ``.jsonl``; made with the first decision.

    Raises
    ------
    InputError
        When the file holds a fault; see `read_selection`.
    """
    progress = widgets.HTML()
    rows = widgets.VBox()

    def table() -> pd.DataFrame:
        return selection_table(found, read_selection(path, found))

    def store(query_id: str, decision: str, reason: str) -> str:
        told = store_choice(found, path, query_id, decision, reason)
        if told == _STORED:
            progress.value = _progress(table())
        return told

    # The order stays while one works: a row must not run away when it is decided on.
    order = table().sort_values("decision", key=lambda one: one != "open", kind="stable")["query_id"].tolist()
    page = widgets.BoundedIntText(value=1, min=1, max=max(1, -(-len(order) // PAGE)), description="page")

    def turn(_: object = None) -> None:
        current = table().set_index("query_id", drop=False)
        here = order[(page.value - 1) * PAGE : page.value * PAGE]
        rows.children = [_row(current.loc[one], store) for one in here if one in current.index]
        progress.value = _progress(current)

    page.observe(turn, "value")
    turn()
    return widgets.VBox([widgets.HBox([progress, page]), rows])


def _progress(table: pd.DataFrame) -> str:
    counts = table["decision"].value_counts()
    told = ", ".join(f"{counts.get(word, 0)} {word}" for word in (*_WORDS, "open"))
    return f"<b>{len(table)} queries: {told}</b>"


def _row(row: pd.Series[Any], store: Store) -> widgets.HBox:
    remark = f"<br><i>{escape(row['fate'])}: {escape(row['remark'])}</i>" if row["remark"] else ""
    about = f"{escape(row['query_id'])} · {escape(row['domain'] or 'no domain')} · {row['difficulty']}"
    text = widgets.HTML(f"<small>{about}</small><br>{reveal(row['query'])}{remark}", layout={"width": "58%"})
    chosen = row["decision"] if row["decision"] in _WORDS else None
    decision = widgets.ToggleButtons(
        options=_WORDS, value=chosen, style={"button_width": "60px"}, layout={"width": "150px"}
    )
    reason = widgets.Text(value=row["reason"], placeholder="reason", continuous_update=False, layout={"width": "22%"})
    told = widgets.HTML()

    def keep(_: object) -> None:
        if decision.value is None or not reason.value.strip():
            told.value = "not stored yet: it needs a decision and a reason"
        else:
            told.value = str(escape(store(row["query_id"], decision.value, reason.value.strip())))

    decision.observe(keep, "value")
    reason.observe(keep, "value")
    return widgets.HBox([text, decision, reason, told])


def store_choice(
    found: Sequence[Outcome], path: str | os.PathLike[str], query_id: str, decision: str, reason: str
) -> str:
    """Write one decision to the file; what it says of domain and query by hand stays.

    Returns
    -------
    str
        ``stored``, or why it was not.
    """
    try:
        choices = read_selection(path, found)
        before = next((one for one in choices if one.query_id == query_id), None)
        by_hand = {"domain": before.domain, "query": before.query} if before else {}
        outcome = next(one for one in found if one.query_id == query_id)
        is_whole = (by_hand.get("domain") or outcome.domain) and (by_hand.get("query") or outcome.rewritten)
        if decision == "keep" and not is_whole:
            return f"not stored: the steps left it without domain or text; write a row with both into {os.fspath(path)}"
        choice = Choice.model_validate({"query_id": query_id, "decision": decision, "reason": reason, **by_hand})
        write_selection(path, with_choice(choices, choice))
    except (InputError, OSError) as error:
        return f"not stored: {error}"
    return _STORED
