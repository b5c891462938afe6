"""The shim in this process as a peer: handles whole frames, but without sockets."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import EncodeError
from kafka_shim.shim.dispatching.dispatcher import PendingExchange
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import AuthenticationPhase, Session
from kafka_shim.shim.wait import NoResponse
from tests.oracle.real_kafka import USERS, numbers, settings_of
from tests.recordings.peers.peer import CLOSED, PATIENCE_MS, SILENT, WAITS
from tests.recordings.peers.warming import warm
from tests.shim.play import LISTENER, SASL_LISTENER, Stage

TICK_MS = 10
ZOOKEEPER = {"zookeeper.connect": "of.the.machine:2181"}
KRAFT = {
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@of.the.machine:9093",
    "inter.broker.listener.name": "PLAINTEXT",
    "listener.security.protocol.map": (
        "PLAINTEXT:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT,SSL:SSL,CONTROLLER:PLAINTEXT"
    ),
}
"""Further settings of the real brokers, with ZooKeeper or KRaft."""


class InProcess:
    """The shim, set up like the real brokers. Its clock only advances while a request waits.

    `settings` are added to the settings of all real brokers. The client id is the name of the
    connection unless `client_id` is given.
    """

    takes_effect_later = False

    def __init__(
        self,
        release: str,
        mode: str = "none",
        settings: Mapping[str, str] = MappingProxyType({}),
        *,
        client_id: str = "",
    ) -> None:
        self.release = release
        self._client_id = client_id
        authorizing: dict[str, Any] = {"authorizer": "none"}
        properties = settings_of(release) | {"log.dirs": "/of/the/machine"}
        properties |= ZOOKEEPER if numbers(release) < (3,) else KRAFT
        if mode != "none":
            properties["allow.everyone.if.no.acl.found"] = str(mode == "open").lower()
            others = settings.get("super.users", "User:ANONYMOUS;User:admin")
            authorizing = {
                "super_users": tuple(others.split(";")),
                "allow_everyone_if_no_acl_found": mode == "open",
            }
        self.stage = Stage(
            release,
            mechanisms=("PLAIN",),
            users={user: f"{user}-secret" for user in USERS},
            properties={**properties, **settings},
            **authorizing,
        )
        self._sessions: dict[str, Session] = {}
        self._sent: dict[str, tuple[ApiKey, int, bytes | PendingExchange | str]] = {}
        warm(self)

    def send(self, connection: str, api: ApiKey, version: int, request: Any) -> None:
        session = self._session(connection)
        client_id = self._client_id or connection
        response: bytes | PendingExchange | str
        try:
            found = self.stage.send(api, version, request, session, client_id)
        except CloseConnection:
            response = CLOSED
        except EncodeError as error:
            response = f"fault: {error}"
        else:
            response = _OUTCOMES[found] if isinstance(found, NoResponse) else found
        self._sent[connection] = api, version, response
        if response == CLOSED:
            self.hang_up(connection)

    def receive(self, connection: str, patience_ms: int = PATIENCE_MS) -> Any:
        api, version, response = self._sent[connection]
        if isinstance(response, PendingExchange):
            for _ in range(0, patience_ms, TICK_MS):
                if response.wait.is_finished:
                    break
                self.stage.clock.advance(TICK_MS)
            return (
                self.stage.outcome(api, version, response) if response.wait.is_finished else WAITS
            )
        return response if isinstance(response, str) else self.stage.read(api, version, response)

    def hang_up(self, connection: str) -> None:
        _, _, response = self._sent[connection]
        if isinstance(response, PendingExchange):
            response.wait.cancel()
        session = self._sessions.pop(connection)
        self.stage.cluster.end_share_session_on_disconnect(session.node_id, session)

    def now_ms(self) -> int:
        return self.stage.clock.now_ms()

    def pause(self, milliseconds: int) -> None:
        self.stage.clock.advance(milliseconds)

    def use_token(self, connection: str, token_id: str, hmac: bytes) -> None:
        if connection not in self._sessions:
            owner = self.stage.cluster.tokens.find_unexpired(token_id)
            session = self._session(connection)
            session.mechanism, session.token_id = "SCRAM-SHA-256", token_id
            session.principal = owner.owner if owner is not None else "User:unknown"

    def compact(self, topic: str, roll: Callable[[], None]) -> None:
        self.stage.compact(topic)
        roll()

    def _session(self, connection: str) -> Session:
        if connection not in self._sessions:
            user = connection.partition("/")[0]
            listener = SASL_LISTENER if user in USERS else LISTENER
            session = Session(listener, 1, "127.0.0.1", 50_000 + len(self._sessions))
            if user in USERS:
                session.phase = AuthenticationPhase.READY
                session.principal = f"User:{user}"
                session.is_authenticated = True
                session.mechanism = "PLAIN"
            self._sessions[connection] = session
        return self._sessions[connection]


_OUTCOMES = {NoResponse.SILENT: SILENT, NoResponse.CLOSE: CLOSED}
