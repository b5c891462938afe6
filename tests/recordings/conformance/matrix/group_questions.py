"""Questions for rows about the groups of KIP-848, KIP-932 and KIP-1071."""

import base64
from typing import Any, Final

from kafka_shim.protocol.enums import ApiKey
from tests.recordings.conformance.matrix.question import ANY_ID, Asker, Asking, Names, Question
from tests.recordings.conformance.scenario import topic_id_of

ROOT: Final = "anonymous"
MEMBER_EPOCH: Final = {"member_epoch": "join:member_epoch"}


def _id(name: str) -> str:
    return base64.b64encode(topic_id_of(name)).decode()


def _consumer(names: Names, **more: Any) -> dict[str, Any]:
    return {
        "group_id": names.empty_group,
        "member_id": "member",
        "rebalance_timeout_ms": 30_000,
        "topic_partitions": [],
        "subscribed_topic_names": [names.topic],
    } | more


def _regex(names: Names) -> Question:
    """A broker evaluates the regular expression between two heartbeats."""
    expression = f"{names.prefix}-topic.*"
    joining = _consumer(names, subscribed_topic_names=None, subscribed_topic_regex=expression)
    joined = Asking(ApiKey.CONSUMER_GROUP_HEARTBEAT, joining, {}, "join")
    alive = {"group_id": names.empty_group, "member_id": "member"}
    waiting = Asking(ApiKey.CONSUMER_GROUP_HEARTBEAT, alive, MEMBER_EPOCH, "again")
    takes = {"member_epoch": "again:member_epoch"}
    return Question(alive | {"topic_partitions": []}, [joined, waiting], takes)


def _described(names: Names, api: ApiKey, request: dict[str, Any]) -> Question:
    joined = Asking(api, request, {}, "", ROOT)
    asked = {"group_ids": [names.empty_group], "include_authorized_operations": True}
    return Question(asked, [joined])


def _share(names: Names, **more: Any) -> dict[str, Any]:
    return {
        "group_id": names.empty_group,
        "member_id": ANY_ID,
        "subscribed_topic_names": [names.topic],
    } | more


def _share_described(names: Names) -> Question:
    """A broker initialises partitions between two heartbeats, and then assigns them."""
    described = _described(names, ApiKey.SHARE_GROUP_HEARTBEAT, _share(names))
    joined = described.before[0]._replace(label="join")
    alive = {"group_id": names.empty_group, "member_id": ANY_ID}
    again = Asking(ApiKey.SHARE_GROUP_HEARTBEAT, alive, MEMBER_EPOCH, "", ROOT)
    return described._replace(before=[joined, again])


def _share_fetch(names: Names) -> Question:
    topic = {"topic_id": _id(names.topic), "partitions": [{"partition_index": 0}]}
    request = {
        "group_id": names.empty_group,
        "member_id": ANY_ID,
        "max_bytes": 1 << 20,
        "max_records": 10,
        "batch_size": 10,
        "topics": [topic],
    }
    joined = Asking(ApiKey.SHARE_GROUP_HEARTBEAT, _share(names), {}, "", ROOT)
    return Question(request, [joined])


def _share_acknowledge(names: Names) -> Question:
    fetched = _share_fetch(names)
    fetch = Asking(ApiKey.SHARE_FETCH, fetched.request)
    batches = [{"first_offset": 0, "last_offset": 0, "acknowledge_types": [1]}]
    partition = {"partition_index": 0, "acknowledgement_batches": batches}
    topic = {"topic_id": _id(names.topic), "partitions": [partition]}
    request = {
        "group_id": names.empty_group,
        "member_id": ANY_ID,
        "share_session_epoch": 1,
        "topics": [topic],
    }
    return Question(request, [*fetched.before, fetch])


def _state(names: Names, **partition: int) -> Question:
    topic = {"topic_id": _id(names.topic), "partitions": [{"partition": 0} | partition]}
    return Question({"group_id": names.empty_group, "topics": [topic]})


def _share_offsets(names: Names, topics: Any) -> Question:
    row = {"group_id": names.empty_group, "topics": topics}
    return Question({"groups": [row]}, [_shared(names)])


def _shared(names: Names) -> Asking:
    return Asking(ApiKey.SHARE_GROUP_HEARTBEAT, _share(names), {}, "", ROOT)


def _left(names: Names) -> list[Asking]:
    gone = _share(names, member_epoch=-1, subscribed_topic_names=None)
    return [_shared(names), Asking(ApiKey.SHARE_GROUP_HEARTBEAT, gone, {}, "", ROOT)]


def _alter_share_offsets(names: Names) -> Question:
    topic = {"topic_name": names.topic, "partitions": [{"partition_index": 0, "start_offset": 0}]}
    return Question({"group_id": names.empty_group, "topics": [topic]}, _left(names))


def _delete_share_offsets(names: Names) -> Question:
    topics = [{"topic_name": names.topic}]
    return Question({"group_id": names.empty_group, "topics": topics}, _left(names))


def _streams(names: Names, *changelogs: str) -> dict[str, Any]:
    logs = [{"name": name, "partitions": 0, "replication_factor": 1} for name in changelogs]
    subtopology = {
        "subtopology_id": "0",
        "source_topics": [names.topic],
        "state_changelog_topics": logs,
    }
    return {
        "group_id": names.empty_group,
        "member_id": "member",
        "rebalance_timeout_ms": 30_000,
        "topology": {"epoch": 0, "subtopologies": [subtopology]},
        "active_tasks": [],
        "standby_tasks": [],
        "warmup_tasks": [],
        "process_id": "process",
        "client_tags": [],
    }


def _creating(names: Names) -> Question:
    """The first heartbeat makes the broker create a topic, the second shows whether it exists."""
    changelog = f"{names.prefix}-changelog"
    joined = Asking(ApiKey.STREAMS_GROUP_HEARTBEAT, _streams(names, changelog), {}, "join")
    return Question({"group_id": names.empty_group, "member_id": "member"}, [joined], MEMBER_EPOCH)


GROUPS: Final[dict[str, Asker]] = {
    "ConsumerGroupHeartbeat.group": lambda names: Question(_consumer(names)),
    "ConsumerGroupHeartbeat.topic": lambda names: Question(_consumer(names)),
    "ConsumerGroupHeartbeat.regex": _regex,
    "ConsumerGroupDescribe.group": lambda names: _described(
        names, ApiKey.CONSUMER_GROUP_HEARTBEAT, _consumer(names)
    ),
    "ConsumerGroupDescribe.topic": lambda names: _described(
        names, ApiKey.CONSUMER_GROUP_HEARTBEAT, _consumer(names)
    ),
    "ShareGroupHeartbeat.group": lambda names: Question(_share(names)),
    "ShareGroupHeartbeat.topic": lambda names: Question(_share(names)),
    "ShareGroupDescribe.group": _share_described,
    "ShareGroupDescribe.topic": _share_described,
    "ShareFetch.group": _share_fetch,
    "ShareFetch.topic": _share_fetch,
    "ShareAcknowledge.group": _share_acknowledge,
    "ShareAcknowledge.topic": _share_acknowledge,
    "InitializeShareGroupState.cluster": lambda names: _state(names, state_epoch=1),
    "ReadShareGroupState.cluster": _state,
    "WriteShareGroupState.cluster": lambda names: _state(names, state_epoch=1),
    "DeleteShareGroupState.cluster": _state,
    "ReadShareGroupStateSummary.cluster": _state,
    "StreamsGroupHeartbeat.group": lambda names: Question(_streams(names)),
    "StreamsGroupHeartbeat.topic": lambda names: Question(_streams(names)),
    "StreamsGroupHeartbeat.create": _creating,
    "StreamsGroupDescribe.group": lambda names: _described(
        names, ApiKey.STREAMS_GROUP_HEARTBEAT, _streams(names)
    ),
    "StreamsGroupDescribe.topic": lambda names: _described(
        names, ApiKey.STREAMS_GROUP_HEARTBEAT, _streams(names)
    ),
    "StreamsGroupTopologyDescriptionUpdate.group": lambda names: Question(
        {"group_id": names.group, "member_id": "member"}
    ),
    "DescribeShareGroupOffsets.group": lambda names: _share_offsets(
        names, [{"topic_name": names.topic, "partitions": [0]}]
    ),
    "DescribeShareGroupOffsets.topic": lambda names: _share_offsets(
        names, [{"topic_name": names.topic, "partitions": [0]}]
    ),
    "DescribeShareGroupOffsets.all_topics": lambda names: _share_offsets(names, None),
    "AlterShareGroupOffsets.group": _alter_share_offsets,
    "AlterShareGroupOffsets.topic": _alter_share_offsets,
    "DeleteShareGroupOffsets.group": _delete_share_offsets,
    "DeleteShareGroupOffsets.topic": _delete_share_offsets,
}
"""Questions by the row's id."""
