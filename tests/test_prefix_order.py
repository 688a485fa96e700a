"""Of those that share a prefix one goes first and alone; nothing is handed out twice or left behind."""

from __future__ import annotations

import asyncio
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.judge.prefix_order import PrefixOrder


def handed_out(units: list[str], workers: int, delays: dict[str, int] | None = None) -> list[tuple[str, str]]:
    """What workers did, as ("begun" or "ended", unit); a unit's first letter is its prefix."""
    seen: list[tuple[str, str]] = []

    async def work(order: PrefixOrder[str]) -> None:
        while (unit := await order.take()) is not None:
            seen.append(("begun", unit))
            for _ in range((delays or {}).get(unit, 1)):
                await asyncio.sleep(0)
            seen.append(("ended", unit))
            order.finish(unit)

    async def all_of_them() -> None:
        order = PrefixOrder(units, lambda unit: unit[0])
        async with asyncio.TaskGroup() as group:
            for _ in range(workers):
                group.create_task(work(order))

    asyncio.run(all_of_them())
    return seen


def test_followers_wait_for_the_first_and_go_before_another_prefix():
    seen = handed_out(["a1", "b1", "a2", "b2", "a3"], workers=1)
    assert [unit for what, unit in seen if what == "begun"] == ["a1", "a2", "a3", "b1", "b2"]


def test_several_prefixes_are_begun_at_once_and_their_followers_go_out_together():
    seen = handed_out(["a1", "a2", "a3", "b1", "b2", "b3"], workers=2, delays={"b1": 5, "a2": 3, "a3": 3})
    begun = [unit for what, unit in seen if what == "begun"]
    assert begun[:2] == ["a1", "b1"]
    assert seen.index(("begun", "a2")) > seen.index(("ended", "a1"))
    assert seen.index(("begun", "b2")) > seen.index(("ended", "b1"))


@given(
    st.lists(st.tuples(st.sampled_from("abcd"), st.integers(0, 99)), unique=True),
    st.integers(1, 6),
    st.dictionaries(st.integers(0, 99), st.integers(0, 5)),
)
def test_each_unit_goes_out_once_and_none_before_the_first_of_its_prefix_has_ended(named, workers, delays):
    units = [f"{prefix}{number:02d}" for prefix, number in named]
    seen = handed_out(units, workers, {unit: delays.get(int(unit[1:]), 1) for unit in units})
    assert Counter(unit for what, unit in seen if what == "begun") == Counter(units)
    for prefix in {unit[0] for unit in units}:
        own = [unit for unit in units if unit[0] == prefix]
        for follower in own[1:]:
            assert seen.index(("ended", own[0])) < seen.index(("begun", follower))


def test_nothing_to_do_ends_at_once():
    assert handed_out([], workers=3) == []
