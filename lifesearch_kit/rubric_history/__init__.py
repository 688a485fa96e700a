"""Who changed which rubric when and why: annotate, inspect, revise, as the LifeSearch paper's quality control has it.

A history is a file beside the tasks, ``rubric_history.jsonl``, to which lines are only added.
"""

from lifesearch_kit.rubric_history.changes import STATES, Change
from lifesearch_kit.rubric_history.history import read_history, record_change, record_edits
from lifesearch_kit.rubric_history.stale import stale_judgments
from lifesearch_kit.rubric_history.tables import changes_table, current_tasks, rubric_states
from lifesearch_kit.rubric_history.work_list import work_list

__all__ = [
    "STATES",
    "Change",
    "changes_table",
    "current_tasks",
    "read_history",
    "record_change",
    "record_edits",
    "rubric_states",
    "stale_judgments",
    "work_list",
]
