"""Reduce a response to what depends on permissions: error codes, operations, names, content."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any, Final

from kafka_shim.protocol.codec.message_spec import FieldSpec, StructSpec, load_message_spec
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.wire_json import PlainForm, lower_first_letter

_NAMES = frozenset(
    {
        *("name", "topic", "topic_name", "topic_id", "group_id", "transactional_id", "key"),
        *("resource_type", "resource_name", "pattern_type", "resource_pattern_type"),
        *("principal", "operation", "permission_type", "user", "mechanism"),
        *("principal_type", "principal_name", "entity_type", "entity_name"),
        *("partition_index", "partition", "index", "committed_offset"),
    }
)
_LEFT_OUT = frozenset(
    {
        *("configs", "api_keys", "supported_features", "finalized_features", "brokers"),
        *("members", "assignment", "nodes", "coordinator_endpoints", "node_endpoints", "tokens"),
        *("current_leader", "active_producers", "aborted_transactions", "quorum_voters"),
    }
)
"""Fields with names of other things, such as those of all settings."""
NOT_COMPARED: Final = frozenset(
    {
        *("throttleTimeMs", "errorMessage", "acknowledgeErrorMessage"),
        *("partitionId", "allowReplicationFactorChange"),
        *("tokenRequesterPrincipalType", "tokenRequesterPrincipalName"),
    }
)
"""Fields of denied elements with texts, times, or values of the request."""
_CONTENT = frozenset(
    {
        *("configs", "members", "assignment", "active_producers", "entries", "credential_infos"),
        *("records", "hmac", "old_style_offsets", "state_batches", "synonyms"),
    }
)
"""Fields with what an ACL protects, of which vectors of rules say whether it is there."""
DENIALS: Final = frozenset({29, 30, 31, 53, 65})
"""The error codes of what is denied."""
SOME: Final = "<some>"
"""Stands for any value that is not empty."""
LISTS_IN_ORDER: Final[Mapping[ApiKey, str]] = {
    ApiKey.CREATE_ACLS: "results",
    ApiKey.DELETE_ACLS: "filterResults",
}
"""Lists whose elements only their order relates to the request."""
APIS_THAT_LIST_EVERYTHING = frozenset(
    {
        ApiKey.METADATA,
        ApiKey.LIST_GROUPS,
        ApiKey.LIST_TRANSACTIONS,
        ApiKey.DESCRIBE_TOPIC_PARTITIONS,
        ApiKey.LIST_CONFIG_RESOURCES,
        ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,
        ApiKey.DESCRIBE_CLIENT_QUOTAS,
        ApiKey.DESCRIBE_LOG_DIRS,
        ApiKey.LIST_PARTITION_REASSIGNMENTS,
        ApiKey.ELECT_LEADERS,
    }
)
"""APIs whose responses may contain what was on the broker before."""
IDENTIFYING: Final = (
    "name",
    "groupId",
    "transactionalId",
    "resourceName",
    "topic",
    "topicName",
    "user",
)

TopicIdName = Callable[[bytes], str]


def permission_fields(api: ApiKey, response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a response that depend on permissions, in Kafka's spelling.

    The response has attributes by name. Elements of lists are in no particular order, except those
    in LISTS_IN_ORDER.
    """
    spec = load_message_spec(f"{api.wire_name}Response").top_level_struct
    return _permission_fields_of_struct(spec, response)


def permission_field_presence(api: ApiKey, response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the same, with whether what is allowed has content; what is denied is empty."""
    spec = load_message_spec(f"{api.wire_name}Response").top_level_struct
    return _field_presence_of_struct(spec, response, is_denied=False)


class PlainResponses(PlainForm):
    """Responses in Kafka's spelling and without records; topic ids become names of topics."""

    def __init__(self, topic_name: TopicIdName) -> None:
        self._topic_name = topic_name

    def has(self, field: FieldSpec, content: Any, version: int) -> bool:  # noqa: ARG002 the form's
        return True

    def name(self, field: FieldSpec) -> str:
        return lower_first_letter(field.name)

    def records(self, content: bytes | None) -> str | None:
        """Return only whether there are records."""
        return SOME if content else None

    def leaf(self, field: FieldSpec, value: Any) -> Any:
        if field.element_kind == "uuid":
            return self._topic_name(value)
        return value.hex() if isinstance(value, bytes) else value


def drop_foreign_elements(fields: Any, prefix: str, requested_names: Container[str]) -> Any:
    """Return a response without elements that belong to other groups of vectors."""
    if isinstance(fields, dict):
        return {
            name: drop_foreign_elements(value, prefix, requested_names)
            for name, value in fields.items()
        }
    if isinstance(fields, list):
        return [
            drop_foreign_elements(each, prefix, requested_names)
            for each in fields
            if _is_of_vector_group(each, prefix, requested_names)
        ]
    return fields


def texts_in(value: Any) -> Iterator[str]:
    """Yield all texts in requests."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for row in value.values():
            yield from texts_in(row)
    elif isinstance(value, list):
        for row in value:
            yield from texts_in(row)


def _is_of_vector_group(element: Any, prefix: str, requested_names: Container[str]) -> bool:
    """Return whether an element has no name, or names of the group.

    Brokers have numbers; internal topics may be there or not.
    """
    if not isinstance(element, dict):
        return True
    if "entity" in element:  # a client quota
        names = [component["entityName"] for component in element["entity"]]
    else:
        names = [next((element[name] for name in IDENTIFYING if name in element), None)]
    return all(
        name is None
        or (name in requested_names and not str(name).isdigit() and not name.startswith("__"))
        or str(name).startswith((f"{prefix}-", f"{prefix}."))
        for name in names
    )


def _permission_fields_of_struct(spec: StructSpec, values: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field in spec.fields:
        if field.attribute not in values or not _depends_on_permissions(field):
            continue
        content = values[field.attribute]
        if field.struct is not None and content is not None:
            rows = content if field.is_array else [content]
            reduced = [_permission_fields_of_struct(field.struct, row) for row in rows]
            content = reduced if field.is_array else reduced[0]
        fields[lower_first_letter(field.name)] = content
    return fields


def _field_presence_of_struct(
    spec: StructSpec, values: Mapping[str, Any], *, is_denied: bool
) -> dict[str, Any]:
    is_denied = is_denied or values.get("error_code") in DENIALS
    fields: dict[str, Any] = {}
    for field in spec.fields:
        name = field.attribute
        if name not in values or lower_first_letter(field.name) in NOT_COMPARED:
            continue
        content = values[name]
        has_fields = _depends_on_permissions(field) or name in ("host", "tokens")
        if is_denied and not has_fields:
            continue
        if field.struct is not None and content is not None and has_fields:
            rows = content if field.is_array else [content]
            reduced = [
                _field_presence_of_struct(field.struct, row, is_denied=is_denied) for row in rows
            ]
            content = reduced if field.is_array else reduced[0]
        elif not has_fields:
            if name not in _CONTENT:
                continue
            content = SOME if content else content
        fields[lower_first_letter(field.name)] = content
    return fields


def _depends_on_permissions(field: FieldSpec) -> bool:
    name = field.attribute
    if name in _LEFT_OUT:
        return False
    if field.struct is not None:
        return _has_permission_fields(field.struct)
    return name.endswith(("error_code", "authorized_operations")) or name in _NAMES


def _has_permission_fields(spec: StructSpec) -> bool:
    return any(_depends_on_permissions(field) for field in spec.fields)
