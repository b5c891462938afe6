"""The checks of permission on a topic and of its existence, in the emulated release's order."""

from collections import Counter
from collections.abc import Iterable

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import METADATA_TOPIC
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.request.context import RequestContext


class TopicErrors:
    """The errors of a request's topics; `names` has a name for each element about a topic.

    A topic is checked once, and the authorizer's log has the number of its elements.
    """

    def __init__(
        self, context: RequestContext, requirement: Requirement, names: Iterable[str]
    ) -> None:
        self._context = context
        self._requirement = requirement
        self._object_counts = Counter(names)
        self._errors: dict[str, ErrorCode] = {}

    def error(self, name: str) -> ErrorCode:
        """Return the error of a topic, as `topic_error` does."""
        errors = self._errors
        if name not in errors:
            count = self._object_counts[name]
            errors[name] = topic_error(self._context, self._requirement, name, count)
        return errors[name]


def topic_error(
    context: RequestContext, requirement: Requirement, name: str, count: int = 1
) -> ErrorCode:
    """Return NONE for an existing permitted topic, else the denial or UNKNOWN_TOPIC_OR_PARTITION.

    A denial comes first and does not reveal whether the topic exists. In 0.11 existence comes
    first: a missing topic is unknown to all callers, and so is one that the caller may not
    DESCRIBE.
    """
    bound = context.cluster.policy.bind(requirement)
    if bound.hidden_as is None:
        if not context.access.allows_bound(bound, name, count):
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
