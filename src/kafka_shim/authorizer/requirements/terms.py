"""Needs and denials that many rows share."""

from typing import Final

from kafka_shim.authorizer.requirement import (
    Denial,
    DenialEffect,
    NeedAlternative,
    ReportedMissing,
)
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.protocol.error_codes import ErrorCode


def needs_logged_before(
    operation: Operation, resource_type: ResourceType, release: str = "2.4"
) -> tuple[NeedAlternative, NeedAlternative]:
    """Return a need whose denial is in the audit log until `release`, and
    later only at trace level.
    """
    return (
        NeedAlternative(operation, resource_type, until=release),
        NeedAlternative(operation, resource_type, since=release, log_if_denied=False),
    )


CLUSTER_ALTER: Final = (NeedAlternative(Operation.ALTER, ResourceType.CLUSTER),)
CLUSTER_DESCRIBE: Final = (NeedAlternative(Operation.DESCRIBE, ResourceType.CLUSTER),)
CLUSTER_ACTION: Final = (NeedAlternative(Operation.CLUSTER_ACTION, ResourceType.CLUSTER),)
CLUSTER_DESCRIBE_CONFIGS: Final = (
    NeedAlternative(Operation.DESCRIBE_CONFIGS, ResourceType.CLUSTER),
)
CLUSTER_ALTER_CONFIGS: Final = (NeedAlternative(Operation.ALTER_CONFIGS, ResourceType.CLUSTER),)

TOPIC_DESCRIBE: Final = (NeedAlternative(Operation.DESCRIBE, ResourceType.TOPIC),)
TOPIC_READ: Final = (NeedAlternative(Operation.READ, ResourceType.TOPIC),)
TOPIC_WRITE: Final = (NeedAlternative(Operation.WRITE, ResourceType.TOPIC),)

GROUP_DESCRIBE: Final = (NeedAlternative(Operation.DESCRIBE, ResourceType.GROUP),)
GROUP_READ: Final = (NeedAlternative(Operation.READ, ResourceType.GROUP),)
GROUP_DELETE: Final = (NeedAlternative(Operation.DELETE, ResourceType.GROUP),)

TRANSACTIONAL_ID_DESCRIBE: Final = (
    NeedAlternative(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID),
)
TRANSACTIONAL_ID_WRITE: Final = (NeedAlternative(Operation.WRITE, ResourceType.TRANSACTIONAL_ID),)

CLUSTER_TOP: Final = (Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.TOP),)
CLUSTER_EACH: Final = (Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.EACH),)
CLUSTER_BOTH: Final = (Denial(ErrorCode.CLUSTER_AUTHORIZATION_FAILED, DenialEffect.BOTH),)
TOPIC_TOP: Final = (Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.TOP),)
TOPIC_EACH: Final = (Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.EACH),)
GROUP_TOP: Final = (Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.TOP),)
GROUP_EACH: Final = (Denial(ErrorCode.GROUP_AUTHORIZATION_FAILED, DenialEffect.EACH),)
TRANSACTIONAL_ID_TOP: Final = (
    Denial(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, DenialEffect.TOP),
)
TRANSACTIONAL_ID_EACH: Final = (
    Denial(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, DenialEffect.EACH),
)
LEFT_OUT: Final = (Denial(ErrorCode.NONE, DenialEffect.HIDE),)
BY_STATUS: Final = (Denial(ErrorCode.NONE, DenialEffect.STATUS),)
BY_VALUE: Final = (Denial(ErrorCode.NONE, DenialEffect.VALUE),)

TOPIC_UNDESCRIBED: Final = (
    Denial(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, DenialEffect.EACH, until="1.0"),
    Denial(ErrorCode.TOPIC_AUTHORIZATION_FAILED, DenialEffect.EACH, since="1.0"),
)
"""For rows that need DESCRIBE itself: 0.11 says the topic is unknown."""

HIDDEN: Final = ReportedMissing(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, until="1.0")
"""For the other rows on topics: 0.11 asks DESCRIBE first and says that the topic is unknown."""
