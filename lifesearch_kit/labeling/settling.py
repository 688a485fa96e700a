"""Settling disagreements, one at a time: both labels with their notes, then a verdict with its reason."""

from __future__ import annotations

from pathlib import Path

from lifesearch_kit.labeling.answer_files import AnswerFile, latest, now
from lifesearch_kit.labeling.gathered import Disagreement, Study
from lifesearch_kit.labeling.labels import ITEM_KEY, VERDICTS
from lifesearch_kit.labeling.pages import Press, next_open, shown_item, verdict_word
from lifesearch_kit.labeling.settlements import Settlement, agreement_words, settlement_file
from lifesearch_kit.views.html_templates import fill, language_of


class SettlingSession:
    """A person who settles what annotators disagree on, once all of them have finished.

    Parameters
    ----------
    study
        What was labelled, and by whom.
    name
        Who settles. Empty shows the first disagreement and takes no answer.
    folder
        The folder of labels.

    Raises
    ------
    InputError
        When the name cannot be used, or the file of settlements has faults or is written to by another process.
    """

    keys = ("p", "f", "ArrowLeft", "Backspace", "ArrowRight", "Enter")

    def __init__(self, study: Study, name: str, folder: Path) -> None:
        self.study = study
        self.name = name
        self.ready = study.finished
        self.open = study.disagreements() if self.ready else []
        self.agreement = agreement_words(study)
        self.settled: dict[tuple[object, ...], Settlement] = {}
        self.position = 0
        self.verdict: bool | None = None
        self.said = ""
        self._file = settlement_file(folder, name) if name else None
        if self._file is not None:
            self.settled = latest(self._file.resume(), *ITEM_KEY)
            self.position = self._next_open(-1)
        self._take_up()

    @property
    def takes_answers(self) -> bool:
        """Whether there is somebody to settle."""
        return self._file is not None

    @property
    def answered(self) -> int:
        """How many disagreements are settled."""
        return sum(self.settlement_of(one) is not None for one in self.open)

    def settlement_of(self, case: Disagreement) -> Settlement | None:
        """How a disagreement was settled; None where its labels, or what they are about, have changed since."""
        found = self.settled.get(case.item.key)
        return found if found is not None and found.settles(case) else None

    def press(self, press: Press) -> None:
        """Choose Pass (p) or Fail (f), store it with its reason (Enter), back, skip (ArrowRight)."""
        self.said = ""
        if self._file is None or not self.open:
            return
        if press.key in VERDICTS and self.position < len(self.open):
            self.verdict = VERDICTS[press.key]
            self.said = "Now the reason, then Enter"
        elif press.key == "Enter" and self.position < len(self.open):
            self._store(self._file, self.open[self.position], (press.text or "").strip())
        elif press.key == "ArrowRight":
            self._go(min(self.position + 1, len(self.open)))
        elif press.key in ("ArrowLeft", "Backspace"):
            self._go(max(0, self.position - 1))

    def page(self) -> str:
        """The disagreement with both labels, or what is waited for, or the end."""
        case = self.open[self.position] if self.position < len(self.open) else None
        settlement = self.settlement_of(case) if case else None
        return fill(
            "desk_settle.html.j2",
            session=self,
            case=case,
            item=case.item if case else None,
            shown=shown_item(case.item) if case else None,
            lang=language_of(case.item.task.language) if case else "",
            verdict=verdict_word(self.verdict),
            reason=settlement.reason if settlement else "",
        )

    def close(self) -> None:
        """Take no more answers, and let another notebook write to the file."""
        if self._file is not None:
            self._file.release()

    def _store(self, file: AnswerFile[Settlement], case: Disagreement, reason: str) -> None:
        if self.verdict is None:
            self.said = "Choose Pass or Fail first"
            return
        if not reason:
            self.said = "Give the reason, then Enter"
            return
        task_id, rubric_id, report = case.item.key
        settlement = Settlement(
            annotator=self.name,
            answered=now(),
            task_id=task_id,
            rubric_id=rubric_id,
            report=report,
            satisfied=self.verdict,
            reason=reason,
            labels=case.verdicts,
            fingerprint=case.item.fingerprint,
        )
        file.append(settlement)
        self.settled[case.item.key] = settlement
        word = verdict_word(self.verdict)
        self._go(self._next_open(self.position))
        self.said = f"Stored: {word}"

    def _go(self, position: int) -> None:
        self.position = position
        self._take_up()

    def _take_up(self) -> None:
        settlement = self.settlement_of(self.open[self.position]) if self.position < len(self.open) else None
        self.verdict = settlement.satisfied if settlement else None

    def _next_open(self, position: int) -> int:
        return next_open([self.settlement_of(one) is None for one in self.open], position)
