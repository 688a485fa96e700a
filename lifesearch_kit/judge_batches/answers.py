"""A batch's answers as judgments: a judge's live client shows what it would ask, and reads what the batch answered."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpx
from openai.types import Batch

from lifesearch_kit.chat.client import Chat
from lifesearch_kit.chat.endpoint_errors import explain, status_of_fault
from lifesearch_kit.chat.endpoint_faults import Fault, read_fault
from lifesearch_kit.chat.reply import Reply
from lifesearch_kit.errors import ChatError
from lifesearch_kit.judge.checks import Check
from lifesearch_kit.judge.judge import judge_rubric
from lifesearch_kit.records import Judgment
from lifesearch_kit.redaction import redact
from lifesearch_kit.settings import JudgeSettings
from lifesearch_kit.text import replace_lone_surrogates

BY_BATCH = "judged through a batch, which tells no seconds"
_BLANK: dict[str, Any] = {"choices": [{"message": {}}]}
_MOST_FAULTS_TOLD = 5


def read_answers(files: Mapping[str, bytes], sent: Iterable[str]) -> tuple[dict[str, list[dict[str, Any]]], list[str]]:
    """Read a batch's output and error file.

    Parameters
    ----------
    files
        Content by a name to tell faults with.
    sent
        The custom ids of the batch's requests.

    Returns
    -------
    dict of str to list of dict
        The lines of each custom id that was sent.
    list of str
        What cannot be used: lines that are no JSON object, that name no request, or one that was not sent.
    """
    known = frozenset(sent)
    answers: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    faults: list[str] = []
    for name, content in files.items():
        # Text may hold separators that only str.splitlines takes for the end of a line.
        for number, raw in enumerate(content.split(b"\n"), start=1):
            if not raw.strip():
                continue
            try:
                line = json.loads(raw)
            except (ValueError, RecursionError):
                line = None
            if not isinstance(line, dict):
                faults.append(f"{name}, line {number}: is no JSON object: {raw[:60].decode('utf-8', 'replace')!r}")
            elif not isinstance(line.get("custom_id"), str) or line["custom_id"] not in known:
                faults.append(f"{name}, line {number}: custom_id {line.get('custom_id')!r:.80} is none that was sent")
            else:
                answers[line["custom_id"]].append(line)
    return dict(answers), faults


class Replay:
    """A judge's live client whose endpoint is a batch that was, or will be, answered elsewhere.

    Parameters
    ----------
    judge
        Its settings, for the client and its errors.
    """

    def __init__(self, judge: JudgeSettings) -> None:
        self._judge = judge
        self._transport = _Transport()
        # An answer is there once: nothing can be asked for again.
        once = judge.model_copy(update={"max_retries": 0})
        self._chat = _ReplayedChat(once, httpx.AsyncClient(transport=self._transport))

    async def request(self, check: Check) -> bytes | Judgment:
        """The body that a live call would send; for a report beyond the judge's limit the judgment that needs none."""
        self._transport.asked, self._transport.answer = None, (200, _BLANK)
        judgment = await self._judged(check)
        return judgment if self._transport.asked is None else self._transport.asked

    async def judgment(self, check: Check, lines: Sequence[dict[str, Any]], batch: Batch) -> Judgment:
        """The judgment that a live call would have made of a request's lines in the files of its batch.

        Raises
        ------
        ChatError
            When nothing was judged, and a live call would have raised or there is not one answer.
        """
        self._transport.answer = self._answer(lines, batch)
        judgment = await self._judged(check)
        return judgment.model_copy(update={"seconds": None, "notes": (*judgment.notes, BY_BATCH)})

    async def _judged(self, check: Check) -> Judgment:
        once = check.judge.model_copy(update={"unjudged_retries": 0})
        return await judge_rubric(check._replace(judge=once), self._chat)

    def _answer(self, lines: Sequence[dict[str, Any]], batch: Batch) -> tuple[int, Any]:
        """Status and body as a live call would have got them."""
        if not lines:
            raise self._absence(batch)
        if len(lines) > 1:
            raise self._error(Fault(f"the batch answers it {len(lines)} times, so that none of them is taken"))
        response, error = lines[0].get("response"), lines[0].get("error")
        status = response.get("status_code") if isinstance(response, dict) else None
        if isinstance(response, dict) and isinstance(status, int) and (status == 200 or 400 <= status <= 599):
            return status, {"error": error} if response.get("body") is None else response["body"]
        fault = read_fault(error) if error else Fault("its line holds neither a status nor an error")
        status = status_of_fault(fault)
        if status == 429 or status >= 500:
            raise self._error(fault)
        return status, {"error": error}

    def _absence(self, batch: Batch) -> ChatError:
        """Why there is no answer, in the endpoint's words where the batch failed as a whole."""
        if batch.status != "failed":
            return self._error(Fault(f"a batch that is {batch.status} holds no answer to it"))
        errors = batch.to_dict(warnings=False).get("errors")
        data = errors.get("data") if isinstance(errors, dict) else None
        faults = [read_fault(one) for one in data] if isinstance(data, list) and data else [read_fault(errors or {})]
        said = "; ".join(dict.fromkeys(str(fault) for fault in faults[:_MOST_FAULTS_TOLD]))
        error = self._error(Fault(said or "no reason given"), f"batch {batch.id} failed as a whole", 400)
        return ChatError(str(error), "transient" if error.kind == "transient" else "stop")

    def _error(self, fault: Fault, shown: str = "not judged", status: int | None = None) -> ChatError:
        told = Fault(redact(fault.message, self._chat.key), fault.code, fault.param)
        return explain(told, status, shown, self._judge, {"messages": []})


class _Transport(httpx.AsyncBaseTransport):
    """Takes what a live client would send, and answers it with what a batch brought back."""

    def __init__(self) -> None:
        self.asked: bytes | None = None
        self.answer: tuple[int, Any] = (200, _BLANK)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        self.asked = await request.aread()
        status, body = self.answer
        text = replace_lone_surrogates(body)[0] if isinstance(body, str) else json.dumps(body)
        return httpx.Response(status, content=text)


class _ReplayedChat(Chat):
    """A live client over a replay: what a batch asked with a `response_format` is not asked again without."""

    async def complete(self, *arguments: Any, **options: Any) -> Reply:
        try:
            return await super().complete(*arguments, **options)
        except ChatError as error:
            self.refuses_response_format, error.parameter = False, None
            raise
