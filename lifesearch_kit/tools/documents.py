"""What kind of document a download is, and its text; parsing happens in a process that can be stopped."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from email.message import Message
from typing import Any

from lifesearch_kit.errors import ToolError
from lifesearch_kit.text import replace_lone_surrogates
from lifesearch_kit.tools.layout import FetchedPage

SECONDS = 30.0
MEMORY_BYTES = 1_000_000_000
# As many documents are parsed at a time; threads of their own, so that looking up names never waits for them.
_THREADS = ThreadPoolExecutor(4, thread_name_prefix="documents")
_HTML = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]{0,200}\?>\s*)?(?:<!--.{0,2000}?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.I | re.S,
)
_TEXT_TYPES = re.compile(
    r"text/.*|application/(?:.*\+)?(?:json|xml|yaml)|application/(?:x-)?(?:ndjson|jsonlines|javascript|csv|yaml|sql|rtf)"
    r"|message/.*|image/svg\+xml"
)
_UNKNOWN_TYPES = (
    "",
    "application/octet-stream",
    "binary/octet-stream",
    "application/force-download",
    "unknown/unknown",
)
_MARKS = (b"\xff\xfe", b"\xfe\xff")


async def read_document(data: bytes, content_type: str) -> FetchedPage:
    """The text of an HTML page, a PDF or a file of text.

    Raises
    ------
    ToolError
        When it is nothing of that kind, holds no text, or cannot be read within the limits of time and memory.
    """
    kind, charset = kind_of(data, content_type)
    found = await _parsed(data, {"kind": kind, "charset": charset, "seconds": SECONDS, "memory": MEMORY_BYTES})
    if "fault" in found:
        raise ToolError(str(found["fault"]), service_failed="off" in found)
    texts = {name: replace_lone_surrogates(str(found.get(name) or ""))[0] for name in ("title", "text", "published")}
    return FetchedPage(
        texts["title"], texts["text"], texts["published"] or None, tuple(map(str, found.get("warnings", ())))
    )


def kind_of(data: bytes, content_type: str) -> tuple[str, str]:
    """The kind (``html``, ``pdf`` or ``text``) and the declared charset; what the bytes show goes before the header.

    Raises
    ------
    ToolError
        For an empty body, and for pictures, archives and whatever else is no text.
    """
    header = Message()
    header["Content-Type"] = content_type
    declared = content_type.partition(";")[0].strip().lower()
    charset = str(header.get_param("charset") or "")
    if not data.strip():
        raise ToolError("the page is empty")
    if b"%PDF-" in data[:1024]:
        return "pdf", ""
    if _HTML.match(data[:4096]):
        return "html", charset
    if declared == "application/pdf":
        raise ToolError("it is declared as a PDF and is none")
    wide = data.startswith(_MARKS) or charset.lower().startswith("utf-16")
    if declared in ("text/html", "application/xhtml+xml"):
        return "html", charset
    if b"\0" in data[:4096] and not (wide or _TEXT_TYPES.fullmatch(declared)):
        raise ToolError(f"it is {declared or 'a file of unknown type'}, not text")
    if not (_TEXT_TYPES.fullmatch(declared) or declared in _UNKNOWN_TYPES):
        raise ToolError(f"it is {declared[:80]}, not text")
    return "text", charset


async def _parsed(data: bytes, task: dict[str, Any]) -> dict[str, Any]:
    program = [sys.executable, "-I", "-m", "lifesearch_kit.tools.document_worker"]
    # No variable of the environment goes along: keys are among them.
    environment = {name: value for name, value in os.environ.items() if name == "SYSTEMROOT"}
    pipe = subprocess.PIPE
    try:
        process = subprocess.Popen(program, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
    except OSError as error:
        raise ToolError(f"the document reader does not start ({error})", service_failed=True) from None
    try:
        # In a thread, so that it works in every kind of event loop.
        written = json.dumps(task).encode() + b"\n" + data
        waiting = asyncio.get_running_loop().run_in_executor(_THREADS, process.communicate, written, SECONDS)
        printed, _ = await waiting
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise ToolError(f"reading it took longer than {SECONDS:g} seconds") from None
    finally:
        if process.returncode is None:
            process.kill()
            process.wait()
    try:
        found = json.loads(printed)
    except ValueError:
        raise ToolError("it cannot be read within the limits of time and memory") from None
    return found if isinstance(found, dict) else {"fault": "it cannot be read"}
