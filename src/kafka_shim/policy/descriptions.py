"""Text and JSON for ACLs, names, hosts, changes, concrete accesses and decisions."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.model import (
    ANY_USER,
    WILDCARD,
    Action,
    Decision,
    DecisionReason,
    acl_to_object,
)
from kafka_shim.authorizer.networks import smallest_enclosing_host
from kafka_shim.policy.access_changes import AccessChange
from kafka_shim.policy.formats.yaml_rules import acl_line
from kafka_shim.policy.name_sets import ALL_NAMES, STARRED_NAMES, NameSet
from kafka_shim.policy.witness import Witness
from kafka_shim.protocol.enums import Operation, ResourceType

_ASTERISK = NameSet(WILDCARD)


@cache
def resource_type_text(kind: ResourceType) -> str:
    return "the cluster" if kind is ResourceType.CLUSTER else kind.name.lower().replace("_", " ")


def names_text(names: NameSet) -> str:
    if not names.is_prefix:
        return f"`{names.text}`"
    return "names that begin with an asterisk" if names == STARRED_NAMES else f"`{names.text}*`"


def resources_text(kind: ResourceType, names: NameSet | None) -> str:
    """Return `topic `orders``, `topics `orders-*``, `every topic` or `the cluster`."""
    word = resource_type_text(kind)
    if kind is ResourceType.CLUSTER:
        return word
    if names is None:
        return f"at least one {word}"
    if not names.is_prefix:
        return f"{word} {names_text(names)}"
    return f"every {word}" if names == ALL_NAMES else f"{word}s {names_text(names)}"


@lru_cache(maxsize=1 << 10)  # long results have the same few sets of operations
def operations_text(operations: tuple[Operation, ...]) -> str:
    return ", ".join(map(camel_case, operations))


def hosts_text(hosts: Iterable[str], except_hosts: Iterable[str] = ()) -> str:
    """Return the hosts as text; empty for all hosts. Exceptions and what they contain is named."""
    places, excepted = tuple(hosts), tuple(except_hosts)
    if places == (WILDCARD,) and not excepted:
        return ""
    named = ", ".join(host for host in places if host != WILDCARD)
    but = ", ".join(excepted)
    if WILDCARD in places:
        if not excepted:
            return ""
        return f" from everywhere but {but}" + (f", and from {named}" if named else "")
    if not excepted:
        return f" from {named}"
    within = [
        host for host in places if smallest_enclosing_host(host, (*places, *excepted)) in excepted
    ]
    outside = ", ".join(host for host in places if host not in within)
    return f" from {outside} but not {but}" + (f", and from {', '.join(within)}" if within else "")


def principal_text(principal: str, except_principals: Iterable[str] = ()) -> str:
    if principal != ANY_USER:
        return principal
    excepted = ", ".join(except_principals)
    return f"everyone else ({ANY_USER} but {excepted})" if excepted else f"everyone ({ANY_USER})"


def signed_access_change_line(change: AccessChange) -> str:
    """Return a line such as `+ User:alice: Read, Describe on topic `orders``."""
    principal = principal_text(change.principal, change.except_principals)
    return f"{'+' if change.gained else '-'} {principal}: {changed_access_text(change)}"


def changed_access_text(change: AccessChange) -> str:
    """Return text such as `Read, Describe on topic `orders` from 10.0.0.1`."""
    resource = resources_text(change.resource_type, change.names)
    named_exceptions = ", ".join(
        names_text(name)
        for name in change.except_names
        if not _is_exception_for_any_topic(change, name)
    )
    but = f" (but not {named_exceptions})" if named_exceptions else ""
    hosts = hosts_text(change.hosts, change.except_hosts)
    return f"{operations_text(change.operations)} on {resource}{but}{hosts}"


def implied_change_flags(changes: Sequence[AccessChange]) -> list[bool]:
    """Return for each change whether it follows from the others.

    A literal `*` does not cover the name `*` itself, which no topic has; and every gain of Write on
    a topic is also a gain of Write on at least one topic, from the same hosts.
    """
    everywhere = {
        _change_key_without_names(change)
        for change in changes
        if change.names in (ALL_NAMES, STARRED_NAMES)
    }
    named_gains = {
        (change.principal, change.resource_type, change.hosts, change.except_hosts, operation)
        for change in changes
        if change.names is not None and change.gained
        for operation in change.operations
    }
    return [
        (
            change.names == _ASTERISK
            and change.resource_type is ResourceType.TOPIC
            and _change_key_without_names(change) in everywhere
        )
        or (
            change.names is None
            and change.gained
            and all(
                (change.principal, change.resource_type, change.hosts, change.except_hosts, op)
                in named_gains
                for op in change.operations
            )
        )
        for change in changes
    ]


def access_change_object(change: AccessChange) -> dict[str, Any]:
    return {
        "change": "gain" if change.gained else "loss",
        "principal": change.principal,
        "except_principals": change.except_principals,
        "resource_type": change.resource_type.name,
        "names": None if change.names is None else names_object(change.names),
        "except_names": [names_object(names) for names in change.except_names],
        "operations": [operation.name for operation in change.operations],
        "hosts": change.hosts,
        "except_hosts": change.except_hosts,
    }


def names_object(names: NameSet) -> dict[str, str]:
    return {"prefix" if names.is_prefix else "name": names.text}


def _is_exception_for_any_topic(change: AccessChange, exception: NameSet) -> bool:
    is_starred = exception in (STARRED_NAMES, _ASTERISK)
    return is_starred and change.names == ALL_NAMES and change.resource_type is ResourceType.TOPIC


def _change_key_without_names(change: AccessChange) -> tuple[object, ...]:
    return (
        change.gained,
        change.principal,
        change.resource_type,
        change.operations,
        change.hosts,
    )


def witness_lines(witness: Witness, before: str, after: str) -> Iterator[str]:
    """Yield the access and, for both sides, the decision with the ACL that decides."""
    yield access_text(witness)
    yield f"{before}: {decision_text(witness.before)}"
    yield f"{after}: {decision_text(witness.after)}"


def witness_line(witness: Witness) -> str:
    """Return one line: the access, and the rule that allows it before or after."""
    return (
        f"{access_text(witness)} (before: {decision_rule_text(witness.before)};"
        f" after: {decision_rule_text(witness.after)})"
    )


def access_text(witness: Witness) -> str:
    """Return text such as `User:alice from 10.0.0.1: Read on topic `orders``."""
    name = witness.resource_name
    resource = resources_text(witness.resource_type, None if name is None else NameSet(name))
    operation = camel_case(witness.operation)
    return f"{witness.actor.principal} from {witness.actor.host}: {operation} on {resource}"


def action_text(action: Action) -> str:
    """Return text such as `Read on topic `orders`` or `Alter on the cluster`."""
    resource = resources_text(action.resource_type, NameSet(action.resource_name))
    return f"{camel_case(action.operation)} on {resource}"


def decision_text(decision: Decision) -> str:
    """Return `allowed ({principal: User:alice, allow: Read, topic: orders})`."""
    word = "allowed" if decision.allowed else "denied"
    return f"{word} ({decision_rule_text(decision)})"


def decision_rule_text(decision: Decision) -> str:
    """Return what decided: an ACL, or that there is none."""
    if decision.reason is DecisionReason.ACL and decision.acl is not None:
        return acl_line(decision.acl)
    return decision.reason.value


def decision_object(decision: Decision) -> dict[str, Any]:
    return {
        "allowed": decision.allowed,
        "because": decision.reason.name,
        "acl": decision.acl and acl_to_object(decision.acl),
    }


def access_object(witness: Witness) -> dict[str, Any]:
    return {
        "principal": witness.actor.principal,
        "host": witness.actor.host,
        "operation": witness.operation.name,
        "resource_type": witness.resource_type.name,
        "resource_name": witness.resource_name,
    }


def witness_object(witness: Witness | None) -> dict[str, Any] | None:
    """Return the access with both decisions; None for a change that no client can notice."""
    if witness is None:
        return None
    decisions = {
        "before": decision_object(witness.before),
        "after": decision_object(witness.after),
    }
    return access_object(witness) | decisions
