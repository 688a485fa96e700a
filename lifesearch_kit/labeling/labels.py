"""Labelling: one criterion of one report at a time, Pass or Fail, each answer on disk at once."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import field_validator

from lifesearch_kit.fields import Id
from lifesearch_kit.labeling.answer_files import Answer, AnswerFile, latest, now
from lifesearch_kit.labeling.items import LabelItem, personal_order
from lifesearch_kit.labeling.pages import Press, next_open, shown_item, verdict_word
from lifesearch_kit.rows import VERDICT_WORDS
from lifesearch_kit.text import fold
from lifesearch_kit.views.html_templates import fill, language_of

ITEM_KEY = ("task_id", "rubric_id", "report")
ANSWERS = "answers"
VERDICTS = {"p": True, "f": False}


class LabelAnswer(Answer):
    """One person's Pass or Fail for a rubric of a report, which `report` names by its code.

    `satisfied` is None for a note without a verdict. `fingerprint` is that of what the person saw.
    """

    task_id: Id
    rubric_id: Id
    report: Id
    satisfied: bool | None
    note: str = ""
    fingerprint: str = ""

    @field_validator("satisfied", mode="before")
    @classmethod
    def _verdict(cls, value: Any) -> Any:
        if isinstance(value, bool) or value is None:
            return value
        word = VERDICT_WORDS.get(fold(value)) if isinstance(value, str) else None
        if word is None:
            raise ValueError("is no verdict; write true (Pass), false (Fail), or null for a note alone")
        return word


def answer_file(folder: Path, annotator: str) -> AnswerFile[LabelAnswer]:
    """The file of a person's labels in a folder of labels."""
    return AnswerFile(folder / ANSWERS, annotator, LabelAnswer)


class LabelSession:
    """A person at work on items, in an order of their own.

    Parameters
    ----------
    items
        What to label, the same for everybody.
    annotator
        Who labels. Empty shows the first item and takes no answer.
    folder
        The folder of labels.
    seed
        Of the person's order.

    Raises
    ------
    InputError
        When the name cannot be used, the person's file has faults, or another process writes to it.
    """

    keys = ("p", "f", "ArrowLeft", "Backspace", "ArrowRight", "Enter")

    def __init__(self, items: Sequence[LabelItem], annotator: str, folder: Path, seed: int) -> None:
        self.items = personal_order(items, annotator, seed)
        self.annotator = annotator
        self.answers: dict[tuple[object, ...], LabelAnswer] = {}
        self.position = 0
        self.begun = ""
        self.said = ""
        self._before: list[int] = []
        self._file = answer_file(folder, annotator) if annotator else None
        if self._file is not None:
            self._resume(self._file)

    @property
    def takes_answers(self) -> bool:
        """Whether there is somebody to answer."""
        return self._file is not None

    @property
    def answered(self) -> int:
        """How many items have a verdict."""
        return sum(self._verdict(one) is not None for one in self.items)

    def answer_to(self, item: LabelItem) -> LabelAnswer | None:
        """The last answer to an item as it is now; one to another wording or text is none."""
        found = self.answers.get(item.key)
        return found if found and found.fingerprint == item.fingerprint else None

    def press(self, press: Press) -> None:
        """Pass (p), Fail (f), back, skip (ArrowRight), or the end of a note (Enter)."""
        if self._file is None:
            return
        item = self.items[self.position] if self.position < len(self.items) else None
        self.said = ""
        if item is not None:
            self._store(self._file, item, press)
        if press.key in VERDICTS:
            self._move(self._next_open())
        elif press.key == "ArrowRight":
            self._move((self.position + 1) % len(self.items) if item is not None else 0)
        elif press.key in ("ArrowLeft", "Backspace"):
            self.position = self._before.pop() if self._before else max(0, self.position - 1)

    def page(self) -> str:
        """The item with its report and criterion, or the end."""
        item = self.items[self.position] if self.position < len(self.items) else None
        answer = self.answer_to(item) if item else None
        return fill(
            "desk_label.html.j2",
            session=self,
            item=item,
            shown=shown_item(item) if item else None,
            lang=language_of(item.task.language) if item else "",
            verdict=verdict_word(answer.satisfied if answer else None),
            note=answer.note if answer else "",
            revised=item is not None and item.key in self.answers and answer is None,
        )

    def close(self) -> None:
        """Take no more answers, and let another notebook write to the file."""
        if self._file is not None:
            self._file.release()

    def _resume(self, file: AnswerFile[LabelAnswer]) -> None:
        given = file.resume()
        self.answers = latest(given, *ITEM_KEY)
        self.begun = given[0].answered if given else ""
        places = {item.key: at for at, item in enumerate(self.items)}
        self._before = [places[key] for key in self.answers if key in places]
        if self._before:
            self.position = self._before.pop()
            # A note alone was the last that was said: its verdict is still to come.
            if self._verdict(self.items[self.position]) is not None:
                self._move(self._next_open())

    def _verdict(self, item: LabelItem) -> bool | None:
        answer = self.answer_to(item)
        return answer.satisfied if answer else None

    def _store(self, file: AnswerFile[LabelAnswer], item: LabelItem, press: Press) -> None:
        """Write what is new; moving on from an item without having said anything writes nothing."""
        earlier = self.answer_to(item)
        verdict = VERDICTS.get(press.key, earlier.satisfied if earlier else None)
        note = (press.text or "").strip()
        if press.key not in VERDICTS and note == (earlier.note if earlier else ""):
            return
        task_id, rubric_id, report = item.key
        answer = LabelAnswer(
            annotator=self.annotator,
            answered=now(),
            task_id=task_id,
            rubric_id=rubric_id,
            report=report,
            satisfied=verdict,
            note=note,
            fingerprint=item.fingerprint,
        )
        file.append(answer)
        self.answers.pop(item.key, None)
        self.answers[item.key] = answer
        self.said = f"Stored: {verdict_word(verdict)}" if press.key in VERDICTS else "Note stored"

    def _move(self, position: int) -> None:
        self._before.append(self.position)
        self.position = position

    def _next_open(self) -> int:
        """The next item without a verdict, round the end; behind the last item where there is none."""
        return next_open([self._verdict(one) is None for one in self.items], self.position)
