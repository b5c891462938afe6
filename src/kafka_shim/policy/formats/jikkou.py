"""The format `jikkou`: KafkaPrincipalAuthorization resources, and the roles that they refer to."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from kafka_shim.authorizer.acl_names import AclTextError
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.policy.formats.documents import (
    check_keys_are_known,
    dump_yaml_documents,
    kubernetes_resources,
    line_of_mapping,
    lines_of_items,
    list_under_key,
    list_under_key_rejecting_null,
    mapping_under_key,
    require_mapping,
    text_under_key,
)
from kafka_shim.policy.formats.fields import (
    AclWithLine,
    ErrorCollector,
    add_line_to_errors,
    parse_acl_texts,
)
from kafka_shim.policy.formats.signs_of_acls import (
    DELETED,
    is_marked_for_deletion,
    reject_paused_resource,
    reject_templates,
    resources_of_kinds,
)

AUTHORIZATION = "KafkaPrincipalAuthorization"
ROLE = "KafkaPrincipalRole"
_IGNORED = "jikkou.io/ignore"
_SINGULAR = {"CREATE_TOKEN": "CREATE_TOKENS", "DESCRIBE_TOKEN": "DESCRIBE_TOKENS"}
"""As jikkou's own guide spells them."""


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs of all principals; ACLs of a role have the role's lines."""
    roles: dict[str, list[Any]] = {}
    specs: dict[str, Mapping[str, Any]] = {}
    mistakes = ErrorCollector()
    for resource in resources_of_kinds(kubernetes_resources(text), (AUTHORIZATION, ROLE)):
        if is_marked_for_deletion(resource):
            continue
        with mistakes.collect_errors(line_of_mapping(resource)):
            kind = str(resource.get("kind"))
            name = text_under_key(
                mapping_under_key(resource, "metadata", kind),
                "name",
                f"{kind}: `metadata`",
            )
            reject_paused_resource(resource, _IGNORED, f"{kind} {name}")
            reject_templates(resource, f"{kind} {name}")
            spec = mapping_under_key(resource, "spec", f"{kind} {name}")
            known = ("acls",) if kind == ROLE else ("acls", "roles")
            check_keys_are_known(spec, known, f"{kind} {name}: `spec`")
            entries = list_under_key_rejecting_null(spec, "acls", f"{kind} {name}")
            if name in (roles if kind == ROLE else specs):
                raise AclTextError(f"{kind} {name} is there twice")
            if kind == ROLE:
                roles[name] = entries
            else:
                specs[name] = spec
    mistakes.raise_collected_errors()
    acls: list[AclWithLine] = []
    for principal, spec in specs.items():
        with mistakes.collect_errors(line_of_mapping(spec)):
            acls += _parse_acls_of_principal(principal, spec, roles)
    mistakes.raise_collected_errors()
    return acls


def _parse_acls_of_principal(
    principal: str, spec: Mapping[str, Any], roles: Mapping[str, list[Any]]
) -> list[AclWithLine]:
    where = f"{AUTHORIZATION} {principal}"
    mistakes = ErrorCollector()
    acls = list(_parse_rules(list_under_key(spec, "acls", where), principal, where, mistakes))
    for role in list_under_key(spec, "roles", where):
        with mistakes.collect_errors():
            if role not in roles:
                raise AclTextError(f"{where}: unknown role `{role}`")
            acls += _parse_rules(roles[role], principal, f"{ROLE} {role}", mistakes)
    mistakes.raise_collected_errors()
    return acls


def format_acls(acls: Iterable[Acl]) -> str:
    principals = groupby(sorted(acls, key=_rule_sort_key), key=lambda acl: acl.principal)
    return dump_yaml_documents(
        make_authorization_resource(name, list(entries)) for name, entries in principals
    )


def _parse_rules(
    entries: list[Any], principal: str, where: str, mistakes: ErrorCollector
) -> Iterator[AclWithLine]:
    for number, entry in enumerate(entries, start=1):
        with mistakes.collect_errors(line_of_mapping(entry)):
            yield from list(
                _parse_rule(require_mapping(entry, where), principal, f"{where}: acl {number}")
            )


def _parse_rule(entry: Mapping[str, Any], principal: str, where: str) -> Iterator[AclWithLine]:
    check_keys_are_known(entry, ("resource", "type", "operations", "host"), where)
    resource = mapping_under_key(entry, "resource", where)
    pattern_type = text_under_key(resource, "patternType", where)
    if pattern_type.upper() == "MATCH":
        raise AclTextError(
            f"{where}: MATCH is a regular expression that jikkou expands against the existing"
            " topics; an ACL cannot express it: give the names, or a prefix"
        )
    host, permission = (
        text_under_key(entry, "host", where, WILDCARD),
        text_under_key(entry, "type", where),
    )
    what = (
        text_under_key(resource, "type", where),
        text_under_key(resource, "pattern", where),
        pattern_type,
    )
    operations = list(map(str, list_under_key(entry, "operations", where)))
    if not operations:
        raise AclTextError(f"{where}: there are no `operations`")
    lines = lines_of_items(entry, "operations", len(operations))
    for text, line in zip(operations, lines, strict=True):
        operation = _SINGULAR.get(text.upper(), text)
        with add_line_to_errors(line):
            yield parse_acl_texts((principal, host, *what, operation, permission), where), line


def _rule_sort_key(acl: Acl) -> tuple[object, ...]:
    return (
        acl.principal,
        acl.resource_type,
        acl.resource_name,
        acl.pattern_type,
        acl.host,
        acl.permission,
    )


def make_authorization_resource(principal: str, acls: list[Acl]) -> dict[str, Any]:
    """Return the authorization of a principal; without ACLs, one that is marked for deletion."""
    metadata: dict[str, Any] = {"name": principal}
    if not acls:
        metadata["annotations"] = {DELETED: True}
    acls = sorted(acls, key=_rule_sort_key)
    return {
        "apiVersion": "kafka.jikkou.io/v1beta2",
        "kind": AUTHORIZATION,
        "metadata": metadata,
        "spec": {
            "acls": [_format_rule(list(same)) for _, same in groupby(acls, key=_rule_sort_key)]
        },
    }


def _format_rule(acls: list[Acl]) -> dict[str, Any]:
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
