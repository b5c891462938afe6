"""The format `strimzi`: KafkaUser resources, one per user, with simple authorization.

The principal is not written down: it is the user's name, or with TLS the name as common name (CN).
Resources without names (the cluster) and the old field `operation` are supported.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from kafka_shim.authorizer.acl_formats.bystanders import own_resources
from kafka_shim.authorizer.acl_formats.documents import (
    dump_all,
    inner,
    known_keys,
    listed,
    mapping,
    required_list,
    resources,
    text_of,
)
from kafka_shim.authorizer.acl_formats.fields import Mistakes, PlacedAcl, acl_of, at_line
from kafka_shim.authorizer.acl_formats.lines import line_of, line_under, lines_under
from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, ResourceType

_TYPES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "cluster": ResourceType.CLUSTER,
    "transactionalId": ResourceType.TRANSACTIONAL_ID,
}
_TYPE_NAMES = {member: name for name, member in _TYPES.items()}
_PATTERNS = {"literal": PatternType.LITERAL, "prefix": PatternType.PREFIXED}
_SPEC_KEYS = ("userName", "authentication", "authorization", "quotas", "template")
_NOT_STRIMZI = "kafka.jikkou.io/"
"""Whose KafkaUsers have no ACLs: they are KafkaPrincipalAuthorizations."""
_TLS = ("tls", "tls-external")
_LOGINS = (*_TLS, "scram-sha-512")
_KIND = "KafkaUser"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
"""What Kubernetes allows as a name."""


def read(text: str) -> list[PlacedAcl]:
    """Return the ACLs of all users; users without simple authorization have none."""
    found: list[PlacedAcl] = []
    mistakes = Mistakes()
    with mistakes.at():
        for resource in own_resources(resources(text), (_KIND,)):
            if str(resource.get("apiVersion", "")).startswith(_NOT_STRIMZI):
                continue
            with mistakes.at(line_of(resource)):
                found += _read_user(resource)
    mistakes.check()
    return found


def _read_user(resource: Mapping[str, Any]) -> list[PlacedAcl]:
    name = text_of(inner(resource, "metadata", _KIND), "name", f"{_KIND}: `metadata`")
    where = f"{_KIND} {name}"
    spec = inner(resource, "spec", where)
    known_keys(spec, _SPEC_KEYS, f"{where}: `spec`")
    mistakes = Mistakes()
    principal = ""
    with mistakes.at(line_of(spec)):
        principal = _principal(text_of(spec, "userName", where, name), spec, where)
    authorization = inner(spec, "authorization", where)
    if authorization.get("type", "simple") != "simple":
        raise AclTextError(f"{where}: authorization `{authorization['type']}` has no ACLs")
    known_keys(authorization, ("type", "acls"), f"{where}: `authorization`")
    found: list[PlacedAcl] = []
    for number, entry in enumerate(required_list(authorization, "acls", where), start=1):
        with mistakes.at(line_of(entry)):
            found += _read_entry(entry, principal, f"{where}: acl {number}")
    mistakes.check()
    return found


def write(acls: Iterable[Acl]) -> str:
    users = groupby(sorted(acls, key=lambda acl: acl.principal), key=lambda acl: acl.principal)
    text = dump_all(resource_of(principal, list(entries)) for principal, entries in users)
    return f"# each user needs the label strimzi.io/cluster with your cluster's name\n{text}"


def _principal(name: str, spec: Mapping[str, Any], where: str) -> str:
    authentication = inner(spec, "authentication", where)
    known_keys(authentication, ("type", "password"), f"{where}: `authentication`")
    if not authentication:
        return f"User:{name}"
    login = text_of(authentication, "type", f"{where}: `authentication`")
    if login not in _LOGINS:
        raise AclTextError(
            f"{where}: authentication `{login}` is not one of {', '.join(_LOGINS)}",
            line_under(authentication, "type"),
        )
    return f"User:CN={name}" if login in _TLS else f"User:{name}"


def _read_entry(value: Any, principal: str, where: str) -> Iterator[PlacedAcl]:
    entry = mapping(value, where)
    known_keys(entry, ("type", "resource", "operations", "operation", "host"), where)
    resource = inner(entry, "resource", where)
    known_keys(resource, ("type", "name", "patternType"), f"{where}: `resource`")
    kind = text_of(resource, "type", where)
    if kind not in _TYPES:
        raise AclTextError(f"{where}: `{kind}` is not one of {', '.join(_TYPES)}")
    pattern = text_of(resource, "patternType", where, "literal")
    if pattern not in _PATTERNS:
        raise AclTextError(f"{where}: `{pattern}` is not one of {', '.join(_PATTERNS)}")
    is_cluster = kind == "cluster"
    name = CLUSTER_NAME if is_cluster else text_of(resource, "name", where)
    key = "operations" if listed(entry, "operations", where) else "operation"
    operations = entry["operations"] if key == "operations" else [text_of(entry, key, where)]
    host = text_of(entry, "host", where, WILDCARD)
    permission = text_of(entry, "type", where, "allow")
    what = (_TYPES[kind].name, name, _PATTERNS[pattern].name)
    for operation, line in zip(operations, lines_under(entry, key, len(operations)), strict=True):
        with at_line(line):
            yield acl_of((principal, host, *what, str(operation), permission), where), line


def resource_of(principal: str, acls: list[Acl]) -> dict[str, Any]:
    """Return a KafkaUser with these ACLs, or without any."""
    kind, _, name = principal.partition(":")
    by_tls = name.startswith("CN=")
    name = name.removeprefix("CN=")
    if kind != "User" or not _NAME.fullmatch(name):
        raise AclTextError(f"`{principal}` cannot be a KafkaUser: its name would be `{name}`")
    spec: dict[str, Any] = {"authentication": {"type": "tls-external"}} if by_tls else {}
    spec["authorization"] = {
        "type": "simple",
        "acls": [_entry(list(same)) for _, same in groupby(sorted(acls, key=_rule), key=_rule)],
    }
    return {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": _KIND,
        "metadata": {"name": name},
        "spec": spec,
    }


def _rule(acl: Acl) -> tuple[object, ...]:
    return acl.resource_type, acl.resource_name, acl.pattern_type, acl.host, acl.permission


def _entry(acls: list[Acl]) -> dict[str, Any]:
    """Return one rule for ACLs that differ only in their operations."""
    rule = acls[0]
    kind = _TYPE_NAMES.get(rule.resource_type)
    if kind is None:
        raise AclTextError(f"a KafkaUser has no ACLs about {camel_case(rule.resource_type)}")
    for acl in acls:
        if acl.operation > Operation.IDEMPOTENT_WRITE:
            raise AclTextError(f"a KafkaUser has no operation {camel_case(acl.operation)}")
    resource = {"type": kind}
    if rule.resource_type is not ResourceType.CLUSTER:
        prefixed = rule.pattern_type is PatternType.PREFIXED
        resource |= {"name": rule.resource_name, "patternType": "prefix" if prefixed else "literal"}
    return {
        "type": rule.permission.name.lower(),
        "resource": resource,
        "operations": [camel_case(acl.operation) for acl in acls],
        "host": rule.host,
    }
