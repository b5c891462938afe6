"""The aborted transactions in a Fetch response, which depend on Kafka's transaction index."""

from tests.recordings.records.batches import batch
from tests.recordings.records.play import Play
from tests.recordings.records.transactional_producer import Producer, settle, suites


def behind_open(play: Play) -> None:
    """An aborted transaction begins behind the last stable offset."""
    for label, suite in suites(play):
        topic = play.topic(label)
        open_one, aborted = (Producer(play, f"{who}{label}", suite) for who in ("o", "a"))
        aborted_once(aborted, f"{label}: first", topic)
        settle(play, topic)
        if not open_one.implies_partitions:
            open_one.add(f"{label}: add", (topic, 0))
        open_one.send(f"{label}: open", topic)
        aborted_once(aborted, f"{label}: second", topic)
        play.peer.pause(300)
        look(play, f"{label}: open", topic, range(6), (1, 1 << 20))
        open_one.end(f"{label}: commit", commit=True)
        settle(play, topic)
        look(play, f"{label}: committed", topic, range(6), (1, 1 << 20))


def far_away(play: Play) -> None:
    """A range beyond one index entry: not all aborted transactions are listed."""
    for label, suite in suites(play):
        topic = play.topic(label)
        producer = Producer(play, f"p{label}", suite)
        for number in range(9):
            aborted_once(producer, f"{label}: {number}", topic)
            settle(play, topic)
            play.produce(f"{label}: plain {number}", topic, batch([b"x" * (1100 + 10 * number)]))
        look(play, label, topic, range(27), (1, 1300, 2600, 4096, 5500, 9000, 1 << 20))


def aborted_once(producer: Producer, label: str, topic: str) -> None:
    if not producer.implies_partitions:
        producer.add(f"{label}, add", (topic, 0))
    producer.send(f"{label}, aborted", topic)
    producer.end(f"{label}, abort", commit=False)


def look(play: Play, label: str, topic: str, offsets: range, sizes: tuple[int, ...]) -> None:
    for offset in offsets:
        for size in sizes:
            wanted = {"partition_bytes_max": size, "isolation": 1}
            play.fetch(f"{label}: {size} bytes from {offset}", topic, offset, **wanted)


SCENARIOS = (behind_open, far_away)
