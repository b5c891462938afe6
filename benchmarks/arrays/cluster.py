"""Whom large requests are sent to, and by whom."""

from collections.abc import Mapping

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.dispatch import Dispatcher
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.state.cluster import Cluster

USERS = ("User:admin", "User:nobody")
"""A super user, and somebody without rights."""
_LISTENER = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 9093)


def new_cluster(user: str, release: str) -> tuple[Dispatcher, Session]:
    """A cluster with one topic, and a session of a user."""
    config = Config(release=release, seed=1, super_users=USERS[:1], listeners=(_LISTENER,))
    cluster = Cluster(config, ManualClock())
    dispatcher = Dispatcher(cluster)
    node = cluster.nodes[1]
    node.bound[_LISTENER.name] = node.endpoints[_LISTENER.name] = ("127.0.0.1", 9093)
    cluster.topics.create("t0", [[1], [1]], {})
    session = Session(_LISTENER, 1, "127.0.0.1", 50_000)
    session.principal, session.phase = user, Phase.READY
    return dispatcher, session


def advertised(release: str) -> Mapping[ApiKey, tuple[int, int]]:
    return Dispatcher(Cluster(Config(release=release), ManualClock())).apis.advertised
