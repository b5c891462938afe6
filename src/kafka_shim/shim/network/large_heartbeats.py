"""Heartbeats for which all members of a large group may have to be gone through."""

from typing import TYPE_CHECKING, Any, cast

from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.groups.group import GroupType

if TYPE_CHECKING:  # a kind of groups is imported with the first group of it
    from kafka_shim.shim.state.groups.consumer.consumer_group import ConsumerGroup
    from kafka_shim.shim.state.groups.share.share_group import ShareGroup
    from kafka_shim.shim.state.groups.streams.streams_group import StreamsGroup

MANY_MEMBERS = 1000
"""A target assignment of as many takes its time."""
MANY_STREAMS = 250
MANY_TOPICS = 500
"""As many that members subscribe to are counted again for each change."""
MANY_MOVED = 5
"""To move as many partitions of a member, those of all others are collected (`epoch_group.FEW`)."""
MANY_SHARED = 250
"""Members of a share group and partitions, together."""


def of_consumers(cluster: Cluster, request: Any, *, has_many_topics: bool) -> bool:
    """Whether it may bring a new target assignment of very many members, or of very many partitions
    if there are as many; or move its member by a great step.
    """
    group = cluster.groups.kept(request.group_id)
    if group is None or group.type is not GroupType.CONSUMER:
        return has_many_topics
    found = cast("ConsumerGroup", group)
    if not has_many_topics and len(found.members) < MANY_MEMBERS:
        return False
    told = (
        request.subscribed_topic_names,
        request.subscribed_topic_regex,
        request.server_assignor,
    )
    changes = request.member_epoch == 0 or told != (None, None, None)
    has_news = not found.subscriptions.are_noticed
    if found.target.is_near(changed=changes or has_news):
        return True
    return has_many_topics and (
        has_news
        or (changes and found.target.topic_count >= MANY_TOPICS)
        or request.subscribed_topic_regex is not None
        or bool(found.subscriptions.matched)
        or _moves_far(found, request)
    )


def _moves_far(group: "ConsumerGroup", request: Any) -> bool:
    """Whether a member gets, gives up or reports so many partitions that all are looked at."""
    member = group.members.get(request.member_id)
    if member is None or member.is_reconciled(group.target.target_epoch):
        return bool(request.topic_partitions)
    held = (*group.target.of(member.member_id).values(), *member.assigned.values())
    return bool(request.topic_partitions) or sum(map(len, held)) >= MANY_MOVED


def of_sharers(cluster: Cluster, request: Any) -> bool:
    """The same; and a member makes the states of partitions that its group has none of."""
    group = cluster.groups.kept(request.group_id)
    is_known = group is not None and group.type is GroupType.SHARE
    found = cast("ShareGroup", group) if is_known else None
    names = request.subscribed_topic_names or ()
    begun = {} if found is None else found.begun
    topics = [topic for name in names if (topic := cluster.topics.get(name)) is not None]
    new = sum(len(topic.partitions) - len(begun.get(topic.topic_id, ())) for topic in topics)
    if found is None or new >= MANY_SHARED:
        return new >= MANY_SHARED
    if len(found.members) + cluster.topics.partition_count < MANY_SHARED:
        return False
    changes = request.member_epoch == 0 or request.subscribed_topic_names is not None
    return found.target.is_near(changed=changes or not found.subscriptions.are_noticed)


def of_streams(cluster: Cluster, request: Any) -> bool:
    """The same; and it may return the endpoints of all members."""
    group = cluster.groups.kept(request.group_id)
    if group is None or group.type is not GroupType.STREAMS:
        return False
    found = cast("StreamsGroup", group)
    if len(found.members) < MANY_STREAMS:
        return False
    told = (request.topology, request.process_id, request.user_endpoint, request.client_tags)
    changes = request.member_epoch == 0 or told != (None, None, None, None)
    return found.is_long(changes=changes, endpoint_epoch=request.endpoint_information_epoch)
