"""Groups of very many members, and members of very many protocols."""

import time

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.join_group_request import (
    JoinGroupRequest,
    JoinGroupRequestProtocol,
)
from kafka_shim.shim.request.session import Phase, Session
from kafka_shim.shim.state.groups.classic_member import ClassicMember, Joining
from kafka_shim.shim.state.groups.classic_roster import Roster
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


def test_protocols_of_members_that_left_are_forgotten() -> None:
    roster = Roster()
    protocols = tuple((f"p{number}", b"") for number in range(1000))
    joining = Joining(
        member_id="m",
        instance_id=None,
        client_id="",
        client_host="",
        session_timeout_ms=1,
        rebalance_timeout_ms=1,
        protocol_type="consumer",
        protocols=protocols,
    )
    member = ClassicMember("m", joining)
    roster.add(member, "consumer")
    assert roster.selected_protocol() == "p0"
    roster.remove(member)
    assert not roster._speakers
