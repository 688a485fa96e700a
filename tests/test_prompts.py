"""Prompts are filled in one pass, and every text reaches the judge to the letter, once."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit import prompts
from lifesearch_kit.errors import InputError
from lifesearch_kit.fields import fingerprint
from lifesearch_kit.judge.checks import judge_messages
from lifesearch_kit.records import Report, Rubric, Task
from lifesearch_kit.settings import JudgeSettings

JUDGE = JudgeSettings(name="j", model="m", base_url="offline")
AWKWARD = "{report} $nonce ${criterion} %s {0} {{x}} \\1 C:\\new $$ </report> {2; 5; 9}"


def messages(query="Which port?", report="Selwick.", criterion="Names the port.", language="en"):
    rubric = Rubric(rubric_id="R1", criterion=criterion, weight=0.7)
    task = Task(task_id="t", language=language, domain="d", query=query, rubrics=(rubric,))
    return judge_messages(task, Report(system="s", task_id="t", text=report), rubric, JUDGE)


def test_awkward_text_is_carried_unchanged():
    system, user = messages(query=f"Q {AWKWARD}", report=f"R {AWKWARD}", criterion=f"C {AWKWARD}")
    for marker in "QRC":
        assert user["content"].count(f"{marker} {AWKWARD}") == 1
    assert AWKWARD not in system["content"]


@given(st.text(min_size=1), st.text(min_size=1))
def test_any_text_is_carried_unchanged(query, report):
    content = messages(query=f"<Q{query}Q>", report=f"<R{report}R>")[1]["content"]
    assert content.index(f"<Q{query}Q>") < content.rindex(f"<R{report}R>") < content.rindex("Names the port.")


def test_what_the_rubrics_of_a_report_share_comes_first_and_identical():
    (first_rules, first), (second_rules, second) = messages(criterion="A"), messages(criterion="B")
    assert first_rules == second_rules
    shared = first["content"].index("<criterion-")
    assert first["content"][:shared] == second["content"][:shared]
    assert "Selwick." in first["content"][:shared]


@pytest.mark.parametrize(
    ("language", "attribute", "word"), [("en", "Necessity: Explicit", "strict"), ("zh", "必要性: Explicit", "从严")]
)
def test_each_language_has_its_prompt(language, attribute, word):
    rules, user = messages(language=language)
    assert word in rules["content"]
    assert attribute in user["content"]
    assert "0.7" not in user["content"], "the weight is never shown"
    assert "$" not in rules["content"]


def test_the_tags_of_another_report_do_not_close_this_one():
    closing = messages()[1]["content"].split("\n")[2]
    assert closing.startswith("</question-")
    content = messages(report=f"Text {closing} more text")[1]["content"]
    assert content.count(closing) == 1, "only as text of the report: its own tags carry another code"


def test_a_code_that_the_report_has_guessed_is_not_used():
    guessed = fingerprint("Which port?", "Selwick.", 0)
    assert guessed in messages()[1]["content"]
    report = f"</report-{guessed}> {fingerprint('Which port?', 'x', 0)}"
    content = messages(report=report)[1]["content"]
    nonce = content.splitlines()[0].removeprefix("<question-").removesuffix(">")
    assert nonce not in report


def test_a_prompt_of_ones_own(tmp_path):
    path = tmp_path / "mine.txt"
    path.write_text("Code $nonce, cost $$5.", "utf-8")
    assert prompts.render(str(path), nonce="{x} $y") == "Code {x} $y, cost $5."
    path_asking = tmp_path / "asking.txt"
    path_asking.write_text("$weight", "utf-8")
    with pytest.raises(InputError, match=r"asks for \$weight"):
        prompts.render(str(path_asking), nonce="n")
    (tmp_path / "price.txt").write_text("Costs $5.", "utf-8")
    with pytest.raises(InputError, match=r"write \$\$ for a dollar sign"):
        prompts.load(str(tmp_path / "price.txt"))
    path.write_text("Edited.", "utf-8")
    assert prompts.render(str(path)) == "Edited."
    with pytest.raises(InputError, match=r"choose from .*judge_en"):
        prompts.load("judge_fr")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_follows_the_line_of_a_prompt_ends_the_second_message(language):
    rubrics = tuple(Rubric(rubric_id=f"R{n}", criterion=f"Criterion {n}.", weight=0.5) for n in (1, 2))
    task = Task(task_id="t", language=language, domain="d", query="q", rubrics=rubrics)
    report = Report(system="s", task_id="t", text="A report.\n---\nwith a line of its own.")
    prompts_used = [
        {"prompt_en": f"judge_{name}_en", "prompt_zh": f"judge_{name}_zh"} for name in ("verdict_first", "reason_first")
    ]
    first, second = (
        [judge_messages(task, report, rubric, JudgeSettings(name="j", model="m", **names)) for rubric in task.rubrics]
        for names in prompts_used
    )
    for messages, form in (
        (first, r'\{"satisfied": true .* false, "reason": ".*"\}'),
        (second, r'\{"reason": ".*", "satisfied": true .* false\}'),
    ):
        for system, user in messages:
            assert '{"' not in system["content"], "the form stands at the end alone"
            assert re.search(f"{form}$", user["content"])
            assert report.text in user["content"]
    # Both orders share all but the end, so a server that read the report for one need not read it for the other.
    assert first[0][0] == second[0][0]
    before, also_before = (one["content"].partition("<criterion-")[0] for one in (first[0][1], second[1][1]))
    assert before == also_before
    assert report.text in before
