"""The cluster and the sessions for large requests."""

from collections.abc import Mapping

from benchmarks.arrays.messages import Case
from benchmarks.arrays.values import BEFORE, topic_id
from kafka_shim.protocol.enums import ApiKey
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.dispatching.dispatcher import Dispatcher
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster

USERS = ("User:admin", "User:nobody")
"""A super user, and a user without rights."""
SETTINGS = {"group.streams.topology.description.plugin.class": "memory"}
_LISTENER = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 9093)


def new_cluster(case: Case, user: str, elements: int, release: str) -> tuple[Dispatcher, Session]:
    """Return a cluster with the topics and partitions of a request, and a session of a user."""
    config = Config(
        release=release, seed=1, super_users=USERS[:1], listeners=(_LISTENER,), properties=SETTINGS
    )
    cluster = Cluster(config, ManualClock())
    dispatcher = Dispatcher(cluster)
    node = cluster.nodes[1]
    node.bound[_LISTENER.name] = node.endpoints[_LISTENER.name] = ("127.0.0.1", 9093)
    if case.is_equal:
        counts = [2]
    else:
        counts = [max(2, elements)] if case.is_of_partitions else [2, *[1] * (elements - 1)]
    for number, count in enumerate(counts):
        replicas = [[1]] * count
        cluster.topics.create_topic(f"t{number}", replicas, {}, topic_id=topic_id(number))
    for api in BEFORE.get(case.api, ()):
        if api in dispatcher.apis.advertised:
            version = dispatcher.apis.advertised[api][1]
            before = case._replace(api=api, version=version)
            dispatcher.dispatch(before.frame(elements), session_of(USERS[0]))
    return dispatcher, session_of(user)


def session_of(user: str) -> Session:
    session = Session(_LISTENER, 1, "127.0.0.1", 50_000)
    session.principal, session.phase = user, AuthenticationPhase.READY
    return session


def advertised(release: str) -> Mapping[ApiKey, tuple[int, int]]:
    return Dispatcher(Cluster(Config(release=release), ManualClock())).apis.advertised
