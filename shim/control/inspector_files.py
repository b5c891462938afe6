"""The files of the inspector, a page for people, and the headers that they are served with."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "inspector"
FILES = {
    "index.html": "text/html",
    "inspector.css": "text/css",
    "inspector.js": "text/javascript",
    "views.js": "text/javascript",
}
"""Their media types by name."""
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


@cache
def content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()
