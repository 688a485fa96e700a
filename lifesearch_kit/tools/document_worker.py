"""A process of its own that turns one document into text under limits of memory and time; `documents` starts it.

On standard input a line of JSON (`kind`, `charset`, `seconds`, `memory`) and the document; on standard output JSON.
"""

from __future__ import annotations

import io
import json
import logging
import re
import sys
import time
from typing import Any

from lifesearch_kit.tools.charset import decode

TEXT_CHARACTERS = 5_000_000
_LONG = f"the text is longer than {TEXT_CHARACTERS:,} characters, the most that is read"


def main() -> None:
    """Read one document from standard input and write what it holds."""
    logging.disable(logging.CRITICAL)
    task = json.loads(sys.stdin.buffer.readline())
    _limit(task["seconds"], task["memory"])
    data = sys.stdin.buffer.read()
    try:
        found = _KINDS[task["kind"]](data, task)
    except MemoryError:
        found = {"fault": "it needs too much memory to read"}
    except ImportError as error:
        found = {"fault": f"a package that reads it is not installed whole ({error})", "off": True}
    except Exception as error:
        # Whatever a library meets in a hostile file is one and the same to the caller.
        found = {"fault": f"it is damaged, or in a form that cannot be read ({type(error).__name__})"}
    if len(found.get("text", "")) > TEXT_CHARACTERS:
        found = {"fault": _LONG}
    sys.stdout.write(json.dumps(found))


def _limit(seconds: float, memory: int) -> None:
    """Where the system has such limits; elsewhere the caller's clock is the only one."""
    try:
        import resource
    except ImportError:
        return
    wanted = [("RLIMIT_CPU", int(seconds) + 1), ("RLIMIT_AS", memory), ("RLIMIT_FSIZE", 0), ("RLIMIT_CORE", 0)]
    for name, value in wanted:
        try:
            resource.setrlimit(getattr(resource, name), (value, value))
        except (AttributeError, ValueError, OSError):
            continue


def _text(data: bytes, task: dict[str, Any]) -> dict[str, Any]:
    text = decode(data, task["charset"])
    return {"fault": "its character encoding was not recognised"} if text is None else {"text": text.strip()}


def _html(data: bytes, task: dict[str, Any]) -> dict[str, Any]:
    from lxml.html import HTMLParser, fromstring
    from trafilatura import extract, extract_metadata, html2txt
    from trafilatura.utils import repair_faulty_html

    text = decode(data, task["charset"])
    if text is None:
        return {"fault": "its character encoding was not recognised"}
    # In one known encoding, so that nothing after this guesses again.
    known = re.sub("[\ud800-\udfff\0]", "", repair_faulty_html(text, text[:50].lower())).encode("utf-8")
    # trafilatura's own parser ends without a word at a depth of 256, this one at 2,048.
    parser = HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)
    page = fromstring(known, parser=parser)
    cut = any(error.type_name == "ERR_RESOURCE_LIMIT" for error in parser.error_log)
    # Only a date that the page gives as its own: a guess from its text would be taken for one.
    metadata = extract_metadata(page, date_config={"extensive_search": False, "original_date": True})
    main_text = extract(page, output_format="markdown", include_comments=False, favor_recall=True)
    return {
        "title": " ".join((metadata.title or "").split()),
        "published": metadata.date,
        # A page without a main text may still be a list, or a wall that says so.
        "text": (main_text or html2txt(page)).strip(),
        "warnings": ["the page is nested so deeply that only its beginning was read"] if cut else [],
    }


def _pdf(data: bytes, task: dict[str, Any]) -> dict[str, Any]:
    from pypdf import PdfReader

    started = time.monotonic()
    reader = PdfReader(io.BytesIO(data))
    if reader.is_encrypted and not _opened(reader):
        return {"fault": "the PDF is encrypted"}
    count = len(reader.pages)
    parts: list[str] = []
    failed = 0
    for number in range(count):
        if time.monotonic() - started > task["seconds"] / 2 or sum(map(len, parts)) > TEXT_CHARACTERS:
            break
        try:
            parts.append(reader.pages[number].extract_text().strip())
        except MemoryError:
            raise
        except Exception:
            parts.append("")
            failed += 1
    text = "\n\n".join(part for part in parts if part)
    if not text:
        cause = "could not be read" if failed else "hold no text; it is probably a scan"
        return {"fault": f"the {len(parts)} page(s) of the PDF {cause}"}
    warnings = [f"only the first {len(parts)} of {count} pages of the PDF were read"] if len(parts) < count else []
    warnings += [f"{failed} of {count} pages of the PDF could not be read"] if failed else []
    title = reader.metadata.title if reader.metadata else None
    return {"title": " ".join(str(title or "").split()), "text": text, "warnings": warnings}


def _opened(reader: Any) -> bool:
    """Most encrypted files ask for no password to be read; their ciphers may ask for a package that is not there."""
    try:
        return bool(reader.decrypt(""))
    except Exception:
        return False


_KINDS = {"text": _text, "html": _html, "pdf": _pdf}

if __name__ == "__main__":
    main()
