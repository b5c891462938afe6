"""Stories of share groups and streams groups with two members."""

from kafka_shim.protocol.enums import ApiKey, ConfigResourceType
from kafka_shim.protocol.messages import incremental_alter_configs as incremental
from kafka_shim.protocol.messages.share_acknowledge import (
    AcknowledgementBatch,
    AcknowledgePartition,
    AcknowledgeTopic,
    ShareAcknowledgeRequest,
)
from kafka_shim.protocol.messages.share_fetch import (
    AcknowledgementBatch as FetchAcknowledgement,
    FetchPartition,
    FetchTopic,
    ShareFetchRequest,
)
from kafka_shim.protocol.messages.share_group_describe import ShareGroupDescribeRequest
from kafka_shim.protocol.messages.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafka_shim.protocol.messages.streams_group_describe import StreamsGroupDescribeRequest
from tests.recordings.conformance.requests.share import MEMBER_IDS
from tests.recordings.conformance.scenario import topic_id_of
from tests.recordings.conformance.stories.sharing import (
    LONG_ENOUGH_MS,
    heartbeat,
    produced,
    share_offsets,
    topology,
)
from tests.recordings.conformance.telling import Move, Story, Teller


class Sharer:
    """Makes the moves of a share group member with its own connection."""

    def __init__(self, teller: Teller, group: str, topic: str, member: str, user: str) -> None:
        self._teller = teller
        self._group = group
        self._topic = topic
        self._member = member
        self._user = user
        self._last = ""
        self._epoch = 0

    def join(self) -> Move:
        request = ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self._member, subscribed_topic_names=[self._topic]
        )
        self._last = self._teller.label()
        return Move(ApiKey.SHARE_GROUP_HEARTBEAT, request, {}, self._last, user=self._user)

    def alive(self) -> Move:
        request = ShareGroupHeartbeatRequest(group_id=self._group, member_id=self._member)
        takes = {"member_epoch": f"{self._last}:member_epoch"}
        self._last = self._teller.label()
        return Move(ApiKey.SHARE_GROUP_HEARTBEAT, request, takes, self._last, user=self._user)

    def leave(self) -> Move:
        request = ShareGroupHeartbeatRequest(
            group_id=self._group, member_id=self._member, member_epoch=-1
        )
        return Move(ApiKey.SHARE_GROUP_HEARTBEAT, request, user=self._user)

    def fetch(self, *types: int, records_max: int = 10) -> Move:
        """Fetch; `types` acknowledge the first two records in the same request."""
        row = FetchPartition(partition_index=0)
        if types:
            row.acknowledgement_batches = [
                FetchAcknowledgement(first_offset=0, last_offset=1, acknowledge_types=list(types))
            ]
        topics = [FetchTopic(topic_id=topic_id_of(self._topic), partitions=[row])]
        request = ShareFetchRequest(
            group_id=self._group,
            member_id=self._member,
            share_session_epoch=self._next_epoch(),
            max_wait_ms=LONG_ENOUGH_MS,
            min_bytes=1,
            max_bytes=1 << 20,
            max_records=records_max,
            batch_size=10,
            topics=topics if self._epoch == 1 or types else [],
        )
        return Move(ApiKey.SHARE_FETCH, request, user=self._user)

    def acknowledge(self, first: int, last: int, *types: int) -> Move:
        row = AcknowledgePartition(
            partition_index=0,
            acknowledgement_batches=[
                AcknowledgementBatch(
                    first_offset=first, last_offset=last, acknowledge_types=list(types)
                )
            ],
        )
        topics = [AcknowledgeTopic(topic_id=topic_id_of(self._topic), partitions=[row])]
        request = ShareAcknowledgeRequest(
            group_id=self._group,
            member_id=self._member,
            share_session_epoch=self._next_epoch(),
            topics=topics,
        )
        return Move(ApiKey.SHARE_ACKNOWLEDGE, request, user=self._user)

    def _next_epoch(self) -> int:
        self._epoch += 1
        return self._epoch - 1


def share_pair(teller: Teller) -> Story:
    """Two members share records; a record that one of them releases goes to the other."""
    draw = teller.draw
    group, topic = draw.fresh("g-s"), draw.pick(*draw.topics)
    first = Sharer(teller, group, topic, MEMBER_IDS[0], teller.user)
    second = Sharer(teller, group, topic, MEMBER_IDS[1], f"{teller.user}/{teller.number}")
    if draw.chance(0.5):
        yield produced(topic)
        yield group_setting(group, "share.auto.offset.reset", "earliest")
    yield first.join()
    yield first.alive()
    yield second.join()
    yield second.alive()
    yield first.fetch()
    yield produced(topic)
    yield first.fetch(records_max=draw.pick(1, 2, 10))
    yield second.fetch()
    leaver, other = draw.pick((first, second), (second, first))
    kinds = draw.pick((1,), (2,), (3,), (1, 2), (2, 3), (0,), (7,), (1, 1, 1))
    yield leaver.acknowledge(0, draw.pick(0, 1, 1, 5), *kinds)
    yield other.acknowledge(0, 1, draw.pick(1, 2))
    yield share_offsets(group)
    yield produced(topic)
    yield other.fetch(*draw.pick((), (1,), (2,)))
    yield leaver.fetch()
    yield leaver.leave()
    yield other.alive()
    yield other.fetch()
    describe = ShareGroupDescribeRequest(group_ids=[group])
    yield Move(ApiKey.SHARE_GROUP_DESCRIBE, describe)
    yield share_offsets(group)


def group_setting(group: str, key: str, value: str) -> Move:
    change = incremental.AlterableConfig(name=key, config_operation=0, value=value)
    resource = incremental.AlterConfigsResource(
        resource_type=ConfigResourceType.GROUP, resource_name=group, configs=[change]
    )
    request = incremental.IncrementalAlterConfigsRequest(resources=[resource])
    return Move(ApiKey.INCREMENTAL_ALTER_CONFIGS, request)


def streams_pair(teller: Teller) -> Story:
    """A second member of an application gets its share of the tasks, and leaves."""
    draw = teller.draw
    group, topic = draw.fresh("g-t"), draw.pick(*draw.topics, draw.ghosts[0])
    first, second = draw.fresh("member"), draw.fresh("member")
    user = f"{teller.user}/{teller.number}"
    labels = {}
    for member, who in ((first, ""), (second, user)):
        labels[member] = teller.label()
        plan = topology(topic, "")
        yield heartbeat(group, member, label=labels[member], topology=plan)._replace(user=who)
    describe = StreamsGroupDescribeRequest(group_ids=[group])
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    for member, who in ((first, ""), (second, user), (first, "")):
        takes = {"member_epoch": f"{labels[member]}:member_epoch"}
        labels[member] = teller.label()
        yield heartbeat(group, member, takes, label=labels[member])._replace(user=who)
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
    yield heartbeat(group, second, member_epoch=-1)._replace(user=user)
    takes = {"member_epoch": f"{labels[first]}:member_epoch"}
    yield heartbeat(group, first, takes)
    yield Move(ApiKey.STREAMS_GROUP_DESCRIBE, describe)
