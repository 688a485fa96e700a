"""Cases as HTML: what is shown, what is said to be odd, and that nothing a model wrote becomes markup."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import zlib
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html as lxml_html
from made_cases import ATTACK, HOSTILE, judge, make_report, make_task, make_transcript, write_run

from lifesearch_kit.errors import InputError
from lifesearch_kit.failures.modes import failure_modes
from lifesearch_kit.frames import judgments_frame, reports_frame, rubrics_frame, tasks_frame
from lifesearch_kit.records import Label, subject_fingerprint
from lifesearch_kit.results import Results, load_results
from lifesearch_kit.views import run_page
from lifesearch_kit.views.case_pages import write_case_page
from lifesearch_kit.views.cases import case_html, make_case
from lifesearch_kit.views.html_trees import html_tree
from lifesearch_kit.views.odd_text import oddities, reveal
from lifesearch_kit.views.report_html import MARKDOWN_LIMIT, Highlight, report_html
from lifesearch_kit.views.run_page import write_run_page

OWN_ELEMENTS = {"div", "p", "a", "ul", "ol", "li", "em", "strong", "code", "pre", "br", "hr", "blockquote"}
OWN_ELEMENTS |= {"table", "thead", "tbody", "tr", "th", "td", "mark", "sup", "span"}
HEADINGS = {f"h{level}" for level in range(1, 7)}


def page_of(path: Path, *arguments: Any, **keywords: Any) -> str:
    return write_case_page(path / "case.html", *arguments, **keywords).read_text(encoding="utf-8")


def marked_text(body: str) -> str:
    """The text inside the marks, without the findings' numbers."""
    root = lxml_html.fragment_fromstring(body, create_parent="div")
    for number in root.iter("sup"):
        number.text = None
    return "".join(one.text_content() for one in root.iter("mark"))


def span_of(text: str, words: str, number: int = 1) -> Highlight:
    start = text.index(words)
    return Highlight(start, start + len(words), number)


# ---- the text of a report ----


@pytest.mark.parametrize(
    ("text", "words", "shown"),
    [
        ("Plain words here.", "words", "words"),
        ("A **bold claim** of it.", "**bold claim** of", "bold claim of"),
        ("See [the page](https://a.example/the) and the end.", "the end", "the end"),
        ("x\n\n| a | b |\n|---|---|\n| one | two |\n| one | six |\n", "| one | six |", "onesix"),
        ("Tom &amp; Ann went\r\nhome &lt; fast.", "&lt; fast", "< fast"),
        ("```\ncode one\ncode two\n```\nafter code two", "after code", "after code"),
        ("营收增长**30%**，净利下降。", "**30%**，净利", "30%，净利"),
    ],
)
def test_a_finding_marks_its_words_and_no_others(text: str, words: str, shown: str) -> None:
    rendered = report_html(text, [span_of(text, words)])
    assert marked_text(rendered.body) == shown
    assert rendered.marked == {1}


def test_findings_that_overlap_are_each_numbered() -> None:
    body = report_html("one two three", [Highlight(0, 7, 1), Highlight(4, 13, 2)]).body
    assert body.count('<sup id="finding-1">') == 1
    assert body.count('<sup id="finding-2">') == 1
    assert marked_text(body) == "one two three"


@given(st.lists(st.text("abc ", min_size=1, max_size=12), min_size=1, max_size=6), st.data())
def test_any_span_of_plain_paragraphs_is_marked_exactly(parts: list[str], data: st.DataObject) -> None:
    text = "\n\n".join(f"x{part}x" for part in parts)
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    shown = marked_text(report_html(text, [Highlight(start, end, 1)]).body)
    assert shown == text[start:end].replace("\n", "")


@settings(max_examples=150)
@given(
    st.text() | st.lists(st.sampled_from([*ATTACK.split("<"), "<", "[", "](", ")", "`", "|", "\n", "\0"])).map("".join)
)
def test_whatever_the_text_only_markdowns_own_elements_come_of_it(text: str) -> None:
    def check(node: Any) -> None:
        tag, attributes, *children = node
        assert tag in OWN_ELEMENTS | HEADINGS
        assert not {name for name in attributes if name.startswith("on") or name in ("style", "src")}
        assert re.match(r"https?://", attributes.get("href", "https://"))
        for child in children:
            if not isinstance(child, str):
                check(child)

    check(html_tree(report_html(text, [Highlight(0, len(text), 1)]).body))


def test_only_links_to_the_web_are_links() -> None:
    body = report_html(HOSTILE).body
    links = [dict(one.attrib) for one in lxml_html.fragment_fromstring(body, create_parent="div").iter("a")]
    assert [one["href"].split("/")[2] for one in links] == ["good.example", "evil.example"]  # the image is a link
    assert all(one["rel"] == "noopener noreferrer nofollow" and one["target"] == "_blank" for one in links)


def test_invisible_characters_are_shown_and_counted() -> None:
    text = "a\u200b\u200b\u202eb"
    # Two zero-width spaces and an override: three characters; they stand together, so they are one badge.
    assert oddities(text)[0] == "holds 3 invisible characters (U+200B, U+202E)"
    assert "turn the direction" in oddities(text)[1]
    assert '<span class="odd" title="ZERO WIDTH SPACE">U+200B +2</span>' in reveal(text)
    assert not set("\u200b\u202e") & set(reveal(text))


def test_odd_forms_are_said() -> None:
    assert "holds a code block that is never closed" in report_html("a\n\n```py\nx = 1").notes
    assert "holds a code block that is never closed" in report_html("- a\n  ~~~\n  b\n").notes
    assert report_html("```py\nx = 1\n```\n").notes == []
    assert "holds lines like a table's that form no table" in report_html("| a | b |\n| 1 | 2 |").notes
    assert report_html("| a | b |\n|---|---|\n| 1 |").notes == []
    assert "holds 3 HTML tags or the like, shown as written" in report_html("<!DOCTYPE html><p>a</p> 1 < 2").notes


def test_a_report_of_two_megabytes_is_shown_as_written() -> None:
    text = "# no heading\n" + "word <b> \n" * 200_000
    rendered = report_html(text, [Highlight(2, 12, 1)])
    assert "shown as written" in rendered.notes[-1]
    assert marked_text(rendered.body) == "no heading"
    assert len(lxml_html.fragment_fromstring(rendered.body, create_parent="div").text_content()) == len(text) + 1
    assert len(text) > 20 * MARKDOWN_LIMIT / 2


# ---- a case ----


def test_score_rubrics_and_labels_stand_in_their_order() -> None:
    task = make_task(0.2, 0.5, 0.3, cutoff=date(2026, 3, 31))
    report = make_report()
    now = subject_fingerprint(task, task.rubrics[1], report)
    label = {"system": "s", "task_id": "t", "annotator": "ann"}
    labels = [
        Label(**label, rubric_id="R2", satisfied=True, note="it is there", fingerprint=now),
        Label(**label, rubric_id="R3", satisfied=True, fingerprint=now),
        Label(**label, rubric_id="R1", satisfied=True, fingerprint="of an older text"),
    ]
    html = case_html(make_case(task, report, [judge(1, False), judge(2, False), judge(3, True)], labels))
    assert "1/3, 30.00% by j" in html  # R3 alone: 0.3 of 1.0
    assert re.findall(r"<bdi>(R\d)</bdi>", html) == ["R2", "R1", "R3"]
    assert "lost 50.0% of the score" in html
    assert "cutoff 2026-03-31" in html
    assert html.count("differs from the judge") == 1
    assert "Pass by ann (it is there)" in html
    assert "Pass by ann, of an earlier wording" in html


def test_findings_come_from_the_failure_table_or_as_tuples() -> None:
    task = make_task(1.0, cutoff=date(2026, 3, 31))
    report = make_report("Sales rose. As of 3 May 2026 they fell to 7 units.")
    found = failure_modes(rubrics_frame([task]), reports_frame([report]))
    html = case_html(make_case(task, report, findings=found))
    assert "temporal scope" in html
    assert "As of 3 May 2026 they fell to 7 units." in marked_text(html)
    html = case_html(make_case(task, report, findings=[(0, 11, ATTACK), (None, None, "nowhere")]))
    assert marked_text(html) == "Sales rose."
    assert "no place in the text" in html
    assert "<script" not in html


def test_findings_outside_the_text_and_foreign_reports_are_refused() -> None:
    with pytest.raises(InputError, match="from character 0 to 9: the report has 0 to 1"):
        make_case(make_task(1.0), make_report("A"), findings=[(0, 9, "x")])
    with pytest.raises(InputError, match="on task 'u'"):
        make_case(make_task(1.0), make_report(task_id="u"))


def test_a_case_without_task_judgments_text_or_transcript_says_so(tmp_path: Path) -> None:
    page = page_of(tmp_path, None, make_report(""), [])
    assert "no such task here" in page
    assert "There is no text." in page
    assert "No transcript was kept" in page
    page = page_of(tmp_path, make_task(1.0), make_report(), [], notice="Invented demo tasks.")
    assert "Nothing of this report was judged yet." in page
    assert "Invented demo tasks." in page


def test_a_transcript_is_told_step_by_step(tmp_path: Path) -> None:
    page = page_of(tmp_path, make_task(1.0), make_report(), [], make_transcript())
    for words in ("2.5 s deciding, 0.5 s in tools, 3,000 tokens read, 1,200 tokens written", "1 failed", "2026-01-02"):
        assert words in page
    assert '<a href="https://a.example/x" rel="noopener noreferrer nofollow" target="_blank">' in page
    assert "message (stop)" in page


def test_what_a_transcript_lacks_is_said(tmp_path: Path) -> None:
    whole = make_transcript()
    cut = whole.steps[0].model_copy(update={"results": whole.steps[0].results[:1]})
    page = page_of(tmp_path, None, make_report(iterations=5), [], whole.model_copy(update={"steps": (cut,)}))
    assert "breaks off in step 1: 1 of 2 tool calls have no result" in page
    assert "ends after 1 of 5 steps" in page
    assert "that of another report: s, task t, run 2" in page_of(
        tmp_path, None, make_report(), [], make_transcript(run=2)
    )
    (tmp_path / "damaged.json.gz").write_bytes(b"not gzip")
    for name, told in [("absent.json.gz", "there is no such transcript"), ("damaged.json.gz", "is no readable")]:
        page = page_of(tmp_path, None, make_report(), [], tmp_path / name)
        assert told in page
        assert str(tmp_path) not in page


def test_the_policy_names_what_the_page_holds(tmp_path: Path) -> None:
    write_run_page(tmp_path / "run.html", load_results(write_run(tmp_path)))
    write_case_page(tmp_path / "case.html", make_task(1.0), make_report(HOSTILE), [])

    def source(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    for name, scripts in [("run.html", 1), ("case.html", 0)]:
        root = lxml_html.fromstring((tmp_path / name).read_text(encoding="utf-8"))
        policy = root.xpath("//meta[@http-equiv='Content-Security-Policy']/@content")[0]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        running = root.xpath("//script[not(@type)]/text()")
        assert len(running) == scripts
        for text in [*running, *root.xpath("//style/text()")]:
            assert source(text) in policy
        assert not root.xpath("//@style | //@*[starts-with(name(), 'on')]")


# ---- the page of a run ----


def unpacked(page: str, name: str) -> Any:
    content = lxml_html.fromstring(page).get_element_by_id(name).text
    return json.loads(zlib.decompress(base64.b64decode(content)))


def test_the_index_of_a_run_tells_what_the_filters_need(tmp_path: Path) -> None:
    write_run(tmp_path)
    page = write_run_page(tmp_path / "run.html", load_results(tmp_path), tmp_path).read_text(encoding="utf-8")
    index = json.loads(lxml_html.fromstring(page).get_element_by_id("index").text)
    first, last = index["reports"][0], index["reports"][-1]
    # A passes R1 alone: 0.5 of 1.0. It fails R2 (Subjective, Implicit, Nice to Have) and R3 (the usual attributes).
    assert (first["system"], first["domain"], first["told"], first["score"]) == ("A", "Finance", "1/3, 50.00%", 0.5)
    assert first["failed"] == [["Objective", "Explicit", "Must Have"], ["Subjective", "Implicit", "Nice to Have"]]
    assert (last["status"], last["told"]) == ("refused", "no report (refused): 0/3, 0.00%")
    assert last["modes"] == ["no report"]
    assert unpacked(page, "case-0")["verdicts"]["R2"][:2] == ["failed", "failed"]
    assert "no such transcript" in json.dumps(unpacked(page, "transcript-1"))


def test_what_finds_no_room_is_left_out_and_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = load_results(write_run(tmp_path))
    monkeypatch.setattr(run_page, "TRANSCRIPT_ROOM", 0)
    monkeypatch.setattr(run_page, "CASE_ROOM", 0)
    page = write_run_page(tmp_path / "run.html", results, tmp_path).read_text(encoding="utf-8")
    assert "The transcripts of 4 reports are left out" in page  # both runs of system A on both tasks name one
    assert "8 reports are in the list alone" in page
    assert 'id="case-' not in page
    assert "Transcripts are not in this page." in write_run_page(tmp_path / "run.html", results).read_text("utf-8")


def test_a_folder_of_reports_alone_makes_a_page(tmp_path: Path) -> None:
    results = Results(tmp_path, reports=reports_frame([make_report(HOSTILE)]))
    page = write_run_page(tmp_path / "run.html", results).read_text(encoding="utf-8")
    assert "no such task here" in json.dumps(unpacked(page, "case-0"))


def test_a_report_whose_task_is_lost_stands_beside_the_others(tmp_path: Path) -> None:
    task = make_task(0.6, 0.4)
    results = Results(
        tmp_path,
        tasks=tasks_frame([task]),
        rubrics=rubrics_frame([task]),
        reports=reports_frame([make_report(), make_report(task_id="lost")]),
        judgments=judgments_frame([judge(1, True), judge(2, False), judge(1, True, task_id="lost")]),
    )
    page = write_run_page(tmp_path / "run.html", results).read_text(encoding="utf-8")
    told = [one["told"] for one in json.loads(lxml_html.fromstring(page).get_element_by_id("index").text)["reports"]]
    assert told == ["1/2, 60.00%", "not judged"]
    assert "no such task here" in json.dumps(unpacked(page, "case-1"))


def test_no_reports_and_too_many_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"reports\.jsonl"):
        write_run_page(tmp_path / "run.html", Results(tmp_path, tasks=pd.DataFrame()))
    many = reports_frame([make_report(run=number) for number in range(1, 2002)])
    with pytest.raises(InputError, match="2,001 reports"):
        write_run_page(tmp_path / "run.html", Results(tmp_path, reports=many))
