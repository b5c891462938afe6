"""Log directories, features, lists of transactions, quotas: rarely used requests."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.alter_client_quotas import (
    AlterClientQuotasRequest,
    OpData,
    RequestEntityData,
    RequestEntryData,
)
from kafka_shim.protocol.messages.alter_replica_log_dirs import (
    AlterReplicaLogDir,
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirTopic,
)
from kafka_shim.protocol.messages.describe_client_quotas import DescribeClientQuotasRequest
from kafka_shim.protocol.messages.describe_transactions import DescribeTransactionsRequest
from kafka_shim.protocol.messages.list_transactions import ListTransactionsRequest
from kafka_shim.protocol.messages.update_features import (
    FeatureUpdateKey,
    UpdateFeaturesRequest,
)
from tests.recordings.play import message
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import VERSION_1, Producer

TOPIC, BROKER, CLIENT_METRICS, GROUP = 2, 4, 16, 32
SESSION = ("consumer.session.timeout.ms", "50000")
SET, DELETE, APPEND, SUBTRACT, UNKNOWN = 0, 1, 2, 3, 99
LOG_DIRS_RATE = "replica.alter.log.dirs.io.max.bytes.per.second"
SETTLED_MS = 600
"""Time after which a broker has applied a setting."""


def long_names(play: Play) -> None:
    """Topic names near the limit: the folder of a moving partition needs a longer name."""
    api = ApiKey.ALTER_REPLICA_LOG_DIRS
    if not play.has(api):
        return
    for size in (212, 213, 214, 249, 250):
        topic = AlterReplicaLogDirTopic(name="x" * size, partitions=[0, 10])
        moved = AlterReplicaLogDir(path="/nowhere", topics=[topic])
        request = AlterReplicaLogDirsRequest(dirs=[moved])
        play.call(f"{size} characters", api, play.newest(api), request)


def throttled_rates(play: Play) -> None:
    """Throttled rates, which brokers do not define: they are listed only while they are set."""
    rates = ("leader.replication", "follower.replication")
    names = [*(f"{rate}.throttled.rate" for rate in rates), LOG_DIRS_RATE]

    def show(label: str) -> None:
        for broker in ("1", ""):
            wanted = {"resource_type": BROKER, "resource_name": broker}
            row = {**wanted, "configuration_keys": names}
            request = {"resources": [row], "include_synonyms": True}
            version = play.newest(ApiKey.DESCRIBE_CONFIGS)
            asked = message(ApiKey.DESCRIBE_CONFIGS, version, request)
            response = play.settled(ApiKey.DESCRIBE_CONFIGS, version, asked)
            response.results[0].configs.sort(key=lambda config: config.name)
            play.keep(f"{label}, `{broker}`", ApiKey.DESCRIBE_CONFIGS, version, response)

    def alter(label: str, broker: str, values: Sequence[str | None]) -> None:
        configs = [
            {"name": name, "config_operation": DELETE if value is None else SET, "value": value}
            for name, value in zip(names, values, strict=False)
        ]
        row = {"resource_type": BROKER, "resource_name": broker, "configs": configs}
        api = ApiKey.INCREMENTAL_ALTER_CONFIGS
        version = play.newest(api)
        play.call(label, api, version, message(api, version, {"resources": [row]}))
        play.peer.pause(SETTLED_MS)

    if not play.has(ApiKey.INCREMENTAL_ALTER_CONFIGS):
        return
    show("before")
    alter("one broker", "1", ["1000", "1001", "1002"])
    show("one broker")
    alter("all brokers", "", ["2000", "2001", "2002"])
    show("all brokers")
    for value in ("x", "-5", "0"):
        alter(f"the value {value}", "1", [value])
    alter("back", "1", [None, None, None])
    show("back")
    alter("all back", "", [None, None, None])
    show("all back")


def internal_settings(play: Play, altered: str = "1") -> None:
    """Internal settings are listed by brokers of some releases once a dynamic one was changed."""
    api = ApiKey.DESCRIBE_CONFIGS
    if not play.has(api):
        return
    version, altering = play.newest(api), ApiKey.ALTER_CONFIGS

    def describe(names: Sequence[str] | None = None) -> Any:
        row = {"resource_type": BROKER, "resource_name": "1", "configuration_keys": names}
        request = {"resources": [row], "include_synonyms": True}
        return play.settled(api, version, message(api, version, request))

    def alter(label: str, configs: Sequence[dict[str, str]]) -> None:
        row = {"resource_type": BROKER, "resource_name": altered, "configs": configs}
        request = message(altering, play.newest(altering), {"resources": [row]})
        play.call(label, altering, play.newest(altering), request)
        play.peer.pause(SETTLED_MS)

    def show_others(label: str) -> None:
        response = describe()
        rows = response.results[0].configs
        rows[:] = sorted((row for row in rows if row.name not in first), key=lambda row: row.name)
        play.keep(label, api, version, response)

    first = {row.name for row in describe().results[0].configs} | {"log.cleaner.backoff.ms"}
    alter("a dynamic setting", [{"name": "log.cleaner.backoff.ms", "value": "300"}])
    show_others("what is listed besides")
    play.keep("by name", api, version, describe(["broker.heartbeat.interval.ms", "node.id"]))
    alter("taken back", [])
    show_others("what is still listed besides")


def internal_settings_of_all(play: Play) -> None:
    """The settings of all brokers are changed."""
    internal_settings(play, altered="")


def documented(play: Play) -> None:
    """Settings without documentation, including throttled rates."""
    api = ApiKey.DESCRIBE_CONFIGS
    if play.newest(api) < 3:
        return
    topic, version = play.topic(), play.newest(api)
    rate = {"name": LOG_DIRS_RATE, "config_operation": SET, "value": "1000"}
    row = {"resource_type": BROKER, "resource_name": "", "configs": [rate]}
    altering = ApiKey.INCREMENTAL_ALTER_CONFIGS
    request = message(altering, play.newest(altering), {"resources": [row]})
    play.call("a rate is set", altering, play.newest(altering), request)
    play.peer.pause(SETTLED_MS)
    for kind, name in ((TOPIC, topic), (BROKER, "1"), (BROKER, "")):
        wanted = {"resource_type": kind, "resource_name": name, "configuration_keys": None}
        request = message(api, version, {"resources": [wanted], "include_documentation": True})
        response = play.settled(api, version, request)
        silent = {row.name for row in response.results[0].configs if not row.documentation}
        # a real broker without an authorizer has no super.users here
        play.steps.append((f"{kind} `{name and kind}`", sorted(silent - {"super.users"})))
    rate |= {"config_operation": DELETE, "value": None}
    request = message(altering, play.newest(altering), {"resources": [row]})
    play.call("and taken back", altering, play.newest(altering), request)
    play.peer.pause(SETTLED_MS)


def undocumented(play: Play) -> None:
    """The documentation of settings of client metrics subscriptions and groups."""
    api, altering = ApiKey.DESCRIBE_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS
    if not play.has(ApiKey.GET_TELEMETRY_SUBSCRIPTIONS):
        return
    version = play.newest(api)
    for kind, name, value in ((CLIENT_METRICS, "interval.ms", "60000"), (GROUP, *SESSION)):
        resource = play.text("r")
        config = {"name": name, "config_operation": SET, "value": value}
        row = {"resource_type": kind, "resource_name": resource, "configs": [config]}
        request = message(altering, play.newest(altering), {"resources": [row]})
        play.call(f"{kind} is set", altering, play.newest(altering), request)
        play.peer.pause(SETTLED_MS)
        for wanted in (True, False):
            row = {"resource_type": kind, "resource_name": resource, "configuration_keys": None}
            described = {"resources": [row], "include_documentation": wanted}
            response = play.settled(api, version, message(api, version, described))
            found = {row.documentation and "text" for row in response.results[0].configs}
            play.steps.append((f"{kind}, wanted: {wanted}", sorted(found, key=str)))


def unequal_assignments(play: Play) -> None:
    """Topics with unequal numbers of replicas, duplicate replicas, or none."""
    version = play.newest(ApiKey.CREATE_TOPICS)
    for at, lists in enumerate((([1], [1, 1]), ([1], []), ([], []), ([1], [2]), ([2], [2, 3]))):
        rows = [{"partition_index": index, "broker_ids": ids} for index, ids in enumerate(lists)]
        topic = {"name": play.text(f"-{at}"), "num_partitions": -1, "replication_factor": -1}
        wanted = {"topics": [topic | {"assignments": rows}], "timeout_ms": 5_000}
        request = message(ApiKey.CREATE_TOPICS, version, wanted)
        play.call(f"{lists}", ApiKey.CREATE_TOPICS, version, request)


def unalterable(play: Play) -> None:
    """Unknown settings, and settings of missing topics: which errors have a message."""
    topic, missing = play.topic(), play.unknown()
    changes = [
        *((name, SET, "max.message.bytes", "2000000") for name in (missing, "a b")),
        *((topic, operation, "nonsense", "1") for operation in (SET, APPEND, 7)),
        (topic, SET, "max.message.bytes", "x"),
        (topic, APPEND, "max.message.bytes", "1"),
    ]
    for name, operation, key, value in changes:
        config = {"name": key, "value": value, "config_operation": operation}
        resource = {"resource_type": TOPIC, "resource_name": name, "configs": [config]}
        for api in (ApiKey.ALTER_CONFIGS, ApiKey.INCREMENTAL_ALTER_CONFIGS):
            if play.has(api) and (api is ApiKey.INCREMENTAL_ALTER_CONFIGS or operation == SET):
                asked = message(api, play.newest(api), {"resources": [resource]})
                label = f"{api.name}: {operation} {key}={value} of {name}"
                play.call(label, api, play.newest(api), asked)


def faulty_operations(play: Play) -> None:
    """Two wrong changes of one resource, in both orders: which of them is answered."""
    api = ApiKey.INCREMENTAL_ALTER_CONFIGS
    if not play.has(api):
        return
    changes = (
        ("max.message.bytes", UNKNOWN, "2000000"),
        ("retention.ms", SET, None),
        ("segment.bytes", SUBTRACT, "1"),
        ("nonsense", SET, "1"),
        ("nothing", APPEND, "1"),
        ("min.insync.replicas", SET, "x"),
        ("min.insync.replicas", SET, "1"),
    )
    broker = ((key.replace("retention", "log.retention"), *rest) for key, *rest in changes)
    for kind, name, faults in (
        (TOPIC, play.topic(), changes),
        (TOPIC, play.unknown(), changes),
        (BROKER, "1", tuple(broker)),
    ):
        for pair in permutations(faults, 2):
            configs = [
                {"name": key, "config_operation": operation, "value": value}
                for key, operation, value in pair
            ]
            resource = {"resource_type": kind, "resource_name": name, "configs": configs}
            asked = message(api, play.newest(api), {"resources": [resource], "validate_only": True})
            play.call(f"{kind} {name}: {pair}", api, play.newest(api), asked)


def raised_features(play: Play) -> None:
    """An UpdateFeatures that raises a level although it is marked as a downgrade."""
    if not play.has(ApiKey.LIST_CONFIG_RESOURCES) or play.newest(ApiKey.UPDATE_FEATURES) < 2:
        return

    def update(label: str, level: int, kind: int, *, keep: bool = False) -> None:
        feature = FeatureUpdateKey("streams.version", level, upgrade_type=kind)
        request = UpdateFeaturesRequest(feature_updates=[feature], validate_only=not keep)
        play.call(label, ApiKey.UPDATE_FEATURES, 2, request)

    update("lowered", 0, 2, keep=True)
    for kind in (1, 2, 3):
        update(f"raised, type {kind}", 1, kind)
        update(f"left, type {kind}", 0, kind)
    update("raised", 1, 1, keep=True)


def durations(play: Play) -> None:
    """The duration filter of ListTransactions before, during and after a transaction."""
    if not play.has(ApiKey.LIST_TRANSACTIONS) or not play.newest(ApiKey.LIST_TRANSACTIONS):
        return
    topic = play.topic()

    def look(label: str) -> None:
        for least_ms in (0, 3_600_000, 1 << 39, 1 << 50):
            request = ListTransactionsRequest(duration_filter=least_ms)
            play.call(f"{label}, {least_ms}", ApiKey.LIST_TRANSACTIONS, 1, request)
        described = DescribeTransactionsRequest(transactional_ids=[producer.name])
        play.call(label, ApiKey.DESCRIBE_TRANSACTIONS, 0, described)

    producer = Producer(play, "id", VERSION_1)
    look("new")
    producer.add("add", (topic, 0))
    look("open")
    producer.end("end", commit=True)
    play.peer.pause(300)
    look("ended")
    Producer(play, "id", VERSION_1)
    look("new again")


def orders_of_quotas(play: Play) -> None:
    """The order of quota entities, of their parts and of their values."""
    if not play.has(ApiKey.DESCRIBE_QUORUM):  # the order is different with ZooKeeper
        return
    entities: list[list[tuple[str, str | None]]] = [
        [("user", play.text("u")), ("client-id", "c")],
        [("client-id", "c"), ("user", play.text("u2"))],
        [("user", play.text("a"))],
        [("client-id", play.text("b"))],
        [("user", None), ("client-id", play.text("c"))],
        [("user", play.text("x")), ("client-id", None)],
        [("user", "u"), ("client-id", "c"), ("nonsense", "n")],
        [("ip", "1.1.1.1"), ("user", "u"), ("client-id", "c")],
    ]
    entities += [[("user", play.text(f"user-{number}"))] for number in range(12)]
    values = ("request_percentage", "consumer_byte_rate", "producer_byte_rate")
    for count in (1, 2, 3):
        changes = [_quota(entity, values[:count]) for entity in entities]
        response = _altered(play, changes)
        play.steps.append((f"altered {count}", _shown(play, response.entries)))
        play.peer.pause(300)
        request = DescribeClientQuotasRequest(strict=False)
        described = play.settled(ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, request)
        play.steps.append((f"described {count}", _shown(play, described.entries)))
        kept = [[value.key for value in entry.values] for entry in described.entries]
        play.steps.append((f"values {count}", kept))
    _altered(play, [_quota(entity, values, remove=True) for entity in entities])


def odd_limits(play: Play) -> None:
    """Limits below and above what a quota can be, and repeated ones, only validated or set."""
    if not play.has(ApiKey.ALTER_CLIENT_QUOTAS):
        return
    user, client = ("user", play.text("u")), ("client-id", play.text("c"))
    keys = (
        "producer_byte_rate",
        "request_percentage",
        "controller_mutation_rate",
        "connection_creation_rate",
    )
    values = (-1.0, -0.5, 0.0, 0.5, 1e19, math.inf, -math.inf, math.nan)
    rows = [[(key, value)] for key in keys for value in values]
    rows += [
        [(keys[0], first), (keys[0], last)] for first, last in permutations((-1.0, 0.5, 9.0), 2)
    ]
    rows += [[("nonsense", 1.0), (keys[0], 0.5)], [(keys[0], 0.5), ("nonsense", 1.0)]]
    for entity in ([user], [client], [user, client], [("ip", "10.9.8.7")]):
        parts = [RequestEntityData(kind, name) for kind, name in entity]
        for row in rows:
            for is_tried in (True, False):
                entry = RequestEntryData(parts, [OpData(key, value) for key, value in row])
                request = AlterClientQuotasRequest([entry], is_tried)
                label = f"{[kind for kind, _ in entity]} {row}, tried: {is_tried}"
                (found,) = play.settled(ApiKey.ALTER_CLIENT_QUOTAS, 0, request).entries
                play.steps.append((label, [found.error_code, found.error_message and "text"]))
        _altered(play, [_quota(entity, keys, remove=True)])


def _altered(play: Play, changes: list[RequestEntryData]) -> Any:
    request = AlterClientQuotasRequest(entries=changes)
    return play.settled(ApiKey.ALTER_CLIENT_QUOTAS, 0, request)


def _quota(
    entity: Sequence[tuple[str, str | None]], keys: Sequence[str], *, remove: bool = False
) -> RequestEntryData:
    return RequestEntryData(
        entity=[RequestEntityData(kind, name) for kind, name in entity],
        ops=[OpData(key, 1e9, remove) for key in keys],
    )


def _shown(play: Play, entries: list[Any]) -> list[list[list[str | None]]]:
    rows = [[[part.entity_type, part.entity_name] for part in entry.entity] for entry in entries]
    return [
        [[kind, name and name.removeprefix(f"{play.name}-")] for kind, name in row] for row in rows
    ]


SCENARIOS = (
    long_names,
    throttled_rates,
    internal_settings,
    internal_settings_of_all,
    documented,
    undocumented,
    unequal_assignments,
    unalterable,
    faulty_operations,
    raised_features,
    durations,
    orders_of_quotas,
    odd_limits,
)

OWN_SETTINGS = {
    "admin-internal_settings": {"num.io.threads": "9"},
    "admin-internal_settings_of_all": {"num.io.threads": "10"},
}
"""Brokers of their own, none of whose settings was changed before."""
