"""Permission on the settings of a resource."""

from authorizer.requirement import Requirement
from authorizer.requirements import METADATA_TOPIC
from protocol.error_codes import ErrorCode
from shim.context import RequestContext
from shim.handling.config_resources import ResourceFault


def config_error(context: RequestContext, requirement: Requirement, name: str) -> ErrorCode:
    """NONE, or the denial; existence is not looked at.

    0.11 hides what the caller may not even DESCRIBE: then the denial is that there is no such
    topic.
    """
    error = context.access.error(requirement, name)
    if error is ErrorCode.NONE:
        return error
    hidden_as = context.cluster.policy.bound(requirement).hidden_as
    if hidden_as is not None and not context.access.allows(METADATA_TOPIC, name):
        return hidden_as
    return error


def require_config(
    context: RequestContext, requirement: Requirement, name: str, *, is_said: bool = True
) -> None:
    """Raise ResourceFault for a denied alteration; only KRaft says what was denied."""
    error = config_error(context, requirement, name)
    if error is not ErrorCode.NONE:
        text = error.name.lower().replace("_", " ")
        raise ResourceFault(error, text if is_said and context.behaviour.kraft else None)
