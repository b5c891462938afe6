"""docs/reference/errors.md, made from the error codes, the permission checks and the handlers."""

import ast
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim import handlers
from kafka_shim.shim.apis import APIS_WITH_HANDLER

_HANDLERS: Final = Path(handlers.__path__[0])
_INTRODUCTION: Final = """\
# Error codes

All error codes of Kafka's protocol, and the APIs that return an error for a missing permission.
[Troubleshooting](../guides/troubleshooting.md) has the causes and cures of frequent errors.

## Missing permissions

These errors mean that the principal lacks a permission: on a topic (29), a group (30), the cluster
(31), a transactional id (53) or a delegation token (65). Up to 0.11, some APIs return 3 instead.
"""
_ALL: Final = """\
## All codes

The column *named by the handlers of* lists the APIs whose handlers in the shim name the error.
Code that all APIs share, such as that of missing permissions, is not in this column.

| code | name | named by the handlers of |
|---|---|---|"""


def error_codes_page() -> str:
    """Return the page: errors of missing permissions with an anchor each, then all codes."""
    lines = [_INTRODUCTION]
    for error, apis in _denials().items():
        lines += [f"### {error.name} ({error.value})", "", f"Returned by {_links(apis)}.", ""]
    by_handler = _errors_by_handler()
    lines.append(_ALL)
    lines += [
        f"| {error.value} | `{error.name}` | {', '.join(by_handler.get(error.name, ()))} |"
        for error in sorted(ErrorCode)
    ]
    return "\n".join(lines) + "\n"


def _denials() -> Mapping[ErrorCode, list[str]]:
    """Return the APIs that return each error for a missing permission."""
    apis: dict[ErrorCode, list[str]] = {}
    for requirement in TABLE:
        for error in {denial.error for denial in requirement.denied} - {ErrorCode.NONE}:
            names = apis.setdefault(error, [])
            if requirement.api.wire_name not in names:
                names.append(requirement.api.wire_name)
    return dict(sorted(apis.items()))


def _errors_by_handler() -> Mapping[str, list[str]]:
    """Return the APIs whose handler names an error, by the name of the error."""
    apis: dict[str, list[str]] = {}
    for api in APIS_WITH_HANDLER:
        [path] = _HANDLERS.rglob(f"{api.name.lower()}.py")
        tree = ast.parse(path.read_text(encoding="utf-8"))
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        for name in names & {error.name for error in ErrorCode}:
            apis.setdefault(name, []).append(api.wire_name)
    return apis


def _links(apis: list[str]) -> str:
    return ", ".join(f"[{api}](permissions.md#{api.lower()})" for api in apis)
