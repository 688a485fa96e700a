"""The researcher's report: headings by requirement, quoted evidence with address and date, a table, a conclusion."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import date

from lifesearch_kit.offline.comparison import Change, Disagreement
from lifesearch_kit.offline.evidence import Evidence
from lifesearch_kit.offline.features import length
from lifesearch_kit.offline.questions import Question
from lifesearch_kit.offline.sources import Source
from lifesearch_kit.offline.wording import subject, wording


@dataclass(frozen=True)
class Findings:
    """Everything that a report is written from."""

    question: Question
    by_part: tuple[tuple[str, tuple[Evidence, ...]], ...]
    advice: tuple[Evidence, ...]
    choice: str | None
    rows: tuple[Evidence, ...]
    disagreements: tuple[Disagreement, ...]
    changes: tuple[Change, ...]
    caveats: tuple[Evidence, ...]
    cutoff: date | None
    left_out: int


def write_report(findings: Findings, terse: bool) -> str:
    """Write the report; where the question limits the length, the weakest evidence goes until it fits."""
    text = _assemble(findings, terse)
    limit = findings.question.limit
    most = max((len(found) for _, found in findings.by_part), default=0)
    for kept in range(most - 1, -1, -1):
        if not limit or length(text) <= limit:
            break
        findings = _shortened(findings, kept)
        text = _assemble(findings, terse)
    return text


def _shortened(findings: Findings, kept: int) -> Findings:
    """Keep so many sentences a part; without any left in the parts, the table and the advice remain."""
    return replace(
        findings,
        by_part=tuple((part, found[: max(1, kept)]) for part, found in findings.by_part) if kept else (),
        rows=findings.rows[: kept + 4],
        disagreements=findings.disagreements[: kept // 2],
        changes=findings.changes[: 2 * kept],
        caveats=findings.caveats[:kept],
        advice=findings.advice[: max(1, kept)],
    )


def _assemble(findings: Findings, terse: bool) -> str:
    say = wording(findings.question.chinese)
    blocks = [] if terse else [f"# {say.title.format(subject=subject(findings.question))}"]
    blocks += _opening(findings)
    if findings.question.wants_table and findings.rows:
        blocks += ([] if terse else [f"## {say.table}"]) + [_table(findings)]
    if terse:
        blocks.append("\n".join(_bullet(one, findings) for _, found in findings.by_part for one in found))
    else:
        for number, (part, found) in enumerate(findings.by_part, start=1):
            blocks.append(f"## {number}. {part}")
            blocks.append("\n".join(_bullet(one, findings) for one in found) if found else say.nothing)
        blocks += _comparisons(findings)
    blocks += _closing(findings, terse)
    return "\n\n".join(block for block in [*blocks, say.close] if block)


def _opening(findings: Findings) -> list[str]:
    if findings.cutoff is None:
        return []
    say, chinese = wording(findings.question.chinese), findings.question.chinese
    lines = [say.cutoff.format(day=_day(findings.cutoff, chinese))]
    if findings.left_out:
        lines.append(say.left_out.format(count=findings.left_out))
    return [" ".join(lines)]


def _day(day: date | None, chinese: bool) -> str:
    if day is None:
        return wording(chinese).undated
    return f"{day.year}年{day.month}月{day.day}日" if chinese else f"{day.day} {day:%B} {day.year}"


def cite(source: Source, chinese: bool) -> str:
    """A Markdown link with the page's date."""
    title = re.sub(r"[\[\]|]", " ", source.title).strip()
    return f"([{title}]({source.url}), {_day(source.published, chinese)})"


def _bullet(one: Evidence, findings: Findings) -> str:
    return f"- {one.text} {cite(one.source, findings.question.chinese)}"


def _table(findings: Findings) -> str:
    chinese = findings.question.chinese
    columns = wording(chinese).columns
    lines = [f"| {' | '.join(columns)} |", "|" + " --- |" * len(columns)]
    for one in findings.rows:
        item, _, figures = one.text.partition(" — ")
        if not figures:
            item, figures = one.source.title, one.text
        cells = (item, figures, f"[{one.source.title}]({one.source.url})", _day(one.source.published, chinese))
        lines.append("| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |")
    return "\n".join(lines)


def _comparisons(findings: Findings) -> list[str]:
    say, chinese = wording(findings.question.chinese), findings.question.chinese
    blocks: list[str] = []
    if findings.disagreements:
        blocks.append(f"## {say.disagree}")
        for one in findings.disagreements:
            lines = [_bullet(one.first, findings), _bullet(one.second, findings)]
            relied = one.relied_on.source
            lines.append("- " + say.rely.format(source=relied.title, day=_day(relied.published, chinese)))
            blocks.append("\n".join(lines))
    if findings.caveats:
        blocks += [f"## {say.caveats}", "\n".join(_bullet(one, findings) for one in findings.caveats)]
    if findings.changes:
        blocks += [
            f"## {say.changes}",
            "\n".join(f"- {one.sentence(chinese)} {cite(one.source, chinese)}" for one in findings.changes),
        ]
    return blocks


def _closing(findings: Findings, terse: bool) -> list[str]:
    say, chinese = wording(findings.question.chinese), findings.question.chinese
    blocks: list[str] = []
    if not terse and not findings.disagreements:
        blocks += [f"## {say.conclusion}", say.no_conflict]
    if findings.question.advice and findings.advice:
        reasons = [f"{one.text} {cite(one.source, chinese)}" for one in findings.advice]
        first = say.pick.format(name=findings.choice, reason=reasons[0]) if findings.choice else reasons[0]
        lines = [first, *reasons[1:]]
        limit = findings.question.advice_limit
        while limit and len(lines) > 1 and length(" ".join(lines)) > limit:
            lines.pop()
        blocks += ([] if terse else [f"## {say.advice}"]) + [" ".join(lines)]
    return blocks
