"""What ShareFetch and ShareAcknowledge are checked for before anything else."""

from collections.abc import Iterable

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.request.context import RequestContext

MEMBER_ID_LENGTH_MAX = 36


def check_share_request(
    context: RequestContext, requirement: Requirement, group_id: str | None, member_id: str | None
) -> None:
    """Check the group, the member id and the permission for the group.

    Raise RequestRejected for the first that fails.
    """
    context.require_group_protocol("share")
    null_error = ErrorCode(context.facts.groups.share_session_null_id_error)
    if group_id is None:
        raise RequestRejected(null_error)
    context.access.require(requirement, group_id)
    if member_id is None:
        raise RequestRejected(null_error)
    if not member_id or len(member_id) > MEMBER_ID_LENGTH_MAX:
        raise RequestRejected(ErrorCode.INVALID_REQUEST)


def topic_access_errors(
    context: RequestContext, requirement: Requirement, names: Iterable[str | None]
) -> dict[str, ErrorCode]:
    """Return the denial of each topic, or NONE. Raise RequestRejected for an unknown id (None)."""
    distinct_names = list(dict.fromkeys(names))
    if None in distinct_names:
        raise RequestRejected(ErrorCode.UNKNOWN_SERVER_ERROR)
    context.access.declare_no_further_checks()  # a request may be about no topic at all
    return {
        name: context.access.denial_error(requirement, name)
        for name in distinct_names
        if name is not None
    }
