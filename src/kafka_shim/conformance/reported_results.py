"""Comparisons of what commands report with what the responses to their client contain."""

import base64
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.protocol.code_names import enum_member
from kafka_shim.protocol.enums import Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.protocol.records.message_sets import read_message_set


class CommandRun(NamedTuple):
    """A command that the driver ran; requests from number `first_request` on came during it."""

    command: str
    fields: Mapping[str, Any]
    response: DriverResponse
    first_request: int
    client: str = ""


ResultCheck = Callable[[CommandRun, Sequence[Any]], tuple[str, str] | None]


def _names_check(field: str, returned: Callable[[Any], Iterable[str]]) -> ResultCheck:
    """Return a check that a list has the names in the responses once, except internal topics."""

    def check(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
        assert run.response.ok is not None
        names = sorted({name for response in responses for name in returned(response)})
        reported = sorted(run.response.ok[field])
        if _without_internal_topics(reported) != _without_internal_topics(names):
            return f"the {field} {names}", f"`{run.command}` reported {reported}"
        return None

    return check


def _without_internal_topics(names: Iterable[str]) -> list[str]:
    return [name for name in names if not name.startswith("__")]


def _metadata_topic_names_without_error(response: Any) -> Iterator[str]:
    for topic in response.topics:
        if topic.name and not topic.error_code:
            yield topic.name


ValuesByName = Callable[[Any], Iterable[tuple[str | None, Any]]]
"""Returns the values in a response by the name of the item; None is the name of a whole result."""


def _field_check(
    field: str,
    values_by_name: ValuesByName,
    values_without_name: Sequence[Any] = (),
    *,
    only_if: str | None = None,
) -> ResultCheck:
    """Return a check that a field of each item that succeeded has a value in the responses.

    `values_without_name` are right for an item whose name is in no response. Elements of lists may
    be in any order. `only_if` names a field of the command that must be true.
    """

    def check(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
        if only_if is not None and not run.fields[only_if]:
            return None
        returned: dict[str | None, list[Any]] = {}
        for response in responses:
            for name, value in values_by_name(response):
                returned.setdefault(name, []).append(value)
        for name, result in _results_by_name(run):
            values = (
                returned.get(name) or returned.get(_partition_suffix(name)) or values_without_name
            )
            if field in result and _sorted_value(result[field]) not in values:
                return (
                    f"for `{name or 'the cluster'}` the {field} {_join_alternatives(values)}",
                    f"`{run.command}` reported {result[field]}",
                )
        return None

    return check


def _partition_suffix(name: str | None) -> str:
    """Return `-0` for `orders-0`: newer responses have ids in place of the names of topics."""
    return f"-{(name or '').rpartition('-')[2]}"


def _join_alternatives(values: Sequence[Any]) -> str:
    return " or ".join(dict.fromkeys(map(str, values))) or "of a response, but none had it"


def _results_by_name(run: CommandRun) -> Iterator[tuple[str | None, Mapping[str, Any]]]:
    """Yield the results that succeeded; the name is None if the command has no items."""
    assert run.response.ok is not None
    if "items" not in run.response.ok:
        yield None, run.response.ok
        return
    for name in run.response.ok["items"]:
        result = run.response.item_response(name).ok
        if result is not None:
            yield name, result


def _sorted_value(value: Any) -> Any:
    return sorted(value) if isinstance(value, list) else value


def _partition_counts(response: Any) -> Iterator[tuple[str, int]]:
    for topic in response.topics:
        if topic.name and not topic.error_code:
            yield topic.name, len(topic.partitions)


def _member_counts(response: Any) -> Iterator[tuple[str, int]]:
    for group in response.groups:
        if not group.error_code:
            yield group.group_id, len(group.members)


def _broker_ids(response: Any) -> Iterator[tuple[None, list[int]]]:
    for field in ("node_id", "broker_id"):
        if all(hasattr(broker, field) for broker in response.brokers):
            yield None, sorted(getattr(broker, field) for broker in response.brokers)


def _topic_operations(response: Any) -> Iterator[tuple[str, list[str] | None]]:
    for topic in response.topics:
        yield topic.name, _operations_in_bits(topic.topic_authorized_operations)


def _group_operations(response: Any) -> Iterator[tuple[str, list[str] | None]]:
    for group in response.groups:
        yield group.group_id, _operations_in_bits(group.authorized_operations)


def _cluster_operations(response: Any) -> Iterator[tuple[None, list[str] | None]]:
    yield None, _operations_in_bits(response.cluster_authorized_operations)


def _operations_in_bits(bits: int) -> list[str] | None:
    if bits == _NOT_RETURNED:
        return None
    return sorted(operation.name for operation in Operation if bits >> operation & 1)


def _scram_mechanisms(response: Any) -> Iterator[tuple[str, list[str]]]:
    for result in response.results:
        codes = [info.mechanism for info in result.credential_infos]
        yield result.user, sorted(_SCRAM_MECHANISMS.get(code, "UNKNOWN") for code in codes)


def _topic_partitions_with_end_offsets(response: Any) -> Iterator[tuple[str, Any]]:
    for topic in response.topics:
        for partition in topic.partitions:
            for offset in (partition.offset, *partition.old_style_offsets):
                yield f"{topic.name}-{partition.partition_index}", offset


def _committed_offsets(response: Any) -> Iterator[tuple[str, Any]]:
    groups = response.groups or (response,)
    for topic in (topic for group in groups for topic in group.topics):
        for partition in topic.partitions:
            offset = partition.committed_offset
            yield f"{topic.name}-{partition.partition_index}", offset if offset >= 0 else None


def _find_wrong_setting(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    assert run.response.ok is not None
    for result in (result for response in responses for result in response.results):
        item = run.response.ok["items"].get(result.resource_name, {})
        for config in result.configs or () if "settings" in item else ():
            if config.name not in item["settings"]:
                return f"the setting {config.name}", f"`{run.command}` reported none of this name"
            reported = item["settings"][config.name]
            if (reported or "") != (config.value or ""):
                return f"{config.name}={config.value}", f"`{run.command}` reported {reported!r}"
        names = {config.name for config in result.configs or ()}
        made_up = [name for name in item.get("settings", ()) if name not in names]
        if made_up and not result.error_code:
            return "the settings in the response", f"`{run.command}` reported {made_up[0]}"
    return None


def _find_misplaced_acl(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    """Compare the ACLs of each item with the result that the response has at its filter's place."""
    filters, (first, *_) = run.fields.get("filters", ()), (*responses, None)
    if len(responses) != 1 or len(first.filter_results) != len(filters):
        return None  # a request for each filter, or a repeated one
    for name, result in _results_by_name(run):
        number = int(name or 0)
        if result.get("filter", filters[number]) != filters[number]:
            return (
                f"for `{name}` the filter {filters[number]}",
                f"`{run.command}` reported {result['filter']}",
            )
        returned = Counter(_matching_acls(first.filter_results[number]))
        for acl in result["acls"]:
            shown = next((each for each in +returned if _is_reported_as(each, acl)), None)
            if shown is None:
                return f"for `{name}` the ACLs of its filter", f"`{run.command}` reported {acl}"
            returned[shown] -= 1
    return None


def _find_wrong_acl(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    unreported: Counter[tuple[str, ...]] = Counter()
    for response in responses:
        unreported |= Counter(_acls_in_response(response))
    for _, result in _results_by_name(run):
        for acl in result.get("acls", ()):
            shown = next((each for each in +unreported if _is_reported_as(each, acl)), None)
            if shown is None:
                return "the ACLs in the responses, each once", f"`{run.command}` reported {acl}"
            unreported[shown] -= 1
    for acl in +unreported:
        return f"the ACL {', '.join(acl)}", f"`{run.command}` did not report it"
    return None


def _acls_in_response(response: Any) -> Iterator[tuple[str, ...]]:
    """Yield the fields of ACLs in the order of ACL_FIELDS."""
    for resource in getattr(response, "resources", ()):
        for acl in resource.acls:
            yield _acl_fields(resource, acl)
    for result in getattr(response, "filter_results", ()):
        yield from _matching_acls(result)


def _matching_acls(result: Any) -> Iterator[tuple[str, ...]]:
    for acl in () if result.error_code else result.matching_acls:
        if not acl.error_code:
            yield _acl_fields(acl, acl)


def _acl_fields(resource: Any, acl: Any) -> tuple[str, ...]:
    return (
        enum_member(ResourceType, resource.resource_type).name,
        resource.resource_name,
        enum_member(PatternType, resource.pattern_type).name,
        acl.principal,
        acl.host,
        enum_member(Operation, acl.operation).name,
        enum_member(Permission, acl.permission_type).name,
    )


def _is_reported_as(returned: Sequence[str], reported: Mapping[str, str]) -> bool:
    """Return whether a client may report an ACL so: types that it does not know are UNKNOWN."""
    return all(
        reported[field] in (value, "UNKNOWN")
        for field, value in zip(_ACL_FIELDS, returned, strict=True)
    )


def _find_wrong_token(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    assert run.response.ok is not None
    returned = {_token_identity(response) for response in responses}
    reported = run.response.ok["token_id"], run.response.ok["hmac"]
    if reported in returned:
        return None
    return "the token in the response", f"`{run.command}` reported {reported}"


def _token_identity(token: Any) -> tuple[str, str]:
    return token.token_id, base64.b64encode(token.hmac).decode()


def _find_wrong_described_token(
    run: CommandRun, responses: Sequence[Any]
) -> tuple[str, str] | None:
    assert run.response.ok is not None
    tokens = {token.token_id: token for response in responses for token in response.tokens}
    reported = sorted(token["token_id"] for token in run.response.ok["tokens"])
    if reported != sorted(tokens):
        return f"the tokens {sorted(tokens)}", f"`{run.command}` reported {reported}"
    for row in run.response.ok["tokens"]:
        token = tokens[row["token_id"]]
        owner = f"{token.principal_type}:{token.principal_name}"
        returned = {"owner": owner, "hmac": _token_identity(token)[1]}
        for name, value in returned.items():
            if row.get(name, value) != value:
                return f"the {name} {value}", f"`{run.command}` reported {row[name]}"
    return None


def _find_wrong_offset(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    assert run.response.ok is not None
    offsets, count = run.response.ok["offsets"], len(run.fields["values"])
    first_offsets = [
        partition.base_offset
        for response in responses
        for topic in response.responses
        for partition in topic.partition_responses
        if not partition.error_code
    ]
    if not responses or -1 in first_offsets:  # acks=0, or a batch that the broker had already
        return None
    if len(offsets) != count or not all(
        any(first <= offset < first + count for first in first_offsets) for offset in offsets
    ):
        return (
            f"offsets of {count} records, from {' or '.join(map(str, first_offsets))} on",
            f"`{run.command}` reported {offsets}",
        )
    partitions = {
        partition.index
        for response in responses
        for topic in response.responses
        for partition in topic.partition_responses
    }
    if len(partitions) == 1 and offsets != sorted(set(offsets)):
        return "the offset of each record, in their order", f"`{run.command}` reported {offsets}"
    return None


def _find_wrong_item_offset(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    """Compare with the offsets of all topics, since newer responses have no topic names."""
    assert run.response.ok is not None
    offsets = {
        partition.base_offset
        for response in responses
        for topic in response.responses
        for partition in topic.partition_responses
        if not partition.error_code
    }
    for name, result in _results_by_name(run):
        if result["offset"] not in (-1, *offsets):
            return (
                f"for `{name}` the offset {' or '.join(map(str, sorted(offsets)))}",
                f"`{run.command}` reported {result['offset']}",
            )
    return None


def _find_duplicate_value(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    assert run.response.ok is not None
    reported = Counter(value.encode() for value in run.response.ok["values"])
    received = Counter(value for response in responses for value in _received_values(response))
    for value, count in reported.items():
        if count > received[value]:
            return (
                "values of received records",
                f"`{run.command}` reported {value[:100]!r} {count} times",
            )
    return None


def _find_reordered_value(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
    """Return what a consumer should have reported that skips a record or changes their order.

    Partitions are left out from which a record was received twice, or another one may be hidden: a
    record of an aborted transaction.
    """
    assert run.response.ok is not None
    counts = Counter(value for response in responses for value in _received_values(response))
    positions = {value.encode(): at for at, value in enumerate(run.response.ok["values"])}
    for records in received_records(responses).values():
        values = [records[offset] for offset in sorted(records)]
        is_clear = all(value is not None and counts[value] == 1 for value in values)
        order = [positions[value] for value in values if value is not None and value in positions]
        if not is_clear or not order or _has_aborted_transactions(responses):
            continue
        seen = [at for at, value in enumerate(values) if value in positions]
        if order != sorted(order) or seen != [*range(seen[0], seen[-1] + 1)]:
            text = b", ".join(value for value in values if value is not None).decode()
            return (
                f"the values of a partition in their order: {text[:100]}",
                f"`{run.command}` reported {run.response.ok['values']}",
            )
    return None


def _has_aborted_transactions(responses: Sequence[Any]) -> bool:
    return any(
        getattr(partition, "aborted_transactions", None)
        for response in responses
        for topic in getattr(response, "responses", ())
        for partition in getattr(topic, "partitions", ())
    )


def _received_values(response: Any) -> Iterator[bytes | None]:
    for topic in getattr(response, "responses", ()):
        for partition in getattr(topic, "partitions", ()):
            for _, value in partition_records(partition):
                yield value


def received_records(
    responses: Iterable[Any],
) -> dict[tuple[str, int], dict[int, bytes | None]]:
    """Return the values that Fetch responses have, by topic and partition, and by offset.

    A response with an id of the topic has no name: it is empty.
    """
    received: dict[tuple[str, int], dict[int, bytes | None]] = {}
    for response in responses:
        for topic in getattr(response, "responses", ()):
            for partition in getattr(topic, "partitions", ()):
                place = topic.topic, partition.partition_index
                received.setdefault(place, {}).update(partition_records(partition))
    return received


def partition_records(partition: Any) -> Iterator[tuple[int, bytes | None]]:
    """Yield offset and value of each readable record of a partition, in any format."""
    blob = bytes(getattr(partition, "records", None) or b"")
    try:
        if len(blob) > _MAGIC_AT and blob[_MAGIC_AT] < 2:
            for record in read_message_set(blob, allows_truncated_end=True):
                yield record.offset, record.value
            return
        for batch in iterate_batches(blob, allows_truncated_end=True):
            for record in batch.records():
                yield record.offset, record.value
    except ProtocolError:
        return


_MAGIC_AT = 16
_NOT_RETURNED = -(2**31)
_ACL_FIELDS = (
    *("resource_type", "name", "pattern_type"),
    *("principal", "host", "operation", "permission"),
)
_SCRAM_MECHANISMS = {1: "SCRAM-SHA-256", 2: "SCRAM-SHA-512"}
CONSUMING_COMMANDS = ("consume", "consume_assigned", "consume_share")

# A response to a request for all partitions of a group has only those with an offset.
_NO_COMMITTED_OFFSET = (None,)

_COMMITTED_OFFSET_CHECK = _field_check("offset", _committed_offsets, _NO_COMMITTED_OFFSET)
RESULT_CHECKS: Mapping[str, tuple[ResultCheck, ...]] = {
    "list_topics": (_names_check("topics", _metadata_topic_names_without_error),),
    "list_groups": (
        _names_check("groups", lambda response: (group.group_id for group in response.groups)),
    ),
    "describe_topics": (
        _field_check("partitions", _partition_counts),
        _field_check("operations", _topic_operations, only_if="operations"),
    ),
    "describe_groups": (
        _field_check("members", _member_counts),
        _field_check("operations", _group_operations, only_if="operations"),
    ),
    "describe_cluster": (
        _field_check("brokers", _broker_ids),
        _field_check("operations", _cluster_operations, only_if="operations"),
    ),
    "list_offsets": (_field_check("offset", _topic_partitions_with_end_offsets),),
    "group_offsets": (_COMMITTED_OFFSET_CHECK,),
    "committed": (_COMMITTED_OFFSET_CHECK,),
    "describe_configs": (_find_wrong_setting,),
    "describe_acls": (_find_wrong_acl,),
    "delete_acls": (_find_misplaced_acl, _find_wrong_acl),
    "create_token": (_find_wrong_token,),
    "describe_tokens": (_find_wrong_described_token,),
    "describe_scram_users": (_field_check("mechanisms", _scram_mechanisms),),
    "produce": (_find_wrong_offset,),
    "produce_to_several": (_find_wrong_item_offset,),
    "consume": (_find_duplicate_value, _find_reordered_value),
    "consume_assigned": (_find_duplicate_value, _find_reordered_value),
    "consume_share": (_find_duplicate_value,),
}
"""What is checked of the result of a command."""
