"""Figures: every character drawn, one look a system, the table behind each picture, the same file for the same data."""

from __future__ import annotations

import importlib.util
import json
import warnings
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
import seaborn as sns
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from matplotlib.text import Text

from lifesearch_kit import plots
from lifesearch_kit.errors import InputError, InputWarning
from lifesearch_kit.plots import fonts
from lifesearch_kit.plots.labels import display_width, label_points, wrap
from lifesearch_kit.plots.style import new_axes

mpl.use("agg")
SYSTEMS = ["深度检索−甲", "System B", "很长很长的系统名称（二〇二六年七月内部评测版本）第三号", "D $5 and $6", "E_e^x"]
SCORES = pd.DataFrame(
    {
        "system": SYSTEMS,
        "score_pct": [61.0, 55.5, 40.0, 30.2, 12.0],
        "score_sd_pct": [1.0, 0.5, np.nan, 2.0, 0.0],
        "iterations": [30.0, 20.0, 21.0, 9.0, 1.0],
    }
)
LOOKS = plots.system_looks(SYSTEMS)
DOMAINS = pd.DataFrame(
    [
        (system, domain, 4, 10.0 + 5 * i)
        for i, system in enumerate(SYSTEMS)
        for domain in ("公司与竞品", "Everyday facts")
    ],
    columns=["system", "domain", "tasks", "score_pct"],
)
JUDGES = pd.DataFrame(
    {
        "judge": ["评审甲，严格", "b"],
        "language": ["zh", "en"],
        "accuracy_pct": [80.0, 100.0],
        "low_pct": [70.0, 95.0],
        "high_pct": [88.0, 100.0],
        "self_consistency_pct": [np.nan, 100.0],
    }
)
MISSED = pd.DataFrame(
    {
        "task_id": ["t1", "t2"],
        "rubric_id": ["R1", "R2"],
        "pass_pct": [0.0, 55.0],
        "judged": [9, 9],
        "weight": [1.0, 0.5],
        "criterion": ["回复应给出2025年的数值（−3.5%），不得使用修订前的数据，" * 4, "The response should give it."],
    }
)
RATES = pd.DataFrame(
    {
        "system": SYSTEMS[:2],
        "mode": "temporal_scope",
        "reports": 3,
        "reports_affected": [1, 0],
        "rate_pct": [33.3, 0.0],
        "weight_lost_pct": [4.0, 0.0],
    }
)
DATASET = plots.describe_dataset(
    pd.DataFrame({"domain": ["甲", "甲", "乙"], "language": ["zh", "en", "zh"], "rubrics": [2, 1, 3]}),
    pd.DataFrame(
        {
            "priority": ["Must Have"] * 6,
            "necessity": ["Explicit", "Implicit"] * 3,
            "type": "Objective",
            "dimension": None,
        }
    ),
)
STATUSES = pd.DataFrame({"system": SYSTEMS[:2], "status": ["answered", "asked_back"], "reports": [3, 2]})
RANKS = pd.DataFrame({"system": SYSTEMS[:3], "human_rank": [1, 2, 3], "score_rank": [1.5, 1.5, 3]})
DRAWINGS = {
    "bars": lambda: plots.overall_bars(SCORES, LOOKS, note="误差线：标准差"),
    "heat": lambda: plots.domain_heatmap(DOMAINS, SYSTEMS, note="各领域"),
    "languages": lambda: plots.language_split(
        DOMAINS.assign(language="zh").drop_duplicates("system"), SYSTEMS, note="语言"
    ),
    "heat with intervals": lambda: plots.domain_heatmap(
        DOMAINS.assign(low_pct=DOMAINS["score_pct"] - 9, high_pct=DOMAINS["score_pct"] + 9),
        SYSTEMS,
        note="各",
        intervals=True,
    ),
    "effort": lambda: plots.score_against(SCORES, "iterations", LOOKS, label="迭代, 次", note="n = 5"),
    "ranks": lambda: plots.rank_slopes(RANKS, LOOKS, note="名次"),
    "judges": lambda: plots.judge_comparison(JUDGES, note="评审")[0],
    "judge languages": lambda: plots.judge_by_language(JUDGES, note="评审"),
    "missed": lambda: plots.most_missed(MISSED, note="要求"),
    "modes": lambda: plots.failure_costs(RATES, SYSTEMS, note="失分"),
    "statuses": lambda: plots.report_statuses(STATUSES, note="状态"),
    "dataset": lambda: plots.dataset_overview(DATASET)[0, 0],
}


@pytest.fixture(autouse=True)
def fresh_matplotlib() -> Iterator[None]:
    with mpl.rc_context():
        yield
    plt.close("all")


@pytest.fixture
def no_chinese_font(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(fonts.font_manager, "get_font_names", lambda: ["DejaVu Sans"])
    for cached in (fonts.chinese_font, fonts._warn_no_chinese_font):
        cached.cache_clear()
    yield
    monkeypatch.undo()
    for cached in (fonts.chinese_font, fonts._warn_no_chinese_font):
        cached.cache_clear()


def texts_of(figure: Figure) -> list[str]:
    figure.draw_without_rendering()
    return [text.get_text() for text in figure.findobj(Text) if isinstance(text, Text) and text.get_visible()]


needs_font = pytest.mark.skipif(fonts.chinese_font() is None, reason="no font with Chinese characters on this machine")


@needs_font
@pytest.mark.parametrize("theme", [False, True], ids=["own style", "after a seaborn theme"])
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_chinese_is_drawn_without_a_missing_glyph(tmp_path: Path, drawing: str, theme: bool) -> None:
    plots.style()
    if theme:
        sns.set_theme(font="Arial")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        ax = DRAWINGS[drawing]()
        if theme:
            sns.set_theme(style="whitegrid")
        ax.set_title("各领域得分（%）−3.5")
        plots.save_figure(
            plots.figure_of(ax), SCORES, profile="p", slug="s", caption="c", notice="虚构数据", figures=tmp_path
        )


@needs_font
def test_a_figure_of_ones_own_is_drawn_too(tmp_path: Path) -> None:
    sns.set_theme()
    figure, ax = plt.subplots()
    ax.bar(["北京", "上海", "苏州"], [3.0, -1.5, 2.0])
    ax.set(title="净变化（−1.5）", xlabel="城市", ylabel="百分点")
    ax.legend(["一组"], title="图例")
    figure.suptitle("总标题", weight="bold")
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        plots.save_figure(figure, SCORES, profile="p", slug="s", caption="c", figures=tmp_path)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["北京", "上海", "苏州"]


@needs_font
def test_a_character_without_a_font_becomes_its_code_point(tmp_path: Path) -> None:
    figure, ax = plt.subplots()
    ax.set_xticks([0, 1, 2], labels=["火箭🚀", "葛\U000e0100", "镕喆"])
    with pytest.warns(InputWarning, match=r"🚀 \(U\+1F680\)"):
        plots.save_figure(figure, SCORES, profile="p", slug="s", caption="c", figures=tmp_path)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["火箭U+1F680", "葛", "镕喆"]


@pytest.mark.usefixtures("no_chinese_font")
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_without_a_chinese_font_labels_are_numbers_with_a_key(tmp_path: Path, drawing: str) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ax = DRAWINGS[drawing]()
        ax.set_title("各领域得分")
        plots.save_figure(plots.figure_of(ax), SCORES, profile="p", slug="s", caption="A caption.", figures=tmp_path)
    messages = [str(one.message) for one in caught]
    assert not [one for one in messages if "Glyph" in one]
    (message,) = [one for one in messages if "no font with Chinese characters" in one]
    assert "Noto Sans SC" in message
    assert "zhplot" in message
    shown = texts_of(plots.figure_of(ax))
    assert not [one for one in shown if fonts._CHINESE.search(one)]
    caption = json.loads((tmp_path / "p" / "s.json").read_text(encoding="utf-8"))["caption"]
    assert caption.startswith("A caption. Key: [1] ")
    number = ax.get_title(loc="center")
    assert number in shown
    assert f"{number} 各领域得分" in caption


@pytest.mark.usefixtures("no_chinese_font")
def test_a_label_has_the_same_number_wherever_it_stands() -> None:
    with pytest.warns(InputWarning, match="no font"):
        ax = plots.overall_bars(SCORES, LOOKS, note="n")
    numbers = [label.get_text() for label in ax.get_yticklabels()]
    assert numbers[0] != numbers[2]
    assert fonts.label_key(plots.figure_of(ax))[numbers[2]].startswith("很长很长的系统名称")


def test_dollars_and_underscores_are_no_formulas(tmp_path: Path) -> None:
    ax = plots.overall_bars(SCORES, LOOKS, note="costs $5 to $6")
    plots.save_figure(plots.figure_of(ax), SCORES, profile="p", slug="s", caption="c", figures=tmp_path)
    shown = texts_of(plots.figure_of(ax))
    assert "D $5 and $6" in shown
    assert all(not text.get_parse_math() for text in ax.get_yticklabels())


def test_a_long_label_is_wrapped_and_whole_in_the_table(tmp_path: Path) -> None:
    ax = plots.overall_bars(SCORES, LOOKS, note="n")
    label = ax.get_yticklabels()[2].get_text()
    assert "\n" in label
    assert max(map(display_width, label.split("\n"))) <= 27
    plots.save_figure(plots.figure_of(ax), SCORES, profile="p", slug="s", caption="c", figures=tmp_path)
    assert SYSTEMS[2] in (tmp_path / "p" / "s.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "width", "lines", "expected"),
    [
        ("short", 10, 2, "short"),
        ("two words here", 9, 3, "two words\nhere"),
        ("一二三四五六七", 8, 3, "一二三四\n五六七"),
        ("一二三四，五六", 8, 3, "一二三四，\n五六"),  # no line begins with a comma
        ("abcdefghijkl", 5, 2, "abcde\nfghi…"),
        ("  spaced   out  ", 20, 1, "spaced out"),
        ("", 5, 1, ""),
    ],
)
def test_wrapping(text: str, width: int, lines: int, expected: str) -> None:
    assert wrap(text, width, lines) == expected


@given(st.text(alphabet="ab 中文，。-", max_size=80), st.integers(4, 30), st.integers(1, 4))
def test_wrapped_lines_fit_and_lose_nothing_but_the_end(text: str, width: int, lines: int) -> None:
    wrapped = wrap(text, width, lines)
    rows = wrapped.split("\n")
    assert len(rows) <= lines
    # Closing punctuation may hang over the edge, as is usual in Chinese.
    assert all(display_width(row.rstrip("，。-…")) <= width for row in rows)
    letters = "".join(text.split())
    assert letters.startswith("".join(wrapped.split()).removesuffix("…"))
    assert wrapped.endswith("…") or "".join(wrapped.split()) == letters


def test_labels_beside_points_do_not_overlap() -> None:
    rng = np.random.default_rng(5)
    ax = new_axes(7, 5)
    x, y = rng.uniform(0, 10, 14), rng.uniform(0, 10, 14)
    ax.set(xlim=(-1, 12), ylim=(-1, 12))
    label_points(ax, list(x), list(y), [f"system {number}" for number in range(14)])
    boxes = [text.get_window_extent() for text in ax.texts]
    assert not [1 for i, a in enumerate(boxes) for b in boxes[:i] if a.overlaps(b)]


def test_equal_points_have_labels_apart() -> None:
    ax = new_axes(5, 4)
    ax.set(xlim=(0, 2), ylim=(0, 2))
    label_points(ax, [1.0, 1.0], [1.0, 1.0], ["one", "two"])
    first, second = (text.get_window_extent() for text in ax.texts)
    assert not first.overlaps(second)


def test_a_system_keeps_its_colour_where_others_are_missing() -> None:
    whole = plots.overall_bars(SCORES, LOOKS, note="n").patches
    some = plots.overall_bars(SCORES.iloc[[0, 3]], LOOKS, note="n").patches
    assert some[1].get_facecolor() == whole[3].get_facecolor()


def test_looks_of_many_systems_differ() -> None:
    looks = plots.system_looks([f"s{number}" for number in range(30)])
    assert len(set(looks.values())) == 30
    assert len({(look.color, look.hatch) for look in looks.values()}) == 30


def test_order_is_by_score_then_name() -> None:
    scores = pd.DataFrame({"system": ["b", "a", "c", "c"], "score_pct": [50.0, 50.0, 70.0, 20.0]})
    # c averages 45 over its two judges.
    assert plots.system_order(scores) == ["a", "b", "c"]


def test_the_error_bars_are_the_intervals_or_one_deviation_each_way() -> None:
    spread = {}
    for name, scores in {
        "deviation": SCORES, "interval": SCORES.assign(low_pct=SCORES.score_pct - 9, high_pct=SCORES.score_pct + 3)
    }.items():  # fmt: skip
        ax = plots.overall_bars(scores, LOOKS, note="n")
        spread[name] = ax.collections[0].get_segments()[0][:, 0]
    np.testing.assert_allclose(spread["deviation"], [60.0, 62.0])
    np.testing.assert_allclose(spread["interval"], [52.0, 64.0])


def test_a_score_with_open_rubrics_is_drawn_as_its_bounds() -> None:
    scores = pd.DataFrame(
        {
            "system": ["a", "b"], "score_pct": [np.nan, 30.0], "lower_pct": [41.25, 30.0], "upper_pct": [47.9, 30.0],
            "low_pct": [20.0, 25.0], "high_pct": [60.0, 35.0],
        }
    )  # fmt: skip
    ax = plots.overall_bars(scores, plots.system_looks(["a", "b"]), note="n")
    assert "41.2 to 47.9" in [text.get_text() for text in ax.texts]
    sure, possible = ax.containers[1].patches, ax.containers[0].patches
    assert [bar.get_width() for bar in sure] == [41.25, 30.0]
    assert (possible[0].get_x(), possible[0].get_width(), possible[1].get_width()) == (41.25, pytest.approx(6.65), 0)


def test_a_system_with_missing_reports_says_so_beside_its_bar() -> None:
    ax = plots.overall_bars(SCORES.head(2).assign(tasks=[3, 10], missing=[21, 0]), LOOKS, note="n")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"{SYSTEMS[0]}\n3 tasks, 21 reports missing", SYSTEMS[1]]


def test_systems_are_ordered_by_what_they_have_for_certain() -> None:
    scores = pd.DataFrame({"system": ["few", "whole"], "score_pct": [100.0, 80.0], "lower_pct": [30.0, 80.0]})
    assert plots.system_order(scores) == ["whole", "few"]


def test_a_domain_says_how_many_tasks_each_system_has() -> None:
    domains = DOMAINS.assign(tasks=[4, 4, 1, *[4] * (len(DOMAINS) - 3)])
    columns = [label.get_text() for label in plots.domain_heatmap(domains, SYSTEMS, note="n").get_xticklabels()]
    assert [one.split("n = ")[1] for one in columns] == ["1 to 4", "4"]


def test_a_domain_has_its_interval_beneath_its_score_where_asked_for() -> None:
    domains = DOMAINS.assign(low_pct=DOMAINS["score_pct"] - 9, high_pct=DOMAINS["score_pct"] + 9)
    domains.loc[0, "low_pct"] = np.nan
    texts = [text.get_text() for text in plots.domain_heatmap(domains, SYSTEMS, note="n", intervals=True).texts]
    row = domains.iloc[1]
    assert f"{row.score_pct:.1f}\n{row.low_pct:.0f} to {row.high_pct:.0f}" in texts
    assert f"{domains.loc[0, 'score_pct']:.1f}\n–" in texts


def test_the_frontier_is_drawn_through_the_systems_that_no_other_beats_with_as_little() -> None:
    scores = pd.DataFrame({"system": SYSTEMS[:3], "score_pct": [10.0, 30.0, 20.0], "iterations": [1.0, 4.0, 6.0]})
    ax = plots.score_against(scores, "iterations", LOOKS, label="steps", note="n")
    assert ax.lines[0].get_xydata().tolist() == [[1, 10], [4, 30]]


def test_systems_without_a_score_leave_an_empty_figure() -> None:
    ax = plots.score_against(SCORES.assign(score_pct=np.nan), "iterations", LOOKS, label="steps", note="none scored")
    assert not ax.collections[0].get_paths()
    assert "none scored" in [text.get_text() for text in ax.texts]


def test_a_long_notice_is_broken_to_the_width_of_the_picture(tmp_path: Path) -> None:
    ax = plots.overall_bars(SCORES, LOOKS, note="n")
    notice = "Rule-based baselines wrote this. " * 6
    plots.save_figure(plots.figure_of(ax), SCORES, profile="p", slug="s", caption="c", notice=notice, figures=tmp_path)
    height, width = plt.imread(tmp_path / "p" / "s.png").shape[:2]
    assert width < 8.8 * 150  # the figure is 8 inches wide; dots an inch: 150
    assert height < width
    assert json.loads((tmp_path / "p" / "s.json").read_text())["notice"] == notice


def test_the_dataset_is_counted() -> None:
    table = DATASET.set_index(["group", "name"])["value"]
    # Three tasks with 2, 1 and 3 rubrics; half of the 6 rubrics are explicit.
    assert table["domain", "甲"] == 2
    assert table["language", "zh"] == 2
    assert table["necessity", "Explicit"] == 50
    assert table["rubrics_per_task", "mean"] == 2
    assert table["rubrics_in_task", "3"] == 1
    assert table["total", "rubrics"] == 6


def test_the_same_data_give_the_same_file(tmp_path: Path) -> None:
    pictures = []
    for folder in ("a", "b"):
        ax = plots.overall_bars(SCORES, LOOKS, note="n")
        picture = plots.save_figure(
            plots.figure_of(ax), SCORES, profile="p", slug="s", caption="c", figures=tmp_path / folder
        )
        pictures.append(picture.read_bytes())
    assert pictures[0] == pictures[1]
    assert b"tIME" not in pictures[0]
    assert b"Software" not in pictures[0]


def test_the_notice_stands_in_the_picture_and_beside_it(tmp_path: Path) -> None:
    ax = plots.overall_bars(SCORES, LOOKS, note="n")
    plots.save_figure(
        plots.figure_of(ax), SCORES, profile="p", slug="s", caption="c", notice="Invented.", figures=tmp_path
    )
    assert "Invented." in texts_of(plots.figure_of(ax))
    assert json.loads((tmp_path / "p" / "s.json").read_text())["notice"] == "Invented."


@pytest.mark.parametrize(("profile", "slug"), [("../x", "s"), ("p", "a/b"), ("", "s"), ("p", "..")])
def test_a_figure_stays_in_its_folder(tmp_path: Path, profile: str, slug: str) -> None:
    with pytest.raises(InputError, match="becomes a file name"):
        plots.save_figure(plt.figure(), SCORES, profile=profile, slug=slug, caption="c", figures=tmp_path)


def test_importing_plots_changes_no_setting() -> None:
    import subprocess
    import sys

    code = (
        "import matplotlib as mpl; before = dict(mpl.rcParams); import lifesearch_kit.plots;"
        "assert dict(mpl.rcParams) == before; import sys; assert 'zhplot' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_the_notebook_shows_next_is_what_was_saved(tmp_path: Path) -> None:
    missed = pd.DataFrame(
        {
            "task_id": "t",
            "rubric_id": [f"R{n}" for n in range(6)],
            "criterion": "The response should state something that takes a long label of its own to be said in full. "
            * 2,
            "pass_pct": [0.0, 10, 20, 30, 70, 100],
            "judged": 20,
            "weight": 0.5,
        }
    )
    ax = plots.most_missed(missed, note="a note that is quite long and reaches beyond its axes, " * 3)
    assert len(ax.get_yticklabels()) == 5, "what every report passes is not missed"
    figure = plots.figure_of(ax)
    plots.save_figure(figure, missed, profile="p", slug="07_x", caption="c", notice="A notice.", figures=tmp_path)
    saved = ax.get_position().bounds
    for _ in range(3):
        figure.canvas.draw()
    assert ax.get_position().bounds == saved
    assert saved[2] > 0.3, "the bars have room"
