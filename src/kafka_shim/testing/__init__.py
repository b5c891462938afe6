"""What tests import: `from kafka_shim.testing import start`.

A name is imported at its first use: pytest loads the plugin of this package in every run, and
`KafkaPolicy` needs more than the standard library.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kafka_shim.testing.broker import DecisionFilters, KafkaBroker
    from kafka_shim.testing.broker_start import BrokerFactory, start
    from kafka_shim.testing.cassette import KafkaCassette
    from kafka_shim.testing.faults import FaultOptions, InjectedFault
    from kafka_shim.testing.options import Options, TopicOptions
    from kafka_shim.testing.policy import KafkaPolicy, PolicyDecision
    from kafka_shim.testing.resources import OffsetOptions
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
    from kafka_shim.testing.setup_warnings import SetupWarning, UnmetFaultError
    from kafka_shim.testing.transport import BrokerError

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
    "SetupWarning",
    "TelemetryPushRow",
    "TopicOptions",
    "TopicPartitionRow",
    "TopicRow",
    "TransactionRow",
    "UnmetFaultError",
    "WhoCanRow",
    "start",
]

_MODULES = (
    "broker_start",
    "broker",
    "options",
    "rows",
    "row",
    "rule",
    "transport",
    "faults",
    "setup_warnings",
    "resources",
    "cassette",
    "policy",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for module_name in _MODULES:
            module = import_module(f"{__name__}.{module_name}")
            if hasattr(module, name):
                return getattr(module, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
