"""The format `jikkou`: KafkaPrincipalAuthorization resources, and the roles that they refer to."""

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
from kafka_shim.authorizer.acl_formats.lines import line_of, lines_under
from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD, Acl

AUTHORIZATION = "KafkaPrincipalAuthorization"
ROLE = "KafkaPrincipalRole"
_SINGULAR = {"CREATE_TOKEN": "CREATE_TOKENS", "DESCRIBE_TOKEN": "DESCRIBE_TOKENS"}
"""As jikkou's own guide spells them."""


def read(text: str) -> list[PlacedAcl]:
    """Return the ACLs of all principals; ACLs of a role have the role's lines."""
    roles: dict[str, list[Any]] = {}
    principals: list[tuple[str, Mapping[str, Any]]] = []
    mistakes = Mistakes()
    for resource in own_resources(resources(text), (AUTHORIZATION, ROLE)):
        with mistakes.at(line_of(resource)):
            kind = str(resource.get("kind"))
            name = text_of(inner(resource, "metadata", kind), "name", f"{kind}: `metadata`")
            spec = inner(resource, "spec", f"{kind} {name}")
            known = ("acls",) if kind == ROLE else ("acls", "roles")
            known_keys(spec, known, f"{kind} {name}: `spec`")
            entries = required_list(spec, "acls", f"{kind} {name}")
            if kind == ROLE:
                roles[name] = entries
            else:
                principals.append((name, spec))
    mistakes.check()
    found: list[PlacedAcl] = []
    for principal, spec in principals:
        with mistakes.at(line_of(spec)):
            found += _read_principal(principal, spec, roles)
    mistakes.check()
    return found


def _read_principal(
    principal: str, spec: Mapping[str, Any], roles: Mapping[str, list[Any]]
) -> list[PlacedAcl]:
    where = f"{AUTHORIZATION} {principal}"
    mistakes = Mistakes()
    found = list(_read_entries(listed(spec, "acls", where), principal, where, mistakes))
    for role in listed(spec, "roles", where):
        with mistakes.at():
            if role not in roles:
                raise AclTextError(f"{where}: unknown role `{role}`")
            found += _read_entries(roles[role], principal, f"{ROLE} {role}", mistakes)
    mistakes.check()
    return found


def write(acls: Iterable[Acl]) -> str:
    principals = groupby(sorted(acls, key=_rule), key=lambda acl: acl.principal)
    return dump_all(resource_of(name, list(entries)) for name, entries in principals)


def _read_entries(
    entries: list[Any], principal: str, role: str, mistakes: Mistakes
) -> Iterator[PlacedAcl]:
    for number, entry in enumerate(entries, start=1):
        with mistakes.at(line_of(entry)):
            yield from list(_read_entry(mapping(entry, role), principal, f"{role}: acl {number}"))


def _read_entry(entry: Mapping[str, Any], principal: str, where: str) -> Iterator[PlacedAcl]:
    known_keys(entry, ("resource", "type", "operations", "host"), where)
    resource = inner(entry, "resource", where)
    pattern_type = text_of(resource, "patternType", where)
    if pattern_type.upper() == "MATCH":
        raise AclTextError(
            f"{where}: MATCH is a regular expression that jikkou expands against the existing"
            " topics; an ACL cannot express it: give the names, or a prefix"
        )
    host, permission = text_of(entry, "host", where, WILDCARD), text_of(entry, "type", where)
    what = (text_of(resource, "type", where), text_of(resource, "pattern", where), pattern_type)
    operations = list(map(str, listed(entry, "operations", where)))
    lines = lines_under(entry, "operations", len(operations))
    for text, line in zip(operations, lines, strict=True):
        operation = _SINGULAR.get(text.upper(), text)
        with at_line(line):
            yield acl_of((principal, host, *what, operation, permission), where), line


def _rule(acl: Acl) -> tuple[object, ...]:
    return (
        acl.principal,
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.host,
        acl.permission,
    )


def resource_of(principal: str, acls: list[Acl]) -> dict[str, Any]:
    """Return the authorization of a principal; without ACLs, one that is marked for deletion."""
    metadata: dict[str, Any] = {"name": principal}
    if not acls:
        metadata["annotations"] = {"jikkou.io/delete": True}
    acls = sorted(acls, key=_rule)
    return {
        "apiVersion": "kafka.jikkou.io/v1beta2",
        "kind": AUTHORIZATION,
        "metadata": metadata,
        "spec": {"acls": [_entry(list(same)) for _, same in groupby(acls, key=_rule)]},
    }


def _entry(acls: list[Acl]) -> dict[str, Any]:
    """Return one rule for ACLs that differ only in their operations."""
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
