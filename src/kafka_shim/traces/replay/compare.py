"""Compare two responses to a request by everything that does not depend on the run.

A difference has a cause: permission, release, settings, ids, data, or another reason.
"""

from collections.abc import Iterator
from typing import Any

import msgspec

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey, Operation
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.trace_format.entries import Response
from kafka_shim.traces.identities.id_mapping import mapped_kinds_of_message
from kafka_shim.traces.identities.message_fields import (
    IDS,
    IGNORED_FIELDS,
    LONG_IDS,
    NO_CORRESPONDING_IDS,
    CorrespondingIds,
    PairedValue,
    paired_values,
)
from kafka_shim.traces.replay.error_codes import DENIALS_BY_ACLS
from kafka_shim.traces.replay.events import Event
from kafka_shim.traces.replay.recorded_to_target_mapping import (
    RecordedToTargetMapping,
    RequestWithBothResponses,
)

MISSING = "missing"
ROW_CHARS_MAX = 400
_READS = frozenset(f"{api.wire_name}Response" for api in (ApiKey.FETCH, ApiKey.SHARE_FETCH))
_MEMBERS = "members[]"
"""Fields that only group leaders receive."""


class Difference(msgspec.Struct, frozen=True):
    """A differing field by its path, such as `topics[].error_code`, and both values."""

    field: str
    recorded: Any
    actual: Any


def compare_and_learn(
    mapping: RecordedToTargetMapping,
    event: Event,
    request: bytes,
    entry: Response,
    frame: bytes,
    recorded_version: int | None = None,
) -> list[Difference]:
    """Compare a recorded response with the target's frame; learn ids and offsets from it.

    Only fields that the version of the recording has, too, are compared.
    """
    key, version = entry.api_key, entry.api_version
    id_kinds = mapped_kinds_of_message(key, version, "Response")
    ids = mapping.ids
    if frame == entry.frame and not (id_kinds and ids.differs_from_recording):
        return []
    pair = RequestWithBothResponses(
        event.connection_id, key, version, request[8:], entry.frame[4:], frame[4:]
    )
    if mapping.is_known_to_be_equal(pair):
        return []
    if id_kinds <= LONG_IDS and frame == ids.replace_long_ids_in_frame(entry.frame):
        return []
    try:
        recorded, version = read_response_with_version(key, version, entry.frame)
        actual, actual_version = read_response_with_version(key, entry.api_version, frame)
    except ProtocolError:
        is_equal = entry.frame[4:] == frame[4:]
        return [] if is_equal else [Difference("bytes", entry.frame[4:].hex(), frame[4:].hex())]
    if version != actual_version:
        return [Difference("version", version, actual_version)]
    has_another_leader = mapping.learn(event, request, recorded, actual)
    field_differences = message_differences(
        version, recorded, actual, ids.corresponding_ids, recorded_version=recorded_version
    )
    if has_another_leader:
        field_differences = [
            difference
            for difference in field_differences
            if not difference.field.startswith(_MEMBERS)
        ]
    if not field_differences:
        mapping.remember_as_equal(pair)
    return field_differences


def message_differences(
    version: int,
    recorded: Any,
    actual: Any,
    corresponding_ids: CorrespondingIds = NO_CORRESPONDING_IDS,
    *,
    recorded_version: int | None = None,
) -> list[Difference]:
    """Return the differences between two messages of the same type and version.

    With `recorded_version`, only of fields that this one has, too.
    """
    versions = version, version if recorded_version is None else recorded_version
    name = type(recorded).__name__

    def compared_fields(spec: StructSpec) -> Iterator[FieldSpec]:
        for field in spec.fields:
            if field.attribute not in IGNORED_FIELDS and all(map(field.versions.has, versions)):
                yield field

    spec = load_message_spec(name).top_level_struct
    pairs = paired_values(spec, recorded, actual, compared_fields, corresponding_ids)
    differences = [difference for each in pairs if (difference := _difference(each)) is not None]
    if name in _READS:
        return [difference for difference in differences if not _is_missing_row(difference)]
    return differences


def _is_missing_row(difference: Difference) -> bool:
    """Return whether only a read of a session left out a partition without new records."""
    return MISSING in (difference.recorded, difference.actual)


def _difference(pair: PairedValue) -> Difference | None:
    path, recorded, actual = pair.path, pair.recorded, pair.actual
    if pair.field.struct is not None and path.endswith("[]"):
        return Difference(path, _row_text(recorded), _row_text(actual))
    if pair.field.is_array and recorded is not None and actual is not None:
        path = f"{path}[]"
        is_equal = sorted(recorded) == sorted(actual)
    else:
        is_equal = recorded == actual
    return None if is_equal else Difference(path, json_value(recorded), json_value(actual))


def _row_text(row: Any) -> str:
    return MISSING if row is None else repr(row)[:ROW_CHARS_MAX]


def json_value(value: Any) -> Any:
    """Return a value for JSON."""
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list):
        return [json_value(element) for element in value]
    return repr(value) if isinstance(value, msgspec.Struct) else value


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
