"""Stores of a cluster that are needed late or never: each is imported and created on first use,
since imports take most of the startup time.
"""

# ruff: noqa: PLC0415 - see above

import random
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from typing import TYPE_CHECKING, TypeVar

from kafka_shim.protocol.enums import IsolationLevel
from kafka_shim.protocol.features import Feature, features_of
from kafka_shim.protocol.releases.facts import Facts
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.config import Config
from kafka_shim.shim.state.authorization import Policy
from kafka_shim.shim.state.node import Node
from kafka_shim.shim.state.placement import spread
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.topics import Topic, Topics

if TYPE_CHECKING:
    from kafka_shim.shim.state.coordinators import Coordinators
    from kafka_shim.shim.state.fetch_sessions import FetchSessions
    from kafka_shim.shim.state.groups.group_log import GroupLog
    from kafka_shim.shim.state.groups.groups import Groups
    from kafka_shim.shim.state.lazy_partition import Partitions
    from kafka_shim.shim.state.logs.log import Log
    from kafka_shim.shim.state.quotas.quotas import Quotas
    from kafka_shim.shim.state.quotas.throttles import Throttles
    from kafka_shim.shim.state.share_partitions.share_partitions import SharePartitions
    from kafka_shim.shim.state.share_partitions.share_sessions import ShareSessions
    from kafka_shim.shim.state.share_partitions.share_state import ShareStates
    from kafka_shim.shim.state.telemetry import Telemetry
    from kafka_shim.shim.state.transactions.transactions import Transactions

Kept = TypeVar("Kept")


class PerNode(dict[int, Kept]):
    """One store per broker, created on first use."""

    def __init__(self, make: Callable[[], Kept]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, node_id: int) -> Kept:
        found = self[node_id] = self._make()
        return found


class LateStores:
    """The lazily created stores; the cluster itself has the attributes that they need."""

    config: Config
    policy: Policy
    facts: Facts
    clock: Clock
    random: random.Random
    configs: Configs
    topics: Topics
    partitions: "Partitions"
    nodes: dict[int, Node]
    release: str
    features: tuple[Feature, ...]
    throttles: "Throttles | None" = None
    """Set only while clients have quotas, since every request checks it."""
    group_clock: Clock | None = None
    """A separate clock for groups, set if their timers must be observed."""

    def forget_late_stores(self) -> None:
        """Stop and drop the stores; new ones are created on next use."""
        if "groups" in vars(self):
            self.groups.stop()
        if "transactions" in vars(self):
            self.transactions.stop()
        if "share_states" in vars(self):
            self.share_states.stop()
        if "share_partitions" in vars(self):
            self.share_partitions.stop()
        self.throttles = None
        for name, kept in vars(LateStores).items():
            if isinstance(kept, cached_property):
                vars(self).pop(name, None)

    def lowered_features(self) -> list[str]:
        """Return the features at level 0 whose initial level in the release is higher."""
        first = {feature.name: feature.level for feature in features_of(self.release)}
        return [
            feature.name for feature in self.features if feature.level == 0 < first[feature.name]
        ]

    def live_nodes(self) -> list[Node]:
        """Return the brokers that are not stopped."""
        return [node for node in self.nodes.values() if node.is_alive]

    def stopped_hosts(self) -> list[Node]:
        """Return the stopped brokers that new replicas may be placed on: in KRaft, all."""
        if not self.facts.topics.stopped_get_replicas:
            return []
        return [node for node in self.nodes.values() if not node.is_alive]

    @cached_property
    def coordinators(self) -> "Coordinators":
        from kafka_shim.shim.state.coordinators import Coordinators

        return Coordinators(self.topics, self.configs, self.random, self.live_nodes)

    @cached_property
    def groups(self) -> "Groups":
        from kafka_shim.shim.state.groups.group_records import GroupRecords
        from kafka_shim.shim.state.groups.groups import Groups
        from kafka_shim.shim.state.settings.group_settings import GroupSettings

        facts = self.facts.groups
        settings = GroupSettings(self.configs, facts, self.lowered_features)
        clock = self.group_clock or self.clock
        groups = Groups(settings, facts, self.topics, self.share_states, clock, self.random)
        groups.records = GroupRecords(self.coordinators, self.clock, self._make_group_log)
        self.partitions.about_to_look = groups.write_records
        return groups

    def _make_group_log(self) -> "GroupLog":
        from kafka_shim.shim.state.groups.group_log import GroupLog

        facts = self.facts
        return GroupLog(
            self.coordinators,
            self.topics,
            self.groups.settings,
            facts.groups,
            self.clock,
            stamps_horizon=facts.records.stamps_delete_horizon,
        )

    @cached_property
    def transactions(self) -> "Transactions":
        from kafka_shim.shim.state.transactions.transaction_log import TransactionLog
        from kafka_shim.shim.state.transactions.transaction_markers import write_markers
        from kafka_shim.shim.state.transactions.transactions import (
            Transactions,
            TransactionSettings,
        )

        setting = self.configs.broker_int
        of_cleanup = "transaction.{}.transaction.cleanup.interval.ms".format
        settings = TransactionSettings(
            timeout_ms_max=setting("transaction.max.timeout.ms"),
            expiration_ms=setting("transactional.id.expiration.ms"),
            overdue_interval_ms=setting(of_cleanup("abort.timed.out")),
            expiry_interval_ms=setting(of_cleanup("remove.expired")),
        )
        facts = self.facts.records
        log = TransactionLog(
            self.coordinators,
            self.clock,
            self._transaction_version,
            stamps_horizon=facts.stamps_delete_horizon,
        )
        return Transactions(self.clock, partial(write_markers, self), log, settings, facts)

    @cached_property
    def quotas(self) -> "Quotas":
        from kafka_shim.shim.state.quotas.quotas import Quotas

        return Quotas(self._quotas_changed)

    def _quotas_changed(self) -> None:
        from kafka_shim.shim.state.quotas.throttles import Throttles

        if not self.quotas.are_about_clients:
            self.throttles = None
        elif self.throttles is None:
            self.throttles = Throttles(self.quotas, self.configs, self.clock)

    @cached_property
    def share_states(self) -> "ShareStates":
        from kafka_shim.shim.state.share_partitions.share_log import ShareLog, share_log_settings
        from kafka_shim.shim.state.share_partitions.share_state import ShareStates

        facts = self.facts.groups
        settings = share_log_settings(self.configs)
        log = ShareLog(self.coordinators, self.clock, settings, facts)
        return ShareStates(self.topics, facts, log)

    @cached_property
    def share_partitions(self) -> "SharePartitions":
        """Return the share partitions of all brokers."""
        from kafka_shim.shim.state.authorization import brokers_may
        from kafka_shim.shim.state.share_partitions.dead_letters import DeadLetters
        from kafka_shim.shim.state.share_partitions.share_partitions import SharePartitions

        may = brokers_may(self.config, self.policy)
        return SharePartitions(
            self.share_states,
            self.groups.settings,
            self.clock,
            self._offset_since,
            DeadLetters(self.topics, self.configs, self.clock, self._make_topic, may),
        )

    @cached_property
    def share_sessions(self) -> "PerNode[ShareSessions]":
        return PerNode(self._new_share_sessions)

    @cached_property
    def fetch_sessions(self) -> "PerNode[FetchSessions]":
        return PerNode(self._new_fetch_sessions)

    @cached_property
    def telemetry(self) -> "PerNode[Telemetry]":
        return PerNode(self._new_telemetry)

    def _transaction_version(self) -> int:
        for feature in self.features:
            if feature.name == "transaction.version":
                return feature.level
        return 0

    def _make_topic(self, name: str, configs: Mapping[str, str]) -> Topic:
        """Create a topic with the broker's defaults on the live brokers."""
        alive = self.live_nodes()
        factor = min(self.configs.broker_int("default.replication.factor"), len(alive))
        assignments = spread(alive, self.configs.broker_int("num.partitions"), factor, self.random)
        return self.topics.create(name, assignments, configs)

    def _new_share_sessions(self) -> "ShareSessions":
        from kafka_shim.shim.state.share_partitions.share_sessions import ShareSessions

        slots = self.groups.settings.share_sessions_max
        return ShareSessions(self.topics, self.share_partitions, slots=slots)

    def _new_fetch_sessions(self) -> "FetchSessions":
        from kafka_shim.shim.state.fetch_sessions import FetchSessions

        slots = 0
        if "max.incremental.fetch.session.cache.slots" in self.configs.broker_definitions:
            slots = self.configs.broker_int("max.incremental.fetch.session.cache.slots")
        return FetchSessions(self.topics, self.clock, self.random, slots=slots)

    def _new_telemetry(self) -> "Telemetry":
        from kafka_shim.shim.state.telemetry import Telemetry

        return Telemetry(self.configs, self.facts.telemetry, self.clock, self.random)

    def _offset_since(self, log: "Log", timestamp: int) -> int:
        from kafka_shim.shim.state.logs.offset_lookup import find

        return find(log, timestamp, IsolationLevel.READ_UNCOMMITTED, self.facts.records).offset
