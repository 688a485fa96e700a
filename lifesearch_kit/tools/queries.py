"""Several queries in one call of a search tool, each asked, kept and guarded as if it had come alone."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

from lifesearch_kit.errors import ToolError
from lifesearch_kit.tools.tool import Tool


def with_queries(tool: Tool, most: int) -> Tool:
    """A search tool whose `query` is a list of queries.

    They go to `tool` one by one, side by side: whatever stands around it (snapshots, blocklist, as-of guard) sees
    single queries, so that one answer serves both forms of the tool. The results are shown apart. A call fails where
    all of its queries do; a query that fails beside others is told in its place.

    Parameters
    ----------
    tool
        Takes a text as `query`, with all that is to stand around it.
    most
        How many queries a call may hold; 1 leaves the tool as it is.
    """
    if most == 1:
        return tool

    async def call(query: list[Any], **others: Any) -> str:
        queries = [one for place, one in enumerate(query) if one not in query[:place]]
        if not 1 <= len(queries) <= most:
            raise ToolError(f"'query' holds {len(queries)} queries; give 1 to {most}")
        asked = (tool.run({**others, "query": one}) for one in queries)
        answers = await asyncio.gather(*asked, return_exceptions=True)
        failures = [one for one in answers if isinstance(one, BaseException)]
        for failure in failures:
            if len(queries) == 1 or not isinstance(failure, ToolError):
                raise failure
        shown = _apart(queries, answers)
        if len(failures) == len(queries):
            failed = all(isinstance(one, ToolError) and one.service_failed for one in failures)
            raise ToolError(shown, service_failed=failed)
        return shown

    return replace(tool, schema=_schema(tool, most), call=call)


def _apart(queries: list[Any], answers: list[str | BaseException]) -> str:
    if len(queries) == 1:
        return str(answers[0])
    heads = [f"Query {number} of {len(queries)}: {query}" for number, query in enumerate(queries, start=1)]
    told = [f"Error: {one}" if isinstance(one, BaseException) else one for one in answers]
    return "\n\n".join(part for pair in zip(heads, told, strict=True) for part in pair)


def _schema(tool: Tool, most: int) -> dict[str, Any]:
    function = tool.schema["function"]
    parameters = function["parameters"]
    rule = parameters["properties"]["query"]
    # The number is told in words: some endpoints refuse a schema that bounds a list.
    described = f"1 to {most} queries that are searched for at once. Each: {rule.get('description', '')}".strip()
    queries = {"type": "array", "items": rule, "description": described}
    changed = {**parameters, "properties": {**parameters["properties"], "query": queries}}
    return {**tool.schema, "function": {**function, "parameters": changed}}
