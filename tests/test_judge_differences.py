"""Pairs of judges on the same labelled rubrics, small enough to know the answer."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from verdict_signs import judgments_of_signs

from lifesearch_kit.agreement.judge_differences import judge_differences
from lifesearch_kit.errors import InputError

FIGURES = ["difference_pct", "low_pct", "high_pct"]


def rng() -> np.random.Generator:
    return np.random.default_rng(7)


def labels_of(*tasks: str) -> pd.DataFrame:
    """Labels, a text a task and its reports apart by slashes: + is Pass, - is Fail."""
    rows = [
        ("A", f"T{number}", run, f"R{at}", "reference", sign == "+")
        for number, text in enumerate(tasks)
        for run, signs in enumerate(text.split("/"), 1)
        for at, sign in enumerate(signs)
    ]
    return pd.DataFrame(rows, columns=["system", "task_id", "run", "rubric_id", "annotator", "satisfied"])


def judgments_of(judge: str, *repeats: str) -> pd.DataFrame:
    return judgments_of_signs("A", judge, *repeats)


def test_a_pair_by_hand() -> None:
    judgments = pd.concat([judgments_of("a", "++ ++ +-"), judgments_of("b", "+- ++ --", "-- ++ +-")])
    row = judge_differences(judgments, labels_of("++", "++", "+-"), rng()).iloc[0]
    # a: all 6 right. b: (1/2 + 0) + (1 + 1) + (1/2 + 1) = 4 of 6.
    assert list(row[["judge_a", "judge_b", "tasks", "reports", "rubrics"]]) == ["a", "b", 3, 3, 6]
    assert row["accuracy_a_pct"] == pytest.approx(100)
    assert row["accuracy_b_pct"] == pytest.approx(100 * 4 / 6)
    assert row["difference_pct"] == pytest.approx(100 * 2 / 6)


def test_an_interval_is_over_tasks_and_weighs_them_by_their_rubrics() -> None:
    # a is right throughout; b is wrong on the 3 rubrics of each of the first three tasks and right on the 1 of each of
    # the others. Drawing k of the first gives 3k / (3k + 6 - k). With 6 tasks the percentiles read are those beyond
    # sqrt(6 / 5) * 2.571 = 2.816 standard errors, 0.24% and 99.76%; k = 0 or 6 has a probability of 1/64 each, so they
    # are the extremes: 0 and 100. A mean of tasks' differences would be 50 instead of 9/12.
    judgments = pd.concat([judgments_of("a", "+++ +++ +++ + + +"), judgments_of("b", "--- --- --- + + +")])
    row = judge_differences(judgments, labels_of(*["+++"] * 3, *["+"] * 3), rng()).iloc[0]
    assert list(row[FIGURES]) == pytest.approx([75, 0, 100])
    assert not row["beyond_chance"]


def test_reports_of_one_task_are_drawn_together() -> None:
    # 12 reports, of 6 tasks with two reports each or of 12 tasks: a is right throughout, b on half of the reports. With
    # two reports judged alike on each task there is as much to learn as from the 6.
    signs = "+-+-+-"
    pairs, singles = (" ".join(form.format(one) for one in signs) for form in ("{0}/{0}", "{0}"))
    rows = []
    for text, task in ((pairs, "+/+"), (singles, "+")):
        judgments = pd.concat([judgments_of("a", text.replace("-", "+")), judgments_of("b", text)])
        rows.append(judge_differences(judgments, labels_of(*[task] * 6), rng()).iloc[0])
    assert [list(row[["tasks", "reports", "rubrics"]]) for row in rows] == [[6, 12, 12], [6, 6, 6]]
    assert list(rows[0][FIGURES]) == pytest.approx(list(rows[1][FIGURES]))
    # Apart they are 12 tasks, and the interval is narrower.
    apart = pairs.replace("/", " ")
    judgments = pd.concat([judgments_of("a", apart.replace("-", "+")), judgments_of("b", apart)])
    row = judge_differences(judgments, labels_of(*["+"] * 12), rng()).iloc[0]
    assert list(row[["tasks", "reports", "difference_pct"]]) == [12, 12, 50]
    assert rows[0]["low_pct"] < row["low_pct"] < row["high_pct"] < rows[0]["high_pct"]


@pytest.mark.parametrize(
    ("tasks", "level", "enough"),
    [
        # Chance gives n equal signs with probability 2 * 0.5^n: 1/2, 1/16 = 0.0625, 1/32 = 0.03125, 1/128 = 0.0078125.
        *((1, 0.95, False), (2, 0.95, False), (5, 0.95, False), (6, 0.95, True)),
        *((5, 0.9, True), (4, 0.9, False), (7, 0.99, False), (8, 0.99, True)),
    ],
)
def test_fewer_tasks_than_can_tell_have_no_interval(tasks: int, level: float, enough: bool) -> None:
    # a is right and b is wrong on every task: as one-sided as it can be.
    judgments = pd.concat([judgments_of("a", " ".join("+" * tasks)), judgments_of("b", " ".join("-" * tasks))])
    row = judge_differences(judgments, labels_of(*"+" * tasks), rng(), 200, level).iloc[0]
    assert list(row[["tasks", "difference_pct"]]) == [tasks, 100]
    if enough:
        assert list(row[["low_pct", "high_pct", "beyond_chance"]]) == [100, 100, True]
    else:
        assert row[["low_pct", "high_pct", "beyond_chance"]].isna().all()


def test_several_reports_of_one_task_are_one_task() -> None:
    judgments = pd.concat([judgments_of("a", "/".join("+" * 8)), judgments_of("b", "/".join("-" * 8))])
    row = judge_differences(judgments, labels_of("/".join("+" * 8)), rng()).iloc[0]
    assert list(row[["tasks", "reports", "rubrics"]]) == [1, 8, 8]
    assert row[["low_pct", "high_pct", "beyond_chance"]].isna().all()


def test_rubrics_of_a_task_that_are_judged_alike_count_as_one_draw() -> None:
    # 20 tasks, all rubrics of each judged alike: a is right on the first 14, b on 8 of those. How many rubrics a task
    # has does not narrow the interval.
    a, b = "+" * 14 + "-" * 6, "-" * 4 + "+" * 8 + "-" * 8
    ends = []
    for size in (1, 10):
        judgments = pd.concat(
            [judgments_of(judge, " ".join(sign * size for sign in signs)) for judge, signs in (("a", a), ("b", b))]
        )
        ends.append(judge_differences(judgments, labels_of(*["+" * size] * 20), rng()).iloc[0])
    assert list(ends[0][FIGURES]) == pytest.approx(list(ends[1][FIGURES]))
    # a alone right on the first 4 and on T12 and T13, b never: the mean is 6/20 and its sample standard error is
    # sqrt(0.3 * 0.7 / 19) = 10.5 points, 2.093 of which (t with 19 degrees of freedom) are 22.0.
    assert ends[0]["difference_pct"] == pytest.approx(30)
    assert ends[0]["low_pct"] == pytest.approx(30 - 22.0, abs=3)
    assert ends[0]["high_pct"] == pytest.approx(30 + 22.0, abs=3)
    assert ends[0]["beyond_chance"]


def test_identical_judges_do_not_differ() -> None:
    passes = ["+- ++ -- +- ++ --", "++ -+ -? ++ -+ -?"]
    judgments = pd.concat([judgments_of(name, *passes) for name in ("a", "b")])
    row = judge_differences(judgments, labels_of(*["++", "++", "+-"] * 2), rng()).iloc[0]
    assert list(row[FIGURES]) == [0, 0, 0]
    assert not row["beyond_chance"]


def test_sums_that_differ_from_0_by_rounding_are_no_difference() -> None:
    # On each task a is right on R0 in all of 3 passes; b in 1, 1 and 1 of them on R0, R1 and R2: 1 and 3 times 1/3.
    a, b = ["+--"] * 3, ["+--", "-+-", "--+"]
    judgments = pd.concat(
        [judgments_of(name, *(" ".join([one] * 6) for one in rows)) for name, rows in (("a", a), ("b", b))]
    )
    row = judge_differences(judgments, labels_of(*["+++"] * 6), rng()).iloc[0]
    assert list(row[FIGURES]) == pytest.approx([0, 0, 0], abs=1e-12)
    assert not row["beyond_chance"]


def test_unjudged_is_never_wrong_and_only_shared_rubrics_count() -> None:
    judgments = pd.concat([judgments_of("a", "+? +-", "?? ++"), judgments_of("b", "-+ ?+", "-- ?+")])
    row = judge_differences(judgments, labels_of("++", "++"), rng()).iloc[0]
    # T0 R1 is unjudged by a in both passes, T1 R0 by b. Left: T0 R0, right by a (once, the other pass is unjudged) and
    # never by b; T1 R1, right by a in 1 of 2 and by b in 2 of 2. a: (1 + 1/2) / 2, b: (0 + 1) / 2.
    assert list(row[["reports", "rubrics"]]) == [2, 2]
    assert (row["accuracy_a_pct"], row["accuracy_b_pct"], row["difference_pct"]) == (75, 50, 25)


def test_pairs_keep_the_order_of_judges_and_those_that_share_nothing_have_no_figures() -> None:
    judgments = pd.concat([judgments_of("z", "+ ."), judgments_of("b", "- +"), judgments_of("c", ". +")])
    table = judge_differences(judgments, labels_of("+", "+"), rng())
    assert table[["judge_a", "judge_b"]].to_numpy().tolist() == [["z", "b"], ["z", "c"], ["b", "c"]]
    assert table["rubrics"].tolist() == [1, 0, 1]
    assert table.loc[1, ["accuracy_a_pct", "accuracy_b_pct", *FIGURES, "beyond_chance"]].isna().all()
    assert judge_differences(judgments_of("z", "+ +"), labels_of("+", "+"), rng()).empty


@pytest.mark.parametrize("verdicts", [("+?", "?+"), ("++", "??"), ("??", "??")])
def test_where_no_pair_shares_a_verdict_it_keeps_its_row(verdicts: tuple[str, str]) -> None:
    table = judge_differences(pd.concat(map(judgments_of, "ab", verdicts)), labels_of("++"), rng())
    assert table[["judge_a", "judge_b", "tasks", "reports", "rubrics"]].to_numpy().tolist() == [["a", "b", 0, 0, 0]]
    assert table[["accuracy_a_pct", "accuracy_b_pct", *FIGURES, "beyond_chance"]].isna().all(axis=None)


def test_what_is_no_reference_and_no_resampling_is_refused() -> None:
    both = pd.concat([judgments_of("a", "+?"), judgments_of("b", "?+")])
    labels = labels_of("++")
    with pytest.raises(InputError, match="no judgment is of a labelled rubric"):
        judge_differences(both.assign(run=2), labels, rng())
    with pytest.raises(InputError, match="'reference', 'other'"):
        judge_differences(both, pd.concat([labels, labels.assign(annotator="other")]), rng())
    with pytest.raises(InputError, match=r"R1.*changed"):
        judge_differences(both, labels.assign(stale=pd.array([False, True], dtype="boolean")), rng())
    for arguments in ({"level": 95}, {"resamples": 0}):
        with pytest.raises(InputError, match=r"95|resamples"):
            judge_differences(both, labels, rng(), **arguments)


VERDICTS = st.lists(st.text("+-?", min_size=2, max_size=2), min_size=7, max_size=7).map(" ".join)


@settings(max_examples=30, deadline=None)
@given(st.permutations("abc"), st.lists(st.tuples(VERDICTS, VERDICTS), min_size=3, max_size=3))
def test_the_order_of_judges_turns_the_sign_only(order: list[str], verdicts: list[tuple[str, str]]) -> None:
    labels = labels_of("++", "+-", "--", "-+", "++", "++", "--")
    own = {name: judgments_of(name, *repeats) for name, repeats in zip("abc", verdicts, strict=True)}
    table = judge_differences(pd.concat(own.values()), labels, rng(), 50)
    turned = judge_differences(pd.concat([own[name] for name in order]), labels, rng(), 50)
    rows = {(row.judge_a, row.judge_b): row for row in turned.itertuples()}
    for row in table.itertuples():
        same = rows.get((row.judge_a, row.judge_b))
        other = same or rows[row.judge_b, row.judge_a]
        ends = (other.low_pct, other.high_pct) if same else (-other.high_pct, -other.low_pct)
        assert (row.low_pct, row.high_pct) == pytest.approx(ends, nan_ok=True, abs=1e-9)
        assert pd.isna(row.low_pct) or -100 <= row.low_pct <= row.high_pct <= 100
        assert row.beyond_chance is other.beyond_chance
        assert pd.isna(row.low_pct) == pd.isna(row.beyond_chance) == (row.tasks < 6)


def test_judges_of_one_accuracy_are_seldom_told_apart() -> None:
    # 100 pairs of equally good judges on 10 tasks of 6 rubrics, judged alike within a task half of the time: an
    # interval at 95% leaves 0 outside in about 5 of them, and taking rubrics as independent in about 20.
    source = np.random.default_rng(3)
    beyond = 0
    for _ in range(100):
        whole = source.random((2, 10, 1)) < 0.7
        single = source.random((2, 10, 6)) < 0.7
        right = np.where(source.random((2, 10, 1)) < 0.5, whole, single)
        texts = [" ".join("".join("+" if one else "-" for one in task) for task in judge) for judge in right]
        judgments = pd.concat(itertools.starmap(judgments_of, zip("ab", texts, strict=True)))
        beyond += judge_differences(judgments, labels_of(*["+" * 6] * 10), rng(), 500)["beyond_chance"].sum()
    assert beyond <= 12


def test_the_paired_test_by_hand() -> None:
    # Gains of a over b by task: 1, 1, 1, 0, 0, -1, in all 2. Exchanged, the four that count add up to 2 or more in
    # 1 + 4 of 16 ways, and to -2 or less in as many.
    judgments = pd.concat([judgments_of("a", "+ + + + + -"), judgments_of("b", "- - - + + +")])
    row = judge_differences(judgments, labels_of(*"++++++"), rng()).iloc[0]
    assert row["p_value"] == pytest.approx(10 / 16)
    # Six gains of 1: only the two ways of equal signs reach 6.
    judgments = pd.concat([judgments_of("a", "+ + + + + +"), judgments_of("b", "- - - - - -")])
    assert judge_differences(judgments, labels_of(*"++++++"), rng()).iloc[0]["p_value"] == pytest.approx(2 / 64)
