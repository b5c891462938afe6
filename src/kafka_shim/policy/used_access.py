"""The accesses that a trace used: those that were allowed, and how often."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from kafka_shim.authorizer.model import Action, Actor
from kafka_shim.protocol.enums import Operation, ResourceType
from kafka_shim.text.input_files import InputError
from kafka_shim.trace_format.entries import Access, Connection
from kafka_shim.trace_format.segments import Damage, read_trace


def count_allowed_accesses(trace: Path) -> Counter[tuple[Actor, Action]]:
    """Count the allowed accesses. Raise InputError if the trace is damaged or has no decisions."""
    access_counts: Counter[tuple[Actor, Action]] = Counter()
    is_empty = True
    for connection, access in _accesses_with_connections(trace):
        is_empty = False
        if access.allowed:
            kind, name = ResourceType(access.resource_type), access.resource_name
            action = Action(Operation(access.operation), kind, name)
            access_counts[Actor(connection.principal, connection.host), action] += access.count
    if is_empty:
        raise InputError(
            f"{trace}: no accesses in this trace; a proxy records none, a broker and an imported"
            " authorizer log do"
        )
    return access_counts


def _accesses_with_connections(trace: Path) -> Iterator[tuple[Connection, Access]]:
    for block in read_trace(trace):
        if isinstance(block, Damage):
            if not block.is_tail:
                raise InputError(f"{block.path}: damaged: {block.reason}")
            continue
        connections = {who.number: who for who in block.body.connections}
        for entry in block.body.entries:
            if isinstance(entry, Access):
                yield connections[entry.connection], entry
