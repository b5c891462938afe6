"""The principals, topics and permissions of the recorded run."""

from collections.abc import Iterator
from typing import Final

from kafka_shim.protocol.enums import CLUSTER_NAME, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.messages.create_acls import AclCreation

USERS: Final = ("admin", "alice", "bob", "carol", "dave", "erin")
PASSWORDS: Final = {name: f"{name}-secret" for name in USERS}
"""Passwords of all users; admin is a super user."""
TOPICS: Final = (
    *("orders", "payments", "invoices", "returns", "shared", "secret", "vault"),
    *("old-1", "old-2", "old-3", "kept"),
)

Op = Operation
_TOPIC, _GROUP = ResourceType.TOPIC, ResourceType.GROUP
_TRANSACTION, _CLUSTER = ResourceType.TRANSACTIONAL_ID, ResourceType.CLUSTER
_Grant = tuple[ResourceType, str, tuple[Operation, ...]]
_ALLOWED: Final[dict[str, tuple[_Grant, ...]]] = {
    "alice": (
        (_TOPIC, "orders", (Op.WRITE,)),
        (_TOPIC, "returns", (Op.WRITE, Op.READ)),
        (_TOPIC, "seen-only", (Op.DESCRIBE,)),
        (_TOPIC, "payments", (Op.DESCRIBE,)),
        (_TOPIC, "auto-*", (Op.WRITE, Op.CREATE)),
    ),
    "bob": (
        (_TOPIC, "orders", (Op.READ,)),
        (_TOPIC, "returns", (Op.READ,)),
        (_TOPIC, "payments", (Op.DESCRIBE,)),
        (_GROUP, "billing", (Op.READ,)),
        (_GROUP, "billing-*", (Op.READ, Op.DELETE)),
    ),
    "carol": (
        (_TOPIC, "orders", (Op.READ,)),
        (_TOPIC, "invoices", (Op.WRITE, Op.READ)),
        (_GROUP, "invoicing", (Op.READ,)),
        (_TRANSACTION, "invoicing-*", (Op.WRITE,)),
        (_CLUSTER, CLUSTER_NAME, (Op.IDEMPOTENT_WRITE,)),
    ),
    "dave": (
        (_TOPIC, "dave-*", (Op.CREATE, Op.DELETE, Op.ALTER, Op.DESCRIBE_CONFIGS)),
        (_TOPIC, "made-*", (Op.CREATE,)),
        (_TOPIC, "old-1", (Op.DELETE,)),
        (_TOPIC, "old-2", (Op.DESCRIBE,)),
        (_TOPIC, "orders", (Op.DESCRIBE, Op.DESCRIBE_CONFIGS, Op.ALTER_CONFIGS)),
        (_TOPIC, "gone-deletable", (Op.DELETE,)),
        (_TOPIC, "gone-seen", (Op.DESCRIBE,)),
        (_GROUP, "billing", (Op.DESCRIBE,)),
        (_GROUP, "stale", (Op.DELETE, Op.DESCRIBE)),
        (_TRANSACTION, "invoicing-1", (Op.DESCRIBE,)),
    ),
    "erin": (
        (_TOPIC, "shared", (Op.READ, Op.WRITE)),
        (_TOPIC, "orders", (Op.READ,)),
        (_TOPIC, "erin-*", (Op.CREATE, Op.DELETE, Op.ALTER)),
        (_GROUP, "erin-*", (Op.READ, Op.DELETE)),
        (_GROUP, "billing", (Op.DESCRIBE,)),
        (_CLUSTER, CLUSTER_NAME, (Op.DESCRIBE,)),
    ),
}
_DENIED: Final[dict[str, tuple[_Grant, ...]]] = {
    "alice": ((_TOPIC, "vault", (Op.WRITE,)),),
    "erin": ((_TOPIC, "erin-locked", (Op.DELETE,)),),
}


def acls() -> list[AclCreation]:
    """The ACLs of the run; a name that ends in `*` is a prefix."""
    return [
        *_of(_ALLOWED, Permission.ALLOW),
        *_of(_DENIED, Permission.DENY),
    ]


def _of(grants: dict[str, tuple[_Grant, ...]], permission: Permission) -> Iterator[AclCreation]:
    for user, rows in grants.items():
        for kind, name, operations in rows:
            is_prefix = name.endswith("*")
            pattern = PatternType.PREFIXED if is_prefix else PatternType.LITERAL
            plain = name.removesuffix("*")
            for operation in operations:
                yield AclCreation(kind, plain, pattern, f"User:{user}", "*", operation, permission)
