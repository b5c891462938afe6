"""What tests import: `from kafka_shim.testing import start`."""

from kafka_shim.shim.testing import BrokerFactory, start
from kafka_shim.shim.testing.broker import KafkaBroker
from kafka_shim.shim.testing.faults import SetFault
from kafka_shim.shim.testing.options import Options
from kafka_shim.shim.testing.rows import (
    AclRow,
    CleanedPartitionRow,
    DecisionRow,
    FaultRow,
    GroupRow,
    HealthRow,
    NodeRow,
    PushRow,
    RequestRow,
    Row,
    StateRow,
    TopicRow,
)
from kafka_shim.shim.testing.transport import BrokerError

__all__ = [
    "AclRow",
    "BrokerError",
    "BrokerFactory",
    "CleanedPartitionRow",
    "DecisionRow",
    "FaultRow",
    "GroupRow",
    "HealthRow",
    "KafkaBroker",
    "NodeRow",
    "Options",
    "PushRow",
    "RequestRow",
    "Row",
    "SetFault",
    "StateRow",
    "TopicRow",
    "start",
]
