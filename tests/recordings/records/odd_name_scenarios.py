"""Names and values that a request can have but should not: reserved, empty, without partitions."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.records.play import Play

METADATA_LOG = "__cluster_metadata"


def metadata_log(play: Play) -> None:
    """Metadata of the metadata log, which would create another missing topic."""
    for version in play.versions(ApiKey.METADATA):
        for turn in range(3):
            request = {"topics": [{"name": METADATA_LOG}], "allow_auto_topic_creation": True}
            response = play.ask(ApiKey.METADATA, version, request)
            codes = [topic.error_code for topic in response.topics]
            play.steps.append((f"version {version}, {turn}", codes))
            play.peer.pause(200)


def empty_topic_names(play: Play) -> None:
    """DescribeTopicPartitions of an empty name, alone or with others."""
    api = ApiKey.DESCRIBE_TOPIC_PARTITIONS
    if not play.has(api):
        return
    topic = play.topic()
    for label, names in (
        ("empty", [""]),
        ("a topic and empty", [topic, ""]),
        ("invalid", ["a/b", topic]),
        ("blank", [" ", topic]),
        ("twice", [topic, topic]),
        ("dots", [".", ".."]),
        ("long", ["x" * 250]),
    ):
        rows = [{"name": name} for name in names]
        play.call(label, api, 0, {"topics": rows})
        cursor = {"topic_name": names[0], "partition_index": 0}
        play.call(f"{label}, from there", api, 0, {"topics": rows, "cursor": cursor})


def voters(play: Play) -> None:
    """Requests to change the voters of a static quorum, valid or not."""
    listener = {"name": "CONTROLLER", "host": "127.0.0.1", "port": 9}
    for api in (ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER):
        if not play.has(api):
            continue
        changes: dict[str, dict[str, Any]] = {
            "valid": {},
            "another cluster": {"cluster_id": "another"},
            "empty cluster": {"cluster_id": ""},
            "voter -1": {"voter_id": -1},
            "voter 0": {"voter_id": 0},
            "known voter": {"voter_id": 1},
            "no directory": {"voter_directory_id": bytes(16)},
            "no listeners": {"listeners": []},
            "twice": {"listeners": [listener, listener]},
            "unknown listener": {"listeners": [listener | {"name": "X"}]},
            "another cluster, voter -1": {"cluster_id": "another", "voter_id": -1},
        }
        for label, change in changes.items():
            for version in play.versions(api):
                request: dict[str, Any] = {"cluster_id": None, "voter_id": 77}
                request["voter_directory_id"] = b"\x22" * 16
                if api is ApiKey.ADD_RAFT_VOTER:
                    request["listeners"] = [listener]
                request |= change
                if api is ApiKey.REMOVE_RAFT_VOTER:
                    request.pop("listeners", None)
                play.call(f"{api.wire_name} {version}: {label}", api, version, request)


def reassigned(play: Play) -> None:
    """The leader epoch of a partition after a reassignment, without and with records."""
    api = ApiKey.ALTER_PARTITION_REASSIGNMENTS
    if not play.has(api):
        return
    topic = play.topic(partitions=2)
    for turn in ("made", "reassigned", "cancelled", "again"):
        if turn != "made":
            replicas = None if turn == "cancelled" else [1]
            rows = [{"partition_index": 0, "replicas": replicas}]
            play.call(turn, api, 0, {"topics": [{"name": topic, "partitions": rows}]})
            play.peer.pause(1_000)
        asked = {"topics": [{"name": topic}], "allow_auto_topic_creation": False}
        found = play.ask(ApiKey.METADATA, 9, asked).topics[0]
        epochs = sorted((row.partition_index, row.leader_epoch) for row in found.partitions)
        play.steps.append((f"metadata, {turn}", [list(row) for row in epochs]))
        for timestamp in (-1, -2, 0):
            parts = [{"partition_index": at, "timestamp": timestamp} for at in (0, 1)]
            wanted = {"replica_id": -1, "topics": [{"name": topic, "partitions": parts}]}
            play.call(f"offsets {timestamp}, {turn}", ApiKey.LIST_OFFSETS, 5, wanted)
        for epoch in range(3):
            parts = [{"partition": at, "leader_epoch": epoch} for at in (0, 1)]
            looked = {"replica_id": -1, "topics": [{"topic": topic, "partitions": parts}]}
            play.call(f"epoch {epoch}, {turn}", ApiKey.OFFSET_FOR_LEADER_EPOCH, 3, looked)


def empty_quota_names(play: Play) -> None:
    """Filters of quotas by an empty name, alone or with other components."""
    if not play.has(ApiKey.DESCRIBE_CLIENT_QUOTAS):
        return
    exact, default, specified = 0, 1, 2
    for filters in (
        [("user", exact, "")],
        [("client-id", exact, "")],
        [("ip", exact, "")],
        [("user", exact, ""), ("client-id", exact, "x")],
        [("user", exact, "x"), ("client-id", exact, "")],
        [("user", exact, ""), ("client-id", default, None)],
        [("user", default, None), ("client-id", exact, "")],
        [("user", exact, ""), ("client-id", specified, None)],
        [("user", specified, None), ("client-id", exact, "")],
        [("user", exact, ""), ("user", exact, "")],
        [("user", exact, ""), ("ip", exact, "1.1.1.1")],
        [("user", exact, ""), ("nonsense", exact, "x")],
    ):
        names = ("entity_type", "match_type", "match")
        components = [dict(zip(names, row, strict=True)) for row in filters]
        for strict in (False, True):
            label = f"{filters}, {'strict' if strict else 'not strict'}"
            request = {"components": components, "strict": strict}
            play.call(label, ApiKey.DESCRIBE_CLIENT_QUOTAS, 0, request)


SCENARIOS = (metadata_log, empty_topic_names, voters, reassigned, empty_quota_names)
