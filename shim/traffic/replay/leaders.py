"""Groups that another member leads at the target than in the recording.

When its leader leaves, a broker takes the next by the hash of its random id. The assignments that
the recorded leader sent are then put into the SyncGroup of the one who leads.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from kafka_shim.protocol import codecs
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.protocol.trace.entries import Request

Generation = tuple[str, int]
"""A group and the number of a recorded generation."""
Assignments = dict[Generation, list[Any]]


class _Led(NamedTuple):
    recorded: str
    actual: str


class Leaders:
    """Fed with answers to JoinGroup; `assignments` are those that recorded leaders sent."""

    def __init__(self, assignments: Assignments) -> None:
        self._assignments = assignments
        self._led: dict[Generation, _Led] = {}

    def learn(self, request: Any, recorded: Any, actual: Any, members: Mapping[str, str]) -> None:
        """Take two answers to the same JoinGroup."""
        key = (request.group_id, recorded.generation_id)
        if is_led_by_another(recorded, actual, members):
            self._led[key] = _Led(recorded.leader, actual.leader)
        else:
            self._led.pop(key, None)

    def hand_over(self, request: Any, members: Mapping[str, str]) -> bool:
        """Give a SyncGroup the assignments that its member sends now; whether it had others."""
        led = self._led.get((request.group_id, request.generation_id))
        if led is None:
            return False
        if members.get(request.member_id) == led.actual:
            sent = self._assignments.get((request.group_id, request.generation_id), ())
            request.assignments = [msgspec.structs.replace(row) for row in sent]
            return True
        if request.member_id == led.recorded:
            request.assignments = []
            return True
        return False


def is_led_by_another(recorded: Any, actual: Any, members: Mapping[str, str]) -> bool:
    """Whether two answers to the same JoinGroup name leaders that do not correspond."""
    leader = members.get(recorded.leader, recorded.leader)
    return bool(recorded.leader and actual.leader) and leader != actual.leader


def assignments_of(entry: Request) -> tuple[Generation, list[Any]] | None:
    """What a SyncGroup assigns, and in which generation; None if it assigns nothing."""
    if entry.api_key != ApiKey.SYNC_GROUP:
        return None
    try:
        header, at = read_request_header(entry.frame)
        request = codecs.read_request(header.api_key, header.api_version, entry.frame, at)
    except ProtocolError:
        return None
    if not request.assignments:
        return None
    return (request.group_id, request.generation_id), request.assignments
