"""When a short request is handled in time slices: by the amount of data that it names."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from kafka_shim.authorizer.authorizer import StandardAuthorizer
from kafka_shim.protocol.enums import ResourceType
from kafka_shim.shim.state.cluster import Cluster

if TYPE_CHECKING:
    from kafka_shim.protocol.messages.delete_acls import DeleteAclsFilter
    from kafka_shim.protocol.messages.describe_acls import DescribeAclsRequest

MANY_ROWS = 5_000
"""More partitions, groups or ACLs than this are not handled in one time slice."""
MANY_MEMBERS = 1_000
"""As many members of groups are not handled in one time slice."""

_RESOURCE_TYPES = frozenset(ResourceType) - {ResourceType.UNKNOWN, ResourceType.ANY}


def has_many_partitions(cluster: Cluster) -> bool:
    """Return whether the cluster has so many partitions that a request for all takes long."""
    return cluster.topics.partition_count > MANY_ROWS


def topics_have_many_partitions(cluster: Cluster, names: Iterable[str]) -> bool:
    """Return whether the topics with these names have many partitions together."""
    return has_many_partitions(cluster) and partition_count_of_topics(cluster, names) > MANY_ROWS


def partition_count_of_topics(cluster: Cluster, names: Iterable[str]) -> int:
    """Return how many partitions the existing topics of these names have together."""
    topics = (cluster.topics.get(name) for name in names)
    return sum(len(topic.partitions) for topic in topics if topic is not None)


def groups_have_long_descriptions(cluster: Cluster, group_ids: Iterable[str]) -> bool:
    """Return whether the groups have many members or rows of a description, together."""
    members = rows = 0
    for group_id in group_ids:
        group = cluster.groups.find_without_side_effects(group_id)
        members += 1
        if group is not None:
            members += group.member_count
            rows += group.described_partition_and_topic_count
        if members >= MANY_MEMBERS or rows > MANY_ROWS:
            return True
    return False


def filters_may_match_many_acls(
    cluster: Cluster, filters: "Iterable[DescribeAclsRequest | DeleteAclsFilter]"
) -> bool:
    """Return whether many ACLs apply to the resources of the filters, or to all resources if a
    filter names none.
    """
    authorizer = cluster.policy.authorizer
    if not isinstance(authorizer, StandardAuthorizer) or len(authorizer.store) <= MANY_ROWS:
        return False
    count = 0
    for each in filters:
        kind, name = each.resource_type_filter, each.resource_name_filter
        if name is None or kind not in _RESOURCE_TYPES:
            return True
        for pattern in authorizer.store.patterns_matching_name(ResourceType(kind), name):
            count += 1 if pattern.other_grants is None else 1 + len(pattern.other_grants)
    return count > MANY_ROWS
