"""The inspector of a live broker: a page for people, from files beside this module."""

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from kafka_shim.shim.control.inspector_files import FILES, HEADERS, inspector_file_content


async def _redirect_to_inspector(_: Request) -> Response:
    return RedirectResponse("/inspector")


async def _serve_inspector_file(request: Request) -> Response:
    """Return the page or one of its files; they contain nothing of the broker and need no token."""
    name = request.path_params.get("file", "index.html")
    if name not in FILES:
        return Response("there is no such file\n", 404, media_type="text/plain")
    return Response(inspector_file_content(name), headers=HEADERS, media_type=FILES[name])


FRONT_ROUTE = Route("/", _redirect_to_inspector)


def create_inspector_routes(base_path: str) -> tuple[Route, Route]:
    """Return the routes of a broker's inspector below this path."""
    return Route(f"{base_path}/inspector", _serve_inspector_file), Route(
        f"{base_path}/inspector/{{file}}", _serve_inspector_file
    )
