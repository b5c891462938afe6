"""The cluster, which owns all state that requests can see or change.

Stores that are needed late or never are imported and created on first use, since imports take most
of the startup time.
"""

# ruff: noqa: PLC0415 - see above

import random
from collections.abc import Callable, Collection, Hashable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import msgspec

from kafka_shim.protocol.enums import IsolationLevel
from kafka_shim.protocol.features import ELIGIBLE_REPLICAS, Feature, features_in_release
from kafka_shim.protocol.releases.access import AccessFacts
from kafka_shim.protocol.releases.facts import Facts, facts_of_broker
from kafka_shim.shim.clock import Clock
from kafka_shim.shim.config import Config, ListenerConfig, minor_release
from kafka_shim.shim.errors import ConfigError
from kafka_shim.shim.state.authentications import AuthenticationLog
from kafka_shim.shim.state.authorization import create_cluster_authorization
from kafka_shim.shim.state.delegation_tokens import DelegationTokens
from kafka_shim.shim.state.lazy_partition import (
    GROUPS_TOPIC,
    PartitionFactory,
)
from kafka_shim.shim.state.leadership import ElectionRules, update_leaders
from kafka_shim.shim.state.log_maintenance import LogMaintenance
from kafka_shim.shim.state.logs.log_settings import EffectiveLogSettings
from kafka_shim.shim.state.node import Node
from kafka_shim.shim.state.placement import place_replicas
from kafka_shim.shim.state.settings.configs import Configs
from kafka_shim.shim.state.settings.static_settings import (
    dynamic_defaults_of_features,
    static_settings,
    validate_static_values,
)
from kafka_shim.shim.state.state_change import (
    ChangeObserver,
    StateChange,
    StateVersion,
    observe_changed_settings,
)
from kafka_shim.shim.state.topics import Topic, Topics
from kafka_shim.shim.state.users import Users

if TYPE_CHECKING:
    from kafka_shim.shim.sasl.bearer_token import TokenValidator
    from kafka_shim.shim.state.coordinators import Coordinators
    from kafka_shim.shim.state.fetch_sessions import FetchSessions
    from kafka_shim.shim.state.groups.group_log import GroupLog
    from kafka_shim.shim.state.groups.groups import Groups
    from kafka_shim.shim.state.groups.member_requests import MemberRequests
    from kafka_shim.shim.state.logs.log import PartitionLog
    from kafka_shim.shim.state.quotas.quotas import Quotas
    from kafka_shim.shim.state.quotas.throttles import Throttles
    from kafka_shim.shim.state.replica_directories import ReplicaDirectories
    from kafka_shim.shim.state.share_partitions.share_partitions import SharePartitions
    from kafka_shim.shim.state.share_partitions.share_sessions import ShareSessions
    from kafka_shim.shim.state.share_partitions.share_state import ShareStates
    from kafka_shim.shim.state.telemetry import Telemetry
    from kafka_shim.shim.state.transactions.transactions import Transactions
    from kafka_shim.shim.tls.principal_mapping import MappingRule


Store = TypeVar("Store")


class PerNode(dict[int, Store]):
    """One store per broker, created on first use."""

    def __init__(self, make: Callable[[], Store]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, node_id: int) -> Store:
        store = self[node_id] = self._make()
        return store


class LazyStore(Generic[Store]):
    """A store of a cluster that is created on first use; `stop` ends its periodic work."""

    def __init__(
        self, make: Callable[["Cluster"], Store], stop: Callable[[Store], None] = lambda _: None
    ) -> None:
        self._make = make
        self._stop = stop

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, cluster: "Cluster", owner: type) -> Store:
        store = self._make(cluster)
        vars(cluster)[self._name] = store  # where later uses find it first
        return store

    def discard(self, cluster: "Cluster") -> None:
        """Stop and drop the store, if there is one; the next use creates a new one."""
        store: Any = vars(cluster).pop(self._name, None)
        if store is not None:
            self._stop(store)


def _make_coordinators(cluster: "Cluster") -> "Coordinators":
    from kafka_shim.shim.state.coordinators import Coordinators

    return Coordinators(cluster.topics, cluster.configs, cluster.random, cluster.live_nodes)


def _make_groups(cluster: "Cluster") -> "Groups":
    from kafka_shim.shim.state.groups.group_records import GroupRecords
    from kafka_shim.shim.state.groups.groups import Groups
    from kafka_shim.shim.state.settings.group_settings import GroupSettings

    facts = cluster.facts.groups
    settings = GroupSettings(cluster.configs, facts, cluster.features_lowered_to_zero)
    groups = Groups(settings, facts, cluster.topics, cluster.clock, cluster.random)
    groups.records = GroupRecords(
        cluster.coordinators, cluster.clock, partial(_make_group_log, cluster)
    )
    cluster.partition_factory.writers[GROUPS_TOPIC] = groups.write_records_of_partition
    return groups


def _make_member_requests(cluster: "Cluster") -> "MemberRequests":
    from kafka_shim.shim.state.groups.member_requests import MemberRequests

    return MemberRequests(
        cluster.groups, cluster.topics, cluster.share_states, cluster.clock, cluster.random
    )


def _make_transactions(cluster: "Cluster") -> "Transactions":
    from kafka_shim.shim.state.coordinators import KeyType
    from kafka_shim.shim.state.transactions.transaction_markers import write_end_markers
    from kafka_shim.shim.state.transactions.transactions import (
        Transactions,
        TransactionSettings,
    )

    setting = cluster.configs.effective_broker_int
    of_cleanup = "transaction.{}.transaction.cleanup.interval.ms".format
    settings = TransactionSettings(
        timeout_ms_max=setting("transaction.max.timeout.ms"),
        expiration_ms=setting("transactional.id.expiration.ms"),
        overdue_interval_ms=setting(of_cleanup("abort.timed.out")),
        expiry_interval_ms=setting(of_cleanup("remove.expired")),
    )
    return Transactions(
        cluster.clock,
        partial(write_end_markers, cluster),
        partial(cluster.coordinators.get_or_create_topic, KeyType.TRANSACTION),
        settings,
        cluster.facts.records,
    )


def _make_quotas(cluster: "Cluster") -> "Quotas":
    from kafka_shim.shim.state.quotas.quotas import Quotas

    return Quotas(partial(_update_throttles, cluster))


def _make_share_states(cluster: "Cluster") -> "ShareStates":
    from kafka_shim.shim.state.coordinators import KeyType
    from kafka_shim.shim.state.share_partitions.share_state import ShareStates

    create_topic = partial(cluster.coordinators.get_or_create_topic, KeyType.SHARE)
    return ShareStates(cluster.topics, cluster.facts.groups, create_topic)


def _make_share_partitions(cluster: "Cluster") -> "SharePartitions":
    from kafka_shim.shim.state.authorization import create_inter_broker_check
    from kafka_shim.shim.state.share_partitions.dead_letters import DeadLetters
    from kafka_shim.shim.state.share_partitions.share_partitions import SharePartitions

    may = create_inter_broker_check(cluster.config, cluster.policy)
    return SharePartitions(
        cluster.share_states,
        cluster.groups.settings,
        cluster.clock,
        partial(_offset_at_timestamp, cluster),
        DeadLetters(
            cluster.topics, cluster.configs, cluster.clock, cluster.create_topic_with_defaults, may
        ),
    )


def _make_share_sessions(cluster: "Cluster") -> "PerNode[ShareSessions]":
    return PerNode(partial(_create_node_share_sessions, cluster))


def _make_fetch_sessions(cluster: "Cluster") -> "PerNode[FetchSessions]":
    return PerNode(partial(_create_node_fetch_sessions, cluster))


def _make_telemetry(cluster: "Cluster") -> "PerNode[Telemetry]":
    return PerNode(partial(_create_node_telemetry, cluster))


def _make_replica_directories(cluster: "Cluster") -> "ReplicaDirectories":
    from kafka_shim.shim.state.replica_directories import ReplicaDirectories

    return ReplicaDirectories(cluster.topics)


def _make_group_log(cluster: "Cluster") -> "GroupLog":
    from kafka_shim.shim.state.groups.group_log import GroupLog

    facts = cluster.facts
    return GroupLog(
        cluster.coordinators,
        cluster.topics,
        cluster.groups.settings,
        facts.groups,
        cluster.clock,
        stamps_horizon=facts.records.tombstones_have_delete_horizon,
    )


def _update_throttles(cluster: "Cluster") -> None:
    from kafka_shim.shim.state.quotas.throttles import Throttles

    if not cluster.quotas.has_client_quotas:
        cluster.throttles = None
    elif cluster.throttles is None:
        cluster.throttles = Throttles(cluster.quotas, cluster.configs, cluster.clock)
    cluster.when_throttles_changed()


def _create_node_share_sessions(cluster: "Cluster") -> "ShareSessions":
    from kafka_shim.shim.state.share_partitions.share_sessions import ShareSessions

    slots = cluster.groups.settings.share_sessions_max
    return ShareSessions(cluster.topics, cluster.share_partitions, slots=slots)


def _create_node_fetch_sessions(cluster: "Cluster") -> "FetchSessions":
    from kafka_shim.shim.state.fetch_sessions import FetchSessions

    slots = 0
    if "max.incremental.fetch.session.cache.slots" in cluster.configs.broker_definitions:
        slots = cluster.configs.effective_broker_int("max.incremental.fetch.session.cache.slots")
    return FetchSessions(cluster.topics, cluster.clock, cluster.random, slots=slots)


def _create_node_telemetry(cluster: "Cluster") -> "Telemetry":
    from kafka_shim.shim.state.telemetry import Telemetry

    return Telemetry(cluster.configs, cluster.facts.telemetry, cluster.clock, cluster.random)


def _offset_at_timestamp(cluster: "Cluster", log: "PartitionLog", timestamp: int) -> int:
    from kafka_shim.shim.state.logs.offset_lookup import find_offset_by_timestamp

    return find_offset_by_timestamp(
        log, timestamp, IsolationLevel.READ_UNCOMMITTED, cluster.facts.records
    ).offset


class EventCounters:
    """Counters of events."""

    __slots__ = ("closed", "connections", "failed_logins", "internal_errors", "requests")

    def __init__(self) -> None:
        self.connections = 0  # accepted since the start
        self.requests = 0
        self.closed = 0  # connections closed because of invalid input
        self.failed_logins = 0
        self.internal_errors = 0  # answered with UNKNOWN_SERVER_ERROR (-1)


class Cluster:
    """Topics, groups, users and ACLs of an emulated cluster, with its
    clock and random generator.
    """

    coordinators = LazyStore(_make_coordinators)
    groups = LazyStore(_make_groups, stop=lambda groups: groups.stop_periodic_work())
    member_requests = LazyStore(_make_member_requests)
    transactions = LazyStore(
        _make_transactions,
        stop=lambda transactions: transactions.stop_all_timers(),
    )
    quotas = LazyStore(_make_quotas)
    share_states = LazyStore(_make_share_states)
    share_partitions = LazyStore(
        _make_share_partitions, stop=lambda partitions: partitions.stop_lock_timers()
    )
    share_sessions = LazyStore(_make_share_sessions)
    fetch_sessions = LazyStore(_make_fetch_sessions)
    telemetry = LazyStore(_make_telemetry)
    replica_directories = LazyStore(_make_replica_directories)
    throttles: "Throttles | None" = None
    """Set only while clients have quotas."""

    def __init__(self, config: Config, clock: Clock) -> None:
        self.config = config
        self.release = minor_release(config.release)
        self.facts: Facts = facts_of_broker(config.release or self.release, config.properties)
        self.clock = clock
        self.cluster_id = config.cluster_id
        self.nodes = _brokers_by_id(config)
        validate_static_values(config.properties, self.release)
        self.mechanisms_by_listener = {
            listener.name: _enabled_sasl_mechanisms(config, listener.name)
            for listener in config.listeners
        }
        self.mechanisms = _enabled_sasl_mechanisms(config)
        self.principal_rules_by_listener = {
            listener.name: _certificate_principal_rules(config, listener)
            for listener in config.listeners
        }
        self.token_validators = _token_validators_by_listener(
            config, self.mechanisms_by_listener, self.facts.access
        )
        self.reauthentication_ms = int(config.properties.get("connections.max.reauth.ms", 0))
        self.counters = EventCounters()
        self.authentications = AuthenticationLog()
        self.state_version = StateVersion()
        self._static: dict[int, tuple[object, object, Mapping[str, str]]] = {}
        self.upkeep: LogMaintenance | None = None
        self.observe_change: ChangeObserver | None = None
        self.when_throttles_changed: Callable[[], None] = lambda: None
        self.check_listener_stores: Callable[[int, Mapping[str, str]], None] = lambda _, __: None
        """Raises ConfigError if a broker cannot load the TLS stores of altered settings."""
        self.load_listener_stores: Callable[[int], None] = lambda _: None
        self.initial_topic_ids: dict[str, bytes] = {}  # which a reset keeps, as clients know them
        self.reset_to_initial_state()

    def reset_to_initial_state(self) -> None:
        """Reset to the initial state.

        References to the old state become stale: disconnect clients first.
        """
        self.state_version.count_possible_change()
        config = self.config
        self.controller_id = min(self._live_node_ids(), default=config.first_broker_id)
        self.features: tuple[Feature, ...] = features_in_release(self.release)
        self.random = random.Random(config.seed)  # noqa: S311 - ids of a test broker, repeatable on purpose
        self.secrets = self.random if config.seed is not None else random.SystemRandom()
        self.users = Users(config.users, self.secrets, config.listener_users)
        self.tokens = DelegationTokens(
            config.properties,
            self.secrets,
            self.clock,
            facts=self.facts.users,
        )
        self.policy = create_cluster_authorization(
            config, self.release, self.nodes, self.clock, self.random
        )
        self.topics = Topics(self.random, self.clock, self.facts.topics.internal_topics)
        self.partition_factory = PartitionFactory()
        self.topics.make_partition = self.partition_factory.make
        self.configs = Configs(
            self.release,
            self._static_settings,
            dynamic_defaults_of_features(self.features),
            config.first_broker_id,
        )
        if not self.facts.configs.topic_configs_are_validated:
            self.topics.is_readable = self.configs.accepts_topic_value
        if not self.facts.topics.assigned_replicas_must_exist:
            self.topics.can_lead = self._is_alive
        self.topics.in_force = lambda own: EffectiveLogSettings(own, self.configs)
        if self.upkeep is not None:
            self.upkeep.stop_timers()
        horizon = self.facts.records.tombstones_have_delete_horizon
        self.upkeep = LogMaintenance(self.topics, self.configs, self.clock, stamps_horizon=horizon)
        self.topics.when_filled = self.upkeep.start_timers
        self.throttles = None
        self.when_throttles_changed()
        for store in vars(Cluster).values():
            if isinstance(store, LazyStore):
                store.discard(self)

    def set_change_observer(self, observe_change: ChangeObserver) -> None:
        """Report changes of topics, settings, users and brokers, until the next reset."""
        self.observe_change = observe_change
        self.topics.observe_change = self.users.observe_change = observe_change

    def report_settings(
        self, resource: str, before: Mapping[str, str], after: Mapping[str, str]
    ) -> None:
        """Report changed settings to the observer, if there is one."""
        if self.observe_change is not None:
            observe_changed_settings(self.observe_change, resource, before, after)

    def features_lowered_to_zero(self) -> list[str]:
        """Return the features at level 0 whose initial level in the release is higher."""
        first = {
            feature.name: feature.finalized_level for feature in features_in_release(self.release)
        }
        return [
            feature.name
            for feature in self.features
            if feature.finalized_level == 0 < first[feature.name]
        ]

    def live_nodes(self) -> list[Node]:
        """Return the brokers that are not stopped."""
        return [node for node in self.nodes.values() if node.is_alive]

    def stopped_replica_candidates(self) -> list[Node]:
        """Return the stopped brokers that new replicas may be placed on: in KRaft, all."""
        if not self.facts.topics.stopped_brokers_receive_new_replicas:
            return []
        return [node for node in self.nodes.values() if not node.is_alive]

    def _static_settings(self, node_id: int) -> Mapping[str, str]:
        """Return a broker's static settings; they are computed again
        only if its listeners change.
        """
        node = self.nodes.get(node_id) or Node(node_id, None)
        known = self._static.get(node_id)
        if known is None or known[0] != node.bound or known[1] != node.endpoints:
            settings = static_settings(
                self.config,
                node,
                self.facts.access.default_authorizer_class,
                brokers_have_process_roles=self.facts.cluster.brokers_have_process_roles,
            )
            known = (dict(node.bound), dict(node.endpoints), MappingProxyType(settings))
            self._static[node_id] = known
        return known[2]

    def end_share_session_on_disconnect(self, node_id: int, connection: Hashable) -> None:
        """Handle the end of a connection to a broker."""
        self.state_version.count_possible_change()
        if node_id in self.share_sessions:
            self.share_sessions[node_id].end_session_of_connection(connection)

    def _live_node_ids(self) -> list[int]:
        return [node.node_id for node in self.live_nodes()]

    def _is_alive(self, node_id: int) -> bool:
        return node_id in self.nodes and self.nodes[node_id].is_alive

    def set_broker_alive(self, node_id: int, *, is_alive: bool) -> None:
        """Stop or restart a broker; other brokers take over its leaders and the controller."""
        if self.observe_change is not None:
            self.observe_change(
                StateChange("broker", "added" if is_alive else "removed", str(node_id))
            )
        self.nodes[node_id].is_alive = is_alive
        self.fetch_sessions.pop(node_id, None)  # a restarted broker has none
        self.telemetry.pop(node_id, None)  # likewise
        self.elect_live_leaders()

    def replace_stopped_leaders(self) -> None:
        """Elect other leaders for new replicas on stopped brokers."""
        if len(self.live_nodes()) < len(self.nodes):
            self.elect_live_leaders()

    def elect_live_leaders(self) -> None:
        """Elect live leaders and a live controller where possible."""
        self.state_version.count_possible_change()
        alive = self._live_node_ids()
        if self.controller_id not in alive:
            self.controller_id = min(alive, default=self.controller_id)
        update_leaders(self.topics, alive, self._election_rules_of_topic)

    def _election_rules_of_topic(self, topic: Topic) -> ElectionRules:
        is_unclean = self.configs.effective_topic_value(
            topic.configs, "unclean.leader.election.enable"
        )
        min_isr = self.configs.effective_topic_value(topic.configs, "min.insync.replicas")
        is_known = min_isr is not None and self.has_eligible_leader_replicas
        return ElectionRules(is_unclean == "true", int(min_isr or 1) if is_known else None)

    @property
    def has_eligible_leader_replicas(self) -> bool:
        """Return whether replicas that left the ISR may lead a partition (KIP-966)."""
        return any(
            each.name == ELIGIBLE_REPLICAS and each.finalized_level > 0 for each in self.features
        )

    def set_feature_level(self, name: str, level: int) -> None:
        """Set the finalised level of a feature, which ApiVersions returns."""
        self.features = tuple(
            msgspec.structs.replace(feature, finalized_level=level)
            if feature.name == name
            else feature
            for feature in self.features
        )

    def create_topic_with_defaults(self, name: str, configs: Mapping[str, str]) -> Topic:
        """Create a topic with the broker's defaults on the live brokers."""
        alive = self.live_nodes()
        factor = min(self.configs.effective_broker_int("default.replication.factor"), len(alive))
        assignments = place_replicas(
            alive, self.configs.effective_broker_int("num.partitions"), factor, self.random
        )
        return self.topics.create_topic(name, assignments, configs)


def _brokers_by_id(config: Config) -> dict[int, Node]:
    """Return the brokers by their ids, which follow each other."""
    racks = config.racks * config.brokers if len(config.racks) == 1 else config.racks
    first = config.first_broker_id
    return {
        first + index: Node(first + index, racks[index] if racks else None)
        for index in range(config.brokers)
    }


def _certificate_principal_rules(
    config: Config, listener: ListenerConfig
) -> "tuple[MappingRule, ...]":
    """Return the mapping of a listener's certificate names to principals; empty without TLS."""
    text = _listener_setting(config, "ssl.principal.mapping.rules", listener.name)
    if text is None and not listener.protocol.uses_tls:
        return ()
    from kafka_shim.shim.tls.principal_mapping import parse_mapping_rules

    try:
        return parse_mapping_rules("DEFAULT" if text is None else text)
    except ValueError as error:
        raise ConfigError(str(error)) from error


def _listener_setting(config: Config, name: str, listener: str = "") -> str | None:
    """Return the setting of a listener, else that of all listeners; None if neither is set."""
    own = config.properties.get(f"listener.name.{listener.lower()}.{name}")
    return config.properties.get(name) if own is None else own


def _token_validators_by_listener(
    config: Config, mechanisms: Mapping[str, Collection[str]], facts: AccessFacts
) -> "dict[str, TokenValidator]":
    """Return the validators of bearer tokens by listener."""
    asked = [
        listener
        for listener in config.listeners
        if listener.protocol.uses_sasl and "OAUTHBEARER" in mechanisms[listener.name]
    ]
    if not asked:
        return {}
    from kafka_shim.shim.sasl.bearer_settings import build_token_validator

    properties = config.properties
    return {
        listener.name: build_token_validator(properties, listener.name, facts) for listener in asked
    }


MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER")


def _enabled_sasl_mechanisms(config: Config, listener: str = "") -> tuple[str, ...]:
    """Return the SASL mechanisms of a listener, or of all listeners: `sasl.enabled.mechanisms`,
    else those with passwords. Raise ConfigError if one is unknown.
    """
    text = _listener_setting(config, "sasl.enabled.mechanisms", listener)
    found = config.mechanisms if text is None else tuple(name.strip() for name in text.split(","))
    unknown = [name for name in found if name not in MECHANISMS]
    if unknown:
        raise ConfigError(
            f"unknown sasl.enabled.mechanisms {', '.join(unknown)}; known are"
            f" {', '.join(MECHANISMS)}"
        )
    return found
