"""The shim in this process as a peer: the full way of a frame, without sockets."""

from typing import Any

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.errors import EncodeError
from kafka_shim.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id_request import InitProducerIdRequest
from kafka_shim.shim.dispatch import Pending
from kafka_shim.shim.errors import CloseConnection
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.wait import NoAnswer
from tests.oracle.real_kafka import USERS, numbers, settings_of
from tests.recordings.conformance.peer import CLOSED, PATIENCE_MS, ROOT, SILENT, WAITS
from tests.shim.play import LISTENER, SASL_LISTENER, Stage

_TICK_MS = 10


class InProcess:
    """The shim, set up as the real brokers are. `name` is a recording's: `4.3.1`, `4.3.1-open`.

    Time stands still but while a request waits.
    """

    def __init__(self, name: str) -> None:
        release, _, mode = name.partition("-")
        settings: dict[str, Any] = {"authorizer": "none"}
        properties = settings_of(release) | {"log.dirs": "/of/the/machine"}
        if numbers(release) < (3,):
            properties["zookeeper.connect"] = "of.the.machine:2181"
        if mode != "none":
            properties["allow.everyone.if.no.acl.found"] = str(mode == "open").lower()
            settings = {
                "super_users": ("User:ANONYMOUS", "User:admin"),
                "allow_everyone_if_no_acl_found": mode == "open",
            }
        self.stage = Stage(
            release,
            mechanisms=("PLAIN",),
            users={user: f"{user}-secret" for user in USERS},
            properties=properties,
            **settings,
        )
        self._sessions: dict[str, Session] = {}
        self._begun: dict[str, tuple[ApiKey, int, bytes | Pending | NoAnswer | dict[str, str]]] = {}
        self._warm()

    def newest(self, api: ApiKey) -> int:
        return self.stage.dispatcher.apis.advertised[api][1]

    def now_ms(self) -> int:
        return self.stage.clock.now_ms()

    def pause(self, milliseconds: int) -> None:
        self.stage.clock.advance(milliseconds)

    def ask(self, user: str, api: ApiKey, version: int, request: Any) -> Any:
        self.begin(user, api, version, request)
        return self.outcome(user)

    def begin(self, user: str, api: ApiKey, version: int, request: Any) -> None:
        answer: bytes | Pending | NoAnswer | dict[str, str]
        try:
            answer = self.stage.send(api, version, request, self._session(user))
        except CloseConnection:
            answer = NoAnswer.CLOSE
        except EncodeError as error:
            answer = {"fault": str(error)}
        self._begun[user] = api, version, answer

    def outcome(self, user: str) -> Any:
        api, version, answer = self._begun.pop(user)
        if isinstance(answer, dict):
            return answer
        if isinstance(answer, bytes):
            return self.stage.read(api, version, answer)
        if isinstance(answer, Pending):
            for _ in range(PATIENCE_MS // _TICK_MS):
                if answer.wait.is_done:
                    return self.stage.outcome(api, version, answer)
                self.stage.clock.advance(_TICK_MS)
            answer.wait.cancel()
        if answer is NoAnswer.SILENT:
            return SILENT
        del self._sessions[user]
        return CLOSED if answer is NoAnswer.CLOSE else WAITS

    def _warm(self) -> None:
        """As the real brokers are: coordinators have their topics, the producer id 0 is taken."""
        for kind in (0, 1):
            find = FindCoordinatorRequest(key="warm", key_type=kind)
            self.ask(ROOT, ApiKey.FIND_COORDINATOR, 1, find)
        if ApiKey.READ_SHARE_GROUP_STATE in self.stage.dispatcher.apis.advertised:
            share = FindCoordinatorRequest(
                key_type=2, coordinator_keys=["warm:AAAAAAAAAAAAAAAAAAAAAQ:0"]
            )
            self.ask(ROOT, ApiKey.FIND_COORDINATOR, 6, share)
        producer = InitProducerIdRequest(transactional_id="warm", transaction_timeout_ms=60_000)
        self.ask(ROOT, ApiKey.INIT_PRODUCER_ID, 0, producer)

    def _session(self, user: str) -> Session:
        """One connection a user; the part after a slash tells several of one user apart."""
        if user not in self._sessions:
            is_root = user == ROOT
            session = Session(LISTENER if is_root else SASL_LISTENER, 1, "127.0.0.1", 50_000)
            session.phase = Phase.READY
            if not is_root:
                session.principal = f"User:{user.partition('/')[0]}"
                session.is_authenticated = True
                session.mechanism = "PLAIN"
            self._sessions[user] = session
        return self._sessions[user]
