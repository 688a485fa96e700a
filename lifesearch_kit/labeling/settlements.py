"""Settlements of disagreements, agreement once all have finished, and the reference labels that come of both."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pandas as pd

from lifesearch_kit.agreement.annotators import MEAN_PAIRWISE, PAIR, annotator_summary
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import Id
from lifesearch_kit.files import read_labels, write_jsonl
from lifesearch_kit.frames import labels_frame
from lifesearch_kit.labeling.answer_files import REFERENCE, Answer, AnswerFile, latest, people
from lifesearch_kit.labeling.gathered import Disagreement, Study
from lifesearch_kit.labeling.labels import ITEM_KEY
from lifesearch_kit.paths import replacing
from lifesearch_kit.records import Label

SETTLEMENTS = "settlements"


class Settlement(Answer):
    """How a disagreement was settled: the verdict, its reason, and the labels that it settles (annotator: verdict)."""

    task_id: Id
    rubric_id: Id
    report: Id
    satisfied: bool
    reason: str
    labels: dict[str, bool]
    fingerprint: str = ""

    def settles(self, case: Disagreement) -> bool:
        """Whether it is about these labels of this item as it is now."""
        return self.fingerprint == case.item.fingerprint and self.labels == case.verdicts


def settlement_file(folder: Path, name: str) -> AnswerFile[Settlement]:
    """The file of what one person settled in a folder of labels."""
    return AnswerFile(folder / SETTLEMENTS, name, Settlement)


def read_settlements(folder: Path) -> list[Settlement]:
    """Everybody's settlements, the latest last. Raises InputError as `AnswerFile.read`, for all files together."""
    found: list[Settlement] = []
    faults: list[str] = []
    for name in people(folder / SETTLEMENTS):
        try:
            found += settlement_file(folder, name).read()
        except InputError as error:
            faults += error.faults
    if faults:
        raise InputError(faults)
    return sorted(found, key=lambda one: one.answered)


def agreement_words(study: Study) -> str:
    """Say how well annotators agree, with its interval; before all have finished, say only how far they are."""
    if len(study.annotators) < 2:
        return "Agreement needs two annotators."
    items, names = len(study.items), study.annotators
    if not study.finished:
        waiting = [f"{row.annotator} {row.labelled} of {row.items}" for row in study.progress().itertuples()]
        return f"Agreement is told when all have finished; labelled so far: {', '.join(waiting)}."
    summary = annotator_summary(labels_frame(study.current_labels())).set_index("measure")
    row = summary.loc[PAIR] if len(names) == 2 else summary.loc[MEAN_PAIRWISE]
    measure = PAIR if len(names) == 2 else MEAN_PAIRWISE.capitalize().replace("cohen", "Cohen")
    alike = f"{', '.join(names)}: the same label for {items - len(study.disagreements())} of {items} rubrics."
    if pd.isna(row["value"]):
        return f"{alike} {measure} is undefined: {row['reason']}."
    interval = (
        f"no interval: {row['interval_reason']}"
        if pd.isna(row["low"])
        else f"95% interval {row['low']:.3f} to {row['high']:.3f} over {row['clusters']} tasks"
    )
    return f"{alike} {measure} is {row['value']:.3f} ({interval})."


def reference_labels(study: Study, settlements: Iterable[Settlement]) -> list[Label]:
    """What annotators agree on, and what was settled where they do not, as labels of the annotator ``reference``.

    Returns
    -------
    list of Label
        A label an item, in the items' order; the reason of a settlement is its note.

    Raises
    ------
    InputError
        When an annotator has not finished, or a disagreement is not settled, counting them.
    """
    faults = [
        f"annotator {row.annotator!r} has labelled {row.labelled} of {row.items} rubrics; a reference needs all"
        for row in study.progress().itertuples()
        if not row.finished
    ]
    if faults or not study.annotators:
        raise InputError(faults or "nobody has labelled anything; a reference needs labels")
    settled = latest(settlements, *ITEM_KEY)
    by_item = study.by_item()
    differing = {one.item.key: one for one in study.disagreements()}
    open_cases = [key for key, case in differing.items() if key not in settled or not settled[key].settles(case)]
    if open_cases:
        raise InputError(f"{len(open_cases)} of {len(differing)} disagreements are not settled; settle them first")
    reference = []
    for item in study.items:
        label = by_item[item.key][study.annotators[0]]
        update: dict[str, object] = {"annotator": REFERENCE, "note": "", "fingerprint": item.fingerprint}
        if item.key in differing:
            update |= {"satisfied": settled[item.key].satisfied, "note": settled[item.key].reason}
        reference.append(label.model_copy(update=update))
    return reference


def write_reference(study: Study, settlements: Iterable[Settlement], folder: Path) -> Path:
    """Write labels.csv (each annotator's labels and the reference) and reports.jsonl (what was labelled).

    Raises
    ------
    InputError
        As `reference_labels`; also where the folder holds a labels.csv of other annotators.
    """
    target = folder / "labels.csv"
    names = {*study.annotators, REFERENCE}
    strangers = {one.annotator for one in read_labels(target)} - names if target.exists() else set()
    if strangers:
        raise InputError(f"{target}: holds labels of {', '.join(sorted(strangers))} and is not replaced; move it away")
    labels = [*study.current_labels(), *reference_labels(study, settlements)]
    rows = [one.model_dump() | {"satisfied": "Pass" if one.satisfied else "Fail"} for one in labels]
    write_jsonl(folder / "reports.jsonl", {item.key[2]: item.report for item in study.items}.values())
    with replacing(target) as temporary:
        pd.DataFrame(rows).to_csv(temporary, index=False)
    return target
