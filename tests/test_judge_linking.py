"""Two judges on the same reports: the line between their scores, systems' order by each, and both figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit import plots
from lifesearch_kit.errors import InputError
from lifesearch_kit.judge_error.corrected_scores import COMBINED, HELD, PREDICTION_POWERED, RAW, ROGAN_GLADEN
from lifesearch_kit.judge_error.linking import FEWEST_LINKED_TASKS, JudgeLink, link_judges, linked_scores
from lifesearch_kit.judge_error.orders import judge_rankings, order_changes, shared_scores
from lifesearch_kit.judge_error.sums import ALL_SYSTEMS

mpl.use("agg")


@pytest.fixture(autouse=True)
def fresh_matplotlib() -> Iterator[None]:
    with mpl.rc_context():
        yield
    plt.close("all")


def rng() -> np.random.Generator:
    return np.random.default_rng(1)


def scores_of(**judges: Any) -> pd.DataFrame:
    """Scores by judge: a row a system (A, B ...), a column a task; NaN where rubrics are unjudged."""
    rows = [
        ("ABCDEFGHIJKLMNOP"[system], f"T{task}", 1, judge, 1, score, int(np.isnan(score)))
        for judge, table in judges.items()
        for system, of_system in enumerate(np.asarray(table, dtype=float))
        for task, score in enumerate(of_system)
    ]
    columns = ["system", "task_id", "run", "judge", "repeat", "score", "unjudged"]
    return pd.DataFrame(rows, columns=columns).assign(no_report=False, missing=False)


def test_a_link_by_hand() -> None:
    # Old: 0.2 and 0.6 in turn, mean 0.4, deviation 0.2. New: 0.5 and 0.6, or 0.4 and 0.7, mean 0.55, deviation
    # sqrt((2 * 0.05^2 + 2 * 0.15^2) / 4) = sqrt(0.0125). Covariance (0.2 * 0.05 + 0.2 * 0.15) / 2 = 0.02.
    old, new = [[0.2, 0.6] * 4], [[0.5, 0.6, 0.4, 0.7] * 2]
    link = link_judges(scores_of(old=old, new=new), "old", "new", rng())
    slope = np.sqrt(0.0125) / 0.2
    assert link.slope == pytest.approx(slope)
    assert link.intercept_pct == pytest.approx(100 * (0.55 - slope * 0.4))
    assert link.correlation == pytest.approx(0.02 / (0.2 * np.sqrt(0.0125)))
    assert (link.tasks, link.reports, link.systems) == (8, 8, 1)
    table = linked_scores(link, pd.DataFrame({"system": ["A"], "score_pct": [40.0]}))
    assert table.loc[0, "linked_pct"] == pytest.approx(55)
    assert table.loc[0, "line_low_pct"] < 55 < table.loc[0, "line_high_pct"]
    # One system does not show how far systems lie from the line.
    assert pd.isna(table.loc[0, "low_pct"])
    assert "5 are needed" in table.loc[0, "note"]


def test_systems_away_from_the_line_widen_the_interval() -> None:
    # The new judge gives half of the old score and 10 points, and to five systems 4, -4, 0, 2, -2 points on top: linked
    # means are nearly half of the old ones plus 10, so that the scatter is nearly sqrt((16 + 16 + 4 + 4) / 3) = 3.65.
    old = np.linspace(0.1, 0.9, 40) + np.zeros((5, 1))
    extra = np.array([[0.04], [-0.04], [0.0], [0.02], [-0.02]])
    link = link_judges(scores_of(old=old, new=0.1 + old / 2 + extra), "old", "new", rng())
    assert link.scatter_pct == pytest.approx(np.sqrt(40 / 3), abs=0.05)
    row = linked_scores(link, pd.DataFrame({"system": ["X"], "score_pct": [50.0]})).iloc[0]
    # 3 degrees of freedom: t = 3.182.
    assert row["high_pct"] - row["linked_pct"] == pytest.approx(3.182 * 3.65, rel=0.03)
    assert row["line_high_pct"] - row["line_low_pct"] < 2
    assert row["note"] == ""


@settings(max_examples=25)
@given(st.floats(0.3, 1.0), st.floats(0.0, 0.3), st.integers(0, 1000))
def test_an_exact_line_is_found_and_the_way_back_is_its_inverse(slope: float, intercept: float, seed: int) -> None:
    old = np.random.default_rng(seed).random((2, 10)) * 0.6
    scores = scores_of(old=old, new=intercept + slope * old)
    there, back = link_judges(scores, "old", "new", rng(), 50), link_judges(scores, "new", "old", rng(), 50)
    assert there.slope == pytest.approx(slope)
    assert there.intercept_pct == pytest.approx(100 * intercept, abs=1e-6)
    assert back.slope == pytest.approx(1 / slope)
    row = linked_scores(there, pd.DataFrame({"system": ["A"], "score_pct": [30.0]})).iloc[0]
    assert row[["linked_pct", "line_low_pct", "line_high_pct"]].to_numpy(float) == pytest.approx(
        100 * (intercept + slope * 0.3)
    )


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ([[0.1, 0.9] * 3], [[0.2, 0.8] * 3], "they share 6 tasks, and 8 are needed"),
        ([[0.1, 0.9] * 3 + [np.nan] * 4], [[0.2, 0.8] * 5], "they share 6 tasks"),
        ([[0.1, 0.9] * 5], [[0.5] * 10], "scores all reports alike"),
        ([[0.1, 0.9] * 5], [[0.8, 0.2] * 5], "not seen to rise together"),
        ([[0.1, 0.9] * 6], [[0.2, 0.2, 0.8, 0.8] * 3], "not seen to rise together (r = 0.00)"),
    ],
)
def test_judges_that_cannot_be_linked(old: list[list[float]], new: list[list[float]], reason: str) -> None:
    link = link_judges(scores_of(old=old, new=new), "old", "new", rng())
    assert link.slope is None
    assert reason in link.reason
    assert reason in link.in_words()
    table = linked_scores(link, pd.DataFrame({"system": ["A"], "score_pct": [40.0]}))
    assert table[["linked_pct", "low_pct", "line_low_pct"]].isna().all(axis=None)
    assert reason in table.loc[0, "note"]


def test_reports_without_a_text_are_not_linked() -> None:
    scores = scores_of(old=[[0.2, 0.6] * 5], new=[[0.3, 0.5] * 5])
    scores.loc[scores["task_id"] == "T0", ["score", "no_report"]] = [0.0, True]
    assert link_judges(scores, "old", "new", rng()).reports == 9
    assert len(shared_scores(scores, "old", "new")) == 10


@pytest.mark.parametrize(("old", "new"), [("old", "else"), ("old", "old")])
def test_a_judge_that_did_not_grade_is_refused(old: str, new: str) -> None:
    scores = scores_of(old=[[0.2] * 8], new=[[0.3] * 8])
    for function in (link_judges, order_changes):
        with pytest.raises(InputError, match="name two of those that graded, 'old', 'new'"):
            function(scores, old, new, rng())


def test_the_old_judges_missing_score_is_told() -> None:
    link = JudgeLink("old", "new", 8, 8, 1, 1.0, 0.0, 1.0, draws=np.array([[1.0, 0.0]]))
    table = linked_scores(link, pd.DataFrame({"system": ["A"], "score_pct": pd.array([pd.NA], dtype="Float64")}))
    assert pd.isna(table.loc[0, "linked_pct"])
    assert table.loc[0, "note"] == "the old judge's score is missing"


def test_order_changes_by_hand() -> None:
    # Old: B 0.6, C 0.5, A 0.4. New: A 0.7, B 0.5, C 0.5: A passes both, B and C are tied and so no change.
    change = np.array([0.02, -0.02] * 4)
    old = [0.4 + change, [0.6] * 8, [0.5] * 8]
    new = [0.7 + change, [0.5] * 8, [0.5] * 8]
    table = order_changes(scores_of(old=old, new=new), "old", "new", rng())
    assert table[["system_a", "system_b"]].to_numpy().tolist() == [["B", "A"], ["C", "A"]]
    assert table["old_difference_pct"].to_numpy() == pytest.approx([20, 10])
    assert table["new_difference_pct"].to_numpy() == pytest.approx([-20, -20])
    assert (table["old_low_pct"] < table["old_difference_pct"]).all()
    assert (table["old_difference_pct"] < table["old_high_pct"]).all()
    assert table["beyond_chance"].all()
    assert (table["note"] == "").all()
    # Orders B C A against A (B C): pairs B-C tied by one, both others turned.
    agreement = judge_rankings(scores_of(old=old, new=new), "old", "new")
    assert agreement.kendall.value == pytest.approx(-2 / np.sqrt(3 * 2))


def test_a_change_on_one_task_is_not_beyond_chance() -> None:
    table = order_changes(scores_of(old=[[0.4], [0.6]], new=[[0.6], [0.4]]), "old", "new", rng())
    assert pd.isna(table.loc[0, "beyond_chance"])
    assert table.loc[0, "note"] == "few shared tasks, so no intervals"


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_the_same_pairs_change_whichever_judge_is_the_old_one(seed: int) -> None:
    old, new = np.random.default_rng(seed).integers(0, 5, (2, 4, 3)) / 5
    scores = scores_of(old=old, new=new)
    there, back = (order_changes(scores, *pair, rng(), 20) for pair in (("old", "new"), ("new", "old")))
    pairs = [{frozenset(pair) for pair in table[["system_a", "system_b"]].to_numpy()} for table in (there, back)]
    assert pairs[0] == pairs[1]
    assert (there["old_difference_pct"] > 0).all()
    assert (there["new_difference_pct"] < 0).all()


@pytest.mark.slow
@pytest.mark.parametrize("tasks", [FEWEST_LINKED_TASKS, 20])
def test_intervals_of_the_line_and_of_a_further_system_cover(tasks: int) -> None:
    # Systems and tasks differ, both judges err, and the new one favours systems by 3 points (standard deviation).
    source, systems, times, noise = np.random.default_rng(1), 8, 600, 0.1**2 + 0.1**2 + 0.06**2
    of_line = of_system = 0
    for _ in range(times):
        level, favour = source.normal(0.5, 0.1, systems + 1), source.normal(0, 0.03, systems + 1)
        quality = level[:, None] + source.normal(0, 0.1, tasks) + source.normal(0, 0.1, (systems + 1, tasks))
        old = quality + source.normal(0, 0.06, quality.shape)
        new = 0.1 + 0.8 * (quality + source.normal(0, 0.06, quality.shape)) + favour[:, None]
        # The last system is the further one. With any number of tasks, the line of the others would be this one.
        link = link_judges(scores_of(old=old[:-1], new=new[:-1]), "old", "new", source, 300)
        by_old, by_new = level[:-1], 0.1 + 0.8 * level[:-1] + favour[:-1]
        slope = np.sqrt((by_new.var() + 0.8**2 * noise) / (by_old.var() + noise))
        line = 100 * (by_new.mean() + slope * (0.6 - by_old.mean()))
        asked = pd.DataFrame({"system": ["line", "further"], "score_pct": [60.0, 100 * old[-1].mean()]})
        table = linked_scores(link, asked).set_index("system")
        of_line += table.loc["line", "line_low_pct"] <= line <= table.loc["line", "line_high_pct"]
        of_system += table.loc["further", "low_pct"] <= 100 * new[-1].mean() <= table.loc["further", "high_pct"]
    # Two standard errors of a share of 600 are 1.8 points.
    assert 0.91 <= of_line / times <= 0.97
    assert 0.93 <= of_system / times <= 0.98


def test_the_figure_of_corrected_scores_shows_every_number_and_says_where_there_is_none() -> None:
    rows = [
        ("甲 A", RAW, 50.0, 40.0, 60.0, "", ""),
        ("甲 A", PREDICTION_POWERED, 55.0, 42.0, 68.0, "own", ""),
        ("甲 A", COMBINED, 53.0, 42.0, 68.0, "own", ""),
        ("甲 A", ROGAN_GLADEN, 57.0, 41.0, 73.0, ALL_SYSTEMS, ""),
        ("B", RAW, 30.0, np.nan, np.nan, "", "one task"),
        ("B", PREDICTION_POWERED, 0.0, 0.0, 4.0, ALL_SYSTEMS, f"-1.0 before it was {HELD}"),
        ("B", ROGAN_GLADEN, np.nan, np.nan, np.nan, "", "no number"),
    ]
    table = pd.DataFrame(rows, columns=["system", "method", "score_pct", "low_pct", "high_pct", "labels_from", "note"])
    ax = plots.corrected_intervals(table, ["甲 A", "B"], note="n = 9")
    drawn = np.concatenate(
        [np.asarray(one.get_offsets())[:, 0] for one in ax.collections if hasattr(one, "get_offsets")]
    )
    assert {50.0, 55.0, 57.0, 30.0} <= set(drawn[np.isfinite(drawn)])
    ticks = [line for line in ax.lines if "combined" in str(line.get_label())]
    assert [np.asarray(line.get_xdata())[0] for line in ticks] == [53.0]
    assert [text.get_text() for text in ax.texts].count("no number") == 1
    assert [text.get_text() for text in ax.texts].count(HELD) == 1
    assert "hollow" in ax.get_legend_handles_labels()[1][-1]
    assert [label.get_text() for label in ax.get_yticklabels()] == ["甲 A", "B"]


@pytest.mark.parametrize("linked", [True, False])
def test_the_figure_of_a_link_shows_reports_systems_and_the_line(linked: bool) -> None:
    scores = scores_of(old=[[0.2, 0.6] * 5, [0.1, 0.4] * 5], new=[[0.3, 0.5] * 5, [0.2, 0.5] * 5])
    link = link_judges(scores, "old", "new", rng())
    if not linked:
        link = JudgeLink("old", "new", link.tasks, link.reports, link.systems, reason="too few")
    ax = plots.judge_link(link, shared_scores(scores, "old", "new"), plots.system_looks(["A", "B"]), note="n = 20")
    words = ax.get_legend_handles_labels()[1]
    assert ("mean and variance linking" in words) == linked
    assert {"A", "B"} <= {text.get_text() for text in ax.texts}
