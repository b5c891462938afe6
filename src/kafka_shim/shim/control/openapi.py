"""The OpenAPI document of the control API, made of the table of routes and the bodies."""

import re
from collections.abc import Iterable
from typing import Any

import msgspec

from kafka_shim.shim.control.bodies import ErrorBody
from kafka_shim.shim.control.broker_registry import BASE_PATH, BROKER_ROUTES, FIRST
from kafka_shim.shim.control.routes import ROUTES, Route

_REF = "#/components/schemas/{name}"


_PROCESS_SERVER = {"url": "/", "description": "The process; calls are about its first broker"}
_BROKER_SERVER = {
    "url": BASE_PATH,
    "description": "One broker of the process",
    "variables": {"broker": {"default": FIRST, "description": "The id that POST /brokers gave"}},
}


def openapi_document(package_version: str) -> dict[str, Any]:
    """Return the OpenAPI 3.1 document; with the version of the package.

    A created broker has the same API as the first one, at another server's address.
    """
    routes: tuple[Route[Any], ...] = (*BROKER_ROUTES, *ROUTES)
    shapes = list(dict.fromkeys([*_schema_types(routes), ErrorBody]))
    _, components = msgspec.json.schema_components(shapes, ref_template=_REF)
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation_object(route)
    for route in BROKER_ROUTES:
        paths[route.path][route.method.lower()]["servers"] = [_PROCESS_SERVER]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "kafka-shim control",
            "version": package_version,
            "description": "See and change a running broker: state, requests, decisions, faults.",
        },
        "servers": [_PROCESS_SERVER, _BROKER_SERVER],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{}, {"token": []}],
    }


def _schema_types(routes: Iterable[Route[Any]]) -> Iterable[type[msgspec.Struct]]:
    for route in routes:
        yield from (shape for shape in (route.body_type, route.response_type) if shape is not None)


def _operation_object(route: Route[Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": route.name,
        "summary": route.summary,
        "responses": {
            "200": {"description": "Done"} | _response_content(route),
            "default": {
                "description": "It was not done",
                "content": {"application/json": {"schema": _schema_reference(ErrorBody)}},
            },
        },
    }
    parameters = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"\{(\w+)\}", route.path)
    ]
    parameters += [
        {
            "name": name,
            "in": "query",
            "description": parameter.description,
            "required": parameter.is_required,
            "schema": parameter.schema,
        }
        for name, parameter in route.query.items()
    ]
    if parameters:
        operation["parameters"] = parameters
    if route.body_type is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": _schema_reference(route.body_type)}},
        }
    return operation


def _response_content(route: Route[Any]) -> dict[str, Any]:
    if route.response_type is None:
        return {"content": {"text/plain": {"schema": {"type": "string"}}}}
    return {"content": {"application/json": {"schema": _schema_reference(route.response_type)}}}


def _schema_reference(shape: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REF.format(name=shape.__name__)}
