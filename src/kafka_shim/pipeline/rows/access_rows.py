"""Rows of accesses: the broker's decisions, and the role of each access in its request."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial

import msgspec

from kafka_shim.authorizer.model import WILDCARD
from kafka_shim.pipeline.rows.access_roles import (
    EITHER,
    LISTED,
    LISTS,
    PASSED,
    POSSIBLE,
    PROBE,
    REFUSED,
    UNIDENTIFIED,
    UNLOGGED,
    access_roles,
    apis_whose_roles_need_request_names,
    format_alternatives_of_access,
    has_probed_name,
    is_fallback,
    mark_refused_roles,
)
from kafka_shim.pipeline.rows.access_row import (
    AccessRow,
    api_name,
    operation_name,
    resource_type_name,
)
from kafka_shim.pipeline.rows.columns import (
    ColumnBuilder,
    ConnectionValues,
    SplitState,
    connections_by_number,
)
from kafka_shim.pipeline.rows.derived_accesses import (
    DerivationContext,
    allowed_rows_without_response,
    decide_rows,
    plan_request,
)
from kafka_shim.pipeline.rows.existence import EMPTY_EXISTENCE, broker_of_connection
from kafka_shim.pipeline.rows.response_effects import (
    REQUESTS_SHOW_EFFECT,
    RESPONSES_SHOW_EFFECT,
    action_text,
    all_topics_positions,
    find_unused_actions,
    list_role,
    read_filtered_list,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.codec.resource_names import ResourceNames, read_resource_names
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.responses import NAMING_APIS, topic_ids_with_names
from kafka_shim.trace_format.entries import (
    AUDIT,
    DERIVED,
    UNKNOWN_PRINCIPAL,
    Access,
    Entry,
    Request,
    Response,
    decode_response_entry,
)
from kafka_shim.trace_format.segments import Block

_RequestId = tuple[int, int, int]
"""Accesses of one request: the connection and, of a log that names no requests, time and API."""


def add_access_rows(
    columns: ColumnBuilder,
    block: Block,
    selection: Selection,
    pending: SplitState,
) -> None:
    """Add a row for each access: recorded, from an authorizer's log, or derived."""
    who = connections_by_number(block)
    add = _make_row_adder(columns, pending)
    if pending.counter is not None and block.body.entries:
        pending.counter.boundary_times = {
            entry.time_us for entry in (block.body.entries[0], block.body.entries[-1])
        }
    groups: dict[_RequestId, list[Access]] = {}
    last_logged: dict[tuple[int, int], _RequestId] = {}
    responses: dict[tuple[int, int], Response] = {}
    for entry in block.body.entries:
        connection, connection_values = who.get(entry.connection, (None, {}))
        if connection is None:
            continue
        if isinstance(entry, Access):
            if selection.selects_entry(entry.time_us, entry.api_key):
                request = (
                    _request_of_logged_access(entry, groups, last_logged, selection.release)
                    if connection.access_source == AUDIT
                    else (entry.connection, entry.sequence, entry.api_key)
                )
                groups.setdefault(request, []).append(entry)
        elif connection.access_source == DERIVED:
            key = connection.writer_connection, entry.sequence
            context = _derivation_context(selection, pending, broker_of_connection(connection))
            add(
                connection_values,
                _derive_accesses(entry, key, connection_values, selection, pending, context),
            )
        elif isinstance(entry, Request) and (
            entry.api_key in apis_whose_roles_need_request_names(selection.release)
            or entry.api_key in REQUESTS_SHOW_EFFECT
        ):
            pending.frames[connection.writer_connection, entry.sequence] = entry.frame
        elif isinstance(entry, Response) and entry.api_key in RESPONSES_SHOW_EFFECT:
            responses[entry.connection, entry.sequence] = entry
    for (number, _, _), accesses in groups.items():
        connection, connection_values = who[number]
        frame = pending.frames.pop((connection.writer_connection, accesses[0].sequence), None)
        found = _recorded_rows(
            accesses,
            frame,
            responses.get((number, accesses[0].sequence)),
            selection.release,
            connection.access_source,
        )
        add(connection_values, found)


def flush_requests_without_response(
    columns: ColumnBuilder, selection: Selection, pending: SplitState
) -> None:
    """Add rows of requests whose response is not in this split."""
    add = _make_row_adder(columns, pending)
    for waiting in (pending.planned, *pending.silent.values()):
        for connection_values, planned in waiting.values():
            add(
                connection_values,
                decide_rows(planned, None, _derivation_context(selection, pending)),
            )
        waiting.clear()


def add_topic_id_rows(columns: ColumnBuilder, block: Block, _: Selection, __: SplitState) -> None:
    """Add a row with the name of each topic id in responses, if accesses are derived."""
    who = connections_by_number(block)
    for entry in block.body.entries:
        if not isinstance(entry, Response) or entry.api_key not in NAMING_APIS:
            continue
        connection, connection_values = who.get(entry.connection, (None, {}))
        if connection is not None and connection.access_source == DERIVED:
            response = decode_response_entry(entry)
            for topic_id, name in topic_ids_with_names(response) if response is not None else ():
                columns.add_row(
                    {"topic_id": topic_id.hex(), "name": name, "time": entry.time_us},
                    connection_values,
                )


def _request_of_logged_access(
    access: Access,
    groups: Mapping[_RequestId, Sequence[Access]],
    last_logged: dict[tuple[int, int], _RequestId],
    release: str,
) -> _RequestId:
    """Return the request of a line: its time, unless the line continues an earlier request."""
    request = access.connection, access.time_us, access.api_key
    before = last_logged.get((access.connection, access.api_key), request)
    if before != request and is_fallback(groups[before][-1], access, release):
        request = before
    last_logged[access.connection, access.api_key] = request
    return request


def _derivation_context(
    selection: Selection, pending: SplitState, broker: str = ""
) -> DerivationContext:
    existence = selection.existence or EMPTY_EXISTENCE
    return DerivationContext(
        selection.release, selection.topic_names_by_id, existence, broker, pending.sessions
    )


def _derive_accesses(
    entry: Entry,
    connection_and_sequence: tuple[int, int],
    connection_values: ConnectionValues,
    selection: Selection,
    pending: SplitState,
    context: DerivationContext,
) -> list[AccessRow]:
    """Add what requests needed, after their response or that of a later request."""
    found: list[AccessRow] = []
    if isinstance(entry, Request) and selection.selects_entry(entry.time_us, entry.api_key):
        planned = plan_request(entry, context)
        if planned is not None and planned.gets_no_response:
            pending.silent.setdefault(connection_and_sequence[0], {})[connection_and_sequence] = (
                connection_values,
                planned,
            )
        elif planned is not None:
            pending.planned[connection_and_sequence] = (connection_values, planned)
    elif isinstance(entry, Response):
        silent = pending.silent.get(connection_and_sequence[0], {})
        for earlier in [other for other in silent if other < connection_and_sequence]:
            found += allowed_rows_without_response(silent.pop(earlier)[1], selection.release)
        if connection_and_sequence in pending.planned:
            planned = pending.planned.pop(connection_and_sequence)[1]
            found += decide_rows(planned, entry, context)
    return found


def _recorded_rows(
    accesses: list[Access],
    frame: bytes | None,
    response: Response | None,
    release: str,
    source: str,
) -> Iterator[AccessRow]:
    """Yield the accesses of a request, with roles that follow from it and from its response."""
    names = _names_in_request(frame)
    roles = access_roles(
        accesses,
        names,
        release,
        is_logged=source == AUDIT,
        listed_positions=all_topics_positions(accesses, names, frame),
    )
    without_effect = find_unused_actions(accesses, names, frame, response, release)
    if without_effect:
        roles = [
            POSSIBLE if role != PROBE and action_text(access) in without_effect else role
            for access, role in zip(accesses, roles, strict=True)
        ]
    shown = None
    if LISTED in roles:
        shown = read_filtered_list(accesses[0].api_key, frame, response, release)
        roles = [
            list_role(access, shown) if role == LISTED else role
            for access, role in zip(accesses, roles, strict=True)
        ]
    if source != AUDIT:
        roles = mark_refused_roles(accesses, roles, release)
    for access, role in zip(accesses, roles, strict=True):
        if source == AUDIT and has_probed_name(access):  # its denial does not decide the request
            access = msgspec.structs.replace(access, resource_name=WILDCARD)  # noqa: PLW2901
            role = role if access.allowed else UNLOGGED  # noqa: PLW2901
        alternatives: tuple[str, ...] = ()
        if role in (EITHER, REFUSED, PASSED, UNLOGGED, *LISTS):
            found = format_alternatives_of_access(access, names.topics, release)
            alternatives = tuple(each for each in found if each not in without_effect)
            if found and not alternatives:
                role = POSSIBLE  # noqa: PLW2901 - the request met it in no way
            if shown is not None and access.resource_type == ResourceType.CLUSTER:
                alternatives = tuple(shown.cluster_alternatives())
        yield AccessRow(
            access.sequence,
            access.time_us,
            access.api_key,
            access.api_version,
            access.operation,
            access.resource_type,
            access.resource_name,
            role,
            alternatives,
            source,
            access.allowed,
            access.rule,
            access.count,
        )


def _make_row_adder(
    columns: ColumnBuilder, pending: SplitState
) -> Callable[[ConnectionValues, Iterable[AccessRow]], None]:
    """Return a function that takes accesses of one connection."""
    counter = pending.counter
    add = partial(_add_row_per_access, columns) if counter is None else counter.count

    def add_by_principal(values: ConnectionValues, accesses: Iterable[AccessRow]) -> None:
        if values["principal"] == UNKNOWN_PRINCIPAL:
            accesses = [msgspec.structs.replace(each, role=UNIDENTIFIED) for each in accesses]
        add(values, accesses)

    return add_by_principal


def _add_row_per_access(
    columns: ColumnBuilder, connection_values: ConnectionValues, accesses: Iterable[AccessRow]
) -> None:
    for access in accesses:
        columns.add_row(
            {
                "sequence": access.sequence,
                "time": access.time_us,
                "api": api_name(access.api_key),
                "api_key": access.api_key,
                "api_version": access.api_version,
                "operation": operation_name(access.operation),
                "resource_type": resource_type_name(access.resource_type),
                "resource_name": access.resource_name,
                "role": access.role,
                "instead": list(access.instead),
                "source": access.source,
                "allowed": access.allowed,
                "rule": access.rule,
                "count": access.count,
            },
            connection_values,
        )


def _names_in_request(frame: bytes | None) -> ResourceNames:
    if frame is None:
        return ResourceNames()
    try:
        header, at = read_request_header(frame)
        return read_resource_names(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return ResourceNames()
