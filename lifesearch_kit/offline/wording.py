"""The fixed phrases of the baseline researcher, in both languages."""

from __future__ import annotations

from dataclasses import dataclass

from lifesearch_kit.offline.questions import Question


@dataclass(frozen=True)
class Wording:
    """The headings and sentences of a report; names in braces are filled in."""

    title: str
    separator: str
    table: str
    columns: tuple[str, str, str, str]
    disagree: str
    rely: str
    no_conflict: str
    caveats: str
    changes: str
    conclusion: str
    advice: str
    pick: str
    cutoff: str
    left_out: str
    nothing: str
    undated: str
    close: str
    closed_book: str
    subject: str
    ask_back: str


_EN = Wording(
    title="Research report: {subject}",
    separator=", ",
    table="Table of figures",
    columns=("Item", "Figures", "Source", "Date"),
    disagree="Where the sources disagree",
    rely="Of these, the figure of {source} ({day}) is relied on.",
    no_conflict="No disagreement between the sources read was found.",
    caveats="Corrections and caveats",
    changes="Computed changes",
    conclusion="Conclusion",
    advice="Recommendation",
    pick="On the evidence found, {name} is the better choice: {reason}",
    cutoff="Only sources dated up to {day} were used.",
    left_out="Pages left out because they are newer: {count}.",
    nothing="No evidence was found on this point.",
    undated="undated",
    close="This report was written by an extractive rule-based baseline, not by a language model.",
    closed_book="No source was consulted; what follows rests on the wording of the question alone. "
    "It concerns {subject} and asks:\n\n{parts}\n\nWithout evidence no figure or source can be given.",
    subject="the matter asked about",
    ask_back='Before I start, could you clarify what you mean by "{vague}"? Please let me know and I will continue.',
)
_ZH = Wording(
    title="研究报告：{subject}",
    separator="、",
    table="数据汇总表",
    columns=("项目", "数据", "来源", "日期"),
    disagree="来源之间的分歧",
    rely="其中采信{source}（{day}）的数字。",
    no_conflict="所读来源之间没有发现分歧。",
    caveats="更正与口径说明",
    changes="计算得出的变化",
    conclusion="结论",
    advice="建议",
    pick="依据现有证据，优先选择{name}：{reason}",
    cutoff="只采用{day}及以前的资料。",
    left_out="因晚于截止日而未采用的页面：{count}个。",
    nothing="没有找到与此相关的证据。",
    undated="无日期",
    close="本报告由基于规则的抽取式基线撰写，不是语言模型的输出。",
    closed_book="没有检索任何来源，以下只依据问题本身的措辞。问题涉及{subject}，要求：\n\n{parts}\n\n"
    "没有证据，无法给出数字或来源。",
    subject="所问的事项",
    ask_back="在开始研究之前需要确认：您所说的“{vague}”具体指哪一个？请告诉我，我再继续。",
)


def wording(chinese: bool) -> Wording:
    """The fixed phrases of one language."""
    return _ZH if chinese else _EN


def subject(question: Question) -> str:
    """What a question is about: its first names, else a phrase for want of any."""
    say = wording(question.chinese)
    return say.separator.join(question.names[:3]) or say.subject


def ask_back(question: Question) -> str:
    """A message that asks the user which of several things a vague phrase means, and holds no report."""
    return wording(question.chinese).ask_back.format(vague=question.vague[0])


def closed_book(question: Question) -> str:
    """A report without any source: what the question asks for, and that nothing can be said."""
    say = wording(question.chinese)
    parts = "\n".join(f"- {part}" for part in question.requirements)
    title, body = (
        say.title.format(subject=subject(question)),
        say.closed_book.format(subject=subject(question), parts=parts),
    )
    return f"# {title}\n\n{body}\n\n{say.close}"
