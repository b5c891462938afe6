"""docs/reference/errors.md: the error codes, and the APIs to which real brokers return them."""

from collections.abc import Mapping
from typing import Final

from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.conformance.vectors.vector_files import read_vector_file
from kafka_shim.protocol.error_codes import ErrorCode
from tests.docs.shown import ROOT

_VECTORS: Final = ROOT / "vectors"
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

In the [test vectors](../guides/vectors.md), real brokers return these errors to requests of
the APIs in the last column. Other APIs can return an error too.

| code | name | returned by |
|---|---|---|"""


def error_codes_page() -> str:
    """Return the page: errors of missing permissions with an anchor each, then all codes."""
    lines = [_INTRODUCTION]
    for error, apis in _denials().items():
        lines += [f"### {error.name} ({error.value})", "", f"Returned by {_links(apis)}.", ""]
    by_api = _apis_by_returned_code()
    lines.append(_ALL)
    lines += [
        f"| {error.value} | `{error.name}` | {', '.join(by_api.get(error, ()))} |"
        for error in sorted(ErrorCode)
    ]
    return "\n".join(lines) + "\n"


def _denials() -> Mapping[ErrorCode, list[str]]:
    """Return the APIs that return each error for a missing permission."""
    apis: dict[ErrorCode, list[str]] = {}
    for requirement in TABLE:
        for error in {each.error_in_response for each in requirement.denied} - {ErrorCode.NONE}:
            names = apis.setdefault(error, [])
            if requirement.api.wire_name not in names:
                names.append(requirement.api.wire_name)
    return dict(sorted(apis.items()))


def _apis_by_returned_code() -> Mapping[int, list[str]]:
    """Return the APIs that return each code to a test vector, by name."""
    apis: dict[int, set[str]] = {}
    for path in _VECTORS.glob("*/*.json"):
        for group in read_vector_file(path).groups:
            for vector in group.vectors:
                for code in vector.then.error_codes:
                    apis.setdefault(code, set()).add(vector.when.api)
    return {code: sorted(names) for code, names in apis.items()}


def _links(apis: list[str]) -> str:
    return ", ".join(f"[{api}](permissions.md#{api.lower()})" for api in apis)
