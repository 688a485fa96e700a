"""Several queries in one search call: one request to Serper, results and snapshots a query."""

from __future__ import annotations

import asyncio
import json
import time
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from loopback import Loopback, call, completion

from lifesearch_kit.collect.collect import run_agents
from lifesearch_kit.collect.plan import plan_runs
from lifesearch_kit.collect.store import Store, read_transcript
from lifesearch_kit.collect.toolbox import Toolbox, open_toolbox, parse_tools
from lifesearch_kit.errors import ToolError
from lifesearch_kit.records import Rubric, Task
from lifesearch_kit.settings import SystemSettings
from lifesearch_kit.tools import Tool, function_schema
from lifesearch_kit.tools.blocklist import Blocklist, blocking
from lifesearch_kit.tools.queries import with_queries
from lifesearch_kit.tools.search import search_tool
from lifesearch_kit.tools.search_replies import read_parts
from lifesearch_kit.tools.snapshots import Snapshots

RUBRICS = (Rubric(rubric_id="R1", criterion="Names it.", weight=1.0),)
TASK = Task(task_id="t", language="en", domain="d", query="Q?", cutoff=date(2026, 3, 31), rubrics=RUBRICS)


def found(name: str, **more: Any) -> dict[str, Any]:
    return {"organic": [{"title": name, "link": f"https://{name}.example/", **more}]}


def named(query: str, name: str) -> dict[str, Any]:
    return {"searchParameters": {"q": query}, **found(name)}


def run(tool: Tool, query: Any) -> str:
    return asyncio.run(tool.run(json.dumps({"query": query})))


def failed(tool: Tool, query: Any) -> ToolError:
    with pytest.raises(ToolError) as caught:
        run(tool, query)
    return caught.value


@pytest.fixture
def serper(loopback: Loopback) -> Loopback:
    loopback.searches |= {"ferry": found("boat"), "渡轮": found("chuan"), "train": found("rail")}
    return loopback


def several(server: Loopback, **settings: Any) -> Tool:
    return with_queries(search_tool(endpoint=server.search_url, queries=5, **settings), 5)


def test_the_queries_of_a_call_are_one_request_with_a_language_each(serper: Loopback) -> None:
    shown = run(several(serper), ["ferry", "渡轮"])
    ((_, _, body),) = serper.asked
    assert body == [
        {"q": "ferry", "num": 10, "hl": "en", "gl": "us"},
        {"q": "渡轮", "num": 10, "hl": "zh-cn", "gl": "cn"},
    ]
    assert shown == (
        "Query 1 of 2: ferry\n\n[1] boat\nURL: https://boat.example/\n\n"
        "Query 2 of 2: 渡轮\n\n[1] chuan\nURL: https://chuan.example/"
    )


def test_one_query_is_asked_and_shown_as_ever(serper: Loopback) -> None:
    plain = search_tool(endpoint=serper.search_url)
    assert run(several(serper), ["ferry"]) == run(plain, "ferry")
    assert serper.asked[0][2] == serper.asked[1][2] == {"q": "ferry", "num": 10, "hl": "en", "gl": "us"}
    assert with_queries(plain, 1) is plain


def test_parallel_calls_of_the_plain_tool_stay_requests_of_their_own(serper: Loopback) -> None:
    async def both(tool: Tool) -> None:
        await asyncio.gather(tool.call(query="ferry"), tool.call(query="train"))

    asyncio.run(both(search_tool(endpoint=serper.search_url)))
    assert sorted(body["q"] for _, _, body in serper.asked) == ["ferry", "train"]


@pytest.mark.parametrize("written", ["ferry", ["ferry"], '["ferry"]', ["ferry", "ferry"]])
def test_a_lone_query_is_taken_in_any_form(serper: Loopback, written: Any) -> None:
    assert run(several(serper), written) == "[1] boat\nURL: https://boat.example/"
    assert len(serper.asked) == 1


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ([], "'query' holds 0 queries; give 1 to 5"),
        (list("abcdef"), "'query' holds 6 queries; give 1 to 5"),
        ([5], "'query' must be of type string, not 5"),
        ([{"q": "ferry"}], "'query' must be of type string"),
        (5, "'query' must be of type array"),
        ([" "], "the query is blank"),
    ],
)
def test_what_is_no_list_of_queries_is_told(serper: Loopback, query: Any, words: str) -> None:
    error = failed(several(serper), query)
    assert words in str(error)
    assert not error.service_failed
    assert not serper.asked


def test_a_faulty_query_leaves_the_others_their_results(serper: Loopback) -> None:
    shown = run(several(serper), ["ferry", " ", 5])
    assert "Query 1 of 3: ferry\n\n[1] boat" in shown
    assert "Query 2 of 3:  \n\nError: the query is blank" in shown
    assert "Query 3 of 3: 5\n\nError: 'query' must be of type string" in shown


ERROR = {"message": "Query not allowed", "statusCode": 400}


@pytest.mark.parametrize(
    ("answer", "parts"),
    [
        # As Serper sends it, and in another order: each reply names its query.
        ([named("ferry", "a"), named("train", "b")], ["a", "b"]),
        ([named("train", "b"), named("ferry", "a")], ["a", "b"]),
        # Without names the place counts, but only where none is missing.
        ([found("a"), found("b")], ["a", "b"]),
        ([found("a")], ["left this query out", "left this query out"]),
        ([], ["left this query out", "left this query out"]),
        ([named("train", "b")], ["left this query out", "b"]),
        ([None, named("train", "b")], ["left this query out", "b"]),
        ([ERROR, named("train", "b")], ["the search engine refused: Query not allowed", "b"]),
        # The place of the first holds the second's reply, and nobody's is left for the first.
        ([named("train", "b"), named("train", "b")], ["left this query out", "b"]),
        ([named("ferry", "a"), named("train", "b"), found("c")], ["a", "b"]),
    ],
)
def test_each_query_gets_its_own_part_or_an_error(serper: Loopback, answer: list[Any], parts: list[str]) -> None:
    serper.together = lambda _: answer
    tool = several(serper)
    lost = [part for part in parts if len(part) > 1]
    if len(lost) == 2:
        error = failed(tool, ["ferry", "train"])
        assert error.service_failed
        shown = str(error)
    else:
        shown = run(tool, ["ferry", "train"])
    first, _, second = shown.partition("\n\nQuery 2 of 2: train\n\n")
    for text, part in ((first, parts[0]), (second, parts[1])):
        assert (part if len(part) > 1 else f"https://{part}.example/") in text


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (found("a"), "several queries with an object instead of a list"),
        ({"message": "Unauthorized.", "statusCode": 403}, "an object instead of a list: Unauthorized."),
        ((403, {"message": "Unauthorized."}), "HTTP 403: Unauthorized."),
        ((500, {"message": "Down."}), "HTTP 500: Down."),
        ((200, "<html>"), "without JSON"),
    ],
)
def test_a_service_that_failed_fails_every_query_and_is_asked_once(serper: Loopback, answer: Any, words: str) -> None:
    serper.together = lambda _: answer
    error = failed(several(serper), ["ferry", "train"])
    assert str(error).count(words) == 2
    assert error.service_failed
    assert len(serper.asked) == 1


def test_of_queries_that_were_refused_together_each_is_asked_alone(serper: Loopback) -> None:
    serper.together = lambda _: (400, {"message": "Query not allowed"})
    serper.searches["bad"] = (400, {"message": "Query not allowed"})
    shown = run(several(serper), ["ferry", "bad"])
    assert "[1] boat" in shown
    assert "Query 2 of 2: bad\n\nError: the search engine answered HTTP 400: Query not allowed" in shown
    assert len(serper.asked) == 3


@given(
    st.lists(st.none() | st.booleans() | st.dictionaries(st.sampled_from(["organic", "searchParameters"]), st.none()))
)
def test_odd_parts_are_never_another_number_than_the_queries(payload: list[Any]) -> None:
    parts = read_parts(payload, ["a", "b"])
    assert len(parts) == 2
    assert all(isinstance(part, (dict, ToolError)) for part in parts)


def test_batch_and_single_calls_share_snapshots(serper: Loopback, tmp_path: Path) -> None:
    with Snapshots(tmp_path) as snapshots:
        plain = snapshots.of(search_tool(endpoint=serper.search_url))
        kept = run(plain, "ferry")
        tool = with_queries(snapshots.of(search_tool(endpoint=serper.search_url, queries=5)), 5)
        assert kept in run(tool, ["ferry", "train", "渡轮"])
        # Only what was not there: the second request holds two of the three.
        assert [one["q"] for one in serper.asked[1][2]] == ["train", "渡轮"]
        assert run(plain, "train") in run(tool, ["train", "渡轮"])
        assert len(serper.asked) == 2
        serper.together = lambda _: [found("a")]
        failed(tool, ["new", "newer"])
        serper.together = None
        serper.searches["new"] = found("late")
        assert "late" in run(plain, "new"), "what a short answer left out is not kept as a failure"


def test_guards_see_one_query_at_a_time(serper: Loopback) -> None:
    serper.searches["ferry"] = {"organic": found("boat")["organic"] + found("late", date="May 1, 2026")["organic"]}
    tools = [blocking(search_tool(endpoint=serper.search_url, queries=5), Blocklist(["rail.example"]))]
    (tool,) = Toolbox(tools, as_of="drop", queries=5)(TASK)
    shown = run(tool, ["ferry", "train"])
    assert "rail.example" not in shown
    assert "late.example" not in shown
    assert shown.index("1 result dated after") < shown.index("Query 2") < shown.index("1 result was left out: blocked")


def test_any_other_search_is_called_query_by_query() -> None:
    asked = []

    async def archive(query: str) -> str:
        asked.append(query)
        await asyncio.sleep(0)
        return f"found {query}"

    tool = with_queries(Tool("search", function_schema("search"), archive, backend="own archive"), 3)
    assert run(tool, ["a", "b"]) == "Query 1 of 2: a\n\nfound a\n\nQuery 2 of 2: b\n\nfound b"
    assert asked == ["a", "b"]


def test_a_call_that_is_given_up_gives_its_request_up(serper: Loopback) -> None:
    async def given_up(tool: Tool) -> int:
        serper.together = _slowly
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.3):
                await tool.run({"query": ["ferry", "train"]})
        await asyncio.sleep(0)
        return len(asyncio.all_tasks()) - 1

    assert asyncio.run(given_up(several(serper))) == 0


def _slowly(_: list[Any]) -> list[Any]:
    time.sleep(1.5)
    return []


def fingerprint_of(settings: dict[str, Any]) -> str:
    box = open_toolbox(parse_tools(settings), "data/demo/web/pages.jsonl")
    (run,) = plan_runs([TASK], [SystemSettings(name="S", model="m")], box, runs=1, today=date(2026, 10, 15))
    return run.fingerprint


def test_the_list_form_is_another_system_and_the_usual_form_is_the_same_as_ever() -> None:
    plain, listed = fingerprint_of({}), fingerprint_of({"queries": 5})
    assert len({plain, listed, fingerprint_of({"queries": 3})}) == 3
    assert plain == fingerprint_of({"queries": 1})
    box = open_toolbox(parse_tools({"queries": 5}), "data/demo/web/pages.jsonl")
    rule = box(TASK)[0].schema["function"]["parameters"]["properties"]["query"]
    assert (rule["type"], rule["items"]["type"]) == ("array", "string")
    assert "1 to 5 queries" in rule["description"]
    shown = run(box(TASK)[0], ["白沙 产量", "zeppelin"])
    assert "Query 2 of 2: zeppelin\n\nNo results for 'zeppelin'" in shown


@pytest.mark.parametrize("protocol", ["tool_calls", "text", "constrained_text"])
def test_an_agent_searches_for_several_things_in_one_call(loopback: Loopback, tmp_path: Path, protocol: str) -> None:
    arguments = {"query": ["白沙 产量", "zeppelin"]}
    loopback.script[:] = [completion(None, call("search", arguments)), completion("# Report")]
    if protocol != "tool_calls":
        said = [{"tool": "search", "arguments": arguments}, {"report": "# Report"}]
        loopback.script[:] = [completion(json.dumps(one)) for one in said]
    system = SystemSettings(name="S", model="m", base_url=loopback.chat_url, max_retries=0, protocol=protocol)
    box, today = open_toolbox(parse_tools({"queries": 4}), "data/demo/web/pages.jsonl"), date(2026, 10, 15)
    with Store(tmp_path) as store:
        plan = plan_runs([TASK], [system], box, runs=1, today=today)
        (report,), _ = asyncio.run(run_agents(plan, box, store, today=today))
    assert (report.text, report.tool_calls, report.failed_tool_calls) == ("# Report", {"search": 1}, {})
    (result,) = read_transcript(tmp_path / str(report.transcript)).steps[0].results
    assert json.loads(result.arguments) == arguments
    assert "Query 2 of 2: zeppelin" in result.content
    if protocol != "tool_calls":
        assert '{"query": ["<what you want to know>"]}' in json.dumps(loopback.requests[0], ensure_ascii=False).replace(
            '\\"', '"'
        )
