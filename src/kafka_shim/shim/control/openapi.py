"""The OpenAPI document of the control API, made of the table of routes and the shapes."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.shim.control.broker_routes import BASE_PATH, BROKER_ROUTES
from kafka_shim.shim.control.brokers import FIRST
from kafka_shim.shim.control.routes import ROUTES, Route
from kafka_shim.shim.control.shapes import Problem

_REF = "#/components/schemas/{name}"


_PROCESS = {"url": "/", "description": "The process; calls are about its first broker"}
_OF_A_BROKER = {
    "url": BASE_PATH,
    "description": "One broker of the process",
    "variables": {"broker": {"default": FIRST, "description": "The id that POST /brokers gave"}},
}


def document(version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document; `version` is that of the package.

    A created broker has the same API as the first one, at another server's address.
    """
    routes: tuple[Route[Any], ...] = (*BROKER_ROUTES, *ROUTES)
    shapes = list(dict.fromkeys([*_shapes(routes), Problem]))
    _, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route)
    for route in BROKER_ROUTES:
        paths[route.path][route.method.lower()]["servers"] = [_PROCESS]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kafka-shim control",
            "version": version,
            "description": "See and change a running broker: state, requests, decisions, faults.",
        },
        "servers": [_PROCESS, _OF_A_BROKER],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _shapes(routes: Iterable[Route[Any]]) -> Iterable[type[msgspec.Struct]]:
    for route in routes:
        yield from (shape for shape in (route.takes, route.gives) if shape is not None)


def _operation(route: Route[Any]) -> dict[str, Any]:
    found: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "responses": {
            "200": {"description": "Done"} | _content(route),
            "default": {
                "description": "It was not done",
                "content": {"application/json": {"schema": _ref(Problem)}},
            },
        },
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    parameters += [
        {"name": name, "in": "query", "description": text, "schema": {"type": "string"}}
        for name, text in route.query.items()
    ]
    if parameters:
        found["parameters"] = parameters
    if route.takes is not None:
        found["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _ref(route.takes)}},
        }
    return found


def _content(route: Route[Any]) -> dict[str, Any]:
    if route.gives is None:
        return {"content": {"text/plain": {"schema": {"type": "string"}}}}
    return {"content": {"application/json": {"schema": _ref(route.gives)}}}


def _ref(shape: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REF.format(name=shape.__name__)}
