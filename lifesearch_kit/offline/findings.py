"""What one check of the baseline judge found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """One check: whether it held, and a few words on what was found or missing."""

    holds: bool
    said: str
