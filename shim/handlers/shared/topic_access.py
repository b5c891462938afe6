"""Permission on a topic and its existence, in the order that the emulated release looks at them."""

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import METADATA_TOPIC
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.request.context import RequestContext


def topic_error(context: RequestContext, requirement: Requirement, name: str) -> ErrorCode:
    """NONE for an existing topic that may be used so, else the denial or 3.

    A denial comes first and tells nothing of existence. 0.11 did the opposite: what the caller may
    not DESCRIBE is unknown to it, and a missing topic is missing whatever the caller may do.
    """
    bound = context.cluster.policy.bound(requirement)
    if bound.hidden_as is None:
        if not context.access.meets(bound, name):
            return bound.error
        exists = context.cluster.topics.known(name) is not None
        return NO_ERROR if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    exists = context.cluster.topics.known(name) is not None
    if bound.describe_first:
        if not context.access.allows(METADATA_TOPIC, name):
            return bound.hidden_as
        return context.access.error(requirement, name) if exists else bound.hidden_as
    denial = context.access.error(requirement, name)
    if denial:
        return denial if context.access.allows(METADATA_TOPIC, name) else bound.hidden_as
    return NO_ERROR if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
