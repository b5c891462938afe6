"""Handle requests in this process, up to a stage.

`instructions` counts what that takes, `costs` measures the time.

python -m benchmarks.against.stages STAGE KIND REQUESTS
"""

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from itertools import islice
from logging import DEBUG
from typing import Any, NamedTuple
from unittest.mock import patch

from benchmarks.against.kinds import KINDS
from benchmarks.against.setting import Setting, made_by
from kafka_shim.protocol.headers import read_request_header
from kafka_shim.shim.broker import Broker
from kafka_shim.shim.clock import ManualClock
from kafka_shim.shim.config import Config, ListenerConfig, SecurityProtocol
from kafka_shim.shim.dispatching.dispatcher import Dispatcher, PendingExchange
from kafka_shim.shim.observing import audit_log
from kafka_shim.shim.request.access import Access
from kafka_shim.shim.request.session import AuthenticationPhase, Session

WARM = 500
_LISTENER = ListenerConfig("SASL_PLAINTEXT", SecurityProtocol.SASL_PLAINTEXT, "127.0.0.1", 9093)

Work = Callable[[Dispatcher, bytes, Session], object]


class Stage(NamedTuple):
    """`work` handles a request up to this stage."""

    name: str
    work: Work


class Prepared(NamedTuple):
    """A broker in this process, with the state of all compared brokers, and a session of alice."""

    dispatcher: Dispatcher
    setting: Setting
    session: Session

    def work(self, work: Work, payload: bytes) -> object:
        """Handle a frame without its size, up to a stage."""
        return work(self.dispatcher, payload, self.session)


class InProcess:
    """A client of a broker in the same process, without a socket."""

    def __init__(self, dispatcher: Dispatcher, user: str) -> None:
        self._dispatcher = dispatcher
        self.session = Session(_LISTENER, 1, "127.0.0.1", 50_000)
        self.session.principal, self.session.phase = f"User:{user}", AuthenticationPhase.READY

    def ask(self, frame: bytes) -> bytes:
        """Send a request and return its response, without the size."""
        response = self._dispatcher.dispatch(frame[4:], self.session)
        if isinstance(response, PendingExchange):
            found: list[Any] = []
            response.wait.set_response_callback(found.append)
            clock = self._dispatcher.cluster.clock
            assert isinstance(clock, ManualClock)
            while not found:
                clock.advance(1)
            response = response.finish(found[0])
        assert isinstance(response, bytes)
        return response[4:]

    def close(self) -> None:
        """There is nothing to close."""


def _header(_: Dispatcher, frame: bytes, __: Session) -> object:
    return read_request_header(frame)


def _decoded(dispatcher: Dispatcher, frame: bytes, _: Session) -> tuple[Any, Any, Any]:
    header, at = read_request_header(frame)
    api = dispatcher.apis.find_api(header.api_key, header.api_version)
    assert api is not None
    return header, api, api.decode_request(frame, at)


def _context(dispatcher: Dispatcher, frame: bytes, session: Session) -> tuple[Any, Any, Any]:
    exchange = dispatcher._begin_exchange(frame, session, dispatcher._find_api(frame))
    dispatcher._decode(exchange)
    return exchange.api, exchange.request, exchange.context


def _handled(dispatcher: Dispatcher, frame: bytes, session: Session) -> tuple[Any, Any, Any]:
    api, request, context = _context(dispatcher, frame, session)
    return api, context, api.handle(request, context)


def _audited(dispatcher: Dispatcher, frame: bytes, session: Session) -> tuple[Any, Any]:
    api, context, response = _handled(dispatcher, frame, session)
    if context.access.has_loggable_denials or audit_log.logger.isEnabledFor(DEBUG):
        audit_log.log_decisions(context, api.key)
    return api, response


def _encoded(dispatcher: Dispatcher, frame: bytes, session: Session) -> object:
    api, response = _audited(dispatcher, frame, session)
    return api.encode_response(response)


def _dispatched(dispatcher: Dispatcher, frame: bytes, session: Session) -> object:
    return dispatcher.dispatch(frame, session)


UNDECIDED = "handle"
STAGES = (
    Stage("header", _header),
    Stage("decode", _decoded),
    Stage("context", _context),
    Stage(UNDECIDED, _handled),  # everything is allowed without a decision
    Stage("authorize", _handled),
    Stage("audit", _audited),
    Stage("encode", _encoded),
    Stage("dispatch", _dispatched),
)


def _allowed(access: Access, *_: object) -> bool:
    access.was_consulted = True
    return True


@contextlib.contextmanager
def deciding(stage: Stage) -> Iterator[None]:
    """Let everything be allowed without a decision in the stage that needs it."""
    is_undecided = stage.name == UNDECIDED
    with patch.object(Access, "allows_bound", _allowed if is_undecided else Access.allows_bound):
        yield


def prepared() -> Prepared:
    """Create the broker."""
    config = Config(super_users=("User:admin",), listeners=(_LISTENER,))
    broker = Broker(config, ManualClock(int(time.time() * 1000)))  # noqa: TID251 - records are of today
    dispatcher, node = broker.dispatcher, broker.cluster.nodes[1]
    node.bound[_LISTENER.name] = node.endpoints[_LISTENER.name] = ("127.0.0.1", 9093)
    dispatcher.raise_errors = True
    setting = made_by(lambda user: InProcess(dispatcher, user))
    return Prepared(dispatcher, setting, InProcess(dispatcher, "alice").session)


def main(stage_name: str, kind_name: str, requests: int) -> None:
    stage = next(stage for stage in STAGES if stage.name == stage_name)
    kind = next(kind for kind in KINDS if kind.name == kind_name)
    broker = prepared()
    frames = list(islice(kind.frames(broker.setting, different=True), WARM + 2 * WARM))
    for frame in frames[:WARM]:
        broker.work(_dispatched, frame[4:])
    with deciding(stage):
        for frame in frames[WARM : WARM + requests]:
            broker.work(stage.work, frame[4:])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
