"""Requests for the tests of faults, and the errors that identify them."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.messages.heartbeat import HeartbeatRequest
from kafka_shim.protocol.messages.metadata import MetadataRequest, MetadataRequestTopic
from kafka_shim.shim.state.topics import NO_ID

HEARTBEAT = HeartbeatRequest(
    group_id="billing", generation_id=1, member_id="m", group_instance_id=None
)
UNKNOWN_MEMBER = int(ErrorCode.UNKNOWN_MEMBER_ID)
BROKEN = int(ErrorCode.REBALANCE_IN_PROGRESS)


def metadata(name: str) -> MetadataRequest:
    return MetadataRequest(
        topics=[MetadataRequestTopic(topic_id=NO_ID, name=name)],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )
