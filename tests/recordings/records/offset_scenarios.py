"""ListOffsets, OffsetForLeaderEpoch and DeleteRecords in every version."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.delete_records import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from kafka_shim.protocol.messages.list_offsets import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from kafka_shim.protocol.messages.offset_for_leader_epoch import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.recordings.records.batches import GZIP, T0, batch
from tests.recordings.records.play import Play


def timed(play: Play, name: str = "a") -> str:
    """Create a topic whose records have rising and falling timestamps."""
    topic = play.topic(name)
    for times, attributes in (
        ([T0 + 100, T0 + 300, T0 + 200], 0),
        ([T0 + 50, T0 + 250], GZIP),
        ([T0 + 300], 0),
        ([T0 + 400, T0 + 390], GZIP),
        ([T0 + 10], 0),
    ):
        records = batch([b"x"] * len(times), times=times, attributes=attributes)
        request = play.produce_request([(topic, [(0, records)])])
        play.settled(ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), request)
    return topic


def list_request(
    topic: str, timestamp: int, *, index: int = 0, epoch: int = -1, count: int = 10
) -> ListOffsetsRequest:
    partition = ListOffsetsPartition(
        partition_index=index,
        current_leader_epoch=epoch,
        timestamp=timestamp,
        max_num_offsets=count,
    )
    return ListOffsetsRequest(
        replica_id=-1,
        topics=[ListOffsetsTopic(name=topic, partitions=[partition])],
        timeout_ms=5000,
    )


def list_by_time(play: Play) -> None:
    api = ApiKey.LIST_OFFSETS
    topic = timed(play)
    empty = play.topic("empty")
    times = {f"T0+{delta}": T0 + delta for delta in (0, 50, 100, 101, 201, 301, 391, 401)}
    times |= {str(special): special for special in (-1, -2, -3, -4, -5, -6, -7, -9, 0)}
    for version in play.versions(api):
        for label, time in times.items():
            play.call(f"{label}, {version}", api, version, list_request(topic, time))
        for special in (-1, -2, -3, -4, -5, -6, T0):
            play.call(f"empty {special}, {version}", api, version, list_request(empty, special))


def list_places(play: Play) -> None:
    api = ApiKey.LIST_OFFSETS
    topic = timed(play)
    for version in play.versions(api):
        play.call(f"no topic {version}", api, version, list_request(play.unknown(), -1))
        play.call(f"no partition {version}", api, version, list_request(topic, -1, index=4))
        for count in (0, 1, -1):
            request = list_request(topic, -1, count=count)
            if version == 0:
                play.call(f"count {count}", api, version, request)
        if version >= 4:
            for epoch in (0, 1, -2):
                request = list_request(topic, -1, epoch=epoch)
                play.call(f"epoch {epoch}, {version}", api, version, request)
        for replica in (1, 7, -2, -3):
            request = list_request(topic, -1)
            request.replica_id = replica
            play.call(f"replica {replica}, {version}", api, version, request)
        for level in (0, 1, 2):
            request = list_request(topic, -1)
            request.isolation_level = level
            play.call(f"isolation {level}, {version}", api, version, request)
        first = ListOffsetsPartition(partition_index=0, timestamp=-1, max_num_offsets=2)
        second = ListOffsetsPartition(partition_index=0, timestamp=-2, max_num_offsets=2)
        request = list_request(topic, -1)
        request.topics[0].partitions = [first, second]
        play.call(f"twice {version}", api, version, request)


def epochs(play: Play) -> None:
    api = ApiKey.OFFSET_FOR_LEADER_EPOCH
    topic = timed(play)
    empty = play.topic("empty")

    def request(name: str, epoch: int, current: int = -1, index: int = 0) -> object:
        partition = OffsetForLeaderPartition(
            partition=index, current_leader_epoch=current, leader_epoch=epoch
        )
        topics = [OffsetForLeaderTopic(topic=name, partitions=[partition])]
        return OffsetForLeaderEpochRequest(replica_id=-1, topics=topics)

    for version in play.versions(api):
        for epoch in (0, 1, -1, 5, -2):
            play.call(f"epoch {epoch}, {version}", api, version, request(topic, epoch))
            play.call(f"empty, epoch {epoch}, {version}", api, version, request(empty, epoch))
        for current in (0, 1):
            label = f"current {current}, {version}"
            play.call(label, api, version, request(topic, 0, current))
        play.call(f"no topic {version}", api, version, request(play.unknown(), 0))
        play.call(f"no partition {version}", api, version, request(topic, 0, index=3))


def delete_records(play: Play) -> None:
    api = ApiKey.DELETE_RECORDS

    def request(name: str, offset: int, index: int = 0) -> DeleteRecordsRequest:
        partition = DeleteRecordsPartition(partition_index=index, offset=offset)
        topics = [DeleteRecordsTopic(name=name, partitions=[partition])]
        return DeleteRecordsRequest(topics=topics, timeout_ms=5000)

    for version in play.versions(api):
        topic = timed(play, f"a{version}")
        for offset in (0, 2, 1, 4, 99, -2, -1, 3):
            play.call(f"before {offset}, {version}", api, version, request(topic, offset))
            list_version = play.newest(ApiKey.LIST_OFFSETS)
            earliest = list_request(topic, -2)
            play.call(f"earliest {offset}, {version}", ApiKey.LIST_OFFSETS, list_version, earliest)
            if offset in (4, -1):
                play.fetch(f"from the start {offset}, {version}", topic)
                play.fetch(f"from the new start {offset}, {version}", topic, max(offset, 9))
        play.call(f"no topic {version}", api, version, request(play.unknown(), 0))
        play.call(f"no partition {version}", api, version, request(topic, 0, index=3))
        internal = request("__consumer_offsets", 0)
        play.call(f"internal {version}", api, version, internal)
    compacted = play.topic("compacted", cleanup_policy="compact")
    play.call("compacted", api, play.newest(api), request(compacted, 0))
    topic = timed(play, "starts")
    play.call("delete within a batch", api, play.newest(api), request(topic, 1))
    for offset in (0, 1, 2):
        play.fetch(f"from {offset}", topic, offset)
    for time in (T0, T0 + 100, T0 + 300, -2, -1):
        version = play.newest(ApiKey.LIST_OFFSETS)
        play.call(f"list {time - T0}", ApiKey.LIST_OFFSETS, version, list_request(topic, time))


def unknown_levels(play: Play) -> None:
    """An isolation level that does not exist, with partitions that fail for other reasons, too."""
    topic = timed(play)
    for version in (2, play.newest(ApiKey.LIST_OFFSETS)):
        for level, replica in ((7, -1), (-1, -1), (7, 1)):
            early = ListOffsetsPartition(partition_index=1, timestamp=-40)
            one = ListOffsetsPartition(partition_index=0, timestamp=-1)
            for label, partitions in (("early", [one, early]), ("twice", [one, one, early])):
                request = list_request(topic, -1)
                request.isolation_level, request.replica_id = level, replica
                request.topics[0].partitions = partitions
                place = f"{label}, {level} by {replica}, {version}"
                play.call(place, ApiKey.LIST_OFFSETS, version, request)


SCENARIOS = (list_by_time, list_places, epochs, delete_records, unknown_levels)
