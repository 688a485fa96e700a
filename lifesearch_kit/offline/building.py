"""The baseline builder: filters, classifies and rewrites raw queries by rules. It is no language model.

It reads the steps' prompts as a model would get them (the query between tags that carry a code) and tells the step by
the fields that the prompt asks for. The same request always gets the same answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from lifesearch_kit.offline.building_domains import domain_of
from lifesearch_kit.offline.building_filter import judge_query
from lifesearch_kit.offline.building_rewriting import without_machinery
from lifesearch_kit.offline.conversation import Completion, text_of

BUILDERS = ("baseline-builder",)
_QUERY = re.compile(r"\A<query-(?P<nonce>[0-9a-f]+)>\n(?P<text>.*)\n</query-(?P=nonce)>", re.DOTALL)


def answer_builder(body: Mapping[str, Any]) -> Completion:
    """Answer a step's request; what is none is answered in words, which nobody takes for a decision."""
    said = [text_of(one.get("content")) for one in body["messages"]]
    query = _QUERY.match(said[-1].lstrip()) if said else None
    if query is None:
        return Completion("This baseline builder found no query between tags that carry a code.")
    asked = "\n".join([*said[:-1], said[-1][query.end() :]])
    if "quality_level" in asked:
        return Completion(json.dumps(judge_query(query["text"]), ensure_ascii=False))
    if "taxonomy" in asked:
        domain, found = domain_of(query["text"])
        reason = f"found: {', '.join(found[:4])}" if found else "no word of any domain found"
        return Completion(json.dumps({"taxonomy": domain, "reason": reason}, ensure_ascii=False))
    return Completion(without_machinery(query["text"]))
