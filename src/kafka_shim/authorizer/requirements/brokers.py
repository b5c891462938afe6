"""Requirements of APIs between brokers, which old brokers offered on every listener."""

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import terms
from kafka_shim.protocol.enums import ApiKey

LEADER_AND_ISR = Requirement(
    api=ApiKey.LEADER_AND_ISR,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_BOTH,
)
STOP_REPLICA = Requirement(
    api=ApiKey.STOP_REPLICA,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_BOTH,
)
UPDATE_METADATA = Requirement(
    api=ApiKey.UPDATE_METADATA,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
)
CONTROLLED_SHUTDOWN = Requirement(
    api=ApiKey.CONTROLLED_SHUTDOWN,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
)
ALTER_PARTITION = Requirement(
    api=ApiKey.ALTER_PARTITION,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    kip=497,
)
ENVELOPE = Requirement(
    api=ApiKey.ENVELOPE,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    since="2.8",
    until="4.0",
    kip=590,
    note="3.4 to 3.9: only brokers on ZooKeeper advertise it",
)
ALLOCATE_PRODUCER_IDS = Requirement(
    api=ApiKey.ALLOCATE_PRODUCER_IDS,
    any_of=terms.CLUSTER_ACTION,
    denied=terms.CLUSTER_TOP,
    since="3.0",
    until="4.0",
    kip=730,
    note="3.0 to 3.9: only brokers on ZooKeeper advertise it",
)
