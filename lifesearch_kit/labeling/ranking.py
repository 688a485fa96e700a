"""Blinded ranking at work: places of a task's anonymous reports by one criterion after the other, ties allowed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from lifesearch_kit.labeling.answer_files import AnswerFile, latest, now
from lifesearch_kit.labeling.pages import Press, next_open, shown_plain
from lifesearch_kit.labeling.ranking_sets import (
    CRITERIA,
    LETTERS,
    Places,
    RankingAnswer,
    RankingSet,
    personal_sets,
    ranking_file,
)
from lifesearch_kit.views.html_templates import fill, language_of


class RankingSession:
    """A person who ranks, in an order of tasks and reports of their own.

    Parameters
    ----------
    sets
        What to rank, the same for everybody.
    annotator
        Who ranks. Empty shows the first task and takes no answer.
    folder
        The folder of labels.
    seed
        Of the person's orders.

    Raises
    ------
    InputError
        When the name cannot be used, the person's file has faults, or another process writes to it.
    """

    keys = (
        *LETTERS.lower(),
        *"0123456789",
        *(f"column-{at}" for at in range(len(CRITERIA))),
        *(" ", "Enter", "ArrowLeft", "Backspace", "ArrowRight"),
    )

    def __init__(self, sets: Sequence[RankingSet], annotator: str, folder: Path, seed: int) -> None:
        self.seed = seed
        self.sets = personal_sets(sets, annotator, seed)
        self.annotator = annotator
        self.answers: dict[tuple[object, ...], RankingAnswer] = {}
        self.position = 0
        self.column = 0
        self.chosen = 0
        self.places: dict[str, Places] = {}
        self.begun = ""
        self.said = ""
        self._file = ranking_file(folder, annotator) if annotator else None
        if self._file is not None:
            given = self._file.resume()
            asked = {one.task.task_id: frozenset(one.codes) for one in self.sets}
            # Of other reports on the task, or of fewer, is another ranking.
            self.answers = latest((one for one in given if one.together == asked.get(one.task_id)), "task_id")
            self.begun = given[0].answered if given else ""
            self.position = self._next_open(-1)
        self._take_up()

    @property
    def takes_answers(self) -> bool:
        """Whether there is somebody to answer."""
        return self._file is not None

    @property
    def answered(self) -> int:
        """How many tasks are ranked by every criterion, and confirmed."""
        return sum(self._is_confirmed(one) for one in self.sets)

    def press(self, press: Press) -> None:
        """Choose a report (letter) or criterion (Space), give a place (1 to 9, 0 takes it back), confirm, move."""
        self.said = ""
        if self._file is None:
            return
        at_work = self.position < len(self.sets)
        reports = len(self.sets[self.position].reports) if at_work else 0
        if press.key in ("ArrowLeft", "Backspace"):
            self._go(max(0, self.position - 1))
        elif press.key == "ArrowRight":
            self._go(min(self.position + 1, len(self.sets)))
        elif not at_work:
            return
        elif press.key.upper() in LETTERS[:reports]:
            self.chosen = LETTERS.index(press.key.upper())
        elif press.key == " ":
            self.column = (self.column + 1) % len(CRITERIA)
        elif press.key.startswith("column-"):
            self.column = int(press.key.removeprefix("column-"))
        elif press.key.isdigit():
            self._place(self._file, int(press.key), reports)
        elif press.key == "Enter":
            self._confirm(self._file)

    def page(self) -> str:
        """The chosen report beside the board of places, or the end."""
        one = self.sets[self.position] if self.position < len(self.sets) else None
        return fill(
            "desk_rank.html.j2",
            session=self,
            criteria=CRITERIA,
            task=one.task if one else None,
            shown=shown_plain(one.task, one.reports[self.chosen], one.codes[self.chosen]) if one else None,
            lang=language_of(one.task.language) if one else "",
            letters=LETTERS[: len(one.reports)] if one else "",
            places=self.places,
            complete=one is not None and self._is_complete(),
            confirmed=one is not None and self._is_confirmed(one),
        )

    def close(self) -> None:
        """Take no more answers, and let another notebook write to the file."""
        if self._file is not None:
            self._file.release()

    def _place(self, file: AnswerFile[RankingAnswer], place: int, reports: int) -> None:
        if place > reports:
            self.said = f"There are {reports} reports: places go from 1 to {reports}"
            return
        criterion = list(CRITERIA)[self.column]
        column = list(self.places[criterion])
        column[self.chosen] = place or None
        self._store(file, {**self.places, criterion: tuple(column)}, confirmed=False)
        self.said = f"Stored: {LETTERS[self.chosen]}, {criterion}, {f'place {place}' if place else 'no place'}"
        if place:
            self._advance()

    def _advance(self) -> None:
        """Go to the next report without a place by this criterion, then to the next criterion that lacks one."""
        columns = list(self.places.values())
        for step in range(len(columns)):
            column = (self.column + step) % len(columns)
            first = self.chosen if step == 0 else 0
            after = [(first + at) % len(columns[column]) for at in range(len(columns[column]))]
            free = next((at for at in after if columns[column][at] is None), None)
            if free is not None:
                self.column, self.chosen = column, free
                return

    def _confirm(self, file: AnswerFile[RankingAnswer]) -> None:
        if not self._is_complete():
            self.said = "Every report needs a place by each criterion before Enter"
            return
        self._store(file, self.places, confirmed=True)
        self._go(self._next_open(self.position))
        self.said = "Stored: the task's ranking"

    def _store(self, file: AnswerFile[RankingAnswer], places: dict[str, Places], *, confirmed: bool) -> None:
        one = self.sets[self.position]
        answer = RankingAnswer(
            annotator=self.annotator,
            answered=now(),
            task_id=one.task.task_id,
            seed=self.seed,
            order=one.codes,
            places=places,
            confirmed=confirmed,
            fingerprint=one.fingerprint,
        )
        file.append(answer)
        self.answers[one.task.task_id,] = answer
        self.places = places

    def _answer_to(self, one: RankingSet) -> RankingAnswer | None:
        found = self.answers.get((one.task.task_id,))
        same = found is not None and found.fingerprint == one.fingerprint and set(found.order) == set(one.codes)
        return found if same else None

    def _is_confirmed(self, one: RankingSet) -> bool:
        answer = self._answer_to(one)
        return answer is not None and answer.confirmed

    def _is_complete(self) -> bool:
        return all(None not in column for column in self.places.values())

    def _go(self, position: int) -> None:
        self.position = position
        self._take_up()

    def _take_up(self) -> None:
        """Show a task as it was left: an earlier answer keeps the order in which its reports were shown."""
        self.column = self.chosen = 0
        self.places = {}
        if self.position >= len(self.sets):
            return
        one = self.sets[self.position]
        answer = self._answer_to(one)
        if answer is not None:
            by_code = dict(zip(one.codes, one.reports, strict=True))
            self.sets[self.position] = replace(one, reports=tuple(by_code[code] for code in answer.order))
        empty: Places = (None,) * len(one.reports)
        self.places = {name: answer.places.get(name, empty) if answer else empty for name in CRITERIA}

    def _next_open(self, position: int) -> int:
        return next_open([not self._is_confirmed(one) for one in self.sets], position)
