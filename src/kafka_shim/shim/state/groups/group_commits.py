"""Commits of offsets; a group is created by its first member or its first committed offset."""

from collections.abc import Callable, Collection, Sequence

import msgspec

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode
from kafka_shim.protocol.records.batches import NO_PRODUCER
from kafka_shim.shim.state.groups.group import CommitIdentity, Group
from kafka_shim.shim.state.groups.group_records import DEFAULT_RETENTION, FOLLOWS, ROOM, Retention
from kafka_shim.shim.state.groups.group_store import GroupStore
from kafka_shim.shim.state.groups.offsets import CommittedOffset

GROUP_ID_NOT_FOUND_SINCE = 9
"""The OffsetCommit version that can say that the group is unknown (KIP-848)."""


class Commit(msgspec.Struct, frozen=True, gc=False):
    """One partition's offset in a commit."""

    topic_id: bytes
    partition: int
    offset: CommittedOffset


class GroupCommits(GroupStore):
    """The groups of a cluster as far as their offsets are concerned."""

    def group_id_error(self, group_id: str) -> ErrorCode:
        """Return INVALID_GROUP_ID for an empty id, in releases that reject it."""
        wrong = not group_id and self.facts.empty_group_id_is_invalid_group_id
        return ErrorCode.INVALID_GROUP_ID if wrong else NO_ERROR

    def commit(
        self,
        group_id: str,
        identity: CommitIdentity,
        commits: Sequence[Commit],
        producer_id: int | None = None,
        append_error: Callable[[], ErrorCode] = lambda: NO_ERROR,
        retention_ms: Retention = DEFAULT_RETENTION,
    ) -> ErrorCode:
        """Store offsets; those with a producer id count after its transaction (`end_transaction`).

        An error applies to the whole commit, and nothing is stored. `append_error` is called last:
        it returns whether the coordinator's log accepts the offsets.
        """
        group = self.find(group_id)
        identity.is_transactional = producer_id is not None
        if identity.is_transactional and not self.facts.java_group_coordinator and group_id:
            group = self.classic_or_new(group_id)  # and then it judges
        partitions = [(commit.topic_id, commit.partition) for commit in commits]
        error = self._commit_error(group, identity, partitions)
        if producer_id is not None and not group_id:
            error = self.group_id_error(group_id)
        if error is not NO_ERROR:
            return error
        error = append_error() if commits else NO_ERROR
        if error is not NO_ERROR:
            if producer_id is not None and not self.facts.java_group_coordinator:
                self.offsets.drop(group_id, producer_id, partitions)
            return error
        if group is None and (commits or not self.facts.java_group_coordinator):
            self.classic_or_new(group_id)
        if producer_id is not None and (
            producer_id != NO_PRODUCER or self.facts.java_group_coordinator
        ):
            rows = ((commit.topic_id, commit.partition, commit.offset) for commit in commits)
            self.offsets.hold(group_id, producer_id, rows)
            return NO_ERROR
        self.store(group_id, commits, retention_ms)
        if commits and self.find(group_id) is None:
            self.classic_or_new(group_id)
        return NO_ERROR

    def store(
        self, group_id: str, commits: Sequence[Commit], retention_ms: Retention = DEFAULT_RETENTION
    ) -> None:
        """Store offsets that count at once."""
        records, mark = self.records, retention_ms
        for commit in commits:  # not at once, if it is a large request
            topic_id, partition = commit.topic_id, commit.partition
            offset = self.offsets.commit(group_id, topic_id, partition, commit.offset)
            records.new += (group_id, topic_id, partition, offset, mark)
            mark = FOLLOWS
            if len(records.new) > ROOM:  # which takes a moment, so not after all of them
                records.look_after()
                mark = retention_ms
        if len(records.new) > records.room:
            records.look_after()

    def _commit_error(
        self,
        group: Group | None,
        identity: CommitIdentity,
        partitions: Collection[tuple[bytes, int]],
    ) -> ErrorCode:
        if group is not None:
            return group.commit_error(identity, partitions)
        if identity.generation_id < 0:
            return NO_ERROR
        if self.facts.java_group_coordinator and identity.version >= GROUP_ID_NOT_FOUND_SINCE:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return ErrorCode.ILLEGAL_GENERATION

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """Commit or discard the pending offsets of a producer's transaction."""
        self.offsets.settle(producer_id, committed=committed)
