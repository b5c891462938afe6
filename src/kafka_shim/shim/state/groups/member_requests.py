"""The requests of members to their groups, by protocol."""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar, cast

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.errors import RequestRejected
from kafka_shim.shim.state.groups.classic.classic_members import (
    JoinRequest,
    JoinResponse,
    OnJoined,
    OnSynced,
    SyncRequest,
    SyncResponse,
)
from kafka_shim.shim.state.groups.group import Group, GroupType
from kafka_shim.shim.state.groups.groups import Groups
from kafka_shim.shim.state.share_partitions.share_state import ShareStates
from kafka_shim.shim.state.topics import Topics

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from kafka_shim.shim.state.groups.classic.classic_group import ClassicGroup
    from kafka_shim.shim.state.groups.consumer.classic_protocol_requests import (
        ClassicProtocolRequests,
    )
    from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
    from kafka_shim.shim.state.groups.consumer.consumer_member import (
        ConsumerHeartbeat,
        ConsumerMember,
    )
    from kafka_shim.shim.state.groups.group_target import HeartbeatResult
    from kafka_shim.shim.state.groups.share.share_group import ShareGroup, ShareHeartbeat
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup
    from kafka_shim.shim.state.groups.streams.streams_member import (
        StreamsHeartbeat,
        StreamsHeartbeatResult,
    )
    from kafka_shim.shim.state.groups.streams.topology_descriptions import TopologyDescriptions

Response = TypeVar("Response")

_CLASSIC = GroupType.CLASSIC  # module constant: enum attribute lookup is slow on CPython 3.11


class MemberRequests:
    """The requests of members to the groups of a cluster."""

    def __init__(
        self,
        groups: Groups,
        topics: Topics,
        share_states: ShareStates,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self.groups = groups
        self._settings = groups.settings
        self._facts = groups.facts
        self._topics = topics
        self._share_states = share_states
        self._clock = clock
        self._random = rng

    # the classic protocol

    def handle_join(
        self,
        group_id: str,
        joining: JoinRequest,
        response: OnJoined,
    ) -> None:
        """Handle JoinGroup; the response follows immediately with an error, or when the next
        generation begins.
        """
        error = self._join_error(group_id, joining)
        if error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL:  # and it says nothing else
            response(JoinResponse(error=error, member_id=""))
            return
        if error is not NO_ERROR:
            response(JoinResponse(error=error, member_id=joining.member_id))
            return
        group = self.groups.find_consumer_group(group_id)
        if group is not None and not group.is_empty:
            self._classic_requests_of(group).join(joining, self.new_member_id(), response)
        else:
            self._get_or_create_logged_group(group_id).join(joining, response)

    def _get_or_create_logged_group(self, group_id: str) -> "ClassicGroup":
        group = self.groups.find_classic_group(group_id)
        if group is None:
            group = self.groups.create_unstored_classic_group(group_id)
            self.groups.save_group(group)
            if self._facts.java_group_coordinator:
                self.groups.records.queue_new_classic_group_record(group_id)
        return group

    def _join_error(self, group_id: str, joining: JoinRequest) -> ErrorCode:
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID
        if joining.session_timeout_ms not in self._settings.allowed_session_timeouts_ms:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        group = self.groups.find_current(group_id)
        if joining.member_id and group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if group is not None and not self._accepts_classic_members(group):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return NO_ERROR

    def _accepts_classic_members(self, group: Group) -> bool:
        """Return whether a classic member may join: empty consumer and streams groups are replaced,
        and consumer groups may accept it.
        """
        if group.type is GroupType.STREAMS:
            return group.is_empty
        if group.type is GroupType.CONSUMER:
            return group.is_empty or self._settings.consumer_groups_accept_classic_members
        return _is_classic_group(group)

    def handle_sync(self, group_id: str, syncing: SyncRequest, response: OnSynced) -> None:
        """Handle SyncGroup; the response follows immediately with an error, or
        when the leader has assigned.
        """
        group = self._group_with_classic_members(group_id)
        if group is None:
            response(SyncResponse(error=self._unknown_group_error(group_id)))
            return
        group.sync(syncing, response)

    def handle_classic_heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        """Handle a classic member's heartbeat; return NONE if it is up to date."""
        group = self._group_with_classic_members(group_id)
        if group is None:
            return self._unknown_group_error(group_id)
        return group.heartbeat(member_id, instance_id, generation_id)

    def handle_leave(
        self, group_id: str, identities: Sequence[tuple[str, str | None]]
    ) -> list[ErrorCode]:
        """Handle LeaveGroup of members, each by its id, or only by its instance id (KIP-345)."""
        group = self._group_with_classic_members(group_id)
        if group is None:
            return [self._unknown_group_error(group_id)] * len(identities)
        errors = group.remove_leaving_members(identities)
        self.groups.log_classic_member_change(group_id)
        return errors

    def _group_with_classic_members(
        self, group_id: str
    ) -> "ClassicGroup | ClassicProtocolRequests | None":
        """Return the group; None also for a group without a name, which may have only offsets."""
        if self.groups.empty_group_id_error(group_id) is not NO_ERROR:
            return None
        group = self.groups.find_current(group_id)
        if group is None or group.type is _CLASSIC:
            return cast("ClassicGroup | None", group)
        if group.type is GroupType.CONSUMER:
            return self._classic_requests_of(cast("ConsumerGroup", group))
        return None

    def _classic_requests_of(self, group: "ConsumerGroup") -> "ClassicProtocolRequests":
        from kafka_shim.shim.state.groups.consumer.classic_protocol_requests import (  # noqa: PLC0415 - see above
            ClassicProtocolRequests,
        )

        return ClassicProtocolRequests(group, self._facts, self._topics)

    def _unknown_group_error(self, group_id: str) -> ErrorCode:
        error = self.groups.empty_group_id_error(group_id)
        return ErrorCode.UNKNOWN_MEMBER_ID if error is NO_ERROR else error

    # the consumer protocol

    def handle_consumer_heartbeat(
        self, group_id: str, heartbeat: "ConsumerHeartbeat"
    ) -> "HeartbeatResult":
        """Handle a heartbeat; raise RequestRejected with the error of the whole request."""
        group = self.groups.find_consumer_group(group_id)
        if group is not None:
            return group.handle_heartbeat(heartbeat)
        old = self.groups.find_classic_group(group_id)
        has_members = old is not None and not old.is_empty
        joins = heartbeat.member_epoch == 0
        if not (joins and has_members):
            self._require_replaceable_group(
                self.groups.find_current(group_id), group_id, joins=joins
            )
        made = self._create_consumer_group(group_id)
        if old is not None and has_members:
            return self._upgrade_classic_group(old, made, lambda: made.handle_heartbeat(heartbeat))
        response = made.handle_heartbeat(heartbeat)
        self.groups.save_group(made)
        return response

    def _create_consumer_group(self, group_id: str) -> "ConsumerGroup":
        from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup  # noqa: PLC0415 - see above

        group = ConsumerGroup(
            group_id,
            self._settings,
            self._facts,
            self._topics,
            self.groups.clock_of_group(group_id),
            self._downgrade_to_classic,
        )
        self.groups.start_member_log(group)
        return group

    def _upgrade_classic_group(
        self,
        classic_group: "ClassicGroup",
        consumer_group: "ConsumerGroup",
        add_member: Callable[[], Response],
    ) -> Response:
        """Upgrade a classic group for a member of the consumer protocol, if `add_member` accepts it
        (KIP-848).
        """
        from kafka_shim.shim.state.groups import migration  # noqa: PLC0415 - see above

        migration.require_upgradable_group(classic_group, self._settings)
        classic_group.rebalance.abort_pending_requests()
        try:
            migration.move_members_to_consumer_group(classic_group, consumer_group, self._topics)
            response = add_member()
        except RequestRejected:
            consumer_group.close()
            raise
        else:
            self.groups.save_group(consumer_group)
        finally:
            classic_group.rebalance.flush_responses()
        return response

    def _downgrade_to_classic(
        self, group: "ConsumerGroup", leaving: Collection["ConsumerMember"], rebalances: bool
    ) -> bool:
        """Downgrade a group without members of the consumer protocol to a classic one (KIP-848)."""
        from kafka_shim.shim.state.groups import migration  # noqa: PLC0415 - see above

        if not migration.becomes_classic_without_leaving_members(group, leaving, self._settings):
            return False
        for member in leaving:
            group.drop_member_in_epoch(member)
        made = self.groups.create_unstored_classic_group(group.group_id)
        migration.move_members_to_classic_group(group, made, self._topics)
        self.groups.save_group(made)
        made.rebalance.on_settled()
        if rebalances:
            made.rebalance.rebalance()
            made.rebalance.flush_responses()
        return True

    # the share protocol

    def handle_share_heartbeat(
        self, group_id: str, heartbeat: "ShareHeartbeat"
    ) -> "HeartbeatResult":
        """Handle a heartbeat like `handle_consumer_heartbeat`."""
        group = self._share_group_for_heartbeat(group_id, heartbeat)
        response = group.handle_heartbeat(heartbeat)
        self.groups.save_group(group)
        return response

    def _share_group_for_heartbeat(
        self, group_id: str, heartbeat: "ShareHeartbeat"
    ) -> "ShareGroup":
        joins = heartbeat.member_epoch == 0
        return self.groups.find_share_group(group_id) or self._create_share_group(
            group_id, may_be_new=joins
        )

    def require_empty_share_group(self, group_id: str) -> "ShareGroup":
        """Return a share group without members, or a new one, which is not stored yet. Raise
        RequestRejected if the group has members.
        """
        group = self.groups.find_share_group(group_id) or self._create_share_group(
            group_id, may_be_new=True
        )
        if not group.is_empty:
            raise RequestRejected(ErrorCode.NON_EMPTY_GROUP, f"group `{group_id}` has members")
        return group

    def _create_share_group(self, group_id: str, *, may_be_new: bool) -> "ShareGroup":
        if not may_be_new or self.groups.find_current(group_id) is not None:
            text = f"unknown share group `{group_id}`"
            raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, text)
        from kafka_shim.shim.state.groups.share.share_group import ShareGroup  # noqa: PLC0415 - see above

        return ShareGroup(
            group_id,
            self._settings,
            self._facts,
            self._topics,
            self._share_states,
            self.groups.clock_of_group(group_id),
        )

    # the streams protocol

    def handle_streams_heartbeat(
        self, group_id: str, heartbeat: "StreamsHeartbeat"
    ) -> "StreamsHeartbeatResult":
        """Handle a heartbeat like `handle_consumer_heartbeat`."""
        group = self._streams_group_for_heartbeat(group_id, heartbeat)
        response = group.handle_heartbeat(heartbeat)
        self.groups.save_group(group)
        may_be_asked = heartbeat.is_version_1 and heartbeat.member_epoch >= 0
        if (
            may_be_asked
            and not response.has_stale_topology
            and self.topology_descriptions.try_request_description(group)
        ):
            return msgspec.structs.replace(response, requests_description=True)
        return response

    def _streams_group_for_heartbeat(
        self, group_id: str, heartbeat: "StreamsHeartbeat"
    ) -> "StreamsGroup":
        group = self.groups.find_streams_group(group_id)
        if group is None:
            joins = heartbeat.member_epoch == 0
            self._require_replaceable_group(
                self.groups.find_current(group_id), group_id, joins=joins
            )
            group = self._create_streams_group(group_id)
        return group

    def _create_streams_group(self, group_id: str) -> "StreamsGroup":
        from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup  # noqa: PLC0415 - see above

        clock = self.groups.clock_of_group(group_id)
        return StreamsGroup(group_id, self._settings, self._facts, self._topics, clock)

    def restore_empty_group(self, group_id: str, group_type: GroupType) -> Group:
        """Restore an empty group of a type from a snapshot."""
        group: Group
        if group_type is GroupType.CONSUMER:
            group = self._create_consumer_group(group_id)
        elif group_type is GroupType.SHARE:
            group = self._create_share_group(group_id, may_be_new=True)
        elif group_type is GroupType.STREAMS:
            group = self._create_streams_group(group_id)
        else:
            group = self.groups.create_unstored_classic_group(group_id)
        self.groups.save_group(group)
        return group

    @cached_property
    def topology_descriptions(self) -> "TopologyDescriptions":
        """The known topologies of streams groups."""
        from kafka_shim.shim.state.groups.streams.topology_descriptions import TopologyDescriptions  # noqa: PLC0415 - see above

        return TopologyDescriptions(self._settings, self._clock, self._random)

    def new_member_id(self) -> str:
        """Return an id for a new member: a UUID in URL-safe base64, as Kafka prints it."""
        return urlsafe_b64encode(self._random.randbytes(16)).decode().rstrip("=")

    def _require_replaceable_group(
        self, group: Group | None, group_id: str, *, joins: bool
    ) -> None:
        """Check that a first member may replace an empty classic group,
        and take over its offsets.
        """
        if not joins or (group is not None and not (_is_classic_group(group) and group.is_empty)):
            text = f"unknown group `{group_id}` of this protocol"
            raise RequestRejected(ErrorCode.GROUP_ID_NOT_FOUND, text)


def _is_classic_group(group: Group) -> bool:
    return group.type is GroupType.CLASSIC
