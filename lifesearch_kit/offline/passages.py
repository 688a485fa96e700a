"""Passages of a report that speak of a matter: segments whose neighbourhood holds its terms, or one of its numbers."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable

from lifesearch_kit.offline.features import Features
from lifesearch_kit.offline.quantities import Quantity


def best_windows(
    report: Features, weights: dict[str, float], echo: frozenset[str] = frozenset(), count: int = 3
) -> list[tuple[float, int]]:
    """The segments whose neighbourhood (one segment on either side, its heading) holds most of the weighted terms.

    A segment without any term beyond `echo`, the terms of the question, only repeats the question and is passed over.

    Returns
    -------
    list of (float, int)
        Share of the total weight (0..1) and the segment's number, best first.
    """
    total = sum(weights.values())
    own = [0.0] * len(report.segments)
    for term, weight in weights.items():
        for at in report.where.get(term, ()):
            own[at] += weight
    if not total or not any(own):
        return []
    top = sorted(range(len(own)), key=lambda at: (-own[at], at))[: 4 * count]
    found = [
        (share_near(report, at, weights, total), at) for at in top if own[at] and not echo >= report.segments[at].terms
    ]
    return sorted(found, key=lambda one: (-one[0], one[1]))[:count]


def share_near(report: Features, at: int, weights: dict[str, float], total: float) -> float:
    """Share of the weighted terms in the neighbourhood of a segment."""
    near = report.near[at]
    return sum(weight for term, weight in weights.items() if term in near) / total


def quantity_places(report: Features, wanted: Quantity) -> list[int]:
    """The segments that hold a number which satisfies `wanted`."""
    slack = wanted.step + 1e-9 * max(1.0, wanted.high)
    first = bisect_left(report.numbers, wanted.low - slack, key=lambda one: one[0])
    places = set()
    for value, number, at in report.numbers[first:]:
        if value > wanted.high + slack:
            break
        if wanted.matches(number):
            places.add(at)
    return sorted(places)


def context_share(report: Features, places: Iterable[int], weights: dict[str, float]) -> float:
    """The best share of the weighted terms around any of the places, 0 to 1."""
    total = sum(weights.values())
    if not total:
        return 1.0
    return max((share_near(report, at, weights, total) for at in places), default=0.0)
