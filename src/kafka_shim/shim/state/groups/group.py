"""The interface common to groups of all protocols."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection
from enum import Enum

from kafka_shim.protocol.error_codes import NO_ERROR, ErrorCode


class GroupType(Enum):
    """Group protocols; the values are the names shown by ListGroups."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Group(ABC):
    """A group, as the APIs for all group types use it."""

    type: GroupType
    expires: bool = True
    """Whether the group is deleted when it is empty and has no offsets."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id
        self.on_changed: Callable[[str | None], None] = lambda _: None
        """Called after a change of members with the only one that changed, or None."""

    @property
    @abstractmethod
    def state_name(self) -> str:
        """The name of the state in responses."""

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """The members' protocol type, e.g. `consumer` or `connect`;
        empty if there never was one.
        """

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Return whether it has no members and may therefore be deleted."""

    @property
    @abstractmethod
    def member_count(self) -> int:
        """Return the number of its members."""

    def remove_overdue_members(self) -> None:  # noqa: B027 - most group types need not do anything
        """Remove members whose session has timed out, even if their timers have not run yet."""

    @abstractmethod
    def commit_error(
        self, commit: "CommitIdentity", partitions: Collection[tuple[bytes, int]]
    ) -> ErrorCode:
        """Return the error for a commit to these partitions, by topic id and index."""

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:  # noqa: ARG002 - used by groups with member epochs
        """Return the error for an OffsetFetch with this member id and epoch."""
        return NO_ERROR

    @abstractmethod
    def offset_delete_error(self) -> ErrorCode:
        """Return the error for an OffsetDelete on the group as a whole."""

    @abstractmethod
    def subscribes_to(self, topic_name: str) -> bool:
        """Return whether a member subscribes to the topic, as far as the group can determine it."""

    def offset_unused_since_ms(self, topic_name: str, committed_ms: int) -> int | None:
        """Return since when a topic's offset is unused, in ms; None if it is in use."""
        return None if self.subscribes_to(topic_name) else committed_ms

    @abstractmethod
    def close(self) -> None:
        """Stop the timers of a deleted group, and drop what it owns elsewhere (share states)."""


class CommitIdentity:
    """The member identity in a request that commits offsets.

    `generation_id` is the member epoch in groups of the newer protocols; -1 without a member.
    """

    __slots__ = ("generation_id", "instance_id", "is_transactional", "member_id", "version")

    def __init__(
        self, member_id: str, instance_id: str | None, generation_id: int, version: int
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.generation_id = generation_id
        self.version = version
        self.is_transactional = False  # set by the code that commits
