"""Topology descriptions after a restart, as with the in-memory plug-in of Kafka 4.4.0."""

from pathlib import Path

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.streams_group_heartbeat import (
    StreamsGroupHeartbeatRequest,
)
from tests.shim.state.test_topology_descriptions import (
    AVAILABLE,
    NOT_STORED,
    PLUGIN,
    joined,
    status,
    told,
)
from tests.shim.storage.kept import KeptStage

BACKOFF_MS = 40_000
"""Time after which a description is requested again if the client did not send it."""


def test_descriptions_are_not_requested_again_after_a_restart(tmp_path: Path) -> None:
    stage = KeptStage(tmp_path, "4.4", properties={PLUGIN: "in memory"})
    assert joined(stage)
    assert told(stage) == 0
    assert status(stage) == AVAILABLE
    again = stage.again()
    assert status(again) == NOT_STORED
    again.clock.advance(BACKOFF_MS)
    request = StreamsGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=1)
    response = again.ask(ApiKey.STREAMS_GROUP_HEARTBEAT, 1, request)
    assert (response.error_code, response.topology_description_required) == (0, False)
    assert told(again) == 0
    assert status(again) == AVAILABLE
