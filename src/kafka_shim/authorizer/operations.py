"""Operations that other operations include, and the operations a resource type can have.

Implications hold for ALLOW only: denying READ does not deny DESCRIBE (KIP-140, KIP-430).
"""

from collections.abc import Iterable
from functools import cache

from kafka_shim.authorizer.acl_rules import NEWEST_RULES, AclRules
from kafka_shim.protocol.enums import Operation, ResourceType

_DESCRIBING = frozenset(
    {Operation.DESCRIBE, Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
)
_CONFIG_DESCRIBING = frozenset({Operation.DESCRIBE_CONFIGS, Operation.ALTER_CONFIGS})


def operations_whose_allow_includes(operation: Operation) -> frozenset[Operation]:
    """Return the operations whose ALLOW entry allows `operation`."""
    if operation is Operation.DESCRIBE:
        return _DESCRIBING | {Operation.ALL}
    if operation is Operation.DESCRIBE_CONFIGS:
        return _CONFIG_DESCRIBING | {Operation.ALL}
    return frozenset({operation, Operation.ALL})


def operations_whose_deny_includes(operation: Operation) -> frozenset[Operation]:
    """Return the operations whose DENY entry denies `operation`; nothing is implied."""
    return frozenset({operation, Operation.ALL})


def supported_operations(
    resource_type: ResourceType, rules: AclRules = NEWEST_RULES
) -> tuple[Operation, ...]:
    """Return the operations of a resource type, in code order; none for ANY and UNKNOWN.

    A broker checks them when a client requests authorized operations (KIP-430).
    """
    op = Operation
    supported: Iterable[Operation]
    match resource_type:
        case ResourceType.TOPIC:
            supported = (op.READ, op.WRITE, op.CREATE, op.DELETE, op.ALTER, op.DESCRIBE)
            supported = (*supported, op.DESCRIBE_CONFIGS, op.ALTER_CONFIGS)
        case ResourceType.GROUP:
            configs = (op.DESCRIBE_CONFIGS, op.ALTER_CONFIGS)
            supported = (op.READ, op.DELETE, op.DESCRIBE)
            supported = (*supported, *(configs if rules.has_group_config_operations else ()))
        case ResourceType.CLUSTER:
            supported = (op.CREATE, op.ALTER, op.DESCRIBE, op.CLUSTER_ACTION)
            supported = (*supported, op.DESCRIBE_CONFIGS, op.ALTER_CONFIGS, op.IDEMPOTENT_WRITE)
        case ResourceType.TRANSACTIONAL_ID:
            supported = (op.WRITE, op.DESCRIBE)
            supported = (
                *supported,
                *((op.TWO_PHASE_COMMIT,) if rules.has_two_phase_commit else ()),
            )
        case ResourceType.DELEGATION_TOKEN if rules.has_delegation_token_resource:
            supported = (op.DESCRIBE,)
        case ResourceType.USER if rules.has_user_resource:
            supported = (op.CREATE_TOKENS, op.DESCRIBE_TOKENS)
        case _:
            supported = ()
    return tuple(supported)


def operation_bit_field(operations: Iterable[Operation]) -> int:
    """Return the bit field of the protocol: bit n is the operation with code n (KIP-430)."""
    bits = 0
    for operation in operations:
        bits |= 1 << operation
    return bits


@cache
def acl_resource_types_of_release(rules: AclRules = NEWEST_RULES) -> frozenset[ResourceType]:
    """Return the resource types that ACLs can have in this release."""
    types = {
        ResourceType.TOPIC,
        ResourceType.GROUP,
        ResourceType.CLUSTER,
        ResourceType.TRANSACTIONAL_ID,
    }
    if rules.has_delegation_token_resource:
        types.add(ResourceType.DELEGATION_TOKEN)
    if rules.has_user_resource:
        types.add(ResourceType.USER)
    return frozenset(types)


@cache
def acl_operations_of_release(rules: AclRules = NEWEST_RULES) -> frozenset[Operation]:
    """Return the operations that ACLs can have in this release, including ALL."""
    known = set(Operation) - {Operation.UNKNOWN, Operation.ANY}
    if not rules.has_user_resource:
        known -= {Operation.CREATE_TOKENS, Operation.DESCRIBE_TOKENS}
    if not rules.has_two_phase_commit:
        known.discard(Operation.TWO_PHASE_COMMIT)
    return frozenset(known)
