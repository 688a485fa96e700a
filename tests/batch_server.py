"""A real HTTP server on loopback with files, batches and chat completions; both kinds of call get the same replies."""

from __future__ import annotations

import email.parser
import email.policy
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import completion, serving

YES = completion('{"satisfied": true, "reason": "r"}')
EXPIRED = {"code": "batch_expired", "message": "This request could not be executed before the window expired."}
Reply = tuple[int, Any]
_HALF = re.compile("[\ud800-\udfff]")


@dataclass
class BatchServer:
    """What the endpoint does, and what it was asked.

    `answer` gives the reply to one request's body, as status and body. A batch ends with `status` at its look number
    `looks`; of an unfinished one only the first `finished` requests were run. `spoil` changes the lines of the output
    file. `refuse` holds replies for a method and path that come instead of the usual ones, and of their work; `garble`
    those that come though the work is done; `after` functions run once it is, before the reply. `errors` are the words
    of a batch that fails. A batch names its files `late` looks after its end.
    """

    url: str
    answer: Callable[[dict[str, Any]], Reply] = lambda body: (200, YES)
    looks: int = 1
    status: str = "completed"
    finished: int | None = None
    spoil: Callable[[list[Any]], list[Any]] = lambda lines: lines
    errors: list[dict[str, Any]] = field(default_factory=list)
    late: int = 0
    refuse: dict[str, list[Reply]] = field(default_factory=dict)
    garble: dict[str, Reply] = field(default_factory=dict)
    after: dict[str, Callable[[], None]] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    batches: dict[str, dict[str, Any]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    live: list[bytes] = field(default_factory=list)

    @property
    def chat_url(self) -> str:
        return f"{self.url}/v1"

    @property
    def uploaded(self) -> list[list[dict[str, Any]]]:
        """The requests of each batch."""
        return [_lines(self.files[one["input_file_id"]]) for one in self.batches.values()]

    @property
    def paid(self) -> list[str]:
        """The custom id of every request of every batch."""
        return [line["custom_id"] for lines in self.uploaded for line in lines]

    def reply(self, method: str, path: str, content: bytes, headers: Any) -> Reply:
        path, _, query = path.partition("?")
        parts = path.removeprefix("/v1/").split("/")
        place = " ".join([method, *parts[:1], *(["one"] if parts[1:] else []), *parts[2:]])
        self.asked.append(place)
        if self.refuse.get(place):
            return self.refuse[place].pop(0)
        result = self._work(place, parts, query, content, headers)
        self.after.pop(place, lambda: None)()
        return self.garble.pop(place, result)

    def _work(self, place: str, parts: list[str], query: str, content: bytes, headers: Any) -> Reply:
        if place == "POST chat completions" or place == "POST chat one":
            self.live.append(content)
            return self.answer(json.loads(content))
        if place == "POST files":
            form = _form(content, headers["Content-Type"])
            assert form["purpose"] == b"batch"
            return 200, {"id": self._file(form["file"]), "object": "file", "purpose": "batch"}
        if place == "POST batches":
            asked = json.loads(content)
            assert (asked["endpoint"], asked["completion_window"]) == ("/v1/chat/completions", "24h")
            name = f"batch_{len(self.batches) + 1}"
            self.batches[name] = {"id": name, "object": "batch", "status": "in_progress", "looks": 0, **asked}
            return 200, self.batches[name]
        if place == "GET batches":
            return 200, self._page(query)
        if place == "GET files one" and parts[1] in self.files:
            return 200, {"id": parts[1], "object": "file", "purpose": "batch"}
        if place == "GET files one content":
            return (200, self.files[parts[1]]) if parts[1] in self.files else _absent()
        if place == "GET batches one" and parts[1] in self.batches:
            return 200, self._look(self.batches[parts[1]])
        return _absent()

    def _page(self, query: str) -> dict[str, Any]:
        """One batch a page, the newest first."""
        names = list(reversed(self.batches))
        after = dict(part.split("=") for part in query.split("&")).get("after")
        rest = names[names.index(after) + 1 :] if after else names
        return {"object": "list", "data": [self.batches[one] for one in rest[:1]], "has_more": len(rest) > 1}

    def _file(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _look(self, batch: dict[str, Any]) -> dict[str, Any]:
        batch["looks"] += 1
        lines = _lines(self.files[batch["input_file_id"]])
        batch.setdefault("request_counts", {"total": len(lines), "completed": 0, "failed": 0})
        if batch["looks"] >= self.looks and batch["status"] == "in_progress":
            batch["status"] = self.status
            if self.status == "failed":
                batch["errors"] = {"object": "list", "data": self.errors}
            else:
                self._run(batch, lines)
        if batch["looks"] < self.looks + self.late:
            return {**batch, "output_file_id": None, "error_file_id": None}
        return batch

    def _run(self, batch: dict[str, Any], lines: list[dict[str, Any]]) -> None:
        written: dict[str, list[Any]] = {"output_file_id": [], "error_file_id": []}
        finished = len(lines) if self.finished is None else self.finished
        for number, line in enumerate(lines):
            common = {"id": f"r{number}", "custom_id": line["custom_id"]}
            if number >= finished:
                written["error_file_id"].append({**common, "response": None, "error": EXPIRED})
                continue
            status, body = self.answer(line["body"])
            answered = {**common, "response": {"status_code": status, "request_id": "q", "body": body}, "error": None}
            written["output_file_id" if status == 200 else "error_file_id"].append(answered)
        written["output_file_id"] = self.spoil(written["output_file_id"])
        batch["request_counts"] |= {"completed": len(written["output_file_id"])}
        batch["request_counts"] |= {"failed": len(written["error_file_id"])}
        for name, content in written.items():
            texts = [one if isinstance(one, str) else _json(one) for one in content]
            batch[name] = self._file("".join(f"{text}\n" for text in texts).encode()) if content else None


def _json(value: Any) -> str:
    """Text as it is, so that rare separators stand in the file unescaped; half characters only escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(value) if _HALF.search(text) else text


def _absent() -> Reply:
    return 404, {"error": {"message": "Not Found"}}


def _lines(content: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in content.split(b"\n") if line]


def _form(content: bytes, kind: str) -> dict[str, bytes]:
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    message = parser.parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + content)
    return {
        part.get_param("name", header="content-disposition"): part.get_payload(decode=True).removesuffix(b"\r\n")
        for part in message.iter_parts()
    }


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state: BatchServer

    def do_GET(self) -> None:
        self._answer("GET")

    def do_POST(self) -> None:
        self._answer("POST")

    def _answer(self, method: str) -> None:
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        status, reply = self.server_state.reply(method, self.path, content, self.headers)
        sent = reply if isinstance(reply, bytes) else json.dumps(reply).encode()
        self.send_response(status)
        kind = "application/octet-stream" if isinstance(reply, bytes) else "application/json"
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(sent)))
        # Keeps the client's back-off short.
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(sent)

    def handle(self) -> None:
        try:
            super().handle()
        except ConnectionError:
            """The client was stopped before its answer."""

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serve_batches() -> Iterator[BatchServer]:
    """Run the server in a thread for as long as the block lasts."""

    class Handler(_Handler):
        """One class a server, so that two may run at once."""

    with serving(Handler) as url:
        Handler.server_state = state = BatchServer(url)
        yield state
