"""The control API and the inspector over HTTP: the routes, behind checks of the caller."""

import asyncio
import hmac
from collections.abc import Awaitable, Callable
from functools import cache
from http import HTTPStatus
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Match, Route as HttpRoute

from kafka_shim.shim.control.broker_control import BrokerControl
from kafka_shim.shim.control.broker_registry import BASE_PATH, BROKER_ROUTES, FIRST, BrokerRegistry
from kafka_shim.shim.control.control_error import ControlError
from kafka_shim.shim.control.inspector_files import FILES, HEADERS, inspector_file_content
from kafka_shim.shim.control.loopback import is_loopback_host_header
from kafka_shim.shim.control.openapi import openapi_document
from kafka_shim.shim.control.routes import ROUTES, Call, Route, Target, call_route
from kafka_shim.text.message_text import sanitize_message


async def _redirect_to_inspector(_: Request) -> Response:
    return RedirectResponse("/inspector")


FRONT_ROUTE = HttpRoute("/", _redirect_to_inspector)


def create_inspector_routes(
    base_path: str, control_of_path: Callable[[dict[str, str]], object]
) -> tuple[HttpRoute, HttpRoute]:
    """Return the routes of a broker's inspector below this path.

    `control_of_path` raises ControlError for the path of an unknown broker.
    """

    async def serve_file(request: Request) -> Response:
        """Return the page or one of its files, which have nothing of the broker: without token."""
        control_of_path(dict(request.path_params))
        name = request.path_params.get("file", "index.html")
        if name not in FILES:
            return Response("there is no such file\n", 404, media_type="text/plain")
        return Response(inspector_file_content(name), headers=HEADERS, media_type=FILES[name])

    return HttpRoute(f"{base_path}/inspector", serve_file), HttpRoute(
        f"{base_path}/inspector/{{file}}", serve_file
    )


Endpoint = Callable[[Request], Awaitable[Response]]

BODY_BYTES_MAX = 16 * 1024 * 1024
BODY_TIMEOUT_S = 30


def create_http_app(registry: BrokerRegistry, token: str | None) -> Starlette:
    """Return the app: each broker's API below its base path; the first one's also without it.

    With a token, every call except /health must send it as a bearer token.
    """

    def control_of_path(names: dict[str, str]) -> BrokerControl:
        """Return the broker of a path, and remove its id from the path's parameters."""
        return registry.control_of_broker(names.pop("broker", FIRST))

    async def openapi(request: Request) -> Response:
        rejection = _authenticate_caller(request, token)
        if rejection is None:
            control_of_path(dict(request.path_params))
        return rejection or Response(_openapi_document_bytes(), media_type="application/json")

    routes = [
        HttpRoute(
            route.path, _create_endpoint(lambda _: registry, route, token), methods=[route.method]
        )
        for route in BROKER_ROUTES
    ]
    for base in ("", BASE_PATH):
        routes += [
            HttpRoute(
                base + route.path,
                _create_endpoint(control_of_path, route, token),
                methods=[route.method],
            )
            for route in ROUTES
        ]
        routes += [
            HttpRoute(f"{base}/openapi.json", openapi),
            *create_inspector_routes(base, control_of_path),
        ]
    return Starlette(
        routes=[*routes, FRONT_ROUTE],
        exception_handlers={
            HTTPException: _unknown_path_response,
            ControlError: _control_error_response,
        },
    )


def _unknown_path_response(request: Request, error: Exception) -> Response:
    """Return the response to an unknown path or method, in the form of all other errors."""
    assert isinstance(error, HTTPException)
    text = f"there is no {request.method} {request.url.path}; see /openapi.json"
    response = _error_response(error.status_code, text)
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        response.headers["Allow"] = ", ".join(_methods_of_path(request))
    return response


def _control_error_response(_: Request, error: Exception) -> Response:
    assert isinstance(error, ControlError)
    return _error_response(error.status, str(error))


def _methods_of_path(request: Request) -> list[str]:
    """Return the methods that the path of a request has, of all of its routes."""
    matching = (
        route.methods or set()
        for route in request.app.routes
        if isinstance(route, HttpRoute) and route.matches(request.scope)[0] is not Match.NONE
    )
    return sorted(set[str]().union(*matching))


@cache
def _openapi_document_bytes() -> bytes:
    from importlib.metadata import version  # noqa: PLC0415 - few ask, and it takes its time

    return msgspec.json.encode(openapi_document(version("kafka-shim")))


def _create_endpoint(
    target_of: Callable[[dict[str, str]], Target], route: Route[Target], token: str | None
) -> Endpoint:
    required_token = None if route.name == "health" else token

    async def endpoint(request: Request) -> Response:
        rejection = _authenticate_caller(request, required_token)
        if rejection is not None:
            return rejection
        names = dict(request.path_params)
        target = target_of(names)
        body = await _read_json_body(request, route)
        is_from_inspector = request.headers.get("x-requested-by") == "inspector"
        call = Call(names, request.query_params, body, is_from_inspector)
        response = await call_route(target, route, call)
        if route.response_type is None:
            return Response(response, media_type="text/plain; version=0.0.4")
        return Response(msgspec.json.encode(response), media_type="application/json")

    return endpoint


async def _read_json_body(request: Request, route: Route[Any]) -> object:
    if route.body_type is None:
        return None
    raw = bytearray()
    try:
        async with asyncio.timeout(BODY_TIMEOUT_S):
            async for chunk in request.stream():
                raw += chunk
                if len(raw) > BODY_BYTES_MAX:
                    raise ControlError(413, f"the body is longer than {BODY_BYTES_MAX} bytes")
    except TimeoutError:
        raise ControlError(408, f"the body did not arrive within {BODY_TIMEOUT_S} s") from None
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ControlError(400, f"the body is not JSON: {error}") from error


def _authenticate_caller(request: Request, token: str | None) -> Response | None:
    """Reject callers without the token; if there is no token, reject calls of web pages.

    A page of another site can make a browser on this machine call loopback addresses; it comes
    with an Origin, or with a Host that is a name of its own.
    """
    if token is not None:
        authorization = request.headers.get("authorization", "")
        if not hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode()):
            return _error_response(401, "send the control token: `Authorization: Bearer TOKEN`")
        return None
    host = request.headers.get("host", "")
    origin = request.headers.get("origin")
    if not is_loopback_host_header(host) or (origin is not None and origin != f"http://{host}"):
        return _error_response(
            403, "only this machine may call; start with --control-token for others"
        )
    return None


def _error_response(status: int, text: str) -> Response:
    content = msgspec.json.encode({"error": sanitize_message(text)})
    return Response(content, status, media_type="application/json")
