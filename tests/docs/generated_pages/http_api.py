"""docs/reference/http-api.md, made from the OpenAPI document of the control API."""

from collections.abc import Iterator
from typing import Any, Final

from kafka_shim.cli.reference import plain_text_in_markdown
from kafka_shim.shim.control.openapi import openapi_document

_INTRODUCTION: Final = """\
# HTTP API

All calls of the HTTP API (REST, JSON), which creates topics, users and ACLs, injects faults, and
returns requests and decisions. [Java, Node, Go and other
languages](../guides/languages.md) has examples.

The option `--control HOST:PORT` starts the API, which needs the [extra](../start/install.md#extras)
`control`. The OpenAPI document is at `/openapi.json`. With `--control-token`, send `Authorization:
Bearer TOKEN`. Each of `/brokers` is a cluster of its own, and `/nodes` are the brokers of one
cluster. Calls go to the first cluster of the process. For another cluster, write
`/brokers/{broker}` before the path. A cluster keeps its last 10,000 requests, up to 32 MiB. Bodies
and responses are JSON. `curl -sf http://127.0.0.1:8082/state` shows whether the API can be reached.

| status | meaning |
|---|---|
| 200 | success, also for a new or a deleted object |
| 400 | the body or a query parameter is invalid, or Kafka rejects the change |
| 401 | the token is missing or wrong (`GET /health` needs none) |
| 403 | without a token: the caller is not this machine, or is a web page of another site |
| 404, 405 | the name or the call is unknown |
| 408, 413 | the body did not arrive within 30 s, or is longer than 16 MiB |
| 409 | the name already exists, or the state does not allow the change |

The field `error` has the reason, in one line. There is no TLS
([Security](../explanation/security.md#exposure)). The [inspector](../guides/inspector.md) is at
`/inspector`, and uses the same calls. All state that the calls change is lost when the process
ends, except with [`--data-dir`](../guides/persistence.md).
"""


def http_api_page() -> str:
    """Return the page: each call with its parameters, and each object with its fields."""
    document = openapi_document("")
    lines = [_INTRODUCTION, "## Calls", ""]
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            lines += _call_lines(f"{method.upper()} {path}", operation)
    lines += ["## Objects", ""]
    for name, schema in document["components"]["schemas"].items():
        lines += _object_lines(name, schema)
    return "\n".join(lines)


def _call_lines(title: str, operation: dict[str, Any]) -> Iterator[str]:
    yield from (f"### {title}", "", f"{_escaped(operation['summary']).rstrip('.')}.", "")
    if body := operation.get("requestBody"):
        yield from (f"Body: {_type(body['content']['application/json']['schema'])}.", "")
    content = operation["responses"]["200"]["content"]
    response = content.get("application/json", {"schema": {"type": "text"}})
    yield from (f"Response: {_type(response['schema'])}.", "")
    parameters = [row for row in operation.get("parameters", ()) if row["in"] == "query"]
    if parameters:
        yield from ("| query parameter | meaning |", "|---|---|")
        for parameter in parameters:
            yield f"| `{parameter['name']}` | {_escaped(parameter['description'])} |"
        yield ""


def _escaped(text: str) -> str:
    """Return a text in Markdown; in tables, `|` would end a cell, also in code."""
    return plain_text_in_markdown(text).replace("|", "\\|")


def _object_lines(name: str, schema: dict[str, Any]) -> Iterator[str]:
    yield from (f"### {name}", "")
    if text := schema.get("description"):
        yield from (_escaped(" ".join(text.split())), "")
    properties: dict[str, Any] = schema.get("properties", {})
    if properties:
        required = set(schema.get("required", ()))
        yield from ("| field | type | |", "|---|---|---|")
        for field, value in properties.items():
            need = "required" if field in required else _default(value)
            text = _escaped(value.get("description", "")) or need
            yield f"| `{field}` | {_type(value)} | {text} |"
        yield ""


def _default(schema: dict[str, Any]) -> str:
    """Return the default of a field that may be left out."""
    value = schema.get("default")
    return "" if value is None else f"default: `{value}`"


def _type(schema: dict[str, Any]) -> str:
    """Return the type in words, objects as links."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if variants := schema.get("anyOf"):
        return " or ".join(dict.fromkeys(_type(variant) for variant in variants))
    if names := schema.get("enum"):
        return " or ".join(f"`{name}`" for name in names)
    kind = schema.get("type", "any value")
    if kind == "array":
        items = schema.get("items") or {}
        return f"list of {_type(items)}" if items else "list"
    if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        values = schema["additionalProperties"]
        return f"object with values {_type(values)}" if values else "object"
    return str(kind)
