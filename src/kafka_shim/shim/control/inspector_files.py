"""The files of the inspector, a page for people, and the headers that they are served with."""

from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "inspector"
_TYPES = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".svg": "image/svg+xml",
}
FILES = {path.name: _TYPES[path.suffix] for path in _FOLDER.iterdir() if path.suffix in _TYPES}
"""Their media types by name."""
_REFERENCE = "reference"
FILES[_REFERENCE] = "text/html"
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


@cache
def inspector_file_content(name: str) -> bytes:
    """Return a file of the page, or the page to which its names link."""
    if name == _REFERENCE:
        from kafka_shim.shim.control.reference_page import reference_page  # noqa: PLC0415 - few read it

        return reference_page()
    return (_FOLDER / name).read_bytes()
