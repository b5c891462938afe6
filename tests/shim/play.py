"""Play requests against an in-process cluster through the real dispatcher, without sockets."""

from collections.abc import Mapping
from typing import Any

from kafka_shim.authorizer.model import Acl, Actor
from kafka_shim.protocol.enums import ApiKey, Operation, PatternType, Permission, ResourceType
from kafka_shim.protocol.message_frames import read_response_with_version
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.state.cluster import Cluster
from kafka_shim.shim.state.logs.log_cleaner import compact_logs
from kafka_shim.shim.state.topics import Topic
from kafka_shim.shim.wait import NoResponse
from tests.support.frames import request_frame

LISTENER = ListenerConfig("PLAINTEXT", SecurityProtocol.PLAINTEXT, "127.0.0.1", 9092)
SASL_LISTENER = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 9193)
ADMIN = "User:admin"


class Stage:
    """A cluster with the super user `User:admin` and a manual clock, which answers requests."""

    def __init__(self, release: str = "", **settings: Any) -> None:
        settings.setdefault("super_users", (ADMIN,))
        settings.setdefault("listeners", (LISTENER, SASL_LISTENER))
        self.clock = ManualClock()
        self.cluster = Cluster(Config(release=release, seed=1, **settings), self.clock)
        self.dispatcher = Dispatcher(self.cluster)
        self.dispatcher.raise_errors = True
        for node in self.cluster.nodes.values():
            for listener in self.cluster.config.listeners:
                address = (listener.host, listener.port + node.node_id - 1)
                node.bound[listener.name] = node.endpoints[listener.name] = address
        self.sessions: dict[str, Session] = {}
        self._correlation_id = 0

    def session(self, principal: str) -> Session:
        """Return the session of this principal; there is one for each."""
        if principal not in self.sessions:
            session = Session(LISTENER, 1, "127.0.0.1", 50_000 + len(self.sessions))
            session.number = len(self.sessions) + 1
            session.principal = principal
            session.phase = AuthenticationPhase.READY
            self.sessions[principal] = session
        return self.sessions[principal]

    def ask(self, api: ApiKey, version: int, request: Any, principal: str = ADMIN) -> Any:
        """Return the decoded response; Pending if it must wait, NoAnswer if there is none."""
        response = self.send(api, version, request, self.session(principal))
        if isinstance(response, PendingExchange | NoResponse):
            return response
        return self.read(api, version, response)

    def send(
        self, api: ApiKey, version: int, request: Any, session: Session, client_id: str = "play"
    ) -> bytes | PendingExchange | NoResponse:
        """Send a request on a session; return the raw result."""
        self._correlation_id += 1
        frame = request_frame(api, version, request, self._correlation_id, client_id)
        return self.dispatcher.dispatch(frame, session)

    def read(self, api: ApiKey, version: int, frame: bytes) -> Any:
        """Decode a framed response of the shim."""
        assert int.from_bytes(frame[:4], "big") == len(frame) - 4
        return read_response_with_version(api, version, frame[4:])[0]

    def outcome(self, api: ApiKey, version: int, pending: PendingExchange) -> Any:
        """Return the response to a waiting request; fail if it still waits."""
        got: list[bytes] = []
        pending.wait.set_response_callback(lambda response: got.append(pending.finish(response)))
        assert got, "still waiting"
        return self.read(api, version, got[0])

    def allow(
        self, principal: str, operation: Operation, resource: ResourceType, name: str, **more: Any
    ) -> None:
        """Add one ACL; `deny=True`, `prefixed=True`, `host=...` change it."""
        acl = Acl(
            resource,
            name,
            PatternType.PREFIXED if more.get("prefixed") else PatternType.LITERAL,
            principal,
            more.get("host", "*"),
            operation,
            Permission.DENY if more.get("deny") else Permission.ALLOW,
        )
        authorizer = self.cluster.policy.authorizer
        assert authorizer is not None
        result = authorizer.create_acls(Actor(ADMIN, "127.0.0.1"), [acl])[0]
        assert result.error is None, result

    def topic(
        self, name: str, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> Any:
        """Create a topic in the state, without a request."""
        return self.cluster.topics.create_topic(name, [[1]] * partitions, configs or {})

    def compact(self, topic: str) -> None:
        """Compact partition 0 of a topic."""
        log = self.found(topic).partitions[0].log
        horizon = self.cluster.facts.records.tombstones_have_delete_horizon
        compact_logs([log], self.clock.now_ms(), stamps_horizon=horizon)

    def found(self, name: str) -> Topic:
        """Return an existing topic."""
        topic = self.cluster.topics.get(name)
        assert topic is not None, name
        return topic
