"""What a plan of judgments will take, by hand on small plans."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lifesearch_kit.chat.token_counts import estimate_tokens
from lifesearch_kit.collect.plan import plan_checks
from lifesearch_kit.errors import InputError
from lifesearch_kit.judge import estimates
from lifesearch_kit.judge.checks import Check, judge_messages
from lifesearch_kit.judge.estimates import in_words, judging_estimate
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

CRITERIA = ("Two words.", "States that the ferry runs on Sundays.", "列出三个班次，并说明冬季的变化。")
RUBRICS = tuple(Rubric(rubric_id=f"R{at}", criterion=text, weight=0.5) for at, text in enumerate(CRITERIA))
TASK = Task(task_id="t", language="en", domain="d", query="Which ferries run in winter?", rubrics=RUBRICS)
LONG = "The ferry leaves at nine.\n" * 200
JUDGE = JudgeSettings(name="j", model="m")
PRICES = {"input_price": 2.0, "cached_input_price": 1.0, "output_price": 10.0}


def report(text: str = LONG, **changes: Any) -> Report:
    return Report(**{"system": "s", "task_id": "t", "text": text, **changes})


def by_characters(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count one token a character, and none for the frame of a message, so that sums can be made by hand."""
    monkeypatch.setattr(estimates, "estimate_tokens", len)
    monkeypatch.setattr(estimates, "_MESSAGE_TOKENS", 0)


def prompt_file(tmp_path: Any, text: str) -> JudgeSettings:
    path = tmp_path / "mine.txt"
    path.write_text(text, encoding="utf-8")
    return JudgeSettings(name="j", model="m", prompt_en=str(path), **PRICES)


def test_tokens_and_cost_by_hand(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    by_characters(monkeypatch)
    rubrics = tuple(Rubric(rubric_id=name, criterion=name * 50, weight=0.5) for name in "ab")
    task = TASK.model_copy(update={"query": "q" * 100, "rubrics": rubrics})
    plan = plan_checks(
        [task], [report("r" * 1000), report("r" * 600, system="other")], [prompt_file(tmp_path, "Rules")]
    )
    table = judging_estimate(plan, 30)
    # A code has 16 characters. Around the question stand <question-code> and </question-code> with their two line ends,
    # 27 + 28 + 2 = 57, and two line ends after; around the report <report-code>: 25 + 26 + 2 = 53, and two; before the
    # criterion <criterion-code> and a line end: 28 + 1 = 29.
    before = len("Rules") + 100 + 57 + 2 + 53 + 2 + 29
    assert before == 248
    # After it a line end, </criterion-code>, a line end and the attributes.
    after = 1 + 29 + 1 + len("Type: Objective\nNecessity: Explicit\nPriority: Must Have")
    assert after == 86
    # Two rubrics of 50 characters each: 2 x (248 + 1000 + 50 + 86) = 2 x 1384, and 2 x (248 + 600 + 50 + 86) = 2 x 984.
    # From the cache, the second call of the first report: of 1248, 1024 and one step of 128. The other report, 848, is
    # too short.
    assert table.to_dict("records") == [
        {
            "judge": "j",
            "calls": 4,
            "not_asked": 0,
            "input_tokens": 4736,
            "cached_at_best": 1152,
            "output_tokens": 120,
            # 4736 x 2 + 120 x 10 = 10,672, and 1152 at 1 instead of 2: 9,520; prices are per million.
            "cost_without_cache": pytest.approx(0.010672),
            "cost_at_best": pytest.approx(0.00952),
        }
    ]
    # At 0.2 for cached input 1152 x 1.8 = 2,073.6 are saved, without a price for it nothing.
    for price, cost in ((0.2, 0.0085984), (None, 0.010672)):
        judge = plan[0].judge.model_copy(update={"cached_input_price": price})
        table = judging_estimate([check._replace(judge=judge) for check in plan], 30)
        assert table["cost_at_best"].tolist() == [pytest.approx(cost)]
    # From 800 in steps of 100: 1200 of 1248, 800 of 848.
    assert judging_estimate(plan, 30, cache_minimum=800, cache_step=100)["cached_at_best"].tolist() == [2000]
    assert judging_estimate(plan, 30, cache_minimum=1248, cache_step=100)["cached_at_best"].tolist() == [1248]
    assert judging_estimate(plan, 30, cache_minimum=1249)["cached_at_best"].tolist() == [0]


def test_each_report_and_judge_pays_once_in_full_whatever_is_asked_first(monkeypatch: pytest.MonkeyPatch) -> None:
    by_characters(monkeypatch)
    judges = [JUDGE, JUDGE.model_copy(update={"name": "k"})]
    plan = plan_checks([TASK], [report(), report(run=2)], judges, repeats=2)
    table = judging_estimate(plan, 0).set_index("judge")
    # 2 reports, 3 rubrics, 2 repeats; of each report's 6 calls 5 find the rest.
    assert table["calls"].to_dict() == {"j": 12, "k": 12}
    shared = len("".join(message["content"] for message in judge_messages(TASK, report(), RUBRICS[0], JUDGE)))
    shared -= len("Two words.") + 86
    each = shared - shared % 128
    assert table["cached_at_best"].to_dict() == {"j": 10 * each, "k": 10 * each}
    assert judging_estimate(plan[::-1], 0)["cached_at_best"].tolist() == [10 * each, 10 * each]
    # What is stored already is left out by the caller: the next call of that report pays.
    rest = [check for check in plan if check.judge.name == "j" and check.report.run == 2][2:]
    assert judging_estimate(rest, 0)["cached_at_best"].tolist() == [3 * each]


def test_judges_with_prompts_of_their_own_in_both_languages() -> None:
    own = {"prompt_en": "judge_verdict_first_en", "prompt_zh": "judge_verdict_first_zh"}
    judges = [JUDGE, JUDGE.model_copy(update={"name": "k", **own})]
    tasks = [TASK, TASK.model_copy(update={"task_id": "z", "language": "zh", "query": "冬季有哪些渡轮？"})]
    odd = RUBRICS[1].model_copy(update={"type": "Subjective", "necessity": "Implicit", "priority": "Nice to Have"})
    tasks[1] = tasks[1].model_copy(update={"rubrics": (RUBRICS[0], odd)})
    plan = plan_checks(tasks, [report(), report("渡轮九点开。\n" * 300, task_id="z")], judges)
    table = judging_estimate(plan, 0).set_index("judge")
    for judge in judges:
        own_plan = [check for check in plan if check.judge is judge]
        whole = sum(sum(map(estimate_tokens, contents(check))) + 10 for check in own_plan)
        # The code in the tags stands seven times in a prompt; a token for each is what it can be off, and the rounding.
        assert table.loc[judge.name, "input_tokens"] == pytest.approx(whole, abs=50 * len(own_plan))
        assert len(own_plan) == 5


def contents(check: Check) -> list[str]:
    messages = judge_messages(check.task, check.report, check.rubric, check.judge)
    return [message["content"] for message in messages]


def test_a_report_beyond_the_judges_limit_is_not_asked_about() -> None:
    short = JUDGE.model_copy(update={"max_report_characters": len(LONG)})
    table = judging_estimate(plan_checks([TASK], [report(), report(LONG + ".", run=2)], [short]), 10)
    assert table[["calls", "not_asked", "output_tokens"]].to_numpy().tolist() == [[3, 3, 30]]
    assert in_words(table).endswith("; 3 more not asked, the report being too long for the judge")


def test_missing_prices_leave_the_cost_missing_and_the_tokens_there() -> None:
    half = JUDGE.model_copy(update={"name": "half", "input_price": 1.0})
    free = JUDGE.model_copy(update={"name": "free", "input_price": 0.0, "output_price": 0.0})
    table = judging_estimate(plan_checks([TASK], [report()], [JUDGE, half, free]), 10).set_index("judge")
    assert table["cost_without_cache"].isna().to_dict() == {"j": True, "half": True, "free": False}
    assert table["cost_at_best"].isna().to_dict() == {"j": True, "half": True, "free": False}
    assert table.loc["free", "cost_at_best"] == 0.0
    assert (table["input_tokens"] > 3 * estimate_tokens(LONG)).all()
    assert in_words(table.reset_index()).endswith("cost 0.00 (no prices for 2 judges)")


@settings(max_examples=20)
@given(st.lists(st.text(min_size=1), min_size=1, max_size=3), st.integers(0, 3000), st.integers(1, 500))
def test_what_is_cached_is_less_than_the_input_and_saves_money(texts: list[str], minimum: int, step: int) -> None:
    reports = [report(text * 30, run=run) for run, text in enumerate(texts, start=1)]
    judge = JUDGE.model_copy(update={"input_price": 1.0, "cached_input_price": 0.5, "output_price": 1.0})
    table = judging_estimate(plan_checks([TASK], reports, [judge]), 5, cache_minimum=minimum, cache_step=step)
    for row in table.itertuples():
        # At most two of three calls.
        assert 0 <= row.cached_at_best <= row.input_tokens * 2 / 3
        assert row.cost_at_best <= row.cost_without_cache
        saved = 0.5 * row.cached_at_best / 1_000_000
        assert row.cost_without_cache - row.cost_at_best == pytest.approx(saved, abs=1e-12)


def test_marks_in_the_texts_do_not_shift_the_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    by_characters(monkeypatch)
    plain = judging_estimate(plan_checks([TASK], [report()], [JUDGE]), 0)
    odd = TASK.model_copy(update={"query": TASK.query[:-1] + "\0"})
    marked = judging_estimate(plan_checks([odd], [report("\0" + LONG[1:])], [JUDGE]), 0)
    pd.testing.assert_frame_equal(plain, marked)


def test_all_wrong_arguments_are_told_at_once() -> None:
    with pytest.raises(InputError) as raised:
        judging_estimate([], -1, cache_minimum=-1, cache_step=0)
    assert raised.value.faults == (
        "output_tokens -1: give 0 or more",
        "cache_minimum -1: give 0 or more",
        "cache_step 0: give 1 or more",
    )


def test_a_plan_of_nothing() -> None:
    table = judging_estimate([], 10)
    assert table.empty
    assert table.dtypes.astype(str).tolist() == ["object", *["int64"] * 5, *["float64"] * 2]
    assert in_words(table) == "nothing to judge"


def told(*rows: tuple[int, int, int, int, float | None, float | None]) -> str:
    columns = ["calls", "input_tokens", "cached_at_best", "output_tokens", "cost_without_cache", "cost_at_best"]
    table = pd.DataFrame(rows, columns=columns).assign(judge="j", not_asked=0)
    return in_words(table.astype({"cost_without_cache": "float64", "cost_at_best": "float64"}))


def test_in_words() -> None:
    one = (1014, 1_640_000, 1_370_000, 13_700, None, None)
    # 3 x 1.64 = 4.92, 3 x 1.37 = 4.11, 3 x 13,700 = 41,100.
    assert told(one, one, one) == (
        "3,042 judgments by 3 judges: about 4.9 million input tokens (4.1 million of them from a cache at best), 41,000"
        " output tokens; no prices given"
    )
    assert told((1, 950, 0, 0, 0.001, 0.001)) == (
        "1 judgment by 1 judge: about 950 input tokens (none from a cache), 0 output tokens; cost less than 0.01"
    )
    # 12.3 of one judge, 1,234 of another; 7.9 and 900; a third without prices.
    priced = [
        (1, 60_000_000, 99_600, 997_000, full, best) for full, best in ((12.3, 7.9), (1234.0, 900.0), (None, None))
    ]
    assert told(*priced) == (
        "3 judgments by 3 judges: about 180 million input tokens (300,000 of them from a cache at best), 3.0 million"
        " output tokens; cost 1,246.30, or 907.90 with a cache at best (no prices for 1 judge)"
    )
