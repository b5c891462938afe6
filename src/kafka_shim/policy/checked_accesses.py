"""The accesses that brokers check, and samples that stand for unnamed principals and hosts."""

from collections.abc import Collection, Iterable, Iterator
from functools import cache
from itertools import chain

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.acl_rules import (
    AclRules,
    acl_resource_types_of_release,
    acl_rules_of_release,
    supported_operations,
)
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.networks import unmatchable_host_reason
from kafka_shim.authorizer.requirements import requirements_of_served_versions
from kafka_shim.policy.decision_function import DecisionFunction
from kafka_shim.policy.formats.fields import AclWithLine
from kafka_shim.policy.name_sets import NameSet, names_covered_by_pattern
from kafka_shim.protocol.enums import Operation, Permission, ResourceType
from kafka_shim.text.input_files import ConfigError

UNNAMED_PRINCIPAL = "User:\0nobody in particular"
"""A principal that no ACL names; stands for `User:*`."""

UNNAMED_HOST = "\0nowhere in particular"
"""A host that no ACL names; stands for `*`."""


class InexactReleaseError(ConfigError):
    """The release overlooks some ACLs, depending on other names.

    So no statement about all names holds.
    """


def require_full_prefix_search(authorizer: DecisionFunction) -> None:
    """Raise InexactReleaseError if the release ends its search for prefixes too early."""
    if authorizer.rules.prefix_search_stops_early:
        raise InexactReleaseError(
            "Kafka 3.2 overlooks prefixed ACLs when other names lie in between, so nothing"
            " can be said about all names; choose another --kafka-version"
        )


@cache
def checked_operations_by_resource_type(release: str) -> dict[ResourceType, tuple[Operation, ...]]:
    """Return the operations that brokers of a release check, by resource type."""
    rules = acl_rules_of_release(release)
    operations = {
        kind: set(supported_operations(kind, rules))
        for kind in acl_resource_types_of_release(rules)
    }
    for bound in requirements_of_served_versions(release):
        for need in bound.needs:
            operations.setdefault(need.resource_type, set()).add(need.operation)
    return {kind: tuple(sorted(operations[kind])) for kind in sorted(operations)}


def ineffective_operation_message(acl: Acl, release: str) -> str | None:
    """Return why an ACL can neither allow nor deny anything: brokers never check its operation on
    its resource type. Return None if they do.
    """
    checked = checked_operations_by_resource_type(release).get(acl.resource_type, ())
    if acl.operation is Operation.ALL or acl.operation in checked:
        return None
    names = ", ".join(camel_case(operation) for operation in checked) or "none"
    return f"{camel_case(acl.resource_type)} has no such operation; it has {names}"


def ineffective_acl_messages(
    acls_with_lines: Iterable[AclWithLine], release: str, super_users: Collection[str] = ()
) -> Iterator[tuple[int | None, str]]:
    """Yield the line and a message for each ACL that can neither allow nor deny anything."""
    host_networks = acl_rules_of_release(release).host_networks
    for acl, line in acls_with_lines:
        message = ineffective_operation_message(acl, release) or unmatchable_host_reason(
            acl.host, host_networks=host_networks
        )
        if acl.permission is Permission.DENY and acl.principal in super_users:
            message = f"it denies, and {acl.principal} is a super user"
        if message is not None:
            yield line, f"the ACL of {describe_acl_subject(acl)} has no effect: {message}"


def describe_acl_subject(acl: Acl) -> str:
    """Return whom an ACL is about, and what."""
    operation, kind = camel_case(acl.operation), camel_case(acl.resource_type)
    return f"`{acl.principal}` for {operation} on {kind} `{acl.resource_name}`"


@cache
def operations_checked_for_any_resource(release: str) -> tuple[tuple[Operation, ResourceType], ...]:
    """Return the operations that brokers check for any resource of a type (KIP-679)."""
    pairs = {
        (need.operation, need.resource_type)
        for bound in requirements_of_served_versions(release)
        for need in bound.needs
        if need.any_name
    }
    return tuple(sorted(pairs))


def acl_names_for_principal(
    authorizer: DecisionFunction, resource_type: ResourceType, principal: str
) -> set[NameSet]:
    """Return the names in ACLs that can affect decisions about the principal (`User:*`: about any
    other).
    """
    store = authorizer.store
    if authorizer.allow_everyone:
        patterns = store.patterns_of_type(resource_type)
    else:
        patterns = chain.from_iterable(
            patterns_of_subject
            for each in {principal, ANY_USER}
            for _, patterns_of_subject in store.patterns_naming_principal(resource_type, each)
        )
    return {names_covered_by_pattern(each.resource_name, each.pattern_type) for each in patterns}


def acl_hosts_for_principal(
    authorizer: DecisionFunction, resource_type: ResourceType, principal: str
) -> set[str]:
    """Return the hosts in ACLs of the principal and of `User:*` on resources of a type."""
    return {
        subject.host
        for each in {principal, ANY_USER}
        for subject, _ in authorizer.store.patterns_naming_principal(resource_type, each)
    }


def possible_hosts(hosts: Iterable[str], rules: AclRules) -> list[str]:
    """Return the hosts that a client can have; `*` stands for all others."""
    networks = rules.host_networks
    possible = {
        host for host in hosts if unmatchable_host_reason(host, host_networks=networks) is None
    }
    return [WILDCARD, *sorted(possible - {WILDCARD})]


def sample_principal(principal: str) -> str:
    """Return the principal; for `User:*`, one that no ACL names."""
    return UNNAMED_PRINCIPAL if principal == ANY_USER else principal


def sample_host(host: str) -> str:
    """Return the host; for `*`, one that no ACL names."""
    return UNNAMED_HOST if host == WILDCARD else host
