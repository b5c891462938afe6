"""ShareFetch on a broker whose `fetch.max.bytes` is below the consumers' limit."""

from tests.recordings.groups.modern_play import ModernPlay
from tests.recordings.groups.share_play import Sharer, earliest, kept_topics, produce, serves


def broker(play: ModernPlay) -> None:
    if not serves(play):
        return
    (topic,) = kept_topics(play, "a", partitions=1)
    produce(play, topic, 1, 60, 60, 120, 60)
    sharer = Sharer(play, earliest(play)).join(topic)
    sharer.fetch("loads", (topic, 0))
    for turn in range(3):
        sharer.fetch(f"turn {turn}", (topic, 0))
    produce(play, topic, 60)
    produce(play, topic, 60, 60)
    label = "more is waited for than can come"
    sharer.fetch(label, (topic, 0), min_bytes=1 << 20, max_wait_ms=60_000)


SCENARIOS = (broker,)

OWN_SETTINGS = {"share_limit-broker": {"fetch.max.bytes": "1024"}}
