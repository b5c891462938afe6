"""What all groups have in common, whatever their protocol."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from enum import Enum

from kafka_shim.protocol.error_codes import ErrorCode


class GroupType(Enum):
    """The protocols a group can follow, by the names that ListGroups shows."""

    CLASSIC = "classic"
    CONSUMER = "consumer"
    SHARE = "share"
    STREAMS = "streams"


class Group(ABC):
    """A group as every API sees it."""

    type: GroupType
    expires: bool = True
    """Whether it goes when it is empty and has no offsets."""

    def __init__(self, group_id: str) -> None:
        self.group_id = group_id

    @property
    @abstractmethod
    def state_name(self) -> str:
        """The state as the wire names it."""

    @property
    @abstractmethod
    def protocol_type(self) -> str:
        """What its members have in common: `consumer`, `connect`; empty if it never had any."""

    @property
    @abstractmethod
    def is_empty(self) -> bool:
        """Whether it has no members, so that it may be deleted."""

    def expire_overdue(self) -> None:  # noqa: B027 - most kinds of groups have nothing to do
        """End the sessions of members whose time is over, though their timers have not run yet."""

    @abstractmethod
    def commit_error(
        self, commit: "CommitIdentity", partitions: Collection[tuple[bytes, int]]
    ) -> ErrorCode:
        """Whether somebody may commit offsets of these partitions, by topic id and index."""

    def fetch_error(self, member_id: str | None, member_epoch: int) -> ErrorCode:  # noqa: ARG002 - a group that numbers its members' epochs looks at them
        """Whether somebody may fetch offsets."""
        return ErrorCode.NONE

    @abstractmethod
    def offset_delete_error(self) -> ErrorCode:
        """Whether offsets of the group may be deleted at all."""

    @abstractmethod
    def subscribes_to(self, topic_name: str) -> bool:
        """Whether a member reads the topic, as far as the group can tell."""

    def idle_since_ms(self, topic_name: str, committed_ms: int) -> int | None:
        """Since when nobody needs an offset of a topic; None if somebody does."""
        return None if self.subscribes_to(topic_name) else committed_ms

    @abstractmethod
    def close(self) -> None:
        """The group is deleted: stop its timers."""


class CommitIdentity:
    """Who commits offsets, and how: the request's side of a commit.

    `generation_id` is the member's epoch in groups of the newer protocols; -1 for nobody's.
    """

    __slots__ = ("generation_id", "instance_id", "is_transactional", "member_id", "version")

    def __init__(
        self, member_id: str, instance_id: str | None, generation_id: int, version: int
    ) -> None:
        self.member_id = member_id
        self.instance_id = instance_id
        self.generation_id = generation_id
        self.version = version
        self.is_transactional = False  # known where the commit is made
