"""What tests import: `from kafka_shim.testing import start`.

`KafkaPolicy` and `PolicyDecision` are imported when they are used, since they need more than the
standard library.
"""

from typing import TYPE_CHECKING, Any

from kafka_shim.testing.broker import DecisionFilters, KafkaBroker
from kafka_shim.testing.broker_start import BrokerFactory, start
from kafka_shim.testing.cassette import KafkaCassette
from kafka_shim.testing.faults import FaultOptions, InjectedFault
from kafka_shim.testing.groups import OffsetOptions
from kafka_shim.testing.options import Options, TopicOptions
from kafka_shim.testing.row import Row
from kafka_shim.testing.rows import (
    AclRow,
    AllowedPrincipalRow,
    AssignedTopicRow,
    AuthenticationRow,
    ClusterStateRow,
    CompactedPartitionRow,
    DecisionRow,
    DeniedPrincipalRow,
    FaultRow,
    GroupDetailRow,
    GroupOffsetRow,
    GroupOffsetsRow,
    GroupRow,
    HeaderRow,
    HealthRow,
    MemberRow,
    NodeRow,
    OffsetChangeRow,
    ProducedRecordRow,
    ProducerRow,
    RecordRow,
    RequestRow,
    TelemetryPushRow,
    TopicPartitionRow,
    TopicRow,
    TransactionRow,
    WhoCanRow,
)
from kafka_shim.testing.rule import Rule
from kafka_shim.testing.transport import BrokerError

if TYPE_CHECKING:
    from kafka_shim.testing.policy import KafkaPolicy, PolicyDecision

__all__ = [
    "AclRow",
    "AllowedPrincipalRow",
    "AssignedTopicRow",
    "AuthenticationRow",
    "BrokerError",
    "BrokerFactory",
    "ClusterStateRow",
    "CompactedPartitionRow",
    "DecisionFilters",
    "DecisionRow",
    "DeniedPrincipalRow",
    "FaultOptions",
    "FaultRow",
    "GroupDetailRow",
    "GroupOffsetRow",
    "GroupOffsetsRow",
    "GroupRow",
    "HeaderRow",
    "HealthRow",
    "InjectedFault",
    "KafkaBroker",
    "KafkaCassette",
    "KafkaPolicy",
    "MemberRow",
    "NodeRow",
    "OffsetChangeRow",
    "OffsetOptions",
    "Options",
    "PolicyDecision",
    "ProducedRecordRow",
    "ProducerRow",
    "RecordRow",
    "RequestRow",
    "Row",
    "Rule",
    "TelemetryPushRow",
    "TopicOptions",
    "TopicPartitionRow",
    "TopicRow",
    "TransactionRow",
    "WhoCanRow",
    "start",
]


def __getattr__(name: str) -> Any:
    if name not in ("KafkaPolicy", "PolicyDecision"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from kafka_shim.testing import policy  # noqa: PLC0415 - see the module's docstring

    return getattr(policy, name)
