"""The writing rules for rubrics (the LifeSearch paper, data section) as checks, each with the place and a remedy.

``python -m lifesearch_kit.rubric_checks tasks.jsonl`` runs them from a shell; a finding that is meant as it is can be
accepted with a reason (`read_accepted`).
"""

from lifesearch_kit.rubric_checks.checking import CHECKS, FINDING_COLUMNS, SEVERITIES, check_rubrics

__all__ = ["CHECKS", "FINDING_COLUMNS", "SEVERITIES", "check_rubrics"]
