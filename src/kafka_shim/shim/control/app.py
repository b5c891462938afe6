"""The control API over HTTP: the routes, behind checks of the caller."""

import hmac
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

import msgspec
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as HttpRoute

from kafka_shim.shim.control.broker_routes import BASE_PATH, BROKER_ROUTES
from kafka_shim.shim.control.brokers import FIRST, Brokers
from kafka_shim.shim.control.openapi import document
from kafka_shim.shim.control.pages import FRONT, pages
from kafka_shim.shim.control.problem import ControlError
from kafka_shim.shim.control.routes import ROUTES, Call, Route, Target, call_route
from kafka_shim.shim.control.verbs import Control

Endpoint = Callable[[Request], Awaitable[Response]]

BODY_BYTES_MAX = 16 * 1024 * 1024
LOOPBACK_NAMES = frozenset({"127.0.0.1", "localhost", "[::1]", "::1"})


def application(brokers: Brokers, token: str | None) -> Starlette:
    """Return the app: each broker's API below its base path; the first one's also without it.

    With a token, every call except /health must send it as a bearer token.
    """

    def control_of(names: dict[str, str]) -> Control:
        """Return the broker of a path, and remove its id from the path's parameters."""
        return brokers.control(names.pop("broker", FIRST))

    async def openapi(request: Request) -> Response:
        refusal = _refusal(request, token)
        return refusal or Response(_described(), media_type="application/json")

    routes = [
        HttpRoute(route.path, _endpoint(lambda _: brokers, route, token), methods=[route.method])
        for route in BROKER_ROUTES
    ]
    for base in ("", BASE_PATH):
        routes += [
            HttpRoute(
                base + route.path, _endpoint(control_of, route, token), methods=[route.method]
            )
            for route in ROUTES
        ]
        routes += [HttpRoute(f"{base}/openapi.json", openapi), *pages(base)]
    return Starlette(
        routes=[*routes, FRONT],
        exception_handlers={HTTPException: _no_such_call},
    )


def _no_such_call(request: Request, error: Exception) -> Response:
    """Answer an unknown path or method in the shape of all other problems."""
    assert isinstance(error, HTTPException)
    path = request.url.path
    return _problem(error.status_code, f"there is no {request.method} {path}; see /openapi.json")


@cache
def _described() -> bytes:
    from importlib.metadata import version  # noqa: PLC0415 - few ask, and it takes its time

    return msgspec.json.encode(document(version("kafka-shim")))


def _endpoint(
    target_of: Callable[[dict[str, str]], Target], route: Route[Target], token: str | None
) -> Endpoint:
    needed = None if route.name == "health" else token

    async def endpoint(request: Request) -> Response:
        refusal = _refusal(request, needed)
        if refusal is not None:
            return refusal
        try:
            names = dict(request.path_params)
            target = target_of(names)
            call = Call(names, request.query_params, await _body(request, route))
            response = await call_route(target, route, call)
        except ControlError as error:
            return _problem(error.status, str(error))
        if route.gives is None:
            return Response(response, media_type="text/plain; version=0.0.4")
        return Response(msgspec.json.encode(response), media_type="application/json")

    return endpoint


async def _body(request: Request, route: Route[Any]) -> object:
    if route.takes is None:
        return None
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > BODY_BYTES_MAX:
            raise ControlError(413, f"the body is longer than {BODY_BYTES_MAX} bytes")
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ControlError(400, f"the body is not JSON: {error}") from error


def _refusal(request: Request, token: str | None) -> Response | None:
    """Reject callers without the token; if there is no token, reject calls of web pages.

    A page of another site can make a browser on this machine call loopback addresses; it comes
    with an Origin, or with a Host that is a name of its own.
    """
    if token is not None:
        given = request.headers.get("authorization", "")
        if not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            return _problem(401, "send the control token: `Authorization: Bearer TOKEN`")
        return None
    host = request.headers.get("host", "")
    name = host if host.endswith("]") else host.rpartition(":")[0] or host
    origin = request.headers.get("origin")
    if name not in LOOPBACK_NAMES or (origin is not None and origin != f"http://{host}"):
        return _problem(403, "only this machine may call; start with --control-token for others")
    return None


def _problem(status: int, text: str) -> Response:
    return Response(msgspec.json.encode({"error": text}), status, media_type="application/json")
