"""What requests that a target did not get would have changed: later differences follow from it."""

from collections.abc import Iterable, Iterator

from kafka_shim.authorizer.access_plan import access_plan
from kafka_shim.protocol.api_versions import RELEASES
from kafka_shim.protocol.enums import ApiKey, ResourceType
from kafka_shim.protocol.errors import ProtocolError
from kafka_shim.protocol.message_frames import read_request_frame
from kafka_shim.trace_format.entries import Request
from kafka_shim.traces.api_kinds import COUNTED_CHANGES, GROUP_HEARTBEATS
from kafka_shim.traces.replay.events import ConnectionId, Event

_CHANGES_OF_GROUPS = GROUP_HEARTBEATS | {
    ApiKey.JOIN_GROUP, ApiKey.SYNC_GROUP, ApiKey.LEAVE_GROUP, ApiKey.OFFSET_COMMIT,
}  # fmt: skip
"""Requests that change a group, and not the topics that they name."""
_CHANGES = COUNTED_CHANGES | _CHANGES_OF_GROUPS | {ApiKey.PRODUCE, ApiKey.INIT_PRODUCER_ID}
_ACL_CHANGES = frozenset({ApiKey.CREATE_ACLS, ApiKey.DELETE_ACLS})
_LISTS = {
    ApiKey.LIST_GROUPS: ResourceType.GROUP,
    ApiKey.LIST_TRANSACTIONS: ResourceType.TRANSACTIONAL_ID,
}
_NAMED = frozenset({ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID})

_Resource = tuple[int, str]


class MissingRequests:
    """The resources that missing requests would have changed."""

    def __init__(self) -> None:
        self._resources: set[_Resource] = set()
        self._has_acl_changes = False
        self._topic_names: dict[bytes, str] = {}

    def add(self, frame: bytes) -> None:
        """Add a recorded request that the target does not get."""
        try:
            header, message = read_request_frame(frame)
        except ProtocolError:
            return
        if header.api_key in _ACL_CHANGES:
            self._has_acl_changes = True
        elif header.api_key in _CHANGES:
            changed = self._resources_of(header.api_key, header.api_version, message)
            is_group = header.api_key in _CHANGES_OF_GROUPS
            self._resources |= {
                each for each in changed if not is_group or each[0] == ResourceType.GROUP
            }

    def add_damaged(self, events: Iterable[Event], connections: set[ConnectionId]) -> None:
        """Add what the connections change from which the trace lacks requests."""
        for event in events:
            if event.connection_id in connections and isinstance(event.entry, Request):
                self.add(event.entry.frame)

    def may_affect(self, frame: bytes, *, is_about_permissions: bool) -> bool:
        """Return whether differences in the response to a request may come from a missing one."""
        if not self._resources and not self._has_acl_changes:
            return False
        try:
            header, message = read_request_frame(frame)
        except ProtocolError:
            return False
        if self._has_acl_changes and is_about_permissions:
            return True
        if header.api_key in _LISTS:
            return any(kind == _LISTS[ApiKey(header.api_key)] for kind, _ in self._resources)
        if header.api_key == ApiKey.METADATA and not message.topics:
            return any(kind == ResourceType.TOPIC for kind, _ in self._resources)
        needed = self._resources_of(header.api_key, header.api_version, message)
        return not self._resources.isdisjoint(needed)

    def note_topic_names(self, names: dict[bytes, str]) -> None:
        """Use these names of topic ids."""
        self._topic_names = names

    def _resources_of(self, api_key: int, version: int, message: object) -> Iterator[_Resource]:
        plan = access_plan(api_key, version, message, RELEASES[-1], self._topic_names)
        for need in (*plan.needs, *plan.possible_needs):
            for action, is_any_name in zip(need.actions, need.is_any_name, strict=True):
                if action.resource_type in _NAMED and not is_any_name:
                    yield action.resource_type, action.resource_name
