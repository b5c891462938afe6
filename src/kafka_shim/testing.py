"""What tests import: `from kafka_shim.testing import start`."""

from kafka_shim.shim.testing import BrokerFactory, start
from kafka_shim.shim.testing.broker import KafkaBroker
from kafka_shim.shim.testing.cassette import KafkaCassette
from kafka_shim.shim.testing.faults import InjectedFault
from kafka_shim.shim.testing.options import Options
from kafka_shim.shim.testing.row import Row
from kafka_shim.shim.testing.rows import (
    AclRow,
    ClusterStateRow,
    CompactedPartitionRow,
    DecisionRow,
    FaultRow,
    GroupRow,
    HealthRow,
    NodeRow,
    RequestRow,
    TelemetryPushRow,
    TopicRow,
)
from kafka_shim.shim.testing.transport import BrokerError

__all__ = [
    "AclRow",
    "BrokerError",
    "BrokerFactory",
    "ClusterStateRow",
    "CompactedPartitionRow",
    "DecisionRow",
    "FaultRow",
    "GroupRow",
    "HealthRow",
    "InjectedFault",
    "KafkaBroker",
    "KafkaCassette",
    "NodeRow",
    "Options",
    "RequestRow",
    "Row",
    "TelemetryPushRow",
    "TopicRow",
    "start",
]
