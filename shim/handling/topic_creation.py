"""Topics that come into being without CreateTopics: at first use, and the coordinators' own."""

from shim.state.cluster import Cluster
from shim.state.placement import spread
from shim.state.topics import Topic


def is_automatic(cluster: Cluster) -> bool:
    """Whether asking for a missing topic creates it."""
    return cluster.configs.broker_bool("auto.create.topics.enable")


def create_automatically(cluster: Cluster, name: str) -> Topic | None:
    """A new topic with the broker's defaults; None if its name collides with another's."""
    assert name not in cluster.topics
    if cluster.topics.colliding(name):
        return None
    if name in cluster.topics.internal_names:
        return cluster.coordinators.make_topic(name)
    return _create(cluster, name, "num.partitions", "default.replication.factor", {})


def _create(
    cluster: Cluster, name: str, partitions: str, replicas: str, configs: dict[str, str]
) -> Topic:
    """Partitions and replicas by the broker settings of these names.

    Replicas only as far as there are brokers: a test cluster is smaller than the defaults expect.
    """
    alive = [node_id for node_id, node in cluster.nodes.items() if node.is_alive]
    factor = min(cluster.configs.broker_int(replicas), len(alive))
    assignments = spread(alive, cluster.configs.broker_int(partitions), factor, cluster.random)
    return cluster.topics.create(name, assignments, configs)
