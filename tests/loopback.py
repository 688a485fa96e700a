"""Real HTTP servers on loopback: chat completions from a script, look-alikes of Serper and Jina Reader, a web site."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpcore

from lifesearch_kit.tools.guarded_network import GuardedNetwork

Answer = dict[str, Any] | list[Any] | str | bytes
Scripted = Answer | tuple[int, Answer] | Callable[[dict[str, Any]], "Answer | tuple[int, Answer]"]
NO_USAGE = object()


def completion(
    content: Any = None, *calls: dict[str, Any], finish: str | None = None, usage: Any = None, **message: Any
) -> dict:
    """A chat completion. Without `usage` it reports 10 input and 5 output tokens; NO_USAGE leaves the block out."""
    said = {"role": "assistant", "content": content, **({"tool_calls": list(calls)} if calls else {}), **message}
    choice = {"index": 0, "message": said, "finish_reason": finish or ("tool_calls" if calls else "stop")}
    body: dict[str, Any] = {"id": "c1", "object": "chat.completion", "model": "served-model", "choices": [choice]}
    if usage is not NO_USAGE:
        body["usage"] = usage or {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return body


def call(tool: str, arguments: Any, call_id: str | None = "call_1") -> dict[str, Any]:
    """A tool call; arguments other than text are written as JSON, and no id leaves the field out."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    entry: dict[str, Any] = {"type": "function", "function": {"name": tool, "arguments": text}}
    return entry if call_id is None else {"id": call_id, **entry}


@dataclass
class Loopback:
    """The server's script and what it was asked.

    `script` holds the chat replies in order: a body, a pair of status and body, or a function of the request.
    `searches` and `pages` map a query or an address to what Serper or Jina Reader would send, and `together` answers
    several queries in one request otherwise than by what each has; `requests` are the chat bodies, `asked` all requests
    as (path, headers, body).
    """

    url: str
    script: list[Scripted] = field(default_factory=list)
    searches: dict[str, Answer | tuple[int, Answer]] = field(default_factory=dict)
    pages: dict[str, Answer | tuple[int, Answer]] = field(default_factory=dict)
    together: Callable[[list[Any]], Answer | tuple[int, Answer]] | None = None
    requests: list[dict[str, Any]] = field(default_factory=list)
    asked: list[tuple[str, dict[str, str], Any]] = field(default_factory=list)

    @property
    def chat_url(self) -> str:
        """The `base_url` of the model."""
        return f"{self.url}/v1"

    @property
    def search_url(self) -> str:
        """The address of the Serper look-alike."""
        return f"{self.url}/search"

    @property
    def reader_url(self) -> str:
        """The address of the Jina Reader look-alike."""
        return f"{self.url}/reader"

    def answer(self, path: str, headers: dict[str, str], body: Any) -> tuple[int, Answer]:
        """Answer one request, as (status, body)."""
        self.asked.append((path, headers, body))
        if path == "/search" and isinstance(body, list):
            return _with_status(self.together(body) if self.together else [self.searches[one["q"]] for one in body])
        if path == "/search":
            return _with_status(self.searches.get(body["q"], {"organic": []}))
        if path == "/reader":
            return _with_status(self.pages.get(body["url"], (404, {"code": 404, "message": "no such page"})))
        self.requests.append(body)
        if not self.script:
            return 400, {"error": {"message": "the test's script holds no further reply"}}
        reply = self.script.pop(0)
        return _with_status(reply(body) if callable(reply) else reply)


def _with_status(reply: Answer | tuple[int, Answer]) -> tuple[int, Answer]:
    return reply if isinstance(reply, tuple) else (200, reply)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    loopback: Loopback

    def do_POST(self) -> None:
        content = self.rfile.read(int(self.headers["Content-Length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        status, reply = self.loopback.answer(self.path, headers, json.loads(content.decode("utf-8")))
        written = reply if isinstance(reply, (str, bytes)) else json.dumps(reply)
        sent = written.encode() if isinstance(written, str) else written
        self.send_response(status)
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(sent)))
        # Keeps the client's back-off short.
        self.send_header("retry-after-ms", "1")
        self.end_headers()
        self.wfile.write(sent)

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve on a free port of 127.0.0.1, in a thread, for as long as the block lasts; gives the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serve() -> Iterator[Loopback]:
    """Run the server in a thread for as long as the block lasts."""

    class Handler(_Handler):
        """One class a server, so that two may run at once."""

    with serving(Handler) as url:
        Handler.loopback = loopback = Loopback(url)
        yield loopback


Written = Callable[[BaseHTTPRequestHandler], None]


@dataclass
class Site:
    """A web site of one server that answers GET by path: body alone, (headers, body), (status, headers, body), or a
    function that writes what it likes. `visits` are the (host, path, headers) that it was asked for."""

    url: str
    paths: dict[str, Any] = field(default_factory=dict)
    visits: list[tuple[str, str, dict[str, str]]] = field(default_factory=list)

    @property
    def port(self) -> int:
        return int(self.url.rpartition(":")[2])


class _SiteHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    site: Site

    def do_GET(self) -> None:
        self.close_connection = True
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.visits.append((headers.get("host", ""), self.path, headers))
        answer = self.site.paths.get(self.path.partition("?")[0], (404, {}, b"no such page"))
        if callable(answer):
            # A client that has had enough closes while this is still writing.
            with suppress(OSError):
                answer(self)
            return
        *status, told, body = answer if isinstance(answer, tuple) else ({}, answer)
        sent = body.encode() if isinstance(body, str) else body
        self.send_response(status[0] if status else 200)
        self.send_header("Connection", "close")
        for name, value in {"Content-Type": "text/html", "Content-Length": str(len(sent)), **told}.items():
            if value is not None:
                self.send_header(name, value)
        self.end_headers()
        self.wfile.write(sent)

    def do_POST(self) -> None:
        self.do_GET()

    def log_message(self, *_: object) -> None:
        """Keep the test's output clean."""


@contextmanager
def serve_site() -> Iterator[Site]:
    """Run a site for as long as the block lasts."""

    class Handler(_SiteHandler):
        """One class a server, so that several may run at once."""

    with serving(Handler) as url:
        Handler.site = site = Site(url)
        yield site


class Dial(httpcore.AsyncNetworkBackend):
    """Connects to a server on loopback whatever address it is given, and keeps the addresses.

    It stands behind the guard, which checks as always: what is kept here has passed.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.dialled: list[tuple[str, int]] = []

    async def connect_tcp(self, host: str, port: int, timeout: float | None = None, *_: Any) -> Any:
        self.dialled.append((host, port))
        return await httpcore.AnyIOBackend().connect_tcp("127.0.0.1", self.port, timeout)


PUBLIC = "93.184.215.14"


def public_network(site: Site, names: dict[str, list[str]] | None = None) -> tuple[GuardedNetwork, Dial]:
    """The guarded network with a resolver that knows `names` (any other is at PUBLIC), and `site` as the internet."""

    async def resolver(host: str, port: int) -> list[str]:
        return (names or {}).get(host, [PUBLIC])

    dial = Dial(site.port)
    return GuardedNetwork(resolver, dial), dial
