"""The changes that make one set of ACLs another, in an order that is safe after every step."""

from collections.abc import Iterable, Iterator

from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.policy.remedy import Step
from kafka_shim.protocol.enums import Permission


def plan(old: Iterable[Acl], new: Iterable[Acl]) -> list[Step]:
    """New DENYs, new ALLOWs, then old ALLOWs go, then old DENYs.

    Whatever both sets allow is allowed all the time, and nothing that neither allows: in between,
    the ALLOWs and the DENYs of both are there. (Where everyone is allowed as long as a resource
    has no ACL, its first ACL takes that away until the others are there.)
    """
    before, after = set(old), set(new)
    return [
        *_steps(after - before, Permission.DENY, is_addition=True),
        *_steps(after - before, Permission.ALLOW, is_addition=True),
        *_steps(before - after, Permission.ALLOW, is_addition=False),
        *_steps(before - after, Permission.DENY, is_addition=False),
    ]


def _steps(acls: set[Acl], permission: Permission, *, is_addition: bool) -> Iterator[Step]:
    for acl in sorted(filter(lambda acl: acl.permission is permission, acls), key=_order):
        yield Step(is_addition, acl)


def _order(acl: Acl) -> tuple[object, ...]:
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (acl.principal, *pattern, acl.host, acl.operation)
