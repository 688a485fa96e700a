"""The files and batches at a model's endpoint: uploaded, made, found again, looked at and fetched."""

from __future__ import annotations

from collections.abc import Awaitable
from pathlib import Path
from typing import Any, TypeVar

import openai
from openai.types import Batch

from lifesearch_kit.chat.client import Chat
from lifesearch_kit.errors import ChatError, InputError
from lifesearch_kit.judge_batches.files import REQUEST_URL, Note
from lifesearch_kit.redaction import redact

Answer = TypeVar("Answer")
_TOKEN = "lifesearch_kit"
_NO_REQUEST: dict[str, Any] = {"messages": []}


class Endpoint:
    """The Batch API of a model's endpoint; retries are the openai client's own.

    Every method raises ChatError with the endpoint's words, or InputError where it does not have what is asked for.
    `path` is where the batch's note stands, to name in a remedy.
    """

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._client = chat.client
        self._no_batches = (
            f"it takes no batches: set base_url of {chat.settings.name!r} to an endpoint that does, or judge by live "
            "calls"
        )

    async def upload(self, path: Path) -> str:
        """Upload a request file; returns its id."""
        return self._id(await self._ask(self._client.files.create(file=path, purpose="batch"), self._no_batches))

    async def create(self, note: Note) -> str:
        """Have a batch made of an uploaded file; returns its id."""
        # A try of which the answer was lost may have made a batch, so that another one could be paid for twice.
        once = self._client.with_options(max_retries=0)
        asked = once.batches.create(
            input_file_id=note.input_file,
            endpoint=REQUEST_URL,
            completion_window="24h",
            metadata={_TOKEN: note.token},
        )
        return self._id(await self._ask(asked, self._no_batches))

    async def find(self, note: Note, path: Path) -> str | None:
        """The batch of a submission of which the answer was lost, by the endpoint's list; None where there is none."""
        to_do = f"see at the vendor whether file {note.input_file} has a batch; if not, {_anew(path)}"
        batch = await self._ask(self._search(note), to_do)
        if batch is None:
            # The list of another key or address holds no batch of ours either; the file tells them apart.
            to_do = f"use the key and base_url that file {note.input_file} was uploaded with, or {to_do}"
            self._id(await self._ask(self._client.files.retrieve(note.input_file), to_do))
        return batch

    async def retrieve(self, note: Note, path: Path) -> Batch:
        """How far a batch is; its status in lower case, as not every vendor writes it."""
        asked = self._client.batches.retrieve(str(note.batch))
        batch = await self._ask(asked, f"use the key that batch {note.batch} was made with, or {_anew(path)}")
        self._id(batch)
        return batch.model_copy(update={"status": str(getattr(batch, "status", "")).lower()})

    async def answers(self, batch: Batch, path: Path) -> dict[str, bytes]:
        """The files that a batch brought back, by a name to tell faults with."""
        files = [one for one in (batch.output_file_id, batch.error_file_id) if one]
        done, _ = counted(batch)
        if done and not files and batch.status != "failed":
            raise ChatError(
                f"batch {batch.id} is {batch.status} with {done} requests completed, and names no file of answers; "
                f"where that does not pass, {_anew(path)}",
                "transient",
            )
        return {f"file {one}": await self._content(one, path) for one in files}

    async def _content(self, file: str, path: Path) -> bytes:
        answer = await self._ask(self._client.files.content(file), f"file {file} is gone; {_anew(path)}")
        return answer.content

    async def _search(self, note: Note) -> str | None:
        seen: set[str] = set()
        async for page in (await self._client.batches.list(limit=100)).iter_pages():
            if not isinstance(page.data, list):
                raise self._unreadable(page)
            for batch in page.data:
                file = getattr(batch, "input_file_id", None)
                if file == note.input_file or (batch.metadata or {}).get(_TOKEN) == note.token:
                    return batch.id
                if batch.id in seen:
                    return None
                seen.add(batch.id)
        return None

    async def _ask(self, asked: Awaitable[Answer], where_absent: str) -> Answer:
        try:
            return await asked
        except openai.APIError as error:
            told = self._chat.explain(error, _NO_REQUEST)
            if told.status in (404, 405, 501):
                raise InputError(f"{told}; {where_absent}") from None
            raise told from None
        except (ValueError, TypeError, AttributeError) as error:
            # The openai client's own way with an answer that is no JSON, or no page of a list.
            raise self._unreadable(error) from None

    def _id(self, answer: Any) -> str:
        name = getattr(answer, "id", None)
        if not isinstance(name, str) or not name:
            raise self._unreadable(answer)
        return name

    def _unreadable(self, answer: Any) -> ChatError:
        # Transient, as what was asked for may have been done all the same.
        said = redact(str(answer), self._chat.key)[:80]
        return ChatError(
            f"configuration {self._chat.settings.name!r}: the endpoint's answer is no file, batch or list of them: "
            f"{said!r}; check base_url",
            "transient",
        )


def counted(batch: Batch) -> tuple[int, int]:
    """How many of a batch's requests are completed and failed, as far as the endpoint tells."""
    told = [getattr(batch.request_counts, name, None) for name in ("completed", "failed")]
    completed, failed = (count if isinstance(count, int) else 0 for count in told)
    return completed, failed


def _anew(path: Path) -> str:
    return f"remove {path} to submit its requests anew"
