"""Group settings: the broker's, and those of single groups."""

from collections.abc import Callable, Iterable

from kafka_shim.protocol.releases.facts import REBALANCE_PROTOCOLS
from kafka_shim.protocol.releases.groups import GroupFacts
from kafka_shim.shim.state.settings.configs import Configs

_NO_LIMIT = 2**31 - 1
_PROTOCOLS_BY_FEATURE = {
    "group.version": "consumer",
    "share.version": "share",
    "streams.version": "streams",
}


class GroupSettings:
    """Settings by meaning, read when needed; times in milliseconds.

    A setting that the release does not have gets Kafka's first default for it. `lowered` returns
    the features that UpdateFeatures has set to level 0.
    """

    def __init__(
        self, configs: Configs, facts: GroupFacts, lowered: Callable[[], Iterable[str]] = tuple
    ) -> None:
        self._configs = configs
        self._facts = facts
        self._lowered = lowered

    def _broker_number(self, name: str, default: int) -> int:
        value = self._configs.effective_broker_value(name)
        return default if value is None else int(value)

    def _effective_number(self, group_id: str, name: str, default: int) -> int:
        """Return the group's own value (KIP-848), else the broker's, whose name begins with
        `group.`.
        """
        own = self._configs.groups.get(group_id, {}).get(name)
        return self._broker_number(f"group.{name}", default) if own is None else int(own)

    def _group_text(self, group_id: str, name: str) -> str:
        """Return the group's own value; empty if it is not set."""
        return self._configs.groups.get(group_id, {}).get(name, "")

    @property
    def enabled_protocols(self) -> frozenset[str]:
        """The enabled protocols: `group.coordinator.rebalance.protocols`, if set, else the
        release's; without those whose feature is at level 0.
        """
        text = self._configs.overridden_broker_value(REBALANCE_PROTOCOLS)
        found = self._facts.protocols
        if text is not None:
            found = tuple(name.strip().lower() for name in text.split(","))
        return frozenset(found) - {_PROTOCOLS_BY_FEATURE.get(name) for name in self._lowered()}

    @property
    def offset_metadata_bytes_max(self) -> int:
        return self._broker_number("offset.metadata.max.bytes", 4096)

    @property
    def offsets_check_interval_ms(self) -> int:
        return self._broker_number("offsets.retention.check.interval.ms", 600_000)

    @property
    def offsets_retention_ms(self) -> int:
        return self._broker_number("offsets.retention.minutes", 10_080) * 60_000

    # classic groups

    @property
    def allowed_session_timeouts_ms(self) -> range:
        """The session timeouts that members may request."""
        longest_ms = self._broker_number(
            "group.max.session.timeout.ms", self._facts.session_timeout_ms_max
        )
        return range(self._broker_number("group.min.session.timeout.ms", 6000), longest_ms + 1)

    @property
    def initial_rebalance_delay_ms(self) -> int:
        return self._broker_number("group.initial.rebalance.delay.ms", 0)

    @property
    def classic_size_max(self) -> int:
        return self._broker_number("group.max.size", _NO_LIMIT)

    # consumer groups

    @property
    def consumer_groups_accept_classic_members(self) -> bool:
        """Return whether classic members may join a consumer group that has members."""
        is_disabled = not (self.upgrades_classic_groups or self.downgrades_consumer_groups)
        return not (is_disabled and self._facts.disabled_migration_rejects_classic_members)

    @property
    def upgrades_classic_groups(self) -> bool:
        """Return whether classic groups may become consumer groups while they have members."""
        return self._migration_policy in ("bidirectional", "upgrade")

    @property
    def downgrades_consumer_groups(self) -> bool:
        """Return whether consumer groups may become classic groups while they have members."""
        return self._migration_policy in ("bidirectional", "downgrade")

    @property
    def _migration_policy(self) -> str:
        return (
            self._configs.effective_broker_value("group.consumer.migration.policy") or ""
        ).lower()

    @property
    def consumer_assignor_names(self) -> tuple[str, ...]:
        """The names of the assignors in configured order; Java class names are converted."""
        text = self._configs.overridden_broker_value("group.consumer.assignors") or "uniform,range"
        return tuple(_assignor_name(name) for name in text.split(",") if name.strip())

    @property
    def consumer_size_max(self) -> int:
        return self._broker_number("group.consumer.max.size", _NO_LIMIT)

    @property
    def regex_refresh_interval_ms(self) -> int:
        """Interval after which regular expressions are resolved again (since 4.1)."""
        return self._broker_number("group.consumer.regex.refresh.interval.ms", _NO_LIMIT)

    def consumer_session_timeout_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "consumer.session.timeout.ms", 45_000)

    def consumer_heartbeat_interval_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "consumer.heartbeat.interval.ms", 5000)

    def consumer_assignment_interval_ms(self, group_id: str) -> int:
        default = self._facts.target_assignment_interval_ms
        return self._effective_number(group_id, "consumer.assignment.interval.ms", default)

    # share groups

    @property
    def share_size_max(self) -> int:
        return self._broker_number("group.share.max.size", 200)

    def share_session_timeout_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "share.session.timeout.ms", 45_000)

    def share_heartbeat_interval_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "share.heartbeat.interval.ms", 5000)

    def share_assignment_interval_ms(self, group_id: str) -> int:
        default = self._facts.target_assignment_interval_ms
        return self._effective_number(group_id, "share.assignment.interval.ms", default)

    def share_record_lock_duration_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "share.record.lock.duration.ms", 30_000)

    def share_delivery_count_limit(self, group_id: str) -> int:
        return self._effective_number(group_id, "share.delivery.count.limit", 5)

    def share_partition_max_record_locks(self, group_id: str) -> int:
        return self._effective_number(group_id, "share.partition.max.record.locks", 200)

    @property
    def share_sessions_max(self) -> int:
        return self._broker_number("group.share.max.share.sessions", 2000)

    def share_reads_committed(self, group_id: str) -> bool:
        return self._group_text(group_id, "share.isolation.level") == "read_committed"

    def share_allows_lock_renewal(self, group_id: str) -> bool:
        """Return whether members may renew locks."""
        return self._group_text(group_id, "share.renew.acknowledge.enable") != "false"

    def share_auto_offset_reset(self, group_id: str) -> str:
        """Return `earliest`, `latest`, or `by_duration:` with an ISO 8601 duration."""
        return self._group_text(group_id, "share.auto.offset.reset") or "latest"

    # streams groups

    @property
    def streams_size_max(self) -> int:
        return self._broker_number("group.streams.max.size", _NO_LIMIT)

    def streams_session_timeout_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "streams.session.timeout.ms", 45_000)

    def streams_heartbeat_interval_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "streams.heartbeat.interval.ms", 5000)

    def streams_assignment_interval_ms(self, group_id: str) -> int:
        default = self._facts.target_assignment_interval_ms
        return self._effective_number(group_id, "streams.assignment.interval.ms", default)

    def streams_task_offset_interval_ms(self, group_id: str) -> int:
        default = self._facts.streams_task_offset_interval_ms
        return self._effective_number(group_id, "streams.task.offset.interval.ms", default)

    def streams_acceptable_recovery_lag(self, group_id: str) -> int:
        default = self._facts.streams_acceptable_recovery_lag
        return self._effective_number(group_id, "streams.acceptable.recovery.lag", default)

    def streams_rack_tags(self, group_id: str) -> tuple[str, ...]:
        """Return the client tags by which standby tasks are distributed."""
        name = "streams.rack.aware.assignment.tags"
        own = self._configs.groups.get(group_id, {}).get(name)
        text = self._configs.effective_broker_value(f"group.{name}") if own is None else own
        return tuple(tag.strip() for tag in (text or "").split(",") if tag.strip())

    def streams_standby_replicas(self, group_id: str) -> int:
        """Return the number of standby tasks for each task with state."""
        return self._effective_number(group_id, "streams.num.standby.replicas", 0)

    def streams_assignor_settings(self, group_id: str) -> tuple[object, ...]:
        """Return the assignor's settings, whose change begins a new epoch."""
        return self.streams_standby_replicas(group_id), self.streams_rack_tags(group_id)

    def streams_assignor(self, group_id: str) -> str:
        """Return the group's assignor, else `sticky`, the only one."""
        return self._group_text(group_id, "streams.assignor.name") or "sticky"

    @property
    def stores_topology_descriptions(self) -> bool:
        """Return whether a plug-in stores topology descriptions.

        DEVIATION: any class name stands for Kafka's in-memory plug-in.
        """
        return bool(
            self._configs.effective_broker_value("group.streams.topology.description.plugin.class")
        )

    def streams_initial_delay_ms(self, group_id: str) -> int:
        return self._effective_number(group_id, "streams.initial.rebalance.delay.ms", 3000)


def _assignor_name(name: str) -> str:
    return name.strip().rpartition(".")[2].removesuffix("Assignor").lower()
