"""The form `jikkou`: KafkaPrincipalAuthorization resources, and the roles that they refer to."""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from kafka_shim.authorizer.acl_formats.documents import (
    dump_all,
    inner,
    known_keys,
    listed,
    mapping,
    resources,
    text_of,
)
from kafka_shim.authorizer.acl_formats.fields import acl_of
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD, Acl

AUTHORIZATION = "KafkaPrincipalAuthorization"
ROLE = "KafkaPrincipalRole"
_SINGULAR = {"CREATE_TOKEN": "CREATE_TOKENS", "DESCRIBE_TOKEN": "DESCRIBE_TOKENS"}
"""As jikkou's own guide spells them."""


def read(text: str) -> list[Acl]:
    roles: dict[str, list[Any]] = {}
    principals: list[tuple[str, list[Any], list[Any]]] = []
    for resource in resources(text):
        kind = resource.get("kind")
        if kind not in (AUTHORIZATION, ROLE):
            raise AclTextError(f"`{kind}` is neither {AUTHORIZATION} nor {ROLE}")
        name = text_of(inner(resource, "metadata", kind), "name", f"{kind}: `metadata`")
        where = f"{kind} {name}"
        spec = inner(resource, "spec", where)
        entries = listed(spec, "acls", where)
        if kind == ROLE:
            roles[name] = entries
        else:
            principals.append((name, entries, listed(spec, "roles", where)))
    found: list[Acl] = []
    for principal, entries, named in principals:
        found += _read_entries(entries, principal, f"{AUTHORIZATION} {principal}")
        for role in named:
            if role not in roles:
                raise AclTextError(f"{AUTHORIZATION} {principal}: the role `{role}` is not here")
            found += _read_entries(roles[role], principal, f"{ROLE} {role}")
    return found


def write(acls: Iterable[Acl]) -> str:
    principals = groupby(sorted(acls, key=_rule), key=lambda acl: acl.principal)
    return dump_all(_authorization(name, list(entries)) for name, entries in principals)


def _read_entries(entries: list[Any], principal: str, role: str) -> list[Acl]:
    return [
        acl
        for number, entry in enumerate(entries, start=1)
        for acl in _read_entry(mapping(entry, role), principal, f"{role}: acl {number}")
    ]


def _read_entry(entry: Mapping[str, Any], principal: str, where: str) -> list[Acl]:
    known_keys(entry, ("resource", "type", "operations", "host"), where)
    resource = inner(entry, "resource", where)
    pattern_type = text_of(resource, "patternType", where)
    if pattern_type.upper() == "MATCH":
        raise AclTextError(
            f"{where}: MATCH is a regular expression that jikkou expands against the topics that"
            " there are; no ACL says that: give the names, or a prefix"
        )
    return [
        acl_of(
            (
                principal,
                text_of(entry, "host", where, WILDCARD),
                text_of(resource, "type", where),
                text_of(resource, "pattern", where),
                pattern_type,
                _SINGULAR.get(str(operation).upper(), str(operation)),
                text_of(entry, "type", where),
            ),
            where,
        )
        for operation in listed(entry, "operations", where)
    ]


def _rule(acl: Acl) -> tuple[object, ...]:
    return (
        acl.principal,
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.host,
        acl.permission,
    )


def _authorization(principal: str, acls: list[Acl]) -> dict[str, Any]:
    return {
        "apiVersion": "kafka.jikkou.io/v1beta2",
        "kind": AUTHORIZATION,
        "metadata": {"name": principal},
        "spec": {"acls": [_entry(list(same)) for _, same in groupby(acls, key=_rule)]},
    }


def _entry(acls: list[Acl]) -> dict[str, Any]:
    """One rule: ACLs that differ in their operations only."""
    rule = acls[0]
    return {
        "resource": {
            "type": rule.resource_type.name,
            "pattern": rule.resource_name,
            "patternType": rule.pattern_type.name,
        },
        "type": rule.permission.name,
        "operations": [acl.operation.name for acl in acls],
        "host": rule.host,
    }
