"""Tables of judgments from signs, short enough to count by hand."""

from __future__ import annotations

import pandas as pd


def judgments_of_signs(system: str, judge: str, *repeats: str) -> pd.DataFrame:
    """A text a repeat, tasks apart by spaces, reports by slashes: + true, - false, ? unjudged, a dot no judgment."""
    meaning = {"+": True, "-": False, "?": None}
    rows = [
        (system, f"T{number}", run, f"R{at}", judge, repeat, meaning[sign])
        for repeat, text in enumerate(repeats, 1)
        for number, task in enumerate(text.split())
        for run, signs in enumerate(task.split("/"), 1)
        for at, sign in enumerate(signs)
        if sign != "."
    ]
    columns = ["system", "task_id", "run", "rubric_id", "judge", "repeat", "satisfied"]
    return pd.DataFrame(rows, columns=columns).astype({"satisfied": "boolean"})
