"""Why a response differs: by permission, release, settings, ids, data, or another reason."""

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.traces.identities.message_fields import IDS
from kafka_shim.traces.replay.compare import Difference

CAUSES = ("permission", "data", "release", "settings", "ids", "other")
"""From what a client is denied to what may be normal."""

_DENIALS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED, ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED, ErrorCode.SASL_AUTHENTICATION_FAILED,
        ErrorCode.SECURITY_DISABLED,
    }
)  # fmt: skip
_RELEASE_ERRORS = frozenset(
    {ErrorCode.UNSUPPORTED_VERSION, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT}
)
_SETTINGS_ERRORS = frozenset(
    {
        ErrorCode.POLICY_VIOLATION, ErrorCode.INVALID_REPLICATION_FACTOR,
        ErrorCode.INVALID_PARTITIONS, ErrorCode.INVALID_CONFIG, ErrorCode.INVALID_SESSION_TIMEOUT,
        ErrorCode.UNSUPPORTED_SASL_MECHANISM, ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.OFFSET_METADATA_TOO_LARGE, ErrorCode.GROUP_MAX_SIZE_REACHED,
        ErrorCode.INVALID_TRANSACTION_TIMEOUT, ErrorCode.NOT_ENOUGH_REPLICAS,
    }
)  # fmt: skip
_DATA_ERRORS = frozenset(
    {
        ErrorCode.OFFSET_OUT_OF_RANGE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID, ErrorCode.TOPIC_ALREADY_EXISTS, ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.NON_EMPTY_GROUP,
    }
)  # fmt: skip
_CAUSES_BY_ERROR = {
    **dict.fromkeys(_DATA_ERRORS, "data"),
    **dict.fromkeys(_SETTINGS_ERRORS, "settings"),
    **dict.fromkeys(_RELEASE_ERRORS, "release"),
    **dict.fromkeys(_DENIALS, "permission"),
}
_CAUSES_BY_API = {
    "ApiVersions": "release",
    "DescribeConfigs": "settings",
    "DescribeClientQuotas": "settings",
    "SaslHandshake": "settings",
    "DescribeAcls": "permission",
    "DeleteAcls": "permission",
    "Fetch": "data",
    "ListOffsets": "data",
    "OffsetFetch": "data",
}
_SETTINGS_FIELDS = frozenset({"num_partitions", "replication_factor", "configs", "partitions"})


def difference_cause(api: str, difference: Difference) -> str:
    """Return one of CAUSES for a difference in a response to this API."""
    field = difference.field.replace("[]", "").rpartition(".")[2]
    if field.endswith("authorized_operations"):
        return "permission"
    if field.endswith("error_code"):
        values = (difference.recorded, difference.actual)
        causes = {_CAUSES_BY_ERROR[value] for value in values if value in _CAUSES_BY_ERROR}
        return next((cause for cause in CAUSES if cause in causes), "other")
    if field in IDS:
        return "ids"
    if field == "version":
        return "release"
    if api in _CAUSES_BY_API:
        return _CAUSES_BY_API[api]
    return "settings" if field in _SETTINGS_FIELDS else "other"
