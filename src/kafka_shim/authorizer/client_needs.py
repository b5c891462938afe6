"""What a client needs after the denied request, as far as its name and its requests tell.

Clients first describe what they use: a producer or consumer requests the metadata of a topic, a
consumer the coordinator of its group. An ACL for Describe then only leads to the next denial. Write
(for a producer) and Read (for a consumer) include Describe.
"""

import re
from collections.abc import Collection, Iterator
from enum import Enum
from typing import Final

import msgspec

from kafka_shim.authorizer.acl_names import camel_case
from kafka_shim.authorizer.model import Acl, Action
from kafka_shim.protocol.enums import ApiKey, Operation, ResourceType


class ClientRole(Enum):
    """What a client does with a cluster."""

    PRODUCER = "producer"
    CONSUMER = "consumer"


class DetectedRole(msgspec.Struct, frozen=True):
    """The role of a client, and what shows it."""

    role: ClientRole
    evidence: str


_DEFAULT_CLIENT_IDS: Final = {
    ClientRole.PRODUCER: re.compile(
        r"producer-\d+|console-producer|perf-producer-client|(kafka-python|aiokafka)-producer-\d+"
    ),
    ClientRole.CONSUMER: re.compile(r"consumer-.+-\d+|consumer-\d+|console-consumer"),
}
"""The names that the clients of Kafka, kafka-python and aiokafka have if nobody names them."""
_TELLING_APIS: Final = {
    ClientRole.PRODUCER: (
        *(ApiKey.PRODUCE, ApiKey.INIT_PRODUCER_ID, ApiKey.ADD_PARTITIONS_TO_TXN),
        *(ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.END_TXN),
    ),
    ClientRole.CONSUMER: (
        *(ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.HEARTBEAT, ApiKey.LEAVE_GROUP),
        *(ApiKey.CONSUMER_GROUP_HEARTBEAT, ApiKey.FETCH),
    ),
}
"""Requests that only clients of a role send."""
_OPERATIONS: Final = {ClientRole.PRODUCER: Operation.WRITE, ClientRole.CONSUMER: Operation.READ}
_RESOURCES: Final = {
    ClientRole.PRODUCER: (ResourceType.TOPIC, ResourceType.TRANSACTIONAL_ID),
    ClientRole.CONSUMER: (ResourceType.TOPIC, ResourceType.GROUP),
}
_FIRST_APIS: Final = frozenset(
    {
        *(ApiKey.METADATA, ApiKey.DESCRIBE_TOPIC_PARTITIONS, ApiKey.FIND_COORDINATOR),
        *(ApiKey.LIST_OFFSETS, ApiKey.OFFSET_FETCH),
    }
)
"""Requests after which producers and consumers need more than Describe."""
_HINTS: Final = {
    ResourceType.TOPIC: "a producer needs Write, a consumer Read; both include Describe",
    ResourceType.GROUP: "a consumer needs Read, which includes Describe",
    ResourceType.TRANSACTIONAL_ID: "a producer needs Write, which includes Describe",
}


def detect_role(client_id: str | None, sent_apis: int) -> DetectedRole | None:
    """Return the role of a client; None if neither its name nor its requests tell it.

    `sent_apis` has a bit for the key of each API that the connection used. A client whose requests
    have several roles, such as a Kafka Streams application, has none.
    """
    known = [
        DetectedRole(role, f"it sent {sent[0].wire_name}")
        for role, keys in _TELLING_APIS.items()
        if (sent := [key for key in keys if sent_apis >> key & 1])
    ]
    if not known:
        known = [
            DetectedRole(role, f"its client id is {client_id}")
            for role, names in _DEFAULT_CLIENT_IDS.items()
            if client_id is not None and names.fullmatch(client_id)
        ]
    return known[0] if len(known) == 1 else None


def follow_up_actions(api: int, actions: Collection[Action], role: ClientRole) -> Iterator[Action]:
    """Yield what a client of a role needs next on the resources that it may not describe."""
    for action in actions if api in _FIRST_APIS else ():
        is_used = action.resource_type in _RESOURCES[role]
        if action.operation is Operation.DESCRIBE and is_used:
            yield msgspec.structs.replace(action, operation=_OPERATIONS[role])


def advice_text(api: int, added: Collection[Acl], known: DetectedRole | None) -> str:
    """Return why more than Describe is proposed, or what else the client may need; or nothing."""
    if api == ApiKey.LIST_GROUPS:
        return "Describe on the cluster shows all groups" if added else ""
    if api not in _FIRST_APIS:
        return ""
    if known is not None and any(acl.operation is _OPERATIONS[known.role] for acl in added):
        operation = camel_case(_OPERATIONS[known.role])
        return (
            f"{operation} includes Describe; the client is a {known.role.value}: {known.evidence}"
        )
    kinds = [acl.resource_type for acl in added if acl.operation is Operation.DESCRIBE]
    return "; ".join(_HINTS[kind] for kind in dict.fromkeys(kinds) if kind in _HINTS)
