"""Permission on the settings of a resource."""

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import METADATA_TOPIC
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.handlers.common.config_resources import ResourceError
from kafka_shim.shim.request.context import RequestContext


def config_error(context: RequestContext, requirement: Requirement, name: str) -> ErrorCode:
    """Return NONE or the denial; existence is not checked.

    In 0.11, a resource without DESCRIBE is hidden: the denial is UNKNOWN_TOPIC_OR_PARTITION.
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
    """Raise ResourceError for a denied alteration; some releases do not name the resource."""
    error = config_error(context, requirement, name)
    if error is not ErrorCode.NONE:
        text = error.name.lower().replace("_", " ")
        raise ResourceError(
            error,
            text if is_said and context.facts.configs.denied_alter_configs_has_message else None,
        )


def require_broker(context: RequestContext, requirement: Requirement, name: str) -> None:
    """Check the permission to alter a broker before its settings, in releases that do so."""
    if context.facts.configs.alter_broker_configs_checks_permission_first:
        require_config(context, requirement, name, is_said=False)
