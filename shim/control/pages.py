"""The inspector: a page for people, served as it is, from files beside this module."""

from functools import cache
from pathlib import Path

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

_FOLDER = Path(__file__).parent / "inspector"
_FILES = {
    "index.html": "text/html",
    "inspector.css": "text/css",
    "inspector.js": "text/javascript",
    "views.js": "text/javascript",
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; img-src data:; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}


async def _front(_: Request) -> Response:
    return RedirectResponse("/inspector")


async def _page(request: Request) -> Response:
    """The page, or what it is made of. There is nothing of the broker in it: no token is needed."""
    name = request.path_params.get("file", "index.html")
    if name not in _FILES:
        return Response("there is no such file\n", 404, media_type="text/plain")
    return Response(_content(name), headers=_HEADERS, media_type=_FILES[name])


@cache
def _content(name: str) -> bytes:
    return (_FOLDER / name).read_bytes()


FRONT = Route("/", _front)


def pages(base: str) -> tuple[Route, Route]:
    """The inspector of the broker whose API is below this path."""
    return Route(f"{base}/inspector", _page), Route(f"{base}/inspector/{{file}}", _page)
