"""What can be denied: for each way, a command, the rights that it takes, and the one that lacks.

Every row is about `denied`, and many about `allowed` besides, on which the user has all rights.
Facts: the requirements table (authorizer/requirements.py), which real brokers were held against.
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kafka_shim.authorizer.requirement import Requirement, bind
from kafka_shim.authorizer.requirements import CREATE_TOPICS, OFFSET_FETCH_GROUP
from kafka_shim.protocol.api_versions import served
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType

Rule = Mapping[str, Any]

DENIED, ALLOWED = "denied", "allowed"
_ACL = {
    "resource_type": "TOPIC",
    "name": "denied",
    "pattern_type": "LITERAL",
    "principal": "User:bob",
    "host": "*",
    "operation": "READ",
    "permission": "ALLOW",
}
_LATEST = {"partitions": ["denied-0", "allowed-0"]}
_COMMIT = {"group": DENIED, "topic": DENIED, "partition": 0, "offset": 0}


def _topic(*operations: str, name: str = DENIED) -> Rule:
    return {"allow": list(operations), "topic": name}


def _group(*operations: str, name: str = DENIED) -> Rule:
    return {"allow": list(operations), "group": name}


def _cluster(*operations: str) -> Rule:
    return {"allow": list(operations), "cluster": None}


def _serves(api: ApiKey) -> Callable[[str], bool]:
    return lambda release: api in served(release)


def _asks(
    requirement: Requirement, operation: Operation, resource_type: ResourceType
) -> Callable[[str], bool]:
    def asks(release: str) -> bool:
        needs = bind(requirement, release).needs
        return any(
            (need.operation, need.resource_type) == (operation, resource_type) for need in needs
        )

    return asks


class Denial(msgspec.Struct, frozen=True):
    """`lacking` is what is not granted at first, `granted` what is; `code` is the error.

    `items`: the command is about several things, and its answer is looked for under these names,
    the denied one and the one that is allowed, if there is one.
    """

    name: str
    command: str
    fields: Mapping[str, Any]
    lacking: Rule
    code: int
    granted: tuple[Rule, ...] = ()
    items: tuple[str, str] | None = None
    topics: tuple[str, ...] = (DENIED, ALLOWED)
    settings: Mapping[str, str] = {}
    groups: tuple[str, ...] = ()
    """Groups that are there, with an offset in `allowed`."""
    possible: Callable[[str], bool] = lambda _: True
    """Whether a release can deny it so."""
    is_fatal: bool = False
    """The client is of no use afterwards, as producers say of their transactional id."""
    origin: str = "KIP-11"


_BOTH = {"names": [DENIED, ALLOWED]}
_ITEMS = (DENIED, ALLOWED)
_ALL = _topic("All", name=ALLOWED)
_ALL_OF_GROUP = _group("All", name=ALLOWED)

DENIALS: tuple[Denial, ...] = (
    Denial(
        "create-topic",
        "create_topics",
        {"topics": {DENIED: 1, ALLOWED: 1}},
        _topic("Create"),
        29,
        (_ALL,),
        _ITEMS,
        topics=(),
        possible=_asks(CREATE_TOPICS, Operation.CREATE, ResourceType.TOPIC),
    ),
    Denial(
        "delete-topic",
        "delete_topics",
        _BOTH,
        _topic("Delete"),
        29,
        (_ALL, _topic("Describe")),
        _ITEMS,
    ),
    Denial(
        "create-partitions",
        "create_partitions",
        {"topics": {DENIED: 2, ALLOWED: 2}},
        _topic("Alter"),
        29,
        (_ALL, _topic("Describe")),
        _ITEMS,
        possible=_serves(ApiKey.CREATE_PARTITIONS),
    ),
    Denial(
        "describe-topic",
        "describe_topics",
        _BOTH | {"operations": False},
        _topic("Describe"),
        29,
        (_ALL,),
        _ITEMS,
    ),
    Denial(
        "describe-topic-configs",
        "describe_configs",
        _BOTH | {"type": "topic"},
        _topic("DescribeConfigs"),
        29,
        (_ALL,),
        _ITEMS,
    ),
    Denial(
        "alter-topic-configs",
        "alter_configs",
        _BOTH | {"type": "topic", "setting": "retention.ms", "value": "1000"},
        _topic("AlterConfigs"),
        29,
        (_ALL,),
        _ITEMS,
        possible=_serves(ApiKey.INCREMENTAL_ALTER_CONFIGS),
    ),
    Denial(
        "describe-broker-configs",
        "describe_configs",
        {"type": "broker", "names": ["1"]},
        _cluster("DescribeConfigs"),
        31,
        items=("1", ""),
    ),
    Denial(
        "alter-broker-configs",
        "alter_configs",
        {"type": "broker", "names": ["1"], "setting": "log.cleaner.threads", "value": "2"},
        _cluster("AlterConfigs"),
        31,
        items=("1", ""),
        possible=_serves(ApiKey.INCREMENTAL_ALTER_CONFIGS),
    ),
    Denial(
        "create-acls",
        "create_acls",
        {"acls": [_ACL]},
        _cluster("Alter"),
        31,
        items=("0", ""),
        origin="KIP-140",
    ),
    Denial(
        "describe-acls",
        "describe_acls",
        {"filter": _ACL},
        _cluster("Describe"),
        31,
        origin="KIP-140",
    ),
    Denial(
        "delete-acls",
        "delete_acls",
        {"filters": [_ACL]},
        _cluster("Alter"),
        31,
        items=("0", ""),
        origin="KIP-140",
    ),
    Denial(
        "describe-group",
        "describe_groups",
        _BOTH | {"operations": False},
        _group("Describe"),
        30,
        (_ALL_OF_GROUP,),
        _ITEMS,
        groups=_ITEMS,
    ),
    Denial(
        "delete-group",
        "delete_groups",
        _BOTH,
        _group("Delete"),
        30,
        (_ALL_OF_GROUP,),
        _ITEMS,
        groups=_ITEMS,
        possible=_serves(ApiKey.DELETE_GROUPS),
    ),
    Denial(
        "group-offsets",
        "group_offsets",
        {"group": DENIED, "partitions": ["allowed-0"]},
        _group("Describe"),
        30,
        (_ALL,),
        origin="KIP-163",
        possible=_asks(OFFSET_FETCH_GROUP, Operation.DESCRIBE, ResourceType.GROUP),
    ),
    Denial(
        "alter-group-offsets-by-group",
        "alter_group_offsets",
        _COMMIT,
        _group("Read"),
        30,
        (_topic("Read"), _group("Describe")),
    ),
    Denial(
        "alter-group-offsets-by-topic",
        "alter_group_offsets",
        _COMMIT,
        _topic("Read"),
        29,
        (_group("Read"), _topic("Describe")),
    ),
    Denial(
        "list-offsets",
        "list_offsets",
        _LATEST,
        _topic("Describe"),
        29,
        (_ALL,),
        ("denied-0", "allowed-0"),
    ),
    Denial(
        "delete-records",
        "delete_records",
        {"topic": DENIED, "partition": 0, "before": 0},
        _topic("Delete"),
        29,
        (_topic("Describe"),),
    ),
    Denial(
        "produce",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        _topic("Write"),
        29,
        (_topic("Describe"),),
    ),
    Denial("produce-unseen", "produce", {"topic": DENIED, "values": ["a"]}, _topic("Write"), 29),
    Denial(
        "produce-idempotent",
        "produce",
        {"topic": DENIED, "values": ["a"]},
        _topic("Write"),
        29,
        (_topic("Describe"), _cluster("IdempotentWrite")),
        settings={"enable_idempotence": "true"},
        origin="KIP-98",
    ),
    Denial(
        "transactional-id",
        "begin",
        {},
        {"allow": ["Write", "Describe"], "transactional_id": "tx"},
        53,
        (_topic("Write"),),
        settings={"transactional_id": "tx", "enable_idempotence": "true"},
        origin="KIP-98",
        is_fatal=True,
    ),
    Denial(
        "consume-by-topic",
        "consume",
        {"topics": [DENIED], "count": 1, "seconds": 5},
        _topic("Read"),
        29,
        (_group("Read"), _topic("Describe")),
        settings={"group_id": DENIED},
    ),
    Denial(
        "consume-by-group",
        "consume",
        {"topics": [DENIED], "count": 1, "seconds": 5},
        _group("Read"),
        30,
        (_topic("Read"),),
        settings={"group_id": DENIED},
    ),
)
