"""10 FindCoordinator, versions 0-6. The coordinator of a group, a transactional id or, since
version 6, a share partition (KIP-932). Since version 4 of many keys, each with its own error
(KIP-699).

Permission is checked first. A share key needs CLUSTER_ACTION; newer releases reject the whole
request if that is denied. A lookup creates the coordinators' internal topic.

DEVIATION: a coordinator is available immediately; a fresh Kafka returns COORDINATOR_NOT_AVAILABLE
(15) until its topic is ready.
"""

from kafka_shim.authorizer.requirement import Requirement
from kafka_shim.authorizer.requirements import (
    FIND_COORDINATOR_GROUP,
    FIND_COORDINATOR_SHARE,
    FIND_COORDINATOR_TRANSACTION,
)
from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.messages.find_coordinator import (
    Coordinator,
    FindCoordinatorRequest,
    FindCoordinatorResponse,
)
from kafka_shim.shim.errors import CloseConnection, RequestRejected
from kafka_shim.shim.request.context import RequestContext
from kafka_shim.shim.state.coordinators import KeyType, is_share_key

CACHED_SINCE = 0
MANY_SINCE = 4
SHARE_SINCE = 6
SHARE_ERROR_IN_KEY_VERSIONS = (4, 5)  # versions that know the type only to say that it is too early

NO_NODE = -1

_KEY_TYPES = tuple(KeyType)  # by code: an enum looks its members up slowly
_REQUIREMENTS: dict[int, Requirement] = {
    KeyType.GROUP: FIND_COORDINATOR_GROUP,
    KeyType.TRANSACTION: FIND_COORDINATOR_TRANSACTION,
}

_DENIALS = {
    KeyType.GROUP: "DESCRIBE on the group is denied",
    KeyType.TRANSACTION: "DESCRIBE on the transactional id is denied",
    KeyType.SHARE: "CLUSTER_ACTION on the cluster is denied",
}


def handle(request: FindCoordinatorRequest, context: RequestContext) -> FindCoordinatorResponse:
    context.access.declare_no_further_checks()  # a request without keys asks nothing
    if context.version >= MANY_SINCE:
        coordinators, key_type = [], request.key_type
        for key in request.coordinator_keys:  # with what is outside of it, a comprehension is slow
            coordinators.append(_find_coordinator(key_type, key, context))  # noqa: PERF401
        return FindCoordinatorResponse(coordinators=coordinators)
    single = _find_coordinator(request.key_type, request.key, context)
    message = context.facts.groups.find_coordinator_ok_message
    if single.error_code != NO_ERROR and message is not None:
        message = _DENIALS.get(KeyType(request.key_type))
    return FindCoordinatorResponse(
        error_code=single.error_code,
        error_message=message,
        node_id=single.node_id,
        host=single.host,
        port=single.port,
    )


def error_response(
    request: FindCoordinatorRequest, error: ErrorCode, message: str | None
) -> FindCoordinatorResponse:
    coordinators = [
        Coordinator(key=key, node_id=NO_NODE, port=NO_NODE, error_code=error, error_message=message)
        for key in request.coordinator_keys
    ]
    if coordinators:
        return FindCoordinatorResponse(coordinators=coordinators)
    return FindCoordinatorResponse(
        error_code=error, error_message=message, node_id=NO_NODE, port=NO_NODE
    )


def _find_coordinator(key_type: int, key: str, context: RequestContext) -> Coordinator:
    error = _coordinator_access_error(key_type, key, context)
    if error is NO_ERROR:
        node_id = context.cluster.coordinators.coordinator_node_id_creating_topic(
            _KEY_TYPES[key_type], key
        )
        for broker_id, host, port, _ in context.live_broker_endpoints():
            if broker_id == node_id:
                return Coordinator(key, node_id, host, port)
        error = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return Coordinator(key=key, node_id=NO_NODE, port=NO_NODE, error_code=error)


def _coordinator_access_error(key_type: int, key: str, context: RequestContext) -> ErrorCode:
    requirement = _REQUIREMENTS.get(key_type)
    if requirement is not None:
        return context.access.denial_error(requirement, key)
    if key_type == KeyType.SHARE:
        return _share_coordinator_error(key, context)
    raise _unknown_key_type_error(key_type, context)


def _share_coordinator_error(key: str, context: RequestContext) -> ErrorCode:
    facts = context.facts.groups
    if (
        facts.find_coordinator_share_key_error is not None
        and context.version in SHARE_ERROR_IN_KEY_VERSIONS
    ):
        return ErrorCode.INVALID_REQUEST
    if facts.find_coordinator_share_key_error is None or context.version < SHARE_SINCE:
        raise _unknown_key_type_error(KeyType.SHARE, context)
    context.access.forget_cluster_checks()
    denial = context.access.denial_error(FIND_COORDINATOR_SHARE, key)
    if denial is not NO_ERROR:
        if facts.one_denied_share_key_fails_all:
            raise RequestRejected(denial, _DENIALS[KeyType.SHARE])
        return denial
    if facts.find_coordinator_share_key_error:
        return ErrorCode(facts.find_coordinator_share_key_error)
    is_key = is_share_key(key, allows_colons_in_group_id=facts.share_group_id_accepts_colons)
    return NO_ERROR if is_key else ErrorCode.INVALID_REQUEST


def _unknown_key_type_error(key_type: int, context: RequestContext) -> Exception:
    """Return the error for an unknown key type, which fails the whole request."""
    text = f"coordinator type {int(key_type)} is unknown"
    code = context.facts.groups.find_coordinator_unknown_type_error
    return CloseConnection(text) if code is None else RequestRejected(ErrorCode(code), text)
