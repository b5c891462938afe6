"""What members ask of groups, by the protocol that these follow, and commits of offsets.

A group comes to be with its first member or its first committed offset.
"""

from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from kafka_shim.protocol.error_codes import ErrorCode
from kafka_shim.protocol.records import NO_PRODUCER
from kafka_shim.shim.errors import Refused
from kafka_shim.shim.state.groups.classic_member import (
    JoinAnswer,
    Joined,
    Joining,
    SyncAnswer,
    Synced,
    Syncing,
)
from kafka_shim.shim.state.groups.group import CommitIdentity, Group, GroupType
from kafka_shim.shim.state.groups.group_store import GroupStore
from kafka_shim.shim.state.groups.offsets import CommittedOffset

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from kafka_shim.shim.state.groups.classic_group import ClassicGroup
    from kafka_shim.shim.state.groups.classic_participants import ClassicParticipants
    from kafka_shim.shim.state.groups.consumer_group import ConsumerGroup
    from kafka_shim.shim.state.groups.consumer_member import ConsumerHeartbeat, ConsumerMember
    from kafka_shim.shim.state.groups.heartbeat_answer import HeartbeatAnswer
    from kafka_shim.shim.state.groups.share_group import ShareGroup, ShareHeartbeat
    from kafka_shim.shim.state.groups.streams_member import StreamsAnswer, StreamsHeartbeat
    from kafka_shim.shim.state.groups.topology_descriptions import TopologyDescriptions

GROUP_ID_NOT_FOUND_SINCE = 9
"""The OffsetCommit version that can say that the group is unknown (KIP-848)."""


class Commit(msgspec.Struct, frozen=True):
    """One partition's offset in a commit."""

    topic_id: bytes
    partition: int
    offset: CommittedOffset


class Groups(GroupStore):
    """The groups of a cluster and what their members ask of them."""

    # the classic protocol

    def join(self, group_id: str, joining: Joining, answer: JoinAnswer) -> None:
        """JoinGroup: answered at once with an error, or when the next generation begins."""
        error = self._join_error(group_id, joining)
        if error is ErrorCode.INCONSISTENT_GROUP_PROTOCOL:  # and it says nothing else
            answer(Joined(error=error, member_id=""))
            return
        if error is not ErrorCode.NONE:
            answer(Joined(error=error, member_id=joining.member_id))
            return
        group = self.consumer(group_id)
        if group is not None and not group.is_empty:
            self._participants(group).join(joining, self.new_member_id(), answer)
        else:
            self.classic_or_new(group_id).join(joining, answer)

    def _join_error(self, group_id: str, joining: Joining) -> ErrorCode:
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID
        if joining.session_timeout_ms not in self.settings.session_timeouts_ms:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        group = self.find(group_id)
        if joining.member_id and group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if group is not None and not self._takes_classic(group):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return ErrorCode.NONE

    def _takes_classic(self, group: Group) -> bool:
        """Groups of consumers or streams give way to a classic member when they have no members;
        consumer groups may take it in before.
        """
        if group.type is GroupType.STREAMS:
            return group.is_empty
        if group.type is GroupType.CONSUMER:
            return group.is_empty or self.settings.takes_classic
        return _is_classic(group)

    def sync(self, group_id: str, syncing: Syncing, answer: SyncAnswer) -> None:
        """SyncGroup: answered at once with an error, or when the leader has assigned."""
        group = self._with_classic_members(group_id)
        if group is None:
            answer(Synced(error=self._no_member(group_id)))
            return
        group.sync(syncing, answer)

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        """Heartbeat of a classic member; NONE if it may go on."""
        group = self._with_classic_members(group_id)
        if group is None:
            return self._no_member(group_id)
        return group.heartbeat(member_id, instance_id, generation_id)

    def leave(self, group_id: str, identities: Sequence[tuple[str, str | None]]) -> list[ErrorCode]:
        """LeaveGroup of members, each by its id, or by its instance id alone (KIP-345)."""
        group = self._with_classic_members(group_id)
        if group is None:
            return [self._no_member(group_id)] * len(identities)
        return group.leave(identities)

    def _with_classic_members(self, group_id: str) -> "ClassicGroup | ClassicParticipants | None":
        """None too for a group without a name, which may have offsets but no members."""
        if self.group_id_error(group_id) is not ErrorCode.NONE:
            return None
        group = self.consumer(group_id)
        return self.classic(group_id) if group is None else self._participants(group)

    def _participants(self, group: "ConsumerGroup") -> "ClassicParticipants":
        from kafka_shim.shim.state.groups.classic_participants import ClassicParticipants  # noqa: PLC0415 - see above

        return ClassicParticipants(group, self.facts, self._topics)

    def group_id_error(self, group_id: str) -> ErrorCode:
        """INVALID_GROUP_ID for an empty id, where the release says so."""
        wrong = not group_id and self.facts.checks_group_ids
        return ErrorCode.INVALID_GROUP_ID if wrong else ErrorCode.NONE

    def _no_member(self, group_id: str) -> ErrorCode:
        error = self.group_id_error(group_id)
        return ErrorCode.UNKNOWN_MEMBER_ID if error is ErrorCode.NONE else error

    # the consumer protocol

    def consumer_heartbeat(
        self, group_id: str, heartbeat: "ConsumerHeartbeat"
    ) -> "HeartbeatAnswer":
        """Raises Refused with the error of the whole request."""
        group = self.consumer(group_id)
        if group is not None:
            return group.heartbeat(heartbeat)
        old = self.classic(group_id)
        has_members = old is not None and not old.is_empty
        joins = heartbeat.member_epoch == 0
        if not (joins and has_members):
            self._check_replaceable(self.find(group_id), group_id, joins=joins)
        from kafka_shim.shim.state.groups.consumer_group import ConsumerGroup  # noqa: PLC0415 - see above

        made = ConsumerGroup(
            group_id,
            self.settings,
            self.facts,
            self._topics,
            self._clock,
            self._turn_classic,
        )
        if old is None or not has_members:
            answer = made.heartbeat(heartbeat)
            self.keep(made)
            return answer
        return self._upgrade(old, made, heartbeat)

    def _upgrade(
        self, old: "ClassicGroup", made: "ConsumerGroup", heartbeat: "ConsumerHeartbeat"
    ) -> "HeartbeatAnswer":
        """A member of the consumer protocol comes to classic ones (KIP-848)."""
        from kafka_shim.shim.state.groups import migration  # noqa: PLC0415 - see above

        migration.check_upgrade(old, self.settings)
        old.cycle.break_off()
        try:
            migration.upgrade(old, made, self._topics)
            answer = made.heartbeat(heartbeat)
        except Refused:
            made.close()
            raise
        else:
            self.keep(made)
        finally:
            old.cycle.speak()
        return answer

    def _turn_classic(self, group: "ConsumerGroup", leaving: Collection["ConsumerMember"]) -> bool:
        """Without members of the consumer protocol the group is a classic one (KIP-848).

        If members leave, those that stay have to rebalance.
        """
        from kafka_shim.shim.state.groups import migration  # noqa: PLC0415 - see above

        if not migration.may_downgrade(group, leaving, self.settings):
            return False
        for member in leaving:
            group.drop(member)
        made = self._new_classic(group.group_id)
        migration.downgrade(group, made, self._topics)
        self.keep(made)
        if leaving:
            made.cycle.begin()
            made.cycle.speak()
        return True

    # the share protocol

    def share_heartbeat(self, group_id: str, heartbeat: "ShareHeartbeat") -> "HeartbeatAnswer":
        """Raises Refused with the error of the whole request."""
        joins = heartbeat.member_epoch == 0
        group = self.share(group_id) or self._new_share_group(group_id, may_be_new=joins)
        answer = group.heartbeat(heartbeat)
        self.keep(group)
        return answer

    def share_to_alter(self, group_id: str) -> "ShareGroup":
        """A share group without members, new if there is none; it is kept by `keep`."""
        group = self.share(group_id) or self._new_share_group(group_id, may_be_new=True)
        if not group.is_empty:
            raise Refused(ErrorCode.NON_EMPTY_GROUP, f"group `{group_id}` has members")
        return group

    def _new_share_group(self, group_id: str, *, may_be_new: bool) -> "ShareGroup":
        if not may_be_new or self.find(group_id) is not None:
            text = f"there is no share group `{group_id}`"
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)
        from kafka_shim.shim.state.groups.share_group import ShareGroup  # noqa: PLC0415 - see above

        return ShareGroup(
            group_id, self.settings, self.facts, self._topics, self._states, self._clock
        )

    # the streams protocol

    def streams_heartbeat(self, group_id: str, heartbeat: "StreamsHeartbeat") -> "StreamsAnswer":
        """Raises Refused with the error of the whole request."""
        group = self.streams(group_id)
        if group is None:
            joins = heartbeat.member_epoch == 0
            self._check_replaceable(self.find(group_id), group_id, joins=joins)
            from kafka_shim.shim.state.groups.streams_group import StreamsGroup  # noqa: PLC0415 - see above

            group = StreamsGroup(group_id, self.settings, self.facts, self._topics, self._clock)
        answer = group.heartbeat(heartbeat)
        self.keep(group)
        may_be_asked = heartbeat.is_version_1 and heartbeat.member_epoch >= 0
        if may_be_asked and not answer.is_stale and self.descriptions.asks(group):
            return msgspec.structs.replace(answer, asks_description=True)
        return answer

    @cached_property
    def descriptions(self) -> "TopologyDescriptions":
        """What is known of the topologies of streams groups."""
        from kafka_shim.shim.state.groups.topology_descriptions import TopologyDescriptions  # noqa: PLC0415 - see above

        return TopologyDescriptions(self.settings, self._clock, self._random)

    def new_member_id(self) -> str:
        """An id for a member that came without: a UUID in URL-safe base64, as Kafka prints it."""
        return urlsafe_b64encode(self._random.randbytes(16)).decode().rstrip("=")

    def _check_replaceable(self, group: Group | None, group_id: str, *, joins: bool) -> None:
        """A first member may take over the id of an empty classic group, offsets and all."""
        if not joins or (group is not None and not (_is_classic(group) and group.is_empty)):
            text = f"there is no group `{group_id}` of this protocol"
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)

    # offsets

    def commit(
        self,
        group_id: str,
        identity: CommitIdentity,
        commits: Collection[Commit],
        producer_id: int | None = None,
        append_error: Callable[[], ErrorCode] = lambda: ErrorCode.NONE,
    ) -> ErrorCode:
        """Store offsets, those with a producer id until its transaction ends (`end_transaction`).

        An error is of the whole commit, and nothing is stored then. `append_error` is asked last:
        whether the log of the coordinator takes what there is to store.
        """
        group = self.find(group_id)
        identity.is_transactional = producer_id is not None
        if identity.is_transactional and not self.facts.new_coordinator and group_id:
            group = self.classic_or_new(group_id)  # and then it judges
        partitions = [(commit.topic_id, commit.partition) for commit in commits]
        error = self._commit_error(group, identity, partitions)
        if producer_id is not None and not group_id:
            error = self.group_id_error(group_id)
        if error is not ErrorCode.NONE:
            return error
        error = append_error() if commits else ErrorCode.NONE
        if error is not ErrorCode.NONE:
            if producer_id is not None and not self.facts.new_coordinator:
                self.offsets.drop(group_id, producer_id, partitions)
            return error
        if group is None and (commits or not self.facts.new_coordinator):
            self.classic_or_new(group_id)
        if producer_id is not None and (producer_id != NO_PRODUCER or self.facts.new_coordinator):
            rows = ((commit.topic_id, commit.partition, commit.offset) for commit in commits)
            self.offsets.hold(group_id, producer_id, rows)
            return ErrorCode.NONE
        for commit in commits:  # not at once, if it is a large request
            self.offsets.commit(group_id, commit.topic_id, commit.partition, commit.offset)
        if commits and self.find(group_id) is None:
            self.classic_or_new(group_id)
        return ErrorCode.NONE

    def _commit_error(
        self,
        group: Group | None,
        identity: CommitIdentity,
        partitions: Collection[tuple[bytes, int]],
    ) -> ErrorCode:
        if group is not None:
            return group.commit_error(identity, partitions)
        if identity.generation_id < 0:
            return ErrorCode.NONE
        if self.facts.new_coordinator and identity.version >= GROUP_ID_NOT_FOUND_SINCE:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """The offsets that a producer's transaction held back count now, or never."""
        self.offsets.settle(producer_id, committed=committed)

    def delete_offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self.offsets.forget(group_id, topic_id, partition)


def _is_classic(group: Group) -> bool:
    return group.type is GroupType.CLASSIC
