"""Codes of the protocol: operations, resource types, pattern types, permissions."""

from enum import IntEnum

from kafka_shim.protocol.api_key import ApiKey

__all__ = [
    "CLUSTER_NAME",
    "ISOLATION_LEVELS",
    "NO_OPERATIONS",
    "ApiKey",
    "ConfigResourceType",
    "IsolationLevel",
    "Operation",
    "PatternType",
    "Permission",
    "ResourceType",
]


class ResourceType(IntEnum):
    """Resource type of an ACL. ANY is for filters; UNKNOWN stands for all other codes."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class PatternType(IntEnum):
    """How the resource name of an ACL is compared (KIP-290). ANY and MATCH are for filters."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Permission(IntEnum):
    """Whether an ACL allows or denies. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


class Operation(IntEnum):
    """An operation on a resource. ANY is for filters."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class ConfigResourceType(IntEnum):
    """Resource type of settings, in DescribeConfigs, AlterConfigs and IncrementalAlterConfigs."""

    UNKNOWN = 0
    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class IsolationLevel(IntEnum):
    """Whether a reader sees records of open and aborted transactions (KIP-98)."""

    READ_UNCOMMITTED = 0
    READ_COMMITTED = 1


ISOLATION_LEVELS = frozenset(IsolationLevel)

CLUSTER_NAME = "kafka-cluster"
"""The only resource name of type CLUSTER."""

NO_OPERATIONS = -(2**31)
"""Value of authorized operations that were not requested (Int32.MIN, KIP-430)."""
