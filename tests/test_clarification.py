"""Messages that ask back, and reports that only sound so."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lifesearch_kit.agent.clarification import asks_back

ASKING = [
    "Could you please clarify which company you mean? There are two firms of that name.",
    "Thank you for your question. To give you the best possible answer, I need a few details:\n\n1. Which region are "
    "you interested in?\n2. What period should it cover?\n3. Do you need figures?\n\nOnce you confirm, I will begin.",
    "Should I focus on the American market or on the global one?",
    'The term "Atlas" is ambiguous. It can mean:\n- Atlas Robotics (Boston)\n- Atlas Foods (Lagos)\n- the mountains\n\n'
    "Please tell me which one you mean so that I can continue.",
    "I have prepared a plan: first I will search official statistics, then news. Would you like me to proceed?",
    "Here is my plan:\n1. Search for filings\n2. Compare figures\n3. Write the report\n\nShall I go ahead?",
    "I was not able to open the document. Please upload the PDF or paste its text so I can go on.",
    "## Clarification needed\n\nThe question leaves open:\n\n1. **Region**: which market?\n2. **Period**: which years?"
    "\n\nPlease reply with your choices.",
    "I found several possible matches for this name. Which one are you interested in?",
    "To tailor this, what is your budget, and when do you plan to travel?",
    "您好！为了更好地完成这份调研，我想先确认几个问题：\n1. 您关注的是哪个省份？\n2. 近三年还是近五年？"
    "\n\n请您回复后我再开始检索。",
    "请问您指的是哪一家公司？目前有两家同名企业。",
    "在开始之前，需要您提供具体的时间范围和地区。",
    "我已了解您的需求。请确认以下信息：\n- 预算范围\n- 目的地\n- 出行人数\n确认后我将为您制定详细方案。",
    "是否需要我继续检索英文资料？",
    "这个问题涉及多个方面，需要您先确认：\n（1）统计口径：常住人口还是户籍人口\n（2）年份：2023还是2024\n请选择后告诉我。",
    "你是想了解A公司还是B公司？",
    "Would you like me to proceed?",
    "I can help with that, but which company do you mean?",
    "1. Budget: what is your budget?\n2. Dates: when do you travel?",
    "Please tell me:\n1. your budget\n2. your dates",
    "好的。请您告诉我预算和出行日期。",
    "预算是5000元还是8000元？请告诉我。",
]

# More than a request, however little: what it is worth is for the rubrics.
SHORT_ANSWERS = [
    "The night bus stops at Hollin at 23:50. Let me know which evening you travel and I can look up the fare.",
    "17 km. Would you like me to list the maps?",
    "17 km, would you like me to list the maps?",
    "17公里。需要我列出地图吗？",
    "全长17公里，需要我列出地图吗？",
    "应选北岸仓库，需要我列出报价吗？",
    "是。需要我继续吗？",
    "No. Do you want to know why?",
    "It is Brenmoor – do you want a table?",
    "Sure, the answer is Brenmoor. Would you like a table?",
    "I can confirm that the bridge is open. Shall I go on?",
    "The law is unclear. Would you like me to list commentary?",
    "Two candidates won seats. Would you like their names?",
    "研究表明该药有效。需要我列出来源吗？",
    "我先检索了公报，结论是应选北岸仓库。需要我继续吗？",
    "您的证件仍有效，请问需要换证步骤吗？",
    "You can renew it online, would you like me to list the steps?",
    "Brenmoor has the deeper berth. Could you tell me whether the budget is fixed? I will refine this then.",
    "How to renew it:\n1. Please provide two photos.\n2. Please confirm your address at the desk.\n3. Wait a week.",
    "换证流程：\n1. 请您提供照片。\n2. 请您确认住址。\n3. 等待您的通知。",
    "1. Please provide two photos.\n2. Please confirm your address at the desk.",
    "Please bring your passport and provide two photos at the desk.",
    "Do you hold a permit?\n- Yes: apply at the town hall\n- No: apply at the consulate",
    "Once you provide your papers, the desk issues the card.",
]

ANSWERING = [
    *SHORT_ANSWERS,
    "",
    " \n",
    "Paris.",
    "巴黎。",
    "The release date is 12 March 2026. Do you want the changelog as well?",
    "答案是2026年3月12日。是否需要我补充更新日志？",
    "The population was 1.317 million at the end of 2024 (https://stats.example/2024). Let me know if you need more.",
    "2024年末常住人口为131.7万人（来源：https://tj.example/a）。如需其他年份的数据，请告诉我。",
    "# Report\n\nThe market grew by 12% in 2025 [1]. Three vendors lead it [2].\n\nWould you like me to expand it?"
    "\n\n[1] https://a.example/1\n[2] https://a.example/2",
    "The fee is 30 euros. Is there anything else you would like to know?",
    "Please confirm with the embassy before you travel; visas are issued within 5 days.",
    "入境须持有效护照，出发前请确认签证有效期。",
    "请注意：该政策自2025年7月1日起施行，补贴标准为每户300元，由市住建局发放。",
    "Boil the eggs for 8 minutes. Do you have a pressure cooker? Then 5 minutes suffice.",
    "No source dated before the cutoff gives the figure, so the answer stays open.",
    "How should you choose a pump? " + "Flow, head and price decide; the table compares them. " * 20,
]


@pytest.mark.parametrize("text", ASKING)
def test_asking_back_is_found_with_its_place(text: str) -> None:
    span = asks_back(text)
    assert span is not None
    assert text[span.start : span.end] == span.quote


@pytest.mark.parametrize("text", ANSWERING)
def test_answers_are_left_alone(text: str) -> None:
    assert asks_back(text) is None


@pytest.mark.parametrize("text", ASKING)
def test_a_report_before_the_question_makes_it_an_offer(text: str) -> None:
    report = "The ministry raised the subsidy on 1 July 2025, and nine provinces have followed since then. " * 8
    assert asks_back(f"{report}\n\n{text}") is None


@given(st.text(st.sampled_from("请问您确认？?.\n-1 you which please:：need"), max_size=400))
def test_spans_lie_in_the_text(text: str) -> None:
    span = asks_back(text)
    assert span is None or text[span.start : span.end] == span.quote


def test_real_reports_ask_nothing() -> None:
    folder = Path(__file__).parents[2] / "shared" / "real"
    if not folder.is_dir():
        pytest.skip("the real reports are not beside the project")
    files = [*folder.glob("deep_research_bench/claude*.jsonl"), *folder.glob("open_deep_research/*.jsonl")]
    reports = [json.loads(line)["article"] for path in files for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(reports) == 300
    assert [report[:80] for report in reports if asks_back(report)] == []


@pytest.mark.parametrize("question", ["请告诉我2024年的产量是多少？", "Could you tell me the output of 2024?"])
def test_a_question_that_is_repeated_is_no_question_back(question: str) -> None:
    assert asks_back(f"## {question}\n\n", question) is None
    assert asks_back(question) is not None, "without the question the words read like a request"


@pytest.mark.parametrize(
    "text",
    ["1" * 40_000, "12.5," * 8_000, "which " * 7_000, "请" * 40_000, "you, " * 8_000, "?" * 40_000, "- you?\n" * 5_000],
)
def test_long_odd_texts_are_read_quickly(text: str) -> None:
    started = time.perf_counter()
    asks_back(text, "Which one?")
    assert time.perf_counter() - started < 1.0
