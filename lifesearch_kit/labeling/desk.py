"""The desk: puts a session on the screen of a notebook, and hands the keys that a person presses to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anywidget
import traitlets
from IPython.display import HTML
from markupsafe import Markup

from lifesearch_kit.errors import KitError
from lifesearch_kit.labeling.pages import Press, Session
from lifesearch_kit.views.html_templates import fill
from lifesearch_kit.views.html_trees import html_tree

_SCRIPT = Path(__file__).resolve().parent.parent / "templates" / "desk.js"


class Desk(anywidget.AnyWidget):
    """A session in a notebook. The page is a tree of elements that the script builds one by one.

    Attributes
    ----------
    page
        What is shown, as `html_tree` gives it.
    turn
        Counts the pages: a key pressed on an earlier page does nothing.
    done
        Number of the last key that was dealt with: what it answered is on disk.
    alarm
        Why an answer could not be stored; empty otherwise.
    known_keys
        What the session reacts to.
    """

    _esm = _SCRIPT
    _css = fill("desk.css")
    page: Any = traitlets.List().tag(sync=True)
    turn = traitlets.Int(0).tag(sync=True)
    done = traitlets.Int(0).tag(sync=True)
    alarm = traitlets.Unicode("").tag(sync=True)
    known_keys = traitlets.List(traitlets.Unicode()).tag(sync=True)

    def __init__(self, session: Session) -> None:
        super().__init__(known_keys=list(session.keys), page=html_tree(session.page()))
        self.session = session
        self.on_msg(self._receive)

    def _receive(self, _: Any, content: dict[str, Any], __: Any) -> None:
        alarm = ""
        if content.get("turn") == self.turn:
            try:
                self.session.press(Press(str(content["key"]), content.get("text")))
            except (KitError, OSError) as error:
                alarm = f"Not stored: {error}"
        # One message: the page after an answer never comes without the word that it is stored.
        with self.hold_sync():
            if not alarm:
                self.page = html_tree(self.session.page())
                self.turn += 1
            self.alarm = alarm
            self.done = int(content.get("number", 0))


def show(session: Session) -> Desk | HTML:
    """A session to display: at work where somebody answers, a still picture of its first page where nobody does."""
    if session.takes_answers:
        return Desk(session)
    return HTML(fill("desk_still.html.j2", css=Markup(fill("desk.css")), page=Markup(session.page())))
