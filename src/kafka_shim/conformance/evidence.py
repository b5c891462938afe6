"""What a passed case needs besides its own checks: the commands' requests, and true results.

A driver may report `ok` without having used its client. So each command that succeeds must have
sent one of its requests, and what it reports must be what the responses to them contain.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from kafka_shim.conformance.driver import DriverResponse
from kafka_shim.conformance.reported_results import (
    CONSUMING_COMMANDS,
    RESULT_CHECKS,
    CommandRun,
    received_records,
)
from kafka_shim.conformance.requested_content import (
    SentRequest,
    committed_rows,
    find_wrong_request,
    item_names,
)
from kafka_shim.protocol.code_names import error_name_with_code
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.error_codes import ErrorCode

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
_COMMIT = "commit_offsets"
_SENT_BEFORE = frozenset(
    {"begin", "commit", "abort", "consume", "consume_assigned", "consume_share"}
)
"""Commands whose request may have been sent during an earlier one, or in the background."""


class ObservedExchange(NamedTuple):
    """A request of the client and the response that it could use, or None if there was none."""

    number: int
    api: ApiKey
    errors: tuple[int, ...]
    response: Any
    request: SentRequest


def missing_request_text(run: CommandRun, exchanges: Iterable[ObservedExchange]) -> str | None:
    """Return what the client did not send although the command succeeded; None if it is there."""
    apis = APIS_OF_COMMANDS.get(run.command)
    if apis is None or not _has_success(run.response):
        return None
    if any(each.api in apis for each in _relevant_exchanges(run, exchanges)):
        return None
    names = " or ".join(api.wire_name for api in apis)
    return f"`{run.command}` succeeded, but the client sent no {names}"


def find_unproven_result(
    runs: Sequence[CommandRun], exchanges: Sequence[ObservedExchange]
) -> tuple[str, str] | None:
    """Return what a command should have reported, and what it did, if responses do not show it."""
    for run in _runs_with_totals(runs):
        untrue = (
            _find_invented_denial(run, exchanges)
            or _find_item_mismatch(run)
            or _find_wrong_result(run, exchanges)
        )
        if untrue is not None:
            return untrue
    for number, run in enumerate(runs):
        sent = [each.request for each in _exchanges_during(runs, number, exchanges)]
        earlier = [each for each in runs[:number] if each.command == run.command]
        other = find_wrong_request(run, earlier, sent)
        if other is not None:
            return other
    return _find_wrong_commit(runs, exchanges)


def _find_item_mismatch(run: CommandRun) -> tuple[str, str] | None:
    """Return the names of a command that its answer lacks, or has and must not have."""
    if run.response.ok is None or "items" not in run.response.ok:
        return None
    names, reported = item_names(run.fields), set(run.response.ok["items"])
    if not names or reported == names:
        return None
    return f"items {sorted(names)}", f"`{run.command}` reported {sorted(reported)}"


def _relevant_exchanges(
    run: CommandRun, exchanges: Iterable[ObservedExchange]
) -> Iterator[ObservedExchange]:
    for each in exchanges:
        if each.number >= run.first_request or run.command in _SENT_BEFORE:
            yield each


def _item_responses(response: DriverResponse) -> list[DriverResponse]:
    items = (response.ok or {}).get("items")
    if not isinstance(items, dict):
        return [response]
    return [response.item_response(name) for name in items]


def _has_success(response: DriverResponse) -> bool:
    return any(each.ok is not None for each in _item_responses(response))


def _find_invented_denial(
    run: CommandRun, exchanges: Iterable[ObservedExchange]
) -> tuple[str, str] | None:
    reported = {each.error.code for each in _item_responses(run.response) if each.error is not None}
    received = {code for each in exchanges for code in each.errors}
    for code in sorted(code for code in reported if code in DENIALS and code not in received):
        name = error_name_with_code(code)
        return f"{name} from a broker", f"`{run.command}` reported it, but no response had it"
    return None


def _find_wrong_result(
    run: CommandRun, exchanges: Sequence[ObservedExchange]
) -> tuple[str, str] | None:
    if run.response.ok is None:
        return None
    apis = APIS_OF_COMMANDS.get(run.command, ())
    responses = [
        each.response
        for each in _relevant_exchanges(run, exchanges)
        if each.api in apis and each.response is not None
    ]
    for check in RESULT_CHECKS.get(run.command, ()):
        untrue = check(run, responses)
        if untrue is not None:
            return untrue
    return None


def _runs_with_totals(runs: Sequence[CommandRun]) -> Iterator[CommandRun]:
    """Yield the runs, and for each consuming command one with the values of all its runs."""
    yield from runs
    for command in CONSUMING_COMMANDS:
        consumed = [
            value
            for run in runs
            if run.command == command and run.response.ok is not None
            for value in run.response.ok["values"]
        ]
        yield CommandRun(command, {}, DriverResponse(ok={"values": consumed}), 0)


def _find_wrong_commit(
    runs: Sequence[CommandRun], exchanges: Sequence[ObservedExchange]
) -> tuple[str, str] | None:
    """Return a committed position that the records of the only consumer do not explain.

    It is behind each record whose value was reported, and at most behind all that were received.
    """
    consumers = {run.client for run in runs if run.command in (*CONSUMING_COMMANDS, _COMMIT)}
    if len(consumers) > 1:
        return None
    for number, run in enumerate(runs):
        if run.command != _COMMIT or run.response.ok is None:
            continue
        reported = Counter(_reported_values(runs[:number]))
        for exchange in _exchanges_during(runs, number, exchanges):
            received = received_records(
                each.response for each in exchanges if each.number < exchange.number
            )
            for _, topic, partition, offset in committed_rows(exchange.request):
                records = received.get((topic, partition)) or received.get(("", partition))
                lowest, highest = _position_bounds(records or {}, reported)
                if records and not lowest <= offset <= highest:
                    positions = f"{lowest}" if lowest == highest else f"{lowest} to {highest}"
                    return f"a commit of {positions}", f"the client committed {offset}"
    return None


def _position_bounds(
    records: Mapping[int, bytes | None], reported: Counter[bytes]
) -> tuple[int, int]:
    """Return the lowest and the highest position of a consumer that has received records."""
    unseen = reported.copy()
    lowest = min(records, default=0)
    for offset in sorted(records):
        value = records[offset]
        if value is not None and unseen[value]:
            unseen[value] -= 1
            lowest = offset + 1
    return lowest, max(records, default=0) + 1


def _reported_values(runs: Iterable[CommandRun]) -> Iterator[bytes]:
    for run in runs:
        if run.command in CONSUMING_COMMANDS and run.response.ok is not None:
            yield from (value.encode() for value in run.response.ok["values"])


def _exchanges_during(
    runs: Sequence[CommandRun], number: int, exchanges: Iterable[ObservedExchange]
) -> Iterator[ObservedExchange]:
    """Yield the exchanges that began during a run, before the next one."""
    first = runs[number].first_request
    end = min((run.first_request for run in runs[number + 1 :]), default=None)
    for each in exchanges:
        if first <= each.number and (end is None or each.number < end):
            yield each
