"""The time that a join takes does not grow with the square of the group."""

import time

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.shim.request.session import Phase, Session
from tests.shim.play import ADMIN, LISTENER, Stage


def seconds_to_join(members: int) -> float:
    stage = Stage("4.3")
    request = JoinGroupRequest(
        group_id="g",
        session_timeout_ms=60_000,
        rebalance_timeout_ms=60_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol("range", b""), JoinGroupRequestProtocol("other", b"")],
    )
    began = time.process_time()
    for _ in range(members):
        session = Session(LISTENER, 1, "127.0.0.1", 50_000)
        session.principal, session.phase = ADMIN, Phase.READY
        stage.send(ApiKey.JOIN_GROUP, 3, request, session)
    return time.process_time() - began


def test_ten_thousand_members_join() -> None:
    """About 200 times as long as fifty; it was a minute and a half."""
    seconds_to_join(50)
    assert seconds_to_join(10_000) < 60 * seconds_to_join(500)
