"""Waits until a broker's coordinators are available, and uses up producer id 0."""

from typing import Final

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.find_coordinator import FindCoordinatorRequest
from kafka_shim.protocol.messages.init_producer_id import InitProducerIdRequest
from tests.recordings.peers.peer import Peer, ask_root, versions

SHARE: Final = "warm:AAAAAAAAAAAAAAAAAAAAAQ:0"
UNAVAILABLE: Final = 15
TRIALS: Final = 300
LOADING_MS: Final = 3_000
"""Time in which a real broker loads its coordinators after the first one responded."""


def warm(peer: Peer) -> None:
    """Wait until all coordinators of the release are found and producer ids are available."""
    for trial in range(TRIALS):
        if _is_warm(peer):
            if trial:
                peer.pause(LOADING_MS)
            return
        peer.pause(100)
    raise AssertionError("the coordinators do not come up")


def _is_warm(peer: Peer) -> bool:
    finds = [FindCoordinatorRequest(key="warm", key_type=kind) for kind in (0, 1)]
    codes = [ask_root(peer, ApiKey.FIND_COORDINATOR, find, 1).error_code for find in finds]
    producer = InitProducerIdRequest(transactional_id="warm", transaction_timeout_ms=60_000)
    codes.append(ask_root(peer, ApiKey.INIT_PRODUCER_ID, producer, 4).error_code)
    return not any(codes) and _shares(peer)


def _shares(peer: Peer) -> bool:
    """Return whether share partitions have a coordinator; True without share groups."""
    if not versions(peer.release, ApiKey.READ_SHARE_GROUP_STATE):
        return True
    find = FindCoordinatorRequest(key_type=2, coordinator_keys=[SHARE])
    response = ask_root(peer, ApiKey.FIND_COORDINATOR, find, 6)
    return bool(response.coordinators[0].error_code != UNAVAILABLE)
