"""The baseline researchers: one table of the ways in which they differ."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Variant:
    """How one baseline researcher works.

    Parameters
    ----------
    queries
        Searches at most; 0 means that it never searches.
    queries_per_step, reads_per_step
        Tool calls that one step may make.
    pages
        Addresses read at most.
    later_parts
        Whether it also reads the further parts of long pages.
    minds_cutoff
        Whether it leaves out pages dated after the question's cutoff.
    asks_back
        Whether it asks the user where the question looks ambiguous.
    computes
        Whether it works out changes between figures with the python tool.
    sentences
        Evidence sentences kept for each sub-requirement.
    reconciles
        Whether it compares sources and says where they disagree.
    terse
        Whether the report is a bare list without headings, comparisons and computed changes.
    """

    queries: int
    pages: int
    sentences: int
    queries_per_step: int = 2
    reads_per_step: int = 2
    later_parts: bool = False
    minds_cutoff: bool = True
    asks_back: bool = False
    computes: bool = False
    reconciles: bool = True
    terse: bool = False


_STANDARD = Variant(queries=3, pages=4, sentences=3)

VARIANTS: dict[str, Variant] = {
    "baseline-researcher-thorough": Variant(queries=9, pages=9, sentences=7, later_parts=True, computes=True),
    "baseline-researcher-standard": _STANDARD,
    "baseline-researcher-quick": Variant(queries=1, pages=2, sentences=2, reconciles=False),
    "baseline-researcher-undated": replace(_STANDARD, minds_cutoff=False),
    "baseline-researcher-cautious": replace(_STANDARD, asks_back=True),
    "baseline-researcher-terse": Variant(queries=9, pages=9, sentences=1, later_parts=True, terse=True),
    "baseline-researcher-closed-book": Variant(queries=0, pages=0, sentences=0, reconciles=False),
}
