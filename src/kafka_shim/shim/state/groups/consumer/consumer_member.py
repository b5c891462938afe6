"""A member of a consumer group (KIP-848) and its heartbeats."""

from collections.abc import Callable
from typing import Self

import msgspec

from kafka_shim.shim.state.groups.assignors import Assignment
from kafka_shim.shim.state.groups.classic.classic_members import Protocols
from kafka_shim.shim.state.groups.reconciliation import ReconcilingMember
from kafka_shim.shim.state.groups.topic_subscriptions import interned_name_set

Subscription = tuple[frozenset[str], str | None]
"""Topic names and a regular expression."""


class ConsumerHeartbeat(msgspec.Struct, frozen=True, kw_only=True):
    """A ConsumerGroupHeartbeat request; fields that are None are unchanged.

    `visible_topic_names` filters topic names by the caller's DESCRIBE permission.
    """

    member_id: str
    member_epoch: int
    instance_id: str | None
    rack_id: str | None
    rebalance_timeout_ms: int  # -1: not changed
    topic_names: list[str] | None
    topic_regex: str | None
    server_assignor: str | None
    owned: Assignment | None
    client_id: str
    client_host: str
    visible_topic_names: Callable[[list[str]], list[str]]

    @property
    def sets_all_fields(self) -> bool:
        """Return whether all fields are set, so that the response contains the whole assignment."""
        subscribes = self.topic_names is not None or self.topic_regex is not None
        tells = self.rebalance_timeout_ms != -1 and subscribes and self.owned is not None
        return self.member_epoch == 0 or tells


class ClassicJoinFields(msgspec.Struct, frozen=True):
    """Session timeout and protocols from a classic member's JoinGroup."""

    session_timeout_ms: int
    protocols: Protocols


class ConsumerMember(ReconcilingMember):
    """One member: its subscription, assignor and client."""

    rack_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    topic_names: frozenset[str] = frozenset()
    topic_regex: str | None = None
    server_assignor: str | None = None
    classic_join: ClassicJoinFields | None = None  # set for members of the classic protocol

    @property
    def uses_classic_protocol(self) -> bool:
        return self.classic_join is not None

    @property
    def requested_session_timeout_ms(self) -> int | None:
        return None if self.classic_join is None else self.classic_join.session_timeout_ms

    @property
    def subscription(self) -> Subscription:
        return self.topic_names, self.topic_regex

    def update_from_heartbeat(self, heartbeat: ConsumerHeartbeat) -> None:
        """Set the fields that the request contains."""
        self.classic_join = None
        self.client_id = heartbeat.client_id
        self.client_host = heartbeat.client_host
        if heartbeat.rack_id is not None:
            self.rack_id = heartbeat.rack_id
        if heartbeat.rebalance_timeout_ms >= 0:
            self.rebalance_timeout_ms = heartbeat.rebalance_timeout_ms
        if heartbeat.server_assignor is not None:
            self.server_assignor = heartbeat.server_assignor
        if heartbeat.topic_names is not None:
            self.topic_names = interned_name_set(heartbeat.topic_names)
        if heartbeat.topic_regex is not None:
            self.topic_regex = heartbeat.topic_regex or None

    def copy_from_replaced_member(self, replaced_member: Self) -> None:
        super().copy_from_replaced_member(replaced_member)
        self.rack_id = replaced_member.rack_id
        self.topic_names = replaced_member.topic_names
        self.topic_regex = replaced_member.topic_regex
        self.server_assignor = replaced_member.server_assignor
