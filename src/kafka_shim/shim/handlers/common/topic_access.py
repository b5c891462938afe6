"""The checks of permission on a topic and of its existence, in the emulated release's order."""

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import METADATA_TOPIC
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.request.context import RequestContext


def topic_error(context: RequestContext, requirement: Requirement, name: str) -> ErrorCode:
    """Return NONE for an existing permitted topic, else the denial or UNKNOWN_TOPIC_OR_PARTITION.

    A denial comes first and does not reveal whether the topic exists. In 0.11 existence comes
    first: a missing topic is unknown to all callers, and so is one that the caller may not
    DESCRIBE.
    """
    bound = context.cluster.policy.bind(requirement)
    if bound.hidden_as is None:
        if not context.access.allows_bound(bound, name):
            return bound.error
        exists = context.cluster.topics.led_topic(name) is not None
        return NO_ERROR if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    exists = context.cluster.topics.led_topic(name) is not None
    if bound.describe_first:
        if not context.access.allows(METADATA_TOPIC, name):
            return bound.hidden_as
        return context.access.denial_error(requirement, name) if exists else bound.hidden_as
    denial = context.access.denial_error(requirement, name)
    if denial:
        return denial if context.access.allows(METADATA_TOPIC, name) else bound.hidden_as
    return NO_ERROR if exists else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
