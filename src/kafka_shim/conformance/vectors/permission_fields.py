"""Reduce a response to what depends on permissions: error codes, operations, names."""

from collections.abc import Callable, Container, Iterator, Mapping
from typing import Any

import msgspec

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
_IDENTIFYING = ("name", "groupId", "transactionalId", "resourceName", "topic", "topicName", "user")

TopicIdName = Callable[[bytes], str]


def permission_fields(api: ApiKey, version: int, response: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a response that depend on permissions, in Kafka's spelling.

    The response has attributes by name, as in `PlainResponses`. Elements of lists are in
    no particular order.
    """
    spec = load_message_spec(f"{api.wire_name}Response").top_level_struct
    return _permission_fields_of_struct(spec, response, version)


class PlainResponses(PlainForm):
    """Responses with attributes by name and without records; topic ids become names of topics."""

    def __init__(self, topic_name: TopicIdName) -> None:
        self._topic_name = topic_name

    def has(self, field: FieldSpec, content: Any, version: int) -> bool:  # noqa: ARG002 the form's
        return True

    def name(self, field: FieldSpec) -> str:
        return field.attribute

    def records(self, content: bytes | None) -> None:
        """Return null: records do not depend on permissions."""

    def leaf(self, field: FieldSpec, value: Any) -> Any:
        if field.element_kind == "uuid":
            return self._topic_name(value)
        return value.hex() if isinstance(value, bytes) else value


def without_names_of_other_vector_groups(
    fields: Any, prefix: str, requested_names: Container[str]
) -> Any:
    """Return a response without elements that belong to other groups of vectors."""
    if isinstance(fields, dict):
        return {
            name: without_names_of_other_vector_groups(value, prefix, requested_names)
            for name, value in fields.items()
        }
    if isinstance(fields, list):
        return [
            without_names_of_other_vector_groups(each, prefix, requested_names)
            for each in fields
            if _has_no_name_outside_vector_group(each, prefix, requested_names)
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


def first_deviation_from_expected_ignoring_order(
    expected: Any, actual: Any, path: str = ""
) -> str | None:
    """Return where a response lacks what is expected; None if all of it is there.

    Lists are compared without their order, and null is an empty list; an object may have more
    fields than expected.
    """
    if isinstance(expected, dict) and isinstance(actual, dict):
        return _first_difference(expected, actual, path)
    if isinstance(expected, list) and isinstance(actual, list):
        return _first_list_difference_ignoring_order(expected, actual, path)
    if expected in (None, []) and actual in (None, []):
        return None
    return (
        None
        if expected == actual
        else f"{path}: {_json_text(actual)}, expected {_json_text(expected)}"
    )


def _first_difference(
    expected: Mapping[str, Any], actual: Mapping[str, Any], path: str
) -> str | None:
    for name, value in expected.items():
        where = f"{path}.{name}" if path else name
        if name not in actual:
            return f"{where} is missing"
        difference = first_deviation_from_expected_ignoring_order(value, actual[name], where)
        if difference is not None:
            return difference
    return None


def _first_list_difference_ignoring_order(
    expected: list[Any], actual: list[Any], path: str
) -> str | None:
    remaining = list(actual)
    for element in expected:
        match = next(
            (
                each
                for each in remaining
                if first_deviation_from_expected_ignoring_order(element, each) is None
            ),
            None,
        )
        if match is None:
            nearest = next(
                (each for each in remaining if _have_same_identifying_fields(element, each)), None
            )
            if nearest is not None:
                return first_deviation_from_expected_ignoring_order(element, nearest, f"{path}[]")
            return f"{path} has no {_json_text(element)}"
        remaining.remove(match)
    return f"{path} has also {_json_text(remaining[0])}" if remaining else None


def _have_same_identifying_fields(left: Any, right: Any) -> bool:
    if not isinstance(left, dict) or not isinstance(right, dict):
        return False
    return all(
        left.get(name) == right.get(name) for name in (*_IDENTIFYING, "partitionIndex", "topicId")
    )


def _json_text(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _has_no_name_outside_vector_group(
    element: Any, prefix: str, requested_names: Container[str]
) -> bool:
    """Return whether an element has no name, or names of the group.

    Brokers have numbers; internal topics may be there or not.
    """
    if not isinstance(element, dict):
        return True
    if "entity" in element:  # a client quota
        names = [component["entityName"] for component in element["entity"]]
    else:
        names = [next((element[name] for name in _IDENTIFYING if name in element), None)]
    return all(
        name is None
        or (name in requested_names and not str(name).isdigit() and not name.startswith("__"))
        or str(name).startswith((f"{prefix}-", f"{prefix}."))
        for name in names
    )


def _permission_fields_of_struct(
    spec: StructSpec, values: Mapping[str, Any], version: int
) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for field in spec.fields:
        if field.attribute not in values or not _depends_on_permissions(field):
            continue
        content = values[field.attribute]
        if field.struct is not None and content is not None:
            rows = content if field.is_array else [content]
            reduced = [_permission_fields_of_struct(field.struct, row, version) for row in rows]
            content = reduced if field.is_array else reduced[0]
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
