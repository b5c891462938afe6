"""docs/reference/errors.md: the error codes, and the APIs to which real brokers return them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import yaml

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.requirement import WITHOUT_ERROR, bind_to_release
from kafka_shim.authorizer.requirements import TABLE
from kafka_shim.conformance.vectors.vector_files import read_vector_file
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.error_codes import ErrorCode
from tests.docs.shown import ROOT

_VECTORS: Final = ROOT / "vectors"
_WORDS: Final = yaml.safe_load(Path(__file__).with_name("error_meanings.yaml").read_text())
MEANINGS: Final[dict[str, str]] = _WORDS["meanings"]
RETRIABLE: Final[frozenset[str]] = frozenset(_WORDS["retriable"])
"""Errors that Kafka's Java client retries (`RetriableException`)."""

_INTRODUCTION: Final = """\
# Error codes

<!-- What does this error mean? Does my client retry it? Which permission is missing? -->

Error codes of Kafka's protocol: what they mean, whether clients retry, and which permission is
missing.
[Troubleshooting](../guides/troubleshooting.md) has the messages of clients, word for word. A
[fault](../guides/faults.md) makes the broker return any of these errors in a test.

## Missing permissions

These errors mean that the principal lacks a permission: on a topic (29), a group (30), the cluster
(31), a transactional id (53) or a delegation token (65). Java throws TopicAuthorizationException,
GroupAuthorizationException, ClusterAuthorizationException, TransactionalIdAuthorizationException or
DelegationTokenAuthorizationException. In librdkafka and confluent-kafka, the constant has the name
of the error, as in `KafkaError.TOPIC_AUTHORIZATION_FAILED`. Clients do not retry them. Grant one of
the permissions in the row of the request: [`explain`](../start/denials.md#one-access-explain)
prints the command. If several rows apply to a request, it needs a permission of each. Mostly, only
the topics or groups without the permission fail, and the others of the request succeed: see the
place of the error in [Permissions by API](permissions.md). The tables
are those of Kafka 4.4; [Permissions by API](permissions.md) has all releases.
"""
_ALL: Final = """\
## All codes

The column *retried* is that of Kafka's Java client; other clients mostly do the same. The last
column has the requests to which real brokers return the error in the [test
vectors](../guides/vectors.md); others can return it too. Codes that no broker returns there, and
that clients hardly meet, are left out.

| code | name | meaning | retried | returned by |
|---|---|---|---|---|"""


def error_codes_page() -> str:
    """Return the page: errors of missing permissions with an anchor each, then all codes."""
    lines = [_INTRODUCTION]
    for error, needs in _missing_permissions().items():
        lines += [f"### {error.name} ({error.value})", ""]
        lines += ["| request | permission | if |", "|---|---|---|"]
        lines += [
            f"| [{api}](permissions.md#{api.lower()}) | {need} | {when} |"
            for api, need, when in dict.fromkeys(needs)
        ]
        lines.append("")
    by_api = _apis_by_returned_code()
    lines.append(_ALL)
    lines += [
        f"| {error.value} | `{error.name}` | {MEANINGS[error.name]} |"
        f" {'yes' if error.name in RETRIABLE else 'no'} | {', '.join(by_api.get(error, ()))} |"
        for error in sorted(ErrorCode)
        if error.name in MEANINGS
    ]
    return "\n".join(lines) + "\n"


def returned_errors() -> set[str]:
    """Return the errors that real brokers return in the vectors, or for a missing permission."""
    codes = {ErrorCode(code) for code in _apis_by_returned_code() if code in set(ErrorCode)}
    return {error.name for error in (codes | set(_missing_permissions())) - {ErrorCode.NONE}}


def _missing_permissions() -> Mapping[ErrorCode, list[tuple[str, str, str]]]:
    """Return the request, the permissions and the condition of each check in the newest release."""
    rows: dict[ErrorCode, list[tuple[str, str, str]]] = {}
    for requirement in TABLE:
        bound = bind_to_release(requirement, RELEASES[-1])
        if not bound.needs:
            continue
        permissions = dict.fromkeys(
            f"{camel_case(need.operation)} on {'any' if need.any_name else 'the'}"
            f" {need.resource_type.name.lower().replace('_', ' ')}"
            for need in bound.needs
        )
        row = (requirement.api.wire_name, " or ".join(permissions), requirement.when)
        denials = (each for each in bound.denials if each.effect not in WITHOUT_ERROR)
        for error in {each.error_in_response for each in denials} - {ErrorCode.NONE}:
            rows.setdefault(error, []).append(row)
    return dict(sorted(rows.items()))


def _apis_by_returned_code() -> Mapping[int, list[str]]:
    """Return the APIs that return each code to a test vector, by name."""
    apis: dict[int, set[str]] = {}
    for path in _VECTORS.glob("*/*.json"):
        for group in read_vector_file(path).groups:
            for vector in group.vectors:
                for code in vector.then.error_codes:
                    apis.setdefault(code, set()).add(vector.when.api)
    return {code: sorted(names) for code, names in apis.items()}
