"""Why a response differs: by permission, release, settings, ids, data, or another reason."""

from kafka_shim.protocol.enums import Operation
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.traces.identities.message_fields import IDS
from kafka_shim.traces.replay.compare import Difference
from kafka_shim.traces.replay.error_codes import DENIALS_BY_ACLS

CAUSES = ("permission", "data", "settings", "release", "ids", "other")
"""From what a client is denied to what may be normal."""

_STRONGEST = ("permission", "release", "settings", "data")
"""Of two errors, the one that is checked first says why."""
_GROUP_OPERATIONS_OF_RELEASES = 1 << Operation.DESCRIBE_CONFIGS | 1 << Operation.ALTER_CONFIGS
"""Operations of groups that releases before 4.0 do not know."""
_NO_OPERATIONS = {0, -(1 << 31)}
_DENIALS = DENIALS_BY_ACLS | {
    ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED, ErrorCode.SASL_AUTHENTICATION_FAILED,
    ErrorCode.SECURITY_DISABLED,
}  # fmt: skip
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
    "Metadata": "data",
    "ListGroups": "data",
    "DescribeGroups": "data",
    "ConsumerGroupDescribe": "data",
    "ShareGroupDescribe": "data",
    "DeleteRecords": "data",
    "OffsetForLeaderEpoch": "data",
    "Fetch": "data",
    "ShareFetch": "data",
    "ListOffsets": "data",
    "OffsetFetch": "data",
}
_GROUP_APIS = frozenset({"DescribeGroups", "ConsumerGroupDescribe", "ShareGroupDescribe"})
_CHANGES_OF_SETTINGS = frozenset({"AlterConfigs", "IncrementalAlterConfigs"})
_SETTINGS_FIELDS = frozenset({"num_partitions", "replication_factor", "configs", "partitions"})


def causes_of(api: str, differences: list[Difference]) -> list[str]:
    """Return the cause of each difference in a response; what comes with an error has its cause."""
    causes = [difference_cause(api, difference) for difference in differences]
    of_errors = (
        cause
        for cause, difference in zip(causes, differences, strict=True)
        if difference.field.endswith("error_code")
    )
    default = next((cause for cause in of_errors if cause != "other"), "other")
    return [default if cause == "other" else cause for cause in causes]


def difference_cause(api: str, difference: Difference) -> str:
    """Return one of CAUSES for a difference in a response to this API."""
    field = difference.field.replace("[]", "").rpartition(".")[2]
    if field.endswith("authorized_operations"):
        return _operations_cause(api, difference)
    if field.endswith("error_code"):
        values = (difference.recorded, difference.actual)
        causes = {_CAUSES_BY_ERROR[value] for value in values if value in _CAUSES_BY_ERROR}
        default = "settings" if api in _CHANGES_OF_SETTINGS else "other"
        return next((cause for cause in _STRONGEST if cause in causes), default)
    if field in IDS or field in ("api", "version"):
        return "ids" if field in IDS else "release"
    if api in _CAUSES_BY_API:
        return _CAUSES_BY_API[api]
    is_setting = field in _SETTINGS_FIELDS or "configs[]." in difference.field
    return "settings" if is_setting else "other"


def _operations_cause(api: str, difference: Difference) -> str:
    """Return the cause of other operations: old releases return 0 where none were requested."""
    if {difference.recorded, difference.actual} == _NO_OPERATIONS:
        return "release"
    is_new = api in _GROUP_APIS and _differ_only_in(difference, _GROUP_OPERATIONS_OF_RELEASES)
    return "release" if is_new else "permission"


def _differ_only_in(difference: Difference, operations: int) -> bool:
    values = difference.recorded, difference.actual
    if not all(isinstance(value, int) and value >= 0 for value in values):
        return False
    return not (difference.recorded ^ difference.actual) & ~operations
