"""Requests of share group members (KIP-932): ShareFetch and ShareAcknowledge."""

from collections.abc import Mapping, Sequence
from typing import Any

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from tests.recordings.groups.modern_play import NEWEST, ModernPlay
from tests.recordings.records.batches import T0, batch
from tests.recordings.records.play import KEPT

A = "AAAAAAAAAAAAAAAAAAAAAQ"
B = "AAAAAAAAAAAAAAAAAAAAAg"
ACCEPT, RELEASE, REJECT, RENEW = 1, 2, 3, 4
GAP = 0
PRODUCE_BY_NAME = 12
RENEWS_SINCE = 2
"""The first version of ShareFetch and ShareAcknowledge that can renew acquisitions."""
HOUR_MS = 3_600_000
SETTLED_MS = 600
"""Time after which a broker has applied a setting."""

Acks = Mapping[tuple[str, int], Sequence[tuple[int, int, Sequence[int]]]]
"""Acknowledgements by topic and partition: first offset, last offset, types."""


class Sharer:
    """A share group member with its own connection and share session."""

    def __init__(self, play: ModernPlay, group: str, member: str = A) -> None:
        self.play = play
        self.group = group
        self.member = member
        self.connection = member
        self.epoch = 0
        self.member_epoch = 0

    def join(self, *topics: str, partitions: int = 1) -> "Sharer":
        """Join or rejoin, and wait until `partitions` partitions of each topic are assigned."""
        play = self.play
        wanted = {play.topic_ids[name] for name in topics}
        response = self._beat(topics)
        for _ in range(20):
            play.settle()
            response = self._beat(topics)
            rows = response.assignment.topic_partitions if response.assignment else ()
            if wanted == {row.topic_id for row in rows if len(row.partitions) >= partitions}:
                return self
        raise AssertionError(f"{self.group} gets nothing: {response}")

    def _beat(self, topics: Sequence[str]) -> Any:
        request = {
            "group_id": self.group,
            "member_id": self.member,
            "member_epoch": self.member_epoch,
            "subscribed_topic_names": list(topics),
        }
        response = self.play.ask(ApiKey.SHARE_GROUP_HEARTBEAT, NEWEST, request)
        self.member_epoch = response.member_epoch
        return response

    def fetch(
        self,
        label: str,
        *wanted: tuple[str, int],
        acks: Acks | None = None,
        forgotten: Sequence[tuple[str, int]] = (),
        version: int = NEWEST,
        **more: Any,
    ) -> Any:
        rows: dict[tuple[str, int], Any] = {place: [] for place in wanted} | dict(acks or {})
        request = {
            "group_id": self.group,
            "member_id": self.member,
            "share_session_epoch": self.epoch,
            "max_wait_ms": 700,
            "min_bytes": 1,
            "max_bytes": 1 << 20,
            "max_records": 500,
            "batch_size": 500,
            "topics": self._topics(rows),
            "forgotten_topics_data": [
                {"topic_id": self.play.topic_ids[name], "partitions": [index]}
                for name, index in forgotten
            ],
        } | more
        return self._call(label, ApiKey.SHARE_FETCH, version, request)

    def acknowledge(self, label: str, acks: Acks, *, version: int = NEWEST, **more: Any) -> Any:
        request = {
            "group_id": self.group,
            "member_id": self.member,
            "share_session_epoch": self.epoch,
            "topics": self._topics(acks),
        } | more
        return self._call(label, ApiKey.SHARE_ACKNOWLEDGE, version, request)

    def _call(self, label: str, api: ApiKey, version: int, request: dict[str, Any]) -> Any:
        response = self.play.call(label, api, version, request, self.connection)
        asked = request["share_session_epoch"]
        if not isinstance(response, str) and response.error_code == 0 and asked == self.epoch:
            self.epoch = 0 if asked == -1 else asked + 1
        return response

    def _topics(self, acks: Acks) -> list[dict[str, Any]]:
        topics: dict[str, list[dict[str, Any]]] = {}
        for (name, index), batches in acks.items():
            rows = [
                {"first_offset": first, "last_offset": last, "acknowledge_types": list(types)}
                for first, last, types in batches
            ]
            row = {"partition_index": index, "acknowledgement_batches": rows}
            topics.setdefault(name, []).append(row)
        ids = self.play.topic_ids
        return [{"topic_id": ids[name], "partitions": rows} for name, rows in topics.items()]


def produce(play: ModernPlay, topic: str, *sizes: int, index: int = 0, **options: Any) -> None:
    """Produce batches with these numbers of records, each in its own request."""
    for size in sizes:
        rows = [{"index": index, "records": batch([b"v"] * size, **options)}]
        request = {
            "acks": -1,
            "timeout_ms": 9000,
            "topic_data": [{"name": topic, "partition_data": rows}],
        }
        if options.get("producer"):
            request["transactional_id"] = play.text("tx")
        response = play.ask(ApiKey.PRODUCE, PRODUCE_BY_NAME, request)
        (row,) = response.responses[0].partition_responses
        assert row.error_code == 0, row


def configure(play: ModernPlay, group: str, **settings: str) -> None:
    """Set settings of a group, e.g. `share_auto_offset_reset`."""
    named = {name.replace("_", "."): value for name, value in settings.items()}
    _configure(play, ConfigResourceType.GROUP, group, named)


def kept_topics(play: ModernPlay, *suffixes: str, partitions: int = 2) -> list[str]:
    """Create topics that keep records of any timestamp, in one segment."""
    names = play.topic(*suffixes, partitions=partitions)
    for name in names:
        _configure(play, ConfigResourceType.TOPIC, name, KEPT)
    return names


def compact_soon(play: ModernPlay, *topics: str) -> None:
    """Let the cleaner compact topics as soon as a segment ends, after an hour of record time."""
    settings = {
        "cleanup.policy": "compact",
        "min.cleanable.dirty.ratio": "0.0",
        "segment.ms": str(HOUR_MS),
    }
    for name in topics:
        _configure(play, ConfigResourceType.TOPIC, name, settings)


def roll(play: ModernPlay, topic: str) -> None:
    """Append a record that begins a new segment."""
    produce(play, topic, 1, keys=[b"roll"], times=[T0 + 2 * HOUR_MS])


def _configure(
    play: ModernPlay, kind: ConfigResourceType, name: str, settings: Mapping[str, str]
) -> None:
    configs = [
        {"name": setting, "config_operation": 0, "value": value}
        for setting, value in settings.items()
    ]
    resource = {"resource_type": int(kind), "resource_name": name, "configs": configs}
    response = play.ask(ApiKey.INCREMENTAL_ALTER_CONFIGS, 1, {"resources": [resource]})
    assert response.responses[0].error_code == 0, response
    play.peer.pause(SETTLED_MS)


def state(play: ModernPlay, label: str, group: str, topic: str, index: int = 0) -> None:
    """Record the stored and the described state of a share partition."""
    play.peer.pause(SETTLED_MS)
    topic_id = play.topic_ids[topic]
    refuses_unknown = play.has(ApiKey.STREAMS_GROUP_TOPOLOGY_DESCRIPTION_UPDATE)  # since 4.4
    asked = {"partition": index, "leader_epoch": 0 if refuses_unknown else -1}
    topics = [{"topic_id": topic_id, "partitions": [asked]}]
    for api in (ApiKey.READ_SHARE_GROUP_STATE, ApiKey.READ_SHARE_GROUP_STATE_SUMMARY):
        request = {"group_id": group, "topics": topics}
        play.call(f"{label}, {api.wire_name}", api, NEWEST, request)
    named = [{"topic_name": topic, "partitions": [index]}]
    groups = [{"group_id": group, "topics": named}]
    api = ApiKey.DESCRIBE_SHARE_GROUP_OFFSETS
    play.call(f"{label}, {api.wire_name}", api, NEWEST, {"groups": groups})


def serves(play: ModernPlay) -> bool:
    """Return whether share groups are enabled."""
    if not play.has(ApiKey.SHARE_FETCH):
        return False
    request = {"group_id": "off", "member_id": A, "member_epoch": -1}
    response = play.ask(ApiKey.SHARE_GROUP_HEARTBEAT, 1, request)
    return bool(response.error_code != 35)


def earliest(play: ModernPlay, name: str = "g", **settings: str) -> str:
    """Return a group that begins at the start of its topics."""
    group = play.text(name)
    configure(play, group, share_auto_offset_reset="earliest", **settings)
    return group
