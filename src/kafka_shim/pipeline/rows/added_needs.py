"""Rows for `readiness`: what requests need in another release but not in the present one."""

from collections.abc import Iterator

from kafka_shim.authorizer.access_plan import AlternativeActions, access_plan
from kafka_shim.authorizer.acl_rules import operations_whose_allow_includes
from kafka_shim.authorizer.model import Action
from kafka_shim.authorizer.requirement import WITHOUT_ERROR
from kafka_shim.authorizer.requirements import bound_requirements_by_id
from kafka_shim.pipeline.rows.access_roles import format_alternative
from kafka_shim.pipeline.rows.access_row import api_name, operation_name, resource_type_name
from kafka_shim.pipeline.rows.columns import (
    ColumnBuilder,
    SplitState,
    connections_by_number,
)
from kafka_shim.pipeline.rows.selection import Selection
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.trace_format.entries import Request
from kafka_shim.trace_format.segments import Block

"""A denial of these refuses nothing."""


def add_added_need_rows(
    columns: ColumnBuilder, block: Block, selection: Selection, _: SplitState
) -> None:
    """Add a row for each need that a request has in `selection.release`, but not yet."""
    who = connections_by_number(block)
    for entry in block.body.entries:
        if isinstance(entry, Request) and selection.selects_entry(entry.time_us, entry.api_key):
            for header, need in new_needs_with_visible_denial(entry.frame, selection):
                chosen = need.last_named_action
                columns.add_row(
                    {
                        "api": api_name(header.api_key),
                        "api_key": header.api_key,
                        "api_version": header.api_version,
                        "operation": operation_name(chosen.operation),
                        "resource_type": resource_type_name(chosen.resource_type),
                        "resource_name": chosen.resource_name,
                        "instead": [_format_action(way) for way in need.actions if way != chosen],
                        "requirement": need.requirement_id,
                        "client_id": header.client_id,
                        "requests": 1,
                        "first_seen": entry.time_us,
                        "last_seen": entry.time_us,
                    },
                    who[entry.connection][1],
                )


def new_needs_with_visible_denial(
    frame: bytes, selection: Selection
) -> Iterator[tuple[RequestHeader, AlternativeActions]]:
    """Yield new needs whose denial is visible to clients and that no present need includes."""
    try:
        header, message = read_request_frame(frame)
    except ProtocolError:
        return
    asked = (header.api_key, header.api_version, message)
    before = access_plan(*asked, selection.present_release, selection.topic_names_by_id).needs
    for need in access_plan(*asked, selection.release, selection.topic_names_by_id).needs:
        effect = bound_requirements_by_id(selection.release)[need.requirement_id].effect_in_version(
            header.api_version
        )
        if effect not in WITHOUT_ERROR and not any(_implies_need(met, need) for met in before):
            yield header, need


def _implies_need(first: AlternativeActions, second: AlternativeActions) -> bool:
    """Return whether each way to meet `met` also meets `need`."""
    return all(
        any(_allow_includes_action(way, other) for other in second.actions) for way in first.actions
    )


def _allow_includes_action(allowed: Action, other: Action) -> bool:
    same = (allowed.resource_type, allowed.resource_name) == (
        other.resource_type,
        other.resource_name,
    )
    return same and allowed.operation in operations_whose_allow_includes(other.operation)


def _format_action(action: Action) -> str:
    return format_alternative(action.operation, action.resource_type, action.resource_name)
