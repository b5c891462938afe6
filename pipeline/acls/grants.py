"""What ACLs are granted for: the operations they allow, and the requests that need them."""

import msgspec

from kafka_shim.authorizer.model import Acl
from kafka_shim.protocol.enums import Operation, ResourceType

What = tuple[Operation, ResourceType, str]
"""An operation on a named resource."""


class Grant(msgspec.Struct, frozen=True):
    """An ACL, the requests it is for, and the known names that it allows beyond those."""

    acl: Acl
    requests: int
    over_grants: tuple[str, ...] = ()
