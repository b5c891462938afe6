"""Rows for `readiness`: what requests need in another release but not in the present one."""

from collections.abc import Iterator

from kafka_shim.authorizer.access_plan import AlternativeActions, access_plan
from kafka_shim.authorizer.model import Action
from kafka_shim.authorizer.operations import operations_whose_allow_includes
from kafka_shim.authorizer.requirement import DenialEffect
from kafka_shim.authorizer.requirements import requirements_by_id
from kafka_shim.pipeline.rows.access_roles import access_text
from kafka_shim.pipeline.rows.access_row import api_name, operation_name, resource_type_name
from kafka_shim.pipeline.rows.columns import (
    ColumnBuilder,
    PendingRequests,
    Selection,
    connections_in,
)
from kafka_shim.protocol.codec import codecs
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import RequestHeader, read_request_header
from kafka_shim.protocol.trace.entries import Request
from kafka_shim.protocol.trace.segments import Block

_HARMLESS = frozenset({DenialEffect.HIDE, DenialEffect.VALUE, DenialEffect.EMPTY})
"""A denial of these refuses nothing."""


def add_added_need_rows(
    columns: ColumnBuilder, block: Block, selection: Selection, _: PendingRequests
) -> None:
    """Add a row for each need that a request has in `selection.release` but not in `present`."""
    who = connections_in(block)
    for entry in block.body.entries:
        if isinstance(entry, Request) and selection.selects_entry(entry.time_us, entry.api_key):
            for header, need in newly_needed_accesses(entry.frame, selection):
                chosen = need.last_named_action_or_last
                columns.add_row(
                    {
                        "api": api_name(header.api_key),
                        "api_key": header.api_key,
                        "api_version": header.api_version,
                        "operation": operation_name(chosen.operation),
                        "resource_type": resource_type_name(chosen.resource_type),
                        "resource_name": chosen.resource_name,
                        "instead": [
                            _alternative_text(way) for way in need.actions if way != chosen
                        ],
                        "requirement": need.requirement_id,
                        "client_id": header.client_id,
                        "requests": 1,
                        "first_seen": entry.time_us,
                        "last_seen": entry.time_us,
                    },
                    who[entry.connection][1],
                )


def newly_needed_accesses(
    frame: bytes, selection: Selection
) -> Iterator[tuple[RequestHeader, AlternativeActions]]:
    """Yield new needs whose denial is visible to clients and that no present need includes."""
    try:
        header, at = read_request_header(frame)
        message = codecs.read_request(header.api_key, header.api_version, frame, at)
    except ProtocolError:
        return
    asked = (header.api_key, header.api_version, message)
    before = access_plan(*asked, selection.present, selection.names).needs
    for need in access_plan(*asked, selection.release, selection.names).needs:
        effect = requirements_by_id(selection.release)[need.requirement_id].effect_in_version(
            header.api_version
        )
        if effect not in _HARMLESS and not any(_is_included(met, need) for met in before):
            yield header, need


def _is_included(met: AlternativeActions, need: AlternativeActions) -> bool:
    """Return whether each way to meet `met` also meets `need`."""
    return all(any(_implies_action(way, other) for other in need.actions) for way in met.actions)


def _implies_action(way: Action, other: Action) -> bool:
    same = (way.resource_type, way.resource_name) == (other.resource_type, other.resource_name)
    return same and way.operation in operations_whose_allow_includes(other.operation)


def _alternative_text(way: Action) -> str:
    return access_text(way.operation, way.resource_type, way.resource_name)
