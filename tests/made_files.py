"""PDF files made by hand, small and in plain sight, for tests of the fetch tool."""

from __future__ import annotations

import io
import zlib
from collections.abc import Sequence

from pypdf import PdfReader, PdfWriter

# Codes are UTF-16 units, and the map to Unicode says so: any character of the basic plane can be written.
_TO_UNICODE = b"""/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /Adobe-Identity-UCS def
1 begincodespacerange <0000> <FFFF> endcodespacerange
1 beginbfrange <0000> <FFFF> <0000> endbfrange endcmap end end"""


def pdf(pages: Sequence[str], title: str = "") -> bytes:
    """A PDF with a line of text on each page; an empty one has a filled rectangle in its place."""
    drawn = [
        f"BT /F1 12 Tf 72 720 Td <{text.encode('utf-16-be').hex()}> Tj ET" if text else "0 0 200 200 re f"
        for text in pages
    ]
    return pdf_of_streams([one.encode() for one in drawn], title)


def pdf_of_streams(streams: Sequence[bytes], title: str = "") -> bytes:
    """A PDF whose pages are these content streams, compressed."""
    first = 7
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(streams)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(streams)} >>".encode(),
        b"<< /Type /Font /Subtype /Type0 /BaseFont /Any /Encoding /Identity-H "
        b"/DescendantFonts [4 0 R] /ToUnicode 5 0 R >>",
        b"<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Any /DW 1000 "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>",
        _stream(_TO_UNICODE),
        f"<< /Title <feff{title.encode('utf-16-be').hex()}> >>".encode(),
    ]
    for number, stream in enumerate(streams):
        page = (
            "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {first + 2 * number + 1} 0 R >>"
        )
        objects += [page.encode(), _stream(stream)]
    return _file(objects)


def _stream(data: bytes) -> bytes:
    packed = zlib.compress(data, 9)
    return b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed)


def _file(objects: Sequence[bytes]) -> bytes:
    written = bytearray(b"%PDF-1.5\n")
    places = []
    for number, one in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, one)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    written += b"trailer << /Size %d /Root 1 0 R /Info 6 0 R >>\nstartxref\n%d\n%%%%EOF" % (len(objects) + 1, start)
    return bytes(written)


def encrypted(data: bytes, password: str) -> bytes:
    """The same PDF, encrypted; without a password any reader opens it."""
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(data)))
    writer.encrypt(user_password=password, owner_password="owner", algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()
