"""Several annotators: kappas, alpha, intervals over clusters, real comparisons, and repairs of a labels file."""

from __future__ import annotations

import json
import os
import re
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as library_fleiss

from lifesearch_kit.agreement import annotators as kit
from lifesearch_kit.agreement.label_readings import label_readings
from lifesearch_kit.agreement.measures import Agreement, cohen_kappa
from lifesearch_kit.agreement.rater_measures import (
    fleiss_kappa,
    jackknife_interval,
    krippendorff_alpha,
    mean_pairwise_kappa,
)
from lifesearch_kit.errors import InputError
from lifesearch_kit.paths import ROOT
from lifesearch_kit.tables import write_table

MEASURES = [mean_pairwise_kappa, fleiss_kappa, krippendorff_alpha]
every_measure = pytest.mark.parametrize("measure", MEASURES, ids=lambda one: one.__name__)
COLUMNS = ["system", "task_id", "run", "rubric_id", "annotator", "satisfied"]


def table_of(*raters: str) -> np.ndarray:
    """A row an item, a column a rater, from one string a rater; a dot is a missing label."""
    return np.array([[None if sign == "." else sign for sign in rater] for rater in raters], dtype=object).T


def labels_of(**signs: str) -> pd.DataFrame:
    rows = [
        ("A", f"T{at // 2}", 1, f"R{at}", annotator, {"+": True, "-": False, "?": None}[sign])
        for annotator, row in signs.items()
        for at, sign in enumerate(row)
        if sign != "."
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"satisfied": "boolean"})


def test_fleiss_kappa_by_hand() -> None:
    # Items +++, ++-, ---, --+ of three raters: agreeing pairs 3, 1, 3, 1 of 3 each, so 8 / 12. Half of the labels are
    # +: chance 0.5. (2/3 - 1/2) / (1/2) = 1/3.
    table = table_of("++--", "++--", "+--+")
    assert fleiss_kappa(table).value == pytest.approx(1 / 3)
    # Labels missing on the last item: it is left out. 3, 1 and 3 of 9 pairs; 5 of 9 labels are +.
    chance = (5 / 9) ** 2 + (4 / 9) ** 2
    less = fleiss_kappa(table_of("++--", "++--", "+--."))
    assert less.value == pytest.approx((7 / 9 - chance) / (1 - chance))
    assert (less.n, less.reason) == (3, "left out, as not every rater labelled them: 1 of 4 items")


def test_krippendorffs_published_examples() -> None:
    # Krippendorff 2011, examples A (two observers, ten units) and C (four observers, twelve units, labels missing).
    assert krippendorff_alpha(table_of("0100000010", "1110010000")).value == pytest.approx(0.095, abs=5e-4)
    four = table_of("1233214" + "12...", "1233224125.3", ".33323422" + "51.", "12332441251.")
    found = krippendorff_alpha(four)
    assert found.value == pytest.approx(0.743, abs=5e-4)
    assert found.n == 11, "the twelfth unit has one value"


def test_alpha_by_hand() -> None:
    # Items ++, +-, --, --: one of four disagrees, 2 of 8 ordered pairs. 3 + and 5 -: 2 * 3 * 5 of 8 * 7 pairs differ.
    found = krippendorff_alpha(table_of("++--", "+---"))
    assert found.value == pytest.approx(1 - (2 / 8) / (30 / 56))


def test_mean_pairwise_kappa_takes_each_pair_over_what_both_labelled() -> None:
    table = table_of("++--", "+-+-", "++-.")
    # x and y: 2 of 4 agree, chance 1/2, kappa 0. x and z: all of 3 agree, 1. y and z over +-+ and ++-: 1 of 3 agrees,
    # chance (2/3)^2 + (1/3)^2 = 5/9: (1/3 - 5/9) / (4/9) = -1/2.
    found = mean_pairwise_kappa(table)
    assert found.value == pytest.approx((0 + 1 - 0.5) / 3)
    assert found.n == 4
    # A pair without a kappa is left out and told.
    assert mean_pairwise_kappa(table_of("++-", "++-", "++.")).value == pytest.approx(1.0)
    assert "2 of 3 undefined" in mean_pairwise_kappa(table_of("++-", "++-", "++.")).reason


@every_measure
@pytest.mark.parametrize(
    ("raters", "reason"),
    [
        (("+-+",), "1 rater: agreement needs two"),
        (("+++", "+++"), r"'?\+'?, so chance alone agrees always"),
        (("+-..", "..+-"), r"no items|no item has|not every rater labelled"),
    ],
)
def test_degenerate_labels_have_no_value_but_a_reason(measure, raters, reason) -> None:
    found = measure(table_of(*raters))
    assert found.value is None
    assert re.search(reason, found.reason)
    assert jackknife_interval(measure, table_of(*raters), range(len(raters[0]))).reason


tables = st.integers(2, 4).flatmap(
    lambda raters: st.lists(st.text("ab.", min_size=raters, max_size=raters), min_size=2, max_size=8)
)


@every_measure
@settings(max_examples=40, deadline=None)
@given(rows=tables, rng=st.randoms(use_true_random=False))
def test_order_of_items_and_raters_and_names_of_labels_do_not_matter(measure, rows, rng) -> None:
    table = table_of(*rows).T
    found = measure(table)
    assert found.value is None or -1 <= found.value <= 1 + 1e-12
    assert found.value is not None or found.reason
    items, raters = (rng.sample(range(size), size) for size in table.shape)
    renamed = np.vectorize({"a": 7, "b": "ä", None: np.nan}.get, otypes=[object])(table[items][:, raters])
    again = measure(renamed)
    assert again.n == found.n
    assert again.value == (None if found.value is None else pytest.approx(found.value))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("abc", min_size=3, max_size=3), min_size=1, max_size=9))
def test_alpha_is_fleiss_kappa_corrected_for_few_labels(rows: list[str]) -> None:
    table = table_of(*rows).T
    kappa, alpha = fleiss_kappa(table).value, krippendorff_alpha(table).value
    assume(kappa is not None)
    # Without missing labels both divide the same disagreement, by p(1-p) summed with and without replacement.
    assert 1 - alpha == pytest.approx((1 - kappa) * (1 - 1 / table.size))


@given(st.lists(st.text("ab", min_size=2, max_size=2), min_size=1, max_size=9))
def test_of_two_raters_the_mean_is_cohens_kappa(rows: list[str]) -> None:
    table = table_of(*rows).T
    assert mean_pairwise_kappa(table).value == cohen_kappa(*table.T).value


def share(table: np.ndarray) -> Agreement:
    """Share of items that the first two raters label alike."""
    return Agreement(float((table[:, 0] == table[:, 1]).mean()), len(table))


def test_the_jackknife_by_hand() -> None:
    # The share of equal labels is a mean: pseudo-values are the items' own, 1 1 1 0, so the error is their standard
    # deviation 1/2 over sqrt(4), and t with 3 degrees of freedom is 3.182.
    low, high, reason = jackknife_interval(share, table_of("++--", "++-+"), list("abcd"))
    assert (low, high) == pytest.approx((max(0.75 - 3.182 / 4, -1), 1.0), abs=1e-3)
    assert reason == ""
    # Two items a cluster: means 1, 1/2 and 1, whose standard deviation is 0.2887; over sqrt(3), times t of 4.303.
    low, high, _ = jackknife_interval(share, table_of("+++-++", "++++++"), list("aabbcc"))
    assert low == pytest.approx(5 / 6 - 4.303 * 0.28868 / np.sqrt(3), abs=1e-3)


@pytest.mark.parametrize(
    ("raters", "clusters", "reason"),
    [
        (("+-+-", "+-+-"), "abcd", "every cluster shows the same agreement"),
        (("++--", "+-+-"), "aabb", "2 clusters; a spread needs 3"),
        (("+++-", "+++-"), "abcd", "without one of the clusters the value is undefined"),
    ],
)
def test_where_nothing_varies_there_is_no_interval_and_a_reason(raters, clusters, reason) -> None:
    low, high, told = jackknife_interval(krippendorff_alpha, table_of(*raters), list(clusters))
    assert (low, high) == (None, None)
    assert reason in told


@pytest.mark.parametrize(("clusters", "level"), [("abc", 0.95), ("abcd", 1.0), ("abcd", 0.0)])
def test_the_jackknife_refuses_what_does_not_fit(clusters: str, level: float) -> None:
    with pytest.raises(InputError):
        jackknife_interval(fleiss_kappa, table_of("+-+-", "++--"), list(clusters), level)


@every_measure
def test_the_interval_covers_where_rubrics_of_a_task_are_alike(measure) -> None:
    # 20 tasks of 10 rubrics. Three annotators copy the truth except that each errs in a share of the task's rubrics
    # drawn for the task; the value aimed at is that of very many such tasks.
    rng = np.random.default_rng(3)

    def drawn(tasks: int) -> np.ndarray:
        truth = rng.random((tasks, 10, 1)) < rng.beta(2, 2, (tasks, 1, 1))
        errs = rng.random((tasks, 10, 3)) < rng.beta(1, 5, (tasks, 1, 1))
        return (truth ^ errs).reshape(-1, 3)

    aim = measure(drawn(4000)).value
    covered = []
    for _ in range(150):
        low, high, _ = jackknife_interval(measure, drawn(20), np.repeat(np.arange(20), 10))
        covered.append(low <= aim <= high)
    assert np.mean(covered) >= 0.9


def test_a_summary_holds_each_pair_and_all_measures() -> None:
    summary = kit.annotator_summary(labels_of(x="++--++--", y="+-+-+-++", z="++..++.-"))
    assert summary["measure"].tolist() == [kit.PAIR] * 3 + [kit.MEAN_PAIRWISE, kit.FLEISS, kit.ALPHA]
    assert summary["annotators"].tolist() == ["x, y", "x, z", "y, z", *["x, y, z"] * 3]
    # z labels 5 of 8 rubrics: R0 R1, R4 R5 and R7, in tasks T0, T2 and T3.
    assert summary["rubrics"].tolist() == [8, 5, 5, 8, 5, 8]
    assert summary["clusters"].tolist() == [4, 3, 3, 4, 3, 4]
    pairs = kit.annotator_agreement(labels_of(x="++--++--", y="+-+-+-++", z="++..++.-"))
    assert summary["value"][:3].tolist() == pytest.approx(pairs["kappa"].tolist())
    assert summary["value"][3] == pytest.approx(pairs["kappa"].mean())


def test_clusters_are_tasks_unless_reports_are_named() -> None:
    labels = labels_of(x="++--++-+", y="+---++++")
    other = labels.assign(system="B", satisfied=~labels["satisfied"])
    both = pd.concat([labels, other])
    assert kit.annotator_summary(both)["clusters"].max() == 4
    assert kit.annotator_summary(both, cluster=("system", "task_id", "run"))["clusters"].max() == 8
    with pytest.raises(InputError, match="choose from system, task_id, run, rubric_id"):
        kit.annotator_summary(both, cluster=("domain",))


def test_one_annotator_has_three_undefined_rows(tmp_path: Path) -> None:
    summary = kit.annotator_summary(labels_of(x="+-+-"))
    assert summary["measure"].tolist() == [kit.MEAN_PAIRWISE, kit.FLEISS, kit.ALPHA]
    assert summary["value"].isna().all()
    assert set(summary["reason"]) == {"1 rater: agreement needs two"}
    written = write_table(summary, tmp_path / "agreement.csv").read_text("utf-8")
    assert "nan" not in written.casefold()
    assert "undefined" in written


def test_labels_that_do_not_overlap_and_labels_that_cannot_be_used() -> None:
    apart = kit.annotator_summary(labels_of(x="+-..", y="..+-"))
    assert apart["value"].isna().all()
    assert (apart["reason"] != "").all()
    labels = labels_of(x="+-+-", y="++--")
    with pytest.raises(
        InputError, match=r"'y' labelled system 'A', task_id 'T1', run 1, rubric_id 'R3' more than once"
    ):
        kit.annotator_summary(pd.concat([labels, labels.tail(1)]))
    with pytest.raises(InputError, match="changed since"):
        kit.annotator_summary(labels.assign(stale=True))
    with pytest.raises(InputError, match="no label"):
        kit.annotator_summary(labels[:0])


def test_a_missing_label_is_counted_apart() -> None:
    counts = kit.label_counts(labels_of(x="++-?", y="+---")).set_index("annotator")
    assert counts.columns.tolist() == ["rubrics", "Pass", "Fail", "no label"]
    assert counts.loc["x"].tolist() == [4, 2, 1, 1]
    assert counts.loc["y"].tolist() == [4, 1, 3, 0]
    # And agreement is over the three rubrics that both labelled: 2 agree.
    pair = kit.annotator_agreement(labels_of(x="++-?", y="+---")).iloc[0]
    assert (pair["rubrics"], pair["agreeing"]) == (3, 2)


def test_repairs_of_a_labels_file_are_told(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    head = "system,task_id,run,rubric_id,annotator,satisfied\n"
    path.write_text(
        head + "A,T,1,R1,H,Pass\nA,T,1,R2, H,Pass\nA,T,1,R3, H,Fail\nA,T,1,R4,\uff28,Pass\nA,T,1,R5,h,Fail\n"
    )
    told = label_readings(path).set_index("reading")
    assert told.loc["field 'annotator': ' H' was read as 'H'"].tolist() == [2, 3]
    assert told.loc[["annotator '\uff28' was read as 'H'", "annotator 'h' was read as 'H'"], "labels"].isna().all()
    path.write_text(head + "A,T,1,R1,H,Pass\n")
    assert label_readings(path).empty


REAL = Path(os.environ.get("LIFESEARCH_REAL_DATA", ROOT.parent / "shared" / "real")) / "pandalm"
needs_comparisons = pytest.mark.skipif(
    not REAL.is_dir(), reason="set LIFESEARCH_REAL_DATA to a folder that holds pandalm/"
)
PEOPLE = ["annotator1", "annotator2", "annotator3"]
CHOICES = {0: "tie", 1: "response 1", 2: "response 2", "1": "response 1", "2": "response 2", "Tie": "tie"}


@pytest.fixture(scope="module")
def comparisons() -> pd.DataFrame:
    """999 comparisons of two responses, a column a rater: three people and two models, as the files have them."""
    people = pd.DataFrame(json.loads((REAL / "testset-v1.json").read_text("utf-8")))
    for name, column in (("gpt-3.5-turbo", "gpt_result"), ("pandalm-7b", "pandalm_result")):
        judged = pd.DataFrame(json.loads((REAL / f"{name}-testset-v1.json").read_text("utf-8")))
        people = people.merge(judged[["idx", column]].rename(columns={column: name}), on="idx", validate="1:1")
    return people


def as_labels(comparisons: pd.DataFrame, raters: list[str]) -> pd.DataFrame:
    """A question is a task, a comparison of two responses to it a rubric; what is no choice is a missing label."""
    task = comparisons.groupby(["instruction", "input"]).ngroup().astype(str)
    wide = comparisons.assign(
        system=comparisons["cmp_key"], task_id=task, run=1, rubric_id=comparisons["idx"].astype(str)
    )
    long = wide.melt(["system", "task_id", "run", "rubric_id"], raters, "annotator", "satisfied")
    return long.assign(satisfied=long["satisfied"].map(lambda given: CHOICES.get(given)))


@needs_comparisons
def test_people_of_the_real_comparisons_agree_as_a_crosstab_says(comparisons: pd.DataFrame) -> None:
    summary = kit.annotator_summary(as_labels(comparisons, PEOPLE)).set_index("annotators")
    kappas = {}
    for first, second in combinations(PEOPLE, 2):
        share = pd.crosstab(comparisons[first], comparisons[second]).to_numpy() / len(comparisons)
        chance = share.sum(axis=1) @ share.sum(axis=0)
        kappas[f"{first}, {second}"] = (np.trace(share) - chance) / (1 - chance)
    pairs = summary[summary["measure"] == kit.PAIR]
    assert pairs["value"].to_dict() == pytest.approx(kappas)
    assert {name: round(value, 3) for name, value in kappas.items()} == {
        "annotator1, annotator2": 0.852,
        "annotator1, annotator3": 0.879,
        "annotator2, annotator3": 0.862,
    }
    assert (pairs[["rubrics", "clusters"]] == [999, 170]).all(axis=None)
    overall = summary.loc[", ".join(PEOPLE)].set_index("measure")
    fleiss = library_fleiss(aggregate_raters(comparisons[PEOPLE])[0])
    assert overall.loc[kit.FLEISS, "value"] == pytest.approx(fleiss)
    assert overall.loc[kit.ALPHA, "value"] == pytest.approx(1 - (1 - fleiss) * (1 - 1 / (3 * 999)))
    assert overall.loc[kit.MEAN_PAIRWISE, "value"] == pytest.approx(np.mean(list(kappas.values())))
    assert ((summary["low"] < summary["value"]) & (summary["value"] < summary["high"])).all()


@needs_comparisons
def test_replies_that_could_not_be_read_are_no_ties(comparisons: pd.DataFrame) -> None:
    raw = comparisons["gpt-3.5-turbo"].value_counts()
    assert raw.to_dict() == {"2": 476, "1": 460, "Tie": 38, "garbage": 25}
    labels = as_labels(comparisons, [*PEOPLE, "gpt-3.5-turbo", "pandalm-7b"])
    counts = kit.label_counts(labels).set_index("annotator")
    assert counts.loc["gpt-3.5-turbo"].to_dict() == {
        "rubrics": 999,
        "response 1": 460,
        "response 2": 476,
        "tie": 38,
        "no label": 25,
    }
    assert counts.loc["pandalm-7b", ["tie", "no label"]].tolist() == [107, 0]
    assert (counts.loc[PEOPLE, "no label"] == 0).all()
    # What could be read is compared; taking the rest for ties would be another kappa.
    pairs = kit.annotator_agreement(labels).set_index(["annotator_a", "annotator_b"])
    assert pairs.loc[("annotator1", "gpt-3.5-turbo"), "rubrics"] == 974
    taken = comparisons["gpt-3.5-turbo"].map(CHOICES).fillna("tie")
    other = cohen_kappa(comparisons["annotator1"].map(CHOICES), taken).value
    assert other != pytest.approx(float(pairs.loc[("annotator1", "gpt-3.5-turbo"), "kappa"]), abs=1e-4)
