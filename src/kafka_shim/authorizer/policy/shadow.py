"""Find an ACL that covers another one."""

from kafka_shim.authorizer.acl_releases import rules_of
from kafka_shim.authorizer.implied import allowing
from kafka_shim.authorizer.model import ANY_USER, WILDCARD, Acl
from kafka_shim.authorizer.store import AclStore
from kafka_shim.protocol.enums import Operation, PatternType, Permission


def shadow_of(acl: Acl, store: AclStore, release: str) -> Acl | None:
    """Return another ACL of the store that covers this one, or overrides it completely.

    Return None in a release that may overlook the other one.
    """
    rules = rules_of(release)
    if rules.search_stops_early:
        return None
    starred = rules.wildcard_covers_starred
    for pattern in store.patterns_for(acl.resource_type, acl.resource_name):
        kind = (pattern.resource_name, pattern.pattern_type)
        if not _contains(kind, (acl.resource_name, acl.pattern_type), starred=starred):
            continue
        for principal in dict.fromkeys((acl.principal, ANY_USER)):
            for host in dict.fromkeys(store.hosts_covering(principal, acl.host)):
                for permission, operation in _sayings(acl):
                    other = Acl(
                        acl.resource_type,
                        pattern.resource_name,
                        pattern.pattern_type,
                        principal,
                        host,
                        operation,
                        permission,
                    )
                    if other != acl and other in store:
                        return other
    return None


def _contains(
    outer: tuple[str, PatternType], inner: tuple[str, PatternType], *, starred: bool
) -> bool:
    name, kind = outer
    if kind is PatternType.PREFIXED:
        return inner[0].startswith(name) and (
            inner[0] != WILDCARD or inner[1] != PatternType.LITERAL
        )
    if name == WILDCARD:
        return inner[0] == WILDCARD or starred or not inner[0].startswith(WILDCARD)
    return outer == inner


def _sayings(acl: Acl) -> list[tuple[Permission, Operation]]:
    """Return (permission, operation) pairs that make the ACL redundant in a broader ACL, DENYs
    last.
    """
    if acl.permission is Permission.DENY:
        return [(Permission.DENY, op) for op in dict.fromkeys((acl.operation, Operation.ALL))]
    same = [acl.operation, *sorted(_including(acl.operation))]
    found = [(Permission.ALLOW, op) for op in dict.fromkeys(same)]
    return [*found, (Permission.DENY, Operation.ALL)]


def _including(operation: Operation) -> frozenset[Operation]:
    """Return the operations whose ALLOW includes the ALLOW of this one."""
    return allowing(operation) if operation is not Operation.ALL else frozenset({operation})
