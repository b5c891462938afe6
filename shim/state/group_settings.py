"""What the broker's settings say about groups."""

from collections.abc import Mapping

import msgspec

from protocol.group_releases import GroupBehaviour

_NO_LIMIT = 2**31 - 1


class GroupSettings(msgspec.Struct, frozen=True):
    """Broker settings about groups, by Kafka's names with `_` for `.`; times in milliseconds."""

    protocols: frozenset[str]  # group.coordinator.rebalance.protocols, and share
    offset_metadata_max_bytes: int
    group_min_session_timeout_ms: int
    group_max_session_timeout_ms: int
    group_initial_rebalance_delay_ms: int
    group_max_size: int
    group_consumer_session_timeout_ms: int
    group_consumer_heartbeat_interval_ms: int
    group_consumer_max_size: int
    group_consumer_assignors: tuple[str, ...]
    group_consumer_migration_policy: str
    group_consumer_assignment_interval_ms: int
    group_share_session_timeout_ms: int
    group_share_heartbeat_interval_ms: int
    group_share_max_size: int
    group_share_assignment_interval_ms: int
    group_streams_session_timeout_ms: int
    group_streams_heartbeat_interval_ms: int
    group_streams_max_size: int
    group_streams_num_standby_replicas: int


def group_settings(properties: Mapping[str, str], behaviour: GroupBehaviour) -> GroupSettings:
    """Kafka's defaults where nothing is set; a value that is no number is a ValueError.

    DEVIATION: the first rebalance of a group is not delayed unless that is asked for. Kafka's own
    default is 3 s, but the server.properties it is delivered with sets 0, and so do its images.
    """

    def number(name: str, default: int) -> int:
        return int(properties.get(name, default))

    names = properties.get("group.consumer.assignors", "uniform,range").split(",")
    protocols = properties.get("group.coordinator.rebalance.protocols")
    return GroupSettings(
        frozenset(protocols.lower().split(",") if protocols else behaviour.protocols),
        number("offset.metadata.max.bytes", 4096),
        number("group.min.session.timeout.ms", 6000),
        number("group.max.session.timeout.ms", behaviour.session_timeout_ms_max),
        number("group.initial.rebalance.delay.ms", 0),
        number("group.max.size", _NO_LIMIT),
        number("group.consumer.session.timeout.ms", 45_000),
        number("group.consumer.heartbeat.interval.ms", 5000),
        number("group.consumer.max.size", _NO_LIMIT),
        tuple(_assignor(name) for name in names if name.strip()),
        properties.get("group.consumer.migration.policy", "bidirectional").lower(),
        number("group.consumer.assignment.interval.ms", behaviour.assignment_interval_ms),
        number("group.share.session.timeout.ms", 45_000),
        number("group.share.heartbeat.interval.ms", 5000),
        number("group.share.max.size", 200),
        number("group.share.assignment.interval.ms", behaviour.assignment_interval_ms),
        number("group.streams.session.timeout.ms", 45_000),
        number("group.streams.heartbeat.interval.ms", 5000),
        number("group.streams.max.size", _NO_LIMIT),
        number("group.streams.num.standby.replicas", 0),
    )


def _assignor(name: str) -> str:
    """`range` and `uniform`, also by their Java class names."""
    return name.strip().rpartition(".")[2].removesuffix("Assignor").lower()
