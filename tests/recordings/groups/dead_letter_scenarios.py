"""Dead-letter queues of share groups (KIP-1191, 4.4): their records, and when none are written."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shim.protocol.enums import (
    CLUSTER_NAME,
    ApiKey,
    ConfigResourceType,
    Operation,
    PatternType,
    Permission,
    ResourceType,
)
from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import (
    ACCEPT,
    REJECT,
    RELEASE,
    Sharer,
    configure,
    earliest,
    kept_topics,
    produce,
    state,
)
from tests.recordings.records.batches import GZIP, batch, contents, record

WRITTEN_MS = 2_500
"""Time after which a broker has written to a queue, created it, or given up."""

NAME = "errors.deadletterqueue.topic.name"
COPIES = "errors.deadletterqueue.copy.record.enable"
TAKES = "errors.deadletterqueue.group.enable"
PREFIX = "errors.deadletterqueue.topic.name.prefix"
MAKES = "errors.deadletterqueue.auto.create.topics.enable"
HEADERS = ((b"h", b"x"), (b"n", None))


def queue(play: ModernPlay, suffix: str = "q", partitions: int = 1, **configs: str) -> str:
    """Create a topic for dead letters, with the default prefix."""
    name = f"dlq.{play.text(f'-{suffix}')}"
    settings = {TAKES: "true", "retention.ms": "-1"}
    settings |= {key.replace("_", "."): value for key, value in configs.items()}
    play.make_topics([name], partitions, settings)
    play.peer.pause(WRITTEN_MS)
    return name


def reader(play: ModernPlay, topics: Sequence[str], queue_name: str, **more: str) -> Sharer:
    """Return a member of a share group with this dead-letter queue."""
    group = earliest(play, "g")
    configure(play, group, **{NAME: queue_name} | more)
    return Sharer(play, group).join(*topics)


def reject(sharer: Sharer, topic: str, *offsets: tuple[int, int], index: int = 0) -> None:
    play = sharer.play
    sharer.fetch(f"to reject {offsets}", (topic, index))
    acks = {(topic, index): [(first, last, [REJECT]) for first, last in offsets]}
    sharer.acknowledge(f"rejects {offsets}", acks)
    play.peer.pause(WRITTEN_MS)


def letters(play: ModernPlay, label: str, name: str, partition: int = 0) -> None:
    """Record the records in a queue, independent of batches."""
    rows = [{"partition": partition, "fetch_offset": 0, "partition_max_bytes": 1 << 20}]
    request = {
        "max_wait_ms": 100,
        "max_bytes": 1 << 20,
        "topics": [{"topic": name, "partitions": rows}],
    }
    response = play.ask(ApiKey.FETCH, 12, request)
    (found,) = response.responses[0].partitions
    lines = [play.plain(line) for line in contents(found.records or b"")]
    play.steps.append((label, [found.error_code, found.log_start_offset, lines]))


def rejected(play: ModernPlay) -> None:
    if not _has_queues(play):
        return
    topic, other = kept_topics(play, "t", "u")
    name = queue(play)
    _produce(play, topic)
    sharer = reader(play, (topic, other), name, **{COPIES: "true"})
    reject(sharer, topic, (1, 1), (3, 4))
    letters(play, "copied", name)
    state(play, "copied", sharer.group, topic)
    configure(play, sharer.group, **{COPIES: "false"})
    _produce(play, other, index=1)
    reject(sharer, other, (0, 5), index=1)
    letters(play, "not copied", name)
    state(play, "not copied", sharer.group, other, 1)
    acks = {(topic, 0): [(0, 0, [ACCEPT]), (2, 2, [RELEASE])]}
    sharer.acknowledge("others", acks)
    play.peer.pause(WRITTEN_MS)
    letters(play, "in the end", name)


def worn_out(play: ModernPlay) -> None:
    """Records that are released too often, or whose acquisition expires."""
    if not _has_queues(play):
        return
    (topic,) = kept_topics(play, "t")
    name = queue(play)
    _produce(play, topic)
    limits = {"share.delivery.count.limit": "2", "share.record.lock.duration.ms": "15000"}
    sharer = reader(play, (topic,), name, **{COPIES: "true"}, **limits)
    at = (topic, 0)
    sharer.fetch("first", at)
    sharer.acknowledge("gives back", {at: [(0, 5, [RELEASE])]})
    sharer.fetch("second")
    sharer.acknowledge("gives some back", {at: [(0, 0, [RELEASE]), (2, 3, [RELEASE])]})
    play.peer.pause(WRITTEN_MS)
    letters(play, "given back", name)
    state(play, "given back", sharer.group, topic)
    sharer.acknowledge("rejects", {at: [(1, 1, [REJECT])]})
    play.peer.pause(16_000)
    letters(play, "time is up", name)
    sharer.fetch("nothing is left")


def with_partitions(play: ModernPlay) -> None:
    if not _has_queues(play):
        return
    (topic,) = kept_topics(play, "t", partitions=3)
    name = queue(play, partitions=2)
    sharer = reader(play, (topic,), name)
    for index in range(3):
        _produce(play, topic, index=index)
        reject(sharer, topic, (0, 0), (2, 2), index=index)
    for index in range(2):
        letters(play, f"partition {index}", name, index)


def unusable(play: ModernPlay) -> None:
    """Unusable queues: the records are archived all the same."""
    if not _has_queues(play):
        return
    (topic,) = kept_topics(play, "t")
    for _ in range(5):
        _produce(play, topic)
    takes_none = f"dlq.{play.text('-takesnone')}"
    play.make_topics([takes_none], 1, {"retention.ms": "-1"})
    (elsewhere,) = play.topic("elsewhere", partitions=1)
    missing = f"dlq.{play.text('-missing')}"
    group = earliest(play, "g")
    sharer = Sharer(play, group).join(topic)
    for at, name in enumerate((takes_none, elsewhere, missing, "", takes_none)):
        configure(play, group, **{NAME: name})
        reject(sharer, topic, (6 * at, 6 * at + 1))
        state(play, f"after {at}", group, topic)
    letters(play, "takes none", takes_none)
    letters(play, "elsewhere", elsewhere)
    _exists(play, "missing", missing)
    _set_topic(play, takes_none, {TAKES: "true"})
    reject(sharer, topic, (26, 26))
    letters(play, "takes them now", takes_none)
    for value in ("__consumer_offsets", "__x", "a/b", "dlq.a/b", "x" * 250, "not.under.it", " "):
        config = {"name": NAME, "config_operation": 0, "value": value}
        resource = {"resource_type": 32, "resource_name": group, "configs": [config]}
        api = ApiKey.INCREMENTAL_ALTER_CONFIGS
        play.call(f"named {value}", api, 1, {"resources": [resource], "validate_only": True})


def made(play: ModernPlay) -> None:
    """Queues that the broker creates when they are needed."""
    if not _has_queues(play):
        return
    (topic,) = kept_topics(play, "t")
    for _ in range(4):
        _produce(play, topic)
    group = earliest(play, "g")
    sharer = Sharer(play, group).join(topic)
    good, foreign = f"dlq.{play.text('-made')}", play.text("-made")
    colliding = good.replace("-", "_").replace(".", "_", 1)
    for at, name in enumerate((good, foreign, "dlq.a/b", f"dlq.{colliding}")):
        configure(play, group, **{NAME: name})
        reject(sharer, topic, (6 * at + 1, 6 * at + 2))  # not the first: the start moves late
        state(play, f"after {at}", group, topic)
    for label, name in (("good", good), ("foreign", foreign)):
        _exists(play, label, name)
    letters(play, "good", good)
    keys = [TAKES, "message.timestamp.type", "retention.ms", "cleanup.policy"]
    resource = {"resource_type": 2, "resource_name": good, "configuration_keys": keys}
    play.call("its settings", ApiKey.DESCRIBE_CONFIGS, 4, {"resources": [resource]})


def prefixed(play: ModernPlay) -> None:
    """The broker requires another prefix of queue names."""
    if not _has_queues(play):
        return
    (topic,) = kept_topics(play, "t")
    for _ in range(2):
        _produce(play, topic)
    group = earliest(play, "g")
    sharer = Sharer(play, group).join(topic)
    usual, other = f"dlq.{play.text('-a')}", f"x-{play.text('-a')}"
    for at, name in enumerate((usual, other)):
        configure(play, group, **{NAME: name})
        reject(sharer, topic, (6 * at, 6 * at + 1))
    for label, name in (("usual", usual), ("other", other)):
        _exists(play, label, name)


def too_large(play: ModernPlay) -> None:
    """Dead letters that exceed the queue's limits, together or alone."""
    if not _has_queues(play):
        return
    topic, compressed = kept_topics(play, "t", "u")
    name = queue(play, max_message_bytes="700")
    _produce(play, topic)
    values = [b"a" * 10, b"b" * 600, b"c" * 10]
    _send(play, topic, batch(values))
    _send(play, compressed, batch([b"v" * 20] * 5, attributes=GZIP))
    sharer = reader(play, (topic, compressed), name, **{COPIES: "true"})
    reject(sharer, topic, (0, 5))
    letters(play, "in parts", name)
    sharer.fetch("more", (topic, 0))
    sharer.acknowledge("rejects more", {(topic, 0): [(6, 8, [REJECT])]})
    play.peer.pause(WRITTEN_MS)
    letters(play, "too large", name)
    reject(sharer, compressed, (1, 2), (4, 4))
    letters(play, "compressed", name)


def rights(play: ModernPlay) -> None:
    """Permissions that the inter-broker principal needs if it is not a super user."""
    if not _has_queues(play):
        return
    (topic,) = kept_topics(play, "t")
    for _ in range(2):
        _produce(play, topic)
    name, new = queue(play), f"dlq.{play.text('-new')}"
    sharer = reader(play, (topic,), name)
    _allow(play, ("bob", Operation.WRITE, name), (ME, Operation.READ, name))
    reject(sharer, topic, (1, 1))
    letters(play, "no write", name)
    state(play, "no write", sharer.group, topic)
    _allow(play, (ME, Operation.WRITE, name))
    reject(sharer, topic, (2, 2))
    letters(play, "write", name)
    configure(play, sharer.group, **{NAME: new})
    kept = ("CLUSTER_ACTION", "ALTER", "ALTER_CONFIGS", "DESCRIBE", "DESCRIBE_CONFIGS")
    _allow(
        play,
        ("bob", Operation.CREATE, new),
        (ME, Operation.READ, new),
        ("bob", Operation.CREATE, None),
        *((ME, Operation[operation], None) for operation in kept),
    )
    reject(sharer, topic, (3, 3))
    _exists(play, "no create", new)
    _allow(play, (ME, Operation.CREATE, new))
    reject(sharer, topic, (4, 4))
    _exists(play, "create", new)
    letters(play, "create", new)
    _allow(play, (ME, Operation.WRITE, new))
    reject(sharer, topic, (5, 5))
    letters(play, "create and write", new)
    other = f"dlq.{play.text('-other')}"
    configure(play, sharer.group, **{NAME: other})
    _allow(play, ("bob", Operation.CREATE, other), (ME, Operation.WRITE, other))
    _allow(play, (ME, Operation.CREATE, None), (ME, Operation.READ, other))
    reject(sharer, topic, (6, 6))
    letters(play, "create on the cluster", other)


ME = "ANONYMOUS"


def _allow(play: ModernPlay, *rights: tuple[str, Operation, str | None]) -> None:
    """Create ACLs of (principal, operation, topic); None is the cluster."""
    rows = [
        {
            "resource_type": int(ResourceType.CLUSTER if name is None else ResourceType.TOPIC),
            "resource_name": CLUSTER_NAME if name is None else name,
            "resource_pattern_type": int(PatternType.LITERAL),
            "principal": f"User:{who}",
            "host": "*",
            "operation": int(operation),
            "permission_type": int(Permission.ALLOW),
        }
        for who, operation, name in rights
    ]
    response = play.ask(ApiKey.CREATE_ACLS, 3, {"creations": rows})
    assert not any(result.error_code for result in response.results), response
    play.peer.pause(WRITTEN_MS)


def _has_queues(play: ModernPlay) -> bool:
    return play.has(ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE)


def _produce(play: ModernPlay, topic: str, index: int = 0) -> None:
    """Produce six records in two batches."""
    keys = [b"k0", None, b"k2"]
    produce(play, topic, 3, index=index, keys=keys)
    rows = [record(at, b"v%d" % at, None, 0, HEADERS) for at in range(3)]
    _send(play, topic, batch([b""] * 3, packs=lambda _: b"".join(rows)), index)


def _send(play: ModernPlay, topic: str, records: bytes, index: int = 0) -> None:
    rows = [{"index": index, "records": records}]
    topics = [{"name": topic, "partition_data": rows}]
    response = play.ask(ApiKey.PRODUCE, 9, {"acks": -1, "timeout_ms": 9000, "topic_data": topics})
    assert response.responses[0].partition_responses[0].error_code == 0, response


def _exists(play: ModernPlay, label: str, name: str) -> None:
    request = {"topics": [{"name": name}], "allow_auto_topic_creation": False}
    response = play.ask(ApiKey.METADATA, 9, request)
    (found,) = response.topics
    play.steps.append((f"{label} exists", [found.error_code, len(found.partitions)]))


def _set_topic(play: ModernPlay, topic: str, settings: Mapping[str, str]) -> None:
    configs = [
        {"name": key, "config_operation": 0, "value": text} for key, text in settings.items()
    ]
    kind = int(ConfigResourceType.TOPIC)
    resource = {"resource_type": kind, "resource_name": topic, "configs": configs}
    response = play.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [resource]})
    assert response.responses[0].error_code == 0, response
    play.peer.pause(WRITTEN_MS)


SETTINGS: dict[str, dict[str, Any]] = {
    "dead_letter-made": {MAKES: "true", "num.partitions": "2"},
    "dead_letter-rights": {
        MAKES: "true",
        "super.users": "User:admin",
        "allow.everyone.if.no.acl.found": "true",
    },
    "dead_letter-prefixed": {MAKES: "true", PREFIX: "x-"},
}
"""Broker settings that a scenario needs."""

SCENARIOS = (rejected, worn_out, with_partitions, unusable, made, prefixed, too_large, rights)
