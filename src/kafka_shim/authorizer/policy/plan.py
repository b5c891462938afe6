"""The steps from one set of ACLs to another, in an order that is safe after every step."""

from collections.abc import Iterable, Iterator

from kafka_shim.authorizer.model import Acl
from kafka_shim.authorizer.remedy import Step
from kafka_shim.protocol.enums import Permission


def steps_safe_at_every_point(old_acls: Iterable[Acl], new_acls: Iterable[Acl]) -> list[Step]:
    """Return the steps: add DENYs, add ALLOWs, remove old ALLOWs, remove old DENYs.

    Everything that both sets allow stays allowed, and nothing becomes allowed that neither allows,
    because the ALLOWs and DENYs of both sets exist in between. (Exception: if resources without
    ACLs are open to everyone, the first ACL of a resource closes it until the others are added.)
    """
    before, after = set(old_acls), set(new_acls)
    return [
        *_sorted_steps_of_permission(after - before, Permission.DENY, is_addition=True),
        *_sorted_steps_of_permission(after - before, Permission.ALLOW, is_addition=True),
        *_sorted_steps_of_permission(before - after, Permission.ALLOW, is_addition=False),
        *_sorted_steps_of_permission(before - after, Permission.DENY, is_addition=False),
    ]


def _sorted_steps_of_permission(
    acls: set[Acl], permission: Permission, *, is_addition: bool
) -> Iterator[Step]:
    for acl in sorted(filter(lambda acl: acl.permission is permission, acls), key=_acl_sort_key):
        yield Step(is_addition, acl)


def _acl_sort_key(acl: Acl) -> tuple[object, ...]:
    pattern = (acl.resource_type, acl.resource_name, acl.pattern_type)
    return (acl.principal, *pattern, acl.host, acl.operation)
