"""Fetch on a broker whose `fetch.max.bytes` is below the consumers' limit (KIP-541)."""

from kafka_shim.protocol.enums import ApiKey
from kafka_shim.protocol.messages.fetch import ReplicaState
from tests.recordings.records.batches import batch
from tests.recordings.records.fetch_scenarios import part
from tests.recordings.records.play import Play

LIMIT = "fetch.max.bytes"
LEAST = 1024
SIZES = (1, 500, 1040, 500, 50)
LONG_MS = 60_000


def broker(play: Play) -> None:
    topic = play.topic(partitions=2)
    for index in range(2):
        for size in SIZES:
            request = play.produce_request([(topic, [(index, batch([b"v" * size]))])])
            play.settled(ApiKey.PRODUCE, play.newest(ApiKey.PRODUCE), request)
    for version in play.versions(ApiKey.FETCH):
        for offset in (0, 2, 3, 5):
            wanted = [(topic, [part(index, offset) for index in range(2)])]
            label = f"from {offset}, {version}"
            play.call(label, ApiKey.FETCH, version, play.fetch_request(wanted))
    wanted = [(topic, [part(index) for index in range(2)])]
    if play.broker_has(LIMIT):
        fetched = play.fetch_request(wanted)
        fetched.min_bytes, fetched.max_wait_ms = 1 << 20, LONG_MS
        version = play.newest(ApiKey.FETCH)
        play.call("more is waited for than can come", ApiKey.FETCH, version, fetched)
    follower = play.fetch_request(wanted)
    follower.replica_id, follower.replica_state = 1, ReplicaState(replica_id=1)
    play.call("a follower", ApiKey.FETCH, play.newest(ApiKey.FETCH), follower)


SCENARIOS = (broker,)

OWN_SETTINGS = {"limit-broker": {LIMIT: str(LEAST)}}
