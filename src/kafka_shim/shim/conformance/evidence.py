"""What a passed case needs besides its own checks: the commands' requests, and true results.

A driver may report `ok` without having used its client. So each command that succeeds must have
sent one of its requests, and what it reports must be what the responses to them contain.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.records.batches import iterate_batches
from kafka_shim.protocol.records.message_sets import read_message_set
from kafka_shim.shim.conformance.driver import DriverResponse

DENIALS = frozenset(
    {
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.GROUP_AUTHORIZATION_FAILED,
        ErrorCode.CLUSTER_AUTHORIZATION_FAILED,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.DELEGATION_TOKEN_AUTHORIZATION_FAILED,
    }
)
"""Errors that only brokers know: a client that reports one has received it."""
_METADATA = (ApiKey.METADATA, ApiKey.DESCRIBE_TOPIC_PARTITIONS)
_MEMBERSHIP = (ApiKey.FIND_COORDINATOR, ApiKey.JOIN_GROUP, ApiKey.CONSUMER_GROUP_HEARTBEAT)
APIS_OF_COMMANDS: Mapping[str, tuple[ApiKey, ...]] = {
    "create_topics": (ApiKey.CREATE_TOPICS,),
    "delete_topics": (ApiKey.DELETE_TOPICS,),
    "create_partitions": (ApiKey.CREATE_PARTITIONS,),
    "list_topics": (ApiKey.METADATA,),
    "describe_topics": _METADATA,
    "describe_cluster": (ApiKey.METADATA, ApiKey.DESCRIBE_CLUSTER),
    "describe_configs": (ApiKey.DESCRIBE_CONFIGS,),
    "alter_configs": (ApiKey.INCREMENTAL_ALTER_CONFIGS, ApiKey.ALTER_CONFIGS),
    "list_offsets": (ApiKey.LIST_OFFSETS,),
    "delete_records": (ApiKey.DELETE_RECORDS,),
    "create_acls": (ApiKey.CREATE_ACLS,),
    "describe_acls": (ApiKey.DESCRIBE_ACLS,),
    "delete_acls": (ApiKey.DELETE_ACLS,),
    "create_token": (ApiKey.CREATE_DELEGATION_TOKEN,),
    "renew_token": (ApiKey.RENEW_DELEGATION_TOKEN,),
    "expire_token": (ApiKey.EXPIRE_DELEGATION_TOKEN,),
    "describe_tokens": (ApiKey.DESCRIBE_DELEGATION_TOKEN,),
    "describe_scram_users": (ApiKey.DESCRIBE_USER_SCRAM_CREDENTIALS,),
    "alter_scram_users": (ApiKey.ALTER_USER_SCRAM_CREDENTIALS,),
    "list_groups": (ApiKey.LIST_GROUPS,),
    "describe_groups": (ApiKey.DESCRIBE_GROUPS, ApiKey.CONSUMER_GROUP_DESCRIBE),
    "delete_groups": (ApiKey.DELETE_GROUPS,),
    "group_offsets": (ApiKey.OFFSET_FETCH,),
    "alter_group_offsets": (ApiKey.OFFSET_COMMIT,),
    "delete_group_offsets": (ApiKey.OFFSET_DELETE,),
    "produce": (ApiKey.PRODUCE,),
    "produce_to_several": (ApiKey.PRODUCE,),
    "begin": (ApiKey.INIT_PRODUCER_ID,),
    "send_offsets": (ApiKey.ADD_OFFSETS_TO_TXN, ApiKey.TXN_OFFSET_COMMIT),
    "commit": (ApiKey.END_TXN, ApiKey.INIT_PRODUCER_ID),
    "abort": (ApiKey.END_TXN, ApiKey.INIT_PRODUCER_ID),
    "consume": (ApiKey.FETCH, *_MEMBERSHIP),
    "consume_assigned": (ApiKey.FETCH, ApiKey.LIST_OFFSETS, ApiKey.METADATA),
    "consume_share": (ApiKey.SHARE_FETCH, ApiKey.SHARE_GROUP_HEARTBEAT),
    "commit_offsets": (ApiKey.OFFSET_COMMIT,),
    "committed": (ApiKey.OFFSET_FETCH,),
}
"""The requests of each command; a client whose command succeeds has sent one of them.

A transaction without records and offsets ends without a request. `open`, `close`, `set_login` and
`wait` need none.
"""
_SENT_BEFORE = frozenset(
    {"begin", "commit", "abort", "consume", "consume_assigned", "consume_share"}
)
"""Commands whose request may have been sent during an earlier one, or in the background."""


class CommandRun(NamedTuple):
    """A command that the driver ran; requests from number `first_request` on came during it."""

    command: str
    fields: Mapping[str, Any]
    response: DriverResponse
    first_request: int


class ObservedExchange(NamedTuple):
    """A request of the client and its response, which is None if there was none."""

    number: int
    api: ApiKey
    errors: tuple[int, ...]
    response: Any
    has_fault: bool


def why_successful_command_lacks_request(
    run: CommandRun, exchanges: Iterable[ObservedExchange]
) -> str | None:
    """Return what the client did not send although the command succeeded; None if it is there."""
    apis = APIS_OF_COMMANDS.get(run.command)
    if apis is None or not _has_success(run.response):
        return None
    if any(each.api in apis for each in _exchanges_from_run_start_or_earlier(run, exchanges)):
        return None
    names = " or ".join(api.wire_name for api in apis)
    return f"`{run.command}` succeeded, but the client sent no {names}"


def first_untrue_result_expected_and_observed(
    runs: Iterable[CommandRun], exchanges: Sequence[ObservedExchange]
) -> tuple[str, str] | None:
    """Return what a command should have reported, and what it did, if responses do not show it.

    Commands whose responses were changed by an injected fault are the case's own subject.
    """
    for run in runs:
        untrue = _denial_without_response(run, exchanges) or _result_without_response(
            run, exchanges
        )
        if untrue is not None:
            return untrue
    return None


def _exchanges_from_run_start_or_earlier(
    run: CommandRun, exchanges: Iterable[ObservedExchange]
) -> Iterator[ObservedExchange]:
    for each in exchanges:
        if each.number >= run.first_request or run.command in _SENT_BEFORE:
            yield each


def _item_responses_or_whole_response(response: DriverResponse) -> list[DriverResponse]:
    items = (response.ok or {}).get("items")
    if not isinstance(items, dict):
        return [response]
    return [response.item_or_whole_error_response(name) for name in items]


def _has_success(response: DriverResponse) -> bool:
    return any(each.ok is not None for each in _item_responses_or_whole_response(response))


def _denial_without_response(
    run: CommandRun, exchanges: Iterable[ObservedExchange]
) -> tuple[str, str] | None:
    reported = {
        each.error.code
        for each in _item_responses_or_whole_response(run.response)
        if each.error is not None
    }
    received = {code for each in exchanges for code in each.errors}
    for code in sorted(code for code in reported if code in DENIALS and code not in received):
        name = error_name_with_code(code)
        return f"{name} from a broker", f"`{run.command}` reported it, but no response had it"
    return None


def _result_without_response(
    run: CommandRun, exchanges: Sequence[ObservedExchange]
) -> tuple[str, str] | None:
    compare = _RESULT_CHECKS.get(run.command)
    if compare is None or run.response.ok is None:
        return None
    apis = APIS_OF_COMMANDS[run.command]
    relevant = [
        each for each in _exchanges_from_run_start_or_earlier(run, exchanges) if each.api in apis
    ]
    if any(each.has_fault or each.response is None for each in relevant):
        return None
    return compare(run, [each.response for each in relevant])


ResultCheck = Callable[[CommandRun, Sequence[Any]], tuple[str, str] | None]


def _check_that_noninternal_names_are_equal(
    field: str, returned: Callable[[Any], Iterable[str]]
) -> ResultCheck:
    """Return a check that a list has the names in the responses, except internal topics."""

    def check(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
        assert run.response.ok is not None
        names = {name for response in responses for name in returned(response)}
        reported = run.response.ok[field]
        if {name for name in reported if not name.startswith("__")} != {
            name for name in names if not name.startswith("__")
        }:
            return f"the {field} {sorted(names)}", f"`{run.command}` reported {sorted(reported)}"
        return None

    return check


def _metadata_topic_names_without_error(response: Any) -> Iterator[str]:
    for topic in response.topics:
        if topic.name and not topic.error_code:
            yield topic.name


def _check_that_item_field_was_returned(
    field: str,
    values_by_name: Callable[[Any], Iterable[tuple[str, Any]]],
    values_without_name: Sequence[Any] = (),
) -> ResultCheck:
    """Return a check that a field of each item that succeeded has a value in the responses.

    `values_without_name` are right for an item whose name is in no response.
    """

    def check(run: CommandRun, responses: Sequence[Any]) -> tuple[str, str] | None:
        assert run.response.ok is not None
        returned: dict[str, list[Any]] = {}
        for response in responses:
            for name, value in values_by_name(response):
                returned.setdefault(name, []).append(value)
        for name in run.response.ok["items"]:
            item = run.response.item_or_whole_error_response(name).ok
            values = returned.get(name, values_without_name)
            if item is not None and field in item and item[field] not in values:
                return (
                    f"for `{name}` the {field} {' or '.join(map(str, values))}",
                    f"`{run.command}` reported {item[field]}",
                )
        return None

    return check


def _topic_partitions_with_end_offsets(response: Any) -> Iterator[tuple[str, Any]]:
    for topic in response.topics:
        for partition in topic.partitions:
            for offset in (partition.offset, *partition.old_style_offsets):
                yield f"{topic.name}-{partition.partition_index}", offset


def _topic_partitions_with_committed_offsets(response: Any) -> Iterator[tuple[str, Any]]:
    groups = response.groups or (response,)
    for topic in (topic for group in groups for topic in group.topics):
        for partition in topic.partitions:
            offset = partition.committed_offset
            yield f"{topic.name}-{partition.partition_index}", offset if offset >= 0 else None


def _first_setting_missing_in_result(
    run: CommandRun, responses: Sequence[Any]
) -> tuple[str, str] | None:
    assert run.response.ok is not None
    for result in (result for response in responses for result in response.results):
        item = run.response.ok["items"].get(result.resource_name, {})
        for config in result.configs or () if "settings" in item else ():
            if config.name not in item["settings"]:
                return f"the setting {config.name}", f"`{run.command}` reported none of this name"
    return None


def _reported_offsets_not_in_responses(
    run: CommandRun, responses: Sequence[Any]
) -> tuple[str, str] | None:
    assert run.response.ok is not None
    offsets, count = run.response.ok["offsets"], len(run.fields["values"])
    first_offsets = [
        partition.base_offset
        for response in responses
        for topic in response.responses
        for partition in topic.partition_responses
        if not partition.error_code
    ]
    if -1 in first_offsets:  # of a batch that the broker had already
        return None
    if len(offsets) != count or not all(
        any(first <= offset < first + count for first in first_offsets) for offset in offsets
    ):
        return (
            f"offsets of {count} records, from {' or '.join(map(str, first_offsets))} on",
            f"`{run.command}` reported {offsets}",
        )
    return None


def _item_offset_not_in_responses(
    run: CommandRun, responses: Sequence[Any]
) -> tuple[str, str] | None:
    """Compare with the offsets of all topics, since newer responses have no topic names."""
    assert run.response.ok is not None
    offsets = {
        partition.base_offset
        for response in responses
        for topic in response.responses
        for partition in topic.partition_responses
        if not partition.error_code
    }
    for name in run.response.ok["items"]:
        item = run.response.item_or_whole_error_response(name).ok
        if item is not None and item["offset"] not in (-1, *offsets):
            return (
                f"for `{name}` the offset {' or '.join(map(str, sorted(offsets)))}",
                f"`{run.command}` reported {item['offset']}",
            )
    return None


def _first_reported_value_not_received(
    run: CommandRun, responses: Sequence[Any]
) -> tuple[str, str] | None:
    assert run.response.ok is not None
    reported = run.response.ok["values"]
    if not reported:
        return None
    received = {value for response in responses for value in _record_values(response)}
    unknown = [value for value in reported if value.encode() not in received]
    if unknown:
        return "values of received records", f"`{run.command}` reported {unknown[0][:100]!r}"
    return None


def _record_values(response: Any) -> Iterator[bytes | None]:
    for topic in getattr(response, "responses", ()):
        for partition in getattr(topic, "partitions", ()):
            blob = bytes(getattr(partition, "records", None) or b"")
            try:
                if len(blob) > _MAGIC_AT and blob[_MAGIC_AT] < 2:
                    records = read_message_set(blob, allows_truncated_end=True)
                    yield from (record.value for record in records)
                    continue
                for batch in iterate_batches(blob, allows_truncated_end=True):
                    yield from (record.value for record in batch.records())
            except ProtocolError:
                continue


_MAGIC_AT = 16

# A response to a request for all partitions of a group has only those with an offset.
_NO_COMMITTED_OFFSET = (None,)

_RESULT_CHECKS: Mapping[str, ResultCheck] = {
    "list_topics": _check_that_noninternal_names_are_equal(
        "topics", _metadata_topic_names_without_error
    ),
    "list_groups": _check_that_noninternal_names_are_equal(
        "groups", lambda response: (group.group_id for group in response.groups)
    ),
    "list_offsets": _check_that_item_field_was_returned(
        "offset", _topic_partitions_with_end_offsets
    ),
    "group_offsets": _check_that_item_field_was_returned(
        "offset", _topic_partitions_with_committed_offsets, _NO_COMMITTED_OFFSET
    ),
    "committed": _check_that_item_field_was_returned(
        "offset", _topic_partitions_with_committed_offsets, _NO_COMMITTED_OFFSET
    ),
    "describe_configs": _first_setting_missing_in_result,
    "produce": _reported_offsets_not_in_responses,
    "produce_to_several": _item_offset_not_in_responses,
    "consume": _first_reported_value_not_received,
    "consume_assigned": _first_reported_value_not_received,
    "consume_share": _first_reported_value_not_received,
}
