"""The format `strimzi`: KafkaUser resources, one per user, with simple authorization.

The principal is not written down: it is the user's name, or with TLS the name as common name (CN).
Resources without names (the cluster) and the old field `operation` are supported.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any, NamedTuple

from kafka_shim.authorizer.acl_names import AclTextError, camel_case
from kafka_shim.authorizer.model import WILDCARD, Acl
from kafka_shim.policy.formats.documents import (
    check_keys_are_known,
    dump_yaml_documents,
    kubernetes_resources,
    line_of_key,
    line_of_mapping,
    lines_of_items,
    list_under_key,
    list_under_key_rejecting_null,
    mapping_under_key,
    require_mapping,
    text_under_key,
    unknown_word_message,
)
from kafka_shim.policy.formats.fields import (
    AclWithLine,
    ErrorCollector,
    add_line_to_errors,
    parse_acl_texts,
)
from kafka_shim.policy.formats.signs_of_acls import (
    is_marked_for_deletion,
    reject_misspelt_keys,
    reject_paused_resource,
    reject_templates,
    resources_of_kinds,
)
from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, ResourceType

_TYPES = {
    "topic": ResourceType.TOPIC,
    "group": ResourceType.GROUP,
    "cluster": ResourceType.CLUSTER,
    "transactionalId": ResourceType.TRANSACTIONAL_ID,
}
_TYPE_NAMES = {member: name for name, member in _TYPES.items()}
_PATTERNS = {"literal": PatternType.LITERAL, "prefix": PatternType.PREFIXED}
_OPERATIONS = {
    camel_case(member): member
    for member in Operation
    if Operation.ANY < member <= Operation.IDEMPOTENT_WRITE
}
_PERMISSIONS = ("allow", "deny")
_SPEC_KEYS = ("userName", "authentication", "authorization")
"""The keys of a user that decide about its ACLs."""
_PAUSED = "strimzi.io/pause-reconciliation"
_CLUSTER = "strimzi.io/cluster"
_STRIMZI = ("kafka.strimzi.io/", "eventstreams.ibm.com/")
_WITHOUT_ACLS = "kafka.jikkou.io/"
"""Whose KafkaUsers have no ACLs: they are KafkaPrincipalAuthorizations."""
_TLS = ("tls", "tls-external")
_LOGINS = (*_TLS, "scram-sha-512")
_KIND = "KafkaUser"
_NAME = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")
"""What Kubernetes allows as a name."""


class StrimziUser(NamedTuple):
    """A KafkaUser with its principal, its ACLs, and the name of its cluster, empty if unknown.

    The name has the namespace before it, if there is one.
    """

    name: str
    principal: str
    cluster: str
    line: int
    acls: list[AclWithLine]


def parse_acls(text: str) -> list[AclWithLine]:
    """Return the ACLs of all users; users without simple authorization have none."""
    users = parse_users(text)
    mistakes = ErrorCollector()
    for position, conflict in find_conflicts(users):
        mistakes.add_error(AclTextError(conflict), users[position].line)
    mistakes.raise_collected_errors()
    return [acl for user in users for acl in user.acls]


def parse_users(text: str) -> list[StrimziUser]:
    """Return the users of a text. Raise AclTextError, with all mistakes, if one is invalid."""
    users: list[StrimziUser] = []
    mistakes = ErrorCollector()
    with mistakes.collect_errors():
        for resource in resources_of_kinds(kubernetes_resources(text), (_KIND,)):
            line = line_of_mapping(resource)
            with mistakes.collect_errors(line):
                version = str(resource.get("apiVersion", _STRIMZI[0]))
                if version.startswith(_WITHOUT_ACLS) or is_marked_for_deletion(resource):
                    continue
                if not version.startswith(_STRIMZI):
                    raise AclTextError(f"{_KIND} of `{version}` is not a resource of Strimzi")
                users.append(_parse_user(resource, line))
    mistakes.raise_collected_errors()
    return users


def find_conflicts(users: Iterable[StrimziUser]) -> Iterator[tuple[int, str]]:
    """Yield the positions of users who cannot be in a cluster with those before them, and why: the
    User Operator of a cluster keeps one user for each principal.
    """
    names: set[str] = set()
    names_by_principal: dict[str, str] = {}
    first = None
    for position, user in enumerate(users):
        other = names_by_principal.setdefault(user.principal, user.name)
        if user.name in names:
            yield position, f"{_KIND} {user.name} is there twice; give one of them"
        elif other != user.name:
            yield position, f"{_KIND} {user.name} has the principal of {other}; give one of them"
        names.add(user.name)
        first = first or (user if user.cluster else None)
        if first is not None and user.cluster not in ("", first.cluster):
            clusters = f"{user.cluster}, not of {first.cluster} as {first.name}"
            yield position, f"{_KIND} {user.name} is of the cluster {clusters}; give those of one"


def _parse_user(resource: Mapping[str, Any], line: int) -> StrimziUser:
    metadata = mapping_under_key(resource, "metadata", _KIND)
    name = text_under_key(metadata, "name", f"{_KIND}: `metadata`")
    labels = mapping_under_key(metadata, "labels", f"{_KIND} {name}: `metadata`")
    where = f"{_KIND} {name}"
    spec = mapping_under_key(resource, "spec", where)
    reject_templates(resource, where)
    reject_paused_resource(resource, _PAUSED, where)
    reject_misspelt_keys(spec, _SPEC_KEYS, f"{where}: `spec`")
    mistakes = ErrorCollector()
    principal = ""
    with mistakes.collect_errors(line_of_mapping(spec)):
        principal = _principal_of_user(text_under_key(spec, "userName", where, name), spec, where)
    authorization = mapping_under_key(spec, "authorization", where)
    if authorization and (kind := text_under_key(authorization, "type", where)) != "simple":
        raise AclTextError(f"{where}: authorization `{kind}` has no ACLs")
    check_keys_are_known(authorization, ("type", "acls"), f"{where}: `authorization`")
    acls: list[AclWithLine] = []
    for number, entry in enumerate(
        list_under_key_rejecting_null(authorization, "acls", where), start=1
    ):
        with mistakes.collect_errors(line_of_mapping(entry)):
            acls += _parse_rule(entry, principal, f"{where}: acl {number}")
    mistakes.raise_collected_errors()
    full_name = f"{metadata['namespace']}/{name}" if metadata.get("namespace") else name
    return StrimziUser(full_name, principal, str(labels.get(_CLUSTER) or ""), line, acls)


def format_acls(acls: Iterable[Acl]) -> str:
    users = groupby(sorted(acls, key=lambda acl: acl.principal), key=lambda acl: acl.principal)
    text = dump_yaml_documents(
        make_user_resource(principal, list(entries)) for principal, entries in users
    )
    return f"# each user needs the label strimzi.io/cluster with your cluster's name\n{text}"


def _principal_of_user(name: str, spec: Mapping[str, Any], where: str) -> str:
    authentication = mapping_under_key(spec, "authentication", where)
    reject_misspelt_keys(authentication, ("type",), f"{where}: `authentication`")
    if spec.get("authentication") is None:
        return f"User:{name}"
    login = text_under_key(authentication, "type", f"{where}: `authentication`")
    if login not in _LOGINS:
        raise AclTextError(
            f"{where}: authentication `{login}` is not one of {', '.join(_LOGINS)}",
            line_of_key(authentication, "type"),
        )
    return f"User:CN={name}" if login in _TLS else f"User:{name}"


def _parse_rule(value: Any, principal: str, where: str) -> Iterator[AclWithLine]:
    entry = require_mapping(value, where)
    check_keys_are_known(entry, ("type", "resource", "operations", "operation", "host"), where)
    resource = mapping_under_key(entry, "resource", where)
    check_keys_are_known(resource, ("type", "name", "patternType"), f"{where}: `resource`")
    kind = text_under_key(resource, "type", where)
    if kind not in _TYPES:
        raise AclTextError(f"{where}: `{kind}` is not one of {', '.join(_TYPES)}")
    is_cluster = kind == "cluster"  # for which Strimzi ignores the others
    pattern = "literal" if is_cluster else text_under_key(resource, "patternType", where, "literal")
    if pattern not in _PATTERNS:
        raise AclTextError(f"{where}: `{pattern}` is not one of {', '.join(_PATTERNS)}")
    name = CLUSTER_NAME if is_cluster else text_under_key(resource, "name", where)
    key = "operation" if entry.get("operations") is None else "operations"
    if key == "operations" and entry.get("operation") is not None:
        raise AclTextError(f"{where}: `operation` and `operations` exclude each other")
    operations = (
        list_under_key(entry, key, where)
        if key == "operations"
        else [text_under_key(entry, key, where)]
    )
    host = text_under_key(entry, "host", where, WILDCARD)
    permission = text_under_key(entry, "type", where, "allow")
    if permission not in _PERMISSIONS:
        raise AclTextError(f"{where}: `{permission}` is not one of {', '.join(_PERMISSIONS)}")
    what = (_TYPES[kind].name, name, _PATTERNS[pattern].name)
    for operation, line in zip(
        operations, lines_of_items(entry, key, len(operations)), strict=True
    ):
        with add_line_to_errors(line):
            if operation not in _OPERATIONS:
                raise AclTextError(
                    f"{where}: {unknown_word_message('operation', str(operation), [*_OPERATIONS])}"
                )
            yield parse_acl_texts((principal, host, *what, operation, permission), where), line


def make_user_resource(principal: str, acls: list[Acl]) -> dict[str, Any]:
    """Return a KafkaUser with these ACLs, or without any."""
    kind, _, name = principal.partition(":")
    by_tls = name.startswith("CN=")
    name = name.removeprefix("CN=")
    if kind != "User" or not _NAME.fullmatch(name):
        raise AclTextError(f"`{principal}` cannot be a KafkaUser: its name would be `{name}`")
    spec: dict[str, Any] = {"authentication": {"type": "tls-external"}} if by_tls else {}
    spec["authorization"] = {
        "type": "simple",
        "acls": [
            _format_rule(list(same))
            for _, same in groupby(sorted(acls, key=_rule_sort_key), key=_rule_sort_key)
        ],
    }
    return {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": _KIND,
        "metadata": {"name": name},
        "spec": spec,
    }


def _rule_sort_key(acl: Acl) -> tuple[object, ...]:
    return acl.resource_type, acl.resource_name, acl.pattern_type, acl.host, acl.permission


def _format_rule(acls: list[Acl]) -> dict[str, Any]:
    """Return one rule for ACLs that differ only in their operations."""
    rule = acls[0]
    kind = _TYPE_NAMES.get(rule.resource_type)
    if kind is None:
        raise AclTextError(f"a KafkaUser has no ACLs about {camel_case(rule.resource_type)}")
    for acl in acls:
        if acl.operation not in _OPERATIONS.values():
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
