"""All groups by id, and what happens to them and to their offsets.

Offsets outlive members but not the group; a group comes to be with its first member or its first
committed offset.
"""

import random
from base64 import urlsafe_b64encode
from collections.abc import Callable, Collection, Iterator
from typing import TYPE_CHECKING, cast

import msgspec

from protocol.error_codes import ErrorCode
from protocol.group_releases import GroupBehaviour
from shim.clock import Clock
from shim.errors import Refused
from shim.state.classic_member import JoinAnswer, Joined, Joining, SyncAnswer, Synced, Syncing
from shim.state.group import CommitIdentity, Group, GroupType
from shim.state.group_settings import GroupSettings
from shim.state.offsets import CommittedOffset, Offsets
from shim.state.share_state import ShareStates
from shim.state.topics import Topics

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from shim.state.classic_group import ClassicGroup
    from shim.state.consumer_group import ConsumerGroup
    from shim.state.consumer_member import ConsumerHeartbeat
    from shim.state.heartbeat_answer import HeartbeatAnswer
    from shim.state.share_group import ShareGroup, ShareHeartbeat
    from shim.state.streams_group import StreamsAnswer, StreamsGroup, StreamsHeartbeat

GROUP_ID_NOT_FOUND_SINCE = 9
"""The OffsetCommit version that can say that the group is unknown (KIP-848)."""


class Commit(msgspec.Struct, frozen=True):
    """One partition's offset in a commit."""

    topic_id: bytes
    partition: int
    offset: CommittedOffset


class Groups:
    """The groups of a cluster. Not finding one is an answer of its own in every API."""

    def __init__(
        self,
        settings: GroupSettings,
        behaviour: GroupBehaviour,
        topics: Topics,
        share_states: ShareStates,
        clock: Clock,
        rng: random.Random,
    ) -> None:
        self.settings = settings
        self.offsets = Offsets()
        self.zookeeper_offsets = Offsets()
        """Version 0 of OffsetCommit and OffsetFetch knew of these alone, as long as there was
        ZooKeeper; no group comes to be by them."""
        self.behaviour = behaviour
        self._topics = topics
        self._states = share_states
        self._clock = clock
        self._random = rng
        self._groups: dict[str, Group] = {}
        self._deletions = topics.deletions

    def __iter__(self) -> Iterator[Group]:
        self._notice_deleted_topics()
        return iter(list(self._groups.values()))

    def find(self, group_id: str) -> Group | None:
        self._notice_deleted_topics()
        return self._groups.get(group_id)

    def classic(self, group_id: str) -> "ClassicGroup | None":
        """The group, if there is one and it follows the classic protocol."""
        group = self.find(group_id)
        return cast("ClassicGroup", group) if group is not None and _is_classic(group) else None

    # the classic protocol

    def join(self, group_id: str, joining: Joining, answer: JoinAnswer) -> None:
        error = self._join_error(group_id, joining)
        if error is not ErrorCode.NONE:
            answer(Joined(error=error, member_id=joining.member_id))
            return
        self._classic_or_new(group_id).join(joining, answer)

    def _join_error(self, group_id: str, joining: Joining) -> ErrorCode:
        if not group_id:
            return ErrorCode.INVALID_GROUP_ID
        if joining.session_timeout_ms not in self.settings.session_timeouts_ms:
            return ErrorCode.INVALID_SESSION_TIMEOUT
        group = self.find(group_id)
        if joining.member_id and group is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if group is not None and not _is_classic(group) and not _gives_way(group):
            return ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        return ErrorCode.NONE

    def sync(self, group_id: str, syncing: Syncing, answer: SyncAnswer) -> None:
        group = self.classic(group_id)
        if group is None:
            answer(Synced(error=self._no_member(group_id)))
            return
        group.sync(syncing, answer)

    def heartbeat(
        self, group_id: str, member_id: str, instance_id: str | None, generation_id: int
    ) -> ErrorCode:
        group = self.classic(group_id)
        if group is None:
            return self._no_member(group_id)
        return group.heartbeat(member_id, instance_id, generation_id)

    def leave(self, group_id: str, member_id: str, instance_id: str | None) -> ErrorCode:
        group = self.classic(group_id)
        return self._no_member(group_id) if group is None else group.leave(member_id, instance_id)

    def group_id_error(self, group_id: str) -> ErrorCode:
        """INVALID_GROUP_ID for an empty id, where the release says so."""
        wrong = not group_id and self.behaviour.checks_group_ids
        return ErrorCode.INVALID_GROUP_ID if wrong else ErrorCode.NONE

    def _no_member(self, group_id: str) -> ErrorCode:
        error = self.group_id_error(group_id)
        return ErrorCode.UNKNOWN_MEMBER_ID if error is ErrorCode.NONE else error

    # the consumer protocol

    def consumer(self, group_id: str) -> "ConsumerGroup | None":
        """The group, if there is one and it follows the consumer protocol."""
        return cast("ConsumerGroup | None", self._of_type(group_id, GroupType.CONSUMER))

    def consumer_heartbeat(
        self, group_id: str, heartbeat: "ConsumerHeartbeat"
    ) -> "HeartbeatAnswer":
        """Raises Refused with the error of the whole request."""
        group = self.consumer(group_id)
        if group is not None:
            return group.heartbeat(heartbeat)
        joins = heartbeat.member_epoch == 0
        self._check_replaceable(self.find(group_id), group_id, joins=joins)
        from shim.state.consumer_group import ConsumerGroup  # noqa: PLC0415 - see above

        made = ConsumerGroup(group_id, self.settings, self.behaviour, self._topics, self._clock)
        answer = made.heartbeat(heartbeat)
        self._put(made)
        return answer

    # the share protocol

    def share(self, group_id: str) -> "ShareGroup | None":
        """The group, if there is one and it is a share group."""
        return cast("ShareGroup | None", self._of_type(group_id, GroupType.SHARE))

    def share_heartbeat(self, group_id: str, heartbeat: "ShareHeartbeat") -> "HeartbeatAnswer":
        """Raises Refused with the error of the whole request."""
        joins = heartbeat.member_epoch == 0
        group = self.share(group_id) or self._new_share_group(group_id, may_be_new=joins)
        answer = group.heartbeat(heartbeat)
        self._put(group)
        return answer

    def share_to_alter(self, group_id: str) -> "ShareGroup":
        """A share group without members, new if there is none; it is kept by `keep`."""
        group = self.share(group_id) or self._new_share_group(group_id, may_be_new=True)
        if not group.is_empty:
            raise Refused(ErrorCode.NON_EMPTY_GROUP, f"group `{group_id}` has members")
        return group

    def keep(self, group: "ShareGroup") -> None:
        """It has offsets now."""
        self._put(group)

    def _new_share_group(self, group_id: str, *, may_be_new: bool) -> "ShareGroup":
        if not may_be_new or self.find(group_id) is not None:
            text = f"there is no share group `{group_id}`"
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)
        from shim.state.share_group import ShareGroup  # noqa: PLC0415 - see above

        return ShareGroup(
            group_id, self.settings, self.behaviour, self._topics, self._states, self._clock
        )

    # the streams protocol

    def streams(self, group_id: str) -> "StreamsGroup | None":
        """The group, if there is one and it is a streams group."""
        return cast("StreamsGroup | None", self._of_type(group_id, GroupType.STREAMS))

    def streams_heartbeat(self, group_id: str, heartbeat: "StreamsHeartbeat") -> "StreamsAnswer":
        """Raises Refused with the error of the whole request."""
        group = self.streams(group_id)
        if group is None:
            joins = heartbeat.member_epoch == 0
            self._check_replaceable(self.find(group_id), group_id, joins=joins)
            from shim.state.streams_group import StreamsGroup  # noqa: PLC0415 - see above

            group = StreamsGroup(group_id, self.settings, self.behaviour, self._topics, self._clock)
        answer = group.heartbeat(heartbeat)
        self._put(group)
        return answer

    def _of_type(self, group_id: str, wanted: GroupType) -> Group | None:
        group = self.find(group_id)
        return group if group is not None and group.type is wanted else None

    def new_member_id(self) -> str:
        """An id for a member that came without: a UUID in URL-safe base64, as Kafka prints it."""
        return urlsafe_b64encode(self._random.randbytes(16)).decode().rstrip("=")

    def _check_replaceable(self, group: Group | None, group_id: str, *, joins: bool) -> None:
        """A first member may take over the id of an empty classic group, offsets and all."""
        if not joins or (group is not None and not (_is_classic(group) and group.is_empty)):
            text = f"there is no group `{group_id}` of this protocol"
            raise Refused(ErrorCode.GROUP_ID_NOT_FOUND, text)

    def _put(self, group: Group) -> None:
        replaced = self._groups.get(group.group_id)
        if replaced is not None and replaced is not group:
            replaced.close()
        self._groups[group.group_id] = group

    # offsets

    def commit(
        self,
        group_id: str,
        who: CommitIdentity,
        commits: Collection[Commit],
        producer_id: int | None = None,
        append_error: Callable[[], ErrorCode] = lambda: ErrorCode.NONE,
    ) -> ErrorCode:
        """Store offsets, those with a producer id until its transaction ends (`end_transaction`).

        An error is of the whole commit, and nothing is stored then. `append_error` is asked last:
        whether the log of the coordinator takes what there is to store.
        """
        group = self.find(group_id)
        who.is_transactional = producer_id is not None
        if who.is_transactional and not self.behaviour.new_coordinator and group_id:
            group = self._classic_or_new(group_id)  # and then it judges
        error = self._commit_error(group, who, [(one.topic_id, one.partition) for one in commits])
        if producer_id is not None and not group_id:
            error = self.group_id_error(group_id)
        if error is not ErrorCode.NONE:
            return error
        error = append_error() if commits else ErrorCode.NONE
        if error is not ErrorCode.NONE:
            if producer_id is not None and not self.behaviour.new_coordinator:
                for commit in commits:
                    self.offsets.drop(group_id, producer_id, commit.topic_id, commit.partition)
            return error
        if group is None and (commits or not self.behaviour.new_coordinator):
            self._classic_or_new(group_id)
        for commit in commits:
            if producer_id is None:
                self.offsets.commit(group_id, commit.topic_id, commit.partition, commit.offset)
            else:
                self.offsets.hold(
                    group_id, producer_id, commit.topic_id, commit.partition, commit.offset
                )
        return ErrorCode.NONE

    def _commit_error(
        self,
        group: Group | None,
        who: CommitIdentity,
        partitions: Collection[tuple[bytes, int]],
    ) -> ErrorCode:
        if group is not None:
            return group.commit_error(who, partitions)
        if who.generation_id < 0:
            return ErrorCode.NONE
        if self.behaviour.new_coordinator and who.version >= GROUP_ID_NOT_FOUND_SINCE:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """The offsets that a producer's transaction held back count now, or never."""
        self.offsets.settle(producer_id, committed=committed)

    def metadata_fits(self, metadata: str | None) -> bool:
        return len((metadata or "").encode()) <= self.settings.offset_metadata_bytes_max

    def delete_offset(self, group_id: str, topic_id: bytes, partition: int) -> None:
        self.offsets.forget(group_id, topic_id, partition)

    # an end

    def delete(self, group_id: str) -> ErrorCode:
        """Delete a group with its offsets; it must have no members (KIP-229)."""
        group = self.find(group_id)
        if not group_id and not self.behaviour.deletes_empty_group_id:
            return ErrorCode.INVALID_GROUP_ID
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        group.expire_overdue()
        if not group.is_empty:
            return ErrorCode.NON_EMPTY_GROUP
        self._remove(group)
        return ErrorCode.NONE

    def remove_if_idle(self, group: Group) -> None:
        """Offsets were deleted: an empty group without any is gone, except to newer releases."""
        keeps = self.behaviour.new_coordinator
        if not keeps and group.is_empty and not self.offsets.has_offsets(group.group_id):
            self._remove(group)

    def _remove(self, group: Group) -> None:
        group.close()
        del self._groups[group.group_id]
        self.offsets.forget_group(group.group_id)

    def _classic_or_new(self, group_id: str) -> "ClassicGroup":
        group = self.classic(group_id)
        if group is None:
            from shim.state.classic_group import ClassicGroup  # noqa: PLC0415 - see above

            group = ClassicGroup(group_id, self.settings, self.behaviour, self._clock, self._random)
            self._put(group)
        return group

    def _notice_deleted_topics(self) -> None:
        """Offsets of deleted topics go, and in older releases empty groups that have no others."""
        if self._deletions == self._topics.deletions:
            return
        self._deletions = self._topics.deletions
        gone = [one for one in self.offsets.topic_ids() if self._topics.by_id(one) is None]
        for topic_id in gone:
            self.offsets.forget_topic(topic_id)
        for group in list(self._groups.values()):
            self.remove_if_idle(group)


def _is_classic(group: Group) -> bool:
    return group.type is GroupType.CLASSIC


def _gives_way(group: Group) -> bool:
    """A consumer group without members is no obstacle to a classic one of its name."""
    return group.type is GroupType.CONSUMER and group.is_empty
